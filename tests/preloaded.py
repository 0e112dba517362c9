"""The command line without the time that an interpreter takes to load it: a process that has loaded it forks.

The program ``interpose`` in ``Preloaded.folder`` hands its arguments, environment, working directory, umask and streams
to that process. A child of it then does what the installed command does for a person at a terminal, and its status is
the program's status.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.people import be_a_person

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent

# Runs without the site module and its packages, which is what makes it quick.
PROGRAM = """#!{python} -ISE
import json, os, socket, sys
umask = os.umask(0)
os.umask(umask)
told = json.dumps([sys.argv[1:], dict(os.environ), os.getcwd(), umask]).encode()
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [len(told).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(told)
    status = server.recv(4)
os._exit(int.from_bytes(status, "big") if status else 70)
"""


class Preloaded:
    """A process that has loaded the command line, and a folder for PATH with the program that asks it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        address = str(folder / "socket")
        program = folder / "interpose"
        program.write_text(PROGRAM.format(python=sys.executable, address=address))
        program.chmod(0o755)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.preloaded", address], cwd=ROOT, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        )  # fmt: skip
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # closes its standard input, at which it ends


def serve(address: str) -> None:
    """Fork for every program that asks, until standard input is at its end."""
    load()
    be_a_person()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        parent = os.getpid()
        if os.fork() == 0:  # waits for the end of the one that has started us
            os.read(0, 1)
            os.kill(parent, signal.SIGTERM)
            os._exit(0)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who wait for a command
        os.write(1, b"ready\n")
        while True:
            asking, _ = listening.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listening.close()
                answer(asking)
            asking.close()


def load() -> None:
    """Import what commands import, and run nothing."""
    import asyncio
    import importlib
    import pkgutil
    import sqlite3

    import jsonschema
    import re2
    import rich.console
    import rich.table
    import typer
    import yaml

    import interpose

    assert all([asyncio, sqlite3, jsonschema, re2, rich.console, rich.table, typer, yaml])
    for package in ("cli", "config", "lint", "policies", "redaction", "audit", "replay", "agent"):
        folders = [str(Path(part) / package) for part in interpose.__path__]
        for module in pkgutil.walk_packages(folders, f"interpose.{package}."):
            if ".demo." not in module.name:
                importlib.import_module(module.name)
    judge_a_line()


def judge_a_line() -> None:
    """Judge one call with every policy, which compiles the expressions that policies need."""
    from interpose import Hooks

    hooks = Hooks()
    hooks.use("recommended")
    hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "git push origin main"})
    hooks.close()


def answer(asking: socket.socket) -> None:
    """Run one command in a child, and tell its status; what is raised here ends this process alone."""
    first, streams, _, _ = socket.recv_fds(asking, 4, 3)
    length = int.from_bytes(first, "big")
    told = b""
    while len(told) < length:
        told += asking.recv(length - len(told))
    command = os.fork()
    if command == 0:
        asking.close()
        run(told, streams)
    _, status = os.waitpid(command, 0)
    code = os.waitstatus_to_exitcode(status)
    asking.sendall((code if code >= 0 else 128 - code).to_bytes(4, "big"))
    os._exit(0)


def run(told: bytes, streams: list[int]) -> None:
    """Become the command that was asked for."""
    from interpose.cli import main

    arguments, environment, directory, umask = json.loads(told)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # Anew, as an interpreter makes them: those of this process remember what it was started with.
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(directory)
    os.umask(umask)
    sys.argv = [str(BIN / "interpose"), *arguments]
    sys.path[0] = str(BIN)
    sys.exit(main())


if __name__ == "__main__":
    serve(sys.argv[1])
