"""The process for which this one fires an event: its own, or in the resident engine that of the client."""

from __future__ import annotations

__all__ = ["UNKNOWN", "caller", "set_caller"]

UNKNOWN = -1
"""The caller asks over HTTP, so its process is not known."""

_caller = [0, 0]


def set_caller(pid: int, parent: int) -> None:
    """Fire for another process from now on, whose parent is ``parent``."""
    _caller[:] = [pid, parent]


def caller() -> tuple[int, int]:
    """Return the process that asked, and its parent; zeros if this process fires for itself."""
    return _caller[0], _caller[1]
