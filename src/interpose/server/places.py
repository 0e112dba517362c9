"""Where the server of a user is: a private folder in the user's state directory, with its socket and its lock.

The state directory has the record of trust too, so a program that can write there can decide what is trusted anyway,
and ``self-protection`` guards it.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import stat
import struct
import sys
from typing import Any

from ..errors import UsageError
from ..state.directories import make_private, state_path

__all__ = ["Lock", "bind_socket", "folder", "peer_of", "prepare_folder", "server_facts", "socket_path"]

_LONGEST_PATH = 103
"""Bytes that the path of a socket may have on every system."""


def folder() -> str:
    """Return the private folder of the server."""
    return state_path("serve")


def socket_path() -> str:
    """Return the path of the socket; raise UsageError if it is too long for one."""
    path = os.path.join(folder(), "socket")
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise UsageError(f"{path}: too long for a socket", hint="set XDG_STATE_HOME to a shorter directory")
    return path


def prepare_folder() -> None:
    """Create the folder; raise UsageError if it is another user's, a link, or others can open it."""
    path = folder()
    try:
        make_private(path)
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode):
            raise UsageError(f"{path}: not a directory", hint="remove it")
        if found.st_uid != os.geteuid():
            raise UsageError(f"{path}: belongs to another user", hint="remove it, or set XDG_STATE_HOME")
        if found.st_mode & 0o077:
            os.chmod(path, 0o700)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", hint="set XDG_STATE_HOME to a directory of yours") from None


class Lock:
    """Held by the one server of a user; says in JSON what others want to know of it."""

    def __init__(self) -> None:
        self._path = os.path.join(folder(), "lock")
        self._descriptor = -1

    def take(self) -> bool:
        """Take the lock; return False if another process has it."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._descriptor = os.open(self._path, flags, 0o600)
        except OSError as error:
            raise UsageError(f"{self._path}: {error.strerror}", hint="remove it") from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            return False
        return True

    def write(self, facts: dict[str, Any]) -> None:
        """Write what others want to know; a full disk is no reason not to serve."""
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, json.dumps(facts).encode(), 0)
        except OSError:
            pass

    def release(self) -> None:
        """Let another server begin."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def server_facts() -> dict[str, Any] | None:
    """Return what the running server says of itself; None if none runs."""
    try:
        descriptor = os.open(os.path.join(folder(), "lock"), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            found = json.loads(os.pread(descriptor, 10_000, 0) or b"{}")
            return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}
    finally:
        os.close(descriptor)
    return None


def bind_socket() -> socket.socket:
    """Return the listening socket of the server, which holds the lock; what an earlier one left is replaced.

    It gets its name when it listens already: a client that finds it can connect.
    """
    path = socket_path()
    new = os.path.join(folder(), "new")
    if os.path.isdir(path) and not os.path.islink(path):
        raise UsageError(f"{path}: a directory is in the place of the socket", hint="remove it")
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        if os.path.lexists(new):
            os.unlink(new)
        listening.bind(new)
        listening.listen(1024)
        os.replace(new, path)
    except OSError as error:
        listening.close()
        raise UsageError(f"{path}: {error.strerror}", hint="remove it, or set XDG_STATE_HOME") from None
    finally:
        os.umask(before)
    listening.setblocking(False)
    return listening


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """Return the process and the user at the other end of a connection; the process is 0 if that is not known."""
    if hasattr(socket, "SO_PEERCRED"):
        size = struct.calcsize("3i")
        pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return pid, uid
    data = connection.getsockopt(0, 1, 76)  # LOCAL_PEERCRED of macOS
    return 0, int.from_bytes(data[4:8], sys.byteorder)
