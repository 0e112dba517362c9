"""Tasks that begin at once, for a Python whose own do not (before 3.12).

Making a task and waiting for its first turn costs more than most hooks. An understudy is a task that waits for its
part: a coroutine begins under its name, in the caller's turn, and if that has to wait, the understudy goes on with it.
The hook cannot tell the difference: the current task is its own all the time. If the coroutine ends without waiting and
nobody has taken notice of the task, the same one stands by for the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from contextvars import Context, copy_context
from sys import getrefcount
from typing import Any
from weakref import getweakrefcount

__all__ = ["ENDED", "InContext", "Understudy"]

ENDED = object()
"""What a coroutine is said to wait for that has ended."""


class InContext:
    """Goes on with a coroutine that has begun in a context of its own."""

    __slots__ = ("_chain", "_context", "_waits_for")

    def __init__(self, context: Context, chain: Coroutine[Any, Any, None], waits_for: Any) -> None:
        self._context = context
        self._chain = chain
        self._waits_for = waits_for

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


class Understudy:
    """A task that waits for a coroutine which has begun under its name."""

    __slots__ = ("_called", "_part", "_refs", "ready", "task")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.ready = False
        """Whether it can be cancelled without being lost: its own turn has come once."""
        self._called = loop.create_future()
        self._part: tuple[Context, Coroutine[Any, Any, None], Any] | None = None
        self.task = loop.create_task(self._stand_by(), name="interpose")
        # Nobody else's business until it plays: who waits for all tasks must not wait for this one.
        asyncio._unregister_task(self.task)
        self.task._log_destroy_pending = False  # type: ignore[attr-defined]

    async def _stand_by(self) -> None:
        self.ready = True
        try:
            await self._called
        except asyncio.CancelledError as error:
            if self._part is None:
                raise
            context, chain, _ = self._part
            try:
                self._part = context, chain, context.run(chain.throw, error)
            except StopIteration:
                return
        if self._part is not None:
            await InContext(*self._part)

    def begin(self, chain: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> bool:
        """Run a coroutine under this task's name until it waits; say whether it does, and is this task's by now."""
        task, host, context = self.task, asyncio.current_task(loop), copy_context()
        self._refs = getrefcount(task), getweakrefcount(task), task._callbacks
        if host is not None:
            asyncio._leave_task(loop, host)
        asyncio._enter_task(loop, task)
        try:
            waits_for = context.run(next, chain.__await__(), ENDED)
        finally:
            asyncio._leave_task(loop, task)
            if host is not None:
                asyncio._enter_task(loop, host)
        if waits_for is ENDED:
            return False
        self._part = context, chain, waits_for
        self._take_the_stage()
        return True

    def _take_the_stage(self) -> None:
        asyncio._register_task(self.task)
        self.task._log_destroy_pending = True  # type: ignore[attr-defined]
        if not self._called.done():  # it is, if the hook has cancelled its own task
            self._called.set_result(None)

    def is_unnoticed(self) -> bool:
        """Say whether nobody has kept this task or done something to it, so that it can be another's."""
        task = self.task
        refs = getrefcount(task), getweakrefcount(task), task._callbacks
        return refs == self._refs and not self._called.done() and task.get_name() == "interpose"

    def dismiss(self) -> None:
        """Let the task end."""
        if not self._called.done():
            self._called.set_result(None)
