"""Begin a coroutine in a task of its own at once, in the caller's turn of the event loop.

Python has such tasks from 3.12 on. Before, making a task and waiting for its first turn costs more than most hooks,
and running the coroutine in the caller's task is unsound: ``asyncio.timeout()`` in a hook would later cancel the host.
So for 3.11 a task stands by: it waits for a future, and a coroutine begins under its name. If the coroutine has to
wait, the task goes on with it; if not, the same task stands by for the next one. This uses the functions that asyncio
documents for other implementations of tasks (``_register_task``, ``_enter_task`` and their opposites), and the
number of references to a task, by which it finds out whether a hook has kept it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from sys import getrefcount
from typing import Any
from weakref import getweakrefcount

__all__ = ["GoOn", "Starter", "begin", "starter"]

Starter = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None] | None"]
"""Begins a coroutine in a task; returns the task, or None if the coroutine has ended already."""

_ENDED = object()


def begin(chain: Coroutine[Any, Any, None]) -> GoOn | None:
    """Begin a coroutine here, in a copy of the context; return what goes on with it, or None if it has ended."""
    context = copy_context()
    waits_for = context.run(next, chain.__await__(), _ENDED)  # ends without an exception, unlike send()
    return None if waits_for is _ENDED else GoOn(context, chain, waits_for)


class GoOn:
    """Goes on with a coroutine that has begun in a context of its own: to be awaited."""

    __slots__ = ("_chain", "_context", "_waits_for")

    def __init__(self, context: Context, chain: Coroutine[Any, Any, None], waits_for: Any) -> None:
        self._context = context
        self._chain = chain
        self._waits_for = waits_for

    def throw(self, error: BaseException) -> bool:
        """Raise an exception where the coroutine waits; say whether it has ended with that."""
        try:
            self._waits_for = self._context.run(self._chain.throw, error)
        except StopIteration:
            return True
        return False

    def __await__(self) -> Generator[Any, Any, None]:
        run, chain, waits_for = self._context.run, self._chain, self._waits_for
        while True:
            try:
                try:
                    sent = yield waits_for
                except BaseException as error:
                    waits_for = run(chain.throw, error)
                else:
                    waits_for = run(chain.send, sent)
            except StopIteration:
                return


class _StandingBy:
    """A task that waits for a coroutine to begin under its name."""

    __slots__ = ("_called", "_references", "_rest", "ready", "task")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.ready = False
        """Whether it can be cancelled without being lost: its own first turn has come."""
        self._called = loop.create_future()
        self._rest: GoOn | None = None
        self.task = loop.create_task(self._stand_by(), name="interpose")
        # Hidden until a coroutine needs it: a host that waits for all tasks must not wait for this one.
        asyncio._unregister_task(self.task)
        self.task._log_destroy_pending = False  # type: ignore[attr-defined]

    async def _stand_by(self) -> None:
        self.ready = True
        try:
            await self._called
        except asyncio.CancelledError as error:
            if self._rest is None:
                raise
            if self._rest.throw(error):
                return
        if self._rest is not None:
            await self._rest

    def begin(self, chain: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> bool:
        """Run a coroutine under this task's name until it waits; say whether it does: then it is this task's."""
        self._references = self._count_references()  # before this frame has a reference of its own
        task, host = self.task, asyncio.current_task(loop)
        if host is not None:
            asyncio._leave_task(loop, host)
        asyncio._enter_task(loop, task)
        try:
            self._rest = begin(chain)
        finally:
            asyncio._leave_task(loop, task)
            if host is not None:
                asyncio._enter_task(loop, host)
        if self._rest is None:
            return False
        asyncio._register_task(task)
        task._log_destroy_pending = True  # type: ignore[attr-defined]
        self.dismiss()
        return True

    def _count_references(self) -> tuple[object, ...]:
        task = self.task
        return getrefcount(task), getweakrefcount(task), task._callbacks

    def is_untouched(self) -> bool:
        """Say whether the coroutine has neither kept this task nor changed it, so that it can serve the next one."""
        untouched = self._count_references() == self._references and self.task.get_name() == "interpose"
        return untouched and not self._called.done()

    def dismiss(self) -> None:
        """Let the task go on: with its coroutine, or to its end."""
        if not self._called.done():  # it is, if the hook has cancelled its own task
            self._called.set_result(None)


class _StandIns:
    """The tasks that stand by on one event loop."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: list[_StandingBy] = []

    def __call__(self, chain: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        loop, waiting = asyncio.get_running_loop(), self._waiting
        if not (waiting and waiting[-1].ready):
            if not waiting:
                waiting.append(_StandingBy(loop))
            return loop.create_task(chain)
        stand_in = waiting.pop()
        if stand_in.begin(chain, loop):
            return stand_in.task
        if stand_in.is_untouched():
            waiting.append(stand_in)
        else:
            stand_in.dismiss()
        return None


def _start_eagerly(chain: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
    task = asyncio.Task(chain, loop=asyncio.get_running_loop(), eager_start=True)  # type: ignore[call-arg]
    if not task.done():
        return task
    task.result()
    return None


def starter() -> Starter:
    """Return what begins coroutines at once in tasks of one event loop."""
    return _start_eagerly if sys.version_info >= (3, 12) else _StandIns()
