"""The description of a process that writes to a store, and whether that process is still running."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from time import time_ns
from typing import Any

__all__ = ["describe", "describe_open_chain", "is_gone", "is_running", "read"]


def describe(store: str, key: str, before: str) -> dict[str, Any]:
    """Return the description of this process; ``before`` is its uuid in the store that was replaced, if one was."""
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


def is_gone(about: dict[str, Any]) -> bool:
    """Say whether the process has certainly ended; False for a process of another machine."""
    return about.get("host") == os.uname().nodename and not is_running(about)


def describe_open_chain(process: int, about: dict[str, Any], last: float) -> str:
    """Return a note about a process whose chain has no end record."""
    when = datetime.fromtimestamp(last, UTC).isoformat(sep=" ", timespec="milliseconds")
    who = f"process {process} (pid {about.get('pid', '?')})"
    if is_running(about):
        return f"{who} is still running; its last record is of {when}"
    return f"{who} did not end in order: its last record is of {when}, and later firings are not in the store"
