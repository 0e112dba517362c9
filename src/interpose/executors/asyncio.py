"""The executor of an event loop: a task of the run's own, threads beside the loop, one watch on all deadlines."""

from __future__ import annotations

import asyncio
from asyncio import CancelledError, Task, current_task, get_running_loop
from collections.abc import Awaitable
from math import inf
from time import monotonic
from typing import Any

from ..errors import UsageError
from ..routes import Place
from ..runtime.background_loop import JobCancelled, background_loop
from ..runtime.eager_tasks import begin, begin_task, go_on, hide
from ..runtime.faults import is_one_of
from ..runtime.forks import after_fork
from ..runtime.signals import raised_by_signal
from ..runtime.tasks import unless_cancelled
from .base import GRACE, Chain, Work, kept
from .threads import ThreadChain

__all__ = ["JobCancelled", "LoopExecutor", "background_loop", "loop_executor"]

_SHORTEST_TICK, _LONGEST_TICK = 0.005, 0.05


class LoopChain(Chain):
    """A chain on an event loop: in a task of its own, or in the host's. The host may be cancelled while a hook runs."""

    task: Task[Any] | None = None  # set when it first has to wait
    inline = False  # whether that is the host's own
    cancelling = 0  # how often the host had been cancelled then
    gives_up = inf  # when a hook that was cancelled and does not end is left behind

    def passes_on(self, error: BaseException) -> bool:
        """Say whether a signal made the exception, or the host: it has cancelled its task, or closed its coroutine.

        Any other cancellation is the hook's own, or its deadline's, and so is any other end of a coroutine.
        """
        task, due = self.task, self.due is not None
        if is_one_of(error, GeneratorExit):  # a coroutine is closed from outside of its task
            return self.inline if task is None else current_task(task.get_loop()) is not task
        if task is None or not is_one_of(error, CancelledError):
            return raised_by_signal(error)
        if self.inline and task.cancelling() > (self.cancelling + 1 if due else 0):
            self.settle()
            return True
        while not self.inline and task.cancelling() > due:
            task.uncancel()
        return False

    def settle(self) -> None:
        if self.due is not None and self.task is not None:
            self.task.uncancel()
        self.due = None

    def look(self, now: float) -> float:
        """Cancel a hook that is past its deadline, and later go on without it; return when to look again."""
        if self.due is None:
            due = self.work.deadline()
            if now < due or self.task is None:
                return due
            self.due, self.gives_up = due, inf if self.inline else now + GRACE
            self.task.cancel()
        elif now >= self.gives_up and self.task is not None:
            self.abandoned = True
            _keep(self.task)
            self.work.time_out()
            self.wake()
        return self.gives_up


class _Watch:
    """The tasks and waiting chains of one event loop, with one timer for all, which is cheaper than one for each."""

    def __init__(self) -> None:
        self.detached: set[Task[None]] = set()
        self._chains: set[LoopChain | ThreadChain] = set()
        self._ticking = False

    async def wait(self, chain: LoopChain | ThreadChain, until: Awaitable[Any]) -> None:
        self._chains.add(chain)
        if not self._ticking:
            self._ticking = True
            get_running_loop().call_later(_SHORTEST_TICK, self._tick)
        try:
            await until
        except CancelledError:
            if until is chain.waiter:
                chain.let_go()
            raise
        finally:
            self._chains.discard(chain)

    def _tick(self) -> None:
        if not self._chains:
            self._ticking = False
            return
        now = monotonic()
        next_look = now + _LONGEST_TICK
        for chain in tuple(self._chains):
            next_look = min(next_look, chain.look(now))
        get_running_loop().call_later(max(_SHORTEST_TICK, next_look - now), self._tick)


