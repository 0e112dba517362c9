"""What tests of the record need: stores with records, a team's stream, node and collector as tasks or processes."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from tests.fleet.nats_servers import NatsServer, a_nats_server
from tests.fleet.node_tasks import a_node

from interpose import AuditStore, Hooks, deny
from interpose.audit.postgres.connection import connect as connect_postgres
from interpose.audit.postgres.schema import create_tables
from interpose.audit.postgres.writer import Arrived, PostgresWriter
from interpose.audit.raw import RawBatch, open_outbox
from interpose.config.fleet import FleetSettings
from interpose.fleet.collect import Collected, collect
from interpose.fleet.forward import forward_record
from interpose.fleet.node import Node
from interpose.fleet.setup import SetupRefused, create_all
from interpose.handlers.nats_client import NatsOptions, connect
from interpose.runtime.tasks import end_tasks

TEAM = "t"


def write_records(path: Path, count: int = 1, *, session: str = "s1", command: str = "ls", **fields: object) -> None:
    """Have firings recorded by a process of its own, as far as the store can see."""
    hooks = Hooks()
    store = AuditStore(path)
    hooks.record(store)

    @hooks.on("PreToolUse", name="guard")
    def guard(event):
        return deny("no") if "rm" in event.tool_input["command"] else None

    for _ in range(count):
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": command}, session_id=session, **fields)
    store.close()


def batches_of(path: Path, most: int = 100, after: int = 0) -> list[RawBatch]:
    """All records of a store, in batches."""
    reader = open_outbox(str(path))
    found = []
    while batch := reader.batch(after, most=most, characters=1_000_000):
        found.append(batch)
        after = batch.records[-1].number
    reader.close()
    return found


def arrived(node: str, batch: RawBatch) -> Arrived:
    return Arrived(node=node, batch=batch, subject=f"interpose.{TEAM}.record.{node}", payload=b"message")


OPENED: list[Any] = []
"""Connections of the test that runs."""


def a_connection(url: str) -> Any:
    """A connection that is closed when the test ends."""
    OPENED.append(connect_postgres(url, name="test"))
    return OPENED[-1]


def a_writer(url: str, clock: Callable[[], float] | None = None) -> PostgresWriter:
    """A writer to a database, whose tables are made if they are not there; closed when the test ends."""
    connection = a_connection(url)
    create_tables(connection, "the-store", TEAM)
    return PostgresWriter(connection, clock) if clock is not None else PostgresWriter(connection)


def rows(url: str, query: str, *values: Any) -> list[Any]:
    """The rows of a query, run by another client."""
    with psycopg.connect(url, options="-c search_path=interpose") as connection:
        return connection.execute(query, values).fetchall()


def count_records(url: str) -> int:
    """How many records were collected; 0 before the collector has made its tables."""
    if rows(url, "SELECT to_regclass('interpose.words')")[0][0] is None:
        return 0
    return int(rows(url, "SELECT count(*) FROM records")[0][0])


def numbers(url: str) -> dict[str, list[int]]:
    """The numbers of all records that were collected, by node."""
    found: dict[str, list[int]] = {}
    for node, number in rows(
        url, "SELECT node, number FROM records r JOIN stores s ON s.id = r.store ORDER BY 1, r.store, 2"
    ):
        found.setdefault(node, []).append(number)
    return found


def settings_of(url: str | list[str], node: str = "one", **more: Any) -> FleetSettings:
    servers = (url,) if isinstance(url, str) else tuple(url)
    return FleetSettings(nats=NatsOptions(servers=servers), team=TEAM, node=node, **more)


async def create_stream(settings: FleetSettings, **more: Any) -> None:
    """Create what the team keeps; servers of a cluster have to elect a leader first."""
    client = await connect(settings.nats, name="setup", patience=30)
    async with asyncio.timeout(180):
        while True:
            try:
                await create_all(client, settings, **more)
                break
            except SetupRefused:
                await asyncio.sleep(0.5)
    await client.close()


@contextmanager
def a_team(
    folder: Path, options: str = "", *, record_bytes: int | None = None, **settings: Any
) -> Iterator[tuple[NatsServer, FleetSettings]]:
    """A server of its own that keeps a team's stream, and the settings of a node of that team."""
    with a_nats_server(folder / "nats", options) as server:
        made = settings_of(server.url, **settings)
        asyncio.run(create_stream(made, **({} if record_bytes is None else {"record_bytes": record_bytes})))
        yield server, made


def forwarding(settings: FleetSettings) -> AbstractAsyncContextManager[Node]:
    """A node that forwards its record meanwhile."""
    return a_node(settings, forward_record)


async def forwarded(node: Node, seconds: float = 60.0) -> dict[str, Any]:
    """Wait until everything is forwarded; return what the node reports of its stores."""

    def done() -> bool:
        found = node.report.get("record", {})
        return bool(found) and all(one["state"] == "current" and not one["lag"] for one in found.values())

    return await reported(node, done, seconds)


async def forwarded_upto(node: Node, number: int) -> dict[str, Any]:
    """Wait until the servers have all records of a store up to this number; return what the node reports."""
    return await reported(
        node, lambda: any(one["forwarded"] >= number for one in node.report.get("record", {}).values())
    )


async def forward_all(settings: FleetSettings) -> None:
    """Forward what is recorded, as a node that ends then."""
    async with forwarding(settings) as node:
        await forwarded(node)


async def reported(node: Node, condition: Callable[[], bool], seconds: float = 60.0) -> dict[str, Any]:
    """Wait until a condition holds for what the node reports; return what it reports of its stores."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - a thread of the node changes it
            await asyncio.sleep(0.02)
    found: dict[str, Any] = node.report["record"]
    return found


async def collected(settings: FleetSettings, url: str, told: list[str] | None = None) -> Collected:
    """Collect what is there."""
    async with asyncio.timeout(120):
        return await collect(settings, url, once=True, tell=(told if told is not None else []).append)


@asynccontextmanager
async def collecting(settings: FleetSettings, url: str, tell: Callable[[str], None] = print) -> AsyncIterator[None]:
    """A collector that runs meanwhile."""
    task = asyncio.ensure_future(collect(settings, url, tell=tell))
    try:
        yield
    finally:
        await end_tasks([task])


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds that another process changes."""
    async with asyncio.timeout(120):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.1)


def in_process(folder: Path, *arguments: str, **more: str) -> "subprocess.Popen[bytes]":
    """Start ``interpose …`` for a user of its own, whose home is a folder."""
    environment = {**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"),
                   "XDG_CONFIG_HOME": str(folder / "config"), **more}  # fmt: skip
    with (folder / f"{arguments[1]}.log").open("ab") as log:
        return subprocess.Popen([sys.executable, "-m", "interpose.cli", *arguments], env=environment, cwd=folder,
                                stdout=log, stderr=log)  # fmt: skip
