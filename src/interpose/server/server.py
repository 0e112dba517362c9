"""The life of the server: one per user, begun and ended in order, gone after some time without an event."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, NoReturn

from .. import __version__
from .counters import Counters
from .dispatcher import Dispatcher, ServerLimits
from .engine_process import Fire, serve_events
from .fork_server import ForkServer
from .frames import FireRequest, python_variables
from .http import HttpFront
from .installation import Installation
from .listener import SocketListener
from .places import Lock, bind_socket, prepare_folder, socket_path

__all__ = ["AlreadyRunning", "Server"]

_TICK = 1.0
_STOPPING = 60.0
"""Seconds that events under way have to end when the server is stopped."""


class AlreadyRunning(Exception):
    """Another server of this user runs."""


class Server:
    """One server: takes the lock, serves until it is stopped or idle, and removes what it has made."""

    def __init__(
        self,
        fire: Fire,
        end: Callable[[int], NoReturn],
        preload: Callable[[], None],
        limits: ServerLimits,
        *,
        http: HttpFront | None = None,
        log: Callable[[dict[str, Any]], None] | None = None,
        ready: Callable[[Server], None] = lambda server: None,
    ) -> None:
        """``fire`` and ``end`` are what an engine process fires an event with, and ends itself with.

        ``log`` is given a line of the access log for every request.
        """
        self._fire, self._end, self._preload = fire, end, preload
        self._limits = limits
        self._http = http
        self._log = log
        self._ready = ready
        self.counters = Counters()
        self.began = monotonic()
        self.stopping = False
        self._installation = Installation()
        self._python = python_variables(dict(os.environb))
        self._file_system = _file_system_of(os.getpid())
        self._wake = asyncio.Event()
        self._used = monotonic()

    def run(self) -> None:
        """Serve; raise AlreadyRunning if there is a server, UsageError if there cannot be one."""
        prepare_folder()
        path = socket_path()
        lock = Lock()
        if not lock.take():
            raise AlreadyRunning
        os.chdir("/")  # it serves all projects, and keeps none from being removed
        try:
            forks = ForkServer(self._preload, partial(serve_events, fire=self._fire, end=self._end))
            try:
                _allow_descriptors()
                facts = {"pid": os.getpid(), "version": __version__, "began": time.time(), "socket": path}
                asyncio.run(self._serve(forks, lock, facts))
            finally:
                forks.close()
        finally:
            lock.release()

    async def _serve(self, forks: ForkServer, lock: Lock, facts: dict[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        dispatcher = Dispatcher(forks, self._limits, self.counters)
        listening = bind_socket()
        listener = SocketListener(listening, dispatcher, self.counters, self._why_not, self._log)
        loop.add_reader(forks, self.stop)  # its fork server has ended: another server begins anew
        http = None
        try:
            if self._http is not None:
                http = await self._http.begin(self, dispatcher)
                facts["http"] = http.address
            lock.write(facts)
            self._ready(self)
            await self._until_stopped(dispatcher, listener, http)
        finally:
            self.stopping = True
            _unlink_socket(facts["socket"])
            listener.close()
            if http is not None:
                http.close()
            waiting = [listener.finished()] if http is None else [listener.finished(), http.finished()]
            try:
                async with asyncio.timeout(_STOPPING):
                    await asyncio.gather(*waiting)
            except TimeoutError:
                pass
            loop.remove_reader(forks)
            dispatcher.close()

    async def _until_stopped(self, dispatcher: Dispatcher, listener: SocketListener, http: HttpFront | None) -> None:
        while not self.stopping:
            try:
                async with asyncio.timeout(_TICK):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            dispatcher.tidy()
            listener.tidy()
            if http is not None:
                http.tidy()
            if listener.open or dispatcher.under_way:
                self._used = monotonic()
            elif self._limits.idle and monotonic() - self._used > self._limits.idle:
                self.stop()
            if self._installation.has_changed():
                self.stop()

    def stop(self) -> None:
        """Begin to end: events under way are answered, new ones are declined."""
        self.stopping = True
        self._wake.set()

    def touch(self) -> None:
        """Note that the server is used."""
        self._used = monotonic()

    def _why_not(self, request: FireRequest, pid: int) -> str:
        """Return why a request is declined, so that its client decides by itself; nothing if it is not."""
        self.touch()
        if self.stopping:
            return "the server is ending"
        if _file_system_of(pid) != self._file_system:
            return "the client has other files under the same paths"
        if not self._installation.is_same(request.installation):
            return "the client belongs to another installation"
        if self._installation.has_changed():
            self.stop()
            return "the installed files have changed"
        if python_variables(request.environment) != self._python:
            return "PYTHON… variables differ from those of the server"
        return ""


def _file_system_of(pid: int) -> tuple[str, str] | None:
    """Return what differs between processes for which a path leads to other files; None where that is not shown."""
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt"), os.readlink(f"/proc/{pid}/root")
    except OSError:
        return None


def _allow_descriptors() -> None:
    """Allow as many open connections as the system lets us have; engine processes keep the user's own limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else min(hard, 65536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _unlink_socket(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


if sys.platform == "win32":
    raise ImportError("the resident engine needs Unix sockets")
