"""The executor of an event loop: a task of the run's own, threads beside the loop, one watch on all deadlines.

For hosts without a loop there is one in a daemon thread.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import weakref
from asyncio import CancelledError, Task, get_running_loop
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent import futures
from contextvars import Context, copy_context
from math import inf
from sys import getrefcount
from time import monotonic
from types import coroutine
from typing import Any
from weakref import getweakrefcount

from ..errors import UsageError
from ..faults import is_one_of, log, raised_by_signal, type_name
from ..forks import after_fork
from ..replies import HookFailed
from ..routes import Place, Step
from .base import GRACE, Chain, Work, kept
from .threads import ThreadChain

__all__ = ["MOMENT", "BackgroundLoop", "CancelledError", "LoopExecutor", "background_loop", "loop_executor"]

_SHORTEST_TICK, _LONGEST_TICK = 0.005, 0.05
_Flow = Coroutine[Any, Any, None]

MOMENT = 0.0002
"""Seconds for which the loop stands still at most to wait for a thread: to be woken through the loop costs more."""

# Coroutines that begin at once, in the caller's turn of the event loop.

_ENDED = object()


def _begin(flow: _Flow) -> tuple[Context, _Flow, Any] | None:
    """Begin a coroutine here, in a copy of the context; return what ``_go_on`` takes, or None if it has ended."""
    context = copy_context()
    waits_for = context.run(next, flow.__await__(), _ENDED)  # ends without an exception, unlike send()
    return None if waits_for is _ENDED else (context, flow, waits_for)


@coroutine
def _go_on(context: Context, flow: _Flow, waits_for: Any) -> Generator[Any, Any, None]:
    """Go on with a coroutine that has begun in a context of its own."""
    while True:
        try:
            try:
                sent = yield waits_for
            except BaseException as error:
                waits_for = context.run(flow.throw, error)
            else:
                waits_for = context.run(flow.send, sent)
        except StopIteration:
            return


class _StandingBy:
    """A task of Python 3.11 that waits for a coroutine to begin under its name; later versions have eager tasks.

    Making a task and waiting for its first turn costs more than most hooks, and running the coroutine in the caller's
    task is unsound: ``asyncio.timeout()`` in a hook would later cancel the host. If the coroutine has to wait, the task
    goes on with it; if not, it stands by for the next one, unless a hook has kept it: its references are counted.
    """

    __slots__ = ("_called", "_references", "_rest", "ready", "task")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.ready = False  # whether it can be cancelled without being lost: its own first turn has come
        self._called = loop.create_future()
        self._rest: tuple[Context, _Flow, Any] | None = None
        self.task = loop.create_task(self._stand_by(), name="interpose")
        _hide(self.task)  # until a coroutine needs it: a host that waits for all tasks must not wait for this one

    async def _stand_by(self) -> None:
        self.ready = True
        try:
            await self._called
        except CancelledError as error:
            if self._rest is None:
                raise
            context, flow, _ = self._rest
            try:
                self._rest = context, flow, context.run(flow.throw, error)
            except StopIteration:
                return
        if self._rest is not None:
            await _go_on(*self._rest)

    def begin(self, flow: _Flow, loop: asyncio.AbstractEventLoop) -> bool:
        """Run a coroutine under this task's name until it waits; say whether it does: then it is this task's."""
        self._references = self._count_references()  # before this frame has a reference of its own
        task, host = self.task, asyncio.current_task(loop)
        if host is not None:
            asyncio._leave_task(loop, host)
        asyncio._enter_task(loop, task)
        try:
            self._rest = _begin(flow)
        finally:
            asyncio._leave_task(loop, task)
            if host is not None:
                asyncio._enter_task(loop, host)
        if self._rest is None:
            return False
        asyncio._register_task(task)
        task._log_destroy_pending = True  # type: ignore[attr-defined]
        self.dismiss()
        return True

    def _count_references(self) -> tuple[object, ...]:
        task = self.task
        return getrefcount(task), getweakrefcount(task), task._callbacks

    def is_untouched(self) -> bool:
        """Say whether the coroutine has neither kept this task nor changed it, so that it can serve the next one."""
        untouched = self._count_references() == self._references and self.task.get_name() == "interpose"
        return untouched and not self._called.done()

    def dismiss(self) -> None:
        """Let the task go on: with its coroutine, or to its end."""
        if not self._called.done():  # it is, if the hook has cancelled its own task
            self._called.set_result(None)


class LoopChain(Chain):
    """A chain on an event loop: in a task of its own, or in the host's. The host may be cancelled while a hook runs."""

    task: asyncio.Task[Any] | None = None  # set when it first has to wait
    inline = False  # whether that is the host's own
    cancelling = 0  # how often the host had been cancelled then
    gives_up = inf  # when a hook that was cancelled and does not end is left behind

    def passes_on(self, error: BaseException) -> bool:
        """Say whether a signal has made it, or the cancellation of the host whose task this is.

        Any other cancellation is the hook's own, or its deadline's.
        """
        if not is_one_of(error, CancelledError):
            return raised_by_signal(error)
        task, due = self.task, self.due is not None
        if task is None:
            return False
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


