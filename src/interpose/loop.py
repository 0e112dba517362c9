"""The lanes of asyncio: a task of the firing's own, threads beside the loop, one watch per loop on all deadlines."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import weakref
from asyncio import CancelledError, Task, current_task, get_running_loop
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context, copy_context
from time import monotonic
from typing import TYPE_CHECKING, Any

from .errors import UsageError
from .faults import log, type_name
from .hop import MOMENT, Hop
from .lanes import GRACE, kept, thread_job, workers
from .replies import HookFailed
from .understudy import ENDED, InContext, Understudy

if TYPE_CHECKING:
    from .firing import Firing
    from .sprint import Sprint
    from .step import Step, Stretch

__all__ = ["Background", "CancelledError", "LoopLanes", "background", "lanes_of_this_loop"]

_EAGER = sys.version_info >= (3, 12)
_SHORTEST_TICK = 0.005
_LONGEST_TICK = 0.05


class LoopLanes:
    """Where the hooks of one event loop run, and the watch on their deadlines.

    One ticking timer looks at all running firings: a timer for each hook would cost more than most hooks.
    """

    __slots__ = ("_detached", "_firings", "_loop_reference", "_standing_by", "_ticking")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        # Weakly: whoever knows these lanes must not keep a loop that is over.
        key = id(loop)
        self._loop_reference = weakref.ref(loop, lambda _: _lanes.pop(key, None))
        self._firings: set[Firing] = set()
        self._ticking = False
        self._detached: set[asyncio.Task[None]] = set()
        self._standing_by: list[Understudy] = []

    def enter(self, firing: Firing) -> Awaitable[None] | None:
        """Run the steps of the next lane to its end, or until a hook is given up; return what is to be awaited."""
        firing.has_loop = True
        firing.step_deadline = firing.total_deadline  # until the chain has begun: the last step's would be over
        firing.lane = lane = "task" if firing.awaitable is not None else firing.steps[firing.position].lane
        return _LANES[lane](self, firing)

    def _in_task(self, firing: Firing) -> Awaitable[None] | None:
        firing.task, firing.stage, firing.cancelling = None, 0, 0
        task = _start(firing.chain())
        return None if task is None else self.attend(firing, task)

    async def attend(self, firing: Firing, task: asyncio.Task[None]) -> None:
        """Wait for a chain that runs in a task of its own, and watch its deadlines."""
        firing.task = task
        firing.waiter = waiter = self._loop.create_future()
        self._watch(firing)
        try:
            await waiter
        except asyncio.CancelledError:
            firing.let_go()
            await self._end(task)
            raise
        finally:
            self._firings.discard(firing)
            firing.waiter = None
        if task.done():
            if task.cancelled():
                raise asyncio.CancelledError
            task.result()

    def start(self, chain: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """Begin a coroutine in a task of its own at once, where Python's tasks do not; return that if it goes on."""
        loop, standing_by = self._loop, self._standing_by
        if not (standing_by and standing_by[-1].ready):
            if not standing_by:
                standing_by.append(Understudy(loop))
            return loop.create_task(chain)
        understudy = standing_by.pop()
        if understudy.begin(chain, loop):
            return understudy.task
        if understudy.is_unnoticed():
            standing_by.append(understudy)
        else:
            understudy.dismiss()
        return None

    def _in_thread(self, firing: Firing) -> Awaitable[None] | None:
        step, began, hop = firing.steps[firing.position], monotonic(), Hop(self._loop)
        try:
            workers.run(thread_job(firing, copy_context()), hop.ring)
        except HookFailed as error:
            firing.refuse(error.failure)
            return None
        try:
            step.swift = over = hop.is_over(MOMENT if step.swift else 0.0)
        except BaseException:  # the host is interrupted
            firing.let_go()
            raise
        if not over:
            return self._until_over(firing, hop, step, began)
        if firing.broken is not None:
            raise firing.broken
        return None

    async def _until_over(self, firing: Firing, hop: Hop, step: Step, began: float) -> None:
        """Wait for a thread through the loop, and watch its deadlines."""
        firing.waiter = hop.waiter
        self._watch(firing)
        try:
            await hop.waiter
        except asyncio.CancelledError:
            firing.let_go()
            raise
        finally:
            self._firings.discard(firing)
            firing.waiter = None
        step.swift = monotonic() - began < MOMENT
        if firing.broken is not None:
            raise firing.broken

    def _inline(self, firing: Firing) -> Awaitable[None] | None:
        """Run hooks in the caller's own task, but in a copy of its context: what they set there is not the host's."""
        firing.task = task = _own_task()
        firing.stage, firing.cancelling = 0, task.cancelling()
        chain, context = firing.chain(), copy_context()
        waits_for = context.run(next, chain.__await__(), ENDED)
        return None if waits_for is ENDED else self.go_on(firing, context, chain, waits_for)

    async def go_on(self, firing: Firing, context: Context, chain: Coroutine[Any, Any, None], waits_for: Any) -> None:
        """Wait for a chain that has begun in the caller's task, and watch its deadlines."""
        self._watch(firing)
        try:
            await InContext(context, chain, waits_for)
        finally:
            self._firings.discard(firing)

    async def _side_by_side(self, firing: Firing) -> None:
        """Run a parallel group to completion: a deny of one does not stop the others."""
        parts = [firing.sub(step) for step in firing.steps[firing.position].members]
        tasks = [self._loop.create_task(self._alone(part)) for part in parts]
        try:
            await asyncio.gather(*tasks)
        except asyncio.CancelledError:
            await self._end(*tasks)
            raise
        firing.join(parts)

    async def _alone(self, firing: Firing) -> None:
        firing.lanes = self
        while not firing.over and firing.position < len(firing.steps):
            waiting = self.enter(firing)
            if waiting is not None:
                await waiting

    async def wait(self, awaitable: Awaitable[None]) -> None:
        """Wait for something that is not a hook."""
        await awaitable

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Leave a task to itself whose hook will not end: nobody waits for it, not even the end of the loop."""
        kept.take_task(task)
        # asyncio.run() would otherwise cancel it once more and wait for it for ever.
        asyncio._unregister_task(task)
        task._log_destroy_pending = False  # type: ignore[attr-defined]

    async def _end(self, *tasks: asyncio.Task[Any]) -> None:
        """Cancel tasks and give them a moment; what will not end is left behind, also if we are cancelled again."""
        for task in tasks:
            task.cancel()
        try:
            await asyncio.wait(tasks, timeout=GRACE * 2)
        finally:
            for task in tasks:
                if not task.done():
                    self.keep(task)
                elif not task.cancelled():
                    task.exception()

    def detach(self, firing: Firing) -> None:
        """Run a firing in the background; keep what it says for the session's next one."""

        async def run() -> None:
            await self._alone(firing)
            firing.keep_for_later()

        task = self._loop.create_task(run())
        self._detached.add(task)
        task.add_done_callback(self._detached.discard)

    def forget_closed(self) -> None:
        """Let go of tasks that stand by on a loop that is over: they would keep it for ever."""
        loop = self._loop_reference()
        if loop is not None and loop.is_closed():
            self._standing_by.clear()

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        loop = self._loop_reference()
        if loop is None:
            raise RuntimeError("the event loop is gone")
        return loop

    # The watch.

    def _watch(self, firing: Firing) -> None:
        firing.catch_up()
        self._firings.add(firing)
        if not self._ticking:
            self._ticking = True
            self._loop.call_later(_SHORTEST_TICK, self._tick)

    def _tick(self) -> None:
        if not self._firings:
            self._ticking = False
            return
        now = monotonic()
        next_deadline = now + _LONGEST_TICK
        for firing in tuple(self._firings):
            firing.catch_up()
            if now >= firing.step_deadline:
                firing.late(now)
            next_deadline = min(next_deadline, firing.step_deadline)
        self._loop.call_later(max(_SHORTEST_TICK, next_deadline - now), self._tick)


