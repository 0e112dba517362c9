"""Traces of a command's own firings, where the environment asks for them; no guard is broken by what is missing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from ..errors import UsageError
from ..hooks import Hooks
from .words import paint

__all__ = ["traced"]

_ASKS = "OTEL_EXPORTER_OTLP_"


def traced(hooks: Hooks, *, closing: float = 3.0) -> Callable[[], None]:
    """Have firings traced to where the environment says, if it does; return what ends that."""
    if not any(name.startswith(_ASKS) for name in os.environ):
        return _nothing
    from ..telemetry.configure import configure_from_environment

    try:
        return configure_from_environment(hooks, closing=closing)
    except UsageError as error:
        print(f"{paint('warning', 'yellow', stream=sys.stderr)}: nothing is traced: {error}", file=sys.stderr)
        return _nothing


def _nothing() -> None:
    """End nothing."""
