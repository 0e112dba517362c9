"""Merge the entries of one YAML text into another by inserting lines, so that comments and order are kept.

The result is parsed again and compared with the merged values of both texts. If they differ, CannotMerge is raised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...config.text import Parsed, parse
from ...errors import ConfigError
from ...runtime.named_tuples import NamedTuple
from ...runtime.regex import regex

__all__ = ["CannotMerge", "merge_yaml"]

Path = tuple[str, ...]

_STEP = 2
_KEY = regex(r"( *)([\w:]+):(?:\s+#.*)?", re.ASCII)
_EVENTS = "hooks"
"""The key whose keys are events with entries; any other key has entries itself."""


class CannotMerge(Exception):
    """Lines cannot be inserted into this text, or its values conflict with those of the other."""

    def __init__(self, text: str, *, where: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.where = where


class _Block(NamedTuple):
    """The lines below one key, without their indentation, and the comments above the key."""

    path: Path
    lines: list[str]


def merge_yaml(text: str, added: str, title: str) -> str:
    """Return the text with all entries of ``added``, each group of them under a comment with ``title``.

    ``added`` must be in block style with two spaces per level. A text that is not valid YAML raises ConfigError.
    """
    wanted = _merge_values(_read(text).value, _read(added).value, ())
    merged = text if text.endswith("\n") or not text else f"{text}\n"
    for block in _titled(_blocks(added), title):
        merged = _with_block(merged, block)
    try:
        values = _read(merged).value
    except ConfigError:
        values = None
    if values != wanted:
        raise CannotMerge("its layout does not allow lines to be added")
    return merged


def _read(text: str) -> Parsed:
    return parse(text.encode(), "text", format="yaml")


def _merge_values(one: Any, other: Any, path: Path) -> Any:
    """Return the merged values of two texts: lists are concatenated, mappings merged key by key."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = {name: _merge_values(one[name], other[name], (*path, name)) for name in one if name in other}
        return {**one, **other, **both}
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *other]
    if not path and not one:  # the text has only comments
        return other
    if one == other:
        return one
    raise CannotMerge(f"{'.'.join(path) or 'it'} has another value already")


# The added text.


def _blocks(text: str) -> list[_Block]:
    """Split a text into blocks, one per key."""
    blocks = [_Block((), [])]
    for line in text.splitlines():
        path, lines = blocks[-1]
        key = _KEY.fullmatch(line)
        if key and not key[1]:
            blocks.append(_Block((key[2],), _comments_at_the_end_of(lines)))
        elif key and path[:1] == (_EVENTS,) and len(key[1]) == _STEP:
            blocks.append(_Block((_EVENTS, key[2]), _comments_at_the_end_of(lines)))
        else:
            depth = _STEP * len(path)
            lines.append(line[depth:] if not line[:depth].strip() else line.lstrip())
    return [block for block in blocks if any(line.strip() for line in block.lines)]


def _comments_at_the_end_of(lines: list[str]) -> list[str]:
    """Remove and return the comments above the next key."""
    comments: list[str] = []
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        if line := lines.pop().strip():
            comments.insert(0, line)
    return comments


def _titled(blocks: Iterable[_Block], title: str) -> list[_Block]:
    """Add the title to each block; to the first block with its first comment, which is the purpose of the text."""
    titled = []
    for number, (path, lines) in enumerate(blocks):
        while not lines[-1].strip():
            lines.pop()
        if number == 0 and lines[0].startswith("# "):
            titled.append(_Block(path, [f"# {title}: {lines[0][2:]}", *lines[1:]]))
        else:
            titled.append(_Block(path, [f"# {title}", *lines]))
    return titled


# The existing text.


def _with_block(text: str, block: _Block) -> str:
    """Insert a block at the end of the entries of its key; add the key if it is missing."""
    parsed = _read(text)
    path, added = block
    while path and not _holds(parsed.value, path):
        added = [f"{path[-1]}:", *_indented(added, _STEP)]
        path = path[:-1]
    lines = text.split("\n")
    if not parsed.value:
        at, indent = len(lines) - 2, 0
    else:
        at, indent = _end(lines, parsed, path)
    if lines[0].endswith("\r"):
        added = [f"{line}\r" for line in added]
    return "\n".join([*lines[: at + 1], "", *_indented(added, indent), *lines[at + 1 :]])


def _holds(value: Any, path: Path) -> bool:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def _end(lines: list[str], parsed: Parsed, path: Path) -> tuple[int, int]:
    """Return the last line of the entries of a key, and their indentation."""
    key_indent = parsed.place_of(path)[1] - 1 if path else -1
    first, column = parsed.place_of(path, value=True)
    indent = column - 1
    is_list = lines[first - 1][indent : indent + 1] == "-"
    if lines[first - 1][:indent].strip():
        raise CannotMerge(f"{'.'.join(path) or 'it'} is written on one line")
    last = first - 1
    for at, line in enumerate(lines[first - 1 :], first - 1):
        depth = len(line) - len(line.lstrip(" "))
        bare = line.strip()
        is_inside = depth > key_indent or (is_list and depth == indent and bare.startswith("-"))
        if bare and is_inside:
            last = at
        elif bare and not bare.startswith("#"):
            break
    return last, indent


def _indented(lines: Iterable[str], by: int) -> list[str]:
    return [f"{' ' * by}{line}" if line.strip() else line for line in lines]
