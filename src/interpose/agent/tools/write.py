"""Write: create or replace a whole file."""

from __future__ import annotations

from typing import Any

from .file_writes import file_lock, read_known, write_file
from .files import newline_of
from .paths import changeable, shown
from .tool import Workplace, make_tool

__all__ = ["WRITE"]


async def _write(given: dict[str, Any], workplace: Workplace) -> str:
    path = changeable(workplace, given["file_path"])
    async with file_lock(workplace, path):
        before = await read_known(workplace, path)
        content = _with_newlines_of(before, given["content"])
        remark = await write_file(workplace, path, content)
    lines = content.count("\n") + (not content.endswith("\n") and bool(content))
    return f"{'Wrote' if before is None else 'Replaced'} {shown(workplace, path)} ({lines} lines){remark}"


def _with_newlines_of(before: bytes | None, content: str) -> str:
    r"""Return the content with ``\r\n`` if the file has that; the model does not see line endings."""
    if before is None or "\r" in content or newline_of(before.decode("utf-8", "replace")) == "\n":
        return content
    return content.replace("\n", "\r\n")


WRITE = make_tool(
    "Write",
    "edit",
    "Write a whole text file. An existing file must have been read first. To change a part of one, use Edit.",
    {
        "file_path": {"type": "string", "description": "Below the working directory; missing directories are created"},
        "content": {"type": "string"},
    },
    ("file_path", "content"),
    _write,
)
