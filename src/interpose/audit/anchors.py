"""Anchors: a second file that knows what a store must have.

A line says one of three things. A process begins to write: written before its first record. The store has a record
with this id and hash. Retention is about to delete the records up to this id: written before it does. A store that
lacks what the file knows, or has a process or a deletion that the file does not know, was changed.

A line is one write, so that several processes and stores can share the file; a line that a crash cut short is skipped.
With a key each line is sealed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from time import monotonic, time
from typing import Any

from ..records import Record
from .chain import seal
from .private_files import appendable, places_of

__all__ = ["AnchorFile", "AnchorLine", "read_anchors"]

EVERY_RECORDS = 1000
EVERY_SECONDS = 5.0


class AnchorLine(Record):
    """One line of the file."""

    number: int
    store: str
    places: tuple[str, ...]
    """The path of the store as it is named, and with links resolved."""
    time: float
    sealed: bool
    """Whether its seal is right; True without a key."""
    begins: str = ""
    """The uuid of a process that begins to write."""
    record: int = 0
    """The id of a record, whose hash is ``hash``."""
    prunes: int = 0
    """The id of the last record that retention deletes, whose hash is ``hash``."""
    hash: str = ""


class AnchorFile:
    """Appends lines about one store to the file. A failure is kept in ``problem``; the next call tries again."""

    def __init__(self, path: str, store_path: str, key: bytes | None) -> None:
        self.path = path
        self._places = places_of(store_path)
        self._key = key
        self._begun = ""
        self._record: int | None = None
        self._at = 0.0
        self.problem = ""
        """Why the last line could not be written; empty if it could."""

    def begin(self, store: str, uuid: str) -> None:
        """Append once that a process begins to write to a store."""
        if self._begun != uuid and self._write(store, begins=uuid):
            self._begun, self._record, self._at = uuid, None, monotonic()

    def is_due(self, record: int) -> bool:
        """Say whether it is time for a line about the last record of this process."""
        if self._record is None:
            self._record = record - 1  # the first records of a process count as one
        new = record - self._record
        return new > 0 and (new >= EVERY_RECORDS or monotonic() - self._at >= EVERY_SECONDS or bool(self.problem))

    def write_head(self, store: str, record: int, hash: bytes) -> None:
        """Append that a store has a record."""
        if self._write(store, record=record, hash=hash.hex()):
            self._record, self._at = record, monotonic()

    def heads(self, store: str) -> dict[int, str]:
        """Return the hashes of the records of a store that the file knows, by their ids."""
        try:
            lines = read_anchors(self.path, self._key)
            return {one.record: one.hash for one in lines if isinstance(one, AnchorLine) and one.store == store}
        except OSError:
            return {}  # `write_pruning` fails too, and says why

    def write_pruning(self, store: str, upto: int, hash: bytes) -> bool:
        """Append that records are about to be deleted; return whether that was written."""
        return self._write(store, prunes=upto, hash=hash.hex())

    def _write(self, store: str, **parts: Any) -> bool:
        body = json.dumps({"store": store, "places": self._places, "time": time(), **parts})
        mac = seal(self._key, "anchor", body)
        line = body if mac is None else f'{body[:-1]}, "mac": "{mac.hex()}"}}'
        try:
            _append(self.path, line)
        except Exception as error:
            self.problem = f"the anchor cannot be written: {error}"
            return False
        self.problem = ""
        return True


def _append(path: str, line: str) -> None:
    descriptor = appendable(path)
    try:
        # A line that a crash cut short must not be joined with this one.
        incomplete = os.fstat(descriptor).st_size and not _ends_a_line(path)
        data = f"{chr(10) if incomplete else ''}{line}\n".encode()
        if os.write(descriptor, data) != len(data):
            raise OSError("only a part of a line could be written")
    finally:
        os.close(descriptor)


def _ends_a_line(path: str) -> bool:
    with open(path, "rb") as opened:
        opened.seek(-1, os.SEEK_END)
        return opened.read(1) == b"\n"


def read_anchors(path: str, key: bytes | None) -> Iterator[AnchorLine | tuple[int, bool]]:
    """Yield every line; for a line that cannot be read, its number and whether it may have been cut short."""
    with open(path, "rb") as opened:
        for number, line in enumerate(opened, 1):
            text = line.strip()
            if not text:
                continue
            try:
                yield _line_of(number, text.decode(), key)
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                yield number, not text.endswith(b"}")


def _line_of(number: int, text: str, key: bytes | None) -> AnchorLine:
    found: dict[str, Any] = json.loads(text)
    body, _, mac = text.rpartition(', "mac": "')
    made = seal(key, "anchor", f"{body}}}")
    return AnchorLine(
        number=number, store=str(found["store"]), places=tuple(map(str, found.get("places", ()))),
        time=float(found["time"]),
        sealed=made is None or mac == f'{made.hex()}"}}', begins=str(found.get("begins", "")),
        record=int(found.get("record", 0)), prunes=int(found.get("prunes", 0)), hash=str(found.get("hash", "")),
    )  # fmt: skip
