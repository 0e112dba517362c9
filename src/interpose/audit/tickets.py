"""Waiting for the writer, with or without an event loop, and never for ever."""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable
from threading import Lock
from time import monotonic

from ..errors import InterposeError

__all__ = ["StoreDown", "Ticket"]

_TICK = 0.5
"""Seconds after which a wait looks up, so that a signal can end it."""


class StoreDown(InterposeError):
    """What was to be recorded could not be, and why."""

    code = "audit_down"


class Ticket:
    """One wait: for a record to be committed, or for room in the queue. Settled once, by the writer."""

    __slots__ = ("_lock", "_tell", "error", "late", "settled")

    def __init__(self) -> None:
        self._lock = Lock()
        self._tell: Callable[[], object] | None = None
        self.settled = False
        self.late = False
        """Whether the one who waited has given up."""
        self.error: Exception | None = None

    def settle(self, error: Exception | None = None) -> None:
        """Tell whoever waits, from any thread."""
        with self._lock:
            self.settled, self.error = True, error
            tell = self._tell
        if tell is not None:
            tell()

    def _listen(self, tell: Callable[[], object]) -> bool:
        """Be told when it is settled; false if it is already."""
        with self._lock:
            self._tell = tell
            return not self.settled

    def _conclude(self, patience: float) -> None:
        with self._lock:
            if not self.settled:
                self.late = True
                raise StoreDown(f"the audit store did not take the record within {patience:g} s")
        if self.error is not None:
            raise self.error

    def block(self, patience: float) -> None:
        """Wait in this thread; raise what kept it from being written."""
        news = allocate_lock()
        news.acquire()
        if self._listen(news.release):
            deadline = monotonic() + patience
            while (left := deadline - monotonic()) > 0 and not news.acquire(timeout=min(left, _TICK)):
                pass
        self._conclude(patience)

    async def wait(self, patience: float) -> None:
        """Wait in a task; raise what kept it from being written."""
        import asyncio

        loop = asyncio.get_running_loop()
        news: asyncio.Future[None] = loop.create_future()

        def tell() -> None:
            try:
                loop.call_soon_threadsafe(_arrive, news)
            except RuntimeError:  # the loop was closed: nobody waits any more
                return

        if self._listen(tell):
            await asyncio.wait([news], timeout=patience)
        self._conclude(patience)


def _arrive(news: object) -> None:
    if not news.done():  # type: ignore[attr-defined]
        news.set_result(None)  # type: ignore[attr-defined]
