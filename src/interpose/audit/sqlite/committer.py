"""Commits batches of records to SQLite: redact, append to the chain, anchor, prune. Used by one thread."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from time import monotonic

from ...errors import InterposeError
from ...ids import new_id
from ...redaction import Redactor
from ..anchors import AnchorFile
from ..chain import key_name
from ..columns import END, MOVED
from ..completion import StoreDown
from ..entries import PendingRecord, encode
from ..process_info import WritingProcess, describe
from ..protocol import StoreOptions
from . import files
from .checksum import write_checksum
from .database import Database, OutdatedStore, is_damage
from .pruning import prune

__all__ = ["Committer"]

_RETENTION_SECONDS = 60.0
_PRUNING_SECONDS = 0.2
"""How long new records wait at most while old ones are deleted."""

_MOST_ATTEMPTS = 16


class Committer:
    """Writes entries. An exception means that none of them was written and the store is down."""

    def __init__(self, options: StoreOptions) -> None:
        self._options = options
        self._base: Database | None = None
        self._process: WritingProcess | None = None
        anchor = options.anchor
        self._anchor = AnchorFile(anchor, options.path, options.key) if anchor is not None else None
        self._redactor: Redactor | None = None
        self._attempted: deque[tuple[tuple[int, int, bytes], Sequence[PendingRecord]]] = deque(maxlen=_MOST_ATTEMPTS)
        """The batches whose commit seemed to fail, since the last one that succeeded."""
        self._moved = self._why_moved = ""
        self._pruned = float("-inf")
        self._pruning_problem = ""
        self.durable = False

    @property
    def problem(self) -> str:
        """Why the anchor cannot be written, or old records cannot be deleted; records are written nevertheless."""
        return (self._anchor.problem if self._anchor is not None else "") or self._pruning_problem

    def write(self, entries: Sequence[PendingRecord], configurations: dict[str, str]) -> None:
        """Commit entries to the store in their order; raise if that fails."""
        try:
            base, process = self._open()
            entries = self._without_committed(base, process, entries)
            self._redact(entries)
            for digest, body in configurations.items():
                base.add_configuration(digest, body)
            self._append(base, process, [*self._moved_note(), *entries])
            self._moved = self._why_moved = ""
        except Exception as error:
            self._give_up(error)
            raise
        self._maintain(base, process)

    def _append(self, base: Database, process: WritingProcess, entries: Sequence[PendingRecord]) -> None:
        if not entries:
            return
        if self._anchor is not None:
            self._anchor.begin(base.store, process.uuid)
        before = process.position()
        try:
            base.append(process, entries)
        except BaseException:
            if process.position() != before:
                self._attempted.append((process.position(), entries))
            process.rewind(before)
            raise
        self._attempted.clear()

    def _without_committed(
        self, base: Database, process: WritingProcess, entries: Sequence[PendingRecord]
    ) -> Sequence[PendingRecord]:
        """Return the entries without those of a batch that was committed although the commit seemed to fail."""
        # The log of SQLite may keep a commit that it did not finish, and take it up when the file is opened again.
        for position, attempted in reversed(self._attempted):
            if base.has(*position[1:]):
                self._attempted.clear()
                process.rewind(position)
                committed = {id(entry) for entry in attempted}
                return [entry for entry in entries if id(entry) not in committed]
        return entries

    def _moved_note(self) -> list[PendingRecord]:
        return (
            [PendingRecord(encode({"moved": self._moved, "why": self._why_moved}), kind=MOVED)] if self._moved else []
        )

    # Opening.

    def _open(self) -> tuple[Database, WritingProcess]:
        """Return the database and this process in it; open the file again if it was replaced."""
        if self._base is not None and not self._base.is_in_place():
            self._base.close()
            self._base = None
        if self._base is None:
            self._base = self._opened()
            self._redact_with(files.salt_of(self._options.path))
            self._process = self._continued(self._base)
        if self._process is None:
            raise StoreDown("there is no process to write as")
        return self._base, self._process

    def _opened(self) -> Database:
        """Open the database; move a store of an earlier format aside and begin a new one."""
        options = self._options
        found = files.identity(options.path)
        try:
            return Database(options.path, durable=self.durable, key=options.key)
        except OutdatedStore as error:
            self._moved = files.move_aside(options.path, found, "outdated") or self._moved
            self._why_moved = error.problem.what
            return Database(options.path, durable=self.durable, key=options.key)

    def _continued(self, base: Database) -> WritingProcess:
        """Return this process, or a new one if it wrote to another store before; the anchor knows it already."""
        process = self._process
        if process is None:
            return self._new_process(base.store)
        if process.store == base.store:
            return process
        self._attempted.clear()
        return self._new_process(base.store, process.uuid if process.id else "")

    def _new_process(self, store: str, before: str = "") -> WritingProcess:
        about = describe(store, key_name(self._options.key), self._anchor is not None, before)
        if self._redactor is not None:
            about = self._redactor.value(about)
        return WritingProcess(store, new_id(), json.dumps(about))

    def _give_up(self, error: Exception) -> None:
        """Close the database after a failure; move its file aside if it is damaged."""
        base, self._base = self._base, None
        damaged = base.identity if base is not None else files.identity(self._options.path)
        if base is not None:
            base.close()
        if is_damage(error) and files.is_ours(self._options.path):
            try:
                self._moved = files.move_aside(self._options.path, damaged) or self._moved
                self._why_moved = "it was damaged"
            except (OSError, InterposeError):
                return  # the file stays where it is, and the store is down

    @property
    def moved(self) -> str:
        """The path that a damaged store was moved to, until the next record is written."""
        return self._moved

    # Redacting.

    def _redact_with(self, salt: bytes) -> None:
        if self._redactor is None:
            self._redactor = Redactor(salt, self._options.rules)
        else:
            self._redactor.rekey(salt)

    def _redact(self, entries: Sequence[PendingRecord]) -> None:
        """Remove secrets from entries before they are written."""
        redactor = self._redactor
        if redactor is None:
            raise StoreDown("there is no redactor")
        redactor.refresh()
        fresh = [entry for entry in entries if not entry.redacted]
        if redactor.suspects("\n".join([entry.text for entry in fresh]).encode("ascii")):
            for entry in fresh:
                if redactor.suspects(entry.text.encode("ascii")):
                    _redact_one(redactor, entry)
        for entry in fresh:
            entry.redacted = True

    # Maintenance.

    def _maintain(self, base: Database, process: WritingProcess) -> None:
        """Write the anchor and prune old records, if it is time."""
        if self._anchor is not None and process.id and self._anchor.is_due(process.record):
            self._anchor.begin(base.store, process.uuid)
            self._anchor.write_head(base.store, process.record, process.hash)
        rule = self._options.retention
        if (rule.age is None and rule.size is None) or monotonic() - self._pruned < _RETENTION_SECONDS:
            return
        self._pruned = monotonic()
        before, self._pruning_problem = process.position(), ""
        try:
            if not prune(base, process, rule, _PRUNING_SECONDS, self._anchor):
                self._pruned = float("-inf")  # continues after the next records
        except Exception as error:
            after = process.position()
            if is_damage(error):
                self._give_up(error)
            elif after != before and base.has(*after[1:]):
                return  # it was committed although it seemed to fail
            else:
                self._pruning_problem = f"old records cannot be deleted: {error}"
            process.rewind(before)

    def idle(self) -> None:
        """Anchor and prune while there is nothing to write."""
        if self._base is not None and self._process is not None and self._process.id:
            self._maintain(self._base, self._process)

    def set_durable(self, durable: bool) -> None:
        """Set whether every commit waits for the disk."""
        if durable != self.durable:
            self.durable = durable
            if self._base is not None:
                self._base.set_durable(durable)

    def finish(self) -> None:
        """Write the end record of this process, anchor it, and close the file."""
        if self._base is None or self._process is None:
            return
        if self._process.id and not self._base.is_in_place() and files.is_ours(self._options.path):
            self._open()  # a copy of the store took its place
        base, process = self._base, self._process
        try:
            if process.id and base.is_in_place():
                base.append(process, [PendingRecord(encode({"first": process.id}), kind=END)])
                if self._anchor is not None:
                    self._anchor.begin(base.store, process.uuid)
                    self._anchor.write_head(base.store, process.record, process.hash)
        finally:
            in_place = base.is_in_place()
            base.close()
            self._base = None
            if in_place:
                write_checksum(self._options.path)


def _redact_one(redactor: Redactor, entry: PendingRecord) -> None:
    try:
        body = json.loads(entry.text)
        made = redactor.value(body)
        if made != body:
            entry.replace(made)
    except Exception as error:  # no content rather than a secret
        entry.replace({"event": entry.columns[0], "unredactable": type(error).__name__})
