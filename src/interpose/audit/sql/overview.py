"""What pages show of a store of any size: sums, and recent sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..columns import DECISIONS, FIRING
from ..protocol import SessionOverview, Totals
from .base import Base, nanoseconds

__all__ = ["recent_sessions", "session_overview", "totals"]

_LOOKED_AT = 12
"""How many of the latest records of a session are read to find its agents."""
_STRICT = (DECISIONS.index("ask"), DECISIONS.index("deny"))


def totals(base: Base, since: float | None, before: Totals | None) -> Totals:
    """Return the sums of the records since a moment; those that ``before`` has counted are not counted again."""
    moment = nanoseconds(since or 0)
    low = base.first_since(since) if before is None else before.upto + 1
    upto = base.last_id()
    firings, asks, denies, took = base.execute(
        "SELECT count(*), count(*) FILTER (WHERE decision = ?), count(*) FILTER (WHERE decision = ?), sum(took) "
        "FROM records WHERE id BETWEEN ? AND ? AND kind = ? AND time >= ?",
        (*_STRICT, low, upto, FIRING, moment),
    ).fetchone()
    # The condition on `what` is that of the index.
    failures = base.execute(
        "SELECT count(*) FROM runs u WHERE u.what & 3 IN (1, 2) AND u.record BETWEEN ? AND ? "
        "AND (SELECT time FROM records WHERE id = u.record) >= ?",
        (low, upto, moment),
    ).fetchone()[0]
    earlier = before or Totals()
    return Totals(
        firings=earlier.firings + firings, asks=earlier.asks + (asks or 0), denies=earlier.denies + (denies or 0),
        failures=earlier.failures + failures, took=earlier.took + (took or 0) / 1e6, upto=max(upto, earlier.upto),
    )  # fmt: skip


def recent_sessions(base: Base, since: float | None, limit: int, before: int | None) -> list[Any]:
    """Return the sessions that were active most recently; with ``before``, those whose last record is older."""
    # For each word that is a session, its last record is one lookup in the index.
    rows = base.execute(
        "SELECT word, last FROM (SELECT w.id AS word, (SELECT r.id FROM records r WHERE r.session = w.id "
        "ORDER BY r.id DESC LIMIT 1) AS last FROM words w WHERE w.word <> '') found "
        "WHERE last >= ? AND last < ? ORDER BY last DESC LIMIT ?",
        (base.first_since(since), before if before is not None else 1 << 62, limit),
    ).fetchall()
    return [session_overview(base, session, last) for session, last in rows]


def session_overview(base: Base, session: int, last: int) -> SessionOverview:
    """Return the counts of one session, from the index alone; ``last`` is its last record."""
    first, firings, asks, denies, took = base.execute(
        "SELECT min(id), count(*) FILTER (WHERE kind = ?), count(*) FILTER (WHERE kind = ? AND decision = ?), "
        "count(*) FILTER (WHERE kind = ? AND decision = ?), sum(took) "
        "FROM records WHERE session = ?",
        (FIRING, FIRING, _STRICT[0], FIRING, _STRICT[1], session),
    ).fetchone()
    failures = base.execute(
        "SELECT count(*) FROM runs WHERE what & 3 IN (1, 2) AND record BETWEEN ? AND ? AND session = ?",
        (first, last, session),
    ).fetchone()[0]
    word = base.execute("SELECT word FROM words WHERE id = ?", (session,)).fetchone()[0]
    times = [base.execute("SELECT time FROM records WHERE id = ?", (one,)).fetchone()[0] / 1e9 for one in (first, last)]
    latest = base.execute(
        f"SELECT e.word, b.body, r.kind FROM records r {base.body} JOIN words e ON e.id = r.event "  # noqa: S608 - our own names
        "WHERE r.session = ? ORDER BY r.id DESC LIMIT ?",
        (session, _LOOKED_AT),
    ).fetchall()
    events = [event for event, _, kind in latest if kind == FIRING]
    return SessionOverview(
        id=word, first=times[0], last=times[1], last_record=last, last_event=events[0] if events else "",
        ended=events[:1] == ["SessionEnd"],
        firings=firings or 0, asks=asks or 0, denies=denies or 0, failures=failures, took=(took or 0) / 1e6,
        agents=tuple(sorted(_agents(body for _, body, _ in latest))),
    )  # fmt: skip


def _agents(bodies: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for text in bodies:
        if '"agent_id"' not in text:
            continue
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):  # it was changed; `interpose log verify` reports it
            continue
        given = body.get("input", body) if isinstance(body, dict) else {}
        agent = given.get("agent_id") if isinstance(given, dict) else ""
        if isinstance(agent, str) and agent:
            found.add(agent)
    return found
