"""The description of a process that writes to a store, and whether that process is still running."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from time import time_ns
from typing import Any

__all__ = ["WritingProcess", "describe", "describe_unended", "is_running", "moment", "read"]


class WritingProcess:
    """A process that writes to a store: the id of its first record, and the id and the hash of its last."""

    def __init__(self, store: str, uuid: str, about: str) -> None:
        self.store = store
        self.uuid = uuid
        self.about = about
        self.id = 0
        """0 before its first record."""
        self.record = 0
        self.hash = b""

    def position(self) -> tuple[int, int, bytes]:
        """Return what changes with every record."""
        return self.id, self.record, self.hash

    def rewind(self, position: tuple[int, int, bytes]) -> None:
        """Forget records that were not committed, or remember those that were."""
        self.id, self.record, self.hash = position


def describe(store: str, key: str, anchored: bool, before: str) -> dict[str, Any]:
    """Return the description of this process; ``before`` is its uuid in the store that was replaced, if one was."""
    about = {
        "store": store,
        "pid": os.getpid(),
        "host": os.uname().nodename,
        "program": os.path.basename(sys.argv[0] if sys.argv else ""),
        "python": sys.version.split()[0],
        "began": time_ns(),
        "key": key,
        "anchored": anchored,
    }
    return {**about, "before": before} if before else about


def read(about: str) -> dict[str, Any]:
    """Return the description of a process from its JSON text; empty if the text is damaged."""
    try:
        found = json.loads(about)
    except (ValueError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_running(about: dict[str, Any]) -> bool:
    """Say whether the process runs on this machine."""
    try:
        if about["host"] != os.uname().nodename:
            return False
        os.kill(int(about["pid"]), 0)
    except PermissionError:
        return True
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return False
    return True


def moment(seconds: float) -> str:
    """Return a moment in seconds since 1970 as a text in UTC."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return f"{seconds} s after 1970"


def describe_unended(process: int, about: dict[str, Any], last: float) -> str:
    """Return a note about a process that has no end record."""
    when = moment(last)
    who = f"process {process} (pid {about.get('pid', '?')})"
    if is_running(about):
        return f"{who} is still running; its last record is of {when}"
    return f"{who} did not end in order: its last record is of {when}, and later firings are not in the store"
