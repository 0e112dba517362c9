"""The record of a fleet, from the stores of nodes over NATS into PostgreSQL."""

import asyncio
from pathlib import Path

import pytest
from tests.fleet.nats_servers import a_nats_server
from tests.fleet.postgres_servers import needs_postgres
from tests.fleet.records import (
    collected,
    create_stream,
    forwarded,
    forwarding,
    numbers,
    reported,
    settings_of,
    state,
    write_records,
)

from interpose.audit import open_store
from interpose.audit.verify import verify_store

pytestmark = [needs_postgres, pytest.mark.slow]
__all__ = ["state"]


def test_records_of_a_node_arrive_once_and_verify(tmp_path: Path, state: Path, database: str) -> None:
    write_records(state / "audit.db", 40)

    async def scenario() -> None:
        with a_nats_server(tmp_path / "nats") as server:
            settings = settings_of(server.url)
            await create_stream(settings)
            async with forwarding(settings) as node:
                await forwarded(node)
                await collected(settings, database)
                write_records(state / "audit.db", 3)
                found = await reported(
                    node, lambda: [one["forwarded"] for one in node.report["record"].values()] == [45]
                )
            done = await collected(settings, database)

        assert (done.records, done.repeated, done.quarantined, done.flaws) == (4, 0, 0, 0)
        [report] = found.values()
        assert (report["last"], report["forwarded"], report["lag"]) == (45, 45, 0)

    asyncio.run(scenario())
    assert numbers(database) == {"one": list(range(1, 46))}
    assert verify_store(database).flaws == ()
    with open_store(database) as reader, open_store(state / "audit.db") as local:
        assert [one.body for one in reader.entries()] == [one.body for one in local.entries()]
        assert {one.node for one in reader.entries()} == {"one"}
