"""HTTP endpoints as hooks: the event is posted as JSON, and the body of the answer is read as an answer.

One deadline holds for the whole exchange: to look the name up, connect, agree on TLS, send, and receive. Connections
are kept between events. Variables for proxies and ``.netrc`` are not read: an event goes only where its hook says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..event import Event
from ..model import Hook
from ..records import Record
from ..replies import Ended, Failure, HookFailed
from ..runtime.coroutines import drive
from ..runtime.named_tuples import NamedTuple
from ..runtime.regex import regex
from . import depth, hold_to_trust
from ._encoded import check_text, encoded_event
from ._environment import trace_variables
from ._http_answer import AnswerReader, BadResponse
from ._http_connection import Connection, Connections, HttpOrigin
from ._ready import LoopReady, Ready, ThreadReady

__all__ = ["OWN_HEADERS", "Address", "Endpoint", "HttpHandler", "endpoint_of", "is_header_name", "parse_url",
           "variables_in"]  # fmt: skip

MOST_REDIRECTS = 5
OWN_HEADERS = frozenset({"host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding",
                         "expect", "te", "trailer", "upgrade", "keep-alive", "proxy-connection"})  # fmt: skip
"""Headers that belong to the request itself; a hook cannot set them."""

_VARIABLE = regex(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_HEADER_NAME = regex(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNSENDABLE = regex("[\x00-\x08\x0a-\x1f\x7f]")
_JSON_TYPE = regex(r"application/(?:[\w.+-]+\+)?json|text/json", re.IGNORECASE)


class Address(NamedTuple):
    """A URL, taken apart."""

    origin: HttpOrigin
    target: str
    """The path and the query, as they are sent."""
    shown: str
    """The URL without what may be secret: user, password and query."""
    user: str
    """``user:password``, or nothing."""


class Endpoint(Record):
    """The endpoint of a hook, as declared."""

    address: Address
    headers: tuple[tuple[str, str], ...] = ()
    """Names and values; ``$NAME`` and ``${NAME}`` in a value stand for variables."""
    allowed: frozenset[str] = frozenset()
    """The variables that values may name; others are empty."""
    dialect: str
    write: Callable[[Event], Mapping[str, Any]]
    """Writes an event in the hook's dialect."""

    _hidden = frozenset({"address", "headers", "write"})

    @property
    def identity(self) -> tuple[object, ...]:
        """What two hooks that do the same have in common."""
        return self.address, self.headers, self.allowed

    def head(self, target: str, length: int) -> bytes:
        """Return the request line and the headers; raise HookFailed if a value cannot be sent."""
        origin = self.address.origin
        host = f"[{origin.host}]" if ":" in origin.host else origin.host
        port = "" if origin.port == _PORTS[origin.scheme] else f":{origin.port}"
        sent = {"Host": host + port, "Content-Type": "application/json", "Content-Length": str(length),
                "Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "interpose",
                "Interpose-Depth": str(depth.get())}  # fmt: skip
        sent |= {name.lower(): value for name, value in trace_variables().items()}
        sent |= {name: "1" for name, variable in _MARKS.items() if os.environ.get(variable) == "1"}
        if self.address.user:
            from base64 import b64encode

            sent["Authorization"] = f"Basic {b64encode(self.address.user.encode()).decode()}"
        given = {name.lower() for name, _ in self.headers}
        lines = [(name, value) for name, value in sent.items() if name.lower() not in given]
        lines += [(name, self._filled(name, value)) for name, value in self.headers]
        text = "".join(f"{name}: {value}\r\n" for name, value in lines)
        return f"POST {target} HTTP/1.1\r\n{text}\r\n".encode()

    def _filled(self, name: str, value: str) -> str:
        """Return the value of a header with its variables."""
        filled = _VARIABLE.sub(lambda found: self._variable(found[1] or found[2]), value).strip()
        if _UNSENDABLE.search(filled) or not _is_text(filled):
            raise HookFailed("http_header", f"the header {name} has a control character in it")
        return filled

    def _variable(self, name: str) -> str:
        return os.environ.get(name, "") if name in self.allowed else ""


_PORTS = {"http": 80, "https": 443}
_MARKS = {"Interpose-Doctor": "INTERPOSE_DOCTOR", "Interpose-Replay": "INTERPOSE_REPLAY"}
"""Headers that tell an endpoint that nothing real has happened, as variables tell commands."""


def parse_url(url: str) -> Address:
    """Take a URL apart; raise ValueError with what is wrong with it."""
    from urllib.parse import quote, unquote, urlsplit

    if not url.isprintable() or " " in url:
        raise ValueError("it has a blank or a control character in it")
    parts = urlsplit(url)
    if parts.scheme not in _PORTS:
        raise ValueError("it does not begin with http:// or https://")
    if not parts.hostname:
        raise ValueError("it names no host")
    try:
        host = parts.hostname if parts.hostname.isascii() else parts.hostname.encode("idna").decode("ascii")
        port = parts.port
    except ValueError as error:
        raise ValueError(f"its host or port cannot be read: {error}") from None
    origin = HttpOrigin(parts.scheme, host, _PORTS[parts.scheme] if port is None else port)
    kept = "/%:@!$&'()*+,;=~-._?"
    target = quote(parts.path or "/", safe=kept) + (f"?{quote(parts.query, safe=kept)}" if parts.query else "")
    user, mark, password = parts.netloc.rpartition("@")[0].partition(":")
    place = parts.netloc.rpartition("@")[2]
    shown = f"{parts.scheme}://{place}{parts.path}{'?…' if parts.query else ''}"
    return Address(origin, target, shown, unquote(user) + mark + unquote(password))


