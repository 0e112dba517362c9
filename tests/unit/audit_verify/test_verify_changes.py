"""``interpose log verify``: what was changed, removed or cut is found, and where."""

import json
import os
import time

import pytest
from tests.unit.audit_verify.stores import (
    change,
    status,
    without_process,
    write,
)

from interpose import Hooks
from interpose.audit.store import AuditStore
from interpose.audit.verify import verify_store
from interpose.cli.log.verify import verify


def test_a_store_as_it_was_written_is_consistent_and_its_status_is_0(place, capsys):
    path = write(place / "audit.db")

    assert verify(str(path), key=None, anchor=None, json=False) == 0
    assert "consistent" in capsys.readouterr().out
    assert verify_store(str(path)).verdict == "consistent"


def test_one_document_for_programs(place, capsys):
    assert status(write(place / "audit.db")) == 0

    said = json.loads(capsys.readouterr().out)
    assert (said["ok"], said["verdict"], said["records"], said["processes"]) == (True, "consistent", 6, 1)
    assert (said["problems"], said["gaps"], said["notes"]) == ([], [], [])


def test_no_store_is_status_2(place, capsys):
    (place / "text").write_text("no store")

    assert [status(place / "text"), status(place / "nothing"), status(place)] == [2, 2, 2]
    assert "audit store" in capsys.readouterr().err


TAMPERING = {
    "a body": ("UPDATE bodies SET body = replace(body, '\"n\":3', '\"n\":4') WHERE record = 4", 4, "was changed"),
    "the hash of a record": ("UPDATE records SET hash = zeroblob(32) WHERE id = 3", 3, "was changed"),
    "the time of a record": ("UPDATE records SET time = time + 1 WHERE id = 2", 2, "was changed"),
    "the monotonic time": ("UPDATE records SET mono = mono + 1 WHERE id = 2", 2, "was changed"),
    "the kind of a record": ("UPDATE records SET kind = 1 WHERE id = 2", 2, "was changed"),
    "the decision in a list": ("UPDATE records SET decision = 0 WHERE id = 3", 3, "columns"),
    "the subject in a list": ("UPDATE records SET subject = 'Read' WHERE id = 3", 3, "columns"),
    "the time that hooks took": ("UPDATE records SET took = 0, subject = '' WHERE id = 1", 1, "columns"),
    "the fate of a hook": ("UPDATE runs SET what = what + 1 WHERE record = 3", 3, "columns"),
    "the name of a hook": ("UPDATE hooks SET name = 'other'", 1, "columns"),
    "a word": ("UPDATE words SET word = 'PostToolUse' WHERE word = 'PreToolUse'", 1, "columns"),
    "a run of a hook": ("DELETE FROM runs WHERE record = 2", 2, "columns"),
    "one more run": ("INSERT INTO runs SELECT hook, record, 7, what, took, session FROM runs WHERE record = 2", 2, "columns"),
    "a run of nothing": ("INSERT INTO runs SELECT hook, 99, 0, what, took, session FROM runs WHERE record = 2", 99, "without"),
    "a body without a record": ("INSERT INTO bodies VALUES (99, '{}')", 99, "without its record"),
    "a missing body": ("DELETE FROM bodies WHERE record = 2", 2, "missing"),
    "no text any more": ("UPDATE bodies SET body = CAST(x'ff' AS TEXT) || substr(body, 2) WHERE record = 2", 2, "was changed"),
    "a time that is none": ("UPDATE records SET time = 'noon' WHERE id = 2", 2, "cannot be read"),
    "a hash that is none": ("UPDATE records SET hash = 'x' WHERE id = 2", 2, "was changed"),
    "a record of another process": ("UPDATE records SET process = 2 WHERE id = 2", 2, "does not exist"),
}  # fmt: skip


@pytest.mark.parametrize("what", TAMPERING)
def test_a_change_is_found_at_its_record(what, place):
    statement, number, words = TAMPERING[what]
    path = write(place / "audit.db")

    change(path, statement)

    found = verify_store(str(path))
    assert found.verdict == "broken"
    assert (found.flaws[0].id, words in found.flaws[0].what) == (number, True)
    assert status(path) == 1


def test_it_says_where(place, capsys):
    path = write(place / "audit.db")
    change(path, TAMPERING["a body"][0])

    verify(str(path), key=None, anchor=None, json=False)

    year = time.strftime("%Y")
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"record 4, process 1, {year}-")
    assert "broken" in last


