"""Where hooks run: the caller's own task or thread, a task of the firing's own, a daemon thread.

This module has what needs no event loop: the daemon threads, the count of what hung hooks keep, and the lanes of a
host without a loop. The lanes of asyncio are in ``loop``.
"""

from __future__ import annotations

import os
import threading
from _thread import allocate_lock
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context, copy_context
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from .faults import is_awaitable, log, type_name
from .replies import HookFailed

if TYPE_CHECKING:
    from .firing import Firing

__all__ = ["ENDING", "GRACE", "MOST_KEPT", "BlockingLanes", "Kept", "Lanes", "Workers", "drive", "workers"]

GRACE = 0.1
"""Seconds that a hook has to end after it was told to."""

ENDING = 0.25
"""Seconds that a handler has to end what it runs, after the deadline, before it counts as hung itself."""

MOST_KEPT = 100
"""How many tasks and threads hung hooks may keep; beyond that a hook fails at once."""

_MOST_IDLE = 8
_TICK = 0.02


class Lanes(Protocol):
    """What a host offers a firing to run its steps in."""

    def enter(self, firing: Firing) -> Awaitable[None] | None:
        """Run steps from where the firing stands until its lane ends or a hook is given up.

        Returns what is to be awaited for that; nothing if it has come to pass already.
        """

    async def wait(self, awaitable: Awaitable[None]) -> None:
        """Wait for something that is not a hook."""

    def keep(self, task: Any) -> None:
        """Leave a task to itself whose hook will not end."""

    def detach(self, firing: Firing) -> None:
        """Run a firing of its own beside the host, without waiting for it."""


class Kept:
    """Counts the tasks and threads that hooks keep which would not end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = 0
        self._tasks: set[Any] = set()
        self.crowded = False
        """Whether there may be too many; ``count`` knows."""

    def take(self) -> None:
        """One more thread is kept."""
        with self._lock:
            self._threads += 1
            self._count()

    def give_back(self) -> None:
        """A thread has ended after all."""
        with self._lock:
            self._threads -= 1
            self._count()

    def take_task(self, task: Any) -> None:
        """One more task is kept, until it ends or its loop does."""
        with self._lock:
            self._tasks.add(task)
            self._count()
        task.add_done_callback(self._give_back_task)

    def _give_back_task(self, task: Any) -> None:
        with self._lock:
            self._tasks.discard(task)
            self._count()
        if not task.cancelled():
            task.exception()  # read, so that asyncio does not complain about it

    @property
    def count(self) -> int:
        """How many there are; a task whose loop was closed is none any more."""
        if self._tasks:
            with self._lock:
                self._tasks = {task for task in self._tasks if not task.get_loop().is_closed()}
                self._count()
        return self._threads + len(self._tasks)

    def _count(self) -> None:
        self.crowded = self._threads + len(self._tasks) >= MOST_KEPT


class _Worker:
    """One daemon thread that runs job after job. A hung job keeps it; nobody waits for it at exit."""

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
            # Idle before the news is out: whoever reacts to it finds this thread free.
            stay = self._pool.take_back(self)
            done()
            del job, done
            if not stay:
                return


class Workers:
    """Daemon threads, reused; at most a few wait idle."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []

    def run(self, job: Callable[[], None], done: Callable[[], None]) -> None:
        """Run a job in a thread of its own and then tell; neither may raise."""
        try:
            worker = self._idle.pop()
        except IndexError:
            try:
                worker = _Worker(self)
            except RuntimeError as error:  # no thread to be had, or the interpreter is shutting down
                raise HookFailed("spawn_resource", f"no thread can be started: {error}") from None
        worker.give(job, done)

    def take_back(self, worker: _Worker) -> bool:
        """Keep a worker for the next job, unless enough wait already."""
        if len(self._idle) >= _MOST_IDLE:
            return False
        self._idle.append(worker)
        return True

    def forget(self) -> None:
        """Start anew: after a fork the parent's threads are not in the child."""
        self._idle = []


workers = Workers()
kept = Kept()


def _after_fork() -> None:
    workers.forget()
    kept.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def drive(chain: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that never waits for an event loop."""
    try:
        chain.send(None)
    except StopIteration:
        return
    chain.close()
    raise RuntimeError("a hook without an event loop waited for one")


def won(claim: list[None]) -> bool:
    """Take a claim that only one of several threads can have."""
    try:
        claim.pop()
    except IndexError:
        return False
    return True


def too_late(value: Any) -> None:
    """Let go of a thread's answer that nobody waits for any more."""
    kept.give_back()
    close = getattr(value, "close", None) if is_awaitable(value) else None
    try:
        if close is not None:
            close()
    except BaseException as error:
        log("debug", "what a hook returned too late cannot be closed: %s", type_name(error))


def thread_job(firing: Firing, context: Context) -> Callable[[], None]:
    """Return the job that runs a firing's steps in a thread, in the caller's context."""
    token = firing.token

    def job() -> None:
        try:
            if token == firing.token:
                context.run(drive, firing.chain())
        except BaseException as error:
            firing.broken = error

    return job


class BlockingLanes:
    """Lanes for a host without an event loop: it waits in its own thread.

    ``elsewhere`` takes what needs a loop: it runs a coroutine on one, in another thread, and waits.
    """

    def __init__(
        self,
        elsewhere: Callable[[Firing], None],
        detach: Callable[[Firing], None],
        wait: Callable[[Awaitable[None]], None],
    ) -> None:
        self._elsewhere = elsewhere
        self._detach = detach
        self._wait = wait

    def detach(self, firing: Firing) -> None:
        """Run a firing in the background, on a loop elsewhere."""
        self._detach(firing)

    async def wait(self, awaitable: Awaitable[None]) -> None:
        """Wait for it on a loop elsewhere."""
        self._wait(awaitable)

    def keep(self, task: Any) -> None:
        """Never needed here: tasks run on a loop, which has lanes of its own."""

    def enter(self, firing: Firing) -> None:
        """Run the steps of the next lane to its end."""
        step = firing.steps[firing.position]
        must_be_awaited = firing.awaitable is not None or (step.lane == "inline" and step.hook.binding.awaits)
        firing.has_loop = False
        firing.lane = lane = "task" if must_be_awaited else firing.lane_of(step)
        firing.step_deadline = firing.total_deadline  # until the chain has begun: the last step's would be over
        if lane == "inline":
            copy_context().run(drive, firing.chain())
        elif lane == "thread":
            self._in_thread(firing)
        else:
            self._elsewhere(firing)

    def _in_thread(self, firing: Firing) -> None:
        news = allocate_lock()
        news.acquire()
        try:
            workers.run(thread_job(firing, copy_context()), news.release)
        except HookFailed as error:
            firing.refuse(error.failure)
            return
        try:
            while not news.acquire(timeout=_TICK):
                # Looked at again and again: the next hook of the same thread may have an earlier deadline.
                if monotonic() >= firing.step_deadline and firing.abandon_thread():
                    return
        except BaseException:
            firing.let_go()
            raise
        if firing.broken is not None:
            raise firing.broken
