"""What Write and Edit share: one write of a file at a time, and no overwriting of content the model has not read."""

from __future__ import annotations

import asyncio
from pathlib import Path

from .files import digest, explain, load
from .paths import shown
from .tool import ToolFailed, Workplace

__all__ = ["file_lock", "read_known", "write_file"]


def file_lock(workplace: Workplace, path: Path) -> asyncio.Lock:
    """Return the lock of a file, which a call holds while it changes the file."""
    return workplace.locks.setdefault(path, asyncio.Lock())


async def read_known(workplace: Workplace, path: Path) -> bytes | None:
    """Return the content of a file that the model has read, None for a new file; raise ToolFailed otherwise."""
    name = shown(workplace, path)
    data = await asyncio.to_thread(load, path, name)
    if data is None:
        return None
    if path not in workplace.seen:
        raise ToolFailed(f"{name} exists, and you have not read it: read it first")
    if workplace.seen[path] != digest(data):
        raise ToolFailed(f"{name} has changed since you read it: read it again")
    return data


async def write_file(workplace: Workplace, path: Path, content: str) -> str:
    """Write a file; return a remark for the model if hooks changed the content."""
    try:
        content.encode()
    except UnicodeEncodeError:
        raise ToolFailed("the text has a lone surrogate in it, which cannot be written as UTF-8") from None
    try:
        written = await workplace.write(path, content)
    except OSError as error:
        raise ToolFailed(explain(error, shown(workplace, path))) from None
    if written == content:
        workplace.seen[path] = digest(content.encode())
        return ""
    return "\nA hook changed the content: the file is not what you gave. Read it before you change it again."
