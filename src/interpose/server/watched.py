"""Fire events one after the other with two threads, so that a hook need not be handed to a thread and back.

A sync hook runs in the thread that fires. If it hangs, the other thread goes on with the firing: see ``Watcher``.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import copy_context
from math import inf
from time import monotonic
from typing import Any

from ..executors.base import Work
from ..executors.blocking import BlockingExecutor
from ..executors.threads import ThreadChain
from ..routes import Place

__all__ = ["WatchedExecutor", "Watcher"]

_SOON = 0.005
"""Seconds until the watcher looks again at a hook that has ended just now."""


class HandedChain(ThreadChain):
    """A chain that is handed to what drives the firing, which awaits it: see ``Watcher``."""

    is_late = False  # whether a hook has ended after the run went on without it

    def __init__(self, work: Work, watcher: Watcher) -> None:
        super().__init__(work)
        self._watcher = watcher
        self._context = copy_context()

    def __await__(self) -> Generator[HandedChain, None, None]:
        yield self
        if self.broken is not None:
            raise self.broken

    def run_here(self) -> bool:
        """Run in this thread; return False if the run has gone on without it."""
        self.run(self._context)
        return not self.is_late

    def hook_begins(self) -> None:
        super().hook_begins()
        self._watcher.expect(self.work.deadline())

    def hook_answered(self, value: Any) -> bool:
        self.is_late = not super().hook_answered(value)
        return not self.is_late


class Watcher:
    """What the two threads share.

    One thread calls ``drive``: it runs the firing and its hooks. The other one calls ``watch``, and sleeps until a hook
    is past its deadline. Then it is the one that goes on with the firing, and the first thread is left to the hook. It
    is woken only for a deadline that is earlier than the one it sleeps to, so most firings cost no switch of threads.
    """

    def __init__(self) -> None:
        self._chain: HandedChain | None = None
        self._resume: Callable[[], HandedChain] | None = None
        self._wakes_at = inf
        self._has_ended = False
        self.went_on = False
        """Whether the thread that watches has gone on with a firing."""
        self._alarm = allocate_lock()
        self._alarm.acquire()

    def drive(self, flow: Coroutine[Any, Any, None]) -> bool:
        """Run a flow to its end; return False if the other thread has gone on with it."""
        context = copy_context()

        def resume() -> HandedChain:
            chain: HandedChain = context.run(flow.send, None)
            return chain

        self._resume = resume
        while True:
            try:
                chain = resume()
            except StopIteration:
                return True
            self._chain = chain
            if not chain.run_here():
                return False
            self._chain = None

    def expect(self, due: float) -> None:
        """Let the other thread look at this time, or before."""
        if due < self._wakes_at:
            self._wakes_at = due
            if self._alarm.locked():
                self._alarm.release()

    def end(self) -> None:
        """Let ``watch`` return."""
        self._has_ended = True
        self.expect(-inf)

    def watch(self) -> None:
        """Wait until the other thread ends; if a hook of its firing hangs, go on with this firing and then return."""
        seconds = -1.0
        while True:
            was_woken = self._alarm.acquire(timeout=seconds)
            if self._has_ended:
                return
            if not was_woken:
                self._wakes_at = inf  # before the chain is read: one that begins after that wakes this thread
            chain, now = self._chain, monotonic()
            if chain is not None:
                self._wakes_at = chain.look(now)
                if chain.abandoned:
                    break
            wakes_at = self._wakes_at
            seconds = -1.0 if wakes_at == inf else max(wakes_at - now, _SOON)
        self.went_on = True
        try:
            while self._resume is not None:
                self._resume().run_and_wait()
        except StopIteration:
            return


class WatchedExecutor(BlockingExecutor):
    """Runs the chains of sync hooks in the caller's own thread, which a watcher's ``drive`` has to be."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def enter(self, work: Work, place: Place) -> Awaitable[None] | None:
        """Run steps in their place."""
        if place == "thread":
            return HandedChain(work, self._watcher)
        return super().enter(work, place)
