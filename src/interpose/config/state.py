"""Small files of our own, outside every project: what a person has trusted, and what they have switched off."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from ..errors import ConfigError, Problem
from .files import read as read_file

__all__ = ["cache_directory", "load_state", "save_state", "state_path"]


def state_path(name: str) -> str:
    """Return where a file of ours lies: in the person's own directory for state."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "interpose", name)


def cache_directory() -> str:
    """Return where what can be made again is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "interpose")


def load_state(name: str) -> dict[str, Any]:
    """Return what stands in a file of ours; nothing if it is not there, ConfigError if it cannot be believed."""
    path = state_path(name)
    if not os.path.lexists(path):
        return {}
    try:
        found = json.loads(read_file(path, found=True).data)
    except ValueError:
        raise ConfigError([Problem("is damaged", where=path, hint="remove it, and trust or switch anew")]) from None
    return found if isinstance(found, dict) else {}


def save_state(name: str, value: dict[str, Any]) -> None:
    """Replace a file of ours as a whole."""
    path = state_path(name)
    write_privately(path, json.dumps(value, indent=1, sort_keys=True).encode() + b"\n")


def write_privately(path: str, data: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    directory = os.path.dirname(path)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    descriptor, scratch = tempfile.mkstemp(dir=directory)  # 0600
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise
