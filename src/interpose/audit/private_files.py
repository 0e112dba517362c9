"""Files that only their owner can read, and that are never opened through a symbolic link."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .completion import StoreDown

__all__ = ["appendable", "flocked", "open_privately", "places_of", "unusable"]

# O_NONBLOCK: opening a FIFO would block until there is a reader.
_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def unusable(path: str, error: OSError) -> StoreDown:
    """Return the error for a file that cannot be opened."""
    why = error.strerror or str(error)
    if os.path.islink(path):
        return StoreDown("is a symbolic link, which is not followed", where=path, hint="name the file itself")
    return StoreDown(f"cannot be opened: {why}", where=path)


def open_privately(path: str, how: int) -> int:
    """Open a regular file of this user; make it readable by its owner alone."""
    descriptor = os.open(path, how | _FLAGS, 0o600)
    try:
        found = os.fstat(descriptor)
        _check(path, found)
        if stat.S_IMODE(found.st_mode) & 0o077 and found.st_uid == os.geteuid():
            os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise StoreDown("is not a regular file", where=path, hint="remove it, or name another path")
    if found.st_uid not in (os.geteuid(), 0):
        raise StoreDown(f"belongs to another user (uid {found.st_uid})", where=path, hint="name another path")


def appendable(path: str) -> int:
    """Return a descriptor that appends to a file of this user; create the file and its directory if needed."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return open_privately(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except OSError as error:
        raise unusable(path, error) from None


def places_of(path: str) -> tuple[str, ...]:
    """Return a path as it is named and with links resolved: a directory on it can be exchanged for a link."""
    return tuple(dict.fromkeys((os.path.abspath(path), os.path.realpath(path))))


@contextmanager
def flocked(descriptor: int) -> Iterator[None]:
    """Hold the lock of an open file; raise StoreDown if another process keeps it for 5 seconds."""
    import fcntl

    deadline = time.monotonic() + 5.0
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StoreDown("another process keeps the store locked") from None
            time.sleep(0.005)
        else:
            break
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
