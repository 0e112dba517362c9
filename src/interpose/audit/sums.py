"""A sum over a small store's whole file, as the last process left it that ended in order.

The chains prove what is recorded. A database also has space that is used for nothing, in which a changed byte changes
no record; as long as a store is small, this finds that too. While anybody has the store open there is no sum.
"""

from __future__ import annotations

import os
from hashlib import sha256

from . import files

__all__ = ["drop_sum", "is_as_left", "write_sum"]

LARGEST = 1024 * 1024
"""Bytes up to which a store is summed up: every process that ends reads all of it."""


def _place(path: str) -> str:
    return f"{path}-sum"


def drop_sum(path: str) -> None:
    """Take the sum away: the store is about to be written to. Called while it is locked."""
    try:
        os.unlink(_place(path))
    except FileNotFoundError:
        return


def write_sum(path: str) -> None:
    """Sum up a store that was closed, unless it is large or somebody else has it open."""
    with files.locked(path):
        if os.path.exists(f"{path}-wal") or os.path.getsize(path) > LARGEST:
            return
        descriptor = os.open(_place(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, _sum_of(path).encode())
        finally:
            os.close(descriptor)


def is_as_left(path: str) -> bool:
    """Say whether a store's file is as it was left, as far as that is known."""
    try:
        if os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal"):
            return True
        with open(_place(path), "rb") as opened:
            known = opened.read(100).decode("ascii", "replace")
        return known == _sum_of(path)
    except OSError:
        return True


def _sum_of(path: str) -> str:
    with open(path, "rb") as opened:
        return sha256(opened.read()).hexdigest()
