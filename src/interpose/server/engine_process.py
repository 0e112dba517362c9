"""One engine process: fires the events of one project and environment, each as ``interpose fire`` would by itself.

For each event it takes over the caller's environment, directory and file mode mask, and its own standard streams are
files that hold what the caller sent, and what the caller will get. So everything that runs in it, also a Python hook,
finds what it would find in a process of the caller; and there is one event at a time. If something of an event is left
behind, such as a hook that hangs, the process ends after its answer as ``interpose fire`` ends, and another follows.

With a request comes the connection of its client, and the process sends a short answer there itself: the server would
have to be woken for it. What it cannot send so, it gives to the server.
"""

from __future__ import annotations

import gc
import io
import mmap
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any, NoReturn, Protocol

from ..executors.base import Executor
from ..executors.base import kept as hung
from ..handlers import depth, inherited_depth
from ..person.caller import set_caller
from ..runtime.background_loop import background_loop
from .frames import ANSWER, BadFrame, FireAnswer, FireRequest, tagged
from .http_requests import response
from .kept_hooks import Elsewhere, KeptHooks
from .watched import WatchedExecutor, Watcher

__all__ = ["ANSWERED", "DELIVERED", "MOVED", "TO_CLIENT", "TO_HTTP", "TO_HTTP_LAST", "TO_SERVER", "Fire",
           "memory_file", "serve_events"]  # fmt: skip

ANSWERED, DELIVERED, MOVED = b"=", b"d", b"M"
"""What an engine process says: an answer; the status of one that it has sent to the client; the name of the processes
that an event belongs to, if that is not its own. A second byte says whether the process ends now."""
TO_SERVER, TO_CLIENT, TO_HTTP, TO_HTTP_LAST = b"S", b"C", b"H", b"L"
"""Where the answer to a request goes: to the server; to a client on the socket; to one over HTTP, whose connection is
kept, or is closed after that."""

_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_DESCRIPTOR = socket.CMSG_LEN(4)
_ROOM = 16 * 1024
_LONGEST = 16 * 1024
"""Bytes of an answer that the process sends itself: at most what one call sends whole, so that nothing is between."""
_SLOW = 10.0
"""Seconds that a client has to take its answer."""


class Fire(Protocol):
    """Fires one event: ``interpose fire`` as a coroutine, which suspends where an executor of its own drives it."""

    def __call__(
        self, given: list[str], source: Any, executor: Executor, redirected: Callable[[], Any], /
    ) -> Coroutine[Any, Any, int]:
        """Return the exit status; print to the standard streams, within ``redirected()`` to standard error only."""


def serve_events(connection: socket.socket, page: int, fire: Fire, end: Callable[[int], NoReturn]) -> NoReturn:
    """Answer requests until the server closes the connection, then end the process.

    ``page`` is a file that the server looks at if this process dies: its first byte is 1 from when an answer may be
    on its way to the client.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal of the server is for the server
    with mmap.mmap(page, 1) as shared:
        os.close(page)
        engine = _Engine(connection, shared, fire)
        engine.run()
        connection.close()
        engine.close()
        end(0)


def receive(connection: socket.socket) -> tuple[bytes, bytes, int] | None:
    """Return where the answer of the next request goes, its body, and the descriptor of the client or -1.

    Return None at the end.
    """
    data, extra, _, _ = connection.recvmsg(_ROOM, _DESCRIPTOR, _CLOSE_ON_EXEC)
    client = int.from_bytes(extra[0][2][:4], sys.byteorder) if extra else -1
    if not _CLOSE_ON_EXEC and client >= 0:
        os.set_inheritable(client, False)
    while 0 < len(data) < 5 and (more := connection.recv(5 - len(data))):
        data += more
    parts, missing = [data], 5 + int.from_bytes(data[1:5], "big") - len(data)
    while missing > 0:
        more = connection.recv(min(missing, 1 << 20))
        if not more:
            return None
        parts.append(more)
        missing -= len(more)
    whole = b"".join(parts) if len(parts) > 1 else data
    return whole[:1], whole[5:], client


class _Engine:
    def __init__(self, connection: socket.socket, page: mmap.mmap, fire: Fire) -> None:
        self._connection = connection
        self._page = page
        self._fire = fire
        self._hooks = KeptHooks()
        self._environment: dict[bytes, bytes] | None = None
        self._depth = 0
        self._streams = Streams()
        self._watcher = Watcher()
        self._executor = WatchedExecutor(self._watcher)
        self._is_reply = False
        self._is_last = False
        self._loops, self._began = 0, 0.0  # as they were before the event

    def run(self) -> None:
        """Fire events in a thread, as ``interpose fire`` runs hooks in one; this thread watches them."""
        self._connection.sendall(os.getpid().to_bytes(4, "big"))
        gc.set_threshold(20_000, 50, 100)  # an event leaves little that only the collector finds
        threading.Thread(target=self._fire_events, name="interpose-events", daemon=True).start()
        try:
            self._watcher.watch()
        except OSError:
            pass  # the server has ended

    def _fire_events(self) -> None:
        try:
            while not self._is_last and (received := receive(self._connection)) is not None:
                if not self._watcher.drive(self._answer(*received)):
                    break  # a hook hung, and the other thread has answered
        except OSError:
            pass  # the server has ended
        finally:
            self._watcher.end()

    async def _answer(self, way: bytes, body: bytes, client: int) -> None:
        """Fire the event of a request, and send the answer; what the client need not wait for comes after that."""
        try:
            said = await self._said(body)
            if isinstance(said, Elsewhere):
                kind, text = MOVED, os.fsencode(said.name)
                self._is_last = said.is_stale
            elif way != TO_SERVER and client >= 0 and self._is_delivered(way, said, client):
                kind, text = DELIVERED, bytes([said.status & 0xFF])
                self._is_last = self._has_left_something()
            else:
                kind, text = ANSWERED, said.write()
                self._is_last = self._has_left_something()
            self._connection.sendall((len(text) + 2).to_bytes(4, "big") + kind + bytes([self._is_last]) + text)
        finally:
            if client >= 0:
                os.close(client)
            os.chdir("/")
            self._streams.prepare()

    def _is_delivered(self, way: bytes, answer: FireAnswer, client: int) -> bool:
        """Send an answer to the client, unless the server has to do more; return whether it was sent."""
        if way == TO_CLIENT:
            data = tagged(ANSWER, answer.write())
        elif answer.output or (self._is_reply and answer.status == 0):
            data = response(200, answer.output or b"{}", keeps=way == TO_HTTP)
        else:
            return False
        if len(data) > _LONGEST:
            return False
        self._page[0] = 1
        try:
            _write(client, data)
        except OSError:
            pass  # the client has gone
        return True

    async def _said(self, body: bytes) -> FireAnswer | Elsewhere:
        """Fire the event of a request; return the answer, or where the event belongs."""
        try:
            request = FireRequest.read(body)
        except BadFrame as error:
            return FireAnswer(2, b"", f"interpose fire: {error}\n".encode())
        self._is_reply = "--reply" in request.arguments
        self._loops, self._began = background_loop.started, time.time()
        self._streams.begin(request.data)
        status = 2
        try:
            self._take_over(request)
            status = await self._fire(request.arguments, self._hooks, self._executor, self._streams.redirected)
        except Elsewhere as error:
            self._streams.end()
            return error
        except BaseException as error:
            print(f"interpose fire: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201 - the caller's
            status = status or 1
        hooks = self._hooks.used
        if hooks is not None and hooks.audit is not None:
            hooks.audit.flush()  # a process of its own would have written its record when it ends
        return FireAnswer(status, *self._streams.end())

    def _has_left_something(self) -> bool:
        """Return whether something of the event goes on in this process, which then fires no other."""
        self._hooks.fired(self._began)
        is_alone = background_loop.started == self._loops and not hung.count and not _other_threads()
        return self._watcher.went_on or not is_alone

    def _take_over(self, request: FireRequest) -> None:
        """Become a process of the caller, as far as a hook can see."""
        wanted = request.environment
        now: dict[bytes, bytes] = getattr(os.environ, "_data", None) or dict(os.environb)  # a hook may have changed it
        if now != wanted:
            os.environb.clear()
            os.environb.update(wanted)
        if self._environment is not wanted:
            self._environment = wanted
            time.tzset()
            self._hooks.use(wanted)
            self._depth = inherited_depth()
        os.chdir(request.directory)
        os.umask(request.umask)
        set_caller(request.pid, request.parent)
        depth.set(self._depth)

    def close(self) -> None:
        self._hooks.close()


def _write(client: int, data: bytes) -> None:
    """Write all data to a descriptor that does not block, and that is the server's too."""
    until = time.monotonic() + _SLOW
    while data:
        try:
            data = data[os.write(client, data) :]
        except BlockingIOError:
            waiting = select.poll()
            waiting.register(client, select.POLLOUT)
            if not waiting.poll(max(0.0, until - time.monotonic()) * 1000):
                raise


