"""Runners and callbacks of Goat that its tests share."""

import asyncio
from typing import Any

from interpose.compat.goat import (
    HookJSONOutput,
    Runner,
    SyncHookJSONOutput,
)

EMPTY = HookJSONOutput()


def says(answer: Any, ran: list[Any] | None = None, mark: Any = None):
    """A callback that answers always the same, and writes down that it ran."""

    def callback(_input, _tool_use_id, _context):
        if ran is not None:
            ran.append(mark)
        return answer

    return callback


def breaks(_input, _tool_use_id, _context):
    raise RuntimeError("hook error")


def runner_of(*callbacks, event: str = "PreToolUse", **options: Any) -> Runner:
    """A runner with the callbacks in one matcher."""
    return Runner({event: [{"hooks": callbacks, **options}]})


def fire(runner: Runner, event: str = "PreToolUse", *arguments: Any, **keywords: Any):
    return asyncio.run(runner.fire(event, *arguments, **keywords))


def sync(**said: Any) -> HookJSONOutput:
    return HookJSONOutput(sync=SyncHookJSONOutput(**said))
