"""The node process: how it ends, and what a part that fails does to the others."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.nats_servers import NatsServer, a_nats_server
from tests.unit.test_tasks import misses

from interpose.config.fleet import FleetSettings
from interpose.fleet.node import Node, Part, node_lock, read_status, run_node
from interpose.handlers.nats_client import NatsOptions
from interpose.runtime.tasks import end_tasks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with a_nats_server(tmp_path_factory.mktemp("nats")) as running:
        yield running


@pytest.fixture
def settings(server: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FleetSettings:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return FleetSettings(nats=NatsOptions(servers=(server.url,)), team="t", node="one")


async def run_until(settings: FleetSettings, event: asyncio.Event, **parts: Part) -> None:
    running = asyncio.create_task(run_node(settings, parts=parts))
    async with asyncio.timeout(60):
        await event.wait()
        await end_tasks([running], pause=30)
    assert running.cancelled()


def test_a_node_ends_when_a_part_misses_that_it_is_cancelled(settings: FleetSettings) -> None:
    async def main() -> Node:
        nodes: list[Node] = []
        begun = asyncio.Event()

        async def misses_it(node: Node) -> None:
            nodes.append(node)
            await misses(2, begun.set)

        async def is_well(node: Node) -> None:
            await asyncio.Event().wait()

        await run_until(settings, begun, one=misses_it, other=is_well)
        return nodes[0]

    assert asyncio.run(main()).client.is_closed
    with node_lock(hint=""):  # another node may run
        pass


def test_a_part_that_fails_is_started_again_and_the_others_go_on(settings: FleetSettings) -> None:
    async def main() -> tuple[list[str], str]:
        done: list[str] = []
        well, again = asyncio.Event(), asyncio.Event()

        async def fails(node: Node) -> None:
            if "failed" not in done:
                done.append("failed")
                raise ValueError("a part is broken")
            done.append("started again")
            again.set()
            await asyncio.Event().wait()

        async def is_well(node: Node) -> None:
            await again.wait()
            done.append("went on")
            well.set()

        await run_until(settings, well, broken=fails, other=is_well)
        return done, read_status()["problems"]["broken"]

    assert asyncio.run(main()) == (["failed", "started again", "went on"], "a part is broken")


def test_a_node_that_is_interrupted_while_it_ends_closes_its_connection(settings: FleetSettings) -> None:
    async def main() -> Node:
        nodes: list[Node] = []
        begun = asyncio.Event()

        async def misses_it(node: Node) -> None:
            nodes.append(node)
            await misses(1, begun.set)

        running = asyncio.create_task(run_node(settings, parts={"one": misses_it}))
        async with asyncio.timeout(60):
            for _ in range(2):
                await begun.wait()
                begun.clear()
                running.cancel()
            await asyncio.wait([running])
        return nodes[0]

    assert asyncio.run(main()).client.is_closed
