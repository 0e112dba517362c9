"""The record of what was attached: which files were written, what they were before, and how to know them again.

It is one file in the person's state directory; ``watch`` reads it at every event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypedDict

from ..state.locked import locked_json, state_file
from .watch import Stamp

__all__ = ["Attached", "WrittenFile", "attachments", "changing_attachments", "key_of"]

_KIND, _KEY = "attach", "attachments"


class WrittenFile(TypedDict):
    """A file that attach has written."""

    path: str
    kind: str
    """``entries``, or what else was written: ``trust`` (Codex), ``exclude`` (git)."""
    before: str | None
    """The name of the copy of what it was; None if it did not exist."""
    after: str
    """The name of the copy of what was written."""
    made: list[list[str]]
    """Paths of keys that did not exist before."""
    stamp: Stamp


class Attached(TypedDict):
    """An agent that was attached in one of its scopes."""

    agent: str
    scope: str
    project: str
    at: float
    files: list[WrittenFile]
    directories: list[str]
    """Those that were made, the innermost first."""
    entries: list[list[Any]]
    """Each entry as it was written: name, event, command and timeout."""
    leaving: bool
    """Whether it is being taken off, so that nothing is put back."""
    adopted: str
    """The file of ours that has the hooks of others; empty if none were taken."""


def key_of(agent: str, scope: str, path: str) -> str:
    """Return the key of an attachment: one per file of settings."""
    return f"{agent} {scope} {path}"


def attachments() -> dict[str, Attached]:
    """Return what is attached; nothing if the record cannot be read. It takes no lock: writers replace one line."""
    try:
        with open(state_file(_KIND, _KEY), "rb") as opened:
            found = json.loads(opened.readline())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def changing_attachments() -> Iterator[dict[str, Any]]:
    """Yield the record, locked; changes are kept."""
    with locked_json(_KIND, _KEY) as found:
        yield found
