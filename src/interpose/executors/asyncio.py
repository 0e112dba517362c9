"""The executor of an event loop: a task of the run's own, threads beside the loop, one watch on all deadlines."""

from __future__ import annotations

import asyncio
import threading
import weakref
from _thread import allocate_lock
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context, copy_context
from functools import partial
from math import inf
from time import monotonic
from typing import Any

from ..errors import UsageError
from ..faults import is_one_of, log, raised_by_signal, type_name
from ..forks import after_fork
from ..replies import HookFailed
from ..routes import Place, Step
from .base import GRACE, Chain, Work, kept
from .eager_tasks import GoOn, begin, starter
from .threads import ThreadChain, claimed, workers

__all__ = ["BackgroundLoop", "CancelledError", "LoopExecutor", "ThreadEnd", "background_loop", "running_executor"]

_SHORTEST_TICK = 0.005
_LONGEST_TICK = 0.05

MOMENT = 0.0002
"""Seconds for which the loop stands still at most to wait for a thread: to be woken through the loop costs more."""


class TaskChain(Chain):
    """A chain in a task of its own. If the host is cancelled, the chain is abandoned first."""

    __slots__ = ("gives_up", "task")
    place: Place = "task"
    awaits = True

    def __init__(self, work: Work) -> None:
        self.work = work
        self.abandoned = False
        self.due = None
        self.waiter = None
        self.task: asyncio.Task[Any] | None = None
        self.gives_up = inf
        """When a hook that was cancelled and does not end is left behind."""

    def passes_on(self, error: BaseException) -> bool:
        """Say whether a signal has made it; a cancellation is the hook's own, or its deadline's."""
        if not is_one_of(error, CancelledError):
            return raised_by_signal(error)
        task, expected = self.task, 0 if self.due is None else 1
        while task is not None and task.cancelling() > expected:
            task.uncancel()
        return False

    def settle(self) -> None:
        """Take back the cancellation of the current hook, which has ended."""
        if self.due is not None and self.task is not None:
            self.task.uncancel()
        self.due = None


class InlineChain(TaskChain):
    """A chain in the host's own task: the host may be cancelled while a hook runs."""

    __slots__ = ("_cancelling",)
    place: Place = "inline"

    def __init__(self, work: Work, task: asyncio.Task[Any]) -> None:
        super().__init__(work)
        self.task = task
        self._cancelling = task.cancelling()

    def passes_on(self, error: BaseException) -> bool:
        """Say whether a signal has made it, or the host was cancelled beside the hook's own deadline."""
        if not is_one_of(error, CancelledError):
            return raised_by_signal(error)
        late = self.due is not None
        if self.task is None or self.task.cancelling() <= self._cancelling + late:
            return False
        self.settle()
        return True


class ThreadEnd:
    """Tells the loop that a thread has ended: on the spot within a moment, through the loop later."""

    __slots__ = ("_claim", "_lock", "_loop", "waiter")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._claim: list[None] = [None]
        self._lock = allocate_lock()
        self._lock.acquire()
        self.waiter: asyncio.Future[None] = loop.create_future()
        """Done when the thread has ended, if that was not within the moment."""

    def tell(self) -> None:
        """Say that the thread has ended; called there."""
        if claimed(self._claim):
            self._lock.release()
            return
        try:
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:  # the loop was closed while the hook ran
            return

    def _wake(self) -> None:
        if not self.waiter.done():
            self.waiter.set_result(None)

    def within(self, seconds: float) -> bool:
        """Wait for so long, on the spot, once; if the thread has not ended then, the waiter is told."""
        return self._lock.acquire(timeout=seconds) or not claimed(self._claim)


