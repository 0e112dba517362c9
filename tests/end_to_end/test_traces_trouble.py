"""Span processors, exporters and receivers that break: no firing fails or waits for them."""

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from tests.end_to_end.otlp_receiver import Receiver
from tests.end_to_end.traced_hosts import CALL, PROGRAM, WAYS, fire, run_program

from interpose import Hooks, deny

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_environment")]


class Breaks(SpanProcessor):
    """A span processor that raises."""

    def __init__(self, where: str) -> None:
        self.where = where

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        if self.where == "start":
            raise RuntimeError("on_start")

    def on_end(self, span: ReadableSpan) -> None:
        if self.where == "end":
            raise RuntimeError("on_end")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("where", ["start", "end"])
def test_a_span_processor_that_raises_breaks_no_firing_and_is_complained_of_once(
    caplog: pytest.LogCaptureFixture, where: str, way: str
) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Breaks(where))
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("no"), name="guard")
    tracing = hooks.trace(tracer_provider=provider)

    with caplog.at_level(logging.WARNING, "interpose"):
        outcomes = [fire(way, hooks) for _ in range(2)]

    assert [(outcome.decision, outcome.reason) for outcome in outcomes] == [("deny", "no")] * 2
    assert tracing.failed == 4
    assert [record.getMessage() for record in caplog.records] == [
        "tracing raised RuntimeError; firings go on without what it was told"
    ]


class Stubborn(SpanExporter):
    """An exporter that does not come back until it is let."""

    def __init__(self) -> None:
        self.asked, self.let_go = threading.Event(), threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.asked.set()
        self.let_go.wait(60)
        return SpanExportResult.FAILURE


def test_an_exporter_that_blocks_holds_nobody_up() -> None:
    exporter = Stubborn()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=8, max_export_batch_size=4))
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("no"), name="guard", inline=True)
    tracing = hooks.trace(tracer_provider=provider)
    began = time.monotonic()

    outcomes = [hooks.fire_sync("PreToolUse", **CALL) for _ in range(100)]
    took = time.monotonic() - began
    blocked = exporter.asked.wait(20)
    exporter.let_go.set()
    provider.shutdown()

    assert blocked
    assert {outcome.reason for outcome in outcomes} == {"no"}
    assert took < 30
    assert tracing.failed == 0


@pytest.mark.parametrize("trouble", ["it is not there", "it answers 503", "it does not answer"])
def test_a_receiver_in_trouble_changes_no_outcome_and_keeps_no_program_from_ending(
    receiver: Receiver, trouble: str
) -> None:
    if trouble == "it answers 503":
        receiver.answer_with = 503
    elif trouble == "it does not answer":
        receiver.held.clear()
    else:
        receiver.close()

    # An exporter would wait for ten minutes, which run_program() does not.
    run_program(
        PROGRAM.replace("(hooks)", "(hooks, closing=3)"), OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
        OTEL_EXPORTER_OTLP_TIMEOUT="600",
    )  # fmt: skip

    assert receiver.asked.wait(20 if trouble != "it is not there" else 0) == (trouble != "it is not there")
    assert receiver.spans == []
