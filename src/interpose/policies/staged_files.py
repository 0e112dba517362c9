"""Read the files that a git command is about to commit, without running git."""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Iterator

from ..matching.shell import ShellCommand
from ..matching.shell.words import is_known
from ..runtime.named_tuples import NamedTuple
from .call import Call

__all__ = ["files_to_commit"]

_LARGEST = 256 * 1024
_MOST_FILES = 200
_MOST_ENTRIES = 20_000
_ALL = frozenset({"-A", "--all", "-u", "--update", ":/"})
_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})


class _StagedFile(NamedTuple):
    path: str
    blob: str
    mtime: tuple[int, int]
    size: int


def files_to_commit(call: Call) -> Iterator[tuple[str, str]]:
    """Yield path and text of the files that ``git add`` names, and of those that ``git commit`` commits."""
    for line in call.lines:
        for command in line.commands:
            if command.name == "git":
                yield from _of_command(command, call.cwd)


def _of_command(command: ShellCommand, cwd: str) -> Iterator[tuple[str, str]]:
    place = command.directories[0] if command.directories else ""
    folder = os.path.join(cwd, os.path.expanduser(place)) if is_known(place) else cwd
    words = list(command.parts[1:])
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in _VALUED and words:
            value = words.pop(0)
            folder = os.path.join(folder, os.path.expanduser(value)) if option == "-C" and is_known(value) else folder
    sub, rest = words[:1], words[1:]
    if sub in (["add"], ["stage"]):
        yield from _named(folder, rest)
        if any(word in _ALL or os.path.isdir(os.path.join(folder, word)) for word in rest if is_known(word)):
            yield from _staged(folder, every=True)
    elif sub == ["commit"]:
        every = any(word in ("-a", "--all") or (word[:1] == "-" != word[1:2] and "a" in word[1:]) for word in rest)
        yield from _staged(folder, every=every)


def _named(folder: str, words: list[str]) -> Iterator[tuple[str, str]]:
    for word in words[:_MOST_FILES]:
        if is_known(word) and not word.startswith("-"):
            text = _text(os.path.join(folder, os.path.expanduser(word)))
            if text is not None:
                yield word, text


def _staged(folder: str, *, every: bool) -> Iterator[tuple[str, str]]:
    """Yield what was staged since the last commit; with ``every`` the changed files too."""
    found = _git_directory(folder)
    if found is None:
        return
    tree, own, common = found
    since = _mtime(os.path.join(own, "logs", "HEAD"))
    number = 0
    for entry in _entries(os.path.join(own, "index")):
        text = _blob(common, entry, since)
        if text is None and every:
            text = _changed(os.path.join(tree, entry.path), entry)
        if text is not None:
            number += 1
            yield entry.path, text
        if number >= _MOST_FILES:
            return


def _git_directory(folder: str) -> tuple[str, str, str] | None:
    """Return the work tree, its git directory and the one with the objects."""
    tree = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(tree, ".git")):
        above = os.path.dirname(tree)
        if above == tree:
            return None
        tree = above
    own = os.path.join(tree, ".git")
    if os.path.isfile(own):
        line = _text(own) or ""
        own = os.path.normpath(os.path.join(tree, line.removeprefix("gitdir:").strip()))
    shared = _text(os.path.join(own, "commondir"))
    return tree, own, os.path.normpath(os.path.join(own, shared.strip())) if shared else own


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _text(path: str) -> str | None:
    """Return the text of a small file; None if it is none."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            return None
        with open(path, "rb") as file:
            return _decoded(file.read(_LARGEST))
    except (OSError, ValueError):
        return None


def _decoded(data: bytes) -> str | None:
    return None if b"\0" in data[:8_000] else data.decode("utf-8", "replace")


def _entries(path: str) -> Iterator[_StagedFile]:
    """Yield the entries of an index of version 2 or 3."""
    try:
        with open(path, "rb") as file:
            data = file.read(64 << 20)
    except OSError:
        return
    if data[:4] != b"DIRC" or len(data) < 12:
        return
    version, number = struct.unpack(">II", data[4:12])
    at = 12
    for _ in range(min(number, _MOST_ENTRIES) if version in (2, 3) else 0):
        if at + 62 > len(data):
            return
        seconds, nanoseconds = struct.unpack(">II", data[at + 8 : at + 16])
        (size,) = struct.unpack(">I", data[at + 36 : at + 40])
        (flags,) = struct.unpack(">H", data[at + 60 : at + 62])
        begin = at + (64 if flags & 0x4000 else 62)
        end = data.find(b"\0", begin)
        if end < 0:
            return
        yield _StagedFile(os.fsdecode(data[begin:end]), data[at + 40 : at + 60].hex(), (seconds, nanoseconds), size)
        at += (end - at + 8) // 8 * 8


def _blob(common: str, entry: _StagedFile, since: int) -> str | None:
    """Return the text of an object that was written after the last commit."""
    path = os.path.join(common, "objects", entry.blob[:2], entry.blob[2:])
    if entry.size > _LARGEST or _mtime(path) <= since:
        return None
    try:
        with open(path, "rb") as file:
            data = zlib.decompressobj().decompress(file.read(_LARGEST), _LARGEST + 64)
    except (OSError, zlib.error):
        return None
    head, _, body = data.partition(b"\0")
    return _decoded(body) if head.startswith(b"blob ") else None


def _changed(path: str, entry: _StagedFile) -> str | None:
    """Return the text of a file that differs from what is staged, as far as its time and size say."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    same = divmod(found.st_mtime_ns, 10**9) == entry.mtime and found.st_size == entry.size
    return None if same else _text(path)
