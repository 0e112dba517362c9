"""Reading a store in SQLite record by record, with everything that its chain covers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...runtime.regex import regex
from ..chain import genesis
from ..protocol import NotAStore, StoreUnreadable
from ..raw import RawBatch, RawProcess, RawRecord
from .pruning import last_deletion
from .reader import SqliteReader, open_sqlite
from .schema import FORMAT

__all__ = ["SqliteOutbox", "open_sqlite_outbox"]

_MARKS = 500
"""How many values one query names."""


def open_sqlite_outbox(path: str) -> SqliteOutbox:
    """Return a reader of the store at this path; raise NotAStore if there is none of this format."""
    reader = open_sqlite(path)
    if reader.format < FORMAT:
        reader.close()
        raise NotAStore(f"has format {reader.format}, which has no single chain", where=path)
    try:
        return SqliteOutbox(reader)
    except BaseException:
        reader.close()
        raise


class SqliteOutbox:
    """One open store. Values that were changed to another type are a StoreUnreadable."""

    def __init__(self, reader: SqliteReader) -> None:
        self._reader = reader
        self._base = reader.base
        self._base.text_factory = _text
        self.store = reader.store_id()
        self._described: set[str] = set()
        """Configurations that a batch had already."""

    def close(self) -> None:
        """Close the store."""
        self._reader.close()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, TypeError, ValueError, AttributeError) as error:
            raise StoreUnreadable(f"the store cannot be read: {error}", where=self._reader.path,
                                  hint="`interpose log verify` finds the damage") from error  # fmt: skip

    def bounds(self) -> tuple[int, int]:
        """Return the numbers of the first and the last record; (0, 0) if there is none."""
        with self._readable():
            query = "SELECT (SELECT min(id) FROM records), (SELECT max(id) FROM records)"
            first, last = self._base.execute(query).fetchone()
        return first or 0, last or 0

    def hash_of(self, number: int) -> bytes:
        """Return the hash of a record; empty if it is not there."""
        with self._readable():
            row = self._base.execute("SELECT hash FROM records WHERE id = ?", (number,)).fetchone()
            return bytes(row[0]) if row is not None else b""

    def moved_from(self) -> list[str]:
        """Return the paths to which earlier stores of this path were moved."""
        return [str(gap.get("moved", "")) for gap in self._reader.gaps() if gap["kind"] == "moved"]

    def batch(self, after: int, *, most: int, characters: int) -> RawBatch | None:
        """Return records behind a number, with consecutive numbers, as many as fit and at least one."""
        with self._readable():
            self._base.execute("BEGIN")  # the records and their processes as they were at one moment
            try:
                records = tuple(self._records(after, most, characters))
                return self._batch(records) if records else None
            finally:
                self._base.execute("ROLLBACK")

    def _records(self, after: int, most: int, characters: int) -> Iterator[RawRecord]:
        rows = self._base.execute(_RECORDS, (after, most))
        room, expected = characters, None
        for number, process, kind, at, mono, digest, body in rows:
            room -= len(body)
            if expected is not None and (room < 0 or number != expected):
                return
            yield RawRecord(number, process, kind, at, mono, bytes(digest), body)
            expected = number + 1

    def _batch(self, records: tuple[RawRecord, ...]) -> RawBatch:
        return RawBatch(
            store=self.store, before=self._before(records[0].number), records=records,
            processes=tuple(self._processes({one.process for one in records})),
            configurations=self._configurations(records),
        )  # fmt: skip

    def _before(self, first: int) -> bytes:
        if first == 1:
            return genesis(self.store)
        if found := self.hash_of(first - 1):
            return found
        deleted = last_deletion(self._base)
        return bytes.fromhex(str(deleted.get("hash", ""))) if deleted.get("upto") == first - 1 else b""

    def _processes(self, numbers: set[int]) -> Iterator[RawProcess]:
        for number, uuid, about in self._named("SELECT id, uuid, about FROM processes WHERE id", sorted(numbers)):
            yield RawProcess(number, uuid, about)

    def _configurations(self, records: Sequence[RawRecord]) -> dict[str, str]:
        named = {digest for one in records for digest in _CONFIGURATION.findall(one.body)} - self._described
        found = dict(self._named("SELECT digest, body FROM configurations WHERE digest", sorted(named)))
        self._described |= found.keys()
        return found

    def _named(self, query: str, values: Sequence[Any]) -> Iterable[Any]:
        for at in range(0, len(values), _MARKS):
            some = values[at : at + _MARKS]
            yield from self._base.execute(f"{query} IN ({', '.join('?' * len(some))})", some)


_CONFIGURATION = regex(r'"config":"([0-9a-f]{16})"')
"""What a body names as its configuration; a field of an input may look the same, and then names none."""


def _text(data: bytes) -> str:
    """Decode a text; one that was changed and is not UTF-8 has to be carried too, to be found there."""
    return data.decode("utf-8", "surrogateescape")


_RECORDS = (
    "SELECT r.id, r.process, r.kind, r.time, r.mono, r.hash, b.body FROM records r "
    "JOIN bodies b ON b.record = r.id WHERE r.id > ? ORDER BY r.id LIMIT ?"
)
