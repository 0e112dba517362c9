"""A firing that tells when each of its hooks starts and ends. Everything else about it is as in any firing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..decide import spelled_out
from ..firing import Firing
from ..model import Status
from ..replies import Failure
from ..step import Step

if TYPE_CHECKING:
    from opentelemetry.context import Context

    from .tracing import HookRun, Tracing

__all__ = ["TracedFiring"]


class TracedFiring(Firing):
    """A firing within a span. The tracing is its own, so that firings which nobody traces are not asked about it."""

    tracing: Tracing
    context: Context | None
    """That of the firing's span."""
    detached = False
    """Whether it runs in the background."""
    _runs: dict[tuple[int, Step], HookRun]

    def trace(self, tracing: Tracing, context: Context | None) -> None:
        """Set what it is traced with."""
        self.tracing = tracing
        self.context = context
        # By round and step: a thread that was given up may still begin a run that nobody will end.
        self._runs = {}
        self.stretches = {}  # in a sprint nobody is told of each hook

    def sub(self, step: Step) -> Firing:
        """Return a firing of one step that is traced like this one."""
        part = super().sub(step)
        part.__class__ = TracedFiring
        traced = cast("TracedFiring", part)
        traced.trace(self.tracing, self.context)
        traced.detached = step not in self.steps[self.position].members
        return traced

    # A hook starts.

    def _call(self, step: Step) -> Any:
        run = self._runs.get((self.round, step))
        if run is None:
            run = self._runs[self.round, step] = self.tracing.begin(self, step)
        run.enter()  # also for a second phase, and for what goes on in another lane: each has a context of its own
        return super()._call(step)

    # It ends.

    def conclude_silence(self, step: Step) -> None:
        """Go on after a hook that had nothing to say."""
        super().conclude_silence(step)
        self._ended(step)

    def write(self, step: Step, status: Status, **what: Any) -> None:
        """Write down what became of a step."""
        super().write(step, status, **what)
        self._ended(step)

    def _ended(self, step: Step) -> None:
        ran = spelled_out(self.ran[-1])
        run = self._runs.pop((ran.round, step), None)
        if run is None and ran.status == "skipped":
            if ran.error is not None:
                self.tracing.count_failure(self.row.name, ran.hook.label, ran.error.code)
            return
        if run is None and step.hook.background and ran.error is None:
            return  # it has only been sent off; its own part tells how it goes
        self.tracing.end(run or self.tracing.begin(self, step), self.row.name, ran)

    def note_lost_record(self, failure: Failure, *, required: bool) -> None:
        """Write down that the record of this firing was lost."""
        super().note_lost_record(failure, required=required)
        self.tracing.count_failure(self.row.name, "recorder", failure.code)

    # The host is interrupted.

    def let_go(self) -> None:
        """Give the chain up and touch nothing more."""
        super().let_go()
        self._interrupted()

    def _caught(self, error: BaseException, token: int) -> Failure | None:
        try:
            return super()._caught(error, token)
        except BaseException:
            self._interrupted()
            raise

    def _interrupted(self) -> None:
        """End the spans of hooks that nobody waits for any more."""
        while self._runs:
            _, run = self._runs.popitem()
            if run.span is not None:
                self.tracing.interrupt(run.span)
