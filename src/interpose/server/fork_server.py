"""The process that makes engine processes: it has loaded the engine, runs nothing, and forks.

A fork takes a few milliseconds where loading takes a hundred, and engine processes share its memory. It has no thread
and no event loop, so a fork of it is whole.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import NoReturn

__all__ = ["ForkServer"]

_PATIENCE = 10.0
"""Seconds that engine processes have to end, when the server has ended."""


class ForkServer:
    """The server's end: starts engine processes."""

    def __init__(self, prepare: Callable[[], None], serve: Callable[[socket.socket, int], NoReturn]) -> None:
        """Fork. ``prepare`` loads what engine processes need; ``serve`` is what each does with its connection."""
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                self._ours.close()
                _run(theirs, prepare, serve)
                status = 0
            finally:
                os._exit(status)
        theirs.close()

    def start(self, page: int) -> socket.socket:
        """Start an engine process, which gets this file too; return the connection to it.

        Raise OSError if that is not possible.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            socket.send_fds(self._ours, [b"+"], [theirs.fileno(), page])
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        return ours

    def fileno(self) -> int:
        """Return the descriptor that is readable when the process has ended."""
        return self._ours.fileno()

    def close(self) -> None:
        """End it, when its engine processes have ended."""
        self._ours.close()
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass


def _run(
    connection: socket.socket, prepare: Callable[[], None], serve: Callable[[socket.socket, int], NoReturn]
) -> None:
    connection = _without_other_descriptors(connection)
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN if number != signal.SIGTERM else signal.SIG_DFL)
    prepare()
    gc.collect()
    gc.freeze()  # so that collecting in an engine process does not copy the shared memory
    children: set[int] = set()
    waiting = select.poll()
    waiting.register(connection, select.POLLIN)
    while True:
        _reap(children)
        if not waiting.poll(1000 if children else -1):
            continue
        message, descriptors, _, _ = socket.recv_fds(connection, 1, 2)
        if not message:
            break
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        if len(descriptors) == 2:
            pid = os.fork()
            if pid == 0:
                connection.close()
                signal.signal(signal.SIGHUP, signal.SIG_DFL)
                serve(socket.socket(fileno=descriptors[0]), descriptors[1])
            children.add(pid)
        for descriptor in descriptors:
            os.close(descriptor)
    _end(children)


def _without_other_descriptors(connection: socket.socket) -> socket.socket:
    """Close everything else: the lock and the sockets of the server must end with the server."""
    kept = os.dup2(connection.detach(), 3) if connection.fileno() != 3 else connection.detach()
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.closerange(4, min(65536, os.sysconf("SC_OPEN_MAX")))
    os.set_inheritable(kept, False)
    return socket.socket(fileno=kept)


def _reap(children: set[int]) -> None:
    for pid in tuple(children):
        try:
            if os.waitpid(pid, os.WNOHANG)[0]:
                children.discard(pid)
        except ChildProcessError:
            children.discard(pid)


def _end(children: set[int]) -> None:
    until = time.monotonic() + _PATIENCE
    while children and time.monotonic() < until:
        _reap(children)
        time.sleep(0.005)
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
