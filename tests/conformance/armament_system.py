"""Hook systems of Armament that its tests share, and short words to run them."""

import asyncio
from typing import Any

from interpose import Outcome
from interpose.compat.armament import HookSystem, HookSystemResult

NOTHING = HookSystemResult(aborted=False, reason=None, modified={}, output=None)

CONTEXTS: dict[str, dict[str, Any]] = {
    "pre:message": {"prompt": "hi"},
    "post:message": {"prompt": "hi", "output": "hello"},
    "pre:tool": {"tool": "shell", "args": ["ls"]},
    "post:tool": {"tool": "shell", "args": ["ls"], "result": "a.txt"},
    "pre:agent:spawn": {"agent": "scout", "config": {"model": "small"}},
    "post:agent:complete": {"agent": "scout", "result": "done"},
    "pre:session:phase": {"from_phase": "plan", "to_phase": "build"},
    "post:session:phase": {"from_phase": "plan", "to_phase": "build"},
    "pre:git:write": {"path": "a.txt", "content": "x"},
    "post:git:write": {"path": "a.txt", "content": "x", "commit": "abc"},
    "pre:view:render": {"view": "main", "data": {"rows": 1}},
}


def execute(system: HookSystem, point: str, **context: Any) -> HookSystemResult:
    return asyncio.run(system.execute(point, context or CONTEXTS[point]))


def account(result: HookSystemResult) -> Outcome:
    """The engine's own account of an execution."""
    assert result.outcome is not None
    return result.outcome


def system_that_runs(*registered: tuple[int | None, str]) -> tuple[HookSystem, list[str]]:
    """A system with a hook for each priority and letter, and the list of letters in which they write down a run."""
    system, ran = HookSystem(), []
    for priority, letter in registered:
        system.register("pre:message", lambda _, letter=letter: ran.append(letter), {"priority": priority})
    return system, ran


def broken(_):
    raise RuntimeError("hook bug")
