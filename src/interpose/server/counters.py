"""What the server has done so far, and its figures in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable

__all__ = ["Counters"]

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Counters:
    """Counts of events, and gauges that are read when they are asked for."""

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        """Events by how they ended: their exit status, ``declined``, ``refused``, ``lost`` or ``abandoned``."""
        self.started = 0
        """Engine processes that were started."""
        self.gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self._buckets = [0] * (len(_BOUNDS) + 1)
        self._seconds = 0.0

    def answered(self, status: int, seconds: float) -> None:
        """Count an event that was answered."""
        self.events[str(status)] += 1
        self._seconds += seconds
        self._buckets[bisect_left(_BOUNDS, seconds)] += 1

    def text(self) -> str:
        """Return all figures."""
        lines = ["# HELP interpose_events_total Events by how they ended: an exit status, or no answer.",
                 "# TYPE interpose_events_total counter"]  # fmt: skip
        lines += [f'interpose_events_total{{ended="{name}"}} {count}' for name, count in sorted(self.events.items())]
        lines += ["# HELP interpose_event_seconds Time from a request to its answer.",
                  "# TYPE interpose_event_seconds histogram"]  # fmt: skip
        total = 0
        for bound, count in zip((*map(str, _BOUNDS), "+Inf"), self._buckets, strict=True):
            total += count
            lines.append(f'interpose_event_seconds_bucket{{le="{bound}"}} {total}')
        lines += [f"interpose_event_seconds_sum {self._seconds:.6f}", f"interpose_event_seconds_count {total}"]
        lines += ["# HELP interpose_engine_starts_total Engine processes that were started.",
                  "# TYPE interpose_engine_starts_total counter",
                  f"interpose_engine_starts_total {self.started}"]  # fmt: skip
        for name, (help_text, read) in self.gauges.items():
            lines += [f"# HELP {name} {help_text}", f"# TYPE {name} gauge", f"{name} {read():g}"]
        return "\n".join(lines) + "\n"
