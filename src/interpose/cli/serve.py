"""``interpose serve``: the resident engine of a user."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ..errors import UsageError
from ..server.dispatcher import ServerLimits
from ..server.places import folder, prepare_folder, server_facts, socket_path
from . import end_process, fire_resident

if TYPE_CHECKING:
    from ..server.http import HttpFront

__all__ = ["preload", "run"]


Idle = Annotated[
    float,
    typer.Option("--idle", metavar="SECONDS", min=0, help="End after so many seconds without an event; 0: never."),
]
Waiting = Annotated[
    int, typer.Option("--waiting", metavar="COUNT", min=1, help="Refuse events while so many are under way or wait.")
]
Deadline = Annotated[
    float, typer.Option("--deadline", metavar="SECONDS", min=0.1, help="Refuse an event that takes longer than this.")
]
Build = Annotated[
    bool, typer.Option("--build-client", help="Compile the client that starts soonest, print its path, and end.")
]
Http = Annotated[
    str | None,
    typer.Option(
        "--http", metavar="[HOST:]PORT", help="Answer HTTP there too, on a loopback address. Port 0: any free one."
    ),
]
Public = Annotated[
    bool,
    typer.Option(
        "--http-public", help="Allow an address that other machines can reach. The token is all that keeps them out."
    ),
]
AccessLog = Annotated[
    bool, typer.Option("--access-log", help="Print a line of JSON for every request, on the socket and over HTTP.")
]
Status = Annotated[bool, typer.Option("--status", help="Print what runs, and end. Exit status 1: nothing runs.")]
Stop = Annotated[bool, typer.Option("--stop", help="Stop the server that runs: events under way are answered first.")]
Ui = Annotated[
    bool, typer.Option("--ui", help="Open the pages too, as `interpose ui` does, as long as the server runs.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing, and end silently if a server runs already.")]


def run(
    idle: Idle = 900.0,
    waiting: Waiting = 1024,
    deadline: Deadline = 900.0,
    http: Http = None,
    public: Public = False,
    access_log: AccessLog = False,
    ui: Ui = False,
    build: Build = False,
    status: Status = False,
    stop: Stop = False,
    quiet: Quiet = False,
) -> int:
    """Hold the engines of your projects in memory, so that an event costs a few milliseconds. A client asks it over a
    private socket, as docs/serve.md shows; if it does not run, clients decide by themselves, with the same answer.

    Example: interpose serve
    """  # fmt: skip
    if status:
        return _print_status()
    if stop:
        return _stop()
    if build:
        return _build()
    from ..server.server import AlreadyRunning, Server

    log = (lambda fields: print(json.dumps(fields), flush=True)) if access_log else None
    front = _front(http, public, log) if http is not None else None

    def ready(server: Server) -> None:
        if not quiet:
            print(f"interpose serve: ready (process {os.getpid()}); clients find it at {socket_path()}", flush=True)
            if front is not None:
                token = os.path.join(folder(), "token")
                print(f"interpose serve: {front.address}/v1/fire/EVENT, with the token in {token}", flush=True)

    stop_pages = _start_pages() if ui else _do_nothing
    limits = ServerLimits(idle=idle, waiting=waiting, seconds=deadline)
    try:
        Server(fire_resident, end_process, preload, limits, http=front, log=log, ready=ready).run()
    except AlreadyRunning:
        if quiet:
            return 0
        facts = server_facts() or {}
        hint = "`interpose serve --stop` stops it"
        raise UsageError(f"a server runs already (process {facts.get('pid', '?')})", hint=hint) from None
    finally:
        stop_pages()
    return 0


def _do_nothing() -> None:
    pass


def _start_pages() -> Callable[[], None]:
    """Serve the pages in a process of their own, which ends with this one; return a function that ends it."""
    from ..person import require_person
    from .ui import require_pages

    require_pages()
    require_person("opening the pages")
    ours, theirs = os.pipe()
    child = os.fork()  # before there is a thread or an event loop
    if child == 0:
        os.close(theirs)
        _serve_pages(ours)
    os.close(ours)

    def stop() -> None:
        os.close(theirs)
        os.waitpid(child, 0)

    return stop


def _serve_pages(parent: int) -> NoReturn:
    """Serve the pages until the pipe from the server is closed."""
    import threading

    from ..errors import InterposeError
    from .audit_store import NamedStore
    from .render import print_error
    from .ui import open_pages

    def end_with_parent() -> None:
        os.read(parent, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with_parent, daemon=True).start()
    status = 1
    try:
        status = open_pages(NamedStore(), no_browser=True)
    except InterposeError as error:
        print_error(error, "serve --ui")
    except KeyboardInterrupt:
        status = 0
    finally:
        sys.stdout.flush()
        os._exit(status)


def _front(http: str, public: bool, log: Callable[[dict[str, Any]], None] | None) -> HttpFront:
    from ..server.http import HttpFront
    from ..server.http_access import parse_address, read_token

    host, port = parse_address(http, is_public=public)
    prepare_folder()
    return HttpFront(host, port, read_token(), is_public=public, log=log)


def preload() -> None:
    """Load everything that firing an event may need."""
    from importlib import import_module
    from pkgutil import walk_packages

    from .. import config, dialects, handlers
    from ..policies.table import POLICIES, find_policy
    from . import fire

    for package in (config, dialects, fire, handlers):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    for name in ("attach.watch", "audit.store", "audit.sqlite.database", "cli.render.outcome", "scripts", "session"):
        import_module(f"interpose.{name}")
    for name in POLICIES:
        find_policy(name)


def _build() -> int:
    from ..server.build import NoCompiler, build_client

    try:
        print(build_client())
    except NoCompiler as error:
        raise UsageError(
            f"the client cannot be compiled: {error}", hint="use the one in Python; it does the same"
        ) from None
    return 0


def _print_status() -> int:
    facts = server_facts()
    if facts is None:
        print("no server runs")
        return 1
    places = ", ".join(filter(None, (facts.get("socket"), facts.get("http"))))
    print(f"process {facts.get('pid', '?')}, version {facts.get('version', '?')}, {places}")
    return 0


def _stop() -> int:
    facts: dict[str, Any] | None = server_facts()
    if facts is None or not isinstance(facts.get("pid"), int):
        print("no server runs")
        return 0
    os.kill(facts["pid"], signal.SIGTERM)
    until = time.monotonic() + 75
    while (now := server_facts()) is not None and now.get("pid") == facts["pid"]:
        if time.monotonic() > until:
            print(f"interpose serve: process {facts['pid']} has not ended", file=sys.stderr)
            return 1
        time.sleep(0.01)
    return 0
