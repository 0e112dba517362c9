"""Accept requests on the socket of the user: read each with a deadline, check who sends it, and send the answer.

A request is accepted by one letter, which is sent before the event is fired. If that letter cannot be sent, the client
has gone and nothing is fired; if the client did not get it, the client decides by itself.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Any

from .counters import Counters
from .dispatcher import Dispatcher, Lost, Ticket
from .frames import (
    ACCEPTED,
    ANSWER,
    DECLINED,
    LONGEST,
    MAGIC,
    REFUSED,
    WORKING,
    BadFrame,
    Request,
    tagged,
)
from .places import peer_of
from .projects import project_of

__all__ = ["Listener"]

_READ = 10.0
"""Seconds that a client has to send its request, and to take its answer."""
_BEAT = 1.0
"""Seconds between two signs of life while an event is fired."""
_SOON = 0.05
"""Seconds after which a client is watched."""
_MOST_OPEN = 4096
"""Connections at once."""


class Listener:
    """The socket of the server."""

    def __init__(
        self,
        listening: socket.socket,
        dispatcher: Dispatcher,
        counters: Counters,
        why_not: Callable[[Request, int], str],
    ) -> None:
        """``why_not`` says why a request of a process is declined; an empty text if it is not."""
        self._listening = listening
        self._dispatcher = dispatcher
        self._counters = counters
        self._why_not = why_not
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(listening, self._accept)

    @property
    def open(self) -> int:
        """How many connections are open."""
        return len(self._tasks)

    def close(self) -> None:
        """Accept no further connections."""
        self._loop.remove_reader(self._listening)
        self._listening.close()

    async def finished(self) -> None:
        """Wait until every request that was accepted is answered."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _accept(self) -> None:
        for _ in range(64):
            try:
                connection, _ = self._listening.accept()
            except BlockingIOError:
                return
            except OSError:  # too many descriptors: those that wait are accepted when others have ended
                self._loop.remove_reader(self._listening)
                self._loop.call_later(0.05, self._accept_again)
                return
            connection.setblocking(False)
            if len(self._tasks) >= _MOST_OPEN:
                _say(connection, tagged(REFUSED, b"the resident engine has too many connections"))
                connection.close()
                continue
            task = self._loop.create_task(self._serve(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _accept_again(self) -> None:
        if self._listening.fileno() >= 0:
            self._loop.add_reader(self._listening, self._accept)

    async def _serve(self, connection: socket.socket) -> None:
        try:
            pid, user = peer_of(connection)
            if user != os.geteuid():
                return
            async with asyncio.timeout(_READ):
                body = await self._read(connection)
            if isinstance(body, str):
                self._counters.events["declined"] += 1
                _say(connection, tagged(DECLINED, body.encode()))
                return
            await self._fire(connection, body, pid)
        except (OSError, TimeoutError):
            return  # the client has gone, or sends half a request and stops
        finally:
            connection.close()

    async def _read(self, connection: socket.socket) -> bytes | str:
        """Return the body of a request; or why it is none, as text."""
        head = await self._loop.sock_recv(connection, 1 << 16)
        while 0 < len(head) < 8:
            part = await self._loop.sock_recv(connection, 1 << 16)
            if not part:
                break
            head += part
        if head[:4] != MAGIC:
            return "this is no request, or one of another version"
        size = int.from_bytes(head[4:8], "big")
        if size > LONGEST:
            return f"the request has {size} bytes, more than {LONGEST}"
        body = bytearray(head[8:])
        while len(body) < size:
            part = await self._loop.sock_recv(connection, min(size - len(body), 1 << 20))
            if not part:
                raise ConnectionResetError
            body += part
        return bytes(body) if len(body) == size else "there is more after the request"

    async def _fire(self, connection: socket.socket, body: bytes, pid: int) -> None:
        try:
            request = Request.read(body)
        except BadFrame as error:
            _say(connection, tagged(DECLINED, str(error).encode()))
            return
        why = self._why_not(request, pid)
        if why:
            self._counters.events["declined"] += 1
            _say(connection, tagged(DECLINED, why.encode()))
            return
        if self._dispatcher.is_full():
            self._counters.events["refused"] += 1
            _say(connection, tagged(REFUSED, b"the resident engine has too many events under way (so this denies)"))
            return
        if pid and pid != request.pid:
            body = request._replace(pid=pid).write()
        if connection.send(ACCEPTED) != 1:  # raises if the client has gone
            return
        ticket = Ticket()
        watch = _Watch(self._loop, connection, ticket)
        try:
            answer = await self._dispatcher.answer(body, project_of(request), ticket)
            text = tagged(ANSWER, answer.write())
        except Lost as error:
            text = tagged(REFUSED, f"the resident engine lost the event: {error} (so this denies)".encode())
        finally:
            watch.end()
        async with asyncio.timeout(_READ):
            await self._loop.sock_sendall(connection, text)


class _Watch:
    """Watches the client of an event: sends it signs of life, and cancels the event when it has gone."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: socket.socket, ticket: Ticket) -> None:
        self._loop, self._connection, self._ticket = loop, connection, ticket
        self._timer: Any = loop.call_later(_SOON, self._begin)
        self._reads = False

    def _begin(self) -> None:
        """Watch from now on; most events have ended by then."""
        self._reads = True
        self._loop.add_reader(self._connection, self._readable)
        self._timer = self._loop.call_later(_BEAT, self._beat)

    def _readable(self) -> None:
        self._loop.remove_reader(self._connection)
        self._ticket.cancel("its client has gone")  # it has nothing more to send

    def _beat(self) -> None:
        _say(self._connection, WORKING)
        self._timer = self._loop.call_later(_BEAT, self._beat)

    def end(self) -> None:
        self._timer.cancel()
        if self._reads:
            self._loop.remove_reader(self._connection)


def _say(connection: socket.socket, text: bytes) -> None:
    try:
        connection.send(text)
    except OSError:
        pass  # the client has gone
