"""What tells that a file has changed: its stat, before it is read and again later."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

__all__ = ["Facts", "Looks", "facts_of", "is_settled"]

_SETTLED = 0.1
"""Seconds after which a further change of a file has another time stamp for sure."""

Facts = tuple[int, ...] | None


def facts_of(path: str) -> Facts:
    """Return what changes with a file, and with what it leads to if it is a link; None if it is not there."""
    try:
        found = os.lstat(path)
        if found.st_mode & 0o170000 == 0o120000:  # a link, and what it leads to
            target = os.stat(path)
            return (found.st_ino, found.st_dev, found.st_mtime_ns, max(found.st_ctime_ns, target.st_ctime_ns),
                    target.st_ino, target.st_dev, target.st_mtime_ns, target.st_size, target.st_mode)  # fmt: skip
    except OSError:
        return None
    return found.st_ino, found.st_dev, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_mode, found.st_uid


class Looks(dict[str, Facts]):
    """What was found at the paths that were looked at for one event: each is looked at once."""

    def __missing__(self, path: str) -> Facts:
        found = self[path] = facts_of(path)
        return found


def is_settled(stamps: Iterable[Facts], read_at: float | None = None) -> bool:
    """Return whether none was changed just before it was read: a further change might have the same time stamp."""
    changed = max((facts[3] for facts in stamps if facts is not None), default=0) / 1e9
    return (time.time() if read_at is None else read_at) - changed > _SETTLED
