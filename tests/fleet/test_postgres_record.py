"""The record in PostgreSQL: each record once, chains verified, hostile content kept apart, days dropped whole."""

import json
import time
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest
from tests.fleet.postgres_servers import needs_postgres
from tests.fleet.records import TEAM, a_connection, a_writer, arrived, batches_of, numbers, rows, write_records

from interpose.audit import open_store
from interpose.audit.chain import begin, genesis, link
from interpose.audit.postgres.schema import create_tables
from interpose.audit.postgres.verify import store_states, verify_stores
from interpose.audit.postgres.writer import PostgresWriter, Rejected
from interpose.audit.protocol import NotAStore
from interpose.audit.raw import RawBatch, RawProcess, RawRecord
from interpose.audit.verify import verify_store
from interpose.records import replace

pytestmark = [needs_postgres, pytest.mark.slow]


def forged(bodies: list[str], *, store: str = "forged", kind: int = 0) -> RawBatch:
    """A chain whose hashes are right, with any bodies."""
    digest = begin(genesis(store), "u", "{}")
    records = []
    for number, body in enumerate(bodies, 1):
        digest = link(digest, number, 1, kind, 5, 6, body.encode())
        records.append(RawRecord(number, 1, kind, 5, 6, digest, body))
    return RawBatch(store=store, before=genesis(store), records=tuple(records), processes=(RawProcess(1, "u", "{}"),))


def test_batches_in_any_order_and_twice_are_written_once(tmp_path: Path, database: str) -> None:
    write_records(tmp_path / "a.db", 30)
    made = batches_of(tmp_path / "a.db", 7)
    writer = a_writer(database)

    for one in [*reversed(made), *made, *batches_of(tmp_path / "a.db", 5)]:
        writer.write([arrived("one", one)])

    assert numbers(database) == {"one": list(range(1, 32))}
    assert [(found.flaws, found.state.missing, found.state.flaws) for found in verify_stores(database)] == [
        ((), (), ())
    ]


def test_two_collectors_that_write_the_same_records_write_them_once(tmp_path: Path, database: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    write_records(tmp_path / "a.db", 60)
    made = batches_of(tmp_path / "a.db", 5)
    writers = [a_writer(database) for _ in range(3)]

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda writer: [writer.write([arrived("one", one)]) for one in made], writers))

    assert numbers(database) == {"one": list(range(1, 62))}
    assert rows(database, "SELECT count(*), count(DISTINCT id), max(id) FROM records") == [(61, 61, 61)]


def test_records_that_come_again_on_another_day_are_not_written_twice(tmp_path: Path, database: str) -> None:
    write_records(tmp_path / "a.db", 5)
    [one] = batches_of(tmp_path / "a.db")
    now = time.time()

    a_writer(database, lambda: now).write([arrived("one", one)])
    done = a_writer(database, lambda: now + 2 * 86_400).write([arrived("one", one)])

    assert (done.records, done.repeated) == (0, 6)
    assert numbers(database) == {"one": list(range(1, 7))}


def test_a_fork_is_reported_and_the_first_record_stays(tmp_path: Path, database: str) -> None:
    first, second = forged(['{"event":"a"}'] * 3), forged(['{"event":"a"}', '{"event":"b"}', '{"event":"b"}'])
    writer = a_writer(database)
    writer.write([arrived("one", first)])

    done = writer.write([arrived("one", second)])

    assert [(node, flaw.number) for node, _, flaw in done.flaws] == [("one", 2), ("one", 3)]
    assert "fork" in done.flaws[0][2].what
    assert rows(database, "SELECT body FROM records ORDER BY number") == [('{"event":"a"}',)] * 3
    assert "fork" in rows(database, "SELECT reason FROM quarantine")[0][0]


def test_a_fork_within_one_transaction_is_reported(database: str) -> None:
    first, second = forged(['{"event":"a"}'] * 3), forged(['{"event":"b"}'] * 3)

    done = a_writer(database).write([arrived("one", first), arrived("one", second)])

    assert {flaw.number for _, _, flaw in done.flaws} == {1, 2, 3}
    assert done.records == 3


