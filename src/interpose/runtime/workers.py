"""Daemon threads: reused, and left to a job that hangs."""

from __future__ import annotations

import threading
from binascii import crc32
from collections.abc import Callable
from queue import SimpleQueue
from time import monotonic

from .forks import after_fork
from .held_signals import HeldSignals

__all__ = ["NoThread", "Workers", "acquire_soon", "workers"]

_MOST_IDLE = 8
_Job = tuple[Callable[[], None], Callable[[], None]]

_BYTES = bytes(75_000)


class NoThread(RuntimeError):
    """No thread can be started: a limit of the system is reached, or the interpreter is shutting down."""


class Workers:
    """A pool of daemon threads; at most a few wait idle. A hung job keeps its thread."""

    def __init__(self) -> None:
        self._start_anew()
        after_fork(self._start_anew)

    def _start_anew(self) -> None:
        """Forget the threads: after a fork those of the parent are not in the child."""
        self._jobs = SimpleQueue[_Job]()
        self._idle: list[None] = []  # an entry for each thread that waits and is not meant for a job already

    def run(self, job: Callable[[], None], done: Callable[[], None]) -> None:
        """Run a job in a thread of its own and then call ``done`` there; neither may raise."""
        try:
            self._idle.pop()
        except IndexError:
            with HeldSignals():  # one that strikes while a thread begins breaks it, or leaves it without a job
                start_thread(self._work, "interpose-hook")
                self._jobs.put((job, done))
        else:
            self._jobs.put((job, done))

    def _work(self) -> None:
        jobs, idle = self._jobs, self._idle
        stay = True
        while stay:
            job, done = jobs.get()
            job()
            stay = len(idle) < _MOST_IDLE
            if stay:
                idle.append(None)  # before the host is told: its next job finds this thread free
            done()
            del job, done


def acquire_soon(lock: threading.Lock, seconds: float) -> bool:
    """Acquire a lock that another thread is about to release; return False if it does not within these seconds.

    The system takes longer to put a thread to sleep and to wake it than most jobs take. So this thread stays awake. It
    computes a checksum, about 10 µs of work during which CPython lets other threads run Python code: a thread that
    gives up the interpreter's lock for a shorter time meets the other one when it takes that lock again, and sleeps.
    """
    until = monotonic() + seconds
    while not lock.acquire(False):
        if monotonic() >= until:
            return False
        crc32(_BYTES)
    return True


def start_thread(work: Callable[[], None], name: str) -> threading.Thread:
    """Start a daemon thread, or raise NoThread."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        raise NoThread(f"no thread can be started: {error}") from None
    return thread


workers = Workers()