def variables_in(value: str) -> set[str]:
    """Return the names of the variables in the value of a header."""
    return {braced or plain for braced, plain in _VARIABLE.findall(value)}


def is_header_name(name: object) -> bool:
    """Say whether something is the name of a header."""
    return isinstance(name, str) and _HEADER_NAME.fullmatch(name) is not None


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def endpoint_of(hook: Hook) -> Endpoint | None:
    """Return the endpoint of a hook; None if it runs something else."""
    target = hook.binding.target
    return target if isinstance(target, Endpoint) else None


class HttpHandler:
    """Posts an event to the endpoint of a hook, and returns the answer as a command's end."""

    ends_itself = True
    only_reads = True

    def __init__(self) -> None:
        self._connections = Connections()

    async def __call__(self, hook: Hook, event: Event, deadline: float) -> Ended:
        """Ask on the current event loop."""
        return await self._ask(hook, event, deadline, LoopReady())

    def blocking(self, hook: Hook, event: Event, deadline: float) -> Ended:
        """Ask in the calling thread."""
        return drive(self._ask(hook, event, deadline, ThreadReady()))

    def close(self) -> None:
        """Close the connections that are kept; a later event opens new ones."""
        self._connections.close()

    async def _ask(self, hook: Hook, event: Event, deadline: float, ready: Ready) -> Ended:
        endpoint = endpoint_of(hook)
        if endpoint is None:
            raise TypeError(f"{hook.label} has no endpoint")
        evidence: dict[str, Any] = {"hook": hook.label, "url": endpoint.address.shown}
        if endpoint.dialect != "native":
            evidence["tool_name"] = event.get("tool_name", "")
        body = b""
        try:
            hold_to_trust(hook.binding.seal)
            data = encoded_event(event, endpoint.dialect, endpoint.write)
            check_text(hook, data)
            answer = await self._answer(endpoint, data, ready, deadline, evidence)
            body = bytes(answer.body)
            failure = _failure_of(answer)
        except HookFailed as error:
            failure = error.failure
            body = bytes(failure.evidence.get("body", b""))
        if failure is not None:
            failure = Failure(failure.code, failure.text, evidence=evidence)
        return Ended(stdout=body, failure=failure, evidence=evidence, only_json=True)

    async def _answer(
        self, endpoint: Endpoint, data: bytes, ready: Ready, deadline: float, evidence: dict[str, Any]
    ) -> AnswerReader:
        """Post the event, and follow redirects that stay with this origin."""
        origin, target = endpoint.address.origin, endpoint.address.target
        for _ in range(MOST_REDIRECTS + 1):
            connection = await self._connections.open(origin, ready, deadline)
            evidence["reused"] = connection.reused
            answer = AnswerReader()
            try:
                await _exchange(connection, endpoint.head(target, len(data)) + data, answer)
            except BaseException:
                connection.close()
                raise
            evidence["http_status"] = answer.status
            if answer.keeps:
                self._connections.give_back(origin, connection, answer.headers.get("keep-alive", ""))
            else:
                connection.close()
            if answer.status not in (307, 308):
                return answer
            target = _redirected(endpoint.address, target, answer.headers.get("location", ""))
        raise HookFailed("http_redirect", f"the server redirected more than {MOST_REDIRECTS} times")


async def _exchange(connection: Connection, request: bytes, answer: AnswerReader) -> None:
    """Send a request and read the answer to it."""
    whole = await connection.send(request)
    try:
        while not answer.complete:
            try:
                data = await connection.receive()
            except OSError:  # reset, or an end of TLS that is none
                data = b""
            if data:
                answer.feed(data)
            else:
                answer.end()
    except BadResponse as error:
        raise HookFailed(error.code, str(error), evidence={"body": bytes(answer.body)}) from None
    answer.keeps = answer.keeps and whole


def _redirected(address: Address, target: str, location: str) -> str:
    """Return where a redirect leads to on the same origin; raise HookFailed for any other."""
    from urllib.parse import urljoin

    here = f"{address.origin.scheme}://{address.origin}{target}"
    try:
        found = parse_url(urljoin(here, location))
    except ValueError as error:
        raise HookFailed("http_redirect", f"the server redirected to a place that is none: {error}") from None
    if not location or found.origin != address.origin:
        place = f"{found.origin.scheme}://{found.origin}" if location else "no place"
        raise HookFailed("http_redirect", f"the server redirected to {place}: redirects to other origins are refused")
    return found.target


def _failure_of(answer: AnswerReader) -> Failure | None:
    """Return what is wrong with a whole answer: its status, its type, or its encoding."""
    status = answer.status
    if 300 <= status < 400:
        return Failure("http_redirect", f"the server answered with status {status}, which is not followed: only 307 "
                       "and 308 keep the request as it is")  # fmt: skip
    if not 200 <= status < 300:
        return Failure("http_status", f"the server answered with status {status}")
    if not answer.body.strip():
        return None
    coding = answer.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        return Failure("http_type", f"the answer is encoded as {coding[:40]!a}, which was not asked for")
    kind = answer.headers.get("content-type", "application/json").partition(";")[0].strip()
    if not _JSON_TYPE.fullmatch(kind):
        return Failure("http_type", f"the answer is of type {kind[:80]!a} where application/json is expected")
    return None
