"""A store that is only read, where pages expect one that takes answers: the record of a fleet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from ..person.permission import Permission
from .completion import StoreDown
from .places import shown_url
from .protocol import StoreReader, Submission
from .reader import open_store

__all__ = ["ReadOnlyStore"]


class ReadOnlyStore:
    """A store behind a URL; nothing is written to it."""

    key_name = configuration = ""

    def __init__(self, url: str) -> None:
        self._url = url
        self.path = shown_url(url)

    def read(self) -> StoreReader:
        """Return a reader of this store."""
        return open_store(self._url)

    def believes(self, answer: Mapping[str, Any], store_id: str) -> bool:
        """Believe no answer: which key sealed it is known at its node."""
        return False

    def ask(self, question: Mapping[str, Any]) -> Submission:
        """Refuse."""
        self._refuse()

    def answer(self, answer: Mapping[str, Any]) -> Submission:
        """Refuse."""
        self._refuse()

    def record_change(self, change: Mapping[str, Any]) -> Submission:
        """Refuse."""
        self._refuse()

    def record_permission(self, permission: Permission) -> None:
        """Refuse."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise StoreDown("the record of a fleet is only read", where=self.path)
