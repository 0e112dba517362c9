"""Make the paths of a line absolute, as far as the line says where it is."""

from __future__ import annotations

import os

from ...matching.shell.words import ONE

__all__ = ["absolute", "plain"]


def absolute(path: str, directory: str | None, home: str) -> str:
    """Return a path with the directory that it is relative to; one that is not known is marked."""
    if path[:1] == "~":
        user, _, rest = path.partition("/")
        path = os.path.join(home if user == "~" else ONE, rest) if rest else home if user == "~" else ONE
    if os.path.isabs(path) or path.startswith(ONE):
        return path
    if directory is None:
        return f"{ONE}/{path}"
    return os.path.join(directory, path) if path else directory


def plain(path: str) -> str:
    """Return a path without parts that mean nothing; ``..`` is kept, as what is before it may be a link."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts)
