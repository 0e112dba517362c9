"""Daemon threads for sync hooks: reused, and left to a hook that hangs."""

from __future__ import annotations

import threading
from _thread import LockType, allocate_lock
from collections.abc import Callable
from contextvars import Context
from queue import SimpleQueue
from typing import Any

from ..driver import drive
from ..faults import is_awaitable, log, type_name
from ..forks import after_fork
from ..replies import HookFailed
from ..routes import Place
from .base import Chain, Work, kept

__all__ = ["ThreadChain", "Workers", "workers"]

_MOST_IDLE = 8
_Job = tuple[Callable[[], None], Callable[[], None]]


class ThreadChain(Chain):
    """A chain in a daemon thread. Its host watches the deadlines, and may go on without it at any moment."""

    place: Place = "thread"
    claim: LockType
    broken: BaseException | None = None  # what broke the chain itself, which no hook can

    def __init__(self, work: Work) -> None:
        self.work = work
        self.claim = allocate_lock()
        self.claim.acquire()  # until a hook begins

    def hook_answered(self, value: Any) -> bool:
        """Say whether the hook has ended before its host went on without it; close an answer that is too late."""
        if self.claim.acquire(False):
            return True
        kept.drop(self)
        close = getattr(value, "close", None) if is_awaitable(value) else None
        try:
            if close is not None:
                close()
        except BaseException as error:
            log("debug", "what a hook returned too late cannot be closed: %s", type_name(error))
        return False

    def abandon(self) -> bool:
        """Go on without a hook that hangs; false if it has just ended."""
        if not self.claim.acquire(False):
            return False
        self.abandoned = True
        kept.add(self)
        return True

    def let_go(self) -> None:
        self.abandon()
        super().let_go()

    def look(self, now: float) -> float:
        """Go on without a hook that is past its deadline; return when to look again."""
        due = self.work.deadline()
        if now >= due and self.abandon():
            self.work.time_out(due)
            self.wake()
        return due

    def passes_on(self, error: BaseException) -> bool:
        return False  # signals strike the main thread only, and the host cannot be cancelled here

    def ended(self) -> None:
        """Leave it to the host to wake: only its own thread may."""

    def run(self, context: Context) -> None:
        try:
            if not self.abandoned:
                context.run(drive, self.work.advance(self))
        except BaseException as error:
            self.broken = error


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
                raise HookFailed("spawn_resource", f"no thread can be started: {error}") from None
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
