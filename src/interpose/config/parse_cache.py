"""Cache the parsed values of configuration files, so that a file is parsed once until it changes.

The cache is in the user's cache directory, under the hash of the file's content, and is not used if another user could
have written it. Only files without problems are cached.
"""

from __future__ import annotations

import marshal
import os
import sys
from typing import Any, Literal

from ..errors import ConfigError
from ..runtime.digests import sha256
from .files import FileRead
from .files import read as read_file
from .state import cache_directory, write_privately

__all__ = ["parse"]

_VERSION = 2
_WORTHWHILE = 500
"""JSON files with fewer bytes are parsed faster than they are found in the cache. For YAML, PyYAML has to be loaded."""
_SEAL = 32


class CachedParse:
    """The cached value of a file. The file is parsed only if a position is asked for."""

    def __init__(self, value: Any, file: FileRead, source: str) -> None:
        self.value = value
        self._file = file
        self._source = source
        self._parsed: Any = None

    def place(self, path: str, *, value: bool = False) -> tuple[int, int]:
        """Return the line and column of a part."""
        place: tuple[int, int] = self._whole().place(path, value=value)
        return place

    def where(self, path: str, *, value: bool = False) -> str:
        """Return ``source:line:column`` of a part."""
        where: str = self._whole().where(path, value=value)
        return where

    def _whole(self) -> Any:
        if self._parsed is None:
            self._parsed = _parse(self._file, self._source)
        return self._parsed


def parse(file: FileRead, source: str, directory: str = "") -> Any:
    """Return the value of a file with its positions, from the cache if it is there; ``directory`` has the cache."""
    language = _language(source)
    if language == "json" and len(file.data) < _WORTHWHILE:
        return _parse(file, source)
    # The same text may be valid in one language and not in the other.
    path = os.path.join(directory or cache_directory(), f"{file.sha256}.{language}.{sys.implementation.cache_tag}")
    value = _recall(path)
    if value is not None:
        return CachedParse(value[0], file, source)
    parsed = _parse(file, source)
    try:
        made = marshal.dumps((_VERSION, parsed.value))
        write_privately(path, sha256(made) + made)
    except (OSError, ValueError):  # a directory that cannot be written to, a value that marshal does not support
        pass
    return parsed


def _recall(path: str) -> tuple[Any] | None:
    try:
        data = read_file(path, found=True).data
        if sha256(data[_SEAL:]) != data[:_SEAL]:
            return None  # damaged: marshal would return other data, or crash
        version, value = marshal.loads(data[_SEAL:])  # noqa: S302 - only this user can have written it
    except (ConfigError, OSError, ValueError, EOFError, TypeError):
        return None
    return (value,) if version == _VERSION else None


def _language(source: str) -> Literal["json", "yaml"]:
    return "json" if source.endswith(".json") else "yaml"


def _parse(file: FileRead, source: str) -> Any:
    from .text import parse as parse_text

    return parse_text(file.data, source, format=_language(source))
