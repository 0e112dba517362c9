"""Commits batches of records: redact, append to the chain, anchor, prune. Used by the writer's thread alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from time import monotonic, time

from ..errors import InterposeError
from ..ids import new_id
from ..records import Record, made_by
from . import files
from .anchors import AnchorFile
from .chain import Chain, key_name
from .checksum import write_checksum
from .completion import StoreDown
from .database import Database, is_damage
from .entries import Entry, encode
from .process_info import describe
from .redact import Redactor
from .retention import Retention, prune

__all__ = ["Committer", "StoreOptions"]

AT_ONCE = 2048
"""The maximum number of records in one transaction."""

_RETENTION_SECONDS = 60.0
_PRUNING_SECONDS = 0.2
"""How long new records wait at most while old ones are deleted."""


class StoreOptions(Record):
    """The options that all users of a store in one process share."""

    path: str
    key: bytes | None = None
    anchor: str | None = None
    retention: Retention = made_by(factory=Retention)
    rules: tuple[tuple[str, str], ...] = ()


class Committer:
    """Writes entries. An exception means that none of them was written and the store is down."""

    def __init__(self, options: StoreOptions) -> None:
        self._options = options
        self._base: Database | None = None
        self._chain: Chain | None = None
        self._anchor = AnchorFile(options.anchor) if options.anchor else None
        self._redactor: Redactor | None = None
        self._attempted: tuple[tuple[int, bytes], Sequence[Entry]] | None = None
        self._moved = ""
        self._pruned = float("-inf")
        self.durable = False

    @property
    def problem(self) -> str:
        """Why the anchor cannot be written; empty if it can. Records are written nevertheless."""
        return self._anchor.problem if self._anchor is not None else ""

    def write(self, entries: Sequence[Entry], configurations: dict[str, str]) -> None:
        """Commit entries to the store in their order; raise if that fails."""
        try:
            base, chain = self._open()
            entries = self._without_committed(base, chain, entries)
            self._redact(entries)
            for digest, body in configurations.items():
                base.add_configuration(digest, body)
            self._append(base, chain, [*self._moved_note(), *entries])
            self._moved = ""
        except Exception as error:
            self._give_up(error)
            raise
        self._maintain(base, chain)

    def _append(self, base: Database, chain: Chain, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        before = chain.position()
        try:
            base.append(chain, entries)
        except BaseException:
            self._attempted = chain.position()[1:], entries
            chain.rewind(before)
            raise

    def _without_committed(self, base: Database, chain: Chain, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Return the entries without those of a batch that was committed although the commit seemed to fail."""
        attempted, self._attempted = self._attempted, None
        if attempted is None or base.head_of(chain) != attempted[0]:
            return entries
        chain.process = chain.process or base.process_id_of(chain)
        chain.seq, chain.hash = attempted[0]
        committed = {id(entry) for entry in attempted[1]}
        return [entry for entry in entries if id(entry) not in committed]

    def _moved_note(self) -> list[Entry]:
        return [Entry(encode({"moved": self._moved}), kind=3)] if self._moved else []

    # Opening.

    def _open(self) -> tuple[Database, Chain]:
        """Return the database and the chain; open the file again if it was replaced."""
        if self._base is not None and not self._base.is_in_place():
            self._base.close()
            self._base = None
        if self._base is None:
            self._base = Database(self._options.path, durable=self.durable, key=self._options.key)
            self._redact_with(files.salt_of(self._options.path))
            self._chain = self._continued_chain(self._base)
        if self._chain is None:
            raise StoreDown("there is no chain to write to")
        return self._base, self._chain

    def _continued_chain(self, base: Database) -> Chain:
        """Return the chain of this process in this store, or a new one if the store is new or lost its end."""
        chain = self._chain
        if chain is not None and chain.process:
            head = base.head_of(chain)
            attempted = self._attempted[0] if self._attempted is not None else None
            if head is not None and head in ((chain.seq, chain.hash), attempted):
                return chain
            self._attempted = None
            return self._new_chain(base.store, chain.uuid)
        return self._new_chain(base.store)

    def _new_chain(self, store: str, before: str = "") -> Chain:
        about = describe(store, key_name(self._options.key), before)
        if self._redactor is not None:
            about = self._redactor.value(about)
        return Chain(new_id(), json.dumps(about))

    def _give_up(self, error: Exception) -> None:
        """Close the database after a failure; move its file aside if it is damaged."""
        base, self._base = self._base, None
        damaged = base.identity if base is not None else files.identity(self._options.path)
        if base is not None:
            base.close()
        if is_damage(error) and files.is_ours(self._options.path):
            try:
                self._moved = files.move_aside(self._options.path, damaged) or self._moved
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

    def _redact(self, entries: Sequence[Entry]) -> None:
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

    def _maintain(self, base: Database, chain: Chain) -> None:
        """Write the anchor and prune old records, if it is time."""
        if self._anchor is not None and self._anchor.is_due(chain):
            self._anchor.write(base.store, chain, time())
        rule = self._options.retention
        if (rule.age is None and rule.size is None) or monotonic() - self._pruned < _RETENTION_SECONDS:
            return
        self._pruned = monotonic()
        before = chain.position()
        try:
            if not prune(base, chain, rule, _PRUNING_SECONDS):
                self._pruned = float("-inf")  # continues after the next records
        except Exception as error:
            head = base.head_of(chain) if not is_damage(error) else None
            if head is None:
                self._give_up(error)
                chain.rewind(before)
            else:
                chain.seq, chain.hash = head

    def idle(self) -> None:
        """Anchor and prune while there is nothing to write."""
        if self._base is not None and self._chain is not None and self._chain.process:
            self._maintain(self._base, self._chain)

    def set_durable(self, durable: bool) -> None:
        """Set whether every commit waits for the disk."""
        if durable != self.durable:
            self.durable = durable
            if self._base is not None:
                self._base.set_durable(durable)

    def finish(self) -> None:
        """Write the end record of this process, anchor it, and close the file."""
        base, chain = self._base, self._chain
        if base is None or chain is None:
            return
        try:
            if chain.process and base.is_in_place():
                base.append(chain, [Entry(encode({"records": chain.seq}), kind=4)], ended=True)
                if self._anchor is not None:
                    self._anchor.write(base.store, chain, time(), ended=True)
        finally:
            in_place = base.is_in_place()
            base.close()
            self._base = None
            if in_place:
                write_checksum(self._options.path)


def _redact_one(redactor: Redactor, entry: Entry) -> None:
    try:
        body = json.loads(entry.text)
        made = redactor.value(body)
        if made != body:
            entry.replace(made)
    except Exception as error:  # no content rather than a secret
        entry.replace({"event": entry.columns[0], "unredactable": type(error).__name__})
