"""The SQLite database of a store for its writer: opening it, and inserting records in batches.

All processes append to one chain. SQLite lets one of them write at a time: a transaction reads the head, goes on from
there, and writes the new head with its seal. A process knows the last record that it committed. If that is gone, or
there are later ones in its name, it first writes a record that says so, and verification reports it.

A batch is a few statements of many rows each. SQLite releases the GIL while it runs a statement; with one statement per
row the writer would compete for the GIL for every row.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import chain as chained
from time import time
from typing import Any

from ..chain import begin, genesis, link, seal_head
from ..columns import ALTERED, ANSWER, PERMISSION, QUESTION, UNSEALED
from ..completion import StoreDown
from ..entries import PendingRecord, encode
from ..known_stores import note_store
from ..process_info import WritingProcess
from . import files
from .checksum import remove_checksum
from .question_rows import add_rows, writable
from .schema import APPLICATION, FORMAT, INDEXES, SCHEMA

__all__ = ["Database", "OutdatedStore", "add_indexes", "is_damage"]

BUSY = 2.0
"""Seconds to wait for another process that is writing."""

_ROWS = (256, 32, 4, 1)
"""How many rows a statement inserts; each is compiled once."""

_HEADER = 100
"""The size of a database header in bytes."""

_WAL_LIMIT = 64 * 1024 * 1024


def is_damage(error: BaseException) -> bool:
    """Say whether an error means that the database file is damaged."""
    damage = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    code = getattr(error, "sqlite_errorcode", 0) or 0
    return isinstance(error, sqlite3.DatabaseError) and code & 0xFF in damage


def add_indexes(path: str) -> None:
    """Add the indexes that a store of an earlier version lacks; a store that cannot be written stays as it is."""
    if not os.path.isfile(path) or not files.is_ours(path):
        return
    base = sqlite3.connect(path, timeout=BUSY, isolation_level=None)
    try:
        if base.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()[0] == str(FORMAT):
            base.executescript(INDEXES)
    except sqlite3.Error:
        return
    finally:
        base.close()


class OutdatedStore(StoreDown):
    """The store has an earlier format, which is not written any more."""

    code = "audit_outdated"


class Database:
    """One connection to a store. Every exception that it raises means that the store is down."""

    def __init__(self, path: str, *, durable: bool, key: bytes | None) -> None:
        self.path = path
        self._key = key
        # The row ids of words and hooks.
        self._words: dict[str, int] = {}
        self._hooks: dict[tuple[str, str], int] = {}
        self._described: set[str] = set()
        files.prepare(path)
        with files.locked(path):
            # Under the lock: another process may be creating it.
            if os.path.getsize(path) and not files.is_ours(path):
                hint = "it is not changed; name another path"
                raise StoreDown("is a file, but not an audit store", where=path, hint=hint)
            remove_checksum(path)
            self.identity = files.identity(path)
            self._base = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
            try:
                self._set_up(durable)
            except BaseException:
                self._base.close()
                raise
        if files.identity(path) != self.identity:
            self._base.close()
            raise StoreDown("was replaced while it was being opened", where=path)

    def _set_up(self, durable: bool) -> None:
        run = self._base.execute
        new = not run("SELECT count(*) FROM sqlite_master WHERE name = 'meta'").fetchone()[0]
        if new:
            run("PRAGMA auto_vacuum = INCREMENTAL")
            run(f"PRAGMA application_id = {APPLICATION}")
        run("PRAGMA journal_mode = WAL")
        run(f"PRAGMA journal_size_limit = {_WAL_LIMIT}")
        self.set_durable(durable)
        if new:
            self._create()
        version = int(run("SELECT value FROM meta WHERE name = 'format'").fetchone()[0])
        if version > FORMAT:
            raise StoreDown("was written by a later version", where=self.path, hint="name another path")
        if version < FORMAT:
            raise OutdatedStore(f"has format {version}, which is not written any more", where=self.path)
        self.store: str = run("SELECT value FROM meta WHERE name = 'store'").fetchone()[0]

    def _create(self) -> None:
        from ...ids import new_id

        run, store = self._base.execute, new_id()
        self._base.executescript(f"BEGIN IMMEDIATE; {SCHEMA}{INDEXES}")
        run("INSERT INTO meta VALUES ('format', ?), ('store', ?)", (str(FORMAT), store))
        run("INSERT INTO words (word) VALUES ('')")
        first = genesis(store)
        run("INSERT INTO head VALUES (1, 0, ?, ?)", (first, seal_head(self._key, store, 0, first)))
        run("COMMIT")
        note_store(self.path, store, time())

    def set_durable(self, durable: bool) -> None:
        """Set whether every commit waits for the disk."""
        self._base.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")

    def is_in_place(self) -> bool:
        """Say whether the open file is still the one at its path, and not empty."""
        return files.identity(self.path) == self.identity and os.path.getsize(self.path) >= _HEADER

    def close(self) -> None:
        """Close the connection; SQLite writes its log into the file."""
        self._forget_ids()
        try:
            self._base.close()
        except sqlite3.Error:
            return

    # Writing.

    def transact(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """Call a function in one transaction, which is rolled back if the function raises."""
        try:
            self._base.execute("BEGIN IMMEDIATE")
            done = work(self._base)
            self._base.execute("COMMIT")
        except BaseException:
            self._forget_ids()  # rows that were inserted in this transaction do not exist
            if self._base.in_transaction:
                try:
                    self._base.execute("ROLLBACK")
                except sqlite3.Error:
                    pass
            raise
        return done

    def append(self, process: WritingProcess, entries: Sequence[PendingRecord]) -> None:
        """Add records of a process to the chain, in a transaction of their own."""
        self.transact(lambda base: self.insert(base, process, entries))

    def vacuum(self) -> None:
        """Return up to 2000 free pages to the file system."""
        self._base.execute("PRAGMA incremental_vacuum(2000)").fetchall()

    def insert(self, base: sqlite3.Connection, process: WritingProcess, entries: Sequence[PendingRecord]) -> None:
        """Add records of a process to the chain, within a transaction."""
        asked = any(entry.kind in (QUESTION, ANSWER) for entry in entries)
        if asked:
            entries = writable(base, entries, self._key, self.store)
        if not entries:
            return
        last, digest, sealed = self._head(base)
        if altered := self._altered(base, process, last):
            entries = [PendingRecord(encode({"why": altered}), kind=ALTERED), *entries]
        if not sealed:
            # Going on in silence would put this key's seal on records that were written without it.
            entries = [PendingRecord(encode({"upto": last}), kind=UNSEALED), *entries]
        if not self._is_known(base, process):
            process.id = last + 1
            digest = begin(digest, process.uuid, process.about)
        records, bodies, runs, permissions = list[Any](), list[Any](), list[Any](), list[Any]()
        words, hooks, writer = self._words, self._hooks, process.id
        for number, entry in enumerate(entries, last + 1):
            event, session, subject, decision, us, ran = entry.columns
            text, kind, at, mono = entry.text, entry.kind, entry.time, entry.mono
            digest = link(digest, number, writer, kind, at, mono, text.encode("ascii"))
            of_session = words.get(session) or self._word(base, session)
            records.append((number, writer, kind, at, mono, words.get(event) or self._word(base, event),
                            of_session, subject, decision, us, digest))  # fmt: skip
            bodies.append((number, text))
            for place, (name, what, took) in enumerate(ran):
                hook = hooks.get((event, name)) or self._hook(base, event, name)
                runs.append((hook, number, place, what, took, of_session))
            if kind == PERMISSION:
                permissions.append((number, entry.call))
        process.record, process.hash = last + len(entries), digest
        for table, rows in (("records", records), ("bodies", bodies), ("runs", runs), ("permissions", permissions)):
            for statement, values in _inserts(table, rows):
                base.execute(statement, values)
        if asked:
            add_rows(base, enumerate(entries, last + 1))
        self._set_head(base, process)

    def _head(self, base: sqlite3.Connection) -> tuple[int, bytes, bool]:
        """Return the id and the hash of the last record, and whether they are sealed as this process seals them."""
        record, digest, mac, highest = base.execute(_HEAD).fetchone()
        if not isinstance(record, int) or not isinstance(digest, bytes):  # it was deleted or changed
            return highest or 0, genesis(self.store), False
        sealed = self._key is None or mac == seal_head(self._key, self.store, record, digest)
        # Where the head was changed, records go on behind those that are there, and verification finds the break.
        return max(record, highest or 0), digest, sealed

    @staticmethod
    def _altered(base: sqlite3.Connection, process: WritingProcess, last: int) -> str:
        """Return what was done to the records of this process behind its back; empty if nothing was."""
        if not process.id:
            return ""
        digest, forged, first = base.execute(_OWN, (process.record, process.record, process.id)).fetchone()
        # Retention deletes from the beginning, within this transaction maybe all. A forged deletion breaks the chain.
        if digest != process.hash and (digest is not None or process.record >= (first or last + 1)):
            return f"record {process.record} of this process was removed or replaced"
        return f"record {forged} has the name of this process, which did not write it" if forged is not None else ""

    @staticmethod
    def _is_known(base: sqlite3.Connection, process: WritingProcess) -> bool:
        """Say whether a process has a row: it has none before its first record, and after its last one was deleted."""
        query = "SELECT 1 FROM processes WHERE id = ? AND uuid = ?"
        return bool(process.id) and base.execute(query, (process.id, process.uuid)).fetchone() is not None

    def _set_head(self, base: sqlite3.Connection, process: WritingProcess) -> None:
        record, digest = process.record, process.hash
        base.execute(
            "INSERT INTO processes VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET last = excluded.last",
            (process.id, record, process.uuid, process.about),
        )
        mac = seal_head(self._key, self.store, record, digest)
        base.execute("INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?)", (record, digest, mac))

    def has(self, record: int, digest: bytes) -> bool:
        """Say whether the store has a record with this hash."""
        row = self._base.execute("SELECT hash FROM records WHERE id = ?", (record,)).fetchone()
        return row is not None and bytes(row[0]) == digest

    def add_configuration(self, digest: str, body: str) -> None:
        """Insert the description of a configuration, once."""
        if digest not in self._described:
            self.transact(
                lambda base: base.execute("INSERT OR IGNORE INTO configurations VALUES (?, ?)", (digest, body))
            )
            self._described.add(digest)

    def _word(self, base: sqlite3.Connection, word: str) -> int:
        if len(self._words) > _MAX_CACHED:
            self._words.clear()
        found = self._words[word] = _row_id(base, (word,), "words", "word")
        return found

    def _hook(self, base: sqlite3.Connection, event: str, name: str) -> int:
        if len(self._hooks) > _MAX_CACHED:
            self._hooks.clear()
        found = self._hooks[event, name] = _row_id(base, (event, name), "hooks", "event, name")
        return found

    def _forget_ids(self) -> None:
        self._words.clear()
        self._hooks.clear()
        self._described.clear()


def _row_id(base: sqlite3.Connection, key: tuple[str, ...], table: str, columns: str) -> int:
    """Return the row id of a word or a hook, which another process may have inserted already."""
    marks = ", ".join("?" * len(key))
    base.execute(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", key)  # noqa: S608 - our own names
    row = base.execute(f"SELECT id FROM {table} WHERE ({columns}) = ({marks})", key).fetchone()  # noqa: S608
    return int(row[0])


_MAX_CACHED = 50_000

_HEAD = "SELECT record, hash, mac, (SELECT max(id) FROM records) FROM (SELECT 1) LEFT JOIN head"
"""One row, also if the head was deleted."""

_OWN = (
    "SELECT (SELECT hash FROM records WHERE id = ?), (SELECT min(id) FROM records WHERE id > ? AND process = ?), "
    "(SELECT min(id) FROM records)"
)
"""The hash of the last record of a process, the first later one in its name, and the first one in the store."""


def _inserts(table: str, rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, list[Any]]]:
    """Divide rows among as few statements as possible, of a few fixed sizes."""
    at = 0
    for count in _ROWS:
        while len(rows) - at >= count:
            marks = f"({', '.join('?' * len(rows[0]))})"
            yield (
                f"INSERT INTO {table} VALUES {', '.join([marks] * count)}",  # noqa: S608 - our own names
                list(chained.from_iterable(rows[at : at + count])),
            )
            at += count
