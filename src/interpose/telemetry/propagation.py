"""The trace context across the border of the process, as W3C writes it, in the variables that programs look into."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

__all__ = ["context_from", "current_variables"]

_w3c = TraceContextTextMapPropagator()


def current_variables() -> dict[str, str]:
    """Return the variables that name the current span; none if there is no span, or it cannot be named."""
    carrier: dict[str, str] = {}
    try:
        _w3c.inject(carrier)
    except Exception:  # a span of another library
        return {}
    return {name.upper(): value for name, value in carrier.items()}


def context_from(variables: Mapping[str, str]) -> Context:
    """Return the context that these variables name; an empty one if they name none."""
    carrier = {name: variables[name.upper()] for name in _w3c.fields if name.upper() in variables}
    return _w3c.extract(carrier, Context())
