"""The executor of a host without an event loop: it waits in the caller's own thread.

What needs a loop runs on one in a background thread; asyncio is loaded when the first step needs it.
"""

from __future__ import annotations

from collections.abc import Awaitable
from contextvars import copy_context

from ..replies import describe
from ..routes import Place
from ..runtime.coroutines import drive
from ..runtime.workers import NoThread
from .base import Chain, Work
from .threads import ThreadChain

__all__ = ["BlockingExecutor", "blocking_executor"]


class BlockingExecutor:
    """Runs steps while the caller's thread waits."""

    has_loop = False

    def enter(self, work: Work, place: Place) -> Awaitable[None] | None:
        if place == "inline":
            copy_context().run(drive, work.advance(Chain(), "inline", False))
        elif place == "thread":
            ThreadChain(work).run_and_wait()
        else:
            _on_background_loop(work)
        return None

    async def wait(self, awaitable: Awaitable[None]) -> None:
        """Wait in this thread if the awaitable has ``block()``, else on the background loop."""
        if (block := getattr(awaitable, "block", None)) is not None:
            block()
            return
        from .asyncio import background_loop, loop_executor

        background_loop.run(loop_executor.wait(awaitable))

    def detach(self, work: Work) -> None:
        from .asyncio import background_loop, loop_executor

        try:
            background_loop.start(lambda: loop_executor.detach(work), copy_context())
        except NoThread as error:
            work.fail(describe(error))
            work.next_place(False)  # the run ends with that


def _on_background_loop(work: Work) -> None:
    from .asyncio import JobCancelled, background_loop, loop_executor

    step = work.step()
    try:
        background_loop.run(loop_executor.enter_next(work))
    except (NoThread, JobCancelled) as error:  # the host is not interrupted
        work.over = False
        work.fail(describe(error), at=step)  # the hook that has cancelled all may have ended before: then go on


blocking_executor = BlockingExecutor()
