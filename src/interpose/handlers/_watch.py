"""Watch a running process and its deadline: on an event loop, or with a poll where there is none. Wait for a future."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

    from ..runtime.held_signals import HeldSignals

__all__ = ["LONGEST_POLL", "LoopWatch", "PollWatch", "Watch", "wait_until"]

LONGEST_POLL = 0.1
"""Seconds after which a blocking wait returns: a signal that another thread gets does not interrupt it."""


class Watch(Protocol):
    """Calls back when a descriptor is readable or writable, or when a time has come."""

    def on_readable(self, descriptor: int, tell: Callable[[], object]) -> None:
        """Call back when there is something to read."""

    def on_writable(self, descriptor: int, tell: Callable[[], object]) -> None:
        """Call back when there is room to write."""

    def forget(self, descriptor: int) -> None:
        """Stop watching a descriptor."""

    def at(self, when: float, tell: Callable[[], object]) -> None:
        """Call back at a time of the monotonic clock, instead of any time that was set before."""

    def done(self) -> None:
        """Stop watching: the run is over."""


class LoopWatch:
    """Watches on an event loop; ``finished`` is a future of the loop."""

    __slots__ = ("_loop", "_readers", "_timer", "_writers", "finished")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self._readers: set[int] = set()
        self._writers: set[int] = set()
        self.finished: asyncio.Future[None] = loop.create_future()

    def on_readable(self, descriptor: int, tell: Callable[[], object]) -> None:
        """Call back when there is something to read."""
        self._readers.add(descriptor)
        self._loop.add_reader(descriptor, tell)

    def on_writable(self, descriptor: int, tell: Callable[[], object]) -> None:
        """Call back when there is room to write."""
        self._writers.add(descriptor)
        self._loop.add_writer(descriptor, tell)

    def forget(self, descriptor: int) -> None:
        """Stop watching a descriptor."""
        if self._loop.is_closed():
            return
        if descriptor in self._readers:
            self._readers.discard(descriptor)
            self._loop.remove_reader(descriptor)
        if descriptor in self._writers:
            self._writers.discard(descriptor)
            self._loop.remove_writer(descriptor)

    def at(self, when: float, tell: Callable[[], object]) -> None:
        """Call back at a time of the monotonic clock."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(max(0.0, when - monotonic()), tell)

    def done(self) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()
        if not self.finished.done():
            self.finished.set_result(None)


class PollWatch:
    """Watches in the calling thread, in ``wait()``, which signals may interrupt."""

    __slots__ = ("_on_time", "_over", "_poll", "_signals", "_tell", "_when")

    def __init__(self, signals: HeldSignals) -> None:
        import select

        self._signals = signals
        self._poll = select.poll()
        self._tell: dict[int, Callable[[], object]] = {}
        self._when = float("inf")
        self._on_time: Callable[[], object] | None = None
        self._over = False

    def on_readable(self, descriptor: int, tell: Callable[[], object]) -> None:
        """Call back when there is something to read."""
        self._tell[descriptor] = tell
        self._poll.register(descriptor, 1)  # POLLIN

    def on_writable(self, descriptor: int, tell: Callable[[], object]) -> None:
        """Call back when there is room to write."""
        self._tell[descriptor] = tell
        self._poll.register(descriptor, 4)  # POLLOUT

    def forget(self, descriptor: int) -> None:
        """Stop watching a descriptor."""
        if self._tell.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def at(self, when: float, tell: Callable[[], object]) -> None:
        """Call back at a time of the monotonic clock."""
        self._when, self._on_time = when, tell

    def done(self) -> None:
        """Stop watching."""
        self._over = True

    def wait(self) -> None:
        """Wait and call back until ``done()`` is called."""
        while not self._over:
            left = min(self._when - monotonic(), LONGEST_POLL)
            try:
                self._signals.hear()
                ready = self._poll.poll(max(0, left * 1000))
            finally:
                self._signals.heard = False
            for descriptor, _ in ready:
                tell = self._tell.get(descriptor)
                if tell is not None:
                    tell()
            if not self._over and self._on_time is not None and monotonic() >= self._when:
                tell, self._on_time, self._when = self._on_time, None, float("inf")
                tell()


def wait_until(deadline: float, call: Future[Any], signals: HeldSignals) -> None:
    """Wait in this thread until a call is done or its time is over, and hear signals meanwhile; then cancel it."""
    from concurrent.futures import wait

    try:
        while not call.done() and (left := deadline - monotonic()) > 0:
            wait([call], min(left, LONGEST_POLL))
            signals.hear_at_once()
    finally:
        call.cancel()
