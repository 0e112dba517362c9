"""Find the addresses of a name within a deadline. The system's look-up cannot be ended, so it runs in a thread."""

from __future__ import annotations

import os
import socket
import threading
from typing import Any

from ..replies import HookFailed
from ._ready import Ready

__all__ = ["Address", "addresses_of"]

Address = tuple[int, tuple[Any, ...]]
"""The family of an address, and what ``connect`` takes."""

_MOST_LOOKUPS = 32
"""How many look-ups may be under way; each that hangs keeps a thread until the system gives up."""
_free = threading.BoundedSemaphore(_MOST_LOOKUPS)


async def addresses_of(host: str, port: int, ready: Ready, deadline: float) -> list[Address]:
    """Return the addresses of a host; raise HookFailed if there are none, or if that is not known in time."""
    try:
        return _look_up(host, port, socket.AI_NUMERICHOST)
    except OSError:  # a name, not a number
        pass
    found: list[Address] = []
    error = await _in_thread(host, port, found, ready, deadline)
    if error or not found:
        raise HookFailed("http_name", f"the name {host} was not found{f': {error}' if error else ''}")
    return found


async def _in_thread(host: str, port: int, found: list[Address], ready: Ready, deadline: float) -> str:
    """Look a name up in a daemon thread, and add its addresses; return why that failed."""
    said: list[str] = []
    if not _free.acquire(blocking=False):
        return f"{_MOST_LOOKUPS} look-ups are under way and do not end"
    reader, writer = os.pipe()

    def look_up() -> None:
        try:
            found.extend(_look_up(host, port, 0))
        except (OSError, UnicodeError) as error:
            said.append(getattr(error, "strerror", None) or str(error))
        finally:
            _free.release()
            os.close(writer)  # the reader sees the end

    try:
        threading.Thread(target=look_up, name="interpose-lookup", daemon=True).start()
    except RuntimeError as error:  # the limit of threads, or the interpreter is shutting down
        _free.release()
        os.close(writer)
        os.close(reader)
        raise HookFailed("spawn_resource", f"no thread can be started: {error}") from None
    try:
        if not await ready.readable(reader, deadline):
            found = []
            raise HookFailed("timeout", f"the name {host} was not found in time")
    finally:
        os.close(reader)
    return said[0] if said else ""


def _look_up(host: str, port: int, flags: int) -> list[Address]:
    # As bytes: for text the interpreter would load tables of Unicode first.
    entries = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, address) for family, _, _, _, address in entries]
