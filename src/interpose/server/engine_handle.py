"""The server's end of an engine process: it is asked here, and what it says comes here."""

from __future__ import annotations

import asyncio
import mmap
import os
import signal
import socket
from collections.abc import Callable
from time import monotonic

from ..runtime.named_tuples import NamedTuple
from .engine_process import memory_file
from .fork_server import ForkServer

__all__ = ["Client", "EngineHandle"]


class Client(NamedTuple):
    """The connection of a client, and how an engine process answers on it."""

    way: bytes
    descriptor: int


class EngineHandle:
    """An engine process and the connection to it."""

    def __init__(self, forks: ForkServer, project: str) -> None:
        """Start it; raise OSError if that is not possible."""
        file = memory_file()
        try:
            os.ftruncate(file, 1)
            self._page = mmap.mmap(file, 1)
            self._connection = forks.start(file)
        finally:
            os.close(file)
        self._connection.setblocking(False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._connection, self._readable)
        self._received = bytearray()
        self._waiting: Callable[[bytes], None] | None = None
        self._is_open = True
        self.project = project
        self.pid = 0
        self.used = monotonic()

    def begin(self, said: Callable[[bytes], None]) -> None:
        """Call ``said`` when it runs, with nothing if it has ended before."""
        self._waiting = said

    def ask(self, body: bytes, client: Client, said: Callable[[bytes], None]) -> None:
        """Send a request, and call ``said`` with what it says; with nothing if it has ended."""
        self._waiting = said
        self._page[0] = 0
        data = client.way + len(body).to_bytes(4, "big") + body
        try:
            done = socket.send_fds(self._connection, [data], [client.descriptor] if client.descriptor >= 0 else [])
        except BlockingIOError:
            done = 0
        except OSError:
            self._lose()
            return
        if done < len(data):
            self._unsent = memoryview(data)[done:]
            self._loop.add_writer(self._connection, self._writable)

    def _writable(self) -> None:
        try:
            self._unsent = self._unsent[self._connection.send(self._unsent) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._loop.remove_writer(self._connection)

    @property
    def may_have_answered(self) -> bool:
        """Whether an answer to its last request may be on its way to the client."""
        return bool(self._page[0])

    @property
    def has_ended(self) -> bool:
        """Whether the process has closed its end of the connection."""
        return not self._is_open

    def _readable(self) -> None:
        try:
            part = self._connection.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        if not part:
            self._lose()
            return
        self._received += part
        if not self.pid:
            start, whole = 0, 4
        else:
            start, whole = 4, 4 + int.from_bytes(self._received[:4], "big")
        if len(self._received) >= whole and self._waiting is not None:
            said, self._received = bytes(self._received[start:whole]), bytearray()
            waiting, self._waiting = self._waiting, None
            self.pid = self.pid or int.from_bytes(said, "big")
            waiting(said)

    def _lose(self) -> None:
        """Note that it has ended."""
        self._stop_watching()
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self._loop.call_soon(waiting, b"")

    def _stop_watching(self) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._connection)
            self._loop.remove_writer(self._connection)

    def is_stopped(self) -> bool:
        """Return whether a signal has stopped the process; False where that cannot be seen."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as opened:
                return opened.read().rpartition(b")")[2].split()[:1] in ([b"T"], [b"t"])
        except OSError:
            return False

    def kill(self) -> None:
        """End it at once, with the commands that it runs."""
        if self.pid:
            try:
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def give_up(self) -> None:
        """End it if it does not begin."""
        if not self.pid:
            self._lose()

    def close(self) -> None:
        """Let it end."""
        self._stop_watching()
        self._connection.close()
