"""The record of a fleet, from the stores of nodes over NATS into PostgreSQL."""

import asyncio
from pathlib import Path

import pytest
from tests.fleet.postgres_servers import needs_postgres
from tests.fleet.records import (
    collected,
    forwarded,
    forwarded_upto,
    forwarding,
    numbers,
    write_records,
)

from interpose.audit import open_store
from interpose.audit.verify import verify_store
from interpose.config.fleet import FleetSettings

pytestmark = [needs_postgres, pytest.mark.slow]


def test_records_of_a_node_arrive_once_and_verify(state: Path, database: str, team: FleetSettings) -> None:
    write_records(state / "audit.db", 40)

    async def scenario() -> None:
        async with forwarding(team) as node:
            await forwarded(node)
            await collected(team, database)
            write_records(state / "audit.db", 3)
            found = await forwarded_upto(node, 45)
        done = await collected(team, database)

        assert (done.records, done.repeated, done.quarantined, done.flaws) == (4, 0, 0, 0)
        [report] = found.values()
        assert (report["last"], report["forwarded"], report["lag"]) == (45, 45, 0)

    asyncio.run(scenario())
    assert numbers(database) == {"one": list(range(1, 46))}
    assert verify_store(database).flaws == ()
    with open_store(database) as reader, open_store(state / "audit.db") as local:
        assert [one.body for one in reader.entries()] == [one.body for one in local.entries()]
        assert {one.node for one in reader.entries()} == {"one"}
