"""What is counted and measured: decisions, failures, and how long hooks and firings take.

Every series is one of a bounded number: events are the table's, and a host that makes up names of hooks as it goes gets
the first of them counted by name and all others as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..decide import HookRun

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

__all__ = ["MOST_NAMES", "OTHERS", "Metrics"]

MOST_NAMES = 200
"""How many hooks, and how many codes of failures, are told apart."""
OTHERS = "(others)"

# From a callable's microseconds to a command's deadline: 5 s would be the first boundary of the default.
_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """The four instruments of one engine."""

    def __init__(self, meter: Meter) -> None:
        self._hooks = _Few()
        self._codes = _Few()
        self._decisions = meter.create_counter(
            "interpose.decisions", unit="{firing}", description="Firings, by what was decided"
        )
        self._failures = meter.create_counter(
            "interpose.hook.failures", unit="{failure}", description="Hooks that gave no usable answer, by code"
        )
        self._hook_duration = meter.create_histogram(
            "interpose.hook.duration",
            unit="s",
            description="How long one hook took",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._firing_duration = meter.create_histogram(
            "interpose.firing.duration",
            unit="s",
            description="How long the host waited for an outcome",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )

    def decided(self, event: str, decision: str, seconds: float) -> None:
        """Count a firing."""
        self._decisions.add(1, {"interpose.event": event, "interpose.decision": decision})
        self._firing_duration.record(seconds, {"interpose.event": event})

    def ran(self, event: str, hook: str, ran: HookRun) -> None:
        """Count a hook that has ended."""
        hook = self._hooks.known(hook)
        self._hook_duration.record(
            ran.duration, {"interpose.event": event, "interpose.hook": hook, "interpose.status": ran.status}
        )
        if ran.error is not None:
            self.failed(event, hook, ran.error.code)

    def failed(self, event: str, hook: str, code: str) -> None:
        """Count a failure."""
        self._failures.add(
            1,
            {
                "interpose.event": event,
                "interpose.hook": self._hooks.known(hook),
                "error.type": self._codes.known(code),
            },
        )


class _Few:
    """The first names of many."""

    def __init__(self) -> None:
        self._names: set[str] = {OTHERS}

    def known(self, name: str) -> str:
        if name in self._names:
            return name
        if len(self._names) > MOST_NAMES:
            return OTHERS
        self._names.add(name)
        return name
