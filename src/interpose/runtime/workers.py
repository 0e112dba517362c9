"""Daemon threads: reused, and left to a job that hangs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from .forks import after_fork

__all__ = ["NoThread", "Workers", "workers"]

_MOST_IDLE = 8
_Job = tuple[Callable[[], None], Callable[[], None]]


class NoThread(RuntimeError):
    """No thread can be started: the limit is reached, or the interpreter is shutting down."""


class Workers:
    """A pool of daemon threads; at most a few wait idle. A hung job keeps its thread."""

    def __init__(self) -> None:
        self._idle: list[SimpleQueue[_Job]] = []
        after_fork(self._idle.clear)  # the parent's threads are not in the child

    def run(self, job: Callable[[], None], done: Callable[[], None]) -> None:
        """Run a job in a thread of its own and then call ``done`` there; neither may raise."""
        try:
            jobs = self._idle.pop()
        except IndexError:
            jobs = SimpleQueue()
            thread = threading.Thread(target=self._work, args=[jobs], name="interpose-hook", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:  # the limit of threads, or the interpreter is shutting down
                raise NoThread(f"no thread can be started: {error}") from None
        jobs.put((job, done))

    def _work(self, jobs: SimpleQueue[_Job]) -> None:
        stay = True
        while stay:
            job, done = jobs.get()
            job()
            stay = len(self._idle) < _MOST_IDLE
            if stay:
                self._idle.append(jobs)  # before the host is told: its next job finds this thread free
            done()
            del job, done


workers = Workers()
