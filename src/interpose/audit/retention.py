"""Retention: old records are deleted, and the chains stay verifiable.

The oldest records of the store are deleted, so that every chain loses its beginning. A checkpoint keeps the hash that
precedes the first remaining record. A process that has ended and has no record left is deleted completely. The last
retention record contains all checkpoints, so that a chain covers them too.
"""

from __future__ import annotations

import json
import sqlite3
from time import monotonic, time
from typing import Any

from ..records import Record
from .chain import Chain
from .database import Database
from .entries import Entry, encode
from .process_info import is_gone, read

__all__ = ["Retention", "kept_state", "prune", "recorded_state"]

_AT_ONCE = 2000
"""How many records one transaction deletes, so that other processes do not wait long."""

_ROOM = 0.9
"""The part of the allowed size that a store is reduced to, so that not every new record deletes an old one."""


class Retention(Record):
    """How long records are kept, in seconds, and how many bytes a store may have; None means no limit."""

    age: float | None = None
    size: int | None = None


def prune(base: Database, chain: Chain, rule: Retention, seconds: float) -> bool:
    """Delete records that are too old or too many, for a limited time; return whether all of them are deleted."""
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        found: int = base.transact(lambda connection: _prune(base, connection, chain, rule))
        if found:
            base.vacuum()
        if found < _AT_ONCE:
            return True
    return False


def _prune(base: Database, connection: sqlite3.Connection, chain: Chain, rule: Retention) -> int:
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
    """Return the id before the first record that is young enough; clocks are sometimes set back."""
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
    """Delete processes that have no record left and will not write another."""
    rows = connection.execute(
        "SELECT p.id, h.ended, p.about FROM processes p JOIN heads h ON h.process = p.id "
        "JOIN checkpoints c ON c.process = p.id WHERE c.seq = h.seq AND p.id <> ? ORDER BY p.id",
        (ours.process,),
    ).fetchall()
    for process, ended, about in rows:
        if not ended and not is_gone(read(about)):
            continue
        for table, column in (("processes", "id"), ("heads", "process"), ("checkpoints", "process")):
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (process,))  # noqa: S608 - our own names
        before = connection.execute("SELECT first FROM forgotten WHERE last = ?", (process - 1,)).fetchone()
        after = connection.execute("SELECT last FROM forgotten WHERE first = ?", (process + 1,)).fetchone()
        if after is not None:
            connection.execute("DELETE FROM forgotten WHERE first = ?", (process + 1,))
        first = process if before is None else before[0]
        last = process if after is None else after[0]
        connection.execute("INSERT OR REPLACE INTO forgotten VALUES (?, ?)", (first, last))


def kept_state(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return what the store keeps of deleted records: checkpoints, and the numbers of deleted processes."""
    checkpoints = connection.execute("SELECT process, seq, hex(hash) FROM checkpoints ORDER BY process").fetchall()
    forgotten = connection.execute("SELECT first, last FROM forgotten ORDER BY first").fetchall()
    return {"checkpoints": [list(row) for row in checkpoints], "forgotten": [list(row) for row in forgotten]}


def recorded_state(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return the same from the last retention record."""
    row = connection.execute(
        "SELECT b.body FROM records r JOIN bodies b ON b.record = r.id WHERE r.kind = 2 ORDER BY r.id DESC LIMIT 1"
    ).fetchone()
    found = json.loads(row[0]) if row is not None else {}
    return {name: found.get(name, []) for name in ("checkpoints", "forgotten")}