if sys.version_info >= (3, 12):

    def _in_task(work: Work) -> Awaitable[None] | None:
        try:
            loop = get_running_loop()
        except RuntimeError:
            loop = _running_loop()  # raises what helps
        chain = LoopChain()
        task = Task(work.advance(chain, "task", True), loop=loop, name="interpose", eager_start=True)
        return None if work.silent else _attend(work, chain, task)

else:

    def _in_task(work: Work) -> Awaitable[None] | None:
        loop, chain = _running_loop(), LoopChain()
        flow, waiting = work.advance(chain, "task", True), _watch_of(loop).standing_by
        if not (waiting and waiting[-1].ready):
            if not waiting:
                waiting.append(_StandingBy(loop))
            return _attend(work, chain, loop.create_task(flow))
        stand_in = waiting.pop()
        if stand_in.begin(flow, loop):
            return _attend(work, chain, stand_in.task)
        if stand_in.is_untouched():
            waiting.append(stand_in)
        else:
            stand_in.dismiss()
        return None


class _Watch:
    """What one event loop has of ours: tasks, and chains that wait, with one timer, which is cheaper than one each."""

    def __init__(self) -> None:
        self.standing_by: list[_StandingBy] = []
        self.detached: set[asyncio.Task[None]] = set()
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
        self.has_loop = True

    def enter(self, work: Work, place: Place) -> Awaitable[None] | None:
        if place == "task":
            return _in_task(work)
        if place == "inline":
            chain = LoopChain()
            rest = _begin(work.advance(chain, "inline", True))
            return None if rest is None else _attend_inline(work, chain, _go_on(*rest))
        return _in_thread(work) if place == "thread" else self._side_by_side(work)

    async def _side_by_side(self, work: Work) -> None:
        """Run a parallel group to completion: a deny of one does not stop the others."""
        parts, loop = work.parts(), _running_loop()
        tasks = [loop.create_task(self._run(part)) for part in parts]
        try:
            await asyncio.gather(*tasks)
        except CancelledError:
            await _end(*tasks)
            raise
        work.join(parts)

    async def _run(self, work: Work) -> None:
        while place := work.next_place(True):
            waiting = self.enter(work, place)
            if waiting is not None:
                await waiting

    async def wait(self, awaitable: Awaitable[None]) -> None:
        await awaitable

    def detach(self, work: Work) -> None:
        loop = _running_loop()
        detached, task = _watch_of(loop).detached, loop.create_task(self._run(work))
        detached.add(task)
        task.add_done_callback(detached.discard)


loop_executor = LoopExecutor()


async def _attend(work: Work, chain: LoopChain, task: asyncio.Task[None]) -> None:
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
    chain.work, chain.task, chain.inline = work, asyncio.current_task(), True
    chain.cancelling = chain.task.cancelling() if chain.task is not None else 0
    await _watch_of(_running_loop()).wait(chain, rest)


