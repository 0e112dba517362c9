"""The spans of one engine's firings: begun and ended here, and nowhere else is OpenTelemetry spoken to meanwhile.

Each of these calls runs code of the host's: samplers, span processors, exporters that do not batch. One that raises is
counted and logged once; the firing goes on without its span.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Self

from opentelemetry.context import Context, attach, get_current
from opentelemetry.trace import Span, Status, StatusCode, get_current_span, set_span_in_context

from ..decide import HookRun
from ..engine import Engine
from ..handlers import trace_context
from ..model import Outcome
from ..person.permission import Permission
from ..replies import Ended
from ..routes import Step
from ..run import Run
from ..runtime.faults import log, type_name
from . import attributes
from .metrics import Metrics
from .propagation import current_variables

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from opentelemetry.trace import Tracer

__all__ = ["Tracing"]


class _HookSpan:
    """The span of one hook, and the context that it runs in. Both are missing if no span could be made."""

    __slots__ = ("context", "span")

    def __init__(self, span: Span | None, context: Context | None) -> None:
        self.span = span
        self.context = context

    def enter(self) -> None:
        """Make it the current span of the running chain, which has a context of its own: nothing has to be undone."""
        if self.context is not None:
            attach(self.context)
        trace_context.set(current_variables)


class _TracedRun:
    """Is told of one run: makes a span for each of its hooks, inside the span of the firing."""

    def __init__(self, tracing: Tracing, run: Run, span: Span | None, context: Context | None, began: float) -> None:
        self._tracing = tracing
        self._run = run
        self._span = span
        self._context = context
        self._began = began
        # By round and step: a thread that was given up may still begin a span that no run ends.
        self._open: dict[tuple[int, Step], _HookSpan] = {}
        self._parts: list[_TracedRun] = []
        """The hooks that run beside others, and end with this run."""

    def part_begins(self, part: Run) -> _TracedRun:
        """Trace a hook that runs beside others, or in the background, inside the same span."""
        traced = _TracedRun(self._tracing, part, None, self._context, self._began)
        if not part.background:
            self._parts.append(traced)
        return traced

    def hook_begins(self, step: Step) -> None:
        """Begin the span of a hook, or enter it again."""
        key = (self._run.round, step)
        if key not in self._open:
            self._open[key] = self._tracing.begin_hook(step, self._run, self._context)
        self._open[key].enter()

    def hook_writes(self, step: Step, stream: str, text: str) -> None:
        """Leave out what commands write."""

    def hook_ends(self, step: Step | None, run: HookRun, ended: Ended | None) -> None:
        """End the span of a hook, or count a failure that has none."""
        event = self._run.route.row.name
        span = None if step is None else self._open.pop((run.round, step), None)
        if step is None or (span is None and run.status == "skipped"):
            if run.error is not None:
                self._tracing.count_failure(event, run.hook.label, run.error.code)
            return
        if span is None and step.hook.background and run.error is None:
            return  # it has only been sent to the background; its own part tells how it goes
        self._tracing.end_hook(span or self._tracing.begin_hook(step, self._run, self._context), event, run)

    def run_ends(self, outcome: Outcome | None) -> None:
        """End the span of the firing; if the host was interrupted, also those of hooks that it does not wait for."""
        if outcome is not None:
            self._tracing.end_firing(
                self._span, outcome, len(self._run.fates(self._run.ran)), monotonic() - self._began
            )
            return
        for part in self._parts:
            part.run_ends(None)
        spans = [one.span for one in self._open.values()]
        self._open.clear()
        for span in (*spans, self._span):
            if span is not None:
                self._tracing.interrupt(span)


class Tracing:
    """An engine's connection to OpenTelemetry; ``close()`` ends it, ``failed`` counts what broke in there."""

    def __init__(
        self, engine: Engine, tracer: Tracer, meter: Meter, redact: Callable[[str], str], outer: Context | None
    ) -> None:
        self.failed = 0
        self._engine = engine
        self._tracer = tracer
        self._metrics = Metrics(meter)
        self._words = attributes.Words(redact)
        self._outer = outer
        for other in engine.listeners:
            if isinstance(other, Tracing):
                other.close()
        engine.listen(self, True)

    def close(self) -> None:
        """Trace no further firings; what was traced is the providers' business."""
        self._engine.listen(self, False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run_begins(self, run: Run) -> _TracedRun:
        """Begin the span of a firing."""
        row, began = run.route.row, monotonic()
        try:
            context = get_current()
            if self._outer is not None and not get_current_span(context).get_span_context().is_valid:
                context = self._outer
            said = attributes.of_firing(row, {**run.fields, **run.rest()}, self._words)
            span = self._tracer.start_span(f"hooks {row.name}", context, attributes=said)
            return _TracedRun(self, run, span, set_span_in_context(span, context), began)
        except Exception as error:
            self._complain(error)
            return _TracedRun(self, run, None, None, began)

    def end_firing(self, span: Span | None, outcome: Outcome, hooks: int, seconds: float) -> None:
        """End the span of a firing, and count its decision."""
        try:
            self._metrics.decided(outcome.event, outcome.decision, seconds)
        except Exception as error:
            self._complain(error)
        try:
            if span is not None:
                if span.is_recording():
                    span.set_attributes(attributes.of_outcome(outcome, hooks, self._words))
                span.end()
        except Exception as error:
            self._complain(error)

    def begin_hook(self, step: Step, run: Run, context: Context | None) -> _HookSpan:
        """Begin the span of a hook whose turn has come."""
        try:
            name = self._words.name(step.hook.label)
            said = attributes.of_hook(step, run.fields["session_id"], run.round, run.background, self._words)
            span = self._tracer.start_span(f"hook {name}", context, attributes=said)
            return _HookSpan(span, set_span_in_context(span, context))
        except Exception as error:
            self._complain(error)
            return _HookSpan(None, context)

    def end_hook(self, traced: _HookSpan, event: str, run: HookRun) -> None:
        """End the span of a hook, and count what became of it. A deny is an answer; only a failure is an error."""
        span = traced.span
        try:
            self._metrics.ran(event, self._words.name(run.hook.label), run)
        except Exception as error:
            self._complain(error)
        try:
            if span is not None:
                if span.is_recording():
                    span.set_attributes(attributes.of_run(run, self._words))
                    if run.error is not None:
                        text = self._words.text(str(run.error))
                        span.set_status(Status(StatusCode.ERROR, f"{run.error.code}: {text}"))
                span.end()
        except Exception as error:
            self._complain(error)

    def permission_decided(self, permission: Permission) -> None:
        """Make the span of a decision about a call; it lasts from the question to the answer, if there was one."""
        try:
            context = get_current()
            if self._outer is not None and not get_current_span(context).get_span_context().is_valid:
                context = self._outer
            said = attributes.of_permission(permission, self._words)
            began, ended = _nanoseconds(permission.asked_at), _nanoseconds(permission.answered_at)
            name = f"permission {self._words.name(permission.tool_name)}"
            self._tracer.start_span(name, context, attributes=said, start_time=began).end(ended or began)
        except Exception as error:
            self._complain(error)

    def count_failure(self, event: str, hook: str, code: str) -> None:
        """Count a failure that has no span: of a hook that was not waited for, or of the recorder."""
        try:
            self._metrics.failed(event, self._words.name(hook), code)
        except Exception as error:
            self._complain(error)

    def interrupt(self, span: Span) -> None:
        """End the span of a firing or a hook that the host does not wait for any longer."""
        try:
            span.set_attribute("interpose.status", "cancelled")
            span.end()
        except Exception as error:
            self._complain(error)

    def _complain(self, error: Exception) -> None:
        self.failed += 1
        if self.failed == 1:
            log("warning", "tracing raised %s; firings go on without what it was told", type_name(error))


def _nanoseconds(at: float | None) -> int | None:
    return None if at is None else int(at * 1_000_000_000)
