"""What pages show of a store of any size: sums, and recent sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from ...runtime.regex import regex
from ..columns import DECISIONS, FIRING
from ..protocol import SessionOverview, Totals
from .base import Base, nanoseconds

__all__ = ["recent_sessions", "session_overviews", "totals"]

_LOOKED_AT = 8
"""How many of the latest records of a session are read to find its agents."""
_NO_WORD = -1
"""The id of no word: a list of ids must not be empty."""
_SCANNED = 20_000
"""How many of the latest records are looked at to find the latest sessions, before all sessions are looked at."""
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


def recent_sessions(base: Base, since: float | None, limit: int, before: int | None) -> list[SessionOverview]:
    """Return the sessions that were active most recently; with ``before``, those whose last record is older."""
    low, high = base.first_since(since), before if before is not None else 1 << 62
    found = _of_latest_records(base, low, high, limit)
    if found is None:
        # For each word that is a session, its last record is one lookup in the index.
        found = base.execute(
            "SELECT word, last FROM (SELECT w.id AS word, (SELECT r.id FROM records r WHERE r.session = w.id "
            "ORDER BY r.id DESC LIMIT 1) AS last FROM words w WHERE w.word <> '') found "
            "WHERE last >= ? AND last < ? ORDER BY last DESC LIMIT ?",
            (low, high, limit),
        ).fetchall()
    return session_overviews(base, [session for session, _ in found])


def _of_latest_records(base: Base, low: int, high: int, limit: int) -> list[tuple[int, int]] | None:
    """Return the sessions of the latest records, each with its last record; None if too many are of few sessions."""
    newest = base.execute("SELECT max(id) FROM records WHERE id < ?", (high,)).fetchone()[0] or 0
    floor, at, found = max(low, newest - _SCANNED), high, list[tuple[int, int]]()
    seen = [_NO_WORD, *(session for (session,) in base.execute("SELECT id FROM words WHERE word = ''"))]
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


def session_overviews(base: Base, sessions: Sequence[int]) -> list[SessionOverview]:
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
    if not counts:
        return []
    # The condition on `what` is that of the index.
    failures = dict(base.execute(
        "SELECT session, count(*) FROM runs WHERE what & 3 IN (1, 2) "  # noqa: S608 - numbers
        f"AND session IN ({some}) GROUP BY session"
    ).fetchall())  # fmt: skip
    ends = ", ".join(str(record) for _, first, last, *_ in counts for record in (first, last))
    times = dict(base.execute(f"SELECT id, time FROM records WHERE id IN ({ends})").fetchall())  # noqa: S608 - numbers
    found: dict[int, SessionOverview] = {}
    for session, first, last, firings, asks, denies, took in counts:
        (word,) = base.execute("SELECT word FROM words WHERE id = ?", (session,)).fetchone()
        event, agents = _latest_of(base, session)
        found[session] = SessionOverview(
            id=word, first=times[first] / 1e9, last=times[last] / 1e9, last_record=last, last_event=event,
            ended=event == "SessionEnd", firings=firings, asks=asks, denies=denies, failures=failures.get(session, 0),
            took=float(took) / 1e6, agents=agents,
        )  # fmt: skip
    return [found[session] for session in sessions if session in found]


def _latest_of(base: Base, session: int) -> tuple[str, tuple[str, ...]]:
    """Return the last event of a session, and the agents of its latest records."""
    latest = base.execute(
        f"SELECT e.word, b.body, r.kind FROM records r {base.body} JOIN words e ON e.id = r.event "  # noqa: S608 - our own names
        "WHERE r.session = ? ORDER BY r.id DESC LIMIT ?",
        (session, _LOOKED_AT),
    ).fetchall()
    event = next((event for event, _, kind in latest if kind == FIRING), "")
    return event, tuple(sorted(_agents(body for _, body, _ in latest)))


_AGENT = regex(r'"agent_id": ?"([^"\\]*)"')


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
