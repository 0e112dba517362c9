"""Coroutines and tasks that begin at once, in the caller's turn of the event loop; and hidden tasks.

Making a task and waiting for its first turn costs more than most hooks, and running the coroutine in the caller's task
is unsound: ``asyncio.timeout()`` in a hook would later cancel the host. Python 3.12 and later have eager tasks. For
3.11, asyncio documents four functions for other implementations of tasks, and has no public name for them.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from asyncio import CancelledError, Task
from collections.abc import Coroutine, Generator
from contextvars import Context, copy_context
from sys import getrefcount
from types import coroutine
from typing import Any
from weakref import getweakrefcount

__all__ = ["begin", "begin_task", "go_on", "hide"]

_NAME = "interpose"
_ENDED = object()

_Flow = Coroutine[Any, Any, None]
_Begun = tuple[Context, _Flow, Any]  # a coroutine that has begun in a context of its own, and what it waits for


def begin(flow: _Flow) -> _Begun | None:
    """Begin a coroutine here, in a copy of the context; return what ``go_on`` takes, or None if it has ended."""
    context = copy_context()
    waits_for = context.run(next, flow.__await__(), _ENDED)  # ends without an exception, unlike send()
    return None if waits_for is _ENDED else (context, flow, waits_for)


@coroutine
def go_on(context: Context, flow: _Flow, waits_for: Any) -> Generator[Any, Any, None]:
    """Go on with a coroutine that has begun in a context of its own."""
    while True:
        try:
            try:
                sent = yield waits_for
            except BaseException as error:
                waits_for = context.run(flow.throw, error)
            else:
                waits_for = context.run(flow.send, sent)
        except StopIteration:
            return


def hide(task: Task[Any]) -> None:
    """Keep a task from ``asyncio.run()`` and others that end or wait for all tasks, and from complaints about it."""
    asyncio._unregister_task(task)
    task._log_destroy_pending = False  # type: ignore[attr-defined]


class _StandIn:
    """A task of Python 3.11 that waits for a coroutine to begin under its name.

    If the coroutine has to wait, the task goes on with it; if not, it stands by for the next one, unless a hook has
    kept it: its references are counted.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.ready = False  # whether it can be cancelled without being lost: its own first turn has come
        self._called = loop.create_future()
        self._begun: _Begun | None = None
        self.task = Task(self._stand_by(), loop=loop, name=_NAME)
        hide(self.task)  # until a coroutine needs it: a host that waits for all tasks must not wait for this one

    async def _stand_by(self) -> None:
        self.ready = True
        try:
            await self._called
        except CancelledError as error:
            if self._begun is None:
                raise
            context, flow, _ = self._begun
            try:
                self._begun = context, flow, context.run(flow.throw, error)
            except StopIteration:
                return
        if self._begun is not None:
            await go_on(*self._begun)

    def begin(self, flow: _Flow) -> bool:
        """Run a coroutine under this task's name until it waits; say whether it does: then it is this task's."""
        self._references = self._count_references()  # before this frame has a reference of its own
        loop, task, host = self.loop, self.task, asyncio.current_task(self.loop)
        if host is not None:
            asyncio._leave_task(loop, host)
        asyncio._enter_task(loop, task)
        try:
            self._begun = begin(flow)
        finally:
            asyncio._leave_task(loop, task)
            if host is not None:
                asyncio._enter_task(loop, host)
        if self._begun is None:
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
        untouched = self._count_references() == self._references and self.task.get_name() == _NAME
        return untouched and not self._called.done()

    def dismiss(self) -> None:
        """Let the task go on: with its coroutine, or to its end."""
        if not self._called.done():  # it is, if the hook has cancelled its own task
            self._called.set_result(None)


class _OfThread(threading.local):
    stand_in: _StandIn | None = None  # of the event loop that runs in this thread


_of_thread = _OfThread()


if sys.version_info >= (3, 12):

    def begin_task(flow: _Flow, loop: asyncio.AbstractEventLoop) -> Task[None] | None:
        """Run a coroutine in a task until it waits; return the task."""
        return Task(flow, loop=loop, name=_NAME, eager_start=True)

else:

    def begin_task(flow: _Flow, loop: asyncio.AbstractEventLoop) -> Task[None] | None:
        """Run a coroutine in a task until it waits; return the task, or None if the coroutine has ended without one."""
        stand_in = _of_thread.stand_in
        if stand_in is None or stand_in.loop is not loop:
            stand_in = _of_thread.stand_in = _StandIn(loop)
        if not stand_in.ready:
            return Task(flow, loop=loop, name=_NAME)
        _of_thread.stand_in = None  # a hook may fire, too
        if stand_in.begin(flow):
            return stand_in.task
        if stand_in.is_untouched() and _of_thread.stand_in is None:
            _of_thread.stand_in = stand_in
        else:
            stand_in.dismiss()
        return None
