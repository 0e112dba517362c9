"""Who waits for a run: an event loop, or a plain poll where there is none. And how many commands may run at once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..forks import after_fork

if TYPE_CHECKING:
    import asyncio

__all__ = ["LONGEST_POLL", "MOST_RUNNING", "OnLoop", "Polling", "Slots", "Turn", "slots"]

MOST_RUNNING = 16
"""How many commands one process runs at a time; further ones wait for their turn, within their deadline."""

LONGEST_POLL = 0.1
"""Seconds after which a blocking wait looks up: a signal that strikes another thread does not end it."""


class OnLoop:
    """An event loop watches; ``finished`` is a future of it."""

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
        """Do not call back any more for this descriptor."""
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
        """Stop waiting."""
        if self._timer is not None:
            self._timer.cancel()
        if not self.finished.done():
            self.finished.set_result(None)


class Polling:
    """The calling thread watches, in ``wait()``."""

    __slots__ = ("_on_time", "_over", "_poll", "_tell", "_when")

    def __init__(self) -> None:
        import select

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
        """Do not call back any more for this descriptor."""
        if self._tell.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def at(self, when: float, tell: Callable[[], object]) -> None:
        """Call back at a time of the monotonic clock."""
        self._when, self._on_time = when, tell

    def done(self) -> None:
        """Stop waiting."""
        self._over = True

    def wait(self) -> None:
        """Call back what is due until there is nothing to wait for."""
        while not self._over:
            left = min(self._when - monotonic(), LONGEST_POLL)
            for descriptor, _ in self._poll.poll(max(0, left * 1000)):
                tell = self._tell.get(descriptor)
                if tell is not None:
                    tell()
            if not self._over and self._on_time is not None and monotonic() >= self._when:
                tell, self._on_time, self._when = self._on_time, None, float("inf")
                tell()


class Turn:
    """A place in the queue. Either it is granted or it is given up, and never both."""

    __slots__ = ("bell", "granted")

    def __init__(self, bell: Callable[[], Any] | None, granted: bool) -> None:
        self.bell = bell
        self.granted = granted


class Slots:
    """Counts what runs; those who come too many wait in order, whichever loop or thread they wait on."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.forget()

    def forget(self) -> None:
        """Start anew: after a fork nothing of the parent's runs here."""
        self._lock = threading.Lock()
        self._running = 0
        self._waiting: deque[Turn] = deque()

    def take(self) -> Turn | None:
        """Return a turn that is granted, or nothing if one has to wait for it."""
        with self._lock:
            if self._running >= self._most:
                return None
            self._running += 1
        return Turn(None, True)

    def queue(self, bell: Callable[[], Any]) -> Turn:
        """Return a turn whose bell rings when it is granted; it may have been already."""
        turn = Turn(bell, False)
        with self._lock:
            if self._running < self._most:
                self._running += 1
                turn.granted = True
                bell()
            else:
                self._waiting.append(turn)
        return turn

    def give_back(self, turn: Turn) -> None:
        """Let the next one run; a turn that was never granted only leaves the queue."""
        with self._lock:
            if not turn.granted:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                return
            turn.granted = False
            self._running -= 1
            while self._waiting and self._running < self._most:
                following = self._waiting.popleft()
                following.granted = True
                self._running += 1
                try:
                    if following.bell is not None:
                        following.bell()
                except RuntimeError:  # its loop was closed: nobody waits there any more
                    following.granted = False
                    self._running -= 1


slots = Slots(MOST_RUNNING)
after_fork(slots.forget)
