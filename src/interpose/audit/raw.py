"""Records as they are in a store's chain, for carrying them to another database with everything that verifies them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..records import Record, made_by

__all__ = ["OutboxReader", "RawBatch", "RawProcess", "RawRecord", "open_outbox"]


class RawRecord(Record, kw_only=False):
    """One record: its number in its store, the number of the first record of its process, and what its hash covers."""

    number: int
    process: int
    kind: int
    time: int
    mono: int
    hash: bytes
    body: str


class RawProcess(Record, kw_only=False):
    """A process that wrote records: the number of its first one, and the description that the chain covers."""

    number: int
    uuid: str
    about: str


class RawBatch(Record):
    """Records of one store with consecutive numbers."""

    store: str
    before: bytes
    """The hash of the record before the first one."""
    records: tuple[RawRecord, ...]
    processes: tuple[RawProcess, ...] = ()
    """The processes of these records."""
    configurations: Mapping[str, str] = made_by(factory=dict)
    """The descriptions of configurations that these records name, by their digest."""
    left_out: frozenset[int] = frozenset()
    """Records whose bodies are too large for the servers: their hashes are carried alone."""


class OutboxReader(Protocol):
    """Reads a store in the order of its chain."""

    @property
    def store(self) -> str:
        """The id that the store got when it was created."""

    def bounds(self) -> tuple[int, int]:
        """Return the numbers of the first and the last record; (0, 0) if there is none."""

    def hash_of(self, number: int) -> bytes:
        """Return the hash of a record; empty if it is not there."""

    def batch(self, after: int, *, most: int, characters: int) -> RawBatch | None:
        """Return records behind a number, as many as fit and at least one; None if there is none."""

    def moved_from(self) -> list[str]:
        """Return the paths to which earlier stores of this path were moved."""

    def close(self) -> None:
        """Close the store."""


def open_outbox(path: str) -> OutboxReader:
    """Return a reader of the store at this path; raise NotAStore or StoreUnreadable if there is none."""
    from .sqlite.outbox import open_sqlite_outbox

    return open_sqlite_outbox(path)
