"""The same calls, made directly and through a session. Every answer is looked at after it was timed."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.measure import Idle
from interpose import Hooks

CALLS = 100
"""How many calls make one turn."""
MILLISECOND = 0.001

INPUT = {"command": "ls"}
RESULT = "a b"

Tool = Callable[[Any], Awaitable[str]]


async def tool(given: Any) -> str:
    await asyncio.sleep(MILLISECOND)
    return RESULT


async def nothing(given: Any) -> str:
    return RESULT


def sync_tool(given: Any) -> str:
    time.sleep(MILLISECOND)
    return RESULT


class Direct:
    """A loop that calls its tool."""

    def __init__(self, tool: Tool = tool) -> None:
        self.tool = tool

    async def run(self, loops: int) -> None:
        for _ in range(loops * CALLS):
            await self.tool(INPUT)


class Governed:
    """The same loop in a session without hooks; the session itself is begun and ended within the time."""

    def __init__(self, tool: Tool = tool) -> None:
        self.hooks = Hooks()
        self.tool = tool

    async def run(self, loops: int) -> None:
        made = 0
        async with self.hooks.session() as session:
            for _ in range(loops * CALLS):
                answer = await session.tool("Bash", INPUT, self.tool)
                made += answer.content == RESULT
        if made != loops * CALLS:
            raise Idle(f"{made} of {loops * CALLS} calls were made")

    async def problem(self) -> str:
        return await _problem(self.hooks)


async def _problem(hooks: Hooks) -> str:
    """Return what is wrong with a session's answer, if anything."""
    async with hooks.session() as session:
        answer = await session.tool("Bash", INPUT, nothing)
    events = [outcome.event for outcome in answer.outcomes]
    return "" if events == ["PreToolUse", "PostToolUse"] else f"it fired {events}"


def direct_sync(loops: int) -> float:
    began = time.perf_counter()
    for _ in range(loops * CALLS):
        sync_tool(INPUT)
    return time.perf_counter() - began


def governed_sync(hooks: Hooks, loops: int) -> float:
    made = 0
    began = time.perf_counter()
    with hooks.session_sync() as session:
        for _ in range(loops * CALLS):
            made += session.tool("Bash", INPUT, sync_tool).content == RESULT
    took = time.perf_counter() - began
    if made != loops * CALLS:
        raise Idle(f"{made} of {loops * CALLS} calls were made")
    return took


def problem_sync() -> str:
    with Hooks().session_sync() as session:
        answer = session.tool("Bash", INPUT, sync_tool)
    events = [outcome.event for outcome in answer.outcomes]
    return "" if events == ["PreToolUse", "PostToolUse"] else f"it fired {events}"