class LoopExecutor:
    """Runs steps on one event loop, and watches their deadlines.

    One ticking timer looks at all chains that wait: a timer for each hook would cost more than most hooks.
    """

    def __init__(self) -> None:
        self._start = starter()
        self._watched: set[TaskChain | ThreadChain] = set()
        self._ticking = False
        self._detached: set[asyncio.Task[None]] = set()

    def enter(self, work: Work) -> Awaitable[None] | None:
        """Run steps until their place ends or a hook is given up. Return what is left to wait for, if anything is."""
        match work.next_place(True):
            case "task":
                chain = TaskChain(work)
                task = self._start(work.advance(chain))
                return None if task is None else self._attend(chain, task)
            case "inline":
                return self._inline(work)
            case "thread":
                return self._in_thread(work)
            case "group":
                return self._side_by_side(work)

    async def _attend(self, chain: TaskChain, task: asyncio.Task[None]) -> None:
        """Wait for a chain in a task of its own."""
        chain.task = task
        chain.waiter = task.get_loop().create_future()
        try:
            await self._watch(chain)
        except CancelledError:
            await self._end(task)
            raise
        if task.done():
            task.result()  # raises what broke the chain itself

    def _inline(self, work: Work) -> Awaitable[None] | None:
        """Run hooks in the caller's own task, but in a copy of its context: what they set there is not the host's."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("an inline hook needs a task to run in")
        chain = InlineChain(work, task)
        rest = begin(work.advance(chain))
        return None if rest is None else self._go_on(chain, rest)

    async def _go_on(self, chain: InlineChain, rest: GoOn) -> None:
        self._add(chain)
        try:
            await rest
        finally:
            self._watched.discard(chain)

    def _in_thread(self, work: Work) -> Awaitable[None] | None:
        chain, step, began = ThreadChain(work), work.step(), monotonic()
        end = ThreadEnd(asyncio.get_running_loop())
        try:
            workers.run(partial(chain.run, copy_context()), end.tell)
        except HookFailed as error:
            work.fail(error.failure)
            return None
        try:
            step.short = end.within(MOMENT if step.short else 0.0)
        except BaseException:  # the host is interrupted
            self._let_go(chain)
            raise
        if not step.short:
            chain.waiter = end.waiter
            return self._await_thread(chain, step, began)
        if chain.broken is not None:
            raise chain.broken
        return None

    async def _await_thread(self, chain: ThreadChain, step: Step, began: float) -> None:
        await self._watch(chain)
        step.short = monotonic() - began < MOMENT
        if chain.broken is not None:
            raise chain.broken

    async def _side_by_side(self, work: Work) -> None:
        """Run a parallel group to completion: a deny of one does not stop the others."""
        parts = work.parts()
        tasks = [asyncio.get_running_loop().create_task(self._run(part)) for part in parts]
        try:
            await asyncio.gather(*tasks)
        except CancelledError:
            await self._end(*tasks)
            raise
        work.join(parts)

    async def _run(self, work: Work) -> None:
        while work.unfinished():
            waiting = self.enter(work)
            if waiting is not None:
                await waiting

    async def wait(self, awaitable: Awaitable[None]) -> None:
        """Wait for something that is not a hook."""
        await awaitable

    def detach(self, work: Work) -> None:
        """Run this beside the host, without waiting for it."""

        async def run() -> None:
            await self._run(work)
            work.conclude_background()

        task = asyncio.get_running_loop().create_task(run())
        self._detached.add(task)
        task.add_done_callback(self._detached.discard)

    # Deadlines.

    async def _watch(self, chain: TaskChain | ThreadChain) -> None:
        """Wait for a chain, and end its hooks at their deadlines; if the host is cancelled, abandon it."""
        self._add(chain)
        try:
            await chain.waiter
        except CancelledError:
            self._let_go(chain)
            raise
        finally:
            self._watched.discard(chain)

    def _add(self, chain: TaskChain | ThreadChain) -> None:
        self._watched.add(chain)
        if not self._ticking:
            self._ticking = True
            asyncio.get_running_loop().call_later(_SHORTEST_TICK, self._tick)

    def _tick(self) -> None:
        if not self._watched:
            self._ticking = False
            return
        now = monotonic()
        next_look = now + _LONGEST_TICK
        for chain in tuple(self._watched):
            next_look = min(next_look, self._look(chain, now))
        asyncio.get_running_loop().call_later(max(_SHORTEST_TICK, next_look - now), self._tick)

    def _look(self, chain: TaskChain | ThreadChain, now: float) -> float:
        """End a hook that is past its deadline: cancel it, and if that does not help go on without it.

        Return when to look at the chain again.
        """
        due = chain.work.deadline()
        if isinstance(chain, ThreadChain):
            if now >= due and chain.abandon():
                chain.work.time_out(due)
                chain.wake()
            return due
        if chain.due is None:
            if now >= due and chain.task is not None:
                chain.due = due
                chain.gives_up = inf if isinstance(chain, InlineChain) else now + GRACE
                chain.task.cancel()
                return chain.gives_up
            return due
        if now >= chain.gives_up and chain.task is not None:
            chain.abandoned = True
            self._keep(chain.task)
            chain.work.time_out(chain.due)
            chain.wake()
        return chain.gives_up

    def _let_go(self, chain: TaskChain | ThreadChain) -> None:
        """Abandon a chain because the host itself is interrupted."""
        if isinstance(chain, ThreadChain):
            chain.abandon()
        chain.abandoned = True
        chain.work.give_up()

    def _keep(self, task: asyncio.Task[Any]) -> None:
        """Leave a task to a hook that does not end: the run, and the end of the loop, do not wait for it."""
        kept.add_task(task)
        # Hidden from asyncio.run(), which would cancel it once more and wait for it for ever.
        asyncio._unregister_task(task)
        task._log_destroy_pending = False  # type: ignore[attr-defined]

    async def _end(self, *tasks: asyncio.Task[Any]) -> None:
        """Cancel tasks and give them a moment; leave those that do not end, also if the host is cancelled again."""
        for task in tasks:
            task.cancel()
        try:
            await asyncio.wait(tasks, timeout=GRACE * 2)
        finally:
            for task in tasks:
                if not task.done():
                    self._keep(task)
                elif not task.cancelled():
                    task.exception()


_executors: dict[int, tuple[weakref.ref[asyncio.AbstractEventLoop], LoopExecutor]] = {}
"""By the identity of the loop, as long as the loop lives: an executor does not keep its loop."""
after_fork(_executors.clear)


def running_executor() -> LoopExecutor:
    """Return the executor of the running loop."""
    try:
        return _executors[id(asyncio.get_running_loop())][1]
    except (KeyError, RuntimeError):
        return _make_executor()


def _make_executor() -> LoopExecutor:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise UsageError("fire() needs a running asyncio loop", hint="use fire_sync()") from None
    for key, (reference, _) in tuple(_executors.items()):
        other = reference()
        if other is None or other.is_closed():  # tasks that stand by would keep a closed loop for ever
            _executors.pop(key, None)
    key = id(loop)
    made = LoopExecutor()
    _executors[key] = weakref.ref(loop, lambda _: _executors.pop(key, None)), made
    return made


class BackgroundLoop:
    """One event loop in a daemon thread, for hosts that have none."""

    def __init__(self) -> None:
        self.reset()
        after_fork(self.reset)

    def reset(self) -> None:
        """Start anew: after a fork the parent's loop and lock are not the child's."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False

    def run(self, chain: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the loop, in the caller's context, and wait for it."""
        if threading.current_thread() is self._thread:
            # A hook on this very loop wants to wait for it: that needs another loop for as long as it takes.
            other = BackgroundLoop()
            try:
                return other.run(chain)
            finally:
                other.stop()
        try:
            loop = self._running_loop()
        except RuntimeError as error:  # the limit of threads, or the interpreter is shutting down
            chain.close()
            raise HookFailed("spawn_resource", f"no event loop can be started: {error}") from None
        done = threading.Event()
        tasks: list[asyncio.Task[Any]] = []

        def start() -> None:
            task = loop.create_task(chain)
            tasks.append(task)
            task.add_done_callback(lambda _: done.set())

        loop.call_soon_threadsafe(start, context=copy_context())
        try:
            while not done.wait(_LONGEST_TICK):
                pass  # looked up from now and then: a signal that strikes another thread does not end a wait
        except BaseException:
            loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
            done.wait(GRACE * 2)
            raise
        return tasks[0].result()

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run the loop until stop() is called: a hook that stops it, or leaves a task that exits, does not end it."""
        while not self._stopping:
            try:
                loop.run_forever()
            except BaseException as error:
                log("error", "a task on the loop of hooks raised %s", type_name(error))

    def stop(self) -> None:
        """End the loop and its thread."""
        self._stopping = True
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def start(self, job: Callable[[], None], context: Context) -> None:
        """Call something on the loop, in a context, without waiting."""
        self._running_loop().call_soon_threadsafe(job, context=context)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=self._serve, args=[loop], name="interpose-loop", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    loop.close()
                    raise
                self._loop, self._thread = loop, thread
            return self._loop


background_loop = BackgroundLoop()
"""The loop of all hosts in this process that have none."""
