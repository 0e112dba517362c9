"""Partitions by day: made before they are needed, and dropped whole when they are too old."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from ...records import Record
from .schema import PARTITIONED

__all__ = ["DroppedDay", "create_partitions", "day_of", "drop_partitions", "shown_day"]

_DAY = 86_400
_AHEAD = 3
"""How many days have partitions before they begin."""
_EPOCH = date(1970, 1, 1)


class DroppedDay(Record):
    """A day whose records were dropped."""

    day: int
    records: int


def day_of(seconds: float) -> int:
    """Return the day of a moment, in UTC, as days since 1970."""
    return int(seconds // _DAY)


def shown_day(day: int) -> str:
    """Return a day as a date."""
    return (_EPOCH + timedelta(days=day)).isoformat()


def _name(table: str, day: int) -> str:
    return f"{table}_{datetime.fromtimestamp(day * _DAY, UTC):%Y%m%d}"


def create_partitions(connection: Any, today: int) -> None:
    """Create the partitions of today and of the next days, within a transaction."""
    for day in range(today, today + _AHEAD):
        for table in PARTITIONED:
            name = _name(table, day)
            if connection.execute("SELECT to_regclass(%s)", (f"interpose.{name}",)).fetchone()[0] is None:
                connection.execute(f"CREATE TABLE {name} PARTITION OF {table} FOR VALUES IN ({day})")


def drop_partitions(connection: Any, before: int) -> list[DroppedDay]:
    """Drop the records of all days before one, and write down which they were, within a transaction.

    Returns the days that had records.
    """
    rows = connection.execute(
        "SELECT DISTINCT substring(c.relname FROM 9)::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
        "WHERE i.inhparent = 'interpose.records'::regclass ORDER BY 1"
    ).fetchall()
    days = [day for (text,) in rows if (day := _read_day(text)) is not None and day < before]
    return [dropped for dropped in (_drop(connection, day) for day in days) if dropped.records]


def _read_day(text: str) -> int | None:
    try:
        return (date.fromisoformat(text) - _EPOCH).days
    except ValueError:  # a partition that was made by hand
        return None


def _drop(connection: Any, day: int) -> DroppedDay:
    records = _name("records", day)
    # Records with consecutive numbers have the same difference to their place.
    dropped = connection.execute(
        "WITH placed AS (SELECT store, number, number - row_number() OVER (PARTITION BY store ORDER BY number) AS part "  # noqa: S608 - our own names
        f"FROM {records}), parts AS (SELECT store, min(number) AS first, max(number) AS last FROM placed "
        "GROUP BY store, part) INSERT INTO dropped (day, store, first, last, hash) "
        f"SELECT %s, p.store, p.first, p.last, r.hash FROM parts p JOIN {records} r ON r.store = p.store "
        "AND r.number = p.last RETURNING last - first + 1",
        (day,),
    ).fetchall()
    last = connection.execute(f"SELECT max(id) FROM {records}").fetchone()[0] or 0  # noqa: S608 - our own names
    connection.execute("DELETE FROM questions WHERE record <= %s OR answer <= %s", (last, last))
    connection.execute("DELETE FROM batches WHERE last <= %s", (last,))
    connection.execute("UPDATE progress SET dropped = greatest(dropped, %s)", (last,))
    for table in PARTITIONED:
        connection.execute(f"DROP TABLE IF EXISTS {_name(table, day)}")
    return DroppedDay(day=day, records=sum(count for (count,) in dropped))
