"""Small files in the user's own directories: what was trusted, and which hooks were switched."""

from __future__ import annotations

import json
import os
from typing import Any

from ..errors import ConfigError, Problem
from .files import read as read_file

__all__ = ["cache_directory", "load_state", "save_state", "state_path", "user_directory", "write_privately"]


_NO_HOME = os.path.join(os.devnull, "no-home")
"""A directory that never exists, for a user without a home."""


def state_path(name: str) -> str:
    """Return the path of a file in the user's state directory."""
    return os.path.join(user_directory("XDG_STATE_HOME", ".local", "state"), "interpose", name)


def cache_directory() -> str:
    """Return the user's cache directory for Interpose."""
    return os.path.join(user_directory("XDG_CACHE_HOME", ".cache"), "interpose")


def user_directory(variable: str, *below_home: str) -> str:
    """Return a directory of the user, which never depends on the current directory.

    A variable that is not an absolute path is ignored, as the XDG specification says. Without a home, ``~`` would be a
    folder of the project, which could then contain its own record of trust.
    """
    for base in (os.environ.get(variable, ""), os.path.join(os.path.expanduser("~"), *below_home)):
        if os.path.isabs(base):
            return base
    return _NO_HOME


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


def write_privately(path: str, data: bytes) -> None:
    """Write a file that only its owner can read, atomically."""
    directory = os.path.dirname(path)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    import tempfile

    descriptor, scratch = tempfile.mkstemp(dir=directory)  # 0600
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise
