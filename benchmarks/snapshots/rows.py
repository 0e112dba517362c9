"""The table: what it costs to fire a trusted configuration, and how hooks run from a snapshot.

Runs in the environment that `benchmarks.snapshots` makes.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cli import scene
from benchmarks.cli.rows import MINIMUM
from benchmarks.cli.scene import BIN, Scene
from benchmarks.command import run
from benchmarks.environment import HOME, ROOT
from benchmarks.measure import Check, Contestant, Limit, Row
from benchmarks.snapshots.__main__ import options
from benchmarks.snapshots.comparing import compared, problem, report
from benchmarks.snapshots.projects import claude_projects, native_projects, trust_here

_HOOKS = """
hooks:
  PreToolUse:
    - {name: timed, matcher: Bash, handler: timed_hooks.answers}
    - {name: push, if: Bash(git push *), command: ./check.sh, timeout: 5}
    - {name: remove, if: Bash(rm *), command: ./check.sh}
    - {name: paths, matcher: Write|Edit, handler: timed_hooks.answers, onError: abort}
"""


def fire(scratch: Path) -> Row:
    """`interpose fire` of a configuration that is found and trusted, and of the same one, named."""
    made = Scene(scratch)
    folder = made.project / ".interpose"
    folder.mkdir()
    (folder / "hooks.yaml").write_text(_HOOKS, encoding="utf-8")
    (folder / "check.sh").write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    (folder / "check.sh").chmod(0o755)
    (made.project / "timed_hooks.py").replace(folder / "timed_hooks.py")
    trust_here(sys.executable, [folder / "hooks.yaml"], made.environment(), None)
    named = made.fire(folder / "hooks.yaml", scene.said("seen: ls"))
    command = [
        str(BIN / "interpose"),
        "fire",
        "PreToolUse",
        "--tool",
        "Bash",
        "--tool-input",
        '{"command": "ls"}',
        "--json",
    ]
    found = made.timed(command, scene.outcome_of(scene.said("seen: ls")))
    return Row(
        "fire",
        "interpose fire of four hooks; one matches, a Python function",
        [Contestant("found and trusted", found, minimum=MINIMUM), Contestant("named", named, minimum=MINIMUM)],
        [Limit("found and trusted", "found and trusted", "named", 1.1)],
    )


def examples() -> Row:
    """The hooks of `examples/`, run from a snapshot and in place."""

    def differing() -> str:
        scripts = compared(native_projects(ROOT / "examples"), sys.executable, _told).scripts
        return "; ".join(f"{script.line}: {script.verdict}" for script in scripts if script.verdict != "same")

    return Row("examples", "The hooks of examples/", [], checks=[Check("run from a snapshot as in place", differing)])


def cases(directory: Path, written: Path | None) -> Row:
    """The hooks of public projects, run from a snapshot and in place."""

    def missed() -> str:
        found = compared(claude_projects(directory), sys.executable, _told)
        print(f"\n{report(found)}")
        if written:
            lines = [json.dumps({**vars(script), "verdict": script.verdict}) for script in found.scripts]
            written.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return problem(found.scripts)

    return Row("cases", "The hooks of public projects", [], checks=[Check("run from a snapshot as in place", missed)])


def _told(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    chosen = options().parse_args()
    with TemporaryDirectory(dir=HOME) as scratch:
        rows: dict[str, Callable[[], Row]] = {"fire": partial(fire, Path(scratch)), "examples": examples}
        if chosen.cases:
            rows["cases"] = partial(cases, chosen.cases, chosen.scripts)
        return run(chosen, rows, {})


if __name__ == "__main__":
    sys.exit(main())
