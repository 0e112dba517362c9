"""Which installation of the package a process runs, and whether its files are still those that it has loaded."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from time import monotonic

__all__ = ["Installation", "this_installation"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LOOK = 2.0
"""Seconds between two looks at the files."""


@lru_cache(maxsize=1)
def this_installation() -> tuple[str, str]:
    """Return what a client of this installation says of itself."""
    return os.path.dirname(sys.executable), os.path.join(_PACKAGE, "server")


class Installation:
    """The files of this package as they were when the process began."""

    def __init__(self) -> None:
        self._files = _stamps()
        self._looked = monotonic()
        self._changed = False
        self._known: dict[tuple[str, str], bool] = {this_installation(): True}

    def is_same(self, other: tuple[str, str]) -> bool:
        """Return whether a client belongs to this installation."""
        known = self._known.get(other)
        if known is None:
            if len(self._known) > 100:
                self._known.clear()
            known = all(map(_is_same_directory, other, this_installation()))
            self._known[other] = known
        return known

    def has_changed(self) -> bool:
        """Return whether a file of the package was changed since: the package was upgraded, or is being edited."""
        now = monotonic()
        if not self._changed and now - self._looked > _LOOK:
            self._looked = now
            self._changed = any(_stamp(path) != known for path, known in self._files.items())
        return self._changed


def _is_same_directory(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _stamps() -> dict[str, tuple[int, int, int] | None]:
    files = (
        os.path.join(folder, name)
        for folder, _, names in os.walk(_PACKAGE)
        for name in names
        if name.endswith((".py", ".yaml", ".c"))
    )
    return {path: _stamp(path) for path in files}


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
