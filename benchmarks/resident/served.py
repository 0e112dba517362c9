"""A server in a home of its own, and the ways to ask it that are timed."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Self

from benchmarks.cli.scene import Scene
from benchmarks.measure import Idle, Stopwatch
from interpose.config.trust import trust
from interpose.server.frames import MAGIC, FireAnswer, FireRequest
from interpose.server.installation import this_installation

EVENT = {"hook_event_name": "PreToolUse", "session_id": "timed", "tool_name": "Bash", "tool_input": {"command": "ls"}}
DATA = json.dumps(EVENT).encode()
PROOF = b"seen: ls"
"""What the hook says: an event without it was not fired."""
THIN = [sys.executable, "-I", "-S", str(Path(this_installation()[1]) / "client.py")]


def found_hooks() -> str:
    """Nineteen hooks for other tools, and one for Bash."""
    others = "".join(
        f"    - {{name: other-{number}, matcher: Tool{number}, handler: timed_hooks.answers}}\n" for number in range(19)
    )
    return f"hooks:\n  PreToolUse:\n    - {{name: timed, matcher: Bash, handler: timed_hooks.answers}}\n{others}"


class WholeRequests(HTTPConnection):
    """Sends the head of a request together with its body, as curl and the clients of coding agents do."""

    head = b""

    def send(self, data: bytes) -> None:  # type: ignore[override]
        if data.endswith(b"\r\n\r\n") and data.startswith(b"POST "):
            self.head = data
        else:
            super().send(self.head + data)
            self.head = b""


class Served:
    """The scene of `benchmarks.cli`, and a server for it."""

    def __init__(self, scratch: Path) -> None:
        self.scene = Scene(scratch)
        self.environment = self.scene.environment()
        self.arguments = ["--reply", "native", "--config", str(self.scene.python)]
        self.found = self._trusted()
        self._folder = self.scene.home / ".local/state/interpose/serve"

    def _trusted(self) -> Path:
        """A project whose hooks are found, with the same configuration; a person has trusted it."""
        os.environ.update(self.environment)  # it is the home of this process too
        project = self.scene.project / "found"
        (project / ".interpose").mkdir(parents=True)
        (project / ".interpose/hooks.yaml").write_text(found_hooks(), encoding="utf-8")
        (project / ".interpose/timed_hooks.py").write_bytes((self.scene.project / "timed_hooks.py").read_bytes())
        trust(project / ".interpose/hooks.yaml")
        return project

    def __enter__(self) -> Self:
        serve = [sys.executable, "-P", "-m", "interpose.cli", "serve", "--http", "0"]
        self.process = subprocess.Popen(
            serve, env=self.environment, cwd=self.scene.project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        if not self.process.stdout.readline().startswith(b"interpose serve: ready"):
            raise Idle("the server does not start")
        self.port = int(json.loads((self._folder / "lock").read_text())["http"].rpartition(":")[2])
        self.token = (self._folder / "token").read_text().strip()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(90)
        assert self.process.stdout is not None
        self.process.stdout.close()

    # --- By a program ---------------------------------------------------------------------------------------------

    def started(self, command: Sequence[str], proof: bytes = b"") -> Stopwatch:
        """Whole runs of a program that is given the event, from its start to its end."""

        def timed(loops: int) -> float:
            began = time.perf_counter()
            ended = [
                subprocess.run(command, input=DATA, env=self.environment, cwd=self.scene.project, capture_output=True,
                               check=False)
                for _ in range(loops)
            ]  # fmt: skip
            seconds = time.perf_counter() - began
            if any(end.returncode or proof not in end.stdout for end in ended):
                raise Idle(f"{command[0]} does not do its work: {ended[-1].stderr.decode()[-200:]}")
            return seconds

        return timed

    # --- Over the socket ------------------------------------------------------------------------------------------

    def frame(self, arguments: Sequence[str] | None = None, directory: Path | None = None) -> bytes:
        environment = {os.fsencode(name): os.fsencode(text) for name, text in self.environment.items()}
        body = FireRequest(this_installation(), os.getpid(), os.getppid(), 0o022, str(directory or self.scene.project),
                       list(arguments or self.arguments), environment, DATA).write()  # fmt: skip
        return MAGIC + len(body).to_bytes(4, "big") + body

    def ask(self, frame: bytes) -> FireAnswer:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._folder / "socket"))
            connection.sendall(frame)
            got = b""
            while part := connection.recv(65536):
                got += part
        got = got[1:].lstrip(b".")
        if got[:1] != b"=":
            raise Idle(f"the server does not answer: {got!r}")
        return FireAnswer.read(got[5:])

    def over_the_socket(self, clients: int) -> Stopwatch:
        """So many clients that ask one event after the other, all at once; the pieces are single events."""
        frame = self.frame()

        def timed(loops: int) -> float:
            answers: list[FireAnswer] = []

            def ask() -> None:
                answers.extend(self.ask(frame) for _ in range(loops))

            threads = [threading.Thread(target=ask) for _ in range(clients)]
            began = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds = time.perf_counter() - began
            if len(answers) != clients * loops or any(PROOF not in answer.output for answer in answers):
                raise Idle("an event was not answered")
            return seconds

        return timed

    def latencies(self, clients: int, events: int) -> list[float]:
        """How long each event takes if so many clients ask at once: seconds."""
        frame, taken = self.frame(), list[float]()

        def ask() -> None:
            for _ in range(events // clients):
                began = time.perf_counter()
                self.ask(frame)
                taken.append(time.perf_counter() - began)

        threads = [threading.Thread(target=ask) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return taken

    # --- Over HTTP ------------------------------------------------------------------------------------------------

    def fired_over_http(self) -> Stopwatch:
        """An event whose hooks are found, on one kept connection."""
        event = json.dumps({**EVENT, "cwd": str(self.found)}).encode()
        return self.over_http("POST", "/v1/fire/PreToolUse", event, PROOF)

    def over_http(self, method: str, path: str, body: bytes | None, proof: bytes) -> Stopwatch:
        """Requests on one kept connection."""
        connection = WholeRequests("127.0.0.1", self.port)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        headers = {"Authorization": f"Bearer {self.token}", "Interpose-Reply": "native"}

        def timed(loops: int) -> float:
            answers = []
            began = time.perf_counter()
            for _ in range(loops):
                connection.request(method, path, body, headers)
                answers.append(connection.getresponse().read())
            seconds = time.perf_counter() - began
            if any(proof not in answer for answer in answers):
                raise Idle(f"{path} is not answered: {answers[-1]!r}")
            return seconds

        return timed

    # --- Processes ------------------------------------------------------------------------------------------------

    def processes(self) -> dict[int, int]:
        """The server and all processes below it, each with its memory in bytes that it shares with no other."""
        found, waiting = {}, [self.process.pid]
        while waiting:
            pid = waiting.pop()
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            found[pid] = 1024 * sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_"))
            waiting += [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        return found
