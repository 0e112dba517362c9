"""Exporters for a program that has none: set up from the variables that OpenTelemetry has for this, OTLP over HTTP.

A library leaves this to its host. A program that is its own host calls it at its start, and the closer at its end.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import UsageError
from ..runtime.faults import log
from . import needs_the_extra

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

__all__ = ["asked_for", "configure_from_environment"]

CLOSING = 3.0
"""Seconds that a program waits at its end for what is still to be sent."""
PROTOCOL = "http/protobuf"


class Traceable(Protocol):
    """What can be traced: ``Hooks``."""

    def trace(self, *, tracer_provider: Any, meter_provider: Any, outer: Any) -> Any:
        """Report every firing to these providers; ``close()`` of what is returned ends it."""


def asked_for(environ: Mapping[str, str]) -> tuple[bool, bool]:
    """Say whether the environment asks for traces, and for metrics. What it cannot have is a UsageError."""
    return _wanted("TRACES", environ), _wanted("METRICS", environ)


def configure_from_environment(
    hooks: Traceable,
    environ: Mapping[str, str] = os.environ,
    *,
    closing: float = CLOSING,
) -> Callable[[], None]:
    """Trace to where the environment says; return what sends the rest and ends it, within ``closing`` seconds.

    ``OTEL_EXPORTER_OTLP_ENDPOINT``, or one for traces or metrics alone, asks for it; without any, nothing is traced.
    Firings for which there is no span belong to the span that ``TRACEPARENT`` names: that of the program which started
    this one. A request that cannot be met raises UsageError.
    """
    traces, metrics = asked_for(environ)
    if not (traces or metrics):
        return _nothing
    try:
        from .propagation import context_from

        tracer_provider = _tracer_provider(environ) if traces else _no_traces()
        meter_provider = _meter_provider(environ) if metrics else _no_metrics()
    except ModuleNotFoundError as error:
        raise needs_the_extra(error) from None
    tracing = hooks.trace(
        tracer_provider=tracer_provider,
        meter_provider=meter_provider,
        outer=context_from(environ),
    )

    def close() -> None:
        tracing.close()
        _shut_down([one for one in (tracer_provider, meter_provider) if hasattr(one, "shutdown")], closing)

    return close


def _wanted(signal: str, environ: Mapping[str, str]) -> bool:
    """Say whether one signal is asked for; refuse what is asked for in a way that is not offered."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if not (environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or environ.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")):
        return False
    name = f"OTEL_{signal}_EXPORTER"
    exporter = environ.get(name, "").strip() or "otlp"
    if exporter == "none":
        return False
    if exporter != "otlp":
        raise UsageError(f"{name} is {exporter!r}, which is not offered here", hint="use otlp or none")
    for name in (f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        protocol = environ.get(name, "").strip()
        if protocol and protocol != PROTOCOL:
            raise UsageError(f"{name} is {protocol!r}, which is not offered here", hint=f"use {PROTOCOL}")
        if protocol:
            break  # the signal's own word counts
    return True


def _tracer_provider(environ: Mapping[str, str]) -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # The end of the program does not wait for exporters; the function that is returned does.
    provider = TracerProvider(resource=_resource(environ), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=_endpoint("TRACES", environ))))
    return provider


def _meter_provider(environ: Mapping[str, str]) -> Any:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=_endpoint("METRICS", environ)))
    return MeterProvider(metric_readers=[reader], resource=_resource(environ), shutdown_on_exit=False)


def _no_traces() -> Any:
    from opentelemetry.trace import NoOpTracerProvider

    return NoOpTracerProvider()


def _no_metrics() -> Any:
    from opentelemetry.metrics import NoOpMeterProvider

    return NoOpMeterProvider()


def _endpoint(signal: str, environ: Mapping[str, str]) -> str:
    own = environ.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    return own or f"{environ['OTEL_EXPORTER_OTLP_ENDPOINT'].rstrip('/')}/v1/{signal.lower()}"


def _resource(environ: Mapping[str, str]) -> Resource:
    """Return who is speaking: what the environment says, and our name if it gives none."""
    from opentelemetry.sdk.resources import Resource

    named = environ.get("OTEL_SERVICE_NAME") or "service.name=" in environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return Resource.create({} if named else {"service.name": "interpose"})


def _shut_down(providers: list[Any], seconds: float) -> None:
    """Send what is left, for so many seconds at most."""

    def shut_down(provider: Any) -> None:
        try:
            provider.shutdown()
        except Exception as error:
            log("warning", "traces could not be ended: %s", type(error).__name__)

    threads = [
        threading.Thread(target=shut_down, args=[provider], name="interpose-traces", daemon=True)
        for provider in providers
    ]
    for thread in threads:
        thread.start()
    until = monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, until - monotonic()))
    if any(thread.is_alive() for thread in threads):
        log("warning", "not all traces and metrics were taken within %.3g s; what is left is lost", seconds)


def _nothing() -> None:
    """End nothing."""
