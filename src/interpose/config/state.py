"""Small files in the user's own directories: what was trusted, and which hooks were switched."""

from __future__ import annotations

import json
import os
from typing import Any

from ..errors import ConfigError, Problem
from ..state.directories import cache_directory, make_private, state_path, user_directory, write_privately
from .files import read as read_file

__all__ = [
    "cache_directory",
    "load_state",
    "make_private",
    "save_state",
    "state_path",
    "user_directory",
    "write_privately",
]


def load_state(name: str) -> dict[str, Any]:
    """Return the content of a state file; an empty one if it does not exist. Raise ConfigError if it cannot be used."""
    path = state_path(name)
    if not os.path.lexists(path):
        return {}
    try:
        found = json.loads(read_file(path, found=True).data)
    except ConfigError:
        raise
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ConfigError([Problem("is damaged", where=path, hint="remove it, and trust or switch again")])
    return found


def save_state(name: str, value: dict[str, Any]) -> None:
    """Write a state file atomically; raise ConfigError if that fails."""
    path = state_path(name)
    try:
        write_privately(path, json.dumps(value, indent=1, sort_keys=True).encode() + b"\n")
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        hint = f"make {os.path.dirname(path)} writable, or set XDG_STATE_HOME to a directory that is"
        raise ConfigError([Problem(what, where=path, hint=hint)]) from None
