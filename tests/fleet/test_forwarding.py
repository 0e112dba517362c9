"""The forwarder: what the servers have not acknowledged stays, is sent again, and its state has a name."""

import asyncio
import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.faults.hosts import eventually
from tests.fleet.nats_servers import a_nats_server
from tests.fleet.records import (
    TEAM,
    a_team,
    batches_of,
    create_stream,
    forward_all,
    forwarded,
    forwarded_upto,
    forwarding,
    reported,
    settings_of,
    write_records,
)

from interpose import AuditStore
from interpose.audit.forwarding import Forwarded, held_records, read_progress, write_progress
from interpose.audit.verify import verify_store
from interpose.config.fleet import FleetSettings
from interpose.fleet.diagnosis import check_fleet
from interpose.fleet.messages import unpack
from interpose.fleet.node import Node
from interpose.handlers.nats_client import connect

pytestmark = pytest.mark.slow


async def stream(settings: FleetSettings) -> list[tuple[int, int]]:
    """The records in the stream: the first and the last of each message."""
    client = await connect(settings.nats, name="test")
    context = client.jetstream()
    info = await context.stream_info(f"INTERPOSE_{TEAM}_RECORD")
    found = []
    for number in range(1, info.state.last_seq + 1):
        message = await context.get_msg(info.config.name or "", number)
        batch = unpack(TEAM, settings.node, message.data or b"")
        found.append((batch.records[0].number, batch.records[-1].number))
    await client.close()
    return found


def in_state(node: Node, name: str) -> Any:
    return lambda: any(one["state"] == name for one in node.report.get("record", {}).values())


def test_progress_is_kept_so_that_a_second_run_goes_on_behind_it(state: Path, team: FleetSettings) -> None:
    write_records(state / "audit.db", 600)

    async def scenario() -> None:
        await forward_all(team)
        write_records(state / "audit.db", 5)
        async with forwarding(team) as node:
            await forwarded_upto(node, 607)
        assert await stream(team) == [(1, 250), (251, 500), (501, 601), (602, 607)]

    asyncio.run(scenario())
    [progress] = (read_progress() or {}).values()
    assert (progress.path, progress.upto) == (str(state / "audit.db"), 607)


def test_progress_that_was_lost_has_records_sent_again_and_the_server_drops_them(
    state: Path, team: FleetSettings
) -> None:
    write_records(state / "audit.db", 10)

    async def scenario() -> None:
        for content in (b"", b"{", b"[]", b'{"stores": {"x": 5}}'):
            await forward_all(team)
            (state / "fleet" / "forwarded.json").write_bytes(content)
        assert await stream(team) == [(1, 11)]

    asyncio.run(scenario())


def test_a_stream_that_is_full_is_a_state_and_forwarding_goes_on_when_there_is_room(
    tmp_path: Path, state: Path
) -> None:
    write_records(state / "audit.db", 3000, command=os.urandom(300).hex())

    async def scenario() -> None:
        async with forwarding(team) as node:
            found = await reported(node, in_state(node, "full"))
            assert "collector" in next(iter(found.values()))["text"]
            assert node.report["problems"]["record"].startswith("full: ")
            assert any(check.state == "warning" and "full" in check.text for check in check_fleet())
            context = node.client.jetstream()
            info = await context.stream_info(f"INTERPOSE_{TEAM}_RECORD")
            await context.update_stream(replace_limit(info.config))
            await forwarded(node)
            assert "record" not in node.report["problems"]

    with a_team(tmp_path, record_bytes=40_000) as (_, team):
        asyncio.run(scenario())


def states(node: Node) -> list[tuple[str, int]]:
    return sorted((one["state"], one["forwarded"]) for one in node.report["record"].values())


