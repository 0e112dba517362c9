"""Accept requests on the socket of the user: read each with a deadline, check who sends it, and send the answer.

A request is accepted by one letter, which is sent before the event is fired. If that letter cannot be sent, the client
has gone and nothing is fired; if the client did not get it, the client decides by itself.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from time import monotonic, time
from typing import Any

from .counters import Counters
from .deadlines import deadline_in
from .dispatcher import Dispatcher, Lost, PendingEvent
from .engine_handle import Client
from .engine_process import TO_CLIENT
from .frames import (
    ACCEPTED,
    ANSWER,
    DECLINED,
    LONGEST,
    MAGIC,
    REFUSED,
    WORKING,
    BadFrame,
    FireAnswer,
    FireRequest,
    tagged,
)
from .places import peer_of

__all__ = ["SocketListener"]

_READ = 10.0
"""Seconds that a client has to send its request, and to take its answer."""
_SOON = 0.05
"""Seconds after which a client is watched."""
_MOST_OPEN = 4096
"""Connections at once."""
_ROOM = 16 * 1024


class SocketListener:
    """The socket of the server."""

    def __init__(
        self,
        listening: socket.socket,
        dispatcher: Dispatcher,
        counters: Counters,
        why_not: Callable[[FireRequest, int], str],
        log: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        """``why_not`` says why a request of a process is declined; an empty text if it is not."""
        self._listening = listening
        self.dispatcher = dispatcher
        self.counters = counters
        self.why_not = why_not
        self.log = log
        self._open: set[_ClientConnection] = set()
        self.loop = asyncio.get_running_loop()
        self.loop.add_reader(listening, self._accept)

    @property
    def open(self) -> int:
        """How many connections are open."""
        return len(self._open)

    def close(self) -> None:
        """Accept no further connections."""
        self.loop.remove_reader(self._listening)
        self._listening.close()

    async def finished(self) -> None:
        """Wait until every request that was accepted is answered."""
        while self._open:
            await asyncio.sleep(0.005)
            self.tidy()

    def tidy(self) -> None:
        """Close connections of clients that take too long; tell the others that their event is worked on."""
        now = monotonic()
        for connection in tuple(self._open):
            connection.look(now)

    def drop(self, connection: _ClientConnection) -> None:
        """Forget a connection."""
        self._open.discard(connection)

    def _accept(self) -> None:
        for _ in range(64):
            try:
                accepted, _ = self._listening.accept()
            except BlockingIOError:
                return
            except OSError:  # too many descriptors: those that wait are accepted when others have ended
                self.loop.remove_reader(self._listening)
                self.loop.call_later(0.05, self._accept_again)
                return
            accepted.setblocking(False)
            if len(self._open) >= _MOST_OPEN:
                _say(accepted, tagged(REFUSED, b"the resident engine has too many connections"))
                accepted.close()
                continue
            connection = _ClientConnection(self, accepted)
            self._open.add(connection)
            connection.begin()

    def _accept_again(self) -> None:
        if self._listening.fileno() >= 0:
            self.loop.add_reader(self._listening, self._accept)


class _ClientConnection:
    """One client: its request is read and fired, and the answer is sent unless the engine process has done so."""

    def __init__(self, listener: SocketListener, connection: socket.socket) -> None:
        self._listener = listener
        self._loop = listener.loop
        self._connection = connection
        self._received = bytearray()
        self._unsent = memoryview(b"")
        self._pending: PendingEvent | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = monotonic() + _READ
        self._beat = 0.0

    def begin(self) -> None:
        """Check the client, and read what it has sent already."""
        try:
            self._pid, user = peer_of(self._connection)
        except OSError:
            user = -1
        if user != os.geteuid():
            self._close()
            return
        self._readable()
        if self._pending is None and self._connection.fileno() >= 0 and not self._unsent:
            self._loop.add_reader(self._connection, self._readable)

    def look(self, now: float) -> None:
        """Close the connection if the client takes too long; tell it that its event is worked on."""
        if self._pending is None:
            if now > self._due:
                self._close()  # it sends half a request and stops, or does not take its answer
        elif now - self._beat >= 0.9:
            self._beat = now
            _say(self._connection, WORKING)

    # Reading.

    def _readable(self) -> None:
        try:
            while True:
                part = self._connection.recv(_ROOM if len(self._received) < _ROOM else 1 << 20)
                self._received += part
                if not part or len(part) < _ROOM:
                    break
        except BlockingIOError:
            return
        except OSError:
            part = b""
        if not part:
            self._close()
        elif (body := self._whole()) is not None:
            self._loop.remove_reader(self._connection)
            if isinstance(body, str):
                self._reject(DECLINED, body, "declined", None)
            else:
                self._fire(body)

    def _whole(self) -> bytes | str | None:
        """Return the body of the request; None if it is not all there, and why it is none as text."""
        received = self._received
        if len(received) < 8:
            return None if MAGIC.startswith(received[:4]) else "this is no request, or one of another version"
        if received[:4] != MAGIC:
            return "this is no request, or one of another version"
        size = int.from_bytes(received[4:8], "big")
        if size > LONGEST:
            return f"the request has {size} bytes, more than {LONGEST}"
        if len(received) < 8 + size:
            return None
        return bytes(received[8:]) if len(received) == 8 + size else "there is more after the request"

    # Firing.

    def _fire(self, body: bytes) -> None:
        listener = self._listener
        try:
            request = FireRequest.read(body)
        except BadFrame as error:
            self._reject(DECLINED, str(error), "declined", None)
            return
        if why := listener.why_not(request, self._pid):
            self._reject(DECLINED, why, "declined", request)
            return
        if listener.dispatcher.is_full():
            self._reject(
                REFUSED, "the resident engine has too many events under way (so this denies)", "refused", request
            )
            return
        if self._pid and self._pid != request.pid:
            request = request._replace(pid=self._pid)
            body = request.write()
        try:
            if self._connection.send(ACCEPTED) != 1:  # raises if the client has gone
                raise BrokenPipeError
        except OSError:
            self._close()
            return
        client = Client(TO_CLIENT, self._connection.fileno())
        pending = self._pending = PendingEvent(request, body, self._answered, client, deadline_in(request.arguments))
        self._beat = pending.began
        self._timer = self._loop.call_later(_SOON, self._watch)
        listener.dispatcher.fire(pending)

    def _watch(self) -> None:
        """Watch the client from now on; most events have ended by then."""
        self._loop.add_reader(self._connection, self._gone)

    def _gone(self) -> None:
        self._loop.remove_reader(self._connection)
        if self._pending is not None:
            self._listener.dispatcher.abandon(self._pending)  # it has nothing more to send

    def _reject(self, kind: bytes, why: str, ended: str, request: FireRequest | None) -> None:
        self._listener.counters.events[ended] += 1
        self._note(ended, request, monotonic(), why)
        self._send(tagged(kind, why.encode()))

    def _answered(self, answer: FireAnswer | int | Lost) -> None:
        pending, self._pending = self._pending, None
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._connection)
        if self._listener.log is not None and pending is not None:
            status = "lost" if isinstance(answer, Lost) else answer if isinstance(answer, int) else answer.status
            self._note(status, pending.request, pending.began, answer.why if isinstance(answer, Lost) else "")
        if isinstance(answer, FireAnswer):
            self._send(tagged(ANSWER, answer.write()))
        elif isinstance(answer, Lost) and answer.client_can_fire:
            self._send(tagged(DECLINED, answer.why.encode()))
        elif isinstance(answer, Lost) and not answer.is_answered:
            self._send(tagged(REFUSED, f"the resident engine lost the event: {answer.why} (so this denies)".encode()))
        else:
            self._close()  # the engine process has sent it

    def _note(self, status: str | int, request: FireRequest | None, began: float, why: str) -> None:
        """Write a line of the access log."""
        if self._listener.log is None:
            return
        fields: dict[str, Any] = {"time": round(time(), 3), "over": "socket", "pid": self._pid}
        if request is not None:
            fields |= {"directory": request.directory, "arguments": request.arguments}
        fields |= {"status": status, "ms": round((monotonic() - began) * 1000, 3)}
        self._listener.log({**fields, "why": why} if why else fields)

    # Sending.

    def _send(self, text: bytes) -> None:
        self._due = monotonic() + _READ
        self._unsent = memoryview(text)
        self._writable()
        if self._unsent:
            self._loop.add_writer(self._connection, self._writable)

    def _writable(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[self._connection.send(self._unsent) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = memoryview(b"")
        self._close()

    def _close(self) -> None:
        self._loop.remove_reader(self._connection)
        self._loop.remove_writer(self._connection)
        self._connection.close()
        self._listener.drop(self)


def _say(connection: socket.socket, text: bytes) -> None:
    try:
        connection.send(text)
    except OSError:
        pass  # it has gone, or does not read
