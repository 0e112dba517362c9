"""Write: a file with this content, new or instead of the old one."""

from __future__ import annotations

from typing import Any

from .changing import alone, known, put
from .files import newline_of
from .making import make_tool
from .nouns import Workplace
from .places import changeable, shown

__all__ = ["WRITE"]


async def _write(given: dict[str, Any], place: Workplace) -> str:
    path = changeable(place, given["file_path"])
    async with alone(place, path):
        before = await known(place, path)
        content = _with_line_ends_of(before, given["content"])
        remark = await put(place, path, content)
    lines = content.count("\n") + (not content.endswith("\n") and bool(content))
    return f"{'Wrote' if before is None else 'Replaced'} {shown(place, path)} ({lines} lines){remark}"


def _with_line_ends_of(before: bytes | None, content: str) -> str:
    r"""Return the content with ``\r\n`` if the file has that: the model, which is not shown line ends, cannot know."""
    if before is None or "\r" in content or newline_of(before.decode("utf-8", "replace")) == "\n":
        return content
    return content.replace("\n", "\r\n")


WRITE = make_tool(
    "Write",
    "edit",
    "Write a whole text file. A file that is there must have been read first. To change a part of one, use Edit.",
    {
        "file_path": {"type": "string", "description": "Below the working directory; directories are made"},
        "content": {"type": "string"},
    },
    ("file_path", "content"),
    _write,
)
