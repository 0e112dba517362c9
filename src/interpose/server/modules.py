"""The modules that hooks have imported.

A process cannot import one again, so it ends if the file of one has changed.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Collection
from time import monotonic

from .stamps import Facts, facts_of, is_settled

__all__ = ["Modules"]

_LOOK = 2.0
"""Seconds between two looks at installed modules, of which there may be hundreds."""
_PLACES = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
_INSTALLED = tuple(os.path.join(os.path.realpath(path), "") for path in _PLACES)


class Modules:
    """The modules that were imported since the process began."""

    def __init__(self) -> None:
        self._known = set(sys.modules)
        self._count = len(sys.modules)
        self._own: dict[str, Facts] = {}
        self._installed: dict[str, Facts] = {}
        self._looked = monotonic()
        self._is_doubtful = False

    def have_grown(self) -> bool:
        """Return whether modules were imported since they were noted."""
        return len(sys.modules) != self._count

    def note(self, began: float, others: Collection[str]) -> None:
        """Stamp the files of modules that were imported since ``began``, except for others that are looked at."""
        self._count = len(sys.modules)
        for name in set(sys.modules) - self._known:
            self._known.add(name)
            spec = getattr(sys.modules[name], "__spec__", None)
            path = getattr(spec, "origin", None)
            if not isinstance(path, str) or not os.path.isabs(path) or not getattr(spec, "has_location", False):
                continue
            facts = facts_of(path)
            if not is_settled([facts], began):
                self._is_doubtful = True  # it may have changed after it was imported
            if path in others:
                continue
            stamps = self._installed if os.path.realpath(path).startswith(_INSTALLED) else self._own
            stamps[path] = facts

    def have_changed(self) -> bool:
        """Return whether a process that begins now would import something else."""
        if self._is_doubtful or _differ(self._own):
            return True
        now = monotonic()
        if now - self._looked > _LOOK:
            self._looked = now
            self._is_doubtful = _differ(self._installed)
        return self._is_doubtful


def _differ(stamps: dict[str, Facts]) -> bool:
    return any(facts_of(path) != known for path, known in stamps.items())
