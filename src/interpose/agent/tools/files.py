"""Text files: reading, digests, and atomic replacement."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .tool import ToolFailed

__all__ = ["MAX_BYTES", "digest", "explain", "load", "newline_of", "replace_file", "text_of"]

MAX_BYTES = 20_000_000
"""The maximum size of a file that tools read; Bash can show parts of larger ones."""


_LOOK = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def load(path: Path, name: str) -> bytes | None:
    """Return the content of a regular file, None if it does not exist; raise ToolFailed for anything else.

    The path is a real path, as ``inside`` returns it.
    """
    try:
        # O_NONBLOCK: opening a pipe without a writer would block.
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
            raise ToolFailed(f"{name} is not a regular file (a device, a pipe or a socket)")
        if found.st_size > MAX_BYTES:
            raise ToolFailed(f"{name} has more than {MAX_BYTES:,} bytes: look at a part of it with Bash")
        with open(descriptor, "rb", closefd=False) as opened:
            return opened.read(found.st_size)
    finally:
        os.close(descriptor)


def text_of(data: bytes, name: str) -> str:
    """Return a file's text with its line endings; raise ToolFailed for binary data."""
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
    """Return the SHA-256 of some content."""
    return hashlib.sha256(data).hexdigest()


def newline_of(text: str) -> str:
    r"""Return the most frequent line ending of a text, ``\n`` or ``\r\n``."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def replace_file(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Replace a file atomically; an existing file keeps its permissions, missing directories are created.

    ``mode`` is for a new file, before the umask.
    """
    with _directory(path, make=True) as directory:
        scratch = f".{secrets.token_hex(8)}.tmp"
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=directory)
        try:
            with open(descriptor, "wb") as opened:
                _copy_permissions(path.name, directory, descriptor)
                opened.write(data)
            os.replace(scratch, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            os.unlink(scratch, dir_fd=directory)
            raise


@contextmanager
def _directory(path: Path, *, make: bool = False) -> Iterator[int]:
    """Open the directory of a file with a real path, part by part from the root; ``make`` creates what is missing.

    The path was checked and had no links. A link that was created since then is not followed.
    """
    directory = os.open(path.anchor, _LOOK)
    try:
        for name in path.parent.parts[1:]:
            try:
                below = os.open(name, _LOOK, dir_fd=directory)
            except FileNotFoundError:
                if not make:
                    raise
                with suppress(FileExistsError):  # another process created it
                    os.mkdir(name, dir_fd=directory)
                below = os.open(name, _LOOK, dir_fd=directory)
            os.close(directory)
            directory = below
        yield directory
    finally:
        os.close(directory)


def _copy_permissions(name: str, directory: int, descriptor: int) -> None:
    """Give the new file the permissions and, if allowed, the owner of the file that it replaces."""
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
    """Return the text of an error, with this name in place of the path."""
    return f"{name}: {error.strerror or error}"
