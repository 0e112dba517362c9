"""Opening a store in SQLite to read it."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Sequence
from typing import Any

from ..protocol import NotAStore, StoreReplaced
from ..sql.base import nanoseconds
from ..sql.reader import SqlReader
from . import files
from .schema import APPLICATION, FORMAT, OLDEST_READABLE

__all__ = ["SqliteReader", "open_sqlite"]

_OUT_OF_ORDER = 120
"""Seconds by which records may be out of order: processes queue them, and the clock may be set."""


def open_sqlite(path: str | os.PathLike[str]) -> SqliteReader:
    """Return a reader of the store at this path; raise NotAStore if there is none."""
    from urllib.parse import quote

    place = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(place).st_mode):
            raise NotAStore("is not a file", where=place, hint="name the store's file")
    except OSError as error:
        raise NotAStore("there is no audit store", where=place,
                        hint="add `audit: {path: …}` to a configuration") from error  # fmt: skip
    identity = files.identity(place)  # before it is opened: what is opened may be another one, which is noticed then
    # A read-only directory: without a WAL file the store can be read as immutable.
    writable = os.access(os.path.dirname(os.path.abspath(place)), os.W_OK)
    how = "mode=ro" if writable or os.path.exists(f"{place}-wal") else "immutable=1"
    try:
        base = sqlite3.connect(
            f"file:{quote(os.path.abspath(place))}?{how}", uri=True, isolation_level=None, timeout=10,
            check_same_thread=False,
        )  # fmt: skip
        try:
            ours = base.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
            version = int(base.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()[0]) if ours else 0
        except BaseException:
            base.close()
            raise
    except (sqlite3.Error, TypeError, ValueError) as error:
        raise NotAStore(f"cannot be read as an audit store: {error}", where=place) from error
    if not OLDEST_READABLE <= version <= FORMAT:
        base.close()
        why = "was written by a later version" if version else "is another program's database"
        raise NotAStore(why, where=place)
    return SqliteReader(place, base, version, identity)


class SqliteReader(SqlReader):
    """A reader of a store in SQLite; ``base`` is its connection."""

    def __init__(
        self, path: str, base: sqlite3.Connection, format: int, identity: files.Identity | None = None
    ) -> None:
        super().__init__(path, _SqliteBase(path, base, identity), has_permissions=format >= 2)
        self.base = base
        self.format = format


class _SqliteBase:
    """The database of one machine."""

    errors: tuple[type[Exception], ...] = (sqlite3.Error,)
    body = "JOIN bodies b ON b.record = r.id"
    node = "''"
    has_nodes = False
    like = "LIKE"

    def __init__(self, path: str, base: sqlite3.Connection, identity: files.Identity | None) -> None:
        self._path, self._base, self._identity = path, base, identity

    def execute(self, query: str, values: Sequence[Any] = (), /) -> sqlite3.Cursor:
        return self._base.execute(query, values)

    def first_since(self, since: float | None) -> int:
        """Find the id by bisection, as records are in order."""
        base = self._base
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

    def last_id(self) -> int:
        return self._base.execute("SELECT max(id) FROM records").fetchone()[0] or 0

    def change(self) -> object:
        if self._identity is None or files.identity(self._path) != self._identity:
            raise StoreReplaced("the store was removed or replaced", where=self._path)
        return self._base.execute("PRAGMA data_version").fetchone()[0]

    def close(self) -> None:
        self._base.close()
