"""Programs that trace to where their environment or their own providers say."""

import pytest
from tests.end_to_end.otlp_receiver import Receiver
from tests.end_to_end.traced_hosts import LONG_AGO, PROGRAM, run_program

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_environment")]


def test_a_program_traces_to_where_its_environment_says_and_belongs_to_whoever_started_it(receiver: Receiver) -> None:
    run_program(PROGRAM, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint, TRACEPARENT=LONG_AGO)

    firing = receiver.span("hooks PreToolUse", decision="deny")
    assert receiver.services == {"interpose"}
    assert (firing.trace_id, firing.parent_id) == ("a" * 32, "b" * 16)
    assert [one.name for one in receiver.children(firing)] == ["hook guard"]
    assert [one.count for one in receiver.metrics["interpose.decisions"]] == [1]


def test_a_program_may_send_metrics_only_and_call_itself_something(receiver: Receiver) -> None:
    run_program(
        PROGRAM,
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
        OTEL_TRACES_EXPORTER="none",
        OTEL_SERVICE_NAME="my-agent",
    )

    assert receiver.spans == []
    assert b"my-agent" in b"".join(receiver.bodies)
    assert [one.count for one in receiver.metrics["interpose.decisions"]] == [1]


def test_a_program_may_send_traces_to_an_endpoint_of_their_own(receiver: Receiver) -> None:
    run_program(
        PROGRAM, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{receiver.endpoint}/v1/traces", OTEL_SERVICE_NAME="my-agent"
    )

    assert receiver.services == {"my-agent"}
    assert len(receiver.spans) == 2
    assert receiver.metrics == {}


def test_without_arguments_spans_and_metrics_go_to_the_providers_of_the_process(receiver: Receiver) -> None:
    run_program(
        """
        import os
        from opentelemetry import metrics, trace
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from interpose import Hooks

        hooks = Hooks()
        hooks.register("Stop", lambda event: None, name="hook")
        hooks.trace()  # before the host has set any
        traces = TracerProvider()
        traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(traces)
        measures = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())])
        metrics.set_meter_provider(measures)
        hooks.fire_sync("Stop")
        traces.shutdown()
        measures.shutdown()
        """,
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
    )

    assert {one.name for one in receiver.spans} == {"hooks Stop", "hook hook"}
    assert receiver.metrics.keys() >= {"interpose.decisions", "interpose.hook.duration", "interpose.firing.duration"}
