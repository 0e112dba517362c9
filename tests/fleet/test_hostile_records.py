"""What a model can write to its own machine, or send as its node: the records of others, and its own, still arrive."""

import asyncio
from pathlib import Path

import pytest
from tests.fleet.nats_servers import a_nats_server
from tests.fleet.records import (
    TEAM,
    a_writer,
    batches_of,
    collected,
    create_stream,
    forwarded,
    forwarding,
    numbers,
    reported,
    rows,
    settings_of,
    write_records,
)
from tests.fleet.test_collected_chain import batch

from interpose.audit.forwarding import Forwarded, read_progress, write_progress
from interpose.audit.postgres.writer import Rejected
from interpose.audit.raw import RawBatch
from interpose.fleet import collect
from interpose.fleet.forward import _messages
from interpose.fleet.messages import unpack
from interpose.handlers.nats_client import connect
from interpose.records import replace


def arrives(made: RawBatch) -> dict[int, str]:
    """What a collector reads of a batch that is forwarded: the bodies of records by their numbers."""
    read = [unpack(TEAM, "one", payload) for _, payload in _messages(TEAM, "one", made, 1024 * 1024)]
    return {one.number: one.body for part in read for one in part.records}


def test_a_huge_description_that_compresses_well_takes_no_record_along() -> None:
    made = replace(batch(1, 9), configurations={"0" * 16: "x" * 5_000_000})

    assert arrives(made) == {one.number: one.body for one in made.records}


def test_a_record_that_is_no_text_goes_without_its_body_and_takes_no_other_along() -> None:
    made = batch(1, 9)
    strange = tuple(replace(one, body="\udcff") if one.number == 4 else one for one in made.records)

    assert arrives(replace(made, records=strange)) == {
        one.number: one.body if one.number != 4 else "" for one in made.records
    }


@pytest.mark.slow
@pytest.mark.parametrize("hash", ["", "none", b"none".hex(), "00" * 32])
def test_progress_that_was_invented_keeps_no_record_from_being_forwarded(
    tmp_path: Path, state: Path, hash: str
) -> None:
    write_records(state / "audit.db", 3)
    [found] = batches_of(state / "audit.db")
    write_progress({found.store: Forwarded(path=str(state / "audit.db"), upto=10**15, hash=hash)}, 10**9)

    async def scenario() -> None:
        with a_nats_server(tmp_path / "nats") as server:
            settings = settings_of(server.url)
            await create_stream(settings)
            async with forwarding(settings) as node:
                await reported(node, lambda: node.report.get("record", {}).get(found.store, {}).get("forwarded") == 4)

    asyncio.run(scenario())
    assert (read_progress() or {})[found.store].upto == 4


@pytest.mark.slow
def test_a_message_that_cannot_be_read_for_any_reason_does_not_stop_the_collector(
    tmp_path: Path, state: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hostile(team: str, node: str, data: bytes) -> RawBatch:
        if node == "evil":
            raise RecursionError
        return unpack(team, node, data)

    monkeypatch.setattr(collect, "unpack", hostile)
    write_records(state / "audit.db", 3)

    async def scenario() -> None:
        with a_nats_server(tmp_path / "nats") as server:
            settings = settings_of(server.url)
            await create_stream(settings)
            client = await connect(settings.nats, name="evil")
            await client.jetstream().publish(f"interpose.{TEAM}.record.evil", b"x")
            await client.close()
            async with forwarding(settings) as node:
                await forwarded(node)
            await collected(settings, database)

    asyncio.run(scenario())
    assert numbers(database) == {"one": [1, 2, 3, 4]}
    assert rows(database, "SELECT reason FROM quarantine") == [("it cannot be read: RecursionError",)]


@pytest.mark.slow
def test_the_quarantine_keeps_so_many_messages_of_a_node_and_counts_the_others(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interpose.audit.postgres.writer._MOST_QUARANTINED", 3)
    writer = a_writer(database)

    def rejected(node: str, number: int) -> Rejected:
        return Rejected(subject=f"interpose.t.record.{node}", reason="no", payload=b"%d" % number)

    written = [writer.write([], [rejected("evil", number)]) for number in range(9)]
    writer.write([], [rejected("good", 1)])

    assert [len(one.quarantined) for one in written] == [1] * 9
    assert rows(database, "SELECT subject, count(*) FROM quarantine GROUP BY 1 ORDER BY 1") == [
        ("interpose.t.record.evil", 3), ("interpose.t.record.good", 1)]  # fmt: skip
    assert rows(database, "SELECT quarantined FROM progress") == [(10,)]
