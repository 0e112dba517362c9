"""Statistics of hooks, from a store's table of runs, without reading the documents."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from .reader import HookStats
from .schema import run_of

if TYPE_CHECKING:
    import sqlite3

__all__ = ["hook_stats"]


def hook_stats(base: sqlite3.Connection, since: float | None) -> list[HookStats]:
    """Return the statistics of each hook at each event; most runs first."""
    first = 0
    if since is not None:
        row = base.execute("SELECT min(id) FROM records WHERE time >= ?", (int(since * 1e9),)).fetchone()
        if row[0] is None:
            return []
        first = row[0]
    hooks = base.execute("SELECT id, event, name FROM hooks").fetchall()
    stats = [_stats_of(base, hook, event, name, first) for hook, event, name in hooks]
    return sorted((found for found in stats if found.runs or found.skipped), key=lambda found: -found.runs)


def _stats_of(base: sqlite3.Connection, hook: int, event: str, name: str, first: int) -> HookStats:
    # The rows of a hook are stored together, in the order in which they were written.
    times: defaultdict[int, list[int]] = defaultdict(list)
    sessions: set[int] = set()
    for what, took, session in base.execute(
        "SELECT what, took, session FROM runs WHERE hook = ? AND record >= ?", (hook, first)
    ):
        times[what].append(took)
        sessions.add(session)
    counts: dict[str, int] = defaultdict(int)
    ran: list[int] = []
    for what, took in times.items():
        status, decision, _, enforced = run_of(what)
        if status == "skipped":
            counts["skipped"] += len(took)
            continue
        ran += took
        counts["failures"] += len(took) if status == "failed" else 0
        counts["timeouts"] += len(took) if status == "timeout" else 0
        counts["denies"] += len(took) if decision == "deny" else 0
        counts["asks"] += len(took) if decision == "ask" else 0
        counts["observed"] += len(took) if decision in ("deny", "ask") and not enforced else 0
    ran.sort()
    last = base.execute(
        "SELECT time FROM records WHERE id = "
        "(SELECT record FROM runs WHERE hook = ? AND what & 3 <> 3 ORDER BY record DESC LIMIT 1)",
        (hook,),
    ).fetchone()
    return HookStats(
        hook=name, event=event, runs=len(ran), total=sum(ran) / 1e6, sessions=len(sessions), **_percentiles(ran),
        last_fired=None if last is None else last[0] / 1e9, **counts,
    )  # fmt: skip


def _percentiles(ran: list[int]) -> dict[str, Any]:
    """Return the percentiles of sorted durations."""
    if not ran:
        return {}
    return {f"p{part}": ran[min(len(ran) - 1, len(ran) * part // 100)] / 1e6 for part in (50, 95, 99)}
