"""The store's SQLite database for its writer: opening it, and inserting records in batches.

A batch is a few statements of many rows each. SQLite releases the GIL while it runs a statement; with one statement per
row the writer would compete for the GIL for every row.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import chain as chained
from typing import Any

from . import files
from .chain import Chain, link, seal
from .checksum import remove_checksum
from .completion import StoreDown
from .entries import Entry
from .schema import APPLICATION, FORMAT, SCHEMA

__all__ = ["Database", "is_damage"]

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
            from ..ids import new_id

            self._base.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
            run("INSERT INTO meta VALUES ('format', ?), ('store', ?)", (str(FORMAT), new_id()))
            run("INSERT INTO words (word) VALUES ('')")
            run("COMMIT")
        version = int(run("SELECT value FROM meta WHERE name = 'format'").fetchone()[0])
        if version > FORMAT:
            raise StoreDown("was written by a later version", where=self.path, hint="name another path")
        self.store: str = run("SELECT value FROM meta WHERE name = 'store'").fetchone()[0]

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

    def append(self, chain: Chain, entries: Sequence[Entry], *, ended: bool = False) -> None:
        """Add records to the chain of a process, in a transaction of their own."""
        self.transact(lambda base: self.insert(base, chain, entries, ended))

    def vacuum(self) -> None:
        """Return up to 2000 free pages to the file system."""
        self._base.execute("PRAGMA incremental_vacuum(2000)").fetchall()

    def insert(self, base: sqlite3.Connection, chain: Chain, entries: Sequence[Entry], ended: bool = False) -> None:
        """Add records within a transaction."""
        if not chain.process:
            row = base.execute("INSERT INTO processes (uuid, about) VALUES (?, ?)", (chain.uuid, chain.about))
            chain.process = row.lastrowid or 0
        first: int = base.execute("SELECT coalesce(max(id), 0) + 1 FROM records").fetchone()[0]
        records, bodies, runs = list[Any](), list[Any](), list[Any]()
        words, hooks = self._words, self._hooks
        uuid, process, seq, digest = chain.uuid.encode(), chain.process, chain.seq, chain.hash
        for number, entry in enumerate(entries, first):
            event, session, subject, decision, us, ran = entry.columns
            text, kind, time, mono = entry.text, entry.kind, entry.time, entry.mono
            seq += 1
            digest = link(digest, uuid, seq, kind, time, mono, text.encode("ascii"))
            of_session = words.get(session) or self._word(base, session)
            records.append((number, process, seq, kind, time, mono, words.get(event) or self._word(base, event),
                            of_session, subject, decision, us, digest))  # fmt: skip
            bodies.append((number, text))
            for place, (name, what, took) in enumerate(ran):
                hook = hooks.get((event, name)) or self._hook(base, event, name)
                runs.append((hook, number, place, what, took, of_session))
        chain.seq, chain.hash = seq, digest
        for table, rows in (("records", records), ("bodies", bodies), ("runs", runs)):
            for statement, values in _inserts(table, rows):
                base.execute(statement, values)
        self._set_head(base, chain, entries[-1].time, ended)

    def _set_head(self, base: sqlite3.Connection, chain: Chain, time: int, ended: bool) -> None:
        mac = seal(self._key, "head", chain.uuid, chain.seq, chain.hash, int(ended))
        base.execute(
            "INSERT INTO heads VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (process) DO UPDATE SET "
            "seq = excluded.seq, hash = excluded.hash, time = excluded.time, ended = excluded.ended, "
            "mac = excluded.mac",
            (chain.process, chain.seq, chain.hash, time, int(ended), mac),
        )

    def head_of(self, chain: Chain) -> tuple[int, bytes] | None:
        """Return the number and the hash of a process's last record from the store."""
        found: tuple[int, bytes] | None = self._base.execute(
            "SELECT seq, hash FROM heads JOIN processes ON id = process WHERE uuid = ?", (chain.uuid,)
        ).fetchone()
        return found

    def process_id_of(self, chain: Chain) -> int:
        """Return the row id of a process in the store; 0 if it has none."""
        row = self._base.execute("SELECT id FROM processes WHERE uuid = ?", (chain.uuid,)).fetchone()
        return 0 if row is None else int(row[0])

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
