"""Edit: replace a piece of a file, which is found by its text."""

from __future__ import annotations

import re
from typing import Any

from .file_writes import file_lock, read_known, write_file
from .files import newline_of, text_of
from .paths import changeable, shown
from .read import numbered
from .tool import ToolFailed, Workplace, make_tool

__all__ = ["EDIT"]

_AROUND = 3
"""How many lines around a change are shown to the model."""


async def _edit(given: dict[str, Any], workplace: Workplace) -> str:
    path = changeable(workplace, given["file_path"])
    name = shown(workplace, path)
    old, new = (given[key].replace("\r\n", "\n") for key in ("old_string", "new_string"))
    if old == new:
        raise ToolFailed("old_string and new_string are the same: nothing would change")
    async with file_lock(workplace, path):
        data = await read_known(workplace, path)
        if data is None and old:
            raise ToolFailed(f"{name} does not exist (an empty old_string creates it)")
        text = text_of(data or b"", name)
        content, at, count = _replaced(text, old, new, given.get("replace_all", False), name)
        remark = await write_file(workplace, path, content)
    if not old:
        return f"Wrote {name}{remark}"
    times = "" if count == 1 else f" in {count} places, the first"
    return f"Changed {name}{times}:\n{_surroundings(content, at, new)}{remark}"


def _replaced(text: str, old: str, new: str, everywhere: bool, name: str) -> tuple[str, int, int]:
    """Return the new text, the position of the first change, and the number of changes."""
    if not old:
        if text:
            raise ToolFailed(f"{name} is not empty: old_string must say what to replace")
        return new, 0, 1
    # The model does not see line endings: its newline matches either of them.
    found = list(re.finditer("\r?\n".join(map(re.escape, old.split("\n"))), text))
    if not found:
        raise ToolFailed(f"old_string is not in {name}: it must be there exactly, with its white space")
    if len(found) > 1 and not everywhere:
        raise ToolFailed(f"old_string is in {name} {len(found)} times: give more lines around it, or use replace_all")
    pieces: list[str] = []
    end = 0
    for match in found:
        newline = newline_of(match[0] if "\n" in match[0] else text)
        pieces += (text[end : match.start()], new.replace("\n", newline))
        end = match.end()
    return "".join([*pieces, text[end:]]), found[0].start(), len(found)


def _surroundings(content: str, at: int, new: str) -> str:
    first = content.count("\n", 0, at)
    start = max(0, first - _AROUND)
    lines = [line.removesuffix("\r") for line in content.split("\n")]
    return "\n".join(numbered(lines[start : first + new.count("\n") + 1 + _AROUND], start + 1))


EDIT = make_tool(
    "Edit",
    "edit",
    "Replace a piece of a text file that was read before. old_string must be in the file exactly, and only once "
    "unless replace_all is true; leave out the line numbers that Read shows.",
    {
        "file_path": {"type": "string", "description": "Below the working directory"},
        "old_string": {"type": "string", "description": "What is there now; empty for a new file"},
        "new_string": {"type": "string", "description": "What is to be there instead"},
        "replace_all": {"type": "boolean", "description": "Replace it wherever it stands (default false)"},
    },
    ("file_path", "old_string", "new_string"),
    _edit,
)
