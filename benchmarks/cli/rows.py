"""The table: what is promised of the command line, who is measured for it, and the limit.

Runs in the environment that `benchmarks.cli` makes.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cli import scene
from benchmarks.cli.scene import Scene
from benchmarks.command import parser, run, unmeasured
from benchmarks.commands import floors
from benchmarks.environment import HOME
from benchmarks.measure import Contestant, Idle, Limit, Row, Stopwatch

NOTHING = "python -c pass"
MINIMUM = 0.15
"""Seconds: more than one start, since one of them says little where the limit is close."""
SPAWNS = 2


@dataclass(frozen=True)
class Bench:
    """What all rows use."""

    scene: Scene
    event: bytes

    @property
    def note(self) -> str:
        """What a title must say about the compiled command, if anything."""
        missing = self.scene.programs.missing
        return f" ({missing})" if missing else ""

    def nothing(self) -> Contestant:
        return Contestant(NOTHING, self.scene.nothing(), minimum=MINIMUM)

    def with_function(self) -> Stopwatch:
        return self.scene.fire(self.scene.python, scene.said("seen: ls"))


def python(bench: Bench) -> Row:
    return Row(
        "python",
        "interpose fire --config, 20 hooks in YAML, compiled before; one matches, a Python function",
        [Contestant("fire", bench.with_function(), minimum=MINIMUM), bench.nothing()],
        [Limit("interpose fire", "fire", NOTHING, 5)],
    )


def command(bench: Bench) -> Row:
    programs = bench.scene.programs
    spawn = floors.posix_spawn(programs.trivial, bench.event, programs.answer)
    function = bench.with_function()
    both = f"with a Python function, and {SPAWNS} bare spawns"
    return Row(
        "command",
        f"interpose fire --config, the same; one matches, a compiled command{bench.note}",
        [
            Contestant("tree", bench.scene.fire(bench.scene.tree, scene.ran("tree")), minimum=MINIMUM),
            Contestant("group", bench.scene.fire(bench.scene.group, scene.ran("group")), minimum=MINIMUM),
            Contestant(both, lambda loops: function(loops) + spawn(SPAWNS * loops), minimum=MINIMUM),
            Contestant("bare posix_spawn", spawn),
        ],
        [
            Limit("default isolation: tree", "tree", both, 1),
            Limit("isolation: group", "group", both),
            Limit("bare posix_spawn", "bare posix_spawn", both),
        ],
    )


def load(bench: Bench) -> Row:
    return Row(
        "load",
        f"Hooks.load of {scene.MANY:,} hooks from YAML in a process of its own, never compiled before",
        [Contestant("load", bench.scene.load()), bench.nothing()],
        [Limit("the whole process", "load", NOTHING, 20)],
    )


def people(bench: Bench) -> Row:
    return Row(
        "people",
        "What people call",
        [
            Contestant("help", bench.scene.help()),
            Contestant("check", bench.scene.check()),
            bench.nothing(),
        ],
        [
            Limit("interpose --help", "help", NOTHING),
            Limit("interpose check, 20 hooks", "check", NOTHING),
        ],
    )


ROWS: dict[str, Callable[[Bench], Row]] = {"python": python, "command": command, "load": load, "people": people}


def main() -> int:
    options = parser("cli", "What a command of the command line costs.").parse_args()
    with TemporaryDirectory(dir=HOME) as scratch:
        made = Scene(Path(scratch))
        try:
            event = made.event_as_sent()
        except Idle as problem:
            return unmeasured(f"interpose fire does not work: {problem}")
        bench = Bench(made, event)
        return run(options, {key: partial(row, bench) for key, row in ROWS.items()}, {})


if __name__ == "__main__":
    sys.exit(main())
