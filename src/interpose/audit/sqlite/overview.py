"""What pages show of a store of any size: sums, recent sessions, and a search that stops after some time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any

from ..columns import DECISIONS, FIRING
from ..protocol import SessionOverview, Totals

__all__ = ["first_since", "nanoseconds", "recent_sessions", "session_overview", "totals"]

_OUT_OF_ORDER = 120
"""Seconds by which records may be out of order: processes queue them, and the clock may be set."""
_FARTHEST = 9e9
_LOOKED_AT = 12
"""How many of the latest records of a session are read to find its agents."""
_STRICT = (DECISIONS.index("ask"), DECISIONS.index("deny"))


def nanoseconds(seconds: float) -> int:
    """Return a moment as it is in the file; one that is too far away is the last that fits."""
    return int(max(-_FARTHEST, min(_FARTHEST, seconds)) * 1e9)


def first_since(base: sqlite3.Connection, since: float | None) -> int:
    """Return an id before which no record is as late as ``since``; found by bisection, as records are in order."""
    # Each for itself: both in one query read every record.
    low, high = base.execute("SELECT (SELECT min(id) FROM records), (SELECT max(id) FROM records)").fetchone()
    if since is None or low is None:
        return low or 0
    moment = nanoseconds(since - _OUT_OF_ORDER)
    high += 1
    while low < high:
        middle = (low + high) // 2
        row = base.execute("SELECT id, time FROM records WHERE id >= ? ORDER BY id LIMIT 1", (middle,)).fetchone()
        if row is None or row[1] >= moment:
            high = middle
        else:
            low = row[0] + 1
    return int(low)


def totals(base: sqlite3.Connection, since: float | None, before: Totals | None) -> Totals:
    """Return the sums of the records since a moment; those that ``before`` has counted are not counted again."""
    moment = nanoseconds(since or 0)
    low = first_since(base, since) if before is None else before.upto + 1
    upto = base.execute("SELECT max(id) FROM records").fetchone()[0] or 0
    firings, asks, denies, took = base.execute(
        "SELECT count(*), sum(decision = ?), sum(decision = ?), sum(took) FROM records "
        "WHERE id BETWEEN ? AND ? AND kind = ? AND time >= ?",
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


def recent_sessions(base: sqlite3.Connection, since: float | None, limit: int, before: int | None) -> list[Any]:
    """Return the sessions that were active most recently; with ``before``, those whose last record is older."""
    # For each word that is a session, its last record is one lookup in the index.
    rows = base.execute(
        "SELECT word, last FROM (SELECT w.id AS word, (SELECT r.id FROM records r WHERE r.session = w.id "
        "ORDER BY r.id DESC LIMIT 1) AS last FROM words w WHERE w.word <> '') "
        "WHERE last >= ? AND last < ? ORDER BY last DESC LIMIT ?",
        (first_since(base, since), before if before is not None else 1 << 62, limit),
    ).fetchall()
    return [session_overview(base, session, last) for session, last in rows]


def session_overview(base: sqlite3.Connection, session: int, last: int) -> SessionOverview:
    """Return the counts of one session, from the index alone; ``last`` is its last record."""
    first, firings, asks, denies, took = base.execute(
        "SELECT min(id), sum(kind = ?), sum(kind = ? AND decision = ?), sum(kind = ? AND decision = ?), sum(took) "
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
        "SELECT e.word, b.body, r.kind FROM records r JOIN bodies b ON b.record = r.id JOIN words e ON e.id = r.event "
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