class LoopExecutor:
    """Runs steps on the event loop that is running."""

    def __init__(self) -> None:
        self.has_loop = True  # read on every firing: faster of an object than of its class

    def enter(self, work: Work, place: Place) -> Awaitable[None] | None:
        if place == "task":
            chain = LoopChain()
            try:
                loop = get_running_loop()
            except RuntimeError:
                loop = _running_loop()  # raises what helps
            task = begin_task(work.advance(chain, "task", True), loop)
            return None if work.silent or task is None else _attend(work, chain, task)
        if place == "inline":
            chain = LoopChain()
            rest = begin(work.advance(chain, "inline", True))
            return None if rest is None else _attend_inline(work, chain, go_on(*rest))
        return _in_thread(work) if place == "thread" else self._side_by_side(work)

    async def _side_by_side(self, work: Work) -> None:
        """Run a parallel group to completion: a deny of one does not stop the others."""
        parts, loop = work.parts(), _running_loop()
        tasks = [Task(self._run(part), loop=loop) for part in parts]  # a hook may have replaced the loop's factory
        try:
            await asyncio.gather(*tasks)
        except CancelledError:
            await _end(*tasks)
            raise
        work.join(parts)

    async def _run(self, work: Work) -> None:
        while await self.enter_next(work):
            pass

    async def enter_next(self, work: Work) -> bool:
        """Run the next steps in their place, and wait for them; say whether there were any."""
        place = work.next_place(self.has_loop)
        waiting = self.enter(work, place) if place is not None else None
        if waiting is not None:
            await waiting
        return place is not None

    async def wait(self, awaitable: Awaitable[None]) -> None:
        await unless_cancelled(awaitable)

    def detach(self, work: Work) -> None:
        loop = _running_loop()
        detached, task = _watch_of(loop).detached, Task(self._run(work), loop=loop)
        detached.add(task)
        task.add_done_callback(detached.discard)


loop_executor = LoopExecutor()


async def _attend(work: Work, chain: LoopChain, task: Task[None]) -> None:
    if not task.done():
        loop = task.get_loop()
        chain.work, chain.task, chain.waiter = work, task, loop.create_future()
        try:
            await _watch_of(loop).wait(chain, chain.waiter)
        except CancelledError:
            await _end(task)
            raise
    if task.done() and not task.cancelled():  # a hook may have cancelled the task itself
        task.result()  # raises what broke the chain


async def _attend_inline(work: Work, chain: LoopChain, rest: Awaitable[None]) -> None:
    # Taken now: before the task waits, nothing can be raised in it from outside.
    chain.work, chain.task, chain.inline = work, current_task(), True
    chain.cancelling = chain.task.cancelling() if chain.task is not None else 0
    await _watch_of(_running_loop()).wait(chain, rest)


def _in_thread(work: Work) -> Awaitable[None] | None:
    loop, chain = _running_loop(), ThreadChain(work)
    try:
        if not chain.start():
            return None
    except BaseException:  # the host is interrupted
        chain.let_go()
        raise
    chain.loop, chain.waiter = loop, loop.create_future()
    return _await_thread(chain)


async def _await_thread(chain: ThreadChain) -> None:
    if not chain.ends_within(0.0):  # nor before there was a waiter
        await _watch_of(chain.loop).wait(chain, chain.waiter)
        if not chain.abandoned:
            chain.ends_within(0.0)  # raises what broke it


def _running_loop() -> asyncio.AbstractEventLoop:
    try:
        return get_running_loop()
    except RuntimeError:
        raise UsageError("fire() needs a running asyncio loop", hint="use fire_sync()") from None


def _keep(task: Task[Any]) -> None:
    """Leave a task to a hook that does not end: the run, and the end of the loop, do not wait for it."""

    def ended_after_all(task: Task[Any]) -> None:
        kept.drop(task)
        if not task.cancelled():
            task.exception()  # read, so that asyncio does not complain about it

    kept.add(task, task.get_loop())
    task.add_done_callback(ended_after_all)
    hide(task)


async def _end(*tasks: Task[Any]) -> None:
    """Cancel tasks and give them a moment; leave those that do not end, also if the host is cancelled again."""
    for task in tasks:
        task.cancel()
    try:
        await asyncio.wait(tasks, timeout=GRACE * 2)
    finally:
        for task in tasks:
            if not task.done():
                _keep(task)
            elif not task.cancelled():
                task.exception()


_watches: dict[asyncio.AbstractEventLoop, _Watch] = {}
after_fork(_watches.clear)


def _watch_of(loop: asyncio.AbstractEventLoop) -> _Watch:
    watch = _watches.get(loop)
    if watch is None:
        for other in tuple(_watches):
            if other.is_closed():
                _watches.pop(other, None)
        watch = _watches[loop] = _Watch()
    return watch
