"""One event loop in a daemon thread, for hosts that have none."""

from __future__ import annotations

import asyncio
import threading
from asyncio import CancelledError, Task
from collections.abc import Callable, Coroutine
from concurrent import futures
from contextvars import Context, copy_context
from functools import partial
from typing import Any

from .faults import log, type_name
from .forks import after_fork
from .held_signals import HeldSignals
from .workers import NoThread, start_thread

__all__ = ["BackgroundLoop", "JobCancelled", "background_loop"]

_TICK = 0.05
_CANCELLING = 0.2  # seconds that a coroutine has to end after the host was interrupted


class JobCancelled(RuntimeError):
    """A coroutine on the loop was cancelled, and not by the thread that waits for it, which has no task."""


class BackgroundLoop:
    """One event loop in a daemon thread, for hosts that have none; started when it is first needed."""

    def __init__(self) -> None:
        self.reset()
        after_fork(self.reset)

    def reset(self) -> None:
        self._lock = threading.RLock()  # a signal handler that strikes while it is held may fire, too
        self.started = 0  # how many jobs were started that no firing waits for
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, flow: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the loop, in a copy of the caller's context, and wait for it."""
        if threading.current_thread() is self._thread:
            # A hook on this very loop wants to wait for it: that needs another loop for as long as it takes.
            with futures.ThreadPoolExecutor(1) as pool:
                return _result_of(pool.submit(copy_context().run, asyncio.run, flow))
        try:
            loop = self._running_loop()
        except BaseException:  # there is no thread, or the host is interrupted
            flow.close()
            raise
        job = _Job(flow)
        try:
            loop.call_soon_threadsafe(job.begin)
            while not job.ended.acquire(timeout=_TICK):
                continue  # a signal that strikes another thread does not end a wait
        except BaseException:
            loop.call_soon_threadsafe(job.cancel)
            job.ended.acquire(timeout=_CANCELLING)
            raise
        return _result_of(job.task)

    def start(self, job: Callable[[], None], context: Context) -> None:
        self.started += 1
        self._running_loop().call_soon_threadsafe(job, context=context)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                with HeldSignals():
                    self._loop, self._thread = _started_loop()
            return self._loop


class _Job:
    """A coroutine that a loop runs while another thread waits until ``ended`` can be acquired.

    A future of ``concurrent.futures`` does not do: its lock stays locked, and with it the loop, if a signal interrupts
    the thread after it has taken that lock and before it has entered the block that releases it.
    """

    task: Any = None  # set when it has begun

    def __init__(self, flow: Coroutine[Any, Any, Any]) -> None:
        self._flow = flow
        self.ended = threading.Lock()
        self.ended.acquire()

    def begin(self) -> None:
        # Not by the loop, whose factory of tasks a hook may have replaced.
        self.task = Task(self._flow, loop=asyncio.get_running_loop())
        self.task.add_done_callback(lambda _: self.ended.release())

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()
        else:  # the thread was interrupted before it had handed the job over
            self._flow.close()
            self.ended.release()


def _result_of(task: Task[Any] | futures.Future[Any]) -> Any:
    try:
        return task.result()
    except CancelledError:
        raise JobCancelled("a hook has cancelled all tasks on its event loop") from None


def _started_loop() -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    try:
        loop = asyncio.new_event_loop()
    except OSError as error:  # the limit of descriptors
        raise NoThread(f"no event loop can be started: {error}") from None
    try:
        return loop, start_thread(partial(_serve, loop), "interpose-loop")
    except NoThread:
        loop.close()
        raise


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop for ever: a hook that stops it, or leaves a task that exits, does not end it."""
    while True:
        try:
            loop.run_forever()
        except BaseException as error:
            log("error", "a task on the loop of hooks raised %s", type_name(error))


background_loop = BackgroundLoop()
