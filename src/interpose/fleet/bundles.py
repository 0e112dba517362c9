"""Bundles: a configuration directory as one sequence of bytes, the same for the same files.

    interpose-bundle 1
    [["check.py", 120, false], ["hooks.yaml", 80, false]]
    (the bytes of the files, one after the other)

The second line lists the path, the size and whether it is executable. A bundle has plain files only: there is no way
to write a link, a device or a path outside of its directory, and nothing is compressed that could grow.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from typing import Any

from ..config.contents import LEFT_OUT, MOST_BYTES, MOST_FILES
from ..errors import UsageError
from ..records import Record
from ..runtime.digests import sha256
from ..runtime.regex import regex
from ..strict_json import BadJson, decode

__all__ = ["CONFIGURATIONS", "MOST_PACKED", "BadBundle", "BundledFile", "config_of", "digest_of", "pack", "unpack"]

CONFIGURATIONS = ("hooks.yaml", "hooks.yml", "hooks.json")
"""The names of the configuration in a bundle."""
_MAGIC = b"interpose-bundle 1\n"
_LONGEST_PATH = 400
_DEEPEST = 20
_MOST_LISTED = MOST_FILES * (_LONGEST_PATH + 40)
MOST_PACKED = MOST_BYTES + _MOST_LISTED + len(_MAGIC)
"""The bytes of the largest bundle."""
_PART = regex(r"[^\x00-\x1f\x7f/\\]{1,255}")
_NO_PART = (".", "..")


class BadBundle(UsageError):
    """A directory that cannot be packed, or bytes that are no bundle."""

    code = "fleet_bundle"


class BundledFile(Record, kw_only=False):
    """One file of a bundle."""

    path: str
    """Relative to the directory, with ``/``."""
    data: bytes
    runs: bool
    """Whether it is executable."""


def digest_of(packed: bytes) -> str:
    """Return the name of a bundle: the SHA-256 of its bytes."""
    return sha256(packed).hex()


def config_of(files: list[BundledFile]) -> str:
    """Return the path of the configuration among the files; raise BadBundle if there is none, or more than one."""
    found = [file.path for file in files if file.path in CONFIGURATIONS]
    if len(found) != 1:
        what = f"has {' and '.join(found)}; only one is read" if found else f"has no {CONFIGURATIONS[0]}"
        raise BadBundle(what, hint="a bundle is a directory with one hooks.yaml and what it names")
    return found[0]


# Packing


def pack(directory: str, *, without: tuple[str, ...] = ()) -> bytes:
    """Return a directory as a bundle; raise BadBundle for links out of it, devices, too many files or bytes.

    ``without`` names files that must not be in it, such as the key that signs it.
    """
    root = os.path.realpath(directory)
    if not os.path.isdir(root):
        raise BadBundle("is not a directory", where=directory, hint="name the directory with hooks.yaml")
    forbidden = {os.path.realpath(path) for path in without}
    files: list[BundledFile] = []
    size = 0
    for path, target in _walk(root, root):
        if target in forbidden:
            raise BadBundle("is a private key, and every node would read it", where=path, hint="keep it elsewhere")
        found = _read(root, path, target)
        files.append(found)
        size += len(found.data)
        if size > MOST_BYTES or len(files) > MOST_FILES:
            raise BadBundle(f"has more than {MOST_BYTES >> 20} MiB or {MOST_FILES:,} files", where=directory,
                            hint="move what hooks do not need out of the directory")  # fmt: skip
    try:
        config_of(files)
    except BadBundle as error:
        raise BadBundle(error.problem.what, where=directory, hint=error.problem.hint) from None
    return pack_files(files)


def pack_files(files: list[BundledFile]) -> bytes:
    """Return files as a bundle, in the order of their paths."""
    ordered = sorted(files, key=lambda file: file.path)
    listed = json.dumps([[file.path, len(file.data), file.runs] for file in ordered], separators=(",", ":"))
    return b"".join((_MAGIC, listed.encode(), b"\n", *(file.data for file in ordered)))


def _walk(root: str, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the files below a directory, each with the file that it is: a link inside of it is what it leads to."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise BadBundle(f"cannot be read: {error.strerror}", where=folder) from None
    for entry in found:
        if LEFT_OUT.fullmatch(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(root, entry.path)
            continue
        target = os.path.realpath(entry.path)
        if entry.is_symlink() and not target.startswith(root + os.sep):
            raise BadBundle(f"a link out of the directory, to {target}", where=entry.path,
                            hint="put the file itself there, or remove the link")  # fmt: skip
        yield entry.path, target


def _read(root: str, path: str, target: str) -> BundledFile:
    try:
        with open(os.open(target, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as opened:
            about = os.fstat(opened.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise BadBundle("is not a plain file", where=path, hint="move it out of the directory")
            data = opened.read(MOST_BYTES + 1)
    except IsADirectoryError:
        raise BadBundle("a link to a directory", where=path, hint="put the directory itself there") from None
    except OSError as error:
        raise BadBundle(f"cannot be read: {error.strerror or error}", where=path) from None
    below = os.path.relpath(path, root)
    if why := _why_no_path(below):
        raise BadBundle(why, where=path, hint="give it another name")
    return BundledFile(below, data, bool(about.st_mode & 0o111))


# Unpacking


def unpack(packed: bytes) -> list[BundledFile]:
    """Return the files of a bundle; raise BadBundle if anything about it is not as ``pack`` writes it."""
    if len(packed) > MOST_PACKED:
        raise BadBundle(f"has {len(packed):,} bytes, and {MOST_PACKED:,} are the most")
    if not packed.startswith(_MAGIC):
        raise BadBundle("does not begin as a bundle does")
    end = packed.find(b"\n", len(_MAGIC), len(_MAGIC) + _MOST_LISTED)
    if end < 0:
        raise BadBundle("has no list of files")
    try:
        listed = decode(packed[len(_MAGIC) : end])
    except BadJson as error:
        raise BadBundle(f"its list of files cannot be read: {error}") from None
    files = _files(listed, memoryview(packed)[end + 1 :])
    if pack_files(files) != packed:
        raise BadBundle("is not written as bundles are: the order or the form of its list differs")
    config_of(files)
    return files


def _files(listed: Any, content: memoryview) -> list[BundledFile]:
    if not isinstance(listed, list) or len(listed) > MOST_FILES:
        raise BadBundle(f"lists something else than at most {MOST_FILES:,} files")
    files: list[BundledFile] = []
    begin = 0
    for entry in listed:
        if not isinstance(entry, list) or len(entry) != 3:
            raise BadBundle("lists an entry that is no path with a size")
        path, size, runs = entry
        if not isinstance(path, str) or type(size) is not int or not isinstance(runs, bool) or size < 0:
            raise BadBundle("lists an entry that is no path with a size")
        if why := _why_no_path(path):
            raise BadBundle(f"has the path {path[:80]!a}: {why}")
        if begin + size > len(content):
            raise BadBundle(f"ends before the end of {path[:80]!a}")
        files.append(BundledFile(path, bytes(content[begin : begin + size]), runs))
        begin += size
    if begin != len(content) or begin > MOST_BYTES:
        raise BadBundle("has more bytes than its files have" if begin <= MOST_BYTES else "its files are too large")
    _check_places(files)
    return files


def _check_places(files: list[BundledFile]) -> None:
    """Refuse two files at one path, also where a file system does not tell upper from lower case, and below a file."""
    folded = [file.path.casefold() for file in files]
    taken = set(folded)
    if len(taken) != len(files):
        raise BadBundle("has two files at one path")
    for path in folded:
        parts = path.split("/")
        if any("/".join(parts[:depth]) in taken for depth in range(1, len(parts))):
            raise BadBundle(f"has a file below the file {path[:80]!a}")


def _why_no_path(path: str) -> str:
    """Return why a path may not be in a bundle; nothing if it may."""
    parts = path.split("/")
    try:
        path.encode()
    except UnicodeEncodeError:
        return "not text"
    if len(path) > _LONGEST_PATH or len(parts) > _DEEPEST:
        return "too long"
    if any(_PART.fullmatch(part) is None or part in _NO_PART for part in parts):
        return "not a plain path below the directory"
    if any(LEFT_OUT.fullmatch(part) for part in parts):
        return "a name that is never run: bytecode, logs, a repository"
    return ""
