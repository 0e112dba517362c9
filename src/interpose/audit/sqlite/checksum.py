"""A checksum of a small store's whole file, written when the last process closes it.

The chains prove the records. A database also has unused space, in which a changed byte changes no record; the checksum
detects that too, as long as the store is small. There is no checksum while a process has the store open.
"""

from __future__ import annotations

import os
from hashlib import sha256

from . import files

__all__ = ["matches_checksum", "remove_checksum", "write_checksum"]

LARGEST = 1024 * 1024
"""Bytes up to which a store has a checksum: every process that ends reads the whole file."""


def _checksum_path(path: str) -> str:
    return f"{path}-sum"


def remove_checksum(path: str) -> None:
    """Remove the checksum before the store is written to. The caller holds the lock."""
    try:
        os.unlink(_checksum_path(path))
    except FileNotFoundError:
        return


def write_checksum(path: str) -> None:
    """Write the checksum of a closed store, unless it is large or another process has it open."""
    with files.locked(path):
        if os.path.exists(f"{path}-wal") or os.path.getsize(path) > LARGEST:
            return
        descriptor = os.open(
            _checksum_path(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        try:
            os.write(descriptor, _checksum_of(path).encode())
        finally:
            os.close(descriptor)


def matches_checksum(path: str) -> bool:
    """Say whether a store's file matches its checksum; True if there is none."""
    try:
        if os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal"):
            return True
        with open(_checksum_path(path), "rb") as opened:
            known = opened.read(100).decode("ascii", "replace")
        return known == _checksum_of(path)
    except OSError:
        return True


def _checksum_of(path: str) -> str:
    with open(path, "rb") as opened:
        return sha256(opened.read()).hexdigest()
