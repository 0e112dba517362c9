"""What Write and Edit share: one at a time, nothing unseen is overwritten, the model is told what came of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from .files import digest, explain, load
from .nouns import ToolFailed, Workplace
from .places import shown

__all__ = ["alone", "known", "put"]


def alone(place: Workplace, path: Path) -> asyncio.Lock:
    """Return what keeps other calls from changing a file meanwhile."""
    return place.locks.setdefault(path, asyncio.Lock())


async def known(place: Workplace, path: Path) -> bytes | None:
    """Return what is in a file that the model has seen as it is, None for a new one; raise ToolFailed otherwise."""
    name = shown(place, path)
    data = await asyncio.to_thread(load, path, name)
    if data is None:
        return None
    if path not in place.seen:
        raise ToolFailed(f"{name} is there, and you have not seen it: read it first")
    if place.seen[path] != digest(data):
        raise ToolFailed(f"{name} has changed since you read it: read it again")
    return data


async def put(place: Workplace, path: Path, content: str) -> str:
    """Have a file written; return what is to be added to the answer, if something else came of it."""
    try:
        content.encode()
    except UnicodeEncodeError:
        raise ToolFailed("the text has half a character (a lone surrogate) in it, which no file can hold") from None
    try:
        written = await place.write(path, content)
    except OSError as error:
        raise ToolFailed(explain(error, shown(place, path))) from None
    if written == content:
        place.seen[path] = digest(content.encode())
        return ""
    return "\nIt was changed on the way: what is in the file is not what you gave. Read it before you change it again."
