"""Serving the pages on a loopback address, until the person ends them."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import closing

import uvicorn

from ...audit.protocol import QuestionStore
from ...errors import UsageError
from .access import Access
from .app import Pages
from .elsewhere import QuestionsElsewhere
from .views import Project

__all__ = ["USUAL_PORT", "serve_pages"]

USUAL_PORT = 8787
_LOOPBACK = "127.0.0.1"


def serve_pages(
    store: QuestionStore, project: Project, access: Access, *, port: int | None, who: Mapping[str, str],
    ready: Callable[[str, Pages], None], warn: Callable[[str], object] = lambda _: None,
    elsewhere: QuestionsElsewhere | None = None,
) -> None:  # fmt: skip
    """Serve the pages until SIGINT or SIGTERM; ``ready`` is called with their address.

    ``elsewhere`` knows the questions of other machines.
    """
    with closing(_listen(port)) as listening:
        if port is None and listening.getsockname()[1] != USUAL_PORT:
            warn(f"another program listens on port {USUAL_PORT}: type the code only at the address below")
        found = listening.getsockname()[1]
        pages = Pages(store, access, project, who, found, elsewhere)
        pages.prepare()
        config = uvicorn.Config(
            pages.app, log_level="error", access_log=False, lifespan="off", ws="none", http="h11", loop="asyncio",
            server_header=False, timeout_graceful_shutdown=1, timeout_keep_alive=75, limit_concurrency=256,
            h11_max_incomplete_event_size=65_536,
        )  # fmt: skip
        server = _Server(config, pages)
        ready(f"http://{_host(access.name)}:{found}", pages)
        try:
            server.run(sockets=[listening])
        finally:
            pages.live.stop()
            pages.comparisons.stop()


def _host(name: str) -> str:
    """Return the name for the address. Browsers find each name below ``localhost``; Safari asks the system for it."""
    if sys.platform != "darwin":
        return name
    try:
        found = {address[0] for *_, address in socket.getaddrinfo(name, None)}
    except OSError:
        found = set()
    return name if found and found <= {_LOOPBACK, "::1"} else _LOOPBACK


class _Server(uvicorn.Server):
    """Ends the streams of open pages first, which would keep it from ending."""

    def __init__(self, config: uvicorn.Config, pages: Pages) -> None:
        super().__init__(config)
        self._pages = pages

    def handle_exit(self, sig: int, frame: object) -> None:
        """Begin to end."""
        self._pages.live.stop()
        self.should_exit = True


def _listen(port: int | None) -> socket.socket:
    """Return a socket that listens; without a port the usual one, or any if that is taken."""
    last: OSError | None = None
    for one in (port,) if port is not None else (USUAL_PORT, 0):
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((_LOOPBACK, one))
            made.listen(128)
        except OSError as error:
            made.close()
            last = error
        else:
            return made
    raise UsageError(f"--port {port}: {last.strerror if last else 'it cannot be used'}", hint="choose another port")
