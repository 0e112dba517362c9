"""The file that a tool's input names, and whether tools may use it."""

from __future__ import annotations

import os
from pathlib import Path

from .tool import ToolFailed, Workplace

__all__ = ["changeable", "inside", "is_private", "resolved", "shown"]

SHADOW = (".interpose", "shadow.git")
RECORDS = (SHADOW, (".interpose", "sessions"))
"""Where writes and conversations are recorded below the working directory; tools neither list nor change them."""


def inside(workplace: Workplace, text: str) -> Path:
    """Return the real path of a file in the working directory; raise ToolFailed for one outside of it."""
    if not text or "\0" in text:
        raise ToolFailed("a path cannot be empty or have a NUL character in it")
    if text.startswith("~"):
        # Hooks and rules judge the path as it is given; it must not be expanded afterwards.
        raise ToolFailed(f"{text} starts with ~, which only shells expand: write the path without ~")
    try:
        text.encode("utf-8", "surrogateescape")
        real = resolved(workplace.cwd / text)
    except UnicodeEncodeError:
        raise ToolFailed("a path cannot have a lone surrogate in it") from None
    if real is None:
        raise ToolFailed(f"{text}: a symbolic link in it leads to itself")
    if not real.is_relative_to(workplace.cwd):
        raise ToolFailed(
            f"{text} is outside of {workplace.cwd}, or a link leads there: only files below it can be used"
        )
    if workplace.left_out(str(real)):  # a link in the path has changed since the rules were applied to it
        raise ToolFailed(f"{text} leads to a file that a permission rule keeps back")
    return real


def resolved(path: Path) -> Path | None:
    """Return the real path; None for a link that leads to itself."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError):
        return None
    return None if os.path.islink(real) else real  # Python 3.13 returns a link for a loop


def changeable(workplace: Workplace, text: str) -> Path:
    """Return the real path of a file that tools may change; raise ToolFailed for files of git and of hooks."""
    path = inside(workplace, text)
    if is_private(path.relative_to(workplace.cwd)):
        raise ToolFailed(f"{text} belongs to git or to the agent's records: tools cannot change it")
    if workplace.is_protected(path):
        raise ToolFailed(f"{text} belongs to the hooks: only a person may change it")
    return path


def is_private(relative: Path) -> bool:
    """Say whether a path below the working directory belongs to git or to the agent's records."""
    parts = tuple(part.lower() for part in relative.parts)  # some file systems ignore case
    return ".git" in parts or parts[:2] in RECORDS


def shown(workplace: Workplace, path: Path) -> str:
    """Return a path relative to the working directory, as the model sees it."""
    return str(path.relative_to(workplace.cwd)) if path.is_relative_to(workplace.cwd) else str(path)
