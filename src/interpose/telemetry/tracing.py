"""The spans of one engine's firings: begun and ended here, and nowhere else is OpenTelemetry spoken to meanwhile.

Each of these calls runs code of the host's: samplers, span processors, exporters that do not batch. One that raises is
counted and logged once; the firing goes on without its span.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from opentelemetry.context import Context, attach, get_current
from opentelemetry.trace import Span, Status, StatusCode, get_current_span, set_span_in_context

from ..decide import Ran
from ..engine import conduct
from ..faults import log, type_name
from ..handlers import trace_context
from ..lanes import Lanes
from ..model import Outcome
from ..step import Route, Step
from . import attributes
from .firing import TracedFiring
from .metrics import Metrics
from .propagation import current_variables

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from opentelemetry.trace import Tracer

    from ..switchboard import Switchboard

__all__ = ["HookRun", "Tracing"]


class HookRun:
    """One hook on its way: its span, and the context that it runs in. Both are missing if no span could be made."""

    __slots__ = ("context", "span")

    def __init__(self, span: Span | None, context: Context | None) -> None:
        self.span = span
        self.context = context

    def enter(self) -> None:
        """Make it the current span of the running chain, which has a context of its own: nothing has to be undone."""
        if self.context is not None:
            attach(self.context)
        trace_context.set(current_variables)


class Tracing:
    """An engine's connection to OpenTelemetry; ``close()`` ends it, ``failed`` counts what broke in there."""

    def __init__(
        self, engine: Switchboard, tracer: Tracer, meter: Meter, redact: Callable[[str], str], outer: Context | None
    ) -> None:
        self.failed = 0
        self._engine = engine
        self._tracer = tracer
        self._metrics = Metrics(meter)
        self._words = attributes.Words(redact)
        self._outer = outer
        engine.trace_with(self)

    def close(self) -> None:
        """Trace no further firings; what was traced is the providers' business."""
        if self._engine.tracing is self:
            self._engine.trace_with(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def conduct(self, route: Route, fields: dict[str, Any], lanes: Lanes, round: int = 1) -> Outcome:
        """Fire an event as the engine does, within a span."""
        began = monotonic()
        firing = TracedFiring(route, fields)
        firing.round = round
        span, context = self._begin_firing(firing)
        firing.trace(self, context)
        try:
            outcome = await conduct(firing, lanes)
        except BaseException:  # the host's own: it was cancelled, or interrupted
            if span is not None:
                self.interrupt(span)
            raise
        self._end_firing(span, outcome, len(firing.ran), monotonic() - began)
        return outcome

    def _begin_firing(self, firing: TracedFiring) -> tuple[Span | None, Context | None]:
        row = firing.row
        try:
            context = get_current()
            if self._outer is not None and not get_current_span(context).get_span_context().is_valid:
                context = self._outer
            said = attributes.of_firing(row, {**firing.fields, **firing()}, self._words)
            span = self._tracer.start_span(f"hooks {row.name}", context, attributes=said)
            return span, set_span_in_context(span, context)
        except Exception as error:
            self._complain(error)
            return None, None

    def _end_firing(self, span: Span | None, outcome: Outcome, hooks: int, seconds: float) -> None:
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

    def begin(self, firing: TracedFiring, step: Step) -> HookRun:
        """Begin the span of a hook whose turn has come."""
        try:
            name = self._words.name(step.hook.label)
            session, context = firing.fields["session_id"], firing.context
            said = attributes.of_hook(step, session, firing.round, firing.detached, self._words)
            span = self._tracer.start_span(f"hook {name}", context, attributes=said)
            return HookRun(span, set_span_in_context(span, context))
        except Exception as error:
            self._complain(error)
            return HookRun(None, firing.context)

    def end(self, run: HookRun, event: str, ran: Ran) -> None:
        """End the span of a hook, and count what became of it. A deny is an answer; only a failure is an error."""
        span = run.span
        try:
            self._metrics.ran(event, self._words.name(ran.hook.label), ran)
        except Exception as error:
            self._complain(error)
        try:
            if span is not None:
                if span.is_recording():
                    span.set_attributes(attributes.of_run(ran, self._words))
                    if ran.error is not None:
                        text = self._words.text(str(ran.error))
                        span.set_status(Status(StatusCode.ERROR, f"{ran.error.code}: {text}"))
                span.end()
        except Exception as error:
            self._complain(error)

    def count_failure(self, event: str, hook: str, code: str) -> None:
        """Count a failure that has no run: of a hook that was not waited for, or of the recorder."""
        try:
            self._metrics.failed(event, self._words.name(hook), code)
        except Exception as error:
            self._complain(error)

    def interrupt(self, span: Span) -> None:
        """End the span of something that the host would not wait for any longer."""
        try:
            span.set_attribute("interpose.status", "cancelled")
            span.end()
        except Exception as error:
            self._complain(error)

    def _complain(self, error: Exception) -> None:
        self.failed += 1
        if self.failed == 1:
            log("warning", "tracing raised %s; firings go on without what it was told", type_name(error))
