"""Check before each run that the scripts and modules of a trusted configuration have not changed.

They are hashed when the configuration is loaded, and run later. Before each run their stat says whether they may have
changed; only then they are hashed again.
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
    """The trusted hashes of the files that one configuration runs."""

    __slots__ = ("_hashes", "_states")

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self._hashes = dict(hashes)
        self._states: dict[str, _State] = {}

    def broken(self) -> str:
        """Return a file that has changed since it was trusted; nothing if none has."""
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
    # A program can set the modification time of a file, but not the change time.
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def sealed(hooks: Iterable[Hook], hashes: Mapping[str, str]) -> list[Hook]:
    """Return hooks that check these hashes before they run."""
    seal = FileSeal(hashes)
    made = []
    for hook in hooks:
        call = hook.binding.call
        if isinstance(call, LazyFunction):
            call.seal = seal
        made.append(replace(hook, binding=replace(hook.binding, seal=seal)))
    return made
