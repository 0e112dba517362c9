"""Interpose as a host uses it with commands. Every firing is looked at after it was timed: did the hook really run?"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.commands.programs import Programs
from benchmarks.measure import Idle, Stopwatch
from interpose import Hooks

TOOL = "Bash"
TOOL_INPUT = {"command": "ls"}
DEFAULT = "tree"
"""The isolation of a command that asks for none."""

Proof = Callable[[Any], str]
"""Returns what is wrong with the result of a hook, or nothing."""


# --- Proofs -------------------------------------------------------------------------------------------------


def isolated(isolation: str) -> Proof:
    """It was run in the isolation that was asked for, and nothing less."""

    def problem(result: Any) -> str:
        found = result.evidence.get("isolation")
        return "" if found == isolation else f"isolation {isolation} is not there: the command ran in {found!r}"

    return problem


def started_as(script: Path, *, warm: bool) -> Proof:
    """The script was given the event, and an interpreter was started for it, or was there already."""

    def problem(result: Any) -> str:
        command, _, began_as = _said(result).partition(" ")
        if command != TOOL_INPUT["command"]:
            return f"the script saw {command!r}"
        # A process that was forked from a warm interpreter has that one's command line, and not the script's.
        if (script.name in began_as) is warm:
            return f"warm is not there: the process was started as {began_as!r}" if warm else "it was not started cold"
        return ""

    return problem


def elsewhere(pid: int) -> Proof:
    """The function ran in another process than this."""

    def problem(result: Any) -> str:
        return "" if int(_said(result)) != pid else "isolate is not there: the function ran in the host's own process"

    return problem


def _said(result: Any) -> str:
    if result.reply is None or len(result.reply.context) != 1:
        raise Idle(f"the hook should have said one thing, and said {result.reply!r}")
    said: str = result.reply.context[0]
    return said


def anyhow(result: Any) -> str:
    """The hook ran; there is nothing else to ask."""
    return ""


def prove(outcome: Any, proof: Proof, count: int = 1) -> None:
    """Raise Idle unless the outcome shows that so many hooks ran as they should have."""
    results = outcome.results
    if len(results) != count:
        raise Idle(f"{len(results)} hooks ran instead of {count}")
    for result in results:
        if result.status != "ok":
            raise Idle(f"the hook did not run: {result.status}, {result.error}")
        if problem := proof(result):
            raise Idle(problem)


# --- What is timed ------------------------------------------------------------------------------------------


def command(handler: str, count: int = 1, **options: Any) -> Hooks:
    """Hooks with a command, or with so many alike."""
    hooks = Hooks()
    for number in range(count):
        hooks.register("PreToolUse", handler, type="command", name=f"hook-{number}", **options)
    return hooks


def get_warm(runner: asyncio.Runner, hooks: Hooks, seconds: float = 5.0) -> None:
    """Fire until interpreters are prepared: the first events are cold by design; a second comes when it is busy."""

    async def fire() -> bool:
        outcome = await hooks.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT)
        return bool(outcome.results[0].evidence.get("warm"))

    until = time.monotonic() + seconds
    while not runner.run(fire()) and time.monotonic() < until:
        time.sleep(0.05)
    busy_until = time.monotonic() + 2.0
    while time.monotonic() < busy_until:
        runner.run(fire())


def fired(runner: asyncio.Runner, hooks: Hooks, proof: Proof, count: int = 1) -> Stopwatch:
    """One firing after the other."""

    async def timed(loops: int) -> float:
        began = time.perf_counter()
        outcomes = [await hooks.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT) for _ in range(loops)]
        seconds = time.perf_counter() - began
        for outcome in outcomes:
            prove(outcome, proof, count)
        return seconds

    return lambda loops: runner.run(timed(loops))


def fired_without_loop(hooks: Hooks, proof: Proof) -> Stopwatch:
    """The same in a host that has no event loop."""

    def timed(loops: int) -> float:
        began = time.perf_counter()
        outcomes = [hooks.fire_sync("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT) for _ in range(loops)]
        seconds = time.perf_counter() - began
        for outcome in outcomes:
            prove(outcome, proof)
        return seconds

    return timed


def fired_at_once(runner: asyncio.Runner, hooks: Hooks, proof: Proof, firings: int) -> Stopwatch:
    """Many firings under way together."""

    async def timed(loops: int) -> float:
        outcomes = []
        began = time.perf_counter()
        for _ in range(loops):
            outcomes += await at_once(hooks, firings)
        seconds = time.perf_counter() - began
        for outcome in outcomes:
            prove(outcome, proof)
        return seconds

    return lambda loops: runner.run(timed(loops))


async def at_once(hooks: Hooks, firings: int) -> list[Any]:
    return await asyncio.gather(
        *[hooks.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT) for _ in range(firings)]
    )


def event_as_sent(runner: asyncio.Runner, programs: Programs) -> bytes:
    """What a command reads, byte for byte, so that the floor can be given the same."""
    copy = programs.scratch / "event.json"
    hooks = Hooks()
    hooks.register("PreToolUse", command=f"cat > '{copy}'", isolation="group")
    prove(runner.run(_fire(hooks)), anyhow)
    return copy.read_bytes()


async def _fire(hooks: Hooks) -> Any:
    return await hooks.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT)
