"""The files that a configuration runs, read once into memory: what is shown, hashed and stored are the same bytes.

For ``.interpose`` these are all files of the folder. For ``.claude`` and other places they are the configuration, its
``hooks`` folder, and the files that it names.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NoReturn

from ..errors import ConfigError, Problem
from ..records import Record
from ..runtime.digests import sha256
from ..runtime.regex import regex
from .claude_servers import is_part, read_part
from .files import FileRead, Seen, check_owner, seen
from .files import read as read_file

__all__ = ["LEFT_OUT", "MOST_BYTES", "MOST_FILES", "ContentFile", "Contents"]

MOST_BYTES = 10 * 1024 * 1024
MOST_FILES = 1000

LEFT_OUT = regex(r"__pycache__|\.git|\.DS_Store|.*\.(?:pyc|pyo|log|swp)|.*~")
"""Files and folders that are never run: bytecode, logs, what editors and systems leave behind."""
_BYTECODE = regex(r"__pycache__|.*\.py[co]")
_MOST_BESIDE = 2000
_OF_INTERPOSE = regex(
    r"sessions|shadow\.git|hooks(?:\.local|\.schema)?\.(?:yaml|yml|json)|.*cases.*\.(?:yaml|yml|json)"
)
"""What Interpose keeps in a folder of hooks and no hook runs: transcripts, other configurations, cases."""
_MEDIA = regex(
    r".*\.(?:wav|mp3|m4a|aac|aiff?|flac|ogg|opus|mp4|mov|avi|mkv|webm|png|jpe?g|gif|webp|bmp|tiff?|ico|icns|heic)",
    re.IGNORECASE,
)
"""Sounds, films and pictures: no hook decides by them, and they make folders large."""
_CODE = regex(
    r".*\.(?:py|pyi|pth|sh|bash|zsh|fish|ksh|inc|js|mjs|cjs|jsx|ts|mts|cts|tsx|rb|pl|pm|php|lua|go|rs|r|ps1|exs?|jq|awk|"
    r"sed|so|dylib|dll|node|jar|wasm|arma)|package\.json",
    re.IGNORECASE,
)
_PARTS = "parts"
"""Where parts of files are in a snapshot."""
_WAY_OUT = "move what hooks do not need out of the folder"


class ContentFile(Record, kw_only=False):
    """One file: its content when it was read, and where it was."""

    data: bytes
    sha256: str
    runs: bool
    """Whether it is executable."""
    path: str
    """Where it was read, without symbolic links in its directory."""
    seen: Seen | None


class Contents:
    """The files of one configuration, by their place in the snapshot.

    ``files/…`` has the files below ``root`` in their layout, ``outside/…`` single ones of other places.
    """

    def __init__(self, config: FileRead, before: Seen | None, root: str) -> None:
        self.root = root
        self.files: dict[str, ContentFile] = {}
        self.links: dict[str, str] = {}
        self.named: set[str] = set()
        """The places of files that a line or the configuration names."""
        self._folders: list[str] = []
        self._bytes = 0
        self.config = self.place_of(config.real_path)
        self._put(self.config, config, config.real_path, before)

    @property
    def digest(self) -> str:
        """One hash of all files with their places, wherever the project is."""
        parts = [self.config]
        parts += [f"{file.sha256} {'x' if file.runs else '-'} {place!r}" for place, file in sorted(self.files.items())]
        parts += [f"{target!r} <- {place!r}" for place, target in sorted(self.links.items())]
        return sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hex()

    def place_of(self, path: str) -> str:
        """Return the place of a file in the snapshot."""
        below = os.path.relpath(path, self.root)
        return f"outside{path}" if below.split(os.sep)[0] == os.pardir else os.path.join("files", below)

    def covers(self, path: str) -> bool:
        """Return whether a file is here, or a folder is here whole."""
        place = self.place_of(path)
        return place in self.files or place in self.links or (self._is_whole(path) and os.path.isdir(path))

    def is_data(self, place: str) -> bool:
        """Return whether a file is neither run nor named: a hook may write to its copy."""
        file = self.files[place]
        is_code = file.runs or file.data.startswith(b"#!") or _CODE.fullmatch(os.path.basename(place))
        return place not in self.named and place != self.config and not is_code

    def _is_whole(self, path: str) -> bool:
        return any(path == folder or path.startswith(folder + os.sep) for folder in self._folders)

    def read(self, path: str) -> bytes:
        """Return the content of a file, which belongs to the configuration from now on."""
        path = os.path.normpath(path)
        if is_part(path):
            return self._read_part(path)
        self.add_file(path)
        return self.files[self.place_of(path)].data

    def _read_part(self, path: str) -> bytes:
        """Return the part of a file, which belongs to the configuration from now on."""
        data = read_part(path)
        place = os.path.join(_PARTS, f"{sha256(path.encode()).hex()[:16]}.json")
        self.named.add(place)
        self.files[place] = ContentFile(data, sha256(data).hex(), False, path, None)
        return data

    def add_file(self, path: str) -> None:
        """Add a file that is named; a link counts as the file that it leads to."""
        self.named.add(self.place_of(path))
        self._add_file(path)

    def _add_file(self, path: str) -> None:
        place = self.place_of(path)
        if place not in self.files:
            before = seen(path)
            file = read_file(path, found=False, limit=MOST_BYTES)
            self.links.pop(place, None)
            self._put(place, file, path, before)

    def _put(self, place: str, file: FileRead, path: str, before: Seen | None) -> None:
        self._bytes += len(file.data)
        if self._bytes > MOST_BYTES or len(self.files) >= MOST_FILES:
            what = f"more than {MOST_BYTES >> 20} MiB or {MOST_FILES:,} files would have to be kept"
            _refuse(path, what, _WAY_OUT)
        real, folder = file.real_path, os.path.dirname(file.real_path)
        check_owner(os.stat(real), real, real, "is run, and ")
        check_owner(os.stat(folder), real, folder, "is run, and its directory ")
        self.files[place] = ContentFile(file.data, file.sha256, os.access(path, os.X_OK), path, before)

    def add_folder(self, folder: str, most_files: int = 0) -> None:
        """Add all files below a folder, or none: raise ConfigError for a link out of the project, and for too many."""
        if not os.path.isdir(folder) or self._is_whole(folder):
            return
        most = most_files or MOST_FILES
        before = self.files.copy(), self.links.copy(), self._folders.copy(), self._bytes
        self._folders.append(folder)
        try:
            entries = list(islice(_walk(folder, self._is_our_own), most + 1))
            if len(entries) > most:
                _refuse(folder, f"has more than {most:,} files", _WAY_OUT)
            for path in entries:
                self._add_entry(folder, path)
        except ConfigError:
            self.files, self.links, self._folders, self._bytes = before
            raise

    @property
    def _config_folder(self) -> str:
        return os.path.dirname(self.files[self.config].path)

    def _is_our_own(self, path: str) -> bool:
        """Return whether a file beside the configuration is no hook's, such as another configuration."""
        below = os.path.relpath(path, self._config_folder).split(os.sep)
        if _OF_INTERPOSE.fullmatch(below[0]) is None or self.place_of(path) == self.config:
            return False
        return below[0] != "sessions" or not os.path.isfile(
            os.path.join(self._config_folder, "sessions", "__init__.py")
        )

    def _add_entry(self, folder: str, path: str) -> None:
        target = os.path.realpath(path)
        if not os.path.islink(path):
            if stat.S_ISREG(os.lstat(path).st_mode):  # a socket or a FIFO is nothing that is run
                self._add_file(path)
        elif target.startswith(os.path.realpath(folder) + os.sep):
            inside = os.path.join(folder, os.path.relpath(target, os.path.realpath(folder)))
            self.links[self.place_of(path)] = os.path.relpath(inside, os.path.dirname(path))
        elif os.path.isfile(target) and target.startswith(os.path.realpath(self.root) + os.sep):
            self._add_file(path)
        else:
            _refuse(path, f"a link out of the project, to {target}", "put the file itself there, or remove the link")

    def beside(self) -> dict[str, dict[str, str]]:
        """Return what lies beside the files that are kept, and is not kept: per folder the places with the paths.

        The folders are those from a file up to the project; of a file elsewhere, its own and the one above.
        """
        kept = {*self.files, *self.links}
        folders: dict[str, str] = {}
        for place in kept:
            if place.startswith(_PARTS + os.sep):
                continue
            folder, original = os.path.dirname(place), os.path.dirname(self._original(place))
            levels = 2 if place.startswith("outside") else place.count(os.sep)
            for _ in range(levels):
                if len(original) > 1:
                    folders[folder] = original
                folder, original = os.path.dirname(folder), os.path.dirname(original)
        taken = kept | folders.keys()
        found: dict[str, dict[str, str]] = {}
        for folder, original in sorted(folders.items()):
            places = {os.path.join(folder, name): os.path.join(original, name) for name in _names(original)}
            if free := {place: path for place, path in places.items() if place not in taken}:
                found[original] = free
        return found

    def _original(self, place: str) -> str:
        top, _, below = place.partition(os.sep)
        return os.sep + below if top == "outside" else os.path.join(self.root, below)

    def leave_out(self, prefix: str) -> None:
        """Leave out a file, and those beside it whose name begins with its name: a database."""
        for place in [place for place in self.files if place.startswith(self.place_of(prefix))]:
            self._bytes -= len(self.files.pop(place).data)


def _walk(folder: str, is_left_out: Callable[[str], bool]) -> Iterator[str]:
    """Return the files and links below a folder, in the order of their names."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        _refuse(folder, f"cannot be read: {error.strerror}")
    for entry in found:
        if LEFT_OUT.fullmatch(entry.name) or _MEDIA.fullmatch(entry.name) or is_left_out(entry.path):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, is_left_out)
        else:
            yield entry.path


def _names(folder: str) -> list[str]:
    """Return the names of the entries of a folder; bytecode has no part in it."""
    try:
        return sorted(name for name in os.listdir(folder) if not _BYTECODE.fullmatch(name))[:_MOST_BESIDE]
    except OSError:
        return []


def _refuse(path: str, what: str, hint: str = "") -> NoReturn:
    raise ConfigError([Problem(what, where=path, hint=hint)])
