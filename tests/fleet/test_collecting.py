"""The collector: hostile messages are put aside, a database that goes away comes back, and nothing is there twice."""

import asyncio
import json
import zlib
from pathlib import Path

import pytest
from tests.fleet.nats_servers import a_nats_server
from tests.fleet.postgres_servers import a_postgres_server, needs_postgres
from tests.fleet.records import (
    TEAM,
    batches_of,
    collected,
    count_records,
    create_stream,
    forwarded,
    forwarding,
    numbers,
    rows,
    settings_of,
    state,
    write_records,
)
from tests.fleet.test_postgres_record import forged

from interpose.config.fleet import FleetSettings
from interpose.errors import UsageError
from interpose.fleet.collect import collect
from interpose.fleet.messages import pack
from interpose.handlers.nats_client import connect

pytestmark = [needs_postgres, pytest.mark.slow]
__all__ = ["state"]


async def publish(settings: FleetSettings, *messages: tuple[str, bytes]) -> None:
    client = await connect(settings.nats, name="test")
    for node, payload in messages:
        await client.jetstream().publish(f"interpose.{TEAM}.record.{node}", payload)
    await client.close()


def test_hostile_messages_are_put_aside_with_their_reason_and_the_others_are_collected(
    tmp_path: Path, database: str
) -> None:
    fine = forged(['{"event":"a"}'] * 2)
    nul = json.loads(zlib.decompress(pack(TEAM, "bad", fine)))
    nul["records"][0][6] = "\0"
    told: list[str] = []

    async def scenario() -> None:
        with a_nats_server(tmp_path / "nats") as server:
            settings = settings_of(server.url)
            await create_stream(settings)
            await publish(
                settings,
                ("bad", b""),
                ("bad", b"\xff" * 100),
                ("bad", zlib.compress(b"{" * 10)),
                ("bad", pack(TEAM, "good", fine)),
                ("bad", pack("others", "bad", fine)),
                ("bad", zlib.compress(json.dumps(nul).encode())),
                ("bad", zlib.compress(b"0" * 50_000_000)),
                ("good", pack(TEAM, "good", fine)),
            )
            done = await collected(settings, database, told)
            again = await collected(settings, database)

        assert (done.records, done.quarantined, again.records, again.quarantined) == (2, 7, 0, 0)

    asyncio.run(scenario())
    assert numbers(database) == {"good": [1, 2]}
    reasons = [reason for (reason,) in rows(database, "SELECT reason FROM quarantine ORDER BY id")]
    assert len(reasons) == 7
    assert "it says node 'good', and came on the subject of bad" in reasons
    assert sum("quarantined: interpose.t.record.bad: " in line for line in told) == 7


def test_what_the_database_refuses_is_put_aside_and_the_rest_of_its_transaction_is_written(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from interpose.audit.postgres import writer

    made = writer.row_of

    def refused(record):
        found = made(record)
        return type(found)(subject="\0") if "poison" in record.body else found

    monkeypatch.setattr(writer, "row_of", refused)

    async def scenario() -> None:
        with a_nats_server(tmp_path / "nats") as server:
            settings = settings_of(server.url)
            await create_stream(settings)
            await publish(
                settings,
                *((name, pack(TEAM, name, forged([json.dumps({"event": name})]))) for name in ("a", "poison", "c")),
            )
            await collected(settings, database)

    asyncio.run(scenario())
    assert numbers(database) == {"a": [1], "c": [1]}
    assert rows(database, "SELECT subject FROM quarantine") == [("interpose.t.record.poison",)]


def test_a_broken_chain_is_told_with_node_store_and_record_and_collecting_goes_on(
    tmp_path: Path, state: Path, database: str
) -> None:
    import sqlite3

    write_records(state / "audit.db", 9)
    with sqlite3.connect(state / "audit.db") as base:
        base.execute("UPDATE bodies SET body = replace(body, 'ls', 'rm') WHERE record = 4")
    base.close()
    store = batches_of(state / "audit.db")[0].store
    told: list[str] = []

    async def scenario() -> None:
        with a_nats_server(tmp_path / "nats") as server:
            settings = settings_of(server.url)
            await create_stream(settings)
            async with forwarding(settings) as node:
                await forwarded(node)
            await collected(settings, database, told)

    asyncio.run(scenario())
    assert numbers(database) == {"one": list(range(1, 11))}
    assert f"broken chain: node one, store {store}: record 4 was changed, or the one before it" in told


def test_postgresql_that_goes_away_and_comes_back_is_waited_for(tmp_path: Path, state: Path) -> None:
    write_records(state / "audit.db", 500)
    told: list[str] = []

    async def scenario() -> None:
        with a_nats_server(tmp_path / "nats") as server, a_postgres_server() as postgres:
            database = postgres.new_database()
            settings = settings_of(server.url)
            await create_stream(settings)
            collecting = asyncio.ensure_future(collect(settings, database, tell=told.append))
            async with forwarding(settings) as node:
                await forwarded(node)
                await until(lambda: count_records(database) == 501)
                postgres.stop()
                write_records(state / "audit.db", 300)
                await until(lambda: any("PostgreSQL: is away" in line for line in told))
                await forwarded(node)
                await asyncio.to_thread(postgres.start)
                await until(lambda: count_records(database) == 802)
            collecting.cancel()
            await asyncio.gather(collecting, return_exceptions=True)
            assert numbers(database) == {"one": list(range(1, 803))}

    asyncio.run(scenario())
    assert "PostgreSQL: is back" in told


async def until(condition) -> None:
    async with asyncio.timeout(120):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.1)


def test_two_collectors_share_the_messages(tmp_path: Path, state: Path, database: str) -> None:
    write_records(state / "audit.db", 3000)

    async def scenario() -> None:
        with a_nats_server(tmp_path / "nats") as server:
            settings = settings_of(server.url)
            await create_stream(settings)
            both = [asyncio.ensure_future(collect(settings, database, tell=print)) for _ in range(2)]
            async with forwarding(settings) as node:
                await forwarded(node)
            await until(lambda: count_records(database) == 3001)
            for one in both:
                one.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    asyncio.run(scenario())
    assert numbers(database) == {"one": list(range(1, 3002))}


def test_a_database_that_cannot_be_used_is_told_at_once_without_the_password(tmp_path: Path) -> None:
    url = "postgresql://someone:s3cr%40t@127.0.0.1:1/nowhere?sslpassword=hidden"

    with pytest.raises(UsageError) as caught:
        asyncio.run(collect(settings_of("nats://127.0.0.1:1"), url))

    assert "postgresql://someone@127.0.0.1:1/nowhere" in str(caught.value)
    for secret in ("s3cr", "hidden", "40t"):
        assert secret not in str(caught.value)