def test_a_node_adds_to_its_own_chain_only(database: str) -> None:
    batch = forged(['{"event":"a"}'] * 3)
    writer = a_writer(database)

    writer.write([arrived("one", batch), arrived("two", batch)])
    writer.write([arrived("one", replace(batch, store="second", before=genesis("second")))])

    found = {(one.node, one.store): (one.last, bool(one.flaws)) for one in store_states(a_connection(database))}
    assert found == {("one", "forged"): (3, False), ("two", "forged"): (3, False), ("one", "second"): (3, True)}


def test_bodies_that_postgresql_cannot_index_or_read_are_kept_as_they_came(database: str) -> None:
    long, wide = "x" * 100_000, "".join(chr(0x1F300 + number * 7 % 5000) for number in range(4000))
    bodies = [
        json.dumps({"event": "a\0b", "subject": "\0", "input": {"session_id": long, "agent_id": "a\0"}}),
        json.dumps({"event": long, "runs": [{"hook": long, "us": 10**40}], "us": 1e300}),
        json.dumps({"event": "\ud800", "us": float("1e400")}),
        json.dumps({"event": wide, "input": {"session_id": wide}, "runs": [{"hook": wide[::-1]}]}),
        json.dumps({"event": 5, "runs": "nonsense"}),
        "[1, 2]", "not JSON", "", "[" * 50_000, '{"us": ' + "9" * 5000 + "}",
        json.dumps({"event": "e", "runs": [{"hook": f"h{n}"} for n in range(3000)]}),
    ]  # fmt: skip
    batch = forged(bodies)

    done = a_writer(database).write([arrived("one", batch)])

    assert done.records == len(bodies)
    assert [body for (body,) in rows(database, "SELECT body FROM records ORDER BY number")] == bodies
    with open_store(database) as reader:
        assert len(list(reader.entries())) == len(bodies)
        assert reader.recent_sessions()
        assert reader.sessions()
        assert reader.hook_stats()
    assert {flaw.number for _, _, flaw in done.flaws} >= {5, 6, 7, 9, 10}


def test_permissions_questions_and_answers_of_any_shape_are_kept(database: str) -> None:
    writer = a_writer(database)
    for kind in (5, 8, 9, 10, 99):
        bodies = [
            '{"question": 5}',
            '{"tool_use_id": "' + "c" * 9000 + '"}',
            '{"asked_at": 1e999}',
            '{"wait": []}',
            "7",
        ]
        writer.write([arrived("one", forged(bodies, store=f"kind-{kind}", kind=kind))])

    assert rows(database, "SELECT count(*) FROM records") == [(25,)]
    with open_store(database) as reader:
        assert reader.questions(answered=True) is not None
        assert reader.changes(limit=-1) is not None


def test_an_answer_of_one_node_does_not_answer_the_question_of_another(database: str) -> None:
    question = json.dumps({"tool_name": "Bash", "asked_at": 1.0, "wait": 5.0})
    writer = a_writer(database)
    writer.write([arrived("one", forged([question], store="q", kind=8))])
    [(name,)] = rows(database, "SELECT id FROM questions")

    writer.write([arrived("two", forged([json.dumps({"question": name, "state": "approved"})], store="q", kind=9))])

    assert rows(database, "SELECT answer FROM questions") == [(None,)]


def test_a_message_that_was_rejected_is_kept_once_with_its_reason(database: str) -> None:
    rejected = Rejected(subject="interpose.t.record.one", reason="it is no\0t JSON", payload=b"\0" * 2_000_000)
    writer = a_writer(database)

    for _ in range(2):
        writer.write([], [rejected])

    assert rows(database, "SELECT subject, reason, size, length(payload), digest FROM quarantine") == [
        ("interpose.t.record.one", "it is no\ufffdt JSON", 2_000_000, 1024 * 1024, sha256(b"\0" * 2_000_000).digest())
    ]


