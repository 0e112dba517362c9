"""The files that a call changes, each by all its names."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..matching.globs import has_wildcards
from ..matching.shell.words import MANY, is_known
from ..runtime.named_tuples import NamedTuple
from ..runtime.regex import regex
from .call import Call
from .effects import Effect
from .file_table import FileTable

__all__ = ["CHANGES", "WHOLE", "Change", "changes_of", "in_project", "label_of"]

_WRITES = frozenset({"write-files", "empty-files", "fill-disk"})
WHOLE = frozenset({"delete-files", "delete-files-for-good", "move-files", "change-tree", "lock-out", "lose-untracked"})
"""Kinds that change a folder with everything in it."""
CHANGES = (*_WRITES, *WHOLE, "change-files", "change-mode", "link-files", "open-permissions", "setuid", "lose-changes")
"""Kinds whose target is a file that is changed."""

_WILDCARDS = regex(r"\*+|\?|\[[^/\]]*\]|\{[^/}]*\}")
_HARMLESS = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/", "/proc/self/fd/")


class Change(NamedTuple):
    """A file that a call changes."""

    effect: Effect
    path: str
    names: tuple[str, ...]
    """The absolute paths that it has: as written, and with links followed. Empty if a part of it is unknown."""
    whole: bool
    """Whether the content of a folder is changed with it."""


def changes_of(call: Call, *kinds: str) -> Iterator[Change]:
    """Yield the files that a call changes, or those that effects of the given kinds have as their targets."""
    for effect in call.of(*(kinds or CHANGES)):
        path = effect.target
        if not path or path.startswith(_HARMLESS):
            continue
        names = call.names_of(path) if is_known(path) else ()
        yield Change(effect, path, names, effect.kind in WHOLE)


def label_of(change: Change, table: FileTable, call: Call) -> str:
    """Return the label that a table has for a changed file; an empty text if it has none."""
    found = next((label for name in change.names if (label := table.label_of(name, call.home))), "")
    if found or (change.names and (change.effect.command == call.tool or not has_wildcards(change.path))):
        return found
    return table.may_mean(_WILDCARDS.sub(MANY, change.path), call.home, whole=change.whole)


def in_project(path: str, call: Call) -> str:
    """Return a path as if the project were the root, so that only names inside it count; others stay as they are."""
    for project in (call.project, os.path.realpath(call.project)):
        if path.startswith(project.rstrip("/") + "/"):
            return path[len(project.rstrip("/")) :]
    return path
