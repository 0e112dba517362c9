"""Add the entries of one YAML text to another, as lines: what is there stays as it is, with its comments and its order.

Where the lines go is found by looking at the text, and checked afterwards: the new text must say exactly what the two
say together. Where it does not, nothing is added, and somebody has to do it by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..config.text import Parsed, parse
from ..errors import ConfigError

__all__ = ["CannotWeave", "weave"]

Path = tuple[str, ...]

_STEP = 2
_KEY = re.compile(r"( *)([\w:]+):(?:\s+#.*)?", re.ASCII)
_EVENTS = "hooks"
"""The key whose own keys hold entries; any other holds them itself."""


class CannotWeave(Exception):
    """A text is laid out so that lines cannot be added to it, or says something else already."""

    def __init__(self, text: str, *, where: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.where = where


class _Block(NamedTuple):
    """The lines below one key, from the first column on, with the comments above the key."""

    path: Path
    lines: list[str]


def weave(text: str, added: str, title: str) -> str:
    """Return the text with all entries of the other one, each group of them under a comment; or raise CannotWeave.

    The added text is laid out plainly: two blanks for each level, each list and mapping on lines of its own. A text
    that cannot be read at all raises ConfigError.
    """
    wanted = _together(_read(text).value, _read(added).value, ())
    woven = text if text.endswith("\n") or not text else f"{text}\n"
    for block in _titled(_blocks(added), title):
        woven = _with_block(woven, block)
    try:
        says = _read(woven).value
    except ConfigError:
        says = None
    if says != wanted:
        raise CannotWeave("it is laid out so that lines cannot be added to it safely")
    return woven


def _read(text: str) -> Parsed:
    return parse(text.encode(), "text", format="yaml")


def _together(one: Any, other: Any, path: Path) -> Any:
    """Return what two texts say together: lists one after the other, mappings key by key."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = {name: _together(one[name], other[name], (*path, name)) for name in one if name in other}
        return {**one, **other, **both}
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *other]
    if not path and not one:  # nothing but comments
        return other
    if one == other:
        return one
    raise CannotWeave(f"{'.'.join(path) or 'it'} is something else already")


# The text that is added.


def _blocks(text: str) -> list[_Block]:
    """Take a text apart, key by key."""
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
    """Take away the comments that stand above the next key."""
    comments: list[str] = []
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        if line := lines.pop().strip():
            comments.insert(0, line)
    return comments


def _titled(blocks: Iterable[_Block], title: str) -> list[_Block]:
    """Have each block say where it is from; the first comment of all is what the whole is for."""
    titled = []
    for number, (path, lines) in enumerate(blocks):
        while not lines[-1].strip():
            lines.pop()
        if number == 0 and lines[0].startswith("# "):
            titled.append(_Block(path, [f"# {title}: {lines[0][2:]}", *lines[1:]]))
        else:
            titled.append(_Block(path, [f"# {title}", *lines]))
    return titled


# The text that is there.


def _with_block(text: str, block: _Block) -> str:
    """Put a block at the end of what its key holds; a key that is not there is made."""
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
    """Return the last line of what a key holds, and how far its entries are indented."""
    key_indent = parsed.place_of(path)[1] - 1 if path else -1
    first, column = parsed.place_of(path, value=True)
    indent = column - 1
    is_list = lines[first - 1][indent : indent + 1] == "-"
    if lines[first - 1][:indent].strip():
        raise CannotWeave(f"{'.'.join(path) or 'it'} stands on one line")
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
