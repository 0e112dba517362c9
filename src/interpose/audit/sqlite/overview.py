"""What pages show of a store of any size: sums, recent sessions, and a search that stops after some time."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence

from ..columns import DECISIONS, FIRING
from ..protocol import SessionOverview, Totals

__all__ = ["first_since", "nanoseconds", "recent_sessions", "session_overviews", "totals"]

_OUT_OF_ORDER = 120
"""Seconds by which records may be out of order: processes queue them, and the clock may be set."""
_FARTHEST = 9e9
_LOOKED_AT = 8
"""How many of the latest records of a session are read to find its agents."""
_SCANNED = 20_000
"""How many of the latest records are looked at to find the latest sessions, before all sessions are looked at."""
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


def recent_sessions(
    base: sqlite3.Connection, since: float | None, limit: int, before: int | None
) -> list[SessionOverview]:  # fmt: skip
    """Return the sessions that were active most recently; with ``before``, those whose last record is older."""
    low, high = first_since(base, since), before if before is not None else 1 << 62
    found = _of_latest_records(base, low, high, limit)
    if found is None:
        # For each word that is a session, its last record is one lookup in the index.
        found = base.execute(
            "SELECT word, last FROM (SELECT w.id AS word, (SELECT r.id FROM records r WHERE r.session = w.id "
            "ORDER BY r.id DESC LIMIT 1) AS last FROM words w WHERE w.word <> '') "
            "WHERE last >= ? AND last < ? ORDER BY last DESC LIMIT ?",
            (low, high, limit),
        ).fetchall()
    return session_overviews(base, [session for session, _ in found])


def _of_latest_records(base: sqlite3.Connection, low: int, high: int, limit: int) -> list[tuple[int, int]] | None:
    """Return the sessions of the latest records, each with its last record; None if too many are of few sessions."""
    newest = base.execute("SELECT max(id) FROM records WHERE id < ?", (high,)).fetchone()[0] or 0
    floor, at, found = max(low, newest - _SCANNED), high, list[tuple[int, int]]()
    seen = [session for (session,) in base.execute("SELECT id FROM words WHERE word = ''")]
    while len(found) < limit:
        row = base.execute(
            "SELECT session, id FROM records WHERE id >= ? AND id < ? "  # noqa: S608 - numbers
            f"AND session NOT IN ({', '.join(map(str, seen))}) ORDER BY id DESC LIMIT 1",
            (floor, at),
        ).fetchone()
        if row is None:
            return found if floor == low else None
        session, at = row
        seen.append(session)
        (last,) = base.execute("SELECT max(id) FROM records WHERE session = ?", (session,)).fetchone()
        if last < high:
            found.append((session, last))
    return found


def session_overviews(base: sqlite3.Connection, sessions: Sequence[int]) -> list[SessionOverview]:
    """Return the counts of sessions, from indexes alone, in the order in which they are given."""
    if not sessions:
        return []  # SQLite would read every record to find none
    some = ", ".join(map(str, sessions))
    counts = base.execute(
        "SELECT session, min(id), max(id), count(CASE WHEN kind = ? THEN 1 END), "  # noqa: S608 - numbers
        "count(CASE WHEN decision = ? AND kind = ? THEN 1 END), count(CASE WHEN decision = ? AND kind = ? THEN 1 END), "
        f"sum(took) FROM records WHERE session IN ({some}) GROUP BY session",
        (FIRING, _STRICT[0], FIRING, _STRICT[1], FIRING),
    ).fetchall()
    # The condition on `what` is that of the index.
    failures = dict(base.execute(
        "SELECT session, count(*) FROM runs WHERE what & 3 IN (1, 2) "  # noqa: S608 - numbers
        f"AND session IN ({some}) GROUP BY session"
    ))  # fmt: skip
    ends = ", ".join(str(record) for _, first, last, *_ in counts for record in (first, last))
    times = dict(base.execute(f"SELECT id, time FROM records WHERE id IN ({ends})"))  # noqa: S608 - numbers
    found: dict[int, SessionOverview] = {}
    for session, first, last, firings, asks, denies, took in counts:
        (word,) = base.execute("SELECT word FROM words WHERE id = ?", (session,)).fetchone()
        event, agents = _latest_of(base, session)
        found[session] = SessionOverview(
            id=word, first=times[first] / 1e9, last=times[last] / 1e9, last_record=last, last_event=event,
            ended=event == "SessionEnd", firings=firings, asks=asks, denies=denies, failures=failures.get(session, 0),
            took=took / 1e6, agents=agents,
        )  # fmt: skip
    return [found[session] for session in sessions if session in found]


def _latest_of(base: sqlite3.Connection, session: int) -> tuple[str, tuple[str, ...]]:
    """Return the last event of a session, and the agents of its latest records."""
    latest = base.execute(
        "SELECT e.word, b.body, r.kind FROM records r JOIN bodies b ON b.record = r.id JOIN words e ON e.id = r.event "
        "WHERE r.session = ? ORDER BY r.id DESC LIMIT ?",
        (session, _LOOKED_AT),
    ).fetchall()
    event = next((event for event, _, kind in latest if kind == FIRING), "")
    return event, tuple(sorted(_agents(body for _, body, _ in latest)))


_AGENT = re.compile(r'"agent_id": ?"([^"\\]*)"')


def _agents(bodies: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for text in bodies:
        # Most name agents that are known by now, and need not be read. In a string, a quotation mark has a backslash.
        named = _AGENT.findall(text)
        if found.issuperset(named) and len(named) == text.count('"agent_id"'):
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
