"""Glob: files by their path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .making import make_tool
from .nouns import ToolFailed, Workplace
from .places import inside, shown
from .walking import Walk, path_pattern, walked

__all__ = ["GLOB"]

_MOST = 100


async def _glob(given: dict[str, Any], place: Workplace) -> str:
    start, pattern = _seen_from(place, inside(place, given.get("path") or "."), given["pattern"])
    if not start.is_dir():
        raise ToolFailed(f"{shown(place, start)} is no directory")
    fits = path_pattern(pattern)
    walk = Walk(place.cwd)

    def work() -> list[Path]:
        found = [path for path in walk.files(start) if fits(os.path.relpath(path, start))]
        return sorted(found, key=newest_first)

    found = await walked(walk, work)
    lines = [shown(place, path) for path in found[:_MOST]] or ["(no file fits)"]
    if len(found) > _MOST:
        lines.append(f"… and {len(found) - _MOST} more, which were changed earlier")
    return "\n".join([*lines, *walk.remarks()])


def _seen_from(place: Workplace, start: Path, pattern: str) -> tuple[Path, str]:
    """Return where to look and for what; a pattern that begins at the root of the file system is brought below it."""
    if ".." in pattern.split("/"):
        raise ToolFailed("a pattern cannot have .. in it: say in path where to look")
    if not pattern.startswith("/"):
        return start, pattern
    root = f"{place.cwd}/".replace("//", "/")
    if not pattern.startswith(root):
        raise ToolFailed(f"{pattern} is outside of {place.cwd}")
    return place.cwd, pattern.removeprefix(root)


def newest_first(path: Path) -> tuple[float, str]:
    """Return by what files are sorted: what was changed last comes first."""
    try:
        return -path.stat().st_mtime, str(path)
    except OSError:
        return 0.0, str(path)


GLOB = make_tool(
    "Glob",
    "read",
    "List files whose path fits a pattern such as src/**/*.py, the last changed first; at most 100.",
    {
        "pattern": {"type": "string", "minLength": 1, "description": "**, *, ?, [abc] and {a,b}"},
        "path": {"type": "string", "description": "The directory to look in; the working directory if left out"},
    },
    ("pattern",),
    _glob,
)
