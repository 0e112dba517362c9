"""The protocol between a run and the executor that runs its steps."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, Protocol

from ..replies import Failure
from ..routes import Place, Step
from ..runtime.kept import MOST_KEPT, Kept, kept
from ..runtime.signals import raised_by_signal

__all__ = ["GRACE", "MOST_KEPT", "Chain", "Executor", "Kept", "Work", "kept"]

GRACE = 0.1
"""Seconds that a hook has to end after it was cancelled."""


class Work(Protocol):
    """A run, as an executor sees it."""

    silent: bool  # whether all steps have run and none said anything
    over: bool  # whether no further step runs: a hook has ended the firing, or the host itself is interrupted

    def next_place(self, has_loop: bool) -> Place | None: ...  # where the next step runs, and begin its time
    def step(self) -> Step: ...  # the step that the run is at
    # Run steps that belong in a place; ``awaits``: what hooks return there is awaited.
    def advance(self, chain: Chain, place: Place, awaits: bool) -> Coroutine[Any, Any, None]: ...
    def deadline(self) -> float: ...  # when the current step is late, on the monotonic clock
    def fail(self, failure: Failure, *, at: Step | None = None) -> None: ...  # the current step, if it is this one
    def time_out(self) -> None: ...  # the same, for a step that did not end by its deadline
    def parts(self) -> Sequence[Work]: ...  # a run for each hook of the current group
    def join(self, parts: Sequence[Any]) -> None: ...  # take over what these wrote down, and go on to the next step


class Chain:
    """One pass through steps in one place. This class is for the caller's own thread, without an event loop."""

    work: Work
    abandoned = False  # whether the run goes on without it: it must not touch the run any more
    due: float | None = None  # the deadline at which the current hook was cancelled, if it was
    waiter: Any = None  # the future that the host waits for, if it waits

    def hook_begins(self) -> None:
        """Prepare for the answer of a hook, or its deadline."""

    def hook_answered(self, value: Any) -> bool:
        """Say whether the hook has ended before the run went on without it."""
        return not self.abandoned

    def passes_on(self, error: BaseException) -> bool:
        """Say whether an exception out of a hook is meant for the host."""
        return raised_by_signal(error)

    def settle(self) -> None:
        """Take back the cancellation of the current hook, which has ended."""

    def let_go(self) -> None:
        """Abandon the chain because the host itself is interrupted."""
        self.abandoned = self.work.over = True

    def wake(self) -> None:
        """Tell the host that the chain has come to its end, or that the run goes on without it."""
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)


class Executor(Protocol):
    """What runs the steps of a run."""

    has_loop: bool  # whether it runs steps on an event loop

    # Run steps until their place ends or a hook is given up. Return what is left to wait for, if anything is.
    def enter(self, work: Work, place: Place) -> Awaitable[None] | None: ...
    async def wait(self, awaitable: Awaitable[None]) -> None: ...  # for something that is not a hook
    def detach(self, work: Work) -> None: ...  # run this beside the host, without waiting for it
