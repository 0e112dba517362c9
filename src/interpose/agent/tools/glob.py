"""Glob: find files by their path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .file_search import Walk, path_pattern, walked
from .paths import inside, shown
from .tool import ToolFailed, Workplace, make_tool

__all__ = ["GLOB"]

_MAX_FILES = 100


async def _glob(given: dict[str, Any], workplace: Workplace) -> str:
    start, pattern = _relative(workplace, inside(workplace, given.get("path") or "."), given["pattern"])
    if not start.is_dir():
        raise ToolFailed(f"{shown(workplace, start)} is not a directory")
    matches = path_pattern(pattern)
    walk = Walk(workplace.cwd, left_out=workplace.left_out)

    def work() -> list[Path]:
        found = [path for path in walk.files(start) if matches(os.path.relpath(path, start))]
        return sorted(found, key=newest_first)

    found = await walked(walk, work)
    lines = [shown(workplace, path) for path in found[:_MAX_FILES]] or ["(no file matches)"]
    if len(found) > _MAX_FILES:
        lines.append(f"… and {len(found) - _MAX_FILES} more, which were changed earlier")
    return "\n".join([*lines, *walk.remarks()])


def _relative(workplace: Workplace, start: Path, pattern: str) -> tuple[Path, str]:
    """Return the directory and the pattern to search; an absolute pattern becomes relative to the working directory."""
    if ".." in pattern.split("/"):
        raise ToolFailed("a pattern cannot have .. in it: say in path where to look")
    if not pattern.startswith("/"):
        return start, pattern
    root = f"{workplace.cwd}/".replace("//", "/")
    if not pattern.startswith(root):
        raise ToolFailed(f"{pattern} is outside of {workplace.cwd}")
    return workplace.cwd, pattern.removeprefix(root)


def newest_first(path: Path) -> tuple[float, str]:
    """Return the sort key of a file: the last changed comes first."""
    try:
        return -path.stat().st_mtime, str(path)
    except OSError:
        return 0.0, str(path)


GLOB = make_tool(
    "Glob",
    "read",
    "List files whose path matches a pattern such as src/**/*.py, the last changed first; at most 100.",
    {
        "pattern": {"type": "string", "minLength": 1, "description": "**, *, ?, [abc] and {a,b}"},
        "path": {"type": "string", "description": "The directory to look in; the working directory if left out"},
    },
    ("pattern",),
    _glob,
    leaves_out=True,
)
