"""Which file a tool's input means, and whether the tools have any business there."""

from __future__ import annotations

import os
from pathlib import Path

from .nouns import ToolFailed, Workplace

__all__ = ["changeable", "inside", "is_private", "resolved", "shown"]

SHADOW = (".interpose", "shadow.git")
RECORDS = (SHADOW, (".interpose", "sessions"))
"""Where writes and conversations are recorded below the root of the work: not the agent's to find, nor to change."""


def inside(place: Workplace, text: str) -> Path:
    """Return the real path of a file of the work; raise ToolFailed for one that is, or leads, elsewhere."""
    if not text or "\0" in text:
        raise ToolFailed("a path cannot be empty or have a NUL character in it")
    if text.startswith("~"):
        # Hooks and rules judge the path as it is written; it must not become another one after that.
        raise ToolFailed(f"{text} is outside of {place.cwd}, or a name that shells replace: write the path without ~")
    try:
        text.encode("utf-8", "surrogateescape")
        real = resolved(place.cwd / text)
    except UnicodeEncodeError:
        raise ToolFailed("a path cannot have half a character (a lone surrogate) in it") from None
    if real is None:
        raise ToolFailed(f"{text}: a symbolic link in it leads nowhere")
    if not real.is_relative_to(place.cwd):
        raise ToolFailed(f"{text} is outside of {place.cwd}, or a link leads there: only files below it can be used")
    return real


def resolved(path: Path) -> Path | None:
    """Return where a path leads; None for a link that leads to itself."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError):
        return None
    return None if os.path.islink(real) else real  # which is how Python 3.13 says that it goes round in circles


def changeable(place: Workplace, text: str) -> Path:
    """Return the real path of a file that tools may change; raise ToolFailed for what belongs to git."""
    path = inside(place, text)
    if is_private(path.relative_to(place.cwd)):
        raise ToolFailed(f"{text} belongs to git, or to the record of what was written: it cannot be changed like this")
    if place.is_kept(path):
        raise ToolFailed(f"{text} belongs to the hooks that are armed: only a person changes it")
    return path


def is_private(relative: Path) -> bool:
    """Say whether a path below the root of the work is git's own, or a record of what the agent did."""
    parts = tuple(part.lower() for part in relative.parts)  # as on file systems that do not tell them apart
    return ".git" in parts or parts[:2] in RECORDS


def shown(place: Workplace, path: Path) -> str:
    """Return a path as the model is told it: seen from the root of the work."""
    return str(path.relative_to(place.cwd)) if path.is_relative_to(place.cwd) else str(path)
