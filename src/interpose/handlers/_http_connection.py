"""Connections to HTTP servers, plain and with TLS, and those that are kept between events.

A connection belongs to no event loop: it is used by one exchange at a time, on whichever loop or thread that runs.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from ..replies import HookFailed
from ..runtime.forks import after_fork
from ..runtime.named_tuples import NamedTuple
from ._lookup import Address, addresses_of
from ._ready import Ready, ThreadReady

if TYPE_CHECKING:
    import ssl

__all__ = ["Connection", "Connections", "HttpOrigin"]

_T = TypeVar("_T")
_MOST_IDLE = 8
"""How many connections to one origin are kept."""
IDLE_SECONDS = 4.0
"""How long a connection is kept if the server does not say; many servers close theirs after 5 seconds."""
_LONGEST_IDLE = 60.0
_PIECE = 256 * 1024
_NOWHERE = ThreadReady()


class HttpOrigin(NamedTuple):
    """Where requests go: a scheme, a host and a port."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Connection:
    """One connection. Every method raises HookFailed with code ``timeout`` at the deadline."""

    def __init__(self, sock: socket.socket, ready: Ready, deadline: float) -> None:
        self.socket = sock
        self.ready = ready
        self.deadline = deadline
        self.reused = False
        self.until = 0.0
        """When it must not be used any more."""
        self._wants_read: tuple[type[Exception], ...] = (BlockingIOError,)
        self._wants_write: tuple[type[Exception], ...] = ()
        self._is_plain = True

    async def secure(self, host: str) -> None:
        """Begin TLS, and verify that the server is the host."""
        import ssl

        self._wants_read, self._wants_write = (BlockingIOError, ssl.SSLWantReadError), (ssl.SSLWantWriteError,)
        self._is_plain = False
        try:
            wrapped = _context().wrap_socket(
                self.socket, server_hostname=host, do_handshake_on_connect=False, suppress_ragged_eofs=False
            )
            self.socket = wrapped
            await self._attempt(wrapped.do_handshake, "TLS was not agreed upon in time")
        except ssl.SSLCertVerificationError as error:
            raise HookFailed("http_tls", f"the certificate of {host} is not trusted: {error.verify_message}") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
            raise HookFailed("http_tls", f"TLS with {host} failed: {reason}") from None

    async def send(self, data: bytes) -> bool:
        """Send bytes; return False if the server has answered, or closed the connection, before it got them all."""
        left = memoryview(data)
        while left:
            piece = left[:_PIECE]
            try:
                sent = self.socket.send(piece)
            except self._wants_write + self._wants_read as error:
                reads = not self._is_plain and isinstance(error, self._wants_read)
                descriptor = self.socket.fileno()
                in_time = (
                    await self.ready.readable(descriptor, self.deadline)
                    if reads
                    else await self.ready.writable(descriptor, self.deadline, or_readable=self._is_plain)
                )
                if not in_time:
                    raise HookFailed("timeout", "the server did not take the event in time") from None
                if self._is_plain and _has_input(descriptor):
                    return False
            except OSError:  # closed: what it said before that can still be read
                return False
            else:
                left = left[sent:]
        return True

    async def receive(self) -> bytes:
        """Return the next bytes; none at the end of the connection."""
        return await self._attempt(lambda: self.socket.recv(_PIECE), "the answer did not come in time")

    async def _attempt(self, action: Callable[[], _T], late: str) -> _T:
        while True:
            try:
                return action()
            except self._wants_write:
                in_time = await self.ready.writable(self.socket.fileno(), self.deadline)
            except self._wants_read:
                in_time = await self.ready.readable(self.socket.fileno(), self.deadline)
            if not in_time:
                raise HookFailed("timeout", late)

    def close(self) -> None:
        """Close it at once."""
        self.socket.close()


