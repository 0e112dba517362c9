"""The way back from a thread to the event loop that waits for it.

To be woken through the loop costs more than most hooks take. So the host waits a moment for the thread on the spot, and
only then turns to its loop: the moment is no longer than what it saves, and a hook that was slower is not waited for
like that the next time.
"""

from __future__ import annotations

import asyncio
from _thread import allocate_lock

from .lanes import won

__all__ = ["MOMENT", "Hop"]

MOMENT = 0.0002
"""Seconds for which the loop stands still at most."""


class Hop:
    """What a firing waits for while its steps run in a thread."""

    __slots__ = ("_claim", "_loop", "_news", "waiter")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._claim: list[None] = [None]  # whoever takes it says which way the news goes
        self._news = allocate_lock()
        self._news.acquire()
        self.waiter: asyncio.Future[None] = loop.create_future()
        """Is done when the thread has ended, if that was not at once."""

    def ring(self) -> None:
        """Say that the thread has ended; called there."""
        if won(self._claim):
            self._news.release()
            return
        try:
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:  # the loop was closed while the hook ran: nobody waits
            return

    def _wake(self) -> None:
        if not self.waiter.done():
            self.waiter.set_result(None)

    def is_over(self, seconds: float) -> bool:
        """Wait for so long, on the spot; if the thread has not ended then, the waiter will be told. Asked once."""
        return self._news.acquire(timeout=seconds) or not won(self._claim)
