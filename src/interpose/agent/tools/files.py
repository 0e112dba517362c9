"""Text files: read as they are, recognised when they have changed, and replaced whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .nouns import ToolFailed

__all__ = ["MOST_BYTES", "digest", "explain", "load", "newline_of", "replace_file", "text_of"]

MOST_BYTES = 20_000_000
"""Larger files are for programs: Bash can cut pieces out of them."""


_LOOK = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def load(path: Path, name: str) -> bytes | None:
    """Return what is in a regular file, None if nothing is there; raise ToolFailed for anything else.

    The path is a real one, as ``inside`` gives it.
    """
    try:
        # A pipe without a writer would be waited for, without end.
        with _directory(path) as directory:
            descriptor = os.open(path.name, _READ, dir_fd=directory)
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
    with _directory(path, make=True) as directory:
        scratch = f".{secrets.token_hex(8)}.tmp"
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=directory)
        try:
            with open(descriptor, "wb") as opened:
                _take_after(path.name, directory, descriptor)
                opened.write(data)
            os.replace(scratch, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            os.unlink(scratch, dir_fd=directory)
            raise


@contextmanager
def _directory(path: Path, *, make: bool = False) -> Iterator[int]:
    """Hold the directory of a file that has a real path, step by step from the root; ``make`` makes what is missing.

    The path was judged as one without links. A link that has turned up in it since then is not followed.
    """
    directory = os.open(path.anchor, _LOOK)
    try:
        for name in path.parent.parts[1:]:
            try:
                below = os.open(name, _LOOK, dir_fd=directory)
            except FileNotFoundError:
                if not make:
                    raise
                with suppress(FileExistsError):  # somebody else was faster
                    os.mkdir(name, dir_fd=directory)
                below = os.open(name, _LOOK, dir_fd=directory)
            os.close(directory)
            directory = below
        yield directory
    finally:
        os.close(directory)


def _take_after(name: str, directory: int, descriptor: int) -> None:
    """Give the new file the permissions and, where we may, the owner of the one that it replaces."""
    try:
        before = os.stat(name, dir_fd=directory, follow_symlinks=False)
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
