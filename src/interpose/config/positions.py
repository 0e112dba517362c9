"""Positions in a parsed text: a line and a column for every value, and for every problem.

A position is the offset of a character; lines and columns are computed on request. Every parsed value has a tree of its
shape: an offset for a scalar, ``(offset, children)`` for a list or a mapping.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

from ..errors import ConfigError, Problem
from ..runtime.regex import regex

__all__ = [
    "DEEPEST", "MOST_VALUES", "Parsed", "Position", "SourceText", "Stopped", "kind", "offset_of", "shown", "spell",
]  # fmt: skip

DEEPEST = 100
"""The deepest nesting of a configuration, the same as of an event."""

MOST_VALUES = 100_000
"""How many values a file may have; an alias counts as its copy."""

MOST_PROBLEMS = 100
"""After so many problems parsing stops: it is probably the wrong file."""

Position: TypeAlias = "int | tuple[int, dict[str, tuple[int, Position]] | list[Position]]"
"""An offset, or an offset and its children: keys with their own offset, or items."""

_BREAK = regex(r"\r\n|\r|\n")
_SURROGATE = regex(r"[\ud800-\udfff]")
_PLAIN_KEY = regex(r"[^\s.\[\]\"']+")
_STEP = regex(r'\[(?P<index>[0-9]{1,9})\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]|\.?(?P<plain>[^\s.\[\]"\']+)')


class Stopped(Exception):
    """Parsing cannot go on; the reason is among the problems of the text."""


class SourceText:
    """A text that is being parsed: knows its lines, counts values, collects problems."""

    def __init__(self, source: str, text: str) -> None:
        self.source = source
        self.text = text
        self._lines: list[int] = []
        self._problems: list[tuple[int, Problem]] = []
        self._values = 0

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1."""
        if not self._lines:
            self._lines = [0, *(found.end() for found in _BREAK.finditer(self.text))]
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def line(self, offset: int) -> int:
        """Return the line, for a message that names a second position."""
        return self.position(offset)[0]

    def wrong(self, offset: int, what: str, hint: str = "") -> None:
        """Note a problem and go on."""
        line, column = self.position(offset)
        self._problems.append((offset, Problem(what, where=f"{self.source}:{line}:{column}", hint=hint)))
        if len(self._problems) >= MOST_PROBLEMS:
            raise Stopped

    def stop(self, offset: int, what: str, hint: str = "") -> NoReturn:
        """Note a problem after which parsing cannot go on."""
        self.wrong(offset, what, hint)
        raise Stopped

    def refuse_if_wrong(self) -> None:
        """Raise ConfigError with all problems, from top to bottom, if there are any."""
        if self._problems:
            raise ConfigError([problem for _, problem in sorted(self._problems, key=lambda found: found[0])])

    def count(self, offset: int) -> None:
        """Count one value; this also bounds the expansion of aliases of aliases."""
        self._values += 1
        if self._values > MOST_VALUES:
            self.stop(offset, f"there are more than {MOST_VALUES} values", "an alias counts as its copy")

    def check_depth(self, offset: int, depth: int) -> None:
        """Refuse what is nested too deep, before recursion fails."""
        if depth > DEEPEST:
            self.stop(offset, f"nested deeper than {DEEPEST} levels")

    def number(self, offset: int, text: str, *, whole: bool) -> int | float:
        """Return a number; refuse one that no float can hold, since arithmetic with it would fail."""
        if float(text) in (float("inf"), float("-inf")):
            self.wrong(offset, f"{shown(text)} is too large a number")
            return 0
        return int(text) if whole else float(text)

    def checked(self, offset: int, text: str) -> str:
        """Return the text; refuse a lone surrogate, which an escape can make."""
        if not text.isascii() and (half := _SURROGATE.search(text)):
            self.wrong(offset, f"\\u{ord(half[0]):04x} is half a character",
                       "write the character itself, or both halves in JSON")  # fmt: skip
        return text


