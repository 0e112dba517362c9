"""The worktree that Claude Code asks for, as it makes one itself: a hook at WorktreeCreate replaces that."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import Any

from ...errors import BadEvent
from ...runtime.regex import regex

__all__ = ["make_worktree"]

_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SECONDS = 60


def make_worktree(fields: Mapping[str, Any]) -> str:
    """Make a worktree below ``.claude/worktrees`` on a branch of its own; return its path."""
    name, cwd = fields.get("name"), fields.get("cwd") or os.getcwd()
    if not isinstance(name, str) or not _NAME.fullmatch(name) or ".." in name:
        raise BadEvent("the name of the worktree cannot be the name of a folder")
    top = _git(str(cwd), "rev-parse", "--show-toplevel").strip()
    path = os.path.join(top, ".claude", "worktrees", name)
    if not os.path.isdir(path):
        _git(top, "worktree", "add", "-B", f"worktree-{name}", path)
    return path


def _git(cwd: str, *words: str) -> str:
    try:
        ended = subprocess.run(
            ["git", "-C", cwd, *words], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadEvent(f"git cannot make the worktree: {error}") from None
    if ended.returncode != 0:
        raise BadEvent(f"git cannot make the worktree: {' '.join(ended.stderr.split())[:300]}")
    return ended.stdout
