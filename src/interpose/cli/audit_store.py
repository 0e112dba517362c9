"""The audit store that a command reads, and the time from which it reads."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any

import typer

from ..audit.places import is_url, shown_url
from ..audit.protocol import StoreReader
from ..audit.reader import open_store
from ..audit.store import AuditStore, configured_store
from ..config.audit import default_path
from ..config.load import Source, find_sources, load_sources
from ..errors import UsageError
from ..events import TABLE
from ..runtime.named_tuples import NamedTuple
from ..runtime.regex import regex
from . import options
from .loading import change_directory, current_directory
from .options import group

__all__ = ["AuditPlace", "NamedStore", "Since", "Store", "names_store", "parse_since"]

Store = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="FILE", show_default=False,
        help="The audit store; or postgresql://…, the record of a fleet. Default: the one that the configuration names "
             "(`audit.path`), else your own.",
    ),
]  # fmt: skip
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="From then on: 90m, 2h, 3d, or a date such as 2026-01-31T09:00."),
]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_RELATIVE = regex(r"(?P<count>\d{1,9}(?:\.\d{1,3})?)\s*(?P<unit>[smhdw])")


class AuditPlace(NamedTuple):
    """A store, and the key and the anchor that the configuration names for it."""

    path: str
    key: str | None = None
    anchor: str | None = None
    options: Mapping[str, Any] = {}
    """All options of the store, if the configuration names it."""


class NamedStore:
    """The store that the options of a command name. Its paths are relative to the directory of the caller."""

    def __init__(
        self,
        store: str | None = None,
        config: list[str] | None = None,
        dialect: str | None = None,
        cwd: str | None = None,
    ) -> None:
        self.named = store if store is None or is_url(store) else os.path.abspath(store)
        self.files = [os.path.abspath(path) for path in config or ()]
        self.dialect = dialect
        self._cwd = cwd

    @property
    def is_of_fleet(self) -> bool:
        """Whether it is the record of a fleet, which is only read."""
        return self.named is not None and is_url(self.named)

    def change_directory(self) -> None:
        """Change into the directory of ``--cwd``, once."""
        change_directory(self._cwd)
        self._cwd = None

    def find(self) -> AuditPlace:
        """Return the store: the named one, else the configuration's, else the user's own.

        The configuration is only read: no hook is armed and no store is created.
        """
        self.change_directory()
        if self.named is not None and self.is_of_fleet:
            return AuditPlace(self.named)
        named, dialect = self.named, self.dialect
        sources = [Source(path, "code", dialect) for path in self.files] or find_sources(current_directory(), dialect)
        audit = load_sources(TABLE, sources, lines=False).audit
        if audit is None:
            return AuditPlace(named or default_path())
        found = AuditPlace(str(audit["path"]), audit.get("key"), audit.get("anchor"), audit)
        if named is None or os.path.realpath(named) == os.path.realpath(found.path):
            return found
        return AuditPlace(named)

    @contextmanager
    def open_reader(self) -> Iterator[StoreReader]:
        """Open the store; raise UsageError if it does not exist or cannot be read."""
        self.change_directory()
        path = self.named or self.find().path  # a named one can be read beside a configuration that cannot
        if self.named is None and not os.path.exists(path):
            hint = "add `audit: {path: audit.db}` to the configuration to record every firing"
            if path != default_path():
                hint = "the configuration names it, and the first firing creates it"
            raise UsageError(f"nothing is recorded: there is no audit store at {path}", hint=f"{hint}; or use --store")
        with open_store(path) as reader:
            yield reader

    @contextmanager
    def open_writer(self) -> Iterator[AuditStore]:
        """Open the store to write to it, with the key and the redaction that the configuration names for it.

        Raises UsageError if there is none: it is not created here.
        """
        place = self.find()
        if is_url(place.path):
            raise UsageError("the record of a fleet is only read", where=shown_url(place.path),
                             hint="a question is answered at its node, or with --fleet")  # fmt: skip
        if not os.path.exists(place.path):
            raise UsageError(f"nothing is recorded: there is no audit store at {place.path}",
                             hint="--store names another")  # fmt: skip
        writer = configured_store({**place.options, "path": place.path})
        try:
            yield writer
        finally:
            writer.close()


names_store = group(
    "store",
    {"store": Store, "config": options.Config, "dialect": options.Dialect, "cwd": options.Cwd},
    NamedStore,
)
"""Gives a command the options that name a store, in the place of its parameter ``store``."""


def parse_since(since: str | None) -> float | None:
    """Return the moment that ``--since`` means, in seconds since 1970."""
    if since is None:
        return None
    text = since.strip()
    if relative := _RELATIVE.fullmatch(text):
        return time.time() - float(relative["count"]) * _UNITS[relative["unit"]]
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"--since: {since} is not a time", hint="such as 90m, 2h, 3d or 2026-01-31T09:00") from None
