"""Daemon threads for sync hooks: reused, and left to a hook that hangs."""

from __future__ import annotations

import threading
from _thread import allocate_lock
from collections.abc import Callable
from contextvars import Context
from typing import Any

from ..driver import drive
from ..faults import is_awaitable, log, type_name
from ..forks import after_fork
from ..replies import HookFailed
from ..routes import Place
from .base import Chain, Work, kept

__all__ = ["ThreadChain", "Workers", "claimed", "workers"]

_MOST_IDLE = 8


def claimed(claim: list[None]) -> bool:
    """Take a claim that only one of several threads gets."""
    try:
        claim.pop()
    except IndexError:
        return False
    return True


class ThreadChain(Chain):
    """A chain in a daemon thread. Its host watches the deadlines, and may go on without it at any moment.

    What comes first, the hook's answer or its deadline, is decided by a claim that only one side gets.
    """

    __slots__ = ("_claim", "broken")
    place: Place = "thread"

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self._claim: list[None] = []
        self.broken: BaseException | None = None
        """What broke the chain itself, which no hook can."""

    def begin_hook(self) -> None:
        """Open the claim for the hook that begins."""
        self._claim = [None]

    def hook_answered(self, value: Any) -> bool:
        """Say whether the hook has ended before its host went on without it; close an answer that is too late."""
        if claimed(self._claim):
            return True
        kept.drop_thread()
        close = getattr(value, "close", None) if is_awaitable(value) else None
        try:
            if close is not None:
                close()
        except BaseException as error:
            log("debug", "what a hook returned too late cannot be closed: %s", type_name(error))
        return False

    def abandon(self) -> bool:
        """Go on without a hook that hangs; false if it has just ended."""
        if not claimed(self._claim):
            return False
        self.abandoned = True
        kept.add_thread()
        return True

    def passes_on(self, error: BaseException) -> bool:
        """Return false: signals strike the main thread only, and the host cannot be cancelled here."""
        return False

    def run(self, context: Context) -> None:
        """Run the chain in this thread, in the host's context."""
        try:
            if not self.abandoned:
                context.run(drive, self.work.advance(self))
        except BaseException as error:
            self.broken = error


class _Worker:
    """One daemon thread that runs job after job. A hung job keeps it; the end of the process does not wait for it."""

    __slots__ = ("_done", "_go", "_job", "_pool")

    def __init__(self, pool: Workers) -> None:
        self._pool = pool
        self._go = allocate_lock()
        self._go.acquire()
        self._job: Callable[[], None] | None = None
        self._done: Callable[[], None] | None = None
        threading.Thread(target=self._run, name="interpose-hook", daemon=True).start()

    def give(self, job: Callable[[], None], done: Callable[[], None]) -> None:
        self._job, self._done = job, done
        self._go.release()

    def _run(self) -> None:
        while True:
            self._go.acquire()
            job, done, self._job, self._done = self._job, self._done, None, None
            if job is None or done is None:
                return
            job()
            # Idle before the host is told: the host's next job finds this thread free.
            stay = self._pool.take_back(self)
            done()
            del job, done
            if not stay:
                return


class Workers:
    """A pool of daemon threads; at most a few wait idle."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        after_fork(self.reset)

    def run(self, job: Callable[[], None], done: Callable[[], None]) -> None:
        """Run a job in a thread of its own and then call ``done`` there; neither may raise."""
        try:
            worker = self._idle.pop()
        except IndexError:
            try:
                worker = _Worker(self)
            except RuntimeError as error:  # the limit of threads, or the interpreter is shutting down
                raise HookFailed("spawn_resource", f"no thread can be started: {error}") from None
        worker.give(job, done)

    def take_back(self, worker: _Worker) -> bool:
        """Keep a worker for the next job, unless enough wait already."""
        if len(self._idle) >= _MOST_IDLE:
            return False
        self._idle.append(worker)
        return True

    def reset(self) -> None:
        """Start anew: after a fork the parent's threads are not in the child."""
        self._idle = []


workers = Workers()
