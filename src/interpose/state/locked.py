"""JSON files that many processes change: locked while they are, private to the user, removed after days.

A file has its content in its first line. It is written in one call and cut afterwards, so a process that is killed
meanwhile leaves either the old content or the new one.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

from ..runtime.digests import sha256
from .directories import state_path

__all__ = ["StateUnavailable", "locked_json", "session_state", "state_file"]

DRY_RUNS = ("INTERPOSE_REPLAY", "INTERPOSE_DOCTOR")
"""Variables that say that events are only tried: then the state stays in memory."""

_LONGEST = 16 * 1024**2
_SECONDS = 5.0
_KEPT = {"sessions": 14 * 86_400.0, "answers": 600.0}
"""How long files of a kind are kept after their last change, in seconds; others stay."""

_FLAGS = os.O_RDWR | os.O_CREAT
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"):  # a system may lack one
    _FLAGS |= getattr(os, _name, 0)

_memory: dict[str, dict[str, Any]] = {}
_memory_lock = RLock()


class StateUnavailable(Exception):
    """A state file cannot be opened, locked or written."""


def state_file(kind: str, key: str) -> str:
    """Return the path of the file of a kind (a folder of the state directory) for a key of any text."""
    name = sha256(key.encode("utf-8", "surrogatepass")).hex()[:32]
    return state_path(os.path.join(kind, f"{name}.json"))


@contextmanager
def session_state(session_id: str, part: str, *, needed: bool = True) -> Iterator[dict[str, Any]]:
    """Yield what a part of the program keeps about a session; changes are kept for its other processes.

    A session without an id keeps nothing.
    """
    if not session_id:
        yield {}
        return
    with locked_json("sessions", session_id, needed=needed) as state:
        own = state.setdefault(part, {})
        if not isinstance(own, dict):
            if needed:
                raise StateUnavailable(f"what {part} keeps about the session is damaged")
            own = {}
        yield own
        if not own and state.get(part) is own:
            del state[part]


@contextmanager
def locked_json(kind: str, key: str, *, needed: bool = True, sound: bool | None = None) -> Iterator[dict[str, Any]]:
    """Yield the content of a file, locked; write it back afterwards if it has changed.

    Raise StateUnavailable if that fails; if the content is not needed, it is then empty, and changes are lost. So it
    is with a file that is damaged, which is left as it is; ``sound`` raises there though the content is not needed.
    """
    path = state_file(kind, key)
    if any(os.environ.get(name) for name in DRY_RUNS):
        with _memory_lock:
            yield _memory.setdefault(path, {})
        return
    try:
        descriptor = _locked(kind, path)
    except StateUnavailable:
        if needed:
            raise
        yield {}
        return
    try:
        before = _first_line(descriptor)
        value = _parsed(before)
        if value is None:
            if needed if sound is None else sound:
                raise StateUnavailable(f"{path} is damaged: a person has to remove it")
            yield {}
            return
        yield value
        after = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        if after != before:
            _write(descriptor, after, path, needed)
    finally:
        os.close(descriptor)  # releases the lock


def _locked(kind: str, path: str) -> int:
    descriptor = _opened(kind, path)
    try:
        _lock(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _opened(kind: str, path: str) -> int:
    """Open a file of this user; create it and its folder if they do not exist, and remove files that are too old."""
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        is_new = not os.path.lexists(path)
        descriptor = os.open(path, _FLAGS, 0o600)
    except OSError as error:
        raise StateUnavailable(f"{path} cannot be opened: {error.strerror or error}") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise StateUnavailable(f"{path} is not a regular file")
    if stat.S_IMODE(found.st_mode) & 0o077 and os.name == "posix":
        os.fchmod(descriptor, 0o600)
    if is_new and kind in _KEPT:
        _remove_old(folder, time.time() - _KEPT[kind])
    return descriptor


def _remove_old(folder: str, oldest: float) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                if entry.name.endswith(".json") and entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)
            except OSError:
                continue  # another process has removed it


def _lock(descriptor: int, path: str) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: without locks, the last of two writers wins
        return
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StateUnavailable(f"another process keeps {path} locked") from None
            time.sleep(0.002)
        except OSError as error:
            raise StateUnavailable(f"{path} cannot be locked: {error.strerror or error}") from None
        else:
            return


def _first_line(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as opened:
        return opened.readline(_LONGEST)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return the content; an empty one if the file is new, and None if it is damaged."""
    if not line:
        return {}
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _write(descriptor: int, content: bytes, path: str, needed: bool) -> None:
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        written = os.write(descriptor, content)
        while written < len(content):
            written += os.write(descriptor, content[written:])
        os.ftruncate(descriptor, len(content))
    except OSError as error:
        if needed:
            raise StateUnavailable(f"{path} cannot be written: {error.strerror or error}") from None
