"""Opening the record of a fleet in PostgreSQL to read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..places import shown_url
from ..protocol import NotAStore
from ..sql.base import Rows, nanoseconds
from ..sql.reader import SqlReader
from .connection import PostgresUnavailable, connect, without_secrets
from .schema import FORMAT

__all__ = ["PostgresReader", "open_postgres"]

_CLOCKS_DIFFER = 120
"""Seconds by which the clock of a node may be ahead of the collector's."""


def open_postgres(url: str) -> PostgresReader:
    """Return a reader of the record in this database; raise NotAStore if there is none."""
    connection = connect(url, name="interpose")
    base = _PostgresBase(url, connection)
    try:
        connection.execute("SET default_transaction_read_only = on")
        _check_format(connection, shown_url(url))
    except BaseException as error:
        connection.close()
        if isinstance(error, base.errors):
            raise PostgresUnavailable(without_secrets(url, error), where=shown_url(url)) from None
        raise
    return PostgresReader(shown_url(url), base)


def _check_format(connection: Any, place: str) -> None:
    if connection.execute("SELECT to_regclass('interpose.meta')").fetchone()[0] is None:
        raise NotAStore("there is no record of a fleet in this database", where=place,
                        hint="`interpose fleet collect --to URL` writes one")  # fmt: skip
    version = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    if version is None or version[0] != str(FORMAT):
        raise NotAStore("was written by another version", where=place)


class PostgresReader(SqlReader):
    """A reader of what nodes have forwarded. Ids are those of this database; each record has its node."""


class _PostgresBase:
    """The database of a fleet."""

    body = "CROSS JOIN LATERAL (SELECT r.body) b"
    node = "(SELECT node FROM stores WHERE stores.id = r.store)"
    has_nodes = True
    like = "ILIKE"

    def __init__(self, url: str, connection: Any) -> None:
        from psycopg import Error

        self._url = url
        self._base = connection
        self.errors: tuple[type[Exception], ...] = (Error,)

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Rows:
        found: Rows = self._base.execute(query.replace("%", "%%").replace("?", "%s"), [*map(_as_text, values)])
        return found

    def first_since(self, since: float | None) -> int:
        """Find the id by the time of collection: a record was written before it was collected."""
        if since is None:
            row = self._base.execute("SELECT min(first) FROM batches").fetchone()
        else:
            moment = nanoseconds(since - _CLOCKS_DIFFER)
            row = self._base.execute("SELECT min(first) FROM batches WHERE arrived >= %s", (moment,)).fetchone()
        return row[0] if row[0] is not None else self.last_id() + 1 if since is not None else 0

    def last_id(self) -> int:
        found: int = self._base.execute("SELECT last FROM progress").fetchone()[0]
        return found

    def change(self) -> object:
        return self._base.execute("SELECT last, dropped FROM progress").fetchone()

    def close(self) -> None:
        self._base.close()


def _as_text(value: Any) -> Any:
    """Return a value that PostgreSQL takes: no text of a record there has a NUL or a lone surrogate."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
