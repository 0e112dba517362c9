"""Start the resident engine in the background, for the events that follow."""

from __future__ import annotations

import os
import sys
import time

from ..errors import UsageError
from .places import folder, prepare_folder, server_facts, socket_path

__all__ = ["start_in_background"]

_AGAIN = 10.0
"""Seconds after which another start is tried."""


def start_in_background() -> None:
    """Start a server unless one runs or was started just now; if that is not possible, events are fired as before."""
    if server_facts() is not None:
        return
    try:
        prepare_folder()
        socket_path()
        if not _is_first():
            return
        words = [sys.executable, "-P", "-m", "interpose.cli", "serve", "--quiet"]
        streams = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
        os.posix_spawn(sys.executable, words, os.environ, file_actions=streams, setsid=True)
    except (UsageError, OSError, NotImplementedError):
        return


def _is_first() -> bool:
    """Return whether no process has tried to start a server just now."""
    path = os.path.join(folder(), "started")
    try:
        age = time.time() - os.lstat(path).st_mtime
        if 0 <= age < _AGAIN:
            return False
        os.unlink(path)
    except FileNotFoundError:
        pass
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True
