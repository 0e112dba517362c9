"""The engine over HTTP: ``POST /v1/fire/EVENT`` fires an event, for Claude Code's ``http`` hooks and for programs.

It is for one machine: it listens on a loopback address, every request that fires has a token, and a page in a browser
cannot use it (``Host`` and ``Origin`` are checked). ``http_requests`` reads requests; here is what they mean.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Callable
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import UsageError
from ..events import TABLE
from .dispatcher import Dispatcher, Lost, PendingEvent
from .engine_handle import Client
from .engine_process import TO_HTTP, TO_HTTP_LAST, TO_SERVER
from .frames import LONGEST, FireAnswer
from .http_access import LOOPBACK
from .http_events import FIRE, HEADERS, HttpEvent, HttpEvents, event_in
from .http_requests import LONGEST_HEAD, HttpProblem, HttpRequest, read_head, response
from .openapi import describe
from .refusals import refusal

if TYPE_CHECKING:
    from .server import Server

__all__ = ["HttpFront"]

_READ = 10.0
"""Seconds in which a request has to arrive."""
_KEPT = 75.0
"""Seconds for which a connection without a request is kept."""
_MOST_OPEN = 1024
_ROOM = 64 * 1024
_LONGEST_BODY = LONGEST - 1024 * 1024  # the environment and the arguments need room too
_PLACES = "POST /v1/fire/EVENT, GET /health, /metrics and /openapi.json are here"
_CHECKED = ("host", "origin", "authorization", *HEADERS)
"""The headers by which a request is known that was checked before."""
_MOST_KNOWN = 256


class HttpFront:
    """Listens on a port, as long as the server runs."""

    def __init__(
        self, host: str, port: int, token: str, *, is_public: bool = False, log: Callable[..., None] | None = None
    ) -> None:
        self._host, self._port, self._token, self._is_public = host, port, token, is_public
        self.log = log
        self.address = ""
        self._open: set[_HttpConnection] = set()
        self._listening: asyncio.Server | None = None
        self._events = HttpEvents()
        self._known: dict[tuple[str | None, ...], HttpEvent] = {}
        self._description = describe(TABLE)

    async def begin(self, server: Server, dispatcher: Dispatcher) -> HttpFront:
        """Listen; raise UsageError if that is not possible."""
        self._server, self._dispatcher = server, dispatcher
        loop = asyncio.get_running_loop()
        try:
            self._listening = await loop.create_server(lambda: _HttpConnection(self), self._host, self._port)
        except OSError as error:
            raise UsageError(
                f"--http {self._host}:{self._port}: {error.strerror}", hint="choose another port"
            ) from None
        host, port = self._listening.sockets[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        self.address = f"http://{shown}:{port}"
        self._hosts = {f"{name}{end}" for name in (*LOOPBACK, "[::1]", shown) for end in (f":{port}", "")}
        return self

    def close(self) -> None:
        """Accept no further connections, and close those that have no request."""
        if self._listening is not None:
            self._listening.close()
        for connection in tuple(self._open):
            connection.close_if_idle()

    async def finished(self) -> None:
        """Wait until every request is answered."""
        while self._open:
            for connection in tuple(self._open):
                connection.close_if_idle()
            await asyncio.sleep(0.01)

    def tidy(self) -> None:
        """Close connections on which nothing has come for too long."""
        now = monotonic()
        for connection in tuple(self._open):
            connection.look(now)

    @property
    def is_ending(self) -> bool:
        """Whether no connection is kept any more."""
        return self._server.stopping

    def add(self, connection: _HttpConnection) -> bool:
        """Add a connection; return False if there are too many that have a request.

        Connections without one make room: no program can keep others out by opening many, without a token.
        """
        if len(self._open) >= _MOST_OPEN:
            idle = [one for one in self._open if one.is_idle]
            if not idle:
                return False
            oldest = min(idle, key=lambda one: one.due)
            self.drop(oldest)
            oldest.close_if_idle()
        self._open.add(connection)
        return True

    def drop(self, connection: _HttpConnection) -> None:
        """Forget a connection."""
        self._open.discard(connection)

    def answer(self, request: HttpRequest) -> tuple[int, bytes, str]:
        """Return the status, the body and the type of the answer to a request that fires nothing; raise HttpProblem."""
        self._check_sender(request)
        path = request.path.partition("?")[0]
        if path == "/health":
            self._require_method(request, "GET")
            return 200, b'{"status": "ok", "version": "%s"}\n' % __version__.encode(), "application/json"
        if path == "/openapi.json":
            self._require_method(request, "GET")
            return 200, self._description, "application/json"
        self._require_token(request)
        if path == "/metrics":
            self._require_method(request, "GET")
            return 200, self._server.counters.text().encode(), "text/plain; version=0.0.4"
        if path == FIRE or path.startswith(f"{FIRE}/"):
            self._require_method(request, "POST")
        raise HttpProblem(404, _PLACES)

    def _check_sender(self, request: HttpRequest) -> None:
        """Raise HttpProblem if a page of another site sends the request through a browser of the user."""
        if not self._is_public and request.headers["host"].lower() not in self._hosts:
            raise HttpProblem(403, "Host names another machine")
        origin = request.headers.get("origin")
        if origin is not None and origin != f"http://{request.headers['host']}":
            raise HttpProblem(403, "Origin is another site")

    def _require_token(self, request: HttpRequest) -> None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode("latin-1"), self._token.encode()):
            raise HttpProblem(401, "Authorization: Bearer TOKEN is needed")

    @staticmethod
    def _require_method(request: HttpRequest, method: str) -> None:
        if request.method != method:
            raise HttpProblem(405, f"use {method}")

    # Firing.

    def fires(self, request: HttpRequest) -> bool:
        """Return whether a request fires an event."""
        return request.path.startswith(FIRE) and request.method == "POST"

    def pending_event(
        self, request: HttpRequest, body: bytes, done: Callable[[FireAnswer | int | Lost], None], client: Client
    ) -> PendingEvent:
        """Return the event of a request; raise HttpProblem if there is none, or it cannot be fired now."""
        event = self._checked(request)
        self._server.touch()
        if self._server.stopping:
            raise HttpProblem(503, "the server is ending")
        if self._dispatcher.is_full():
            self._server.counters.events["refused"] += 1
            raise HttpProblem(503, "the server has too many events under way")
        made, whole = self._events.request(event, body)
        return PendingEvent(made, whole, done, client, event.seconds)

    def _checked(self, request: HttpRequest) -> HttpEvent:
        """Check a request that fires, and return what it says about its event; the same again is known."""
        key = (request.path, *map(request.headers.get, _CHECKED))
        known = self._known.get(key)
        if known is None:
            self._check_sender(request)
            path = request.path.partition("?")[0]
            if path != FIRE and not path.startswith(f"{FIRE}/"):
                raise HttpProblem(404, _PLACES)
            self._require_token(request)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[key] = HttpEvent(request)
        return known

    def fire(self, pending: PendingEvent) -> None:
        """Fire an event."""
        self._dispatcher.fire(pending)

    def cancel(self, pending: PendingEvent) -> None:
        """End an event whose client has gone."""
        self._dispatcher.abandon(pending)

    async def said(
        self, request: HttpRequest, body: bytes, answer: FireAnswer | Lost | HttpProblem
    ) -> tuple[int, bytes]:
        """Return the status and the body of a response, for an event that no engine process has answered itself."""
        reply = request.headers.get("interpose-reply", "")
        if isinstance(answer, Lost):
            answer = HttpProblem(503, f"the event was lost: {answer.why}")
        if isinstance(answer, FireAnswer):
            if answer.output or (reply and answer.status == 0):
                return 200, answer.output or b"{}"
            answer = HttpProblem(400, answer.errors.decode("utf-8", "replace").strip())
        if reply and answer.status not in (401, 403, 404):
            # A host reads another status as no objection: the reply itself has to deny.
            return 200, await refusal(reply, event_in(request), body, answer.why)
        return answer.status, json.dumps({"error": answer.why}).encode()


class _HttpConnection(asyncio.Protocol):
    """One connection: reads a request, answers it, and then reads the next."""

    def __init__(self, front: HttpFront) -> None:
        self._front = front
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._head: HttpRequest | None = None
        self._pending: PendingEvent | None = None
        self._request: tuple[HttpRequest, bytes, float] | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_paused = False

    def connection_made(self, transport: Any) -> None:
        self._transport: asyncio.Transport = transport
        self._descriptor: int = transport.get_extra_info("socket").fileno()
        self._wait(_KEPT)
        if not self._front.add(self):
            self._refuse(HttpProblem(503, "there are too many connections"))

    def connection_lost(self, error: Exception | None) -> None:
        self._front.drop(self)
        if self._pending is not None:
            self._front.cancel(self._pending)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._request is None:
            self._read()
        elif len(self._received) > _ROOM and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()

    @property
    def is_idle(self) -> bool:
        """Whether it has no request, or not the whole of one."""
        return self._request is None

    def close_if_idle(self) -> None:
        """Close the connection unless it has a request."""
        if self.is_idle:
            self._transport.close()

    def look(self, now: float) -> None:
        """Close the connection if nothing has come for too long."""
        if self._request is not None or now < self.due:
            return
        if self._received or self._head is not None:
            self._refuse(HttpProblem(408, "the request did not arrive in time"))
        else:
            self._transport.close()

    def _refuse(self, problem: HttpProblem) -> None:
        self._transport.write(response(problem.status, {"error": problem.why}, keeps=False))
        self._transport.close()

    def _read(self) -> None:
        """Answer the request if all of it is there."""
        try:
            if self._head is None:
                if not self._received:
                    return
                end = self._received.find(b"\r\n\r\n")
                if end < 0 and len(self._received) <= LONGEST_HEAD:
                    self._wait(_READ)
                    return
                self._head = read_head(bytes(self._received[: end if end >= 0 else None]), _LONGEST_BODY)
                del self._received[: end + 4]
                if self._head.headers.get("expect", "").lower() == "100-continue" and not self._received:
                    self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                self._wait(_READ)
        except HttpProblem as problem:
            self._refuse(problem)
            return
        head = self._head
        if len(self._received) >= head.length:
            body = bytes(self._received[: head.length])
            del self._received[: head.length]
            self._head = None
            self._request = (head, body, monotonic())
            if self._front.fires(head):
                self._fire(head, body)
            else:
                self._loop.call_soon(self._answer, head)

    def _wait(self, seconds: float) -> None:
        self.due = monotonic() + seconds

    def _keeps(self, request: HttpRequest) -> bool:
        return request.keeps and not self._front.is_ending

    def _answer(self, request: HttpRequest) -> None:
        """Answer a request that fires nothing."""
        try:
            status, said, kind = self._front.answer(request)
        except HttpProblem as problem:
            status, said, kind = problem.status, json.dumps({"error": problem.why}).encode(), "application/json"
        except Exception as error:  # whatever it is, the client gets an answer
            status, said, kind = 500, json.dumps({"error": type(error).__name__}).encode(), "application/json"
        keeps = self._keeps(request)
        self._end_request(status, response(status, said, kind, keeps=keeps), keeps=keeps)

    def _fire(self, request: HttpRequest, body: bytes) -> None:
        """Fire the event of a request: its engine process answers, unless this connection still sends an answer."""
        client = Client(TO_SERVER, -1)
        if not self._transport.get_write_buffer_size():
            way = TO_HTTP if self._keeps(request) else TO_HTTP_LAST
            client = Client(way, self._descriptor)
        self._way = client.way
        try:
            self._pending = self._front.pending_event(request, body, self._fired, client)
        except HttpProblem as problem:
            self._say(problem)
            return
        self._front.fire(self._pending)

    def _fired(self, answer: FireAnswer | int | Lost) -> None:
        self._pending = None
        if isinstance(answer, int):  # the client has it
            self._end_request(200, b"", keeps=self._way == TO_HTTP)
        elif isinstance(answer, Lost) and answer.is_answered:
            self._end_request(503, b"", keeps=False)  # the client may have a part of it
        else:
            self._say(answer)

    def _say(self, answer: FireAnswer | Lost | HttpProblem) -> None:
        self._task = self._loop.create_task(self._say_so(answer))

    async def _say_so(self, answer: FireAnswer | Lost | HttpProblem) -> None:
        assert self._request is not None  # noqa: S101 - it is answered once
        request, body, _ = self._request
        try:
            status, said = await self._front.said(request, body, answer)
        except Exception as error:  # whatever it is, the client gets an answer, and none that allows
            status, said = 500, json.dumps({"error": type(error).__name__}).encode()
        keeps = self._keeps(request)
        self._task = None
        self._end_request(status, response(status, said, keeps=keeps), keeps=keeps)

    def _end_request(self, status: int, data: bytes, *, keeps: bool) -> None:
        """Send what is left of the answer, and read the next request."""
        assert self._request is not None  # noqa: S101 - it is answered once
        request, _, began = self._request
        self._request = None
        if self._front.log is not None:
            self._front.log({"time": round(time(), 3), "over": "http", "method": request.method, "path": request.path,
                             "status": status, "ms": round((monotonic() - began) * 1000, 3)})  # fmt: skip
        if self._transport.is_closing():
            return
        if data:
            self._transport.write(data)
        if not keeps:
            self._transport.close()
            return
        self._wait(_KEPT)
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        self._read()
