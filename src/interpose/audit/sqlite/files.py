"""The files of a store in SQLite: creating them, the lock, the salt, and moving a store aside."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..completion import StoreDown
from ..private_files import flocked, open_privately, unusable
from .schema import APPLICATION

__all__ = ["Identity", "identity", "is_ours", "locked", "move_aside", "prepare", "salt_of"]

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
        os.close(open_privately(path, os.O_RDWR | os.O_CREAT))
    except OSError as error:
        raise unusable(path, error) from None


def identity(path: str) -> Identity | None:
    """Return the device and inode of the file at this path; None if there is none."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def salt_of(path: str) -> bytes:
    """Return the key of the hashes in a store's redactions, from the file ``-salt``; create it if it is missing."""
    place = f"{path}-salt"
    try:
        descriptor = open_privately(place, os.O_RDWR | os.O_CREAT)
        with os.fdopen(descriptor, "r+b", buffering=0) as opened, flocked(descriptor):
            salt = opened.read(_SALT)
            if len(salt) < _SALT:
                salt = os.urandom(_SALT)
                opened.seek(0)
                opened.write(salt)
            return salt
    except OSError as error:
        raise unusable(place, error) from None


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock that creating a store and moving it aside take."""
    try:
        descriptor = open_privately(f"{path}-salt", os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise unusable(f"{path}-salt", error) from None
    with os.fdopen(descriptor, "r+b"), flocked(descriptor):
        yield


def is_ours(path: str) -> bool:
    """Say whether a file is, or was, an audit store: by its header, or by the salt file beside it."""
    try:
        with open(path, "rb") as opened:
            header = opened.read(72)
        beside = os.path.getsize(f"{path}-salt") == _SALT and os.path.getmtime(f"{path}-salt") <= time.time()
    except OSError:
        return False
    return (header[:16] == _MAGIC and header[68:72] == APPLICATION.to_bytes(4, "big")) or beside


def move_aside(path: str, moved: Identity | None, why: str = "damaged") -> str:
    """Move a store aside and return its new path; empty if another process did it first."""
    with locked(path):
        if moved is None or identity(path) != moved:
            return ""
        name = f"{path}.{why}-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}"
        while os.path.lexists(name):
            name += "-again"
        for beside in ("", *_BESIDE):
            try:
                os.rename(path + beside, name + beside)
            except FileNotFoundError:
                continue
        return name
