"""Small files of our own, outside every project: what a person has trusted, and what they have switched off."""

from __future__ import annotations

import json
import os
from typing import Any

from ..errors import ConfigError, Problem
from .files import read as read_file

__all__ = ["cache_directory", "load_state", "persons_directory", "save_state", "state_path", "write_privately"]


_NOWHERE = os.path.join(os.devnull, "no-home")
"""Where nothing is and nothing can be put: what a person without a home has."""


def state_path(name: str) -> str:
    """Return where a file of ours lies: in the person's own directory for state."""
    return os.path.join(persons_directory("XDG_STATE_HOME", ".local", "state"), "interpose", name)


def cache_directory() -> str:
    """Return where what can be made again is kept."""
    return os.path.join(persons_directory("XDG_CACHE_HOME", ".cache"), "interpose")


def persons_directory(variable: str, *below_home: str) -> str:
    """Return a directory of the person's own, never one that depends on where the host stands.

    A variable that is no absolute path counts for nothing, as its specification says; and without a home, ``~`` would
    be a folder of the project, which could then bring its own record of what is trusted.
    """
    for base in (os.environ.get(variable, ""), os.path.join(os.path.expanduser("~"), *below_home)):
        if os.path.isabs(base):
            return base
    return _NOWHERE


def load_state(name: str) -> dict[str, Any]:
    """Return what stands in a file of ours; nothing if it is not there, ConfigError if it cannot be believed."""
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
        raise ConfigError([Problem("is damaged", where=path, hint="remove it, and trust or switch anew")])
    return found


def save_state(name: str, value: dict[str, Any]) -> None:
    """Replace a file of ours as a whole; ConfigError if it cannot be kept."""
    path = state_path(name)
    try:
        write_privately(path, json.dumps(value, indent=1, sort_keys=True).encode() + b"\n")
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        hint = f"make {os.path.dirname(path)} writable, or set XDG_STATE_HOME to a directory that is"
        raise ConfigError([Problem(what, where=path, hint=hint)]) from None


def write_privately(path: str, data: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
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
