"""One engine process: fires the events of one project, each as ``interpose fire`` would in a process of its own.

For each event it takes over the caller's environment, directory and file mode mask, and its own standard streams are
files that hold what the caller sent, and what the caller will get. So everything that runs in it, also a Python hook,
finds what it would find in a process of the caller; and there is one event at a time. If something of an event is left
behind, such as a hook that hangs, the process ends after its answer as ``interpose fire`` ends, and another follows.
"""

from __future__ import annotations

import io
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from ..executors.base import kept as hung
from ..handlers import depth, inherited_depth
from ..person.caller import set_caller
from ..runtime.background_loop import background_loop
from .frames import Answer, BadFrame, Request
from .kept_hooks import Elsewhere, KeptHooks, environment_key

__all__ = ["ANSWERED", "FINAL", "MOVED", "Fire", "serve_events"]

ANSWERED, FINAL, MOVED = b"=", b"!", b"M"
"""What an engine process says: an answer; its last answer; the project of an event that is not its own."""


class Fire(Protocol):
    """Fires one event: ``interpose fire`` as a function."""

    def __call__(self, given: list[str], source: Any) -> int:
        """Return the exit status; print to the standard streams."""


def serve_events(connection: socket.socket, fire: Fire, end: Callable[[int], NoReturn]) -> NoReturn:
    """Answer requests until the server closes the connection, then end the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal of the server is for the server
    engine = _Engine(fire)
    try:
        connection.sendall(os.getpid().to_bytes(4, "big"))
        while (body := receive(connection)) is not None:
            said = engine.answer(body)
            connection.sendall(len(said).to_bytes(4, "big") + said)
            os.chdir("/")
            if said[:1] == FINAL:
                break
    except OSError:
        pass  # the server has ended
    connection.close()
    engine.close()
    end(0)


def receive(connection: socket.socket) -> bytes | None:
    """Return the next message; None at the end."""
    size = _exactly(connection, 4)
    return _exactly(connection, int.from_bytes(size, "big")) if size is not None else None


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    data = connection.recv(min(size, 1 << 20)) if size else b""
    if len(data) == size:
        return data
    parts = [data]
    size -= len(data)
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class _Engine:
    def __init__(self, fire: Fire) -> None:
        self._fire = fire
        self._hooks = KeptHooks()
        self._environment: dict[bytes, bytes] | None = None
        self._streams = _Streams()

    def answer(self, body: bytes) -> bytes:
        try:
            request = Request.read(body)
        except BadFrame as error:
            return ANSWERED + Answer(2, b"", f"interpose fire: {error}\n".encode()).write()
        started = background_loop.started
        self._streams.begin(request.data)
        status = 2
        try:
            self._take_over(request)
            status = self._fire(request.arguments, self._hooks)
        except Elsewhere as error:
            self._streams.end()
            return MOVED + os.fsencode(error.project)
        except BaseException as error:
            print(f"interpose fire: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201 - the caller's
            status = status or 1
        hooks = self._hooks.used
        if hooks is not None and hooks.audit is not None:
            hooks.audit.flush()  # a process of its own would have written its record when it ends
        output, errors = self._streams.end()
        is_last = background_loop.started != started or bool(hung.count) or _other_threads()
        return (FINAL if is_last else ANSWERED) + Answer(status, output, errors).write()

    def _take_over(self, request: Request) -> None:
        """Become a process of the caller, as far as a hook can see."""
        wanted = request.environment
        now: dict[bytes, bytes] = getattr(os.environ, "_data", None) or dict(os.environb)  # a hook may have changed it
        if now != wanted:
            os.environb.clear()
            os.environb.update(wanted)
        if self._environment is not wanted:
            self._environment = wanted
            time.tzset()
            self._hooks.environment = environment_key(wanted)
        os.chdir(request.directory)
        os.umask(request.umask)
        set_caller(request.pid, request.parent)
        depth.set(inherited_depth())

    def close(self) -> None:
        self._hooks.close()


def _other_threads() -> bool:
    """Return whether a hook has left a thread of its own."""
    ours = "interpose-"
    if threading.active_count() == 1:
        return False
    return any(
        thread is not threading.main_thread() and not thread.name.startswith(ours) for thread in threading.enumerate()
    )


class _Streams:
    """The standard streams of the process: for each event, new files in memory.

    A program that a hook has left behind keeps those of its own event.
    """

    def __init__(self) -> None:
        empty = _memory_file()
        os.dup2(empty, 0)
        os.close(empty)
        self._files: list[int] = []
        self._writers: list[io.TextIOWrapper] = []

    def begin(self, data: bytes) -> None:
        self._files = [_memory_file(), _memory_file()]
        for number, file in enumerate(self._files, 1):
            os.dup2(file, number)
        if not self._writers or any(writer.closed for writer in self._writers):  # a hook may have closed them
            self._writers = [_writer(1), _writer(2)]
        sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")  # type: ignore[misc]
        sys.stdout = sys.__stdout__ = self._writers[0]  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = self._writers[1]  # type: ignore[misc]

    def end(self) -> tuple[bytes, bytes]:
        """Return what was written to standard output and to standard error."""
        for stream in (*self._writers, sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass  # a hook has closed it
        output, errors = (_content(file) for file in self._files)
        for file in self._files:
            os.close(file)
        return output, errors


def _writer(number: int) -> io.TextIOWrapper:
    binary = open(number, "wb", closefd=False)  # noqa: SIM115 - as long as the process runs
    return io.TextIOWrapper(binary, encoding="utf-8", errors="interpose", line_buffering=number == 2)


def _memory_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("interpose")
    import tempfile

    descriptor, path = tempfile.mkstemp()
    os.unlink(path)
    return descriptor


def _content(file: int) -> bytes:
    size = os.fstat(file).st_size
    parts, at = [], 0
    while at < size and (part := os.pread(file, size - at, at)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)
