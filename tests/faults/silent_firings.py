"""Firings of one hook, several times on one loop."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from tests.faults.hosts import CALL

from interpose import Hooks, Outcome

Hook = Callable[[Any], Coroutine[Any, Any, Any]]


def fired(hook: Hook, times: int = 3, **options: Any) -> list[Outcome]:
    """Fire several times on one loop, with a turn of the loop in between: the first firing is not like the others."""
    hooks = Hooks()
    hooks.register("PreToolUse", hook, name="hook", **options)

    async def main() -> list[Outcome]:
        outcomes = []
        for _ in range(times):
            outcomes.append(await hooks.fire("PreToolUse", **CALL))
            await asyncio.sleep(0)
        return outcomes

    return asyncio.run(main())


def statuses(outcomes: list[Outcome]) -> list[str]:
    return [result.status for outcome in outcomes for result in outcome.results]
