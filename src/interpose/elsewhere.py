"""What a host without an event loop leaves to one in the background."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import copy_context

from .firing import Firing
from .lanes import BlockingLanes, Lanes
from .replies import Failure, HookFailed

__all__ = ["blocking_lanes"]


def blocking_lanes(loop_lanes: Callable[[], Lanes]) -> BlockingLanes:
    """Return lanes that wait in the caller's thread; asyncio is loaded when something needs a loop."""

    def enter_on_loop(firing: Firing) -> None:
        from .loop import CancelledError, background

        async def enter() -> None:
            waiting = loop_lanes().enter(firing)
            if waiting is not None:
                await waiting

        try:
            background.run(enter())
        except HookFailed as error:
            firing.refuse(error.failure)
        except CancelledError:
            # Not by this host, which has no task: a hook has cancelled everything on the loop.
            firing.go_on_after(Failure("hook_crash", "cancelled the loop that it runs on"))

    def detach(firing: Firing) -> None:
        from .loop import background

        background.start(lambda: loop_lanes().detach(firing), copy_context())

    def wait(awaitable: Awaitable[None]) -> None:
        from .loop import background

        async def wait_for_it() -> None:
            await awaitable

        background.run(wait_for_it())

    return BlockingLanes(enter_on_loop, detach, wait)
