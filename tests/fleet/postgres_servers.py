"""A real PostgreSQL on loopback, as a user that is not root, and databases in it."""

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

import psycopg
import pytest
from tests.faults.hosts import eventually
from tests.fleet.nats_servers import free_ports

_CONFIGURATION = (
    "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nmax_connections = 50\nshared_buffers = 32MB\n"
    "unix_socket_directories = ''\nlisten_addresses = '127.0.0.1'\nlogging_collector = off\n"
)


def program(name: str) -> str | None:
    """A program of PostgreSQL, also where Debian puts it outside of PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


needs_postgres = pytest.mark.skipif(program("initdb") is None, reason="PostgreSQL is not installed")


class PostgresServer:
    """One server; ``kill`` ends it with a signal, and ``start`` starts it again on its files."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_ports(1)[0]
        self.process: subprocess.Popen[bytes] | None = None
        self._user = "postgres" if os.geteuid() == 0 else ""
        if self._user:
            owner = pwd.getpwnam(self._user)
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        self._run([program("initdb") or "", "-D", str(folder / "data"), "-A", "trust", "-U", "interpose", "-N",
                   "-E", "UTF8", "--locale", "C"])  # fmt: skip
        with (folder / "data" / "postgresql.conf").open("a") as opened:
            opened.write(f"port = {self.port}\n{_CONFIGURATION}")

    def _command(self, command: list[str]) -> list[str]:
        as_user = ["setpriv", "--reuid", self._user, "--regid", self._user, "--clear-groups"] if self._user else []
        return [*as_user, *command]

    def _run(self, command: list[str]) -> None:
        subprocess.run(self._command(command), check=True, capture_output=True, cwd="/")

    def start(self) -> "PostgresServer":
        with (self.folder / "log.txt").open("ab") as log:
            command = self._command([program("postgres") or "", "-D", str(self.folder / "data")])
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/")
        assert eventually(self._answers, 60), (self.folder / "log.txt").read_text()[-2000:]
        return self

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
        except psycopg.Error:
            return False
        return True

    def url(self, database: str) -> str:
        return f"postgresql://interpose@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The URL of a new, empty database."""
        name = f"d{uuid4().hex[:12]}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def stop(self) -> None:
        """End it at once, without writing what it has in memory."""
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
            self.process = None


@contextmanager
def a_postgres_server() -> Iterator[PostgresServer]:
    """One server, ended and removed at the end."""
    folder = Path(mkdtemp(prefix="interpose-pg-"))
    server = None
    try:
        server = PostgresServer(folder).start()
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