def test_a_deleted_record_is_found_with_the_numbers_that_are_missing(place):
    path = write(place / "audit.db")
    change(path, *(f"DELETE FROM {table} WHERE {column} IN (2, 3)" for table, column in
                   (("records", "id"), ("bodies", "record"), ("runs", "record"))))  # fmt: skip

    [flaw] = verify_store(str(path)).flaws

    assert (flaw.id, flaw.what) == (4, "the records before it are missing: 2 to 3 are not in the store")


def test_a_cut_is_found(place):
    path = write(place / "audit.db")
    change(path, *(f"DELETE FROM {table} WHERE {column} > 3" for table, column in
                   (("records", "id"), ("bodies", "record"), ("runs", "record"))))  # fmt: skip

    first, second = verify_store(str(path)).flaws

    assert (first.id, first.what) == (6, "cut: the records from 4 to 6 are missing")
    assert (second.process, second.what) == (1, "its last record is 3, and 6 is listed")


OTHERS = {
    "the number of the head": ("UPDATE head SET record = record - 1", "not that of the last"),
    "the hash of the head": ("UPDATE head SET hash = zeroblob(32)", "not that of the last"),
    "no head": ("DELETE FROM head", "no head"),
    "the description of a process": ("UPDATE processes SET about = replace(about, 'pid', 'pod')", "was changed"),
    "the name of a process": ("UPDATE processes SET uuid = 'another'", "was changed"),
    "the last record of a process": ("UPDATE processes SET last = 4", "its last record is 6, and 4 is listed"),
    "a process of no record": ("INSERT INTO processes VALUES (9, 9, 'u', '{}')", "all records of this process are missing"),
    "the store's own name": ("UPDATE meta SET value = 'another' WHERE name = 'store'", "another store"),
    "a head that is none": ("UPDATE head SET record = 'last'", "has the wrong type"),
    "a process that says nothing": ("UPDATE processes SET about = '[]'", "was changed"),
    "a table": ("CREATE TABLE more (a)", "tables are not"),
    "a record of no process": ("UPDATE records SET process = 9 WHERE id = 6", "a process that does not exist"),
    "a permission of no record": ("INSERT INTO permissions VALUES (99, 'call')", "a permission without its record"),
}  # fmt: skip


@pytest.mark.parametrize("what", OTHERS)
def test_a_change_beside_the_records_is_found(what, place):
    statement, words = OTHERS[what]
    path = write(place / "audit.db")

    change(path, statement)

    assert any(words in flaw.what for flaw in verify_store(str(path)).flaws), verify_store(str(path)).flaws


def test_a_process_that_is_gone_as_a_whole_is_found(place):
    path = place / "audit.db"
    for _ in range(3):
        write(path)
    without_process(path, 7)

    [flaw] = verify_store(str(path)).flaws

    assert (flaw.id, flaw.what) == (13, "the records before it are missing: 7 to 12 are not in the store")


def test_every_byte_of_what_was_recorded_counts(place):
    path = write(place / "audit.db")
    data = path.read_bytes()
    at = data.index(b'"n":3')

    path.write_bytes(data[: at + 4] + b"9" + data[at + 5 :])

    assert [flaw.id for flaw in verify_store(str(path)).flaws] == [None, 4]


def test_of_a_small_store_that_was_closed_every_byte_of_the_file_counts(place):
    path = write(place / "audit.db")
    data = bytearray(path.read_bytes())
    unused = data.index(bytes(500)) + 250
    data[unused] = 1

    path.write_bytes(data)

    assert [flaw.what for flaw in verify_store(str(path)).flaws] == [
        "the file was changed since the last process closed it"
    ]


def test_a_store_that_is_open_or_large_has_no_sum(place, monkeypatch):
    path = write(place / "audit.db")
    with AuditStore(path) as one:
        hooks = Hooks()
        hooks.record(one)
        hooks.fire_sync("Stop")
        assert one.flush()
        while_open = (path.with_name("audit.db-sum").exists(), status(path))
    monkeypatch.setattr("interpose.audit.sqlite.checksum.LARGEST", 1000)
    write(path)

    assert while_open == (False, 0)
    assert not path.with_name("audit.db-sum").exists()
    assert status(path) == 0


@pytest.mark.parametrize("at", [0, 20, 70, 100, 2 * 4096], ids=lambda at: f"byte {at}")
def test_a_changed_byte_of_the_database_itself_is_found(at, place):
    path = write(place / "audit.db")
    data = bytearray(path.read_bytes())
    data[at] ^= 0x55
    path.with_name("audit.db-sum").unlink()

    path.write_bytes(data)

    assert status(path) == 1


def test_a_file_that_was_cut_off_is_broken(place):
    path = write(place / "audit.db", count=200)
    os.truncate(path, path.stat().st_size // 2)

    assert status(path) == 1
