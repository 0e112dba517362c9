"""A resident engine in a home of its own, and the ways to ask it."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from interpose.server.frames import MAGIC, FireAnswer, FireRequest
from interpose.server.installation import this_installation

PATIENCE = 60
"""Seconds. Nothing here takes long unless something is wrong."""
CLIENT = Path(this_installation()[1]) / "client.py"
THIN = [sys.executable, "-I", "-S", str(CLIENT)]
COLD = [sys.executable, "-P", "-m", "interpose.cli", "fire"]


class Home:
    """A home with a project; ``ask`` is a client of the server there, if one runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "p"
        self.project.mkdir()
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONDONTWRITEBYTECODE") if name in os.environ}
        self.environment = {**kept, "HOME": str(folder)}
        self.serve_folder = folder / ".local/state/interpose/serve"
        self.socket = self.serve_folder / "socket"

    def write(self, text: str, name: str = "hooks.yaml", **files: str) -> str:
        """Write a configuration and its modules; return its path."""
        for module, code in files.items():
            (self.project / f"{module}.py").write_text(code, encoding="utf-8")
        path = self.project / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def run(
        self, command: Sequence[str], data: bytes = b"", cwd: Path | None = None, **variables: str
    ) -> tuple[int, bytes, bytes]:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=PATIENCE, cwd=cwd or self.project, check=False,
            env={**self.environment, **variables},
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def request(self, arguments: Sequence[str], data: bytes = b"", **changes: Any) -> FireRequest:
        variables: Mapping[str, str] = changes.pop("variables", {})
        environment = {os.fsencode(k): os.fsencode(v) for k, v in {**self.environment, **variables}.items()}
        made = FireRequest(this_installation(), os.getpid(), os.getppid(), 0o022, str(self.project), list(arguments),
                       environment, data)  # fmt: skip
        return made._replace(**changes)

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE)
        connection.connect(str(self.socket))
        return connection

    def send(self, request: FireRequest) -> socket.socket:
        body = request.write()
        connection = self.connect()
        connection.sendall(MAGIC + len(body).to_bytes(4, "big") + body)
        return connection

    def ask(self, arguments: Sequence[str], data: bytes = b"", **changes: Any) -> FireAnswer | tuple[str, str]:
        """Return the answer of the server; or the letter and the text of what it says instead."""
        with self.send(self.request(arguments, data, **changes)) as connection:
            return said(connection)


def said(connection: socket.socket) -> FireAnswer | tuple[str, str]:
    """Return what the server says on a connection to the end."""
    got = b""
    while part := connection.recv(65536):
        got += part
    if got[:1] == b"A":
        got = got[1:].lstrip(b".")
    kind, text = got[:1], got[5 : 5 + int.from_bytes(got[1:5], "big")]  # a sign of life may follow
    return FireAnswer.read(text) if kind == b"=" else (kind.decode(), text.decode())


@contextmanager
def a_home() -> Iterator[Home]:
    """A home with a short path: that of a socket has a limit."""
    folder = Path(mkdtemp(prefix="ip-", dir="/tmp"))
    try:
        yield Home(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def serving(
    home: Home, *options: str, command: Sequence[str] = (), **variables: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A server in a home, as a person starts it; ended afterwards."""
    process = subprocess.Popen(
        command or [sys.executable, "-P", "-m", "interpose.cli", "serve", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL, env={**home.environment, **variables}, cwd=home.folder,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        if not process.stdout.readline().startswith(b"interpose serve: ready"):
            raise AssertionError(process.stderr.read().decode())
        yield process
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.stdout.close()
            process.stderr.close()


def processes_below(pid: int) -> set[int]:
    """The processes that a process has started, and those that they have started."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children") if Path(f"/proc/{pid}").exists() else ():
        try:
            children = {int(word) for word in task.read_text().split()}
        except OSError:
            continue
        found |= children | {below for child in children for below in processes_below(child)}
    return found


def is_asleep(pid: int) -> bool:
    """Whether every thread of a process waits for something."""
    stats = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(stat.rpartition(")")[2].split()[0] == "S" for stat in stats)


def wait_until(holds: Any, what: str) -> None:
    """Wait until a condition holds."""
    import time

    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, what
        time.sleep(0.005)
