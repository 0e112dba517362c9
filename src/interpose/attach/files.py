"""Read and replace files of settings: atomically, through links, with their mode and owner kept."""

from __future__ import annotations

import hashlib
import os
import tempfile
from typing import Any

from ..state.directories import make_private, state_path, write_privately
from .errors import BadSettings

__all__ = ["backup", "digest_of", "read_backup", "read_bytes", "remove_made", "replace_file",
           "text_of"]  # fmt: skip

_LARGEST = 16 * 1024**2


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def read_bytes(path: str) -> bytes | None:
    """Return the content of a file; None if it is not there. Raise BadSettings if it cannot be used."""
    try:
        with open(path, "rb") as opened:
            data = opened.read(_LARGEST + 1)
    except FileNotFoundError:
        if os.path.islink(path):
            raise BadSettings("is a link that leads nowhere", where=path, hint="remove it, or make its file") from None
        return None
    except OSError as error:
        raise BadSettings(f"cannot be read: {error.strerror}", where=path) from None
    if len(data) > _LARGEST:
        raise BadSettings("is larger than 16 MiB", where=path)
    return data


def text_of(data: bytes, where: str) -> str:
    """Return bytes as text; raise BadSettings if they are not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadSettings("not UTF-8", where=f"{where}:{line}", hint="save it as UTF-8") from None


def replace_file(path: str, data: bytes | None, *, expected: bytes | None, mode: int) -> list[str]:
    """Replace a file, or remove it if ``data`` is None; return the directories that had to be made.

    A link is followed, and stays. Raise BadSettings if the file is not what was expected: another program has just
    changed it.
    """
    if read_bytes(path) != expected:
        raise BadSettings("was changed just now; nothing was written", where=path, hint="try again")
    target = os.path.realpath(path)
    if data is None:
        if expected is not None:
            os.unlink(target)
        return []
    folder = os.path.dirname(target)
    made = _make_directories(folder)
    try:
        before = os.stat(target) if expected is not None else None
        descriptor, scratch = tempfile.mkstemp(dir=folder, prefix=".interpose-")
        try:
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(data)
                opened.flush()
                os.fchmod(opened.fileno(), before.st_mode & 0o7777 if before is not None else mode)
                if before is not None and os.geteuid() == 0:
                    os.fchown(opened.fileno(), before.st_uid, before.st_gid)
                os.fsync(opened.fileno())
            os.replace(scratch, target)
        except BaseException:
            os.unlink(scratch)
            raise
    except OSError as error:
        remove_made(made)
        raise BadSettings(f"cannot be written: {error.strerror}; nothing was written", where=path) from None
    return made


def _make_directories(folder: str) -> list[str]:
    """Make a directory and those above it; return those that are new, the innermost first."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        if os.path.dirname(folder) == folder:
            break
        folder = os.path.dirname(folder)
    made: list[str] = []
    for one in reversed(missing):
        try:
            os.mkdir(one, 0o755)
        except OSError as error:
            remove_made(made)
            raise BadSettings(f"cannot be made: {error.strerror}; nothing was written", where=one) from None
        made.insert(0, one)
    return made


def remove_made(folders: list[str]) -> None:
    """Remove directories that are empty, the innermost first."""
    for folder in folders:
        try:
            os.rmdir(folder)
        except OSError:
            return  # it is not empty, or is gone


def backup(data: bytes) -> str:
    """Keep a copy of a file's content in the person's state directory; return its name."""
    name = digest_of(data)
    path = state_path(os.path.join("attach", "backups", name))
    if not os.path.exists(path):
        make_private(os.path.dirname(path))
        write_privately(path, data)
    return name


def read_backup(name: Any) -> bytes | None:
    """Return a copy that was kept; None if it is not there, or was changed."""
    if not isinstance(name, str) or not name.isalnum():
        return None
    try:
        with open(state_path(os.path.join("attach", "backups", name)), "rb") as opened:
            data = opened.read()
    except OSError:
        return None
    return data if digest_of(data) == name else None
