"""An event loop in a daemon thread, for hosts that have none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent import futures
from contextvars import Context
from typing import Any

from ..faults import log, type_name
from ..forks import after_fork
from ..replies import HookFailed
from .base import GRACE

__all__ = ["BackgroundLoop", "background_loop"]

_LOOK = 0.05  # seconds between two looks at whether a coroutine has ended


class BackgroundLoop:
    """One event loop, started when it is first needed."""

    def __init__(self) -> None:
        self.reset()
        after_fork(self.reset)

    def reset(self) -> None:
        """Start anew: after a fork the parent's loop and lock are not the child's."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False

    def run(self, chain: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the loop, in a copy of the caller's context, and wait for it."""
        if threading.current_thread() is self._thread:
            # A hook on this very loop wants to wait for it: that needs another loop for as long as it takes.
            other = BackgroundLoop()
            try:
                return other.run(chain)
            finally:
                other.stop()
        try:
            loop = self._running_loop()
        except RuntimeError as error:  # the limit of threads, or the interpreter is shutting down
            chain.close()
            raise HookFailed("spawn_resource", f"no event loop can be started: {error}") from None
        future = asyncio.run_coroutine_threadsafe(chain, loop)
        try:
            while not future.done():
                futures.wait([future], _LOOK)  # now and then: a signal that strikes another thread does not end a wait
        except BaseException:
            future.cancel()
            futures.wait([future], GRACE * 2)
            raise
        try:
            return future.result()
        except futures.CancelledError:
            raise asyncio.CancelledError from None

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run the loop until stop() is called: a hook that stops it, or leaves a task that exits, does not end it."""
        while not self._stopping:
            try:
                loop.run_forever()
            except BaseException as error:
                log("error", "a task on the loop of hooks raised %s", type_name(error))

    def stop(self) -> None:
        """End the loop and its thread."""
        self._stopping = True
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def start(self, job: Callable[[], None], context: Context) -> None:
        """Call something on the loop, in a context, without waiting."""
        self._running_loop().call_soon_threadsafe(job, context=context)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=self._serve, args=[loop], name="interpose-loop", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    loop.close()
                    raise
                self._loop, self._thread = loop, thread
            return self._loop


background_loop = BackgroundLoop()
