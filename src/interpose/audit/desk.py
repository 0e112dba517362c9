"""What the writer's thread has to itself: the database, its chain, and the anchor. Nobody else may touch them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from time import monotonic, time

from ..errors import InterposeError
from ..ids import new_id
from ..records import Record, made_by
from . import files
from .about import describe
from .anchors import Anchor
from .base import Base, Chain, is_damage
from .chain import key_name
from .entries import Entry, encode
from .redact import Redactor
from .retention import Retention, prune
from .sums import write_sum
from .tickets import StoreDown

__all__ = ["Desk", "Options"]

AT_ONCE = 2048
"""Records in one transaction, at the most."""

_RETENTION_SECONDS = 60.0
_PRUNING_SECONDS = 0.2
"""How long records wait, at the most, while old ones are deleted."""


class Options(Record):
    """Everything about a store that is the same for all who write to it in one process."""

    path: str
    key: bytes | None = None
    anchor: str | None = None
    retention: Retention = made_by(factory=Retention)
    rules: tuple[tuple[str, str], ...] = ()


class Desk:
    """Writes entries; whatever it raises means that nothing of them was written and the store is down."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._base: Base | None = None
        self._chain: Chain | None = None
        self._anchor = Anchor(options.anchor) if options.anchor else None
        self._redactor: Redactor | None = None
        self._attempted: tuple[tuple[int, bytes], Sequence[Entry]] | None = None
        self._moved = ""
        self._pruned = float("-inf")
        self.durable = False

    @property
    def problem(self) -> str:
        """What is amiss although records are written: the anchor, for one."""
        return self._anchor.problem if self._anchor is not None else ""

    def write(self, entries: Sequence[Entry], configurations: dict[str, str]) -> None:
        """Commit entries to the store, in order; raise if that cannot be done."""
        try:
            base, chain = self._open()
            entries = self._not_there_yet(base, chain, entries)
            self._redact(entries)
            for digest, body in configurations.items():
                base.add_configuration(digest, body)
            self._append(base, chain, [*self._moved_note(), *entries])
            self._moved = ""
        except Exception as error:
            self._give_up(error)
            raise
        self._look_after(base, chain)

    def _append(self, base: Base, chain: Chain, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        was = chain.as_it_was()
        try:
            base.append(chain, entries)
        except BaseException:
            self._attempted = chain.as_it_was()[1:], entries
            chain.go_back(was)
            raise

    def _not_there_yet(self, base: Base, chain: Chain, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Return entries without those of a batch that seemed to fail and was committed after all."""
        attempted, self._attempted = self._attempted, None
        if attempted is None or base.head_of(chain) != attempted[0]:
            return entries
        chain.process = chain.process or base.number_of(chain)
        chain.seq, chain.hash = attempted[0]
        there = {id(entry) for entry in attempted[1]}
        return [entry for entry in entries if id(entry) not in there]

    def _moved_note(self) -> list[Entry]:
        return [Entry(encode({"moved": self._moved}), kind=3)] if self._moved else []

    # Opening.

    def _open(self) -> tuple[Base, Chain]:
        """Return the database, opened anew if another file has taken its place."""
        if self._base is not None and not self._base.is_in_place():
            self._base.close()
            self._base = None
        if self._base is None:
            self._base = Base(self._options.path, durable=self.durable, key=self._options.key)
            self._redact_with(files.salt_of(self._options.path))
            self._chain = self._continued(self._base)
        if self._chain is None:
            raise StoreDown("there is no chain to write to")
        return self._base, self._chain

    def _continued(self, base: Base) -> Chain:
        """Return the chain that this process has in this store, or a new one: in a new store, or if it was cut."""
        chain = self._chain
        if chain is not None and chain.process:
            head = base.head_of(chain)
            attempted = self._attempted[0] if self._attempted is not None else None
            if head is not None and head in ((chain.seq, chain.hash), attempted):
                return chain
            self._attempted = None
            return self._begun(base.store, chain.uuid)
        return self._begun(base.store)

    def _begun(self, store: str, before: str = "") -> Chain:
        about = describe(store, key_name(self._options.key), before)
        if self._redactor is not None:
            about = self._redactor.value(about)
        return Chain(new_id(), json.dumps(about))

    def _give_up(self, error: Exception) -> None:
        """Let go of the database after a failure; one that is damaged is moved aside, by its name, and said."""
        base, self._base = self._base, None
        damaged = base.identity if base is not None else files.identity(self._options.path)
        if base is not None:
            base.close()
        if is_damage(error) and files.is_ours(self._options.path):
            try:
                self._moved = files.move_aside(self._options.path, damaged) or self._moved
            except (OSError, InterposeError):
                return  # it stays where it is, and the store is down

    @property
    def moved(self) -> str:
        """Where a damaged store was moved to just now."""
        return self._moved

    # Redacting.

    def _redact_with(self, salt: bytes) -> None:
        if self._redactor is None:
            self._redactor = Redactor(salt, self._options.rules)
        else:
            self._redactor.rekey(salt)

    def _redact(self, entries: Sequence[Entry]) -> None:
        """Take secrets out of entries: nothing is written before this was done."""
        redactor = self._redactor
        if redactor is None:
            raise StoreDown("there is nothing to redact with")
        redactor.look()
        fresh = [entry for entry in entries if not entry.redacted]
        if redactor.suspects("\n".join([entry.text for entry in fresh]).encode("ascii")):
            for entry in fresh:
                if redactor.suspects(entry.text.encode("ascii")):
                    _redact_one(redactor, entry)
        for entry in fresh:
            entry.redacted = True

    # Now and then.

    def _look_after(self, base: Base, chain: Chain) -> None:
        """Write the anchor and delete what is too old, if it is time; neither can take back what was written."""
        if self._anchor is not None and self._anchor.is_due(chain):
            self._anchor.write(base.store, chain, time())
        rule = self._options.retention
        if (rule.age is None and rule.size is None) or monotonic() - self._pruned < _RETENTION_SECONDS:
            return
        self._pruned = monotonic()
        was = chain.as_it_was()
        try:
            if not prune(base, chain, rule, _PRUNING_SECONDS):
                self._pruned = float("-inf")  # goes on after the next records
        except Exception as error:
            head = base.head_of(chain) if not is_damage(error) else None
            if head is None:
                self._give_up(error)
                chain.go_back(was)
            else:
                chain.seq, chain.hash = head

    def rest(self) -> None:
        """Use a quiet moment: anchor what is not anchored yet, and look for what is too old."""
        if self._base is not None and self._chain is not None and self._chain.process:
            self._look_after(self._base, self._chain)

    def set_durable(self, durable: bool) -> None:
        """Have every commit wait for the disk from now on."""
        if durable != self.durable:
            self.durable = durable
            if self._base is not None:
                self._base.set_durable(durable)

    def finish(self) -> None:
        """Write the last record of this process, anchor it, and let go of the file."""
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
                write_sum(self._options.path)


def _redact_one(redactor: Redactor, entry: Entry) -> None:
    try:
        body = json.loads(entry.text)
        made = redactor.value(body)
        if made != body:
            entry.replace(made)
    except Exception as error:  # better no content than a secret
        entry.replace({"event": entry.columns[0], "unredactable": type(error).__name__})