def test_a_store_with_too_many_gaps_is_put_aside(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpose.audit.postgres.writer._MOST_STRETCHES", 3)
    batch = forged(['{"event":"a"}'] * 20)
    writer = a_writer(database)

    for number in range(0, 20, 2):
        writer.write([arrived("one", replace(batch, records=batch.records[number : number + 1]))])

    assert numbers(database) == {"one": [1, 3, 5]}
    assert rows(database, "SELECT DISTINCT reason FROM quarantine") == [("its store has 3 gaps already",)]


def test_a_node_with_too_many_stores_is_put_aside(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpose.audit.postgres.writer._MOST_STORES", 2)
    writer = a_writer(database)

    for number in range(4):
        writer.write([arrived("one", forged(["{}"], store=f"s{number}"))])

    assert rows(database, "SELECT count(*) FROM stores") == [(2,)]
    assert rows(database, "SELECT reason FROM quarantine")[0][0] == "its node has 2 stores already"


def test_a_description_of_a_configuration_counts_only_under_its_own_digest(database: str) -> None:
    body = '{"files": []}'
    right = sha256(body.encode()).hexdigest()[:16]

    a_writer(database).write([arrived("one", replace(forged(["{}"]), configurations={right: body, "0" * 16: body}))])

    with open_store(database) as reader:
        assert reader.configuration(right) == {"files": []}
        assert reader.configuration("0" * 16) is None


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ('UPDATE records SET body = \'{"event":"b"}\' WHERE number = 5', "was changed"),
        ("UPDATE records SET decision = 3 WHERE number = 5", "columns"),
        ("DELETE FROM records WHERE number = 5", "not here"),
        ("DELETE FROM records WHERE number > 5", "not here"),
        ("UPDATE records SET number = number + 100 WHERE number = 12", "not here"),
        ("UPDATE stretches SET hash = '\\x00'", "not the last record"),
        ("UPDATE processes SET about = '[]'", "was changed"),
    ],
)
def test_verification_finds_what_was_changed_in_the_database(
    tmp_path: Path, database: str, change: str, what: str
) -> None:
    write_records(tmp_path / "a.db", 11)
    a_writer(database).write([arrived("one", one) for one in batches_of(tmp_path / "a.db")])
    assert verify_store(database).verdict == "consistent"

    with psycopg.connect(database, options="-c search_path=interpose") as connection:
        connection.execute(change)

    found = verify_store(database)
    assert found.verdict == "broken"
    assert any(what in flaw.what and "node one" in flaw.what for flaw in found.flaws)


def test_old_days_are_dropped_whole_written_down_and_the_rest_still_verifies(tmp_path: Path, database: str) -> None:
    now = [time.time() - 10 * 86_400]
    writer = a_writer(database, lambda: now[0])
    for _ in range(3):
        write_records(tmp_path / "a.db", 4)
        last = rows(database, "SELECT coalesce(max(last), 0) FROM stretches")[0][0]
        writer.write([arrived("one", one) for one in batches_of(tmp_path / "a.db", after=last)])
        now[0] += 5 * 86_400

    dropped = PostgresWriter(a_connection(database)).drop_before(7)

    assert [one.records for one in dropped] == [5]
    assert rows(database, "SELECT store, first, last FROM dropped") == [(1, 1, 5)]
    assert numbers(database) == {"one": list(range(6, 16))}
    assert verify_store(database).verdict == "consistent"
    again = a_writer(database).write([arrived("one", one) for one in batches_of(tmp_path / "a.db")])
    assert (again.records, again.flaws) == (0, [])


def test_a_database_of_another_team_is_refused(database: str) -> None:
    create_tables(a_connection(database), "s", TEAM)

    with pytest.raises(NotAStore, match="team 't'"):
        create_tables(a_connection(database), "s", "others")
