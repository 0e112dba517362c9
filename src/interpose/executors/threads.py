"""Chains of sync hooks in daemon threads."""

from __future__ import annotations

from _thread import allocate_lock
from contextvars import Context, copy_context
from functools import partial
from time import monotonic
from typing import Any

from ..replies import describe
from ..routes import Step
from ..runtime.coroutines import drive
from ..runtime.faults import is_awaitable, log, type_name
from ..runtime.workers import NoThread, acquire_soon, workers
from .base import Chain, Work, kept

__all__ = ["MOMENT", "ThreadChain"]

_TICK, MOMENT = 0.02, 0.0002
"""Seconds for which a host stays awake at most to wait for a thread: to sleep and be woken costs more."""


class ThreadChain(Chain):
    """A chain in a daemon thread. Its host watches the deadlines, and may go on without it at any moment."""

    loop: Any = None  # on which the host waits for its waiter

    def __init__(self, work: Work) -> None:
        self.work = work
        self._claim = allocate_lock()  # taken by what comes first, a hook's answer or its deadline
        self._claim.acquire()  # until a hook begins
        self._running = allocate_lock()
        self._running.acquire()
        self.broken: BaseException | None = None  # what broke the chain itself, which no hook can

    def start(self) -> bool:
        """Begin in a thread, and return whether the host has to wait for it. If there is no thread, fail the step."""
        step = self.work.step()
        try:
            workers.run(partial(self._run_timed, copy_context(), step), self.tell)
        except NoThread as error:
            self.work.fail(describe(error))
            return False
        return not (step.short and self.ends_within(MOMENT, awake=True))

    def _run_timed(self, context: Context, step: Step) -> None:
        began = monotonic()
        self.run(context)
        step.short = monotonic() - began < MOMENT

    def run(self, context: Context) -> None:
        try:
            if not self.abandoned:
                context.run(drive, self.work.advance(self, "thread", False))
        except BaseException as error:
            self.broken = error

    def run_and_wait(self) -> None:
        """Run in a thread, and wait in this one until the chain ends or a hook is given up."""
        try:
            waiting = self.start()
            while waiting and not self.ends_within(_TICK):
                # Looked at again and again: the next hook of the same thread may have an earlier deadline.
                self.look(monotonic())
                waiting = not self.abandoned
        except BaseException:  # the host is interrupted
            self.let_go()
            raise

    def tell(self) -> None:
        """Tell the host that the thread has ended: on the spot, or through its loop if it waits there."""
        self._running.release()
        if self.waiter is not None:
            try:
                self.loop.call_soon_threadsafe(self.wake)
            except RuntimeError:  # the loop was closed while the hook ran
                return

    def ends_within(self, seconds: float, *, awake: bool = False) -> bool:
        """Wait for the thread on the spot, asleep or awake, and raise what broke the chain."""
        if not (acquire_soon(self._running, seconds) if awake else self._running.acquire(timeout=seconds)):
            return False
        if self.broken is not None:
            raise self.broken
        return True

    def hook_begins(self) -> None:
        self._claim.release()

    def hook_answered(self, value: Any) -> bool:
        """Say whether the hook has ended before its host went on without it; close an answer that is too late."""
        if self._claim.acquire(False):
            return True
        kept.drop(self)
        close = getattr(value, "close", None) if is_awaitable(value) else None
        try:
            if close is not None:
                close()
        except BaseException as error:
            log("debug", "what a hook returned too late cannot be closed: %s", type_name(error))
        return False

    def _abandon(self) -> bool:
        """Go on without a hook that hangs; false if it has just ended."""
        if not self._claim.acquire(False):
            return False
        self.abandoned = True
        kept.add(self)
        return True

    def let_go(self) -> None:
        self._abandon()
        super().let_go()

    def look(self, now: float) -> float:
        """Go on without a hook that is past its deadline; return when to look again."""
        due = self.work.deadline()
        if now >= due and self._abandon():
            self.work.time_out()
            self.wake()
        return due

    def passes_on(self, error: BaseException) -> bool:
        return False  # signals strike the main thread only, and the host cannot be cancelled here
