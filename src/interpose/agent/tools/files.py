"""Text files: read as they are, recognised when they have changed, and replaced whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from pathlib import Path

from .nouns import ToolFailed

__all__ = ["MOST_BYTES", "digest", "explain", "load", "newline_of", "replace_file", "text_of"]

MOST_BYTES = 20_000_000
"""Larger files are for programs: Bash can cut pieces out of them."""


def load(path: Path, name: str) -> bytes | None:
    """Return what is in a regular file, None if nothing is there; raise ToolFailed for anything else."""
    try:
        # A pipe without a writer would be waited for, without end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ToolFailed(explain(error, name)) from None
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise ToolFailed(f"{name} is a directory: Glob lists what is in it")
        if not stat.S_ISREG(found.st_mode):
            raise ToolFailed(f"{name} is no regular file (a device, a pipe or a socket)")
        if found.st_size > MOST_BYTES:
            raise ToolFailed(f"{name} has more than {MOST_BYTES:,} bytes: look at a part of it with Bash")
        with open(descriptor, "rb", closefd=False) as opened:
            return opened.read(found.st_size)
    finally:
        os.close(descriptor)


def text_of(data: bytes, name: str) -> str:
    """Return a file's text, line ends as they are; raise ToolFailed for what is no text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolFailed(
            f"{name} is binary, or not in UTF-8 (byte {error.start}): it cannot be shown as text"
        ) from None
    if "\0" in text:
        raise ToolFailed(f"{name} is binary (it has NUL bytes): it cannot be shown as text")
    return text


def digest(data: bytes) -> str:
    """Return what tells this content from any other."""
    return hashlib.sha256(data).hexdigest()


def newline_of(text: str) -> str:
    r"""Return the line end that prevails in a text, ``\n`` or ``\r\n``."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def replace_file(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Write a file whole or not at all; a file that is there keeps its permissions, directories are made.

    ``mode`` is for a file that is new, before the person's umask.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{secrets.token_hex(8)}.tmp")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with open(descriptor, "wb") as opened:
            _take_after(path, descriptor)
            opened.write(data)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise


def _take_after(path: Path, descriptor: int) -> None:
    """Give the new file the permissions and, where we may, the owner of the one that it replaces."""
    try:
        before = os.stat(path)
    except FileNotFoundError:
        return
    after = os.fstat(descriptor)
    if (before.st_uid, before.st_gid) != (after.st_uid, after.st_gid):
        try:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        except PermissionError:
            pass
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def explain(error: OSError, name: str) -> str:
    """Return what is wrong with a file, without a path of ours in it."""
    return f"{name}: {error.strerror or error}"
