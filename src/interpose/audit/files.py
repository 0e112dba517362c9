"""The store's files: readable by their owner alone, and never opened through a symbolic link."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .completion import StoreDown
from .schema import APPLICATION

__all__ = ["appendable", "identity", "is_ours", "locked", "move_aside", "prepare", "salt_of"]

# O_NONBLOCK: opening a FIFO would block until there is a reader.
_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_BESIDE = ("-wal", "-shm")
_MAGIC = b"SQLite format 3\x00"
_SALT = 32

Identity = tuple[int, int]
"""Device and inode."""


def prepare(path: str) -> None:
    """Create the file and its directory if they do not exist; raise StoreDown if the file cannot be used."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        for beside in _BESIDE:
            if os.path.islink(path + beside):
                raise StoreDown("is a symbolic link in the place of a file of SQLite", where=path + beside,
                                hint="remove the link")  # fmt: skip
        os.close(_opened(path, os.O_RDWR | os.O_CREAT))
    except OSError as error:
        raise _down(path, error) from None


def _down(path: str, error: OSError) -> StoreDown:
    why = error.strerror or str(error)
    if os.path.islink(path):
        return StoreDown("is a symbolic link, which is not followed", where=path, hint="name the file itself")
    return StoreDown(f"cannot be opened: {why}", where=path)


def _opened(path: str, how: int) -> int:
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


def identity(path: str) -> Identity | None:
    """Return the device and inode of the file at this path; None if there is none."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def appendable(path: str) -> int:
    """Return a descriptor that appends to a file of this user."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return _opened(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except OSError as error:
        raise _down(path, error) from None


def salt_of(path: str) -> bytes:
    """Return the key of the hashes in a store's redactions, from the file ``-salt``; create it if it is missing."""
    place = f"{path}-salt"
    try:
        descriptor = _opened(place, os.O_RDWR | os.O_CREAT)
        with os.fdopen(descriptor, "r+b", buffering=0) as opened, _flocked(descriptor):
            salt = opened.read(_SALT)
            if len(salt) < _SALT:
                salt = os.urandom(_SALT)
                opened.seek(0)
                opened.write(salt)
            return salt
    except OSError as error:
        raise _down(place, error) from None


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock that creating a store and moving it aside take."""
    try:
        descriptor = _opened(f"{path}-salt", os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise _down(f"{path}-salt", error) from None
    with os.fdopen(descriptor, "r+b"), _flocked(descriptor):
        yield


@contextmanager
def _flocked(descriptor: int) -> Iterator[None]:
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


def is_ours(path: str) -> bool:
    """Say whether a file is, or was, an audit store: by its header, or by the salt file beside it."""
    try:
        with open(path, "rb") as opened:
            header = opened.read(72)
        beside = os.path.getsize(f"{path}-salt") == _SALT and os.path.getmtime(f"{path}-salt") <= time.time()
    except OSError:
        return False
    return (header[:16] == _MAGIC and header[68:72] == APPLICATION.to_bytes(4, "big")) or beside


def move_aside(path: str, damaged: Identity | None) -> str:
    """Move a damaged store aside and return its new path; empty if another process did it first."""
    with locked(path):
        if damaged is None or identity(path) != damaged:
            return ""
        name = f"{path}.damaged-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}"
        while os.path.lexists(name):
            name += "-again"
        for beside in ("", *_BESIDE):
            try:
                os.rename(path + beside, name + beside)
            except FileNotFoundError:
                continue
        return name
