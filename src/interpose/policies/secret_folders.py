"""Look for secret files in a folder."""

from __future__ import annotations

import os

from .call import Call
from .effects.secret_names import secret_kind

__all__ = ["secret_in"]

_MOST_ENTRIES = 3_000
_SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__"})


def secret_in(path: str, call: Call) -> str | None:
    """Return a secret file that a path leads to or holds; empty if that cannot be said, None if there is none."""
    if os.path.isfile(path):
        spellings = call.names_of(path)
        return next((name for name in spellings if secret_kind(name, call.home) in ("env", "keys", "stores")), None)
    if not os.path.isdir(path):
        return ""
    ahead, number = [path], 0
    while ahead:
        folder = ahead.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    number += 1
                    if secret_kind(entry.path, call.home) in ("env", "keys", "stores"):
                        return entry.path
                    if entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED:
                        ahead.append(entry.path)
                    if number > _MOST_ENTRIES:
                        return ""
        except OSError:
            return ""
    return None
