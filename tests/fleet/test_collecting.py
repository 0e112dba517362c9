"""The collector: hostile messages are put aside, a database that goes away comes back, and nothing is there twice."""

import asyncio
import json
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from tests.faults.hosts import eventually
from tests.fleet.postgres_servers import a_postgres_server, needs_postgres
from tests.fleet.records import (
    TEAM,
    a_team,
    batches_of,
    collected,
    collecting,
    count_records,
    forward_all,
    forwarded,
    forwarded_upto,
    forwarding,
    in_process,
    numbers,
    rows,
    settings_of,
    until,
    write_records,
)
from tests.fleet.test_postgres_record import forged

from interpose.audit.forwarding import read_progress
from interpose.audit.postgres.rows import RecordRow, row_of
from interpose.audit.raw import RawRecord
from interpose.config.fleet import FleetSettings
from interpose.errors import UsageError
from interpose.fleet.collect import collect
from interpose.fleet.diagnosis import check_fleet
from interpose.fleet.messages import pack
from interpose.handlers.nats_client import connect

pytestmark = [needs_postgres, pytest.mark.slow]


async def publish(settings: FleetSettings, *messages: tuple[str, bytes]) -> None:
    client = await connect(settings.nats, name="test")
    for node, payload in messages:
        await client.jetstream().publish(f"interpose.{TEAM}.record.{node}", payload)
    await client.close()


def test_hostile_messages_are_put_aside_with_their_reason_and_the_others_are_collected(
    database: str, team: FleetSettings
) -> None:
    fine = forged(['{"event":"a"}'] * 2)
    nul = json.loads(zlib.decompress(pack(TEAM, "bad", fine)))
    nul["records"][0][6] = "\0"
    told: list[str] = []

    async def scenario() -> None:
        await publish(
            team,
            ("bad", b""),
            ("bad", b"\xff" * 100),
            ("bad", zlib.compress(b"{" * 10)),
            ("bad", pack(TEAM, "good", fine)),
            ("bad", pack("others", "bad", fine)),
            ("bad", zlib.compress(json.dumps(nul).encode())),
            ("bad", zlib.compress(b"0" * 50_000_000)),
            ("good", pack(TEAM, "good", fine)),
        )
        done = await collected(team, database, told)
        again = await collected(team, database)

        assert (done.records, done.quarantined, again.records, again.quarantined) == (2, 7, 0, 0)

    asyncio.run(scenario())
    assert numbers(database) == {"good": [1, 2]}
    reasons = [reason for (reason,) in rows(database, "SELECT reason FROM quarantine ORDER BY id")]
    assert len(reasons) == 7
    assert "it says node 'good', and came on the subject of bad" in reasons
    assert sum("quarantined: interpose.t.record.bad: " in line for line in told) == 7


def test_what_the_database_refuses_is_put_aside_and_the_rest_of_its_transaction_is_written(
    database: str, monkeypatch: pytest.MonkeyPatch, team: FleetSettings
) -> None:
    def refused(record: RawRecord) -> RecordRow:
        return RecordRow(subject="\0") if "poison" in record.body else row_of(record)

    monkeypatch.setattr("interpose.audit.postgres.writer.row_of", refused)

    async def scenario() -> None:
        await publish(
            team,
            *((name, pack(TEAM, name, forged([json.dumps({"event": name})]))) for name in ("a", "poison", "c")),
        )
        await collected(team, database)

    asyncio.run(scenario())
    assert numbers(database) == {"a": [1], "c": [1]}
    assert rows(database, "SELECT subject FROM quarantine") == [("interpose.t.record.poison",)]


def test_a_broken_chain_is_told_with_node_store_and_record_and_collecting_goes_on(
    state: Path, database: str, team: FleetSettings
) -> None:
    import sqlite3

    write_records(state / "audit.db", 9)
    with sqlite3.connect(state / "audit.db") as base:
        base.execute("UPDATE bodies SET body = replace(body, 'ls', 'rm') WHERE record = 4")
    base.close()
    store = batches_of(state / "audit.db")[0].store
    told: list[str] = []

    async def scenario() -> None:
        await forward_all(team)
        await collected(team, database, told)

    asyncio.run(scenario())
    assert numbers(database) == {"one": list(range(1, 11))}
    assert f"broken chain: node one, store {store}: record 4 was changed, or the one before it" in told