def _other_threads() -> bool:
    """Return whether a hook has left a thread of its own."""
    ours = "interpose-"
    if threading.active_count() == 2:
        return False
    return any(
        thread is not threading.main_thread() and not thread.name.startswith(ours) for thread in threading.enumerate()
    )


class Streams:
    """The standard streams of the process, for each event as if they were new.

    Both descriptors are standard error, a new file in memory for each event: a program that a hook has left behind
    keeps that of its own event. What hooks write to standard output goes there, also over ``sys.__stdout__``. The
    answer itself is printed to ``sys.stdout`` outside of ``redirected()``, and that is not a descriptor.
    """

    def __init__(self) -> None:
        empty = memory_file()
        os.dup2(empty, 0)
        os.close(empty)
        self._file = -1
        self._input, self._output = _stream_in_memory(), _stream_in_memory()
        self._errors: io.TextIOWrapper | None = None
        self.prepare()

    def prepare(self) -> None:
        """Make the streams of the next event."""
        self._file = memory_file()
        os.dup2(self._file, 1)
        os.dup2(self._file, 2)
        if self._errors is None or self._errors.closed:  # a hook may have closed it
            binary = open(2, "wb", closefd=False)  # noqa: SIM115 - as long as the process runs
            self._errors = io.TextIOWrapper(binary, encoding="utf-8", errors="interpose", line_buffering=True)
        self._input, self._output = _emptied(self._input), _emptied(self._output)

    def begin(self, data: bytes) -> None:
        """Let standard input be this; it has to be prepared."""
        self._input.buffer.write(data)
        self._input.seek(0)
        sys.stdin = sys.__stdin__ = self._input  # type: ignore[misc]
        sys.stdout = self._output
        sys.stderr = sys.__stderr__ = sys.__stdout__ = self._errors  # type: ignore[misc]

    def redirected(self) -> AbstractContextManager[None]:
        """Send what is printed to standard output to standard error."""
        return _ToErrors()

    def end(self) -> tuple[bytes, bytes]:
        """Return what was written to standard output and to standard error."""
        for stream in (self._errors, self._output, sys.stderr):
            try:
                stream.flush()  # type: ignore[union-attr]
            except (OSError, ValueError, AttributeError):
                pass  # a hook has closed it
        output = b"" if self._output.closed else self._output.buffer.getvalue()  # type: ignore[attr-defined]
        errors = _content(self._file)
        os.close(self._file)
        return output, errors


def _stream_in_memory() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="interpose")


def _emptied(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return a stream without content: this one, unless a hook has closed it or taken it apart."""
    try:
        stream.seek(0)
        stream.truncate()
    except (OSError, ValueError):
        return _stream_in_memory()
    return stream


class _ToErrors:
    """While hooks run, ``sys.stdout`` is standard error."""

    def __enter__(self) -> None:
        self._before = sys.stdout
        sys.stdout = sys.stderr

    def __exit__(self, *_: object) -> None:
        sys.stdout = self._before


def memory_file() -> int:
    """Return the descriptor of a file without a name, in memory where the system has that."""
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