class Connections:
    """The connections that are kept, by origin."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[HttpOrigin, list[Connection]] = {}
        after_fork(self.forget)

    async def open(self, origin: HttpOrigin, ready: Ready, deadline: float) -> Connection:
        """Return a kept connection that is still open, or a new one."""
        while (kept := self._take(origin)) is not None:
            if kept.until > monotonic() and not _has_input(kept.socket.fileno()):
                kept.ready, kept.deadline, kept.reused = ready, deadline, True
                return kept
            kept.close()
        addresses = await addresses_of(origin.host, origin.port, ready, deadline)
        connection = Connection(await _connected(addresses, origin, ready, deadline), ready, deadline)
        try:
            if origin.scheme == "https":
                await connection.secure(origin.host)
        except BaseException:
            connection.close()
            raise
        return connection

    def give_back(self, origin: HttpOrigin, connection: Connection, keep_alive: str) -> None:
        """Keep a connection for the next event. ``keep_alive`` is the header in which a server says for how long."""
        connection.until = monotonic() + _idle_seconds(keep_alive)
        connection.ready = _NOWHERE  # it must not keep an event loop
        with self._lock:
            idle = self._idle.setdefault(origin, [])
            if len(idle) < _MOST_IDLE:
                idle.append(connection)
                return
        connection.close()

    def _take(self, origin: HttpOrigin) -> Connection | None:
        with self._lock:
            idle = self._idle.get(origin)
            return idle.pop() if idle else None

    def close(self) -> None:
        """Close all that are kept."""
        with self._lock:
            kept = [connection for idle in self._idle.values() for connection in idle]
            self._idle.clear()
        for connection in kept:
            connection.close()

    def forget(self) -> None:
        """Start anew after a fork: the connections belong to the parent, and closing them here does not end them."""
        self._lock = threading.Lock()
        self.close()

    def __del__(self) -> None:
        self.close()


def _idle_seconds(keep_alive: str) -> float:
    for part in keep_alive.split(","):
        name, _, value = part.strip().partition("=")
        if name.lower() == "timeout" and value.isascii() and value.isdigit():
            return min(max(0.0, int(value[:6]) - 1.0), _LONGEST_IDLE)
    return IDLE_SECONDS


def _has_input(descriptor: int) -> bool:
    """Say whether there is something to read, which on an idle connection is its end."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


async def _connected(addresses: list[Address], origin: HttpOrigin, ready: Ready, deadline: float) -> socket.socket:
    """Connect to the first address that answers; each has its share of the time."""
    failure = HookFailed("http_unreachable", f"{origin} has no address")
    for number, (family, address) in enumerate(addresses):
        now = monotonic()
        share = now + max(0.0, deadline - now) / (len(addresses) - number)
        try:
            sock = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            failure = HookFailed("spawn_resource", f"no socket can be opened: {error.strerror}")
            continue
        try:
            status = await _connect(sock, address, ready, share)
            if status == 0:
                return sock
        except BaseException:
            sock.close()
            raise
        sock.close()
        if status == errno.ETIMEDOUT and monotonic() >= share:
            failure = HookFailed("timeout", f"{origin} did not accept the connection in time")
        else:
            code = "http_refused" if status == errno.ECONNREFUSED else "http_unreachable"
            failure = HookFailed(code, f"{origin} cannot be connected to: {os.strerror(status)}")
    raise failure


async def _connect(sock: socket.socket, address: Any, ready: Ready, until: float) -> int:
    """Connect to one address; return the number of the error, or 0."""
    sock.setblocking(False)
    try:
        status = sock.connect_ex(address)
    except OSError as error:
        return error.errno or errno.EADDRNOTAVAIL
    if status == errno.EINPROGRESS:
        if not await ready.writable(sock.fileno(), until):
            return errno.ETIMEDOUT
        status = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if status == 0:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return status


_contexts: dict[tuple[str, str], Any] = {}


def _context() -> ssl.SSLContext:
    """Return the context of TLS: it trusts the system's authorities, or those of SSL_CERT_FILE and SSL_CERT_DIR."""
    import ssl

    key = (os.environ.get("SSL_CERT_FILE", ""), os.environ.get("SSL_CERT_DIR", ""))
    if key not in _contexts:
        # Not create_default_context(), which writes the keys of sessions to SSLKEYLOGFILE.
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # verifies the certificate and the name
        made.minimum_version = ssl.TLSVersion.TLSv1_2
        made.load_default_certs()
        _contexts.clear()
        _contexts[key] = made
    context: ssl.SSLContext = _contexts[key]
    return context
