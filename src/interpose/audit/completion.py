"""A completion: the writer thread completes it once; a thread or a task waits for it, with a timeout."""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable
from threading import Lock
from time import monotonic

from ..errors import InterposeError

__all__ = ["Completion", "StoreDown"]

_TICK = 0.5
"""Seconds after which a blocking wait wakes up, so that a signal handler can run."""


class StoreDown(InterposeError):
    """The store cannot write a record."""

    code = "audit_down"


class Completion:
    """Completed when a record is committed or refused, or when the queue has room."""

    __slots__ = ("_callback", "_lock", "completed", "error", "timed_out")

    def __init__(self) -> None:
        self._lock = Lock()
        self._callback: Callable[[], object] | None = None
        self.completed = False
        self.timed_out = False
        """Whether the waiter has given up."""
        self.error: Exception | None = None

    def complete(self, error: Exception | None = None) -> None:
        """Wake the waiter, from any thread; with an error, the wait raises it."""
        with self._lock:
            self.completed, self.error = True, error
            callback = self._callback
        if callback is not None:
            callback()

    def on_complete(self, callback: Callable[[], object]) -> bool:
        """Call this when it is completed; return False if it is already."""
        with self._lock:
            self._callback = callback
            return not self.completed

    def _raise_error(self, patience: float) -> None:
        with self._lock:
            if not self.completed:
                self.timed_out = True
                raise StoreDown(f"the audit store did not take the record within {patience:g} s")
        if self.error is not None:
            raise self.error

    def block(self, patience: float) -> None:
        """Block this thread until it is completed; raise its error, or StoreDown after ``patience`` seconds."""
        done = allocate_lock()
        done.acquire()
        if self.on_complete(done.release):
            deadline = monotonic() + patience
            while (left := deadline - monotonic()) > 0 and not done.acquire(timeout=min(left, _TICK)):
                pass
        self._raise_error(patience)

    async def wait(self, patience: float) -> None:
        """Wait in a task until it is completed; raise its error, or StoreDown after ``patience`` seconds."""
        import asyncio

        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            try:
                loop.call_soon_threadsafe(_set_done, done)
            except RuntimeError:  # the loop is closed, and the waiter with it
                return

        if self.on_complete(wake):
            await asyncio.wait([done], timeout=patience)
        self._raise_error(patience)


def _set_done(done: object) -> None:
    if not done.done():  # type: ignore[attr-defined]
        done.set_result(None)  # type: ignore[attr-defined]
