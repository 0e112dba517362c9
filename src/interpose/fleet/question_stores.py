"""The stores of this machine in which questions wait. All of it blocks: a node calls it in a thread of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any

from ..audit.completion import StoreDown
from ..audit.known_stores import all_known_stores
from ..audit.protocol import NotAStore, StoreReader, StoreUnreadable
from ..audit.questions import StoredQuestion
from ..audit.reader import open_store
from ..audit.store import AuditStore, configured_store
from ..config.audit import default_path
from ..config.fleet import FleetSettings
from ..errors import InterposeError, UsageError
from ..questions import answer_question
from .answers import SignedAnswer

__all__ = ["LocalQuestion", "QuestionStores", "audit_of"]

_LOOK_SECONDS = 1.0
"""How often new stores are looked for."""
_MOST_STORES = 50
"""How many stores are looked at; of more, those that were created last."""


class LocalQuestion:
    """A question, and the path of the store that it waits in."""

    def __init__(self, path: str, question: StoredQuestion) -> None:
        self.path, self.question = path, question


def audit_of(settings: FleetSettings) -> Mapping[str, Any] | None:
    """Return ``audit:`` of the configuration that has the ``fleet:`` of this node; None if it has none."""
    from ..config.load import Source, find_sources, load_sources
    from ..events import TABLE

    file = settings.place.rpartition(":")[0] or settings.place
    try:
        own = [one for one in find_sources(".") if one.layer == "user"]
        sources = own if any(one.path == file for one in own) else [Source(file)] if os.path.isfile(file) else []
        return load_sources(TABLE, sources, lines=False).audit
    except InterposeError:
        return None


class QuestionStores:
    """Finds questions in the stores that this user's processes write to, and writes answers to them."""

    def __init__(self, audit: Mapping[str, Any] | None) -> None:
        self._audit = audit
        self._readers: dict[str, tuple[StoreReader, object, list[StoredQuestion]]] = {}
        self._paths: list[str] = []
        self._looked = -_LOOK_SECONDS

    def waiting(self) -> dict[str, LocalQuestion]:
        """Return the questions that wait, by id."""
        if monotonic() - self._looked >= _LOOK_SECONDS:
            self._looked, self._paths = monotonic(), self._find_paths()
        found: dict[str, LocalQuestion] = {}
        for path in self._paths:
            for question in self._without_answer(path):
                if question.state == "waiting":
                    found.setdefault(question.id, LocalQuestion(path, question))
        return found

    def find(self, id: str) -> LocalQuestion | None:
        """Return a question as it is now, whatever its state."""
        for path in self._paths or self._find_paths():
            try:
                with open_store(path) as reader:
                    question = reader.question(id)
            except (NotAStore, StoreUnreadable):
                continue
            if question is not None:
                return LocalQuestion(path, question)
        return None

    def answer(self, local: LocalQuestion, signed: SignedAnswer) -> StoredQuestion:
        """Write an answer as one that is given here, and return the question with the answer that counts.

        Raises UsageError if it cannot be answered any more, or not so, and StoreDown if it cannot be written.
        """
        answer = signed.answer
        at = f"{answer.user}@{answer.host}" if answer.host else answer.user
        who = {"user": signed.name, "terminal": f"fleet, {at}", "host": answer.host, "proof": signed.signature,
               "approver": answer.key}  # fmt: skip
        store = self._store(local.path)
        try:
            return answer_question(
                store, local.question, approved=answer.state == "approved", who=who, remembered=answer.remembered,
                reason=answer.reason, tool_input=answer.input,
            )  # fmt: skip
        finally:
            store.close()

    def note(self, id: str, who: str, why: str) -> None:
        """Write to the record that an answer was ignored: to the store of its question, or to the node's own."""
        local = self.find(id)
        path = local.path if local is not None else self._own_path()
        if not os.path.exists(path):
            return
        store = self._store(path)
        try:
            store.record_change({"what": "answer ignored", "hook": f"question {id}", "to": f"answer ignored: {why}",
                                 "user": who, "terminal": "fleet", "project": ""}).block()  # fmt: skip
        except StoreDown:
            return
        finally:
            store.close()

    def close(self) -> None:
        """Close the stores."""
        for reader, _, _ in self._readers.values():
            reader.close()
        self._readers = {}

    # Stores.

    def _own_path(self) -> str:
        return str(self._audit["path"]) if self._audit is not None else default_path()

    def _find_paths(self) -> list[str]:
        known = [one.places[0] for one in all_known_stores() if one.places]
        paths = dict.fromkeys([self._own_path(), default_path(), *known[::-1]])
        found, seen = [], set()
        for path in paths:
            real = os.path.realpath(path)
            if real not in seen and os.path.isfile(real):
                seen.add(real)
                found.append(path)
        return found[:_MOST_STORES]

    def _store(self, path: str) -> AuditStore:
        own = self._audit is not None and os.path.realpath(self._own_path()) == os.path.realpath(path)
        return configured_store({**(self._audit or {} if own else {}), "path": path})

    def _without_answer(self, path: str) -> Iterator[StoredQuestion]:
        """Return the questions of a store that have no answer; it is read only if it was written to."""
        try:
            reader, change, found = self._readers.get(path) or (open_store(path), None, [])
            now = reader.change()
            if now != change:
                found = reader.questions(limit=300)
            self._readers[path] = reader, now, found
        except (NotAStore, StoreUnreadable, UsageError):
            kept = self._readers.pop(path, None)
            if kept is not None:
                kept[0].close()
            return
        yield from found
