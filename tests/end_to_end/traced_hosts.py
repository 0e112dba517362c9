"""Hosts whose firings are traced: in this process, with the real SDK and its exporters, or as a program of its own."""

import asyncio
import math
import os
import subprocess
import sys
import textwrap
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler
from tests.end_to_end.otlp_receiver import Receiver

from interpose import Hooks, Outcome
from interpose.telemetry.tracing import Tracing

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
WAYS = ("fire", "fire_sync")
LONG_AGO = f"00-{'a' * 32}-{'b' * 16}-01"
RESOURCE = Resource({"service.name": "a host"})


def fire(way: str, hooks: Hooks, event: str = "PreToolUse", **fields: Any) -> Outcome:
    """Fire one event, on a loop or without one."""
    given = {**CALL, **fields} if event == "PreToolUse" else fields
    return asyncio.run(hooks.fire(event, **given)) if way == "fire" else hooks.fire_sync(event, **given)


def silent(event: Any) -> None:
    return None


class Telemetry:
    """A host's providers, with exporters that send to a receiver when they are told to."""

    def __init__(self, receiver: Receiver, sampler: Sampler = ALWAYS_ON) -> None:
        self.receiver = receiver
        self.tracer_provider = TracerProvider(resource=RESOURCE, sampler=sampler, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(endpoint=f"{receiver.endpoint}/v1/traces")
        self.tracer_provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=600_000))
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(endpoint=f"{receiver.endpoint}/v1/metrics"), export_interval_millis=math.inf
        )
        self.meter_provider = MeterProvider([reader], resource=RESOURCE, shutdown_on_exit=False)
        self.tracer = self.tracer_provider.get_tracer("host")

    def trace(self, hooks: Hooks) -> Tracing:
        return hooks.trace(tracer_provider=self.tracer_provider, meter_provider=self.meter_provider)

    def sent(self) -> Receiver:
        """Send everything now; return who has got it."""
        self.tracer_provider.force_flush()
        self.meter_provider.force_flush()
        return self.receiver

    def close(self) -> None:
        self.tracer_provider.shutdown()
        self.meter_provider.shutdown()


PROGRAM = """
    import os
    from interpose import Hooks, deny
    from interpose.telemetry.configure import configure_from_environment

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("no"), name="guard")
    close = configure_from_environment(hooks)
    assert hooks.fire_sync("PreToolUse", tool_name="Bash").denied
    close()
    assert not hooks.engine.listeners
"""


def run_program(text: str, **variables: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(text)],
        env={**kept, "NO_PROXY": "127.0.0.1", **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
