"""Statistics of hooks, permissions and sessions by SQL, without reading the documents where columns say enough."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ..columns import DECISIONS, FIRING, PERMISSION, STATUSES, run_of
from ..protocol import HookStats, PermissionCount, StoredSession
from .base import Base, nanoseconds

__all__ = ["hook_stats", "permission_counts", "sessions"]

_FEW = 200


def hook_stats(base: Base, since: float | None, sample: int | None) -> list[HookStats]:
    """Return the statistics of each hook at each event; most runs first."""
    first = 0
    if since is not None:
        low = base.first_since(since)
        query = "SELECT min(id) FROM records WHERE id >= ? AND time >= ?"
        if (found := base.execute(query, (low, nanoseconds(since))).fetchone()[0]) is None:
            return []
        first = found
    hooks = base.execute("SELECT id, event, name FROM hooks").fetchall()
    stats = [
        _stats_of(base, hook, event, name, first) if sample is None
        else _sampled_stats(base, hook, event, name, first, sample)
        for hook, event, name in hooks
    ]  # fmt: skip
    return sorted((found for found in stats if found.runs or found.skipped), key=lambda found: -found.runs)


def _sampled_stats(base: Base, hook: int, event: str, name: str, first: int, sample: int) -> HookStats:
    """Return the statistics of a hook from sums, and the percentiles of its latest runs."""
    runs, total = base.execute(
        "SELECT count(*), sum(took) FROM runs WHERE hook = ? AND record >= ?", (hook, first)
    ).fetchone()
    # Most runs have nothing to tell; the others are in an index, whose condition this is.
    telling = base.execute(
        "SELECT what, count(*) FROM runs WHERE hook = ? AND what <> 0 AND record >= ? GROUP BY what", (hook, first)
    ).fetchall()
    counts = _counts(dict(telling))
    latest = base.execute(
        "SELECT took FROM runs WHERE hook = ? AND record >= ? AND what & 3 <> 3 ORDER BY record DESC LIMIT ?",
        (hook, first, sample),
    ).fetchall()
    return HookStats(
        hook=name, event=event, runs=runs - counts["skipped"], total=(total or 0) / 1e6,
        **_percentiles(sorted(took for (took,) in latest)), last_fired=_last_fired(base, hook), **counts,
    )  # fmt: skip


def _counts(numbers: dict[int, int]) -> dict[str, int]:
    """Return how often a hook was skipped, failed, denied and asked, from the codes of its results."""
    counts: dict[str, int] = defaultdict(int)
    for what, number in numbers.items():
        status, decision, _, enforced = run_of(what)
        if status == "skipped":
            counts["skipped"] += number
            continue
        counts["failures"] += number if status == "failed" else 0
        counts["timeouts"] += number if status == "timeout" else 0
        counts["denies"] += number if decision == "deny" else 0
        counts["asks"] += number if decision == "ask" else 0
        counts["observed"] += number if decision in ("deny", "ask") and not enforced else 0
    return counts


def _last_fired(base: Base, hook: int) -> float | None:
    last = base.execute(
        "SELECT time FROM records WHERE id = "
        "(SELECT record FROM runs WHERE hook = ? AND what & 3 <> 3 ORDER BY record DESC LIMIT 1)",
        (hook,),
    ).fetchone()
    return None if last is None else last[0] / 1e9


def _stats_of(base: Base, hook: int, event: str, name: str, first: int) -> HookStats:
    # The rows of a hook are stored together, in the order in which they were written.
    times: defaultdict[int, list[int]] = defaultdict(list)
    sessions: set[int] = set()
    for what, took, session in base.execute(
        "SELECT what, took, session FROM runs WHERE hook = ? AND record >= ?", (hook, first)
    ):
        times[what].append(took)
        sessions.add(session)
    ran = sorted(took for what, some in times.items() if run_of(what)[0] != "skipped" for took in some)
    return HookStats(
        hook=name, event=event, runs=len(ran), total=sum(ran) / 1e6, sessions=len(sessions), **_percentiles(ran),
        last_fired=_last_fired(base, hook), **_counts({what: len(took) for what, took in times.items()}),
    )  # fmt: skip


def _percentiles(ran: list[int]) -> dict[str, Any]:
    """Return the percentiles of sorted durations."""
    if not ran:
        return {}
    return {f"p{part}": ran[min(len(ran) - 1, len(ran) * part // 100)] / 1e6 for part in (50, 95, 99)}


def permission_counts(base: Base, since: float | None) -> list[PermissionCount]:
    """Return how many permissions there are, by verdict and by decider; most first."""
    rows = base.execute(
        "SELECT json_extract(b.body, '$.verdict'), json_extract(b.body, '$.by'), count(*) "  # noqa: S608 - our own names
        "FROM permissions p "
        f"JOIN records r ON r.id = p.record {base.body} "
        "WHERE r.time >= ? AND json_valid(b.body) GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2",
        (nanoseconds(since or 0),),
    )
    return [PermissionCount(verdict=str(verdict), by=str(by), count=count) for verdict, by, count in rows]


def sessions(base: Base, since: float | None, limit: int | None, *, has_permissions: bool) -> list[StoredSession]:
    """Return sessions with their counts, the most recently active first."""
    deny, ask = DECISIONS.index("deny"), DECISIONS.index("ask")
    rows = base.execute(
        "SELECT r.session, w.word, min(r.time), max(r.time), count(*), count(*) FILTER (WHERE r.decision = ?), "
        "count(*) FILTER (WHERE r.decision = ?) FROM records r JOIN words w ON w.id = r.session WHERE r.kind = ? "
        "GROUP BY r.session, w.word HAVING max(r.time) >= ? ORDER BY max(r.id) DESC LIMIT ?",
        (deny, ask, FIRING, nanoseconds(since or 0), 1 << 62 if limit is None else limit),
    ).fetchall()
    found = {row[0]: row[1:] for row in rows}
    calls = _calls(base, found)
    failures = _failures(base, found)
    denied, asked = _permissions(base, found) if has_permissions else ({}, {})
    return [
        StoredSession(
            id=word, first=first / 1e9, last=last / 1e9, firings=count, agents=tuple(sorted(calls[session][1])),
            calls=len(calls[session][0]), denies=denies + denied.get(session, 0), asks=asks + asked.get(session, 0),
            failures=failures.get(session, 0),
        )
        for session, (word, first, last, count, denies, asks) in found.items()
    ]  # fmt: skip


def _calls(base: Base, sessions: dict[int, Any]) -> dict[int, tuple[set[str], set[str]]]:
    """Return the ids of the calls, and the agents, of each session."""
    found: dict[int, tuple[set[str], set[str]]] = {session: (set(), set()) for session in sessions}
    rows = base.execute(
        "SELECT DISTINCT r.session, json_extract(b.body, '$.input.tool_use_id'), "  # noqa: S608 - ids
        f"json_extract(b.body, '$.input.agent_id') FROM records r {base.body} "
        f"WHERE r.kind = ? AND json_valid(b.body){_only(sessions)}",
        (FIRING,),
    )
    for session, call, agent in rows:
        for part, value in zip(found.get(session, ()), (call, agent), strict=False):
            if isinstance(value, str) and value:
                part.add(value)
    return found


def _only(sessions: dict[int, Any]) -> str:
    """Return a condition on the session; where there are many, reading all is as fast."""
    return f" AND r.session IN ({', '.join(map(str, sessions))})" if len(sessions) <= _FEW else ""


def _failures(base: Base, sessions: dict[int, Any]) -> dict[int, int]:
    """Return how many runs of hooks failed or ran past their deadline, by session."""
    codes = (STATUSES.index("failed"), STATUSES.index("timeout"))
    rows = base.execute("SELECT session, count(*) FROM runs WHERE what & 3 IN (?, ?) GROUP BY session", codes)
    return {session: count for session, count in rows if session in sessions}


def _permissions(base: Base, sessions: dict[int, Any]) -> tuple[dict[int, int], dict[int, int]]:
    """Return how many calls were denied and asked about by something else than a hook, whose firing says it already."""
    denied: dict[int, int] = defaultdict(int)
    asked: dict[int, int] = defaultdict(int)
    rows = base.execute(
        "SELECT r.session, json_extract(b.body, '$.verdict'), json_extract(b.body, '$.asked_at'), "  # noqa: S608 - ids
        "json_extract(b.body, '$.hook'), json_extract(b.body, '$.by') FROM permissions p "
        f"JOIN records r ON r.id = p.record {base.body} "
        f"WHERE r.kind = ? AND json_valid(b.body){_only(sessions)}",
        (PERMISSION,),
    )
    for session, verdict, asked_at, hook, by in rows:
        if session in sessions:
            denied[session] += verdict == "denied" and by != "hook"
            asked[session] += (verdict == "asked" or asked_at is not None) and not hook
    return denied, asked
