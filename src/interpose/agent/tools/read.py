"""Read: the lines of a text file, with their numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from .files import digest, load, text_of
from .paths import inside, shown
from .tool import ToolFailed, Workplace, make_tool

__all__ = ["READ", "numbered"]

_MAX_LINES = 2_000
_MAX_LINE = 2_000
_MAX_CHARACTERS = 100_000


async def _read(given: dict[str, Any], workplace: Workplace) -> str:
    path = inside(workplace, given["file_path"])
    name = shown(workplace, path)
    data = await asyncio.to_thread(load, path, name)
    if data is None:
        raise ToolFailed(f"{name} does not exist")
    lines = _lines(text_of(data, name))
    workplace.seen[path] = digest(data)
    if not lines:
        return f"({name} is empty)"
    first = int(given.get("offset", 1))
    if first > len(lines):
        raise ToolFailed(f"{name} has only {len(lines)} lines")
    wanted = lines[first - 1 : first - 1 + int(given.get("limit", _MAX_LINES))]
    shown_lines = numbered(wanted, first)
    last = first + len(shown_lines) - 1
    if last < len(lines):
        shown_lines.append(f"… {len(lines) - last} more lines; the next is offset {last + 1}")
    return "\n".join(shown_lines)


def _lines(text: str) -> list[str]:
    """Split at line feeds only: ``splitlines`` also splits at other characters, which would shift the numbers."""
    lines = text.removeprefix("\ufeff").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def numbered(lines: Sequence[str], first: int) -> list[str]:
    """Return lines with their numbers, limited in length."""
    result: list[str] = []
    room = _MAX_CHARACTERS
    for number, line in enumerate(lines, first):
        cut = line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]} … ({len(line):,} characters)"
        room -= len(cut)
        if room < 0:
            break
        result.append(f"{number:>6}\t{cut}")
    return result


READ = make_tool(
    "Read",
    "read",
    "Show a text file with numbered lines, by default the first 2,000. Read a file before you change it.",
    {
        "file_path": {"type": "string", "description": "Below the working directory"},
        "offset": {"type": "integer", "minimum": 1, "description": "The first line to show"},
        "limit": {"type": "integer", "minimum": 1, "maximum": _MAX_LINES, "description": "How many lines to show"},
    },
    ("file_path",),
    _read,
)
