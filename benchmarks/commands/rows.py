"""The table: what is promised of commands, who is measured for it, and the limit.

Runs in the environment that `benchmarks.commands` makes.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.command import parser, run, unmeasured
from benchmarks.commands import crowd, floors, ours, programs
from benchmarks.commands.large_host import LargeHost
from benchmarks.environment import HOME
from benchmarks.measure import Check, Contestant, Idle, Limit, Row, Stopwatch
from interpose import Hooks

MINIMUM = 0.06
"""Seconds: some dozens of starts, since one of them says little."""
GIBIBYTE = 1 << 30


@dataclass(frozen=True)
class Bench:
    """What all rows use."""

    runner: asyncio.Runner
    programs: programs.Programs
    event: bytes
    stack: ExitStack

    @property
    def note(self) -> str:
        """What a title must say about the compiled command, if anything."""
        return f" ({self.programs.missing})" if self.programs.missing else ""

    def floor(self) -> Contestant:
        spawn = floors.posix_spawn(self.programs.trivial, self.event, self.programs.answer)
        return Contestant("bare posix_spawn", spawn, minimum=MINIMUM)

    def trivial(self, isolation: str | None) -> tuple[Hooks, ours.Proof]:
        """Hooks with the compiled command, and how to prove that it was isolated."""
        options: dict[str, Any] = {} if isolation is None else {"isolation": isolation}
        return ours.command(self.programs.trivial, **options), ours.isolated(isolation or ours.DEFAULT)

    def fired(self, name: str, isolation: str | None) -> Contestant:
        return Contestant(name, ours.fired(self.runner, *self.trivial(isolation)), minimum=MINIMUM)


def group(bench: Bench) -> Row:
    without_loop = ours.fired_without_loop(*bench.trivial("group"))
    asyncios = floors.create_subprocess_exec(bench.runner, bench.programs.trivial, bench.event, bench.programs.answer)
    return Row(
        "group",
        f"A compiled command, isolation: group{bench.note}",
        [
            bench.fired("fire", "group"),
            bench.floor(),
            Contestant("fire_sync", without_loop, minimum=MINIMUM),
            Contestant("create_subprocess_exec", asyncios, minimum=MINIMUM),
        ],
        [
            Limit("fire()", "fire", "bare posix_spawn", 1.35),
            Limit("without an event loop: fire_sync()", "fire_sync", "bare posix_spawn"),
            Limit("fire()", "fire", "create_subprocess_exec"),
        ],
    )


def tree(bench: Bench) -> Row:
    return Row(
        "tree",
        f"A compiled command, default isolation: {ours.DEFAULT}{bench.note}",
        [bench.fired("fire", None), bench.floor()],
        [Limit("fire()", "fire", "bare posix_spawn", 2.5)],
    )


def namespace(bench: Bench) -> Row:
    return Row(
        "namespace",
        f"A compiled command, isolation: namespace{bench.note}",
        [bench.fired("fire", "namespace"), bench.floor()],
        [Limit("fire()", "fire", "bare posix_spawn", 10)],
    )


def warm(bench: Bench) -> Row:
    script = bench.programs.script

    def started(name: str, *, warm: bool, isolation: str | None = None) -> Contestant:
        options: dict[str, Any] = {"warm": True} if warm else {"isolation": isolation}
        hooks = ours.command(str(script), **options)
        if warm:
            ours.get_warm(bench.runner, hooks)
        return Contestant(name, ours.fired(bench.runner, hooks, ours.started_as(script, warm=warm)), minimum=MINIMUM)

    return Row(
        "warm",
        "A Python script that loads and dumps JSON",
        [started("warm", warm=True), started("cold, group", warm=False, isolation="group")],
        [Limit("warm", "warm", "cold, group", 1 / 8)],
    )


def worker(bench: Bench) -> Row:
    hooks = Hooks()
    hooks.register("PreToolUse", programs.answers, isolate="process")
    return Row(
        "worker",
        "A Python function, isolate: process",
        [
            Contestant("isolated", ours.fired(bench.runner, hooks, ours.elsewhere(os.getpid()))),
            Contestant("python -c pass", floors.python_start(), minimum=MINIMUM),
        ],
        [Limit("fire()", "isolated", "python -c pass", 1 / 100)],
    )


def parallel(bench: Bench) -> Row:
    many = 8
    sleep = f"{shutil.which('sleep')} 0.05"

    def slept(count: int, isolation: str | None) -> Stopwatch:
        options: dict[str, Any] = {} if isolation is None else {"isolation": isolation}
        hooks = ours.command(sleep, count, parallel=True, **options)
        return ours.fired(bench.runner, hooks, ours.isolated(isolation or ours.DEFAULT), count)

    kinds = {"default isolation": None, "group": "group"}
    return Row(
        "parallel",
        "Commands side by side, each sleep 0.05",
        [
            Contestant(f"{count} in {kind}", slept(count, isolation))
            for kind, isolation in kinds.items()
            for count in (many, 1)
        ],
        [Limit(f"{many} hooks, {kind}", f"{many} in {kind}", f"1 in {kind}", 1.5) for kind in kinds],
    )


def thousand(bench: Bench) -> Row:
    many = 1000
    contestants, limits, checks = [], [], []
    for kind, isolation in {"default isolation": None, "group": "group"}.items():
        hooks, proof = bench.trivial(isolation)
        at_once, in_turn = f"at once, {kind}", f"in turn, {kind}"
        contestants += [
            Contestant(at_once, ours.fired_at_once(bench.runner, hooks, proof, many), units=many),
            Contestant(in_turn, ours.fired(bench.runner, hooks, proof), minimum=0.3),
        ]
        limits.append(Limit(f"{many} firings, {kind}", at_once, in_turn, 1.3))
        checks += _crowd_checks(bench.runner, hooks, proof, many, kind)
    # One round is a mean of a thousand already.
    return Row("crowd", f"{many} commands at once, each", contestants, limits, checks, most_rounds=7)


def _crowd_checks(runner: asyncio.Runner, hooks: Hooks, proof: ours.Proof, many: int, kind: str) -> list[Check]:
    try:
        seen = crowd.look(runner, hooks, proof, many)
    except Idle as problem:
        reason = str(problem)
        return [Check(f"{kind}: processes, stalls, descriptors", lambda: reason)]
    holds = {
        f"at most {crowd.MOST_PROCESSES} processes: {seen.processes}": seen.processes <= crowd.MOST_PROCESSES,
        f"no stall over {crowd.LONGEST_STALL * 1000:.0f} ms: {seen.stall * 1000:.0f}": (
            seen.stall <= crowd.LONGEST_STALL
        ),
        f"no descriptor left open: {seen.left_open}": not seen.left_open,
    }
    return [Check(f"{kind}, {what}", partial(str, "" if held else "it was more")) for what, held in holds.items()]


def large(bench: Bench) -> Row:
    host = bench.stack.enter_context(LargeHost(bench.programs, bench.event, GIBIBYTE))
    names = {"group": "fire, large", "floor": "bare posix_spawn, large", "uvloop": "uvloop, large"}
    return Row(
        "large",
        f"A compiled command, isolation: group, from a host that holds 1 GiB{bench.note}",
        [
            bench.floor(),
            *(Contestant(name, host.stopwatch(key), minimum=MINIMUM) for key, name in names.items()),
        ],
        [
            Limit("fire() from the large host", "fire, large", "bare posix_spawn", 1.5),
            Limit("the floor from the large host", "bare posix_spawn, large", "bare posix_spawn"),
            Limit("create_subprocess_exec under uvloop, from it", "uvloop, large", "bare posix_spawn"),
        ],
    )


ROWS: dict[str, Callable[[Bench], Row]] = {
    "group": group,
    "tree": tree,
    "namespace": namespace,
    "warm": warm,
    "worker": worker,
    "parallel": parallel,
    "crowd": thousand,
    "large": large,
}


def _versions() -> dict[str, str]:
    try:
        return {"uvloop": metadata.version("uvloop")}
    except metadata.PackageNotFoundError:
        return {}


def main() -> int:
    options = parser("commands", "What a command costs as a hook.").parse_args()
    with TemporaryDirectory(dir=HOME) as scratch, asyncio.Runner() as runner, ExitStack() as stack:
        made = programs.Programs(Path(scratch))
        try:
            event = ours.event_as_sent(runner, made)
        except Idle as problem:
            return unmeasured(f"commands cannot be run: {problem}")
        bench = Bench(runner, made, event, stack)
        return run(options, {key: partial(row, bench) for key, row in ROWS.items()}, _versions())


if __name__ == "__main__":
    sys.exit(main())
