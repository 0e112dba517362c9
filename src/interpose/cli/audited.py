"""Which audit store a command reads, from when on, and how its numbers are shown."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated

import typer

from ..audit.reader import StoreReader, open_store
from ..config.audit import default_path
from ..config.load import Source, find_sources, load_sources
from ..errors import UsageError
from ..events import TABLE
from .loading import enter, here

__all__ = ["Since", "Store", "ago", "epoch_of", "opened", "short", "store_path", "when"]

Store = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="FILE", show_default=False,
        help="The audit store. Otherwise: the one that the configuration names (`audit.path`), else the person's own.",
    ),
]  # fmt: skip
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="From then on: 90m, 2h, 3d, or a date such as 2026-01-31T09:00."),
]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BACK = re.compile(r"(?P<count>\d{1,9}(?:\.\d{1,3})?)\s*(?P<unit>[smhdw])")


def store_path(store: str | None, config: list[str] | None, dialect: str | None, cwd: str | None) -> str:
    """Return where the store is: as named, else as the configuration has it, else the person's own.

    The configuration is only read: nothing is armed, and no store is made by looking for it.
    """
    named = os.path.abspath(store) if store is not None else None
    files = [os.path.abspath(path) for path in config or ()]
    enter(cwd)
    if named is not None:
        return named
    sources = [Source(path, "code", dialect) for path in files] or find_sources(here(), dialect)
    audit = load_sources(TABLE, sources, lines=False).audit
    return str(audit["path"]) if audit is not None else default_path()


@contextmanager
def opened(
    store: str | None, config: list[str] | None = None, dialect: str | None = None, cwd: str | None = None
) -> Iterator[StoreReader]:
    """Open the store for a command; whatever keeps it from being read is said in our words."""
    import sqlite3

    path = store_path(store, config, dialect, cwd)
    if store is None and not os.path.exists(path):
        hint = "add `audit: {path: audit.db}` to the configuration, and every firing is recorded there"
        if path != default_path():
            hint = "the configuration names it, and the first firing makes it"
        raise UsageError(f"nothing is recorded: there is no audit store at {path}", hint=f"{hint}; or use --store")
    with open_store(path) as reader:
        try:
            yield reader
        except sqlite3.Error as error:
            raise UsageError(f"the store cannot be read: {error}", where=path,
                             hint="`interpose log verify` says where it is damaged") from error  # fmt: skip


def epoch_of(since: str | None) -> float | None:
    """Return the moment that ``--since`` means, in seconds since 1970."""
    if since is None:
        return None
    text = since.strip()
    if back := _BACK.fullmatch(text):
        return time.time() - float(back["count"]) * _UNITS[back["unit"]]
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"--since: {since} is no time", hint="such as 90m, 2h, 3d or 2026-01-31T09:00") from None


def when(moment: float, *, whole: bool = False) -> str:
    """Return a moment by the clock of whoever looks; the year and milliseconds only where they are wanted."""
    try:
        local = datetime.fromtimestamp(moment, UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return "?"
    return local.isoformat(sep=" ", timespec="milliseconds") if whole else local.strftime("%m-%d %H:%M:%S")


def ago(moment: float | None, now: float) -> str:
    """Return how long ago something was, in one unit."""
    if moment is None:
        return "never"
    gone = max(0.0, now - moment)
    for unit in ("w", "d", "h", "m"):
        if gone >= _UNITS[unit]:
            return f"{gone // _UNITS[unit]:.0f}{unit} ago"
    return f"{gone:.0f}s ago"


def short(seconds: float) -> str:
    """Return a time that a hook took, in three digits or so."""
    if seconds >= 99.95:
        return f"{seconds:.0f} s"
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    milliseconds = seconds * 1000
    return f"{milliseconds:.0f} ms" if milliseconds >= 9.95 else f"{milliseconds:.2g} ms" if milliseconds else "0 ms"
