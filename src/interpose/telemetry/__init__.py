"""Traces and metrics through OpenTelemetry: what every firing and every hook did, where a team already looks.

Only its API is needed, and only here: nothing else in the package knows it. It is told of what happened and can change
nothing: whatever breaks in it is counted, and the firing goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict

from ..engine import Engine
from ..errors import UsageError
from ..redaction import Redactor

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from .tracing import Tracing

__all__ = ["TracingOptions", "start_tracing"]


class TracingOptions(TypedDict, total=False):
    """The options of ``Hooks.trace()``."""

    tracer_provider: TracerProvider | None
    """Makes the spans; None stands for that of the process."""
    meter_provider: MeterProvider | None
    """Counts and measures; None stands for that of the process."""
    redact: Callable[[str], str] | None
    """Takes secrets out of reasons and errors, instead of the rules of the audit store."""
    outer: Context | None
    """The context of firings for which the host has no span."""


def start_tracing(
    engine: Engine,
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    redact: Callable[[str], str] | None = None,
    outer: Context | None = None,
) -> Tracing:
    """Report an engine's firings to these providers, or to those of the process; return what ends it.

    ``redact`` takes secrets out of texts, by default as the audit store does; ``outer`` is the context of firings for
    which the host has no span.
    """
    try:
        from opentelemetry import metrics, trace

        from .tracing import Tracing
    except ModuleNotFoundError as error:
        raise needs_the_extra(error) from None
    _check("tracer_provider", tracer_provider, "get_tracer")
    _check("meter_provider", meter_provider, "get_meter")
    version = _version()
    return Tracing(
        engine,
        (tracer_provider or trace.get_tracer_provider()).get_tracer("interpose", version),
        (meter_provider or metrics.get_meter_provider()).get_meter("interpose", version),
        redact or Redactor(),
        outer,
    )


def needs_the_extra(error: ModuleNotFoundError) -> Exception:
    """Return what to raise where a package was not found: what to install, if it is OpenTelemetry."""
    if not (error.name or "").startswith("opentelemetry"):
        return error
    return UsageError(
        f"traces need OpenTelemetry, and {error.name} is not installed", hint="pip install 'interpose[otel]'"
    )


def _check(what: str, provider: Any, method: str) -> None:
    if provider is not None and not callable(getattr(provider, method, None)):
        raise UsageError(f"{what} is {type(provider).__name__}, which has no {method}()",
                         hint="give a provider of OpenTelemetry, or nothing for the process's own")  # fmt: skip


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("interpose")
    except PackageNotFoundError:  # run from its sources
        return ""
