"""Bound the number of commands that run at once; further ones wait in a queue."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from ..runtime.forks import after_fork

__all__ = ["MOST_RUNNING", "SlotRequest", "Slots", "slots"]

MOST_RUNNING = 16
"""How many commands a process runs at a time; further ones wait, within their deadline."""


class SlotRequest:
    """A request for a slot: granted, or given up."""

    __slots__ = ("bell", "granted")

    def __init__(self, bell: Callable[[], Any] | None, granted: bool) -> None:
        self.bell = bell
        self.granted = granted


class Slots:
    """Counts running commands; further ones wait in order, on any loop or thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.forget()

    def forget(self) -> None:
        """Reset after a fork: the parent's commands do not run here."""
        self._lock = threading.Lock()
        self._running = 0
        self._waiting: deque[SlotRequest] = deque()

    def take(self) -> SlotRequest | None:
        """Return a granted request, or None if all slots are taken."""
        with self._lock:
            if self._running >= self._most:
                return None
            self._running += 1
        return SlotRequest(None, True)

    def queue(self, bell: Callable[[], Any]) -> SlotRequest:
        """Return a request that calls ``bell`` when it is granted, which may be at once."""
        turn = SlotRequest(bell, False)
        with self._lock:
            if self._running < self._most:
                self._running += 1
                turn.granted = True
                bell()
            else:
                self._waiting.append(turn)
        return turn

    def give_back(self, turn: SlotRequest) -> None:
        """Free the slot for the next command; a request that was never granted leaves the queue."""
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
                except RuntimeError:  # its loop was closed
                    following.granted = False
                    self._running -= 1


slots = Slots(MOST_RUNNING)
after_fork(slots.forget)
