"""Write files into a folder: all of them or none, and overwrite no file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import UsageError

__all__ = ["FileToWrite", "write_files"]

_PLAIN, _EXECUTABLE = 0o644, 0o755


@dataclass(frozen=True, slots=True)
class FileToWrite:
    """A file to write: its name, its new text, and its purpose."""

    name: str
    text: str
    purpose: str
    before: str | None = None
    """The present text of a file that is changed; None for a new file."""


def write_files(folder: str, files: Sequence[FileToWrite]) -> None:
    """Write files into a folder; if one cannot be written, restore the others and raise UsageError."""
    if os.path.islink(folder):
        raise UsageError("is a symbolic link; nothing was written", where=folder,
                         hint="it may lead out of this project")  # fmt: skip
    new = [file for file in files if file.before is None]
    for file in new:
        if os.path.lexists(path := os.path.join(folder, file.name)):
            raise UsageError("exists already; nothing was written", where=os.path.normpath(path),
                             hint="`interpose check` checks it; remove it to start again")  # fmt: skip
    undo: list[tuple[str, str | None]] = []
    is_new = not os.path.lexists(folder)
    try:
        os.makedirs(folder, mode=_EXECUTABLE, exist_ok=True)
        for file in (*new, *(file for file in files if file.before is not None)):
            path = os.path.join(folder, file.name)
            if file.before is None:
                _write(path, file.text, _EXECUTABLE if file.text.startswith("#!") else _PLAIN)
            else:
                _replace(path, file.before, file.text)
            undo.append((path, file.before))
    except BaseException as error:
        for path, before in reversed(undo):
            _restore(path, before)
        if is_new and os.path.isdir(folder):
            os.rmdir(folder)
        if isinstance(error, OSError):
            raise UsageError(f"cannot be written: {error.strerror}; nothing was written",
                             where=error.filename or folder) from None  # fmt: skip
        raise


def _write(path: str, text: str, mode: int) -> None:
    """Create a file with exactly this mode, whatever the umask is."""
    # O_EXCL fails if a file or a link has appeared since the check.
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(opened, "w", encoding="utf-8", newline="") as file:
            os.fchmod(opened, mode)
            file.write(text)
    except BaseException:
        os.unlink(path)
        raise


def _replace(path: str, before: str, text: str) -> None:
    """Replace the text of a file atomically; keep its mode."""
    scratch = f"{path}.{os.getpid()}.new"
    if _text_of(path) != before:
        raise UsageError("was changed just now; nothing was written", where=path, hint="try again")
    _write(scratch, text, os.stat(path).st_mode & 0o777)
    try:
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def _restore(path: str, before: str | None) -> None:
    if before is None:
        os.unlink(path)
    else:
        _replace(path, _text_of(path), before)
