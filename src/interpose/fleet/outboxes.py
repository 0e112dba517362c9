"""The stores of this machine as outboxes: which there are, how far each has been forwarded, and what is wrong with it.

Nothing here knows NATS. A store is opened when its files have changed and closed again, so that processes that write
to it find it as if it were not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from time import time
from typing import Any

from ..audit.forwarding import Forwarded, read_progress, write_progress
from ..audit.known_stores import all_known_stores
from ..audit.protocol import NotAStore, StoreUnreadable
from ..audit.raw import OutboxReader, RawBatch, open_outbox
from ..config.audit import default_path
from ..records import replace

__all__ = ["Outbox", "Outboxes"]

_MOST = 200
"""How many stores are forwarded; of more, those that were created last."""

_RECORDS = 250
_CHARACTERS = 256 * 1024
"""What a message has at most; a record that is longer is alone in its message."""


class Outbox:
    """One store: where it is, how far it has been forwarded, and its state."""

    def __init__(self, path: str, store: str, progress: Forwarded) -> None:
        self.path, self.store, self.progress = path, store, progress
        self.last = progress.upto
        self.state, self.text = "current", ""
        self.seen: object = None
        """What its files looked like when all of it had been forwarded."""

    @property
    def lag(self) -> int:
        """How many records wait."""
        return max(0, self.last - self.progress.upto)

    def is_in(self, state: str, text: str = "") -> None:
        """Set the state: ``current``, ``forwarding``, or the name of a problem with a text."""
        self.state, self.text = state, text

    def describe(self) -> dict[str, Any]:
        """Return what the node reports of it."""
        made: dict[str, Any] = {"path": self.path, "last": self.last, "forwarded": self.progress.upto, "lag": self.lag,
                                "state": self.state}  # fmt: skip
        if self.text:
            made["text"] = self.text
        if self.progress.gaps:
            made["gaps"] = [list(gap) for gap in self.progress.gaps]
        if self.progress.changed:
            made["changed"] = self.progress.changed
        return made

    # Reading. These block: they are called in a thread.

    def has_changed(self) -> bool:
        """Say whether its files are others than when all of it had been forwarded."""
        return self.seen is None or self.seen != _look_of(self.path)

    def batches(self, count: int) -> list[RawBatch]:
        """Return the next batches; sets the state if the store was replaced, changed or cannot be read."""
        look = _look_of(self.path)
        try:
            reader = open_outbox(self.path)
        except NotAStore as error:
            where = f"; {self.lag} records were not forwarded" if self.lag else ""
            self.is_in("replaced", f"the store is gone: {error.problem.what}{where}")
            self.seen = look
            return []
        try:
            if reader.store != self.store:
                where = f"; {self.lag} records of the old one were not forwarded" if self.lag else ""
                self.is_in("replaced", f"another store is at its path{where}")
                self.seen = look
                return []
            found = self._read(reader, count)
            if not found:
                self.is_in("current")
                self.seen = look
            return found
        except StoreUnreadable as error:
            self.is_in("unreadable", error.problem.what)
            self.seen = look
            return []
        finally:
            reader.close()

    def _read(self, reader: OutboxReader, count: int) -> list[RawBatch]:
        first, self.last = reader.bounds()
        self._compare(reader, first)
        found: list[RawBatch] = []
        after = self.progress.upto
        while len(found) < count and (batch := reader.batch(after, most=_RECORDS, characters=_CHARACTERS)):
            found.append(batch)
            after = batch.records[-1].number
        return found

    def _compare(self, reader: OutboxReader, first: int) -> None:
        """Note records that were deleted too early; begin again if the last one that was forwarded is another one."""
        done = self.progress
        if done.upto and first > done.upto + 1:
            self.progress = replace(done, upto=first - 1, hash="", gaps=(*done.gaps, (done.upto + 1, first - 1)))
        elif done.upto and first <= done.upto and not _is_there(reader, done):
            # A copy of an earlier day, or a forgery: the collector compares it with what it has.
            self.progress = replace(done, upto=first - 1 if first else 0, hash="", changed=time())

    def acknowledged(self, batch: RawBatch) -> None:
        """Move on: the servers have these records."""
        last = batch.records[-1]
        self.progress = replace(self.progress, upto=last.number, hash=last.hash.hex())


class Outboxes:
    """All stores that this user's processes write to."""

    def __init__(self, named: Iterable[str], limit: int) -> None:
        self._named = list(named)
        self._limit = limit
        self._progress = read_progress() or {}
        self._tried: dict[str, object] = {}
        self.stores: dict[str, Outbox] = {}
        self.problem = ""
        """Why progress cannot be written; records are then sent again later."""

    def look(self) -> None:
        """Find stores that are new, or at other paths than before. Blocks."""
        for one in self.stores.values():
            if one.state == "replaced":
                self._tried.pop(one.path, None)  # the new file may have the number of the old one
        known = [place for one in all_known_stores() for place in one.places[:1]]
        paths = [*self._named, default_path(), *(one.path for one in self._progress.values()), *reversed(known)]
        for path in [one for one in dict.fromkeys(paths) if one][:_MOST]:
            self._open(path)

    def _open(self, path: str) -> None:
        look = _look_of(path)
        if look is None or self._tried.get(path) in (look, look[0]):
            return
        self._tried[path] = look  # a file that is no store is looked at again when it has changed
        try:
            reader = open_outbox(path)
        except (NotAStore, StoreUnreadable):
            return
        try:
            store, moved = reader.store, reader.moved_from()
        except StoreUnreadable:
            return
        finally:
            reader.close()
        self._tried[path] = look[0]
        known = self.stores.get(store)
        if known is None or (known.path != path and known.state == "replaced"):
            progress = replace(self._progress.get(store, Forwarded(path=path)), path=path)
            self.stores[store] = Outbox(path, store, known.progress if known is not None else progress)
        for place in moved:
            self._open(place)  # what was not forwarded of it

    def save(self) -> None:
        """Write how far the stores have been forwarded. Blocks."""
        self._progress |= {store: one.progress for store, one in self.stores.items()}
        try:
            write_progress(self._progress, self._limit)
            self.problem = ""
        except OSError as error:
            self.problem = f"progress cannot be written: {error.strerror or error}; records are sent again later"


def _is_there(reader: OutboxReader, done: Forwarded) -> bool:
    """Say whether a store still has the last record that was forwarded; what was noted of it can be anything."""
    found = reader.hash_of(done.upto) if done.upto <= reader.bounds()[1] else b""
    return bool(found) and found.hex() == done.hash


def _look_of(path: str) -> tuple[Any, ...] | None:
    """Return what changes when something is written to a store: first the identity of the file; None without one."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    try:
        wal = os.stat(f"{path}-wal")
        log = (wal.st_size, wal.st_mtime_ns)
    except OSError:
        log = (0, 0)
    return (found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns, *log
