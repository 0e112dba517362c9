"""Read configuration files: only regular files, and found ones only if no other user can write to them.

A file that was named explicitly is trusted. One that was found must belong to the user or root and be writable by no
other user, as sshd demands of its keys. A file that cannot be read is a problem, never a file without hooks.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import NoReturn

from ..errors import ConfigError, Problem
from ..records import Record
from ..runtime.digests import sha256

__all__ = ["MOST_BYTES", "FileRead", "Seen", "check_owner", "read", "seen"]

MOST_BYTES = 10 * 1024 * 1024
"""The largest configuration file."""

_BY_HAND = "or name the file yourself"

# O_NONBLOCK: opening a FIFO that has replaced the file since the first check would wait for a writer.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
# O_PATH needs no permission to list a directory; macOS does not have it.
_DIRECTORY = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_ERRORS = {
    errno.ENOENT: ("there is no such file", "check the path"),
    errno.ENOTDIR: ("there is no such file: a part of its path is not a directory", "check the path"),
    errno.EACCES: ("may not be read", "check the permissions of the file and of the directories above it"),
    errno.EPERM: ("may not be read", "check the permissions of the file and of the directories above it"),
    errno.ELOOP: ("a symbolic link that leads back to itself, or was put there just now", "check the path"),
    errno.EISDIR: ("a directory, not a file", "name a file in it"),
}


class FileRead(Record, kw_only=False):
    """The content of a file, and the identity of the file that was opened."""

    data: bytes
    path: str
    """The absolute path, as given."""
    real_path: str
    """The path without symbolic links."""
    identity: tuple[int, int]
    """Device and inode."""
    sha256: str
    """Of the data, in hexadecimal."""


def read(path: str | os.PathLike[str], *, found: bool, limit: int = MOST_BYTES, hashed: bool = True) -> FileRead:
    """Read a whole file that was named, or ``found`` without being named; raise ConfigError if it is refused.

    Without ``hashed`` its hash is empty.
    """
    given = os.path.abspath(os.fspath(path))
    try:
        # A link is followed here once; what is opened below must not be a link.
        real = _real(given, found)
        directory = os.open(os.path.dirname(real), _DIRECTORY)
        try:
            data, info = _read(os.path.basename(real), directory, given, found, limit)
        finally:
            os.close(directory)
    except OSError as error:
        what, hint = _ERRORS.get(error.errno or 0, (f"cannot be read: {error.strerror or error}", ""))
        _refuse(given, what, hint)
    except ConfigError:
        raise
    except ValueError:  # a path with a NUL in it
        _refuse(given, "no file can have this name")
    return FileRead(data, given, real, (info.st_dev, info.st_ino), sha256(data).hex() if hashed else "")


def _real(given: str, found: bool) -> str:
    if found and stat.S_ISLNK(os.lstat(given).st_mode):
        _refuse(given, "a symbolic link that was not named explicitly", f"put the file itself there, {_BY_HAND}")
    return os.path.realpath(given, strict=True)


def _read(name: str, directory: int, given: str, found: bool, limit: int) -> tuple[bytes, os.stat_result]:
    # Checked before it is opened, since opening a device can have effects; and again when it is open.
    _plain_file(os.stat(name or ".", dir_fd=directory, follow_symlinks=False), given)
    opened = os.open(name, _FLAGS, dir_fd=directory)
    try:
        info = os.fstat(opened)
        _plain_file(info, given)
        if found:
            check_owner(info, given, given, "")
            check_owner(os.fstat(directory), given, os.path.dirname(given), "its directory ")
        if info.st_size > limit:
            _too_large(given, limit)
        data = _all_of(opened, given, limit)
        after = os.fstat(opened)
    finally:
        os.close(opened)
    if (info.st_size, info.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        # Half of a file can be a valid configuration with half of the guards.
        _refuse(given, "was written to while it was being read", "try again")
    return data, info


def _all_of(opened: int, given: str, limit: int) -> bytes:
    parts = []
    left = limit + 1
    while left > 0 and (part := os.read(opened, min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    if left <= 0:
        _too_large(given, limit)
    return b"".join(parts)


def _plain_file(info: os.stat_result, given: str) -> None:
    if not stat.S_ISREG(info.st_mode):
        kind = _KINDS.get(stat.S_IFMT(info.st_mode), "something else")
        _refuse(given, f"{kind}, not a file", "a configuration is a plain file")


def check_owner(info: os.stat_result, given: str, path: str, what: str) -> None:
    """Refuse a file that another user owns or can write to: they could run hooks as this user."""
    if info.st_uid not in (os.geteuid(), 0):
        _refuse(given, f"{what}belongs to another user (uid {info.st_uid})", f"chown it, {_BY_HAND}")
    writable = info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    # In a sticky directory other users can add files, but not change existing ones.
    if not writable or (stat.S_ISDIR(info.st_mode) and info.st_mode & stat.S_ISVTX):
        return
    who = "every user" if writable & stat.S_IWOTH else "its group"
    mode = stat.S_IMODE(info.st_mode)
    _refuse(given, f"{what}can be written to by {who} (mode {mode:04o})", f"chmod go-w {path}, {_BY_HAND}")


def _too_large(given: str, limit: int) -> NoReturn:
    _refuse(given, f"has more than {limit} bytes")


def _refuse(given: str, what: str, hint: str = "") -> NoReturn:
    raise ConfigError([Problem(what, where=given, hint=hint)])


Seen = tuple[int, int, int, int, int]
"""Device, inode, size, and the times of modification and change of a file."""


def seen(path: str) -> Seen | None:
    """Return what changes with a file; None if there is no file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    # A program can set the modification time of a file, but not the change time.
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
