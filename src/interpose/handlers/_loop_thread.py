"""An event loop in a daemon thread of its own, for connections that outlive the loop of the host that uses them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any

from ..replies import HookFailed

__all__ = ["LoopThread"]

_LONGEST_END = 15.0
"""Seconds to wait for the thread; the processes of a server have ended before."""


class LoopThread:
    """One event loop, started when it is first needed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def runs(self) -> bool:
        """Whether the thread was started."""
        return self._loop is not None

    def submit(self, flow: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Run a coroutine on the loop."""
        try:
            loop = self._started()
        except RuntimeError as error:  # the limit of threads, or the interpreter is shutting down
            flow.close()
            raise HookFailed("spawn_resource", f"no event loop can be started: {error}") from None
        return asyncio.run_coroutine_threadsafe(flow, loop)

    def stop(self) -> None:
        """End the loop and its thread; the next coroutine starts them anew."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        if thread is not threading.current_thread():
            thread.join(_LONGEST_END)

    def forget(self) -> None:
        """Start anew after a fork: the thread is the parent's."""
        self._lock = threading.Lock()
        self._loop = self._thread = None

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=_serve, args=[loop], name=self._name, daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    loop.close()
                    raise
                self._loop, self._thread = loop, thread
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