def test_postgresql_that_goes_away_and_comes_back_is_waited_for(state: Path, team: FleetSettings) -> None:
    write_records(state / "audit.db", 500)
    told: list[str] = []

    async def scenario() -> None:
        with a_postgres_server() as postgres:
            database = postgres.new_database()
            async with collecting(team, database, told.append), forwarding(team) as node:
                await forwarded(node)
                await until(lambda: count_records(database) == 501)
                postgres.stop()
                write_records(state / "audit.db", 300)
                await until(lambda: any("PostgreSQL: is away" in line for line in told))
                await forwarded(node)
                await asyncio.to_thread(postgres.start)
                await until(lambda: count_records(database) == 802)
            assert numbers(database) == {"one": list(range(1, 803))}

    asyncio.run(scenario())
    assert "PostgreSQL: is back" in told


def test_a_stream_that_is_too_small_is_emptied_as_it_is_collected(
    tmp_path: Path, state: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interpose.fleet.collect._TRIM_SECONDS", 0.1)
    write_records(state / "audit.db", 3000)

    async def scenario() -> None:
        async with collecting(team, database):
            await forward_all(team)
            await until(lambda: count_records(database) == 3001)

    with a_team(tmp_path, record_bytes=40_000) as (_, team):
        asyncio.run(scenario())
    assert numbers(database) == {"one": list(range(1, 3002))}


def test_messages_that_another_consumer_has_not_seen_stay_in_the_stream(
    state: Path, database: str, team: FleetSettings
) -> None:
    write_records(state / "audit.db", 5)

    async def scenario() -> None:
        async with forwarding(team) as node:
            await forwarded(node)
            context = node.client.jetstream()
            other = await context.pull_subscribe(f"interpose.{TEAM}.record.*", durable="archive")
            await collected(team, database)
            [message] = await other.fetch(1)
            await message.ack_sync()
            write_records(state / "audit.db", 1)
            await forwarded_upto(node, 8)
            await collected(team, database)
            info = await context.stream_info(f"INTERPOSE_{TEAM}_RECORD")
            assert (info.state.first_seq, info.state.last_seq) == (2, 2)

    asyncio.run(scenario())


def test_node_and_collector_as_processes_with_a_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    write_records(tmp_path / "other.db", 5)  # noted in another state directory: only the configuration names it
    with a_team(tmp_path) as (server, _):
        config = tmp_path / "hooks.yaml"
        config.write_text(f"fleet: {{servers: '{server.url}', team: {TEAM}, node: n1}}\naudit: {{path: other.db}}\n")
        node = in_process(tmp_path, "fleet", "node", "--config", str(config))
        try:
            monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
            assert eventually(lambda: any(one.upto == 6 for one in (read_progress() or {}).values()), 60)
            assert eventually(lambda: [check.state for check in check_fleet()] == ["ok", "ok"], 30), check_fleet()
        finally:
            node.kill()
            node.wait()
        stopped = check_fleet()
        command = (
            "fleet",
            "collect",
            "--to",
            database,
            "--config",
            str(config),
            "--once",
            "--json",
            "--retention",
            "90d",
        )
        done = subprocess.run([sys.executable, "-m", "interpose.cli", *command], capture_output=True, check=True)
        refused = [subprocess.run([sys.executable, "-m", "interpose.cli", *command[:-1], age], capture_output=True,
                                  check=False).returncode for age in ("1h", "soon")]  # fmt: skip
    assert json.loads(done.stdout) == {"records": 6, "repeated": 0, "quarantined": 0, "flaws": 0}
    assert numbers(database) == {"n1": list(range(1, 7))}
    assert "no node process runs" in stopped[0].text
    assert refused == [1, 1]


def test_two_collectors_share_the_messages(state: Path, database: str, team: FleetSettings) -> None:
    write_records(state / "audit.db", 3000)

    async def scenario() -> None:
        async with collecting(team, database), collecting(team, database):
            await forward_all(team)
            await until(lambda: count_records(database) == 3001)

    asyncio.run(scenario())
    assert numbers(database) == {"one": list(range(1, 3002))}


def test_a_database_that_cannot_be_used_is_told_at_once_without_the_password(tmp_path: Path) -> None:
    url = "postgresql://someone:s3cr%40t@127.0.0.1:1/nowhere?sslpassword=hidden"

    with pytest.raises(UsageError) as caught:
        asyncio.run(collect(settings_of("nats://127.0.0.1:1"), url))

    assert "postgresql://someone@127.0.0.1:1/nowhere" in str(caught.value)
    for secret in ("s3cr", "hidden", "40t"):
        assert secret not in str(caught.value)
