"""Whether the settings of an attached agent were changed: asked at every event, so it loads next to nothing."""

from __future__ import annotations

import json
import os

from ..state.directories import state_path

__all__ = ["changed_since", "stamp_of"]

_RECORD = os.path.join("attach", "3930e671c9e40dee2a33442c6f1055e8.json")
"""Where ``record`` keeps what is attached."""

Stamp = list[int]
"""Inode, size and time of change of a file."""


def stamp_of(path: str) -> Stamp:
    """Return the stamp of a file; an empty one if it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return []
    return [found.st_ino, found.st_size, found.st_mtime_ns]


def changed_since(agent: str) -> list[str]:
    """Return the keys of the attachments of an agent whose files have another stamp than when they were written."""
    try:
        with open(state_path(_RECORD), "rb") as opened:
            line = opened.readline()
    except OSError:
        return []
    if agent.encode() not in line:
        return []
    try:
        known = json.loads(line)
        return [key for key, one in known.items() if one["agent"] == agent and not one["leaving"] and any(
            stamp_of(file["path"]) != file["stamp"] for file in one["files"] if file["kind"] != "exclude")]  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError):
        return []  # a damaged record is what `agents status` reports
