"""The pages, served by this file as a program; and a client that times the first byte of a page."""

import atexit
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import starlette
import uvicorn
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from benchmarks.environment import ROOT
from benchmarks.measure import Stopwatch, clean_environment
from interpose import AuditStore
from interpose.audit import open_store
from interpose.audit.protocol import StoredFiring
from interpose.server.pages.access import Access
from interpose.server.pages.serving import serve_pages

VERSIONS = {"starlette": starlette.__version__, "uvicorn": uvicorn.__version__}


class Nothing:
    """A project without a configuration: reading one costs what `interpose list` costs."""

    def hooks(self) -> dict[str, Any]:
        return {"project": "", "hooks": [], "files": [], "problems": []}

    def explain(self, firing: StoredFiring) -> dict[str, Any] | None:
        return None

    def case(self, firing: StoredFiring) -> str:
        return ""

    def switch(self, name: str, to: str, who: Mapping[str, str]) -> None:
        return None

    def replay_command(self, *, since: str, session: str, against: str) -> list[str]:
        return []


def _main(path: str) -> None:
    """Serve the pages of a store, and print the port, the code and the first part of every path."""
    codes: list[str] = []
    access = Access(codes.append)
    access.new_code()

    def ready(address: str, _: object) -> None:
        print(
            json.dumps({"port": int(address.rpartition(":")[2]), "code": codes[0], "prefix": access.prefix}), flush=True
        )

    serve_pages(AuditStore(path), Nothing(), access, port=0, who={"user": "bench"}, ready=ready)


class Served:
    """The pages of a store in a process of their own, and a browser without a screen that has signed in."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen([sys.executable, __file__, str(path)], stdout=subprocess.PIPE, text=True,
                                        env=clean_environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}"))  # fmt: skip
        atexit.register(self.close)  # a row may break before its end
        assert self.process.stdout is not None
        said = json.loads(self.process.stdout.readline())
        self.port, self.base = said["port"], f"/{said['prefix']}"
        host = f"127.0.0.1:{self.port}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request(
            "POST", "/sign-in", urlencode({"code": said["code"]}), {"Host": host, "Origin": f"http://{host}"}
        )
        reply = connection.getresponse()
        reply.read()
        self.headers = {"Host": host, "Cookie": str(reply.getheader("set-cookie")).partition(";")[0]}
        connection.close()
        with open_store(path) as reader:
            (session,) = reader.recent_sessions(limit=1)
            self.event = next(iter(reader.entries(limit=1))).id
        self.places = {
            "now": "/now", "questions": "/questions", "sessions": "/sessions", "session": f"/sessions/{session.id}",
            "event": f"/events/{self.event}", "hooks": "/hooks", "search: everything": "/search",
            "search: denied": "/search?decision=deny", "search: a tool that is not there": "/search?tool=Nowhere",
            "search: a text that is not there": "/search?q=xyzzyplugh", "compare": "/compare",
        }  # fmt: skip

    def first_byte(self, place: str) -> Stopwatch:
        """Time a page from the request to the first byte of its answer, on a kept connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)

        def timed(loops: int) -> float:
            took = 0.0
            for _ in range(loops):
                began = time.perf_counter()
                connection.request("GET", f"{self.base}{place}", headers=self.headers)
                reply = connection.getresponse()
                took += time.perf_counter() - began
                assert reply.status == 200, (place, reply.status)
                reply.read()
            return took

        return timed

    def size(self, place: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", f"{self.base}{place}", headers=self.headers)
        return len(connection.getresponse().read())

    def follow(self, told: Callable[[dict[str, Any]], None]) -> None:
        """Read the live stream in a thread, as an open page does."""

        def read() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
            connection.request("GET", f"{self.base}/live", headers=self.headers)
            stream = connection.getresponse()
            while line := stream.readline():
                if line.startswith(b"data: "):
                    told(json.loads(line[6:]))

        threading.Thread(target=read, daemon=True).start()

    def memory(self) -> int:
        """Bytes that the process holds."""
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii"))
        return int(found[1]) * 1024 if found else 0

    def cpu_seconds(self) -> float:
        """Seconds of processor time that the process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def bare() -> tuple[Stopwatch, Callable[[], None]]:
    """A page of Starlette that says hello, served in the same way."""
    import socket

    app = Starlette(routes=[Route("/", lambda request: HTMLResponse("<!doctype html><title>hello</title><p>hello"))])
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="error", lifespan="off", ws="none", http="h11", loop="asyncio",
                            timeout_keep_alive=75)  # fmt: skip
    server = uvicorn.Server(config)
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    connection = http.client.HTTPConnection("127.0.0.1", listening.getsockname()[1])

    def timed(loops: int) -> float:
        took = 0.0
        for _ in range(loops):
            began = time.perf_counter()
            connection.request("GET", "/")
            reply = connection.getresponse()
            took += time.perf_counter() - began
            reply.read()
        return took

    def stop() -> None:
        server.should_exit = True

    return timed, stop


if __name__ == "__main__":
    _main(sys.argv[1])
