"""Put files into a folder: all of them or none, and never one in another's place."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import UsageError

__all__ = ["Placed", "place"]

_PLAIN, _EXECUTABLE = 0o644, 0o755


@dataclass(frozen=True, slots=True)
class Placed:
    """A file that is to be written: its name, what will be in it, and what it is for."""

    name: str
    text: str
    purpose: str
    before: str | None = None
    """What is in it now, where it is added to; nothing else may have happened to it in the meantime."""


def place(folder: str, files: Sequence[Placed]) -> None:
    """Write files into a folder; if one cannot be written, take the others back and raise UsageError."""
    if os.path.islink(folder):
        raise UsageError("is a symbolic link, and nothing was written", where=folder,
                         hint="it may lead to files that are not this project's")  # fmt: skip
    new = [file for file in files if file.before is None]
    for file in new:
        if os.path.lexists(path := os.path.join(folder, file.name)):
            raise UsageError("it is there already, and nothing was written", where=os.path.normpath(path),
                             hint="`interpose check` looks at it; remove it to begin anew")  # fmt: skip
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
            _take_back(path, before)
        if is_new and os.path.isdir(folder):
            os.rmdir(folder)
        if isinstance(error, OSError):
            raise UsageError(f"cannot be written: {error.strerror}; nothing was written",
                             where=error.filename or folder) from None  # fmt: skip
        raise


def _write(path: str, text: str, mode: int) -> None:
    """Write a new file that nobody else may write to, whatever this shell's umask allows."""
    # O_EXCL: what has turned up since we looked is not ours to overwrite, be it a file or a link.
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(opened, "w", encoding="utf-8", newline="") as file:
            os.fchmod(opened, mode)
            file.write(text)
    except BaseException:
        os.unlink(path)
        raise


def _replace(path: str, before: str, text: str) -> None:
    """Have a file hold another text, whole, at once and with the same rights."""
    beside = f"{path}.{os.getpid()}.new"
    if _text_of(path) != before:
        raise UsageError("was changed just now, and nothing was written", where=path, hint="try again")
    _write(beside, text, os.stat(path).st_mode & 0o777)
    try:
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def _take_back(path: str, before: str | None) -> None:
    if before is None:
        os.unlink(path)
    else:
        _replace(path, _text_of(path), before)
