"""For whom this process fires an event: the process that asked, and the coding agent whose hook it is."""

from __future__ import annotations

import os

__all__ = ["UNKNOWN", "caller", "client", "set_caller", "set_client"]

UNKNOWN = -1
"""The caller asks over HTTP, so its process is not known."""

_caller = [0, 0]


def set_caller(pid: int, parent: int) -> None:
    """Fire for another process from now on, whose parent is ``parent``."""
    _caller[:] = [pid, parent]


def caller() -> tuple[int, int]:
    """Return the process that asked, and its parent; zeros if this process fires for itself."""
    return _caller[0], _caller[1]


_client: list[dict[str, str]] = []


def set_client(name: str | None) -> None:
    """Fire as a hook of this coding agent from now on, or as none.

    Its version is the one in its environment, which an agent's settings may set: it is told, and nothing rests on it.
    """
    _client.clear()
    if name:
        version = _version()
        _client.append({"name": name, "version": version} if version else {"name": name})


def client() -> dict[str, str] | None:
    """Return the coding agent whose hook this is, with its version if that is known; None if it is none's."""
    return _client[0] if _client else None


def _version() -> str:
    """Return the version in AI_AGENT, such as ``claude-code_2-1-325_harness``; empty if it has none."""
    for part in os.environ.get("AI_AGENT", "")[:200].split("_")[1:]:
        numbers = part.split("-")
        if len(numbers) > 1 and all(number.isascii() and number.isdigit() for number in numbers):
            return ".".join(numbers)
    return ""
