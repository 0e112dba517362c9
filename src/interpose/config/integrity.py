"""The files that a trusted configuration makes run, held to what they were when they were looked at.

They are hashed when the configuration is loaded, and run later. Before each run a look at their state says whether they
can have changed; only then are they hashed again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ..handlers.python import LazyFunction
from ..model import Hook
from ..records import replace
from .references import hash_of

__all__ = ["FileSeal", "sealed"]

_State = tuple[int, int, int, int, int] | None


class FileSeal:
    """What the files of one configuration have to be."""

    __slots__ = ("_hashes", "_states")

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self._hashes = dict(hashes)
        self._states: dict[str, _State] = {}

    def broken(self) -> str:
        """Return a file that is not what it was when it was trusted; nothing if all are."""
        for path, trusted in self._hashes.items():
            state = _state(path)
            if path in self._states and self._states[path] == state:
                continue
            if hash_of(path) != trusted or _state(path) != state:
                return path
            self._states[path] = state
        return ""


def _state(path: str) -> _State:
    try:
        found = os.stat(path)
    except OSError:
        return None
    # Whoever writes to a file can set its time of modification, but not that of its change.
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def sealed(hooks: Iterable[Hook], hashes: Mapping[str, str]) -> list[Hook]:
    """Return hooks that run nothing but what was trusted."""
    seal = FileSeal(hashes)
    made = []
    for hook in hooks:
        call = hook.binding.call
        if isinstance(call, LazyFunction):
            call.seal = seal
        made.append(replace(hook, binding=replace(hook.binding, seal=seal)))
    return made
