"""The project of a session, set by its first event: an agent that changes its directory stays under its hooks.

One small file per session is in the user's state directory. It is kept as long as the session is used, and two weeks
longer: no number of other sessions pushes it out.
"""

from __future__ import annotations

import os
import time
from functools import lru_cache

from ..runtime.digests import sha256
from .state import make_private, state_path

__all__ = ["keep_project", "project_of_session"]

_FOLDER = "session-projects"
_DAY = 86_400.0
_KEPT = 14 * _DAY
_LONGEST = 8192
_MOST_KNOWN = 1000

_known: dict[str, tuple[tuple[int, int, int], str]] = {}
"""What files say that were read before, with what changes if they change: a resident engine reads each once."""


def project_of_session(session: object) -> str:
    """Return the project of a session; nothing if it has none yet."""
    if not isinstance(session, str) or not session:
        return ""
    path = _path(session)
    try:
        state = os.stat(path)
        key, known = (state.st_ino, state.st_dev, state.st_ctime_ns), _known.get(path)
        if known is not None and known[0] == key and time.time() - state.st_mtime <= _DAY:
            return known[1]
        with open(path, "rb") as opened:
            found = os.fsdecode(opened.read(_LONGEST))
            if time.time() - state.st_mtime > _DAY:
                os.utime(opened.fileno())
    except OSError:
        return ""
    found = found if os.path.isabs(found) and "\0" not in found else ""
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[path] = (key, found)
    return found


def keep_project(session: object, project: str) -> None:
    """Set the project of a session that has none; of two processes the first one wins."""
    if not isinstance(session, str) or not session:
        return
    path = _path(session)
    scratch = f"{path}.{os.getpid()}"
    try:
        make_private(os.path.dirname(path))
        with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(os.fsencode(project))
        try:
            os.link(scratch, path)  # fails if the session has a project
        finally:
            os.unlink(scratch)
        _remove_old(os.path.dirname(path))
    except OSError:
        pass  # the next event looks again


def _path(session: str) -> str:
    return _path_in(state_path(_FOLDER), session)


@lru_cache(maxsize=64)
def _path_in(folder: str, session: str) -> str:
    return os.path.join(folder, sha256(session.encode("utf-8", "surrogatepass")).hex()[:32])


def _remove_old(folder: str) -> None:
    oldest = time.time() - _KEPT
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)
