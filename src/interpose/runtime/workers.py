"""Daemon threads: reused, and left to a job that hangs."""

from __future__ import annotations

import os
import threading
from _thread import allocate_lock
from collections import deque
from collections.abc import Callable

from .forks import after_fork

__all__ = ["NoThread", "Workers", "workers"]

_MOST_IDLE = 8
_Job = tuple[Callable[[], None], Callable[[], None]]


class NoThread(RuntimeError):
    """No thread can be started: a limit of the system is reached, or the interpreter is shutting down."""


class Workers:
    """A pool of daemon threads; at most a few wait idle. A hung job keeps its thread.

    Idle threads read from one pipe, a byte for each job. The system wakes a thread that waits for a lock on another
    core, which costs more than most jobs; it wakes one that reads from a pipe on the core of the thread that writes.
    """

    def __init__(self) -> None:
        self._start_anew()
        after_fork(self._reset)

    def _start_anew(self) -> None:
        self._opening = allocate_lock()
        self._pipe: tuple[int, int] | None = None  # opened for the first job
        self._jobs: deque[_Job] = deque()
        self._idle: list[None] = []  # an entry for each thread that waits and is not meant for a job already

    def _reset(self) -> None:
        """Forget what belongs to the parent: its threads are not in the child, and its pipe is not the child's."""
        for end in self._pipe or ():
            os.close(end)
        self._start_anew()

    def run(self, job: Callable[[], None], done: Callable[[], None]) -> None:
        """Run a job in a thread of its own and then call ``done`` there; neither may raise."""
        try:
            reading, writing = self._pipe or self._open()
            try:
                self._idle.pop()
            except IndexError:
                threading.Thread(target=self._work, args=[reading], name="interpose-hook", daemon=True).start()
            self._jobs.append((job, done))
            os.write(writing, b"\n")
        except RuntimeError as error:  # the limit of threads, or the interpreter is shutting down
            raise NoThread(f"no thread can be started: {error}") from None
        except (
            OSError
        ) as error:  # the limit of descriptors, or the host has closed ours: then the next job opens others
            self._start_anew()
            raise NoThread(f"no thread can be woken: {error}") from None

    def _open(self) -> tuple[int, int]:
        with self._opening:
            self._pipe = self._pipe or os.pipe()
            return self._pipe

    def _work(self, reading: int) -> None:
        jobs, idle = self._jobs, self._idle
        stay = True
        while stay and _read(reading):
            job, done = jobs.popleft()
            job()
            stay = len(idle) < _MOST_IDLE
            if stay:
                idle.append(None)  # before the host is told: its next job finds this thread free
            done()
            del job, done


def _read(descriptor: int) -> bytes:
    """Wait for a byte; return none if the host has closed the descriptor."""
    try:
        return os.read(descriptor, 1)
    except OSError:
        return b""


workers = Workers()