def remove_store(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def replace_limit(config: Any) -> Any:
    return config.evolve(max_bytes=-1)


def test_a_missing_stream_and_a_server_that_is_away_are_states(tmp_path: Path, state: Path) -> None:
    write_records(state / "audit.db", 3)

    async def scenario() -> None:
        with a_nats_server(tmp_path / "nats") as server:
            settings = settings_of(server.url)
            async with forwarding(settings) as node:
                await reported(node, in_state(node, "refused"))
                await create_stream(settings)
                await forwarded(node)
                server.kill(signal.SIGKILL)
                write_records(state / "audit.db", 3)
                await reported(node, in_state(node, "offline"))
                server.start()
                await forwarded_upto(node, 8)

    asyncio.run(scenario())


def test_a_store_that_is_replaced_and_the_new_one_are_both_forwarded(state: Path, team: FleetSettings) -> None:
    path = state / "audit.db"
    write_records(path, 3)

    async def scenario() -> None:
        async with forwarding(team) as node:
            await forwarded(node)
            remove_store(path)
            write_records(path, 5)
            await reported(node, lambda: states(node) == [("current", 6), ("replaced", 4)])

    asyncio.run(scenario())


def test_an_older_copy_of_a_store_is_sent_again_so_that_the_collector_sees_the_fork(
    tmp_path: Path, state: Path, team: FleetSettings
) -> None:
    path = state / "audit.db"
    write_records(path, 3)
    shutil.copy(path, tmp_path / "copy.db")
    write_records(path, 3, session="first")

    async def scenario() -> None:
        await forward_all(team)
        shutil.copy(tmp_path / "copy.db", path)
        write_records(path, 9, session="second")
        async with forwarding(team) as node:
            found = await forwarded_upto(node, 14)
        assert next(iter(found.values()))["changed"] > 0
        assert await stream(team) == [(1, 8), (1, 14)]
        assert any("another record" in check.text for check in check_fleet())

    asyncio.run(scenario())


def test_progress_that_was_forged_hides_no_record(state: Path, team: FleetSettings) -> None:
    write_records(state / "audit.db", 9)
    store = batches_of(state / "audit.db")[0].store
    write_progress({store: Forwarded(path=str(state / "audit.db"), upto=10**9)}, 1_000_000_000)

    async def scenario() -> None:
        async with forwarding(team) as node:
            await reported(
                node, lambda: in_state(node, "current")() and node.report["record"][store].get("changed", 0) > 0
            )
        assert await stream(team) == [(1, 10)]

    asyncio.run(scenario())


def test_a_store_that_is_still_being_made_is_found_later(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from interpose.fleet.outboxes import Outboxes

    path = tmp_path / "new.db"
    path.touch()
    outboxes = Outboxes([str(path)], 1_000_000_000)
    outboxes.look()
    assert outboxes.stores == {}

    write_records(path, 1)
    outboxes.look()

    assert [one.path for one in outboxes.stores.values()] == [str(path)]


def test_a_file_that_is_no_store_or_a_damaged_one_does_not_stop_the_others(
    tmp_path: Path, state: Path, team: FleetSettings
) -> None:
    for name in ("damaged.db", "fine.db"):
        write_records(tmp_path / name, 3)
    data = bytearray((tmp_path / "damaged.db").read_bytes())
    data[4096:] = b"x" * len(data[4096:])
    (tmp_path / "damaged.db").write_bytes(data)
    state.mkdir(parents=True, exist_ok=True)
    (state / "audit.db").write_text("not a store")

    async def scenario() -> None:
        async with forwarding(team) as node:
            await forwarded_upto(node, 4)
        assert await stream(team) == [(1, 4)]

    asyncio.run(scenario())


def test_a_record_that_the_server_does_not_accept_is_sent_without_its_body(tmp_path: Path, state: Path) -> None:
    import random

    noise = "".join(random.Random(1).choices([chr(one) for one in range(35, 91)], k=60_000))
    write_records(state / "audit.db", 2)
    write_records(state / "audit.db", 1, command=noise)
    write_records(state / "audit.db", 2)

    async def scenario() -> None:
        await forward_all(team)
        numbers = await stream(team)
        assert [number for first, last in numbers for number in range(first, last + 1)] == list(range(1, 9))

    with a_team(tmp_path, "max_payload: 32768") as (_, team):
        asyncio.run(scenario())


def test_a_state_directory_that_cannot_be_written_is_told_and_records_are_forwarded(
    state: Path, monkeypatch: pytest.MonkeyPatch, team: FleetSettings
) -> None:
    write_records(state / "audit.db", 3)

    def refuse(*_: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("interpose.fleet.outboxes.write_progress", refuse)

    async def scenario() -> None:
        async with forwarding(team) as node:
            await forwarded(node)
            assert "Read-only file system" in node.report["problems"]["record"]

    asyncio.run(scenario())


# Retention.


def prune(path: Path, retention: dict[str, str]) -> None:
    """Write one more record with a retention that is due for all before it."""
    last = batches_of(path)[-1].records[-1].time / 1e9
    assert eventually(lambda: time.time() - last > 0.2)
    store = AuditStore(path, retention=retention)
    store.record_change({"what": "something"}).block()
    store.close()


def first_record(path: Path) -> int:
    return batches_of(path)[0].records[0].number


def test_retention_keeps_what_was_not_forwarded_while_there_is_a_fleet(state: Path) -> None:
    path = state / "audit.db"
    write_records(path, 20)
    store = batches_of(path)[0].store
    write_progress({store: Forwarded(path=str(path), upto=12)}, 1_000_000_000)

    prune(path, {"age": "0.001m"})

    assert first_record(path) == 13
    assert verify_store(str(path)).flaws == ()


def test_retention_keeps_everything_of_a_store_that_the_node_has_not_seen(state: Path) -> None:
    path = state / "audit.db"
    write_records(path, 20)
    write_progress({}, 1_000_000_000)

    prune(path, {"age": "0.001m"})

    assert first_record(path) == 1


def test_without_a_fleet_retention_deletes_as_before(state: Path) -> None:
    path = state / "audit.db"
    write_records(path, 20)

    prune(path, {"age": "0.001m"})

    assert held_records("any") is None
    assert first_record(path) > 20


def test_the_limit_of_the_outbox_beats_forwarding_and_the_gap_is_recorded_and_reported(
    tmp_path: Path, state: Path
) -> None:
    path = state / "audit.db"
    write_records(path, 3000, command="x" * 400)
    store = batches_of(path)[0].store

    async def scenario() -> None:
        write_progress({store: Forwarded(path=str(path), upto=10)}, 1_000_000)
        prune(path, {"age": "0.001m"})
        first = first_record(path)
        assert first > 12
        async with forwarding(team) as node:
            found = await forwarded_upto(node, 3000)
            assert found[store]["gaps"] == [[11, first - 1]]
        assert any("deleted before they were forwarded" in check.text for check in check_fleet())

    with a_team(tmp_path, outbox=1_000_000) as (_, team):
        asyncio.run(scenario())
    notes = [json.loads(one.body) for batch in batches_of(path) for one in batch.records if one.kind == 2]
    assert sum(note["unforwarded"] for note in notes) == notes[-1]["upto"] - 10
    assert verify_store(str(path)).flaws == ()


def test_the_settings_of_a_fleet_have_a_limit_of_the_outbox() -> None:
    from interpose.config.fleet import read_fleet

    wrong: list[str] = []
    given = {"servers": "nats://h:4222", "team": "t"}

    made = [read_fleet({**given, "outbox": size}, "", lambda *said: wrong.append(said[0]), "") for size in
            ("3GB", "30d", 5, "1KB")]  # fmt: skip

    assert [one.outbox if one is not None else None for one in made] == [3_000_000_000, None, None, None]
    assert wrong == ["fleet.outbox"] * 3
