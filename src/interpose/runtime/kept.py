"""How many tasks and threads code that hangs keeps: the host goes on without them, and cannot end them."""

from __future__ import annotations

from typing import Any

from .forks import after_fork

__all__ = ["MOST_KEPT", "Kept", "kept"]

MOST_KEPT = 100
"""How many tasks and threads may be kept; beyond that a hook fails at once."""


class Kept:
    """The tasks and threads that hung code keeps."""

    def __init__(self) -> None:
        self.reset()
        after_fork(self.reset)

    def reset(self) -> None:
        """Start anew: after a fork the parent's threads and tasks are not in the child."""
        self._held: dict[object, Any] = {}
        self.crowded = False  # whether there may be too many; ``count`` looks whether they are still there

    def add(self, holder: object, loop: Any = None) -> None:
        """Count a task or the chain of a thread; one that has a loop counts until its loop is closed at most."""
        self._held[holder] = loop
        self.crowded = len(self._held) >= MOST_KEPT

    def drop(self, holder: object) -> None:
        self._held.pop(holder, None)
        self.crowded = len(self._held) >= MOST_KEPT

    @property
    def count(self) -> int:
        for holder, loop in tuple(self._held.items()):
            if loop is not None and loop.is_closed():
                self.drop(holder)
        return len(self._held)


kept = Kept()
