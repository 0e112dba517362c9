"""Read: lines of a text file, with their numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from .files import digest, load, text_of
from .making import make_tool
from .nouns import ToolFailed, Workplace
from .places import inside, shown

__all__ = ["READ", "numbered"]

_MOST_LINES = 2_000
_LONGEST_LINE = 2_000
_MOST_CHARACTERS = 100_000


async def _read(given: dict[str, Any], place: Workplace) -> str:
    path = inside(place, given["file_path"])
    name = shown(place, path)
    data = await asyncio.to_thread(load, path, name)
    if data is None:
        raise ToolFailed(f"{name} is not there")
    lines = _lines(text_of(data, name))
    place.seen[path] = digest(data)
    if not lines:
        return f"({name} is empty)"
    first = int(given.get("offset", 1))
    if first > len(lines):
        raise ToolFailed(f"{name} has only {len(lines)} lines")
    wanted = lines[first - 1 : first - 1 + int(given.get("limit", _MOST_LINES))]
    shown_lines = numbered(wanted, first)
    last = first + len(shown_lines) - 1
    if last < len(lines):
        shown_lines.append(f"… {len(lines) - last} more lines; the next is offset {last + 1}")
    return "\n".join(shown_lines)


def _lines(text: str) -> list[str]:
    """Split at line ends only: other characters that Python counts as such would shift the numbers."""
    lines = text.removeprefix("\ufeff").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def numbered(lines: Sequence[str], first: int) -> list[str]:
    """Return lines with their numbers before them, as many as a model can be given at once."""
    result: list[str] = []
    room = _MOST_CHARACTERS
    for number, line in enumerate(lines, first):
        cut = line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} … ({len(line):,} characters)"
        room -= len(cut)
        if room < 0:
            break
        result.append(f"{number:>6}\t{cut}")
    return result


READ = make_tool(
    "Read",
    "read",
    "Show a text file with numbered lines, the first 2,000 unless you say otherwise. Read a file before you change it.",
    {
        "file_path": {"type": "string", "description": "Below the working directory"},
        "offset": {"type": "integer", "minimum": 1, "description": "The first line to show"},
        "limit": {"type": "integer", "minimum": 1, "maximum": _MOST_LINES, "description": "How many lines to show"},
    },
    ("file_path",),
    _read,
)
