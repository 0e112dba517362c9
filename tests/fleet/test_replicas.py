"""Three servers keep everything three times: rules, reports and questions go on when one of them dies."""

import asyncio
from pathlib import Path

import pytest
from nats.aio.client import Client
from tests.fleet.nats_servers import NatsServer, a_nats_cluster
from tests.fleet.records import create_stream
from tests.fleet.rule_nodes import DAY, Team, until, version_of

from interpose.config.fleet import FleetSettings
from interpose.errors import UsageError
from interpose.fleet.node import Node
from interpose.fleet.reports import publish_reports, read_fleet_status
from interpose.fleet.rings import RingRefused, Rings
from interpose.fleet.rules import follow_rules
from interpose.handlers.nats_client import NatsOptions, connect
from interpose.records import replace
from interpose.runtime.tasks import end_tasks

pytestmark = pytest.mark.slow
STREAMS = {"INTERPOSE_payments_RECORD", "OBJ_interpose_payments_bundles",
           *(f"KV_interpose_payments_{name}" for name in ("rings", "nodes", "questions", "answers"))}  # fmt: skip


async def kept_three_times(client: Client) -> bool:
    """Whether all streams have three replicas and a leader; a list leaves out those that elect one."""
    async with asyncio.timeout(60):
        while True:
            found = {str(one.config.name): one for one in await client.jetstream().streams_info()}
            if found.keys() == STREAMS:
                return all(one.config.num_replicas == 3 for one in found.values())
            await asyncio.sleep(0.2)


async def pushed(team: Team, settings: FleetSettings, word: str) -> int:
    """Push, for as long as the servers elect leaders."""
    async with asyncio.timeout(120):
        while True:
            try:
                client = await connect(settings.nats, name="pusher")
                try:
                    rings = Rings(client, settings, team.key)
                    return (await rings.push("prod", team.bundle(word), expires=DAY)).version
                finally:
                    await client.close()
            except RingRefused:
                raise
            except UsageError:
                await asyncio.sleep(0.5)


async def kill_leader(client: Client, servers: list[NatsServer]) -> None:
    info = await client.jetstream().stream_info("KV_interpose_payments_rings")
    assert info.cluster is not None
    next(one for one in servers if one.name == info.cluster.leader).kill()


def test_rules_and_reports_go_on_when_the_leader_of_the_rings_dies(tmp_path: Path) -> None:
    async def work(servers: list[NatsServer]) -> None:
        team = Team(tmp_path, servers[0].url)
        nats = NatsOptions(servers=tuple(one.url for one in servers))
        settings = replace(team.settings, nats=nats, replicas=1)
        await create_stream(settings)
        await create_stream(replace(settings, replicas=3))  # as a team does that adds servers
        client = await connect(nats, name="node", forever=True)
        assert await kept_three_times(client)
        node = Node(settings, client, str(tmp_path / "node"))
        tasks = [asyncio.create_task(part(node)) for part in (follow_rules, publish_reports)]

        assert await pushed(team, settings, "one") == 1
        assert await until(lambda: version_of(node) == 1, 60)
        await kill_leader(client, servers)
        assert await pushed(team, settings, "two") == 2
        assert await until(lambda: version_of(node) == 2, 120), node.report
        reader = await connect(nats, name="reader")
        async with asyncio.timeout(120):
            while True:
                try:
                    if [one.version for one in (await read_fleet_status(reader, settings)).nodes] == [2]:
                        break
                except UsageError:  # a leader is being elected
                    pass
                await asyncio.sleep(0.5)
        await end_tasks(tasks)
        for one in (reader, client):
            await one.close()

    with a_nats_cluster(tmp_path / "nats") as servers:
        asyncio.run(work(servers))
