"""The node process: it takes over rules, forwards the record and carries questions, as long as it runs.

Each of these is a part: a coroutine function that takes the node and runs until it is cancelled. A part that fails is
started again after a pause, and the report says why it failed; the other parts go on meanwhile.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from time import time
from typing import TYPE_CHECKING, Any

from ..config.fleet import FleetSettings
from ..errors import UsageError
from ..handlers.nats_client import NatsUnavailable, connect, explain
from ..runtime.faults import log
from ..runtime.tasks import end_tasks
from ..state.directories import make_private, state_path, write_privately
from .names import TeamNames

if TYPE_CHECKING:
    from nats.aio.client import Client

__all__ = ["PARTS", "Node", "Part", "node_lock", "read_status", "run_node"]

Part = Callable[["Node"], Awaitable[None]]

PARTS: Mapping[str, str] = {
    "rules": "rules:follow_rules",
    "report": "reports:publish_reports",
    "questions": "questions:carry_questions",
    "record": "forward:forward_record",
}
"""The parts of a node: a name, and ``module:function`` in this package."""

_PAUSES = (0.5, 15.0)
"""Seconds before a part that failed, or a connection that was not made, is tried again: the first, and the longest."""


class Node:
    """One machine of a fleet while its node process runs: what the parts share."""

    def __init__(self, settings: FleetSettings, client: Client, folder: str = "") -> None:
        self.settings = settings
        self.names = TeamNames(settings.team)
        self.client = client
        self.folder = folder or _folder()
        """Where the node keeps what it has taken over."""
        self.report: dict[str, Any] = {"node": settings.node, "ring": settings.ring, "since": time(), "problems": {}}
        """What the node tells the fleet about itself. A part changes its own keys, and then calls ``reported``."""
        self.changed = asyncio.Event()

    def reported(self, **parts: Any) -> None:
        """Change the report, write it to disk for ``interpose doctor``, and have it published."""
        self.report.update(parts)
        self.report["at"] = time()
        _write_status(self.report, self.folder)
        self.changed.set()

    def has_problem(self, part: str, what: str) -> None:
        """Say in the report what is wrong with a part; an empty text: nothing is."""
        problems = {name: text for name, text in self.report["problems"].items() if name != part}
        if self.report["problems"].get(part, "") != what:
            self.reported(problems={**problems, part: what} if what else problems)


async def run_node(settings: FleetSettings, *, parts: Mapping[str, Part] | None = None) -> None:
    """Be the node until cancelled; raise UsageError if another process of this user is."""
    with node_lock(settings.node, hint="there is one per user; `interpose fleet status` shows it"):
        node = await _connected(settings)
        chosen = _parts() if parts is None else parts
        running = [
            asyncio.create_task(_keep_running(node, name, part), name=f"fleet-{name}") for name, part in chosen.items()
        ]
        try:
            for ended in (await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION))[0]:
                ended.result()
        finally:
            try:
                await end_tasks(running)
            finally:  # also if that is interrupted
                await node.client.close()


def _parts() -> dict[str, Part]:
    made: dict[str, Part] = {}
    for name, place in PARTS.items():
        module, _, function = place.partition(":")
        made[name] = getattr(import_module(f".{module}", __package__), function)
    return made


async def _connected(settings: FleetSettings) -> Node:
    """Return the node with its first connection, which is tried for as long as it takes."""
    node: Node | None = None

    async def changed(what: str) -> None:
        if node is not None:
            node.has_problem("connection", "" if what == "connected" else what)

    pause = _PAUSES[0]
    while True:
        try:
            client = await connect(settings.nats, name=f"interpose {settings.node}", forever=True, on_change=changed)
        except NatsUnavailable as error:
            _write_status({"node": settings.node, "ring": settings.ring, "at": time(),
                           "problems": {"connection": error.problem.what}})  # fmt: skip
            log("warning", "fleet: %s", error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _PAUSES[1])
            continue
        node = Node(settings, client)
        node.reported()
        return node


async def _keep_running(node: Node, name: str, part: Part) -> None:
    pause = _PAUSES[0]
    while True:
        began = time()
        try:
            await part(node)
            return
        except Exception as error:
            pause = _PAUSES[0] if time() - began > _PAUSES[1] else min(pause * 2, _PAUSES[1])
            node.has_problem(name, explain(error))
            log("warning", "fleet: %s of node %s: %s", name, node.settings.node, explain(error))
            await asyncio.sleep(pause)


def _folder() -> str:
    return state_path("fleet")


def _write_status(report: Mapping[str, Any], folder: str = "") -> None:
    import json

    folder = folder or _folder()
    try:
        write_privately(os.path.join(folder, "status.json"), json.dumps(report, default=str).encode())
    except OSError as error:
        log("warning", "fleet: %s: %s", folder, error)


def read_status() -> dict[str, Any]:
    """Return the last report of this machine's node process; empty if there is none."""
    import json

    try:
        with open(os.path.join(_folder(), "status.json"), "rb") as opened:
            found = json.loads(opened.read(1024 * 1024))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def node_lock(node: str = "", *, hint: str) -> Iterator[None]:
    """Hold the lock of this user's node process; raise UsageError if another process does."""
    folder = _folder()
    make_private(folder)
    descriptor = os.open(os.path.join(folder, "node.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        named = f" (node {node})" if node else ""
        raise UsageError(f"a node process runs already for this user{named}", where=folder, hint=hint) from None
    try:
        yield
    finally:
        os.close(descriptor)
