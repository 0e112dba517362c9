"""Wait until a descriptor is ready: on an event loop, or in the calling thread, where coroutines never suspend."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from ._watch import LONGEST_POLL

if TYPE_CHECKING:
    import asyncio

__all__ = ["LoopReady", "Ready", "ThreadReady"]


class Ready(Protocol):
    """A way to wait for descriptors."""

    async def readable(self, descriptor: int, until: float) -> bool:
        """Wait until there is something to read; return False at a time of the monotonic clock."""

    async def writable(self, descriptor: int, until: float, *, or_readable: bool = False) -> bool:
        """Wait until there is room to write, or, if that is asked for, something to read."""


class LoopReady:
    """Waits on the running event loop."""

    def __init__(self) -> None:
        from asyncio import get_running_loop

        self._loop = get_running_loop()

    async def readable(self, descriptor: int, until: float) -> bool:
        """Wait until there is something to read; return False at a time of the monotonic clock."""
        return await self._wait(descriptor, until, read=True, write=False)

    async def writable(self, descriptor: int, until: float, *, or_readable: bool = False) -> bool:
        """Wait until there is room to write, or, if that is asked for, something to read."""
        return await self._wait(descriptor, until, read=or_readable, write=True)

    async def _wait(self, descriptor: int, until: float, *, read: bool, write: bool) -> bool:
        loop = self._loop
        ready: asyncio.Future[bool] = loop.create_future()
        timer = loop.call_later(max(0.0, until - monotonic()), _settle, ready, False)
        watched: list[Callable[[int], Any]] = []
        try:
            if read:
                loop.add_reader(descriptor, _settle, ready, True)
                watched.append(loop.remove_reader)
            if write:
                loop.add_writer(descriptor, _settle, ready, True)
                watched.append(loop.remove_writer)
            return await ready
        finally:
            timer.cancel()
            for forget in watched:
                forget(descriptor)


def _settle(future: asyncio.Future[bool], value: bool) -> None:
    if not future.done():
        future.set_result(value)


class ThreadReady:
    """Waits in the calling thread."""

    async def readable(self, descriptor: int, until: float) -> bool:
        """Wait until there is something to read; return False at a time of the monotonic clock."""
        return _poll(descriptor, 1, until)

    async def writable(self, descriptor: int, until: float, *, or_readable: bool = False) -> bool:
        """Wait until there is room to write, or, if that is asked for, something to read."""
        return _poll(descriptor, 5 if or_readable else 4, until)


def _poll(descriptor: int, events: int, until: float) -> bool:
    """Wait for POLLIN (1), POLLOUT (4) or both; a closed connection counts as ready."""
    import select

    poll = select.poll()
    poll.register(descriptor, events)
    while not poll.poll(max(0.0, min(until - monotonic(), LONGEST_POLL)) * 1000):
        if monotonic() >= until:
            return False
    return True