class Parsed:
    """The value of a file as plain data, and the positions of its parts."""

    __slots__ = ("_root", "_source", "value")

    def __init__(self, value: Any, source: SourceText, root: Position) -> None:
        self.value = value
        self._source = source
        self._root = root

    def place_of(self, path: Sequence[str | int], *, value: bool = False) -> tuple[int, int]:
        """Return the line and column of a path such as ``("hooks", "PreToolUse", 0, "timeout")``.

        The position of an entry is that of its key, or of its value if that is asked for. A path that does not exist
        has the position of its closest parent.
        """
        place, at = self._root, offset_of(self._root)
        for step in path:
            found = _inside(place, step)
            if found is None:
                break
            at, place = found
        return self._source.position(offset_of(place) if value else at)

    def place(self, path: str, *, value: bool = False) -> tuple[int, int]:
        """Return the line and column of a path such as ``hooks.PreToolUse[0].timeout``: see place_of().

        A path from spell() is unambiguous. Any other is matched with the keys of the value: the key ``a.b`` is found as
        ``a.b`` unless there is a ``b`` inside ``a``.
        """
        steps = _spelled(path)
        if steps is None or not self._leads_somewhere(steps):
            steps = _longest(self._root, path)
        return self.place_of(steps, value=value)

    def where(self, path: str, *, value: bool = False) -> str:
        """Return ``source:line:column``, as in a problem."""
        line, column = self.place(path, value=value)
        return f"{self._source.source}:{line}:{column}"

    def _leads_somewhere(self, steps: Sequence[str | int]) -> bool:
        place = self._root
        for step in steps:
            found = _inside(place, step)
            if found is None:
                return False
            place = found[1]
        return True


def spell(path: Sequence[str | int]) -> str:
    """Write a path unambiguously: ``hooks["odd.key"][0].timeout``."""
    made = ""
    for step in path:
        if isinstance(step, int):
            made += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            made += f".{step}" if made else step
        else:
            made += f"[{json.dumps(step)}]"
    return made


def _spelled(path: str) -> list[str | int] | None:
    """Parse what spell() writes; None if it is something else."""
    steps: list[str | int] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None or (step["plain"] is not None and (path[at] == ".") is not (at > 0)):
            return None
        try:
            quoted = step["quoted"]
            steps.append(json.loads(quoted) if quoted else step["plain"] or int(step["index"]))
        except ValueError:  # in brackets and quotes, and still not a string
            return None
        at = step.end()
    return steps


def _longest(place: Position, path: str) -> list[str | int]:
    """Follow a path that was joined from keys of any kind, as far as possible; longer keys first."""
    best: list[str | int] = []
    for step, rest in _ways(place, path):
        found = _inside(place, step)
        if found is None:
            continue
        steps = [step, *_longest(found[1], rest)] if rest else [step]
        if len(steps) > len(best):
            best = steps
        if _is_whole(steps, path):
            return steps
    return best


def _ways(place: Position, path: str) -> list[tuple[str | int, str]]:
    """Return the possible first steps of a path here, each with the rest of the path."""
    inside = place[1] if isinstance(place, tuple) else None
    if isinstance(inside, list):
        index = re.match(r"\[([0-9]{1,9})\]", path)
        return [(int(index[1]), path[index.end() :])] if index else []
    ways: list[tuple[str | int, str]] = []
    for key in sorted(inside or (), key=len, reverse=True):
        for start in dict.fromkeys((path, path.removeprefix("."))):
            rest = start[len(key) :]
            if start.startswith(key) and (not rest or rest[0] in ".["):
                ways.append((key, rest))
    return ways


def _is_whole(steps: list[str | int], path: str) -> bool:
    """Return whether these steps are the whole path."""
    written = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return path in (written, written.removeprefix("."))


def _inside(place: Position, step: str | int) -> tuple[int, Position] | None:
    """Return the offset of a step and the position that it leads to."""
    inside = place[1] if isinstance(place, tuple) else None
    if isinstance(inside, dict):
        return inside.get(step) if isinstance(step, str) else None
    if isinstance(inside, list) and isinstance(step, int) and 0 <= step < len(inside):
        item = inside[step]
        return offset_of(item), item
    return None


def offset_of(place: Position) -> int:
    """Return the offset of a position."""
    return place[0] if isinstance(place, tuple) else place


_KINDS = {dict: "a mapping", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}


def kind(value: object) -> str:
    """Name a kind of value for a message."""
    return _KINDS.get(type(value), "nothing")


def shown(text: str) -> str:
    """Return text for a message: short, on one line, in quotes."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
