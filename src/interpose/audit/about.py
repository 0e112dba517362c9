"""What a process says of itself in a store: who it is, and by that whether it is still there."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from time import time_ns
from typing import Any

__all__ = ["describe", "is_gone", "is_running", "note_on", "read"]


def describe(store: str, key: str, before: str) -> dict[str, Any]:
    """Return what this process says of itself; ``before`` is what it was called in a store that was replaced."""
    about = {
        "store": store,
        "pid": os.getpid(),
        "host": os.uname().nodename,
        "program": os.path.basename(sys.argv[0] if sys.argv else ""),
        "python": sys.version.split()[0],
        "began": time_ns(),
        "key": key,
    }
    return {**about, "before": before} if before else about


def read(about: str) -> dict[str, Any]:
    """Return what a process said of itself; nothing if that cannot be read any more."""
    try:
        found = json.loads(about)
    except (ValueError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_running(about: dict[str, Any]) -> bool:
    """Say whether a process of this machine is still there."""
    try:
        if about["host"] != os.uname().nodename:
            return False
        os.kill(int(about["pid"]), 0)
    except PermissionError:
        return True
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return False
    return True


def is_gone(about: dict[str, Any]) -> bool:
    """Say whether a process has certainly ended; of another machine that cannot be known."""
    return about.get("host") == os.uname().nodename and not is_running(about)


def note_on(process: int, about: dict[str, Any], last: float) -> str:
    """Return what is to be said of a process whose chain has no last record."""
    when = datetime.fromtimestamp(last, UTC).isoformat(sep=" ", timespec="milliseconds")
    who = f"process {process} (pid {about.get('pid', '?')})"
    if is_running(about):
        return f"{who} is still running; its last record here is of {when}"
    return f"{who} did not end in order: its last record is of {when}, and what came after is not in the record"
