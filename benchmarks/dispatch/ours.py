"""Interpose as a host uses it, in the ways that are measured. The same shape as the adapters of the peers."""

import asyncio
from typing import Any

from benchmarks.dispatch.peers import DEADLINE, TOOL, TOOL_INPUT, Hook, Report
from interpose import Hooks


class Interpose:
    """Async hooks for the one tool, each with a deadline, a copy of the input and a record in the outcome."""

    inline = False

    @staticmethod
    async def reads(event: Any) -> None:
        _ = event.tool_input

    @staticmethod
    def reports(report: Report) -> Hook:
        async def hook(event: Any) -> None:
            report(event.tool_input)

        return hook

    def __init__(self, hook: Hook, count: int, matcher: str = TOOL) -> None:
        self.hooks = Hooks(max_hooks_per_point=0)
        for number in range(count):
            self.hooks.register(
                "PreToolUse",
                hook,
                name=f"hook-{number}",
                matcher=matcher,
                timeout=DEADLINE,
                inline=self.inline,
            )

    async def run(self, loops: int) -> None:
        hooks = self.hooks
        for _ in range(loops):
            await hooks.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT)


class InterposeInline(Interpose):
    """The same hooks, trusted to run in the caller's own task."""

    inline = True


class InterposeSync(Interpose):
    """The same with hooks that are plain functions: they run in a thread of the engine's."""

    @staticmethod
    def reads(event: Any) -> None:  # type: ignore[override]
        _ = event.tool_input

    @staticmethod
    def reports(report: Report) -> Hook:
        def hook(event: Any) -> None:
            report(event.tool_input)

        return hook


class Unmatched(Interpose):
    """A hook is there, for another tool: the outcome is all that a firing has to make."""

    def __init__(self) -> None:
        super().__init__(self.reads, count=1, matcher="Write")

    async def run(self, loops: int) -> None:
        hooks = self.hooks
        for _ in range(loops):
            await hooks.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT)

    async def ask(self, loops: int) -> None:
        """Ask whether anything would run, instead of firing."""
        hooks = self.hooks
        for _ in range(loops):
            hooks.wants("PreToolUse", TOOL)

    async def problem(self) -> str:
        """What is wrong with the outcome or the answer; nothing if they are right."""
        outcome = await self.hooks.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT)
        if not outcome.allowed or outcome.results or outcome.tool_input != TOOL_INPUT:
            return f"a firing that nothing matches returned {outcome!r}"
        if self.hooks.wants("PreToolUse", TOOL) or not self.hooks.wants("PreToolUse", "Write"):
            return "wants() gave the wrong answer"
        return ""


class AtOnce:
    """Many firings under way together, one hook each.

    The hook lets go of the event loop once, so that all firings have begun before the first ends.
    """

    @staticmethod
    async def reads(event: Any) -> None:
        _ = event.tool_input
        await asyncio.sleep(0)

    def __init__(self, firings: int) -> None:
        self.hooks = Interpose(self.reads, count=1).hooks
        self.firings = firings

    async def run(self, loops: int) -> None:
        hooks = self.hooks
        for _ in range(loops):
            await asyncio.gather(
                *[hooks.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT) for _ in range(self.firings)]
            )
