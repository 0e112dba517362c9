"""An HTTP server on loopback that misbehaves as it is told: it sends whatever bytes a test wants, when it wants."""

import json
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

CERTIFICATE = Path(__file__).with_name("localhost.pem")
"""A key and a certificate for the name localhost, which no authority has signed."""

Behaviour = Callable[["Visit"], None]


def answer(body: bytes | dict[str, Any] = b"", *, status: int = 200, **headers: str) -> bytes:
    """Return an answer; ``None`` for a header leaves it out."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"content-type": "application/json", "content-length": str(len(data))}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items() if value)
    return f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode() + data


class Visit:
    """One request: what was sent, and the connection to answer on."""

    def __init__(self, server: "Server", connection: socket.socket, head: bytes, body: bytes) -> None:
        self.server = server
        self.connection = connection
        first, *lines = head.decode().split("\r\n")
        self.target = first.split(" ")[1]
        self.headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines if line)}
        self.body = body
        self.over = False

    @property
    def event(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def hang(self) -> None:
        """Say nothing until the client is gone or the test is over."""
        self.connection.settimeout(0.05)
        while not self.server.over:
            try:
                if not self.connection.recv(65536):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        self.over = True


class Server:
    """Answers every request by the behaviour that it is given; counts connections, and keeps the requests."""

    def __init__(self, behave: Behaviour | bytes = b"", *, tls: bool = False, once: bool = False) -> None:
        self.behave: Behaviour = (lambda visit: visit.send(behave)) if isinstance(behave, bytes) else behave
        self.once = once
        """Whether a connection is closed after one answer, without a word about that."""
        self.visits: list[Visit] = []
        self.connections = 0
        self.closed = 0
        self.over = False
        self._context = None
        if tls:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(CERTIFICATE)
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.over = True
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connection in self._open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        for thread in self._threads:
            thread.join(10)
        for connection in self._open:
            connection.close()

    def url(self, path: str = "/hook", *, host: str = "127.0.0.1") -> str:
        return f"{'https' if self._context else 'http'}://{host}:{self.port}{path}"

    def hang_up(self) -> None:
        """Close every connection, as a server does that was restarted."""
        for connection in self._open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            self._start(self._serve, connection)

    def _serve(self, plain: socket.socket) -> None:
        connection = plain
        try:
            if self._context is not None:
                connection = self._context.wrap_socket(plain, server_side=True)
                self._open.append(connection)
            rest = b""
            while True:
                head, body, rest = self._request(connection, rest)
                visit = Visit(self, connection, head, body)
                self.visits.append(visit)
                self.behave(visit)
                if visit.over or self.once:
                    break
        except (OSError, EOFError):
            pass
        finally:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()
            self.closed += 1

    @staticmethod
    def _request(connection: socket.socket, data: bytes) -> tuple[bytes, bytes, bytes]:
        while b"\r\n\r\n" not in data:
            data += Server._more(connection)
        head, _, rest = data.partition(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
        )
        while len(rest) < length:
            rest += Server._more(connection)
        return head, rest[:length], rest[length:]

    @staticmethod
    def _more(connection: socket.socket) -> bytes:
        data = connection.recv(1 << 20)
        if not data:
            raise EOFError
        return data
