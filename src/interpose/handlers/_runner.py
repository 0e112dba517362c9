"""Run a command to its end, on an event loop or in the calling thread, in the requested isolation."""

from __future__ import annotations

import sys
from _thread import allocate_lock
from collections.abc import Callable
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Protocol

from ..replies import Ended, Failure
from ..runtime.held_signals import HeldSignals
from ..runtime.named_tuples import NamedTuple
from ._command_run import CommandRun, ProcessHandle
from ._process import Start, start_in_group
from ._slots import SlotRequest, slots
from ._watch import LONGEST_POLL, LoopWatch, PollWatch, Watch

if TYPE_CHECKING:
    import asyncio

__all__ = ["PreparedCommand", "run_in_this_thread", "run_on_loop", "starters"]

Report = Callable[[str, str], None] | None


class PreparedCommand(NamedTuple):
    """A command that is ready to be started."""

    start: Start
    stdin: bytes
    isolation: str | None
    warm: bool = False


async def run_on_loop(prepare: Callable[[], PreparedCommand], deadline: float, report: Report) -> Ended:
    """Run a command on the event loop. If the task is cancelled, the whole process tree is ended first."""
    return await _run(prepare, deadline, report, _LoopWaiter())


async def run_in_this_thread(prepare: Callable[[], PreparedCommand], deadline: float, report: Report) -> Ended:
    """Run a command while the calling thread waits. The coroutine never suspends."""
    with HeldSignals() as signals:
        return await _run(prepare, deadline, report, _ThreadWaiter(signals))


async def _run(prepare: Callable[[], PreparedCommand], deadline: float, report: Report, waiting: _Waiter) -> Ended:
    """Run a command when a slot is free, in the best isolation that works; try once more after a passing failure."""
    turn = slots.take() or await waiting.turn(deadline)
    try:
        if not turn.granted:
            return Ended(failure=Failure("timeout", "its turn did not come in time"))
        job = prepare()  # not earlier: what waits for a slot takes no memory
        ways = list(starters(job.isolation, job.start, job.warm))
        retries = 1
        while True:
            run = CommandRun(waiting.watch(), job.stdin, deadline, report)
            try:
                run.begin(ways[0])
                await waiting.end_of(run)
            finally:
                run.close()
            if _cannot_isolate(run) and len(ways) > 1:
                del ways[0]
            elif retries and _is_worth_a_retry(run, deadline):
                retries -= 1
                await waiting.pause(RETRY)
            else:
                return _ended(run, job.warm)
    finally:
        slots.give_back(turn)


class _Waiter(Protocol):
    """A way to wait: on an event loop, or in the calling thread."""

    async def turn(self, deadline: float) -> SlotRequest:
        """Wait in the queue until a slot is granted or the deadline has come."""

    def watch(self) -> Watch:
        """Return the watch for the next run."""

    async def end_of(self, run: CommandRun) -> None:
        """Wait for the end of the run."""

    async def pause(self, seconds: float) -> None:
        """Wait for some seconds."""


class _LoopWaiter:
    """Waits on the running event loop."""

    def __init__(self) -> None:
        import asyncio

        self._loop = asyncio.get_running_loop()

    async def turn(self, deadline: float) -> SlotRequest:
        granted = self._loop.create_future()
        turn = slots.queue(lambda: self._loop.call_soon_threadsafe(_wake, granted))
        timer = self._loop.call_later(max(0.0, deadline - monotonic()), _wake, granted)
        try:
            await granted
        except BaseException:
            slots.give_back(turn)
            raise
        finally:
            timer.cancel()
        return turn

    def watch(self) -> LoopWatch:
        self._watch = LoopWatch(self._loop)
        return self._watch

    async def end_of(self, run: CommandRun) -> None:
        from asyncio import CancelledError

        try:
            await self._watch.finished
        except CancelledError:
            if not run.over:
                # SIGTERM, then SIGKILL after a moment, as at the deadline.
                self._watch.finished = self._loop.create_future()
                run.end(Failure("cancelled", "the host was cancelled"))
                await self._watch.finished
            raise

    async def pause(self, seconds: float) -> None:
        from asyncio import sleep

        await sleep(seconds)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class _ThreadWaiter:
    """Waits in the calling thread: its coroutines never suspend. Signals may interrupt it."""

    def __init__(self, signals: HeldSignals) -> None:
        self._signals = signals

    async def turn(self, deadline: float) -> SlotRequest:
        bell = allocate_lock()  # the lock of an Event stays taken if a signal strikes while it is taken
        bell.acquire()
        turn = slots.queue(bell.release)
        try:
            self._signals.hear()
            while not turn.granted and (left := deadline - monotonic()) > 0:
                bell.acquire(timeout=min(left, LONGEST_POLL))
        except BaseException:
            self._signals.heard = False
            slots.give_back(turn)
            raise
        self._signals.heard = False
        return turn

    def watch(self) -> PollWatch:
        self._watch = PollWatch(self._signals)
        return self._watch

    async def end_of(self, run: CommandRun) -> None:
        self._watch.wait()

    async def pause(self, seconds: float) -> None:
        try:
            self._signals.hear()
            sleep(seconds)  # noqa: ASYNC251 - see above
        finally:
            self._signals.heard = False


Starter = Callable[[list[int]], ProcessHandle]


def starters(isolation: str | None, start: Start, warm: bool = False) -> tuple[Starter, ...]:
    """Return the ways to start a command, best first: the requested isolation, or a tree and then a group."""
    if warm and isolation in {None, "tree"} and sys.platform == "linux":
        from ._warm_pool import start_warm

        return (partial(start_warm, start), *starters(isolation, start))
    in_group = partial(start_in_group, start)
    if isolation == "group":
        return (in_group,)
    from ._tree import start_in_tree, why_no_tree

    if isolation is not None:
        return (partial(start_in_tree, start, isolation == "namespace"),)
    return (in_group,) if why_no_tree() else (partial(start_in_tree, start, False), in_group)


def _cannot_isolate(run: CommandRun) -> bool:
    """Return whether nothing was started because this isolation is not available."""
    return run.failure is not None and run.failure.code == "isolation_unavailable"


RETRY = 0.05
_PASSING = ("spawn_busy", "spawn_resource")
"""Failures after which a start is tried once more, ``RETRY`` seconds later: the program is being written, or a
resource is short."""


def _is_worth_a_retry(run: CommandRun, deadline: float) -> bool:
    failure = run.failure
    if failure is None or failure.code not in _PASSING or failure.evidence.get("started"):
        return False
    return monotonic() + RETRY < deadline


def _ended(run: CommandRun, warm: bool) -> Ended:
    running = run.running
    asked: dict[str, Any] = {"warm": False} if warm else {}
    return Ended(
        status=running.status if running is not None else 0,
        stdout=run.stdout,
        stderr=run.stderr,
        failure=run.failure,
        evidence={**asked, **running.evidence} if running is not None else asked,
    )
