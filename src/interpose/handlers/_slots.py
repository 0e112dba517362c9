"""How many commands may run at once, and the queue of those that wait for their turn."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from ..forks import after_fork

__all__ = ["MOST_RUNNING", "Slots", "Turn", "slots"]

MOST_RUNNING = 16
"""How many commands one process runs at a time; further ones wait for their turn, within their deadline."""


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
