"""Retention: old records go, and the chains stay verifiable.

What goes are the first records of the store, so that of every chain a whole beginning goes. A checkpoint keeps the hash
that the first record left is chained to. Processes that have ended and have no record left are forgotten as a whole.
The last record about a retention holds all checkpoints: that is how they are part of a chain themselves.
"""

from __future__ import annotations

import json
import sqlite3
from time import monotonic, time
from typing import Any

from ..records import Record
from .about import is_gone, read
from .base import Base, Chain
from .entries import Entry, encode

__all__ = ["Retention", "kept_state", "prune", "recorded_state"]

_AT_ONCE = 2000
"""Records that are deleted in one transaction, so that other processes need not wait long."""

_ROOM = 0.9
"""To what part of the size that is allowed a store is made smaller: not every record should have to delete another."""


class Retention(Record):
    """How long records are kept, in seconds, and how many bytes a store may have; None means no limit."""

    age: float | None = None
    size: int | None = None


def prune(base: Base, chain: Chain, rule: Retention, seconds: float) -> bool:
    """Delete what is too old or too much, for so long at the most; say whether that is all of it."""
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        found: int = base.transact(lambda connection: _prune(base, connection, chain, rule))
        if found:
            base.vacuum()
        if found < _AT_ONCE:
            return True
    return False


def _prune(base: Base, connection: sqlite3.Connection, chain: Chain, rule: Retention) -> int:
    last = max(_last_by_age(connection, rule.age), _last_by_size(connection, rule.size))
    first = connection.execute("SELECT min(id) FROM records").fetchone()[0]
    if first is None or last < first:
        return 0
    last = min(last, first + _AT_ONCE - 1)
    count: int = connection.execute("SELECT count(*) FROM records WHERE id <= ?", (last,)).fetchone()[0]
    connection.execute(
        "INSERT OR REPLACE INTO checkpoints SELECT r.process, r.seq, r.hash FROM records r JOIN "
        "(SELECT process, max(seq) AS seq FROM records WHERE id <= ? GROUP BY process) g "
        "ON g.process = r.process AND g.seq = r.seq",
        (last,),
    )
    connection.execute("DELETE FROM runs WHERE hook IN (SELECT id FROM hooks) AND record <= ?", (last,))
    connection.execute("DELETE FROM bodies WHERE record <= ?", (last,))
    connection.execute("DELETE FROM records WHERE id <= ?", (last,))
    _forget_processes(connection, chain)
    note = {"records": count, "upto": last, **kept_state(connection)}
    base.insert(connection, chain, [Entry(encode(note), kind=2)])
    return count


def _last_by_age(connection: sqlite3.Connection, age: float | None) -> int:
    """Return the last of those records before the first that is young enough: clocks go back at times."""
    if age is None:
        return 0
    oldest = int((time() - age) * 1e9)
    row = connection.execute("SELECT id FROM records WHERE time >= ? ORDER BY id LIMIT 1", (oldest,)).fetchone()
    if row is None:
        row = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM records").fetchone()
    return int(row[0]) - 1


def _last_by_size(connection: sqlite3.Connection, size: int | None) -> int:
    if size is None:
        return 0
    pages, free, page = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    used = (pages - free) * page
    if used <= size:
        return 0
    count = connection.execute("SELECT count(*) FROM records").fetchone()[0]
    too_many = int(count * (1 - _ROOM * size / used))
    row = connection.execute("SELECT id FROM records ORDER BY id LIMIT 1 OFFSET ?", (too_many,)).fetchone()
    return 0 if row is None else int(row[0]) - 1


def _forget_processes(connection: sqlite3.Connection, ours: Chain) -> None:
    """Forget processes that have no record left and will write none."""
    rows = connection.execute(
        "SELECT p.id, h.ended, p.about FROM processes p JOIN heads h ON h.process = p.id "
        "JOIN checkpoints c ON c.process = p.id WHERE c.seq = h.seq AND p.id <> ? ORDER BY p.id",
        (ours.process,),
    ).fetchall()
    for process, ended, about in rows:
        if not ended and not is_gone(read(about)):
            continue
        for table, column in (("processes", "id"), ("heads", "process"), ("checkpoints", "process")):
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (process,))  # noqa: S608 - our own words
        before = connection.execute("SELECT first FROM forgotten WHERE last = ?", (process - 1,)).fetchone()
        after = connection.execute("SELECT last FROM forgotten WHERE first = ?", (process + 1,)).fetchone()
        if after is not None:
            connection.execute("DELETE FROM forgotten WHERE first = ?", (process + 1,))
        first = process if before is None else before[0]
        last = process if after is None else after[0]
        connection.execute("INSERT OR REPLACE INTO forgotten VALUES (?, ?)", (first, last))


def kept_state(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return everything that was left in the place of deleted records."""
    checkpoints = connection.execute("SELECT process, seq, hex(hash) FROM checkpoints ORDER BY process").fetchall()
    forgotten = connection.execute("SELECT first, last FROM forgotten ORDER BY first").fetchall()
    return {"checkpoints": [list(row) for row in checkpoints], "forgotten": [list(row) for row in forgotten]}


def recorded_state(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return the same as the last record about a retention has it."""
    row = connection.execute(
        "SELECT b.body FROM records r JOIN bodies b ON b.record = r.id WHERE r.kind = 2 ORDER BY r.id DESC LIMIT 1"
    ).fetchone()
    found = json.loads(row[0]) if row is not None else {}
    return {name: found.get(name, []) for name in ("checkpoints", "forgotten")}