def _in_thread(work: Work) -> Awaitable[None] | None:
    loop, chain, step, began = _running_loop(), ThreadChain(work), work.step(), monotonic()
    try:
        if not chain.start() or chain.ends_within(MOMENT if step.short else 0.0):
            step.short = True
            return None
    except BaseException:  # the host is interrupted
        chain.let_go()
        raise
    chain.loop, chain.waiter = loop, loop.create_future()
    return _await_thread(chain, step, began)


async def _await_thread(chain: ThreadChain, step: Step, began: float) -> None:
    if not chain.ends_within(0.0):  # nor before there was a waiter
        await _watch_of(chain.loop).wait(chain, chain.waiter)
        if not chain.abandoned:
            chain.ends_within(0.0)  # raises what broke it
    step.short = monotonic() - began < MOMENT


def _running_loop() -> asyncio.AbstractEventLoop:
    try:
        return get_running_loop()
    except RuntimeError:
        raise UsageError("fire() needs a running asyncio loop", hint="use fire_sync()") from None


def _hide(task: asyncio.Task[Any]) -> None:
    """Keep a task from ``asyncio.run()`` and others that end or wait for all tasks, and from complaints about it."""
    asyncio._unregister_task(task)
    task._log_destroy_pending = False  # type: ignore[attr-defined]


def _keep(task: asyncio.Task[Any]) -> None:
    """Leave a task to a hook that does not end: the run, and the end of the loop, do not wait for it."""

    def ended_after_all(task: asyncio.Task[Any]) -> None:
        kept.drop(task)
        if not task.cancelled():
            task.exception()  # read, so that asyncio does not complain about it

    kept.add(task, task.get_loop())
    task.add_done_callback(ended_after_all)
    _hide(task)


async def _end(*tasks: asyncio.Task[Any]) -> None:
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


_watches: dict[int, tuple[weakref.ref[asyncio.AbstractEventLoop], _Watch]] = {}
"""By the identity of the loop, as long as the loop lives: a watch does not keep its loop."""
after_fork(_watches.clear)


def _watch_of(loop: asyncio.AbstractEventLoop) -> _Watch:
    key = id(loop)
    if key in _watches:
        return _watches[key][1]
    for other, (reference, _) in tuple(_watches.items()):
        known = reference()
        if known is None or known.is_closed():  # tasks that stand by would keep a closed loop for ever
            _watches.pop(other, None)
    watch = _Watch()
    _watches[key] = weakref.ref(loop, lambda _: _watches.pop(key, None)), watch
    return watch


class BackgroundLoop:
    """One event loop in a daemon thread, for hosts that have none; started when it is first needed."""

    def __init__(self) -> None:
        after_fork(self.reset)()

    def reset(self) -> None:
        self._lock, self.started = threading.Lock(), 0  # how many jobs were started that no firing waits for
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, flow: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the loop, in a copy of the caller's context, and wait for it."""
        if threading.current_thread() is self._thread:
            # A hook on this very loop wants to wait for it: that needs another loop for as long as it takes.
            with futures.ThreadPoolExecutor(1) as pool:
                return pool.submit(copy_context().run, asyncio.run, flow).result()
        try:
            loop = self._running_loop()
        except RuntimeError as error:  # the limit of threads, or the interpreter is shutting down
            flow.close()
            raise HookFailed("spawn_resource", f"no event loop can be started: {error}") from None
        future = asyncio.run_coroutine_threadsafe(flow, loop)
        try:
            while not future.done():
                futures.wait([future], _LONGEST_TICK)  # a signal that strikes another thread does not end a wait
        except BaseException:
            future.cancel()
            futures.wait([future], GRACE * 2)
            raise
        try:
            return future.result()
        except futures.CancelledError:
            raise CancelledError from None

    def start(self, job: Callable[[], None], context: Context) -> None:
        self.started += 1
        self._running_loop().call_soon_threadsafe(job, context=context)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=_serve, args=[loop], name="interpose-loop", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    loop.close()
                    raise
                self._loop, self._thread = loop, thread
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop for ever: a hook that stops it, or leaves a task that exits, does not end it."""
    while True:
        try:
            loop.run_forever()
        except BaseException as error:
            log("error", "a task on the loop of hooks raised %s", type_name(error))


background_loop = BackgroundLoop()
