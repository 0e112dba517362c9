"""Retention in SQLite: the oldest records are deleted, and the rest of the chain stays verifiable.

Deleting ends with a retention record. It has the id and the hash of the last record that was deleted, and names the
processes that began before it and are still there: so the chain covers the deletion itself. With an anchor, the anchor
is told first. Records that a fleet does not have yet are kept while there is room for them; the retention record says
how many of them were deleted nevertheless.
"""

from __future__ import annotations

import json
import sqlite3
from hashlib import sha256
from time import monotonic, time
from typing import Any

from ..anchors import AnchorFile
from ..chain import begin, genesis, link
from ..columns import RETENTION
from ..completion import StoreDown
from ..entries import PendingRecord, encode
from ..forwarding import Held, held_records
from ..process_info import WritingProcess
from ..retention import Retention
from .database import Database

__all__ = ["last_deletion", "older_processes", "prune"]

_AT_ONCE = 2000
"""How many records one transaction deletes, so that other processes do not wait long."""

_ROOM = 0.9
"""The part of the allowed size that a store is reduced to, so that not every new record deletes an old one."""


def prune(base: Database, process: WritingProcess, rule: Retention, seconds: float, anchor: AnchorFile | None) -> bool:
    """Delete records that are too old or too many, for a limited time; return whether all of them are deleted."""
    deadline = monotonic() + seconds
    held = held_records(base.store)
    if not base.transact(lambda connection: _range(connection, rule, held)):
        return True
    known = anchor.heads(base.store) if anchor is not None else {}
    while monotonic() < deadline:
        found: int = base.transact(lambda connection: _prune(base, connection, process, rule, held, anchor, known))
        if found:
            base.vacuum()
        if found < _AT_ONCE:
            return True
    return False


def _range(connection: sqlite3.Connection, rule: Retention, held: Held | None) -> tuple[int, int] | None:
    """Return the ids of the first and the last record to delete in one transaction; None if there is none."""
    last = max(_last_by_age(connection, rule.age), _last_by_size(connection, rule.size))
    if held is not None and last > held.upto:  # a fleet does not have these yet
        last = max(held.upto, min(last, _last_by_size(connection, held.limit)))
    first: int | None = connection.execute("SELECT min(id) FROM records").fetchone()[0]
    return None if first is None or last < first else (first, min(last, first + _AT_ONCE - 1))


def _prune(
    base: Database, connection: sqlite3.Connection, process: WritingProcess, rule: Retention, held: Held | None,
    anchor: AnchorFile | None, known: dict[int, str],
) -> int:  # fmt: skip
    found = _range(connection, rule, held)
    if found is None:
        return 0
    first, last = found
    hashes = _checked_hashes(connection, first, last)
    if not hashes or any(known.get(number, one.hex()) != one.hex() for number, one in hashes.items()):
        raise StoreDown(f"records up to {last} were changed, and retention does not delete them", where=base.path)
    digest = hashes[last]
    if anchor is not None and not anchor.write_pruning(base.store, last, digest):
        return 0  # a deletion that the anchor does not know would look like a forgery
    count: int = connection.execute("SELECT count(*) FROM records WHERE id <= ?", (last,)).fetchone()[0]
    connection.execute("DELETE FROM runs WHERE hook IN (SELECT id FROM hooks) AND record <= ?", (last,))
    for table, column in (
        ("permissions", "record"),
        ("questions", "record"),
        ("bodies", "record"),
        ("records", "id"),
        ("processes", "last"),
    ):
        connection.execute(f"DELETE FROM {table} WHERE {column} <= ?", (last,))  # noqa: S608 - our own names
    note: dict[str, Any] = {
        "records": count,
        "upto": last,
        "hash": digest.hex(),
        "processes": older_processes(connection, last),
    }
    if held is not None and last > held.upto:
        note["unforwarded"] = last - max(held.upto, first - 1)
    base.insert(connection, process, [PendingRecord(encode(note), kind=RETENTION)])
    return count


def _checked_hashes(connection: sqlite3.Connection, first: int, last: int) -> dict[int, bytes]:
    """Return the hashes of records that are about to be deleted; empty if their chain, or its next link, is broken.

    A record whose time was set back would otherwise be deleted in the name of retention.
    """
    rows = connection.execute(
        "SELECT r.id, r.process, r.kind, r.time, r.mono, r.hash, b.body, p.uuid, p.about FROM records r "
        "JOIN bodies b ON b.record = r.id LEFT JOIN processes p ON p.id = r.id "
        "WHERE r.id BETWEEN ? AND ? ORDER BY r.id",
        (first, last + 1),
    )
    before = _hash_before(connection, first)
    hashes: dict[int, bytes] = {}
    for expected, (number, process, kind, at, mono, digest, body, uuid, about) in enumerate(rows, first):
        if uuid is not None:
            before = begin(before, uuid, about)
        data = body.encode("utf-8", "surrogateescape")
        if number != expected or link(before, number, process, kind, at, mono, data) != digest:
            return {}
        before = hashes[number] = digest
    return hashes if last in hashes else {}


def _hash_before(connection: sqlite3.Connection, first: int) -> bytes:
    if first == 1:
        return genesis(connection.execute("SELECT value FROM meta WHERE name = 'store'").fetchone()[0])
    deleted = last_deletion(connection)
    return bytes.fromhex(str(deleted.get("hash", ""))) if deleted.get("upto") == first - 1 else b""


def older_processes(connection: sqlite3.Connection, upto: int) -> list[list[Any]]:
    """Return the processes of which the first record was deleted: id, uuid, and the hash of the description."""
    rows = connection.execute("SELECT id, uuid, about FROM processes WHERE id <= ? ORDER BY id", (upto,))
    return [
        [number, uuid, sha256(about.encode("utf-8", "surrogateescape")).hexdigest()] for number, uuid, about in rows
    ]


def last_deletion(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return the last retention record; empty if there is none."""
    row = connection.execute(
        "SELECT b.body FROM records r JOIN bodies b ON b.record = r.id WHERE r.kind = ? ORDER BY r.id DESC LIMIT 1",
        (RETENTION,),
    ).fetchone()
    found = json.loads(row[0]) if row is not None else {}
    return found if isinstance(found, dict) else {}


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
