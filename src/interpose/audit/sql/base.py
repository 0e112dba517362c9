"""A database of records as the queries see it: what differs between SQLite and PostgreSQL has a name here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

__all__ = ["Base", "Rows", "nanoseconds"]

_FARTHEST = 9e9


def nanoseconds(seconds: float) -> int:
    """Return a moment as it is in a store; one that is too far away is the last that fits."""
    return int(max(-_FARTHEST, min(_FARTHEST, seconds)) * 1e9)


class Rows(Protocol):
    """The rows of a query."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the remaining rows."""


class Base(Protocol):
    """A connection that runs queries; ``?`` stands for a value in all of them."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What it raises if the database cannot be read."""

    @property
    def body(self) -> str:
        """SQL that joins the body of a record ``r`` as ``b.body``."""

    @property
    def node(self) -> str:
        """SQL for the node whose record ``r`` is; empty text in a store of one machine."""

    @property
    def has_nodes(self) -> bool:
        """Whether records come from several nodes."""

    @property
    def like(self) -> str:
        """The operator that compares a text with a pattern, in any case of letters."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Rows:
        """Run a query."""

    def first_since(self, since: float | None) -> int:
        """Return an id before which no record is as late as ``since``; 0 if there is no record."""

    def last_id(self) -> int:
        """Return the id of the newest record; 0 if there is none."""

    def change(self) -> object:
        """Return a value that is another one after something was written; raise StoreReplaced if the store is gone."""

    def close(self) -> None:
        """Close the connection."""
