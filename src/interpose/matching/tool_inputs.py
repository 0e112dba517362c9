"""Walk the input of a tool: every value with its key, and what the key says that it holds."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

__all__ = [
    "ARGUMENTS",
    "COMMANDS",
    "LISTS",
    "NAMES",
    "PATHS",
    "URLS",
    "TooMuch",
    "kind_of_key",
    "limited_values",
    "plain_key",
    "with_arguments",
]

_MOST_VALUES = 1_000
_MOST_SECONDS = 2.0
_DEEPEST = 50
_LONGEST_KEY = 100
"""How long a key may be that is kept in memory."""

# What the keys of a tool's input hold; in lower case and without separators.
COMMANDS = frozenset({"command", "commands", "cmd", "commandline"})
ARGUMENTS = frozenset({"args", "arguments", "argv"})
PATHS = frozenset({
    "filepath", "path", "notebookpath", "file", "filename", "paths", "files", "filepaths", "filenames", "absolutepath",
    "relativepath", "targetfile", "targetpath", "directory", "dir", "folder", "source", "destination",
})  # fmt: skip
URLS = frozenset({"url", "urls", "uri", "uris", "href", "link", "links"})
NAMES = frozenset({"query", "skill", "agenttype", "subagenttype"})
_TEXTS = NAMES | {"pattern", "prompt"}
# Keys that hold neither of them, whatever the tool. A closed list: the value of any other key may be a path.
_INERT = frozenset({
    "content", "contents", "newstring", "oldstring", "newsource", "newstr", "oldstr", "newtext", "oldtext", "text",
    "description", "outputmode", "type", "encoding", "celltype", "cellid", "editmode", "model", "alloweddomains",
    "blockeddomains", "glob", "include", "ignore", "pages",
})  # fmt: skip
LISTS = frozenset({"paths", "files", "filepaths", "filenames", "urls", "uris", "links", "commands"})


class TooMuch(ValueError):
    """An input has so many or so deeply nested values that a rule would take long."""


def with_arguments(name: object, given: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return the input of a tool; that of Skill with the name and the arguments in one value."""
    skill, words = given.get("skill"), given.get("args")
    if name != "Skill" or not isinstance(skill, str) or not isinstance(words, str):
        return given
    return {**given, "skill": f"{skill} {words}".strip(), "args": None}


def limited_values(given: Mapping[Any, Any]) -> Iterator[tuple[str, Any, bool]]:
    """Yield the values of an input, those that a rule is about first; raise TooMuch if a rule would take long."""
    end, number = time.monotonic() + _MOST_SECONDS, 0
    for found in _values(given):
        number += kind_of_key(found[0]) != "inert"
        if number > _MOST_VALUES or time.monotonic() > end:
            raise TooMuch
        yield found


def _values(given: Mapping[Any, Any], depth: int = 0) -> Iterator[tuple[str, Any, bool]]:
    """Yield every value of an input with the key that it stands at, and whether it is in a list that should be none."""
    if depth > _DEEPEST:
        raise TooMuch
    for key, value in sorted(given.items(), key=_is_unknown):
        yield from _below(str(key), value, False, depth)


def _is_unknown(item: tuple[Any, Any]) -> bool:
    return kind_of_key(str(item[0])) in (None, "inert")


def _below(key: str, value: Any, listed: bool, depth: int) -> Iterator[tuple[str, Any, bool]]:
    if isinstance(value, Mapping):
        yield from _values(value, depth + 1)
        if kind_of_key(key) not in (None, "inert"):
            yield key, value, True
    elif isinstance(value, (list, tuple)):
        if depth > _DEEPEST:
            raise TooMuch
        for item in value:
            if isinstance(item, Mapping) and plain_key(key) in LISTS:
                yield from _values(item, depth + 1)
            else:
                yield from _below(key, item, plain_key(key) not in LISTS, depth + 1)
        if not value and kind_of_key(key) not in (None, "inert"):
            yield key, None, True
    else:
        yield key, os.fsdecode(value) if isinstance(value, os.PathLike) else value, listed


def plain_key(key: object) -> str:
    """Return a key in lower case and without separators."""
    return str(key).replace("_", "").replace("-", "").replace(" ", "").lower()


_KINDS = {
    key: kind
    for kind, keys in (("inert", _INERT), ("name", _TEXTS), ("url", URLS), ("path", PATHS), ("command", COMMANDS))
    for key in keys
}


def kind_of_key(key: str) -> str | None:
    """Return what the key of an input holds; None if that is unknown."""
    return _kind(key) if len(key) <= _LONGEST_KEY else _kind.__wrapped__(key)


@lru_cache(maxsize=1024)  # a call with many values has few keys
def _kind(key: str) -> str | None:
    return _KINDS.get(key) or _KINDS.get(plain_key(key))