_LANES = {
    "task": LoopLanes._in_task,
    "thread": LoopLanes._in_thread,
    "inline": LoopLanes._inline,
    "group": LoopLanes._side_by_side,
}


def run_sprint(sprint: Sprint) -> Awaitable[None] | None:
    """Run a sprint as far as it goes without waiting; return what is to be awaited if that is not to its end."""
    stretch: Stretch = sprint._route.stretch  # type: ignore[assignment] # who sprints has one
    soon = sprint._times[0] + stretch.leeway
    if not stretch.inline:
        task = _start(sprint._run(stretch, soon, sprint))
        return None if task is None else lanes_of_this_loop().attend(sprint._taken_over(), task)
    sprint._task = task = _own_task()
    sprint._cancelling = task.cancelling()
    chain, context = sprint._run(stretch, soon, sprint), copy_context()
    waits_for = context.run(next, chain.__await__(), ENDED)  # ends without an exception, unlike send()
    return None if waits_for is ENDED else lanes_of_this_loop().go_on(sprint._taken_over(), context, chain, waits_for)


def _start(chain: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
    """Begin a coroutine in a task of its own; return that if it has not ended already."""
    if not _EAGER:
        return lanes_of_this_loop().start(chain)
    task = Task(chain, loop=get_running_loop(), eager_start=True)  # type: ignore[call-arg]
    if not task.done():
        return task
    task.result()
    return None


def _own_task() -> asyncio.Task[Any]:
    task = current_task()
    if task is None:
        raise RuntimeError("an inline hook needs a task to run in")
    return task


_lanes: dict[int, LoopLanes] = {}
"""By the identity of the loop, as long as that lives."""


def lanes_of_this_loop() -> LoopLanes:
    """Return the lanes of the running loop."""
    try:
        return _lanes[id(asyncio.get_running_loop())]
    except (KeyError, RuntimeError):
        return _make_lanes()


def _make_lanes() -> LoopLanes:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise UsageError("fire() needs a running asyncio loop", hint="use fire_sync()") from None
    for lanes in tuple(_lanes.values()):
        lanes.forget_closed()
    made = _lanes[id(loop)] = LoopLanes(loop)
    return made


class Background:
    """One event loop in a daemon thread, for hosts that have none."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew: after a fork the parent's loop and lock are not the child's."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False

    def run(self, chain: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the loop, in the caller's context, and wait for it."""
        if threading.current_thread() is self._thread:
            # A hook on this very loop wants to wait for it: that needs another one for as long as it takes.
            other = Background()
            try:
                return other.run(chain)
            finally:
                other.stop()
        try:
            loop = self._running_loop()
        except RuntimeError as error:  # no thread to be had, or the interpreter is shutting down
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
        """Run the loop until we stop it: a hook that stops it, or leaves a task that exits, does not end it."""
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


background = Background()
"""The loop of all hosts in this process that have none."""


def _after_fork() -> None:
    background.forget()
    _lanes.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
