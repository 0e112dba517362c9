"""``interpose log verify``: what was changed, removed or cut is found, and where."""

import json
import os
import shutil
import sqlite3
import time

import pytest

from interpose import Hooks, deny
from interpose.audit.retention import Retention
from interpose.audit.store import AuditStore
from interpose.audit.verify import verify_store
from interpose.cli.log.verify import verify

KEY = "a key of more than sixteen bytes"


@pytest.fixture
def place(tmp_path):
    (tmp_path / "key").write_text(KEY)
    return tmp_path


def write(path, count=5, **options):
    """Be a process that fires so many events."""
    hooks = Hooks(session_id="s-1")
    hooks.register("PreToolUse", lambda event: deny("no") if event.tool_input.get("n") == 2 else None, name="guard")
    with AuditStore(path, **options) as store:
        hooks.record(store)
        for number in range(count):
            hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"n": number})
        assert store.flush()
    return path


def change(path, *statements):
    base = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        assert base.execute(statement).rowcount != 0, statement
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.close()
    path.with_name(f"{path.name}-sum").unlink(missing_ok=True)  # so that it is the records that give it away


def status(path, key=None, anchor=None):
    return verify(str(path), key=key and str(key), anchor=anchor and str(anchor), json=True)


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
    "swapped records": ("UPDATE records SET seq = CASE seq WHEN 2 THEN -3 ELSE -2 END WHERE seq IN (2, 3)", 2, "out of order"),
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
    assert first.startswith(f"record 4, process 1, number 4, {year}-")
    assert "broken" in last


def test_a_deleted_record_is_found_with_the_numbers_that_are_missing(place):
    path = write(place / "audit.db")
    change(path, *(f"DELETE FROM {table} WHERE {column} IN (2, 3)" for table, column in
                   (("records", "id"), ("bodies", "record"), ("runs", "record"))))  # fmt: skip

    [flaw] = verify_store(str(path)).flaws

    assert (flaw.id, flaw.what) == (4, "the records before it, number 2 to 3, are missing")


def test_a_cut_is_found(place):
    path = write(place / "audit.db")
    change(path, *(f"DELETE FROM {table} WHERE {column} > 3" for table, column in
                   (("records", "id"), ("bodies", "record"), ("runs", "record"))))  # fmt: skip

    [flaw] = verify_store(str(path)).flaws

    assert (flaw.process, flaw.sequence) == (1, 6)
    assert flaw.what == "cut: the records from number 4 to 6 are missing"


OTHERS = {
    "a head": ("UPDATE heads SET seq = seq - 1", "not that of the last"),
    "no head": ("DELETE FROM heads", "no head"),
    "a head of nobody": ("INSERT INTO heads SELECT 7, seq, hash, time, ended, mac FROM heads", "does not exist"),
    "the description of a process": ("UPDATE processes SET about = replace(about, 'pid', 'pod')", "was changed"),
    "the name of a process": ("UPDATE processes SET uuid = 'another'", "was changed"),
    "the store's own name": ("UPDATE meta SET value = 'another' WHERE name = 'store'", "another store"),
    "a checkpoint": ("INSERT INTO checkpoints VALUES (7, 1, x'00')", "a process that does not exist"),
    "a forgotten process": ("INSERT INTO forgotten VALUES (7, 9)", "not those that were recorded"),
    "a head that is none": ("UPDATE heads SET time = 'noon'", "has the wrong type"),
    "a process that says nothing": ("UPDATE processes SET about = '[]'", "was changed"),
    "a table": ("CREATE TABLE more (a)", "tables are not"),
    "a record of nobody": ("UPDATE records SET process = 9 WHERE id = 6", "a process that does not exist"),
}  # fmt: skip


@pytest.mark.parametrize("what", OTHERS)
def test_a_change_beside_the_records_is_found(what, place):
    statement, words = OTHERS[what]
    path = write(place / "audit.db")

    change(path, statement)

    assert any(words in flaw.what for flaw in verify_store(str(path)).flaws), verify_store(str(path)).flaws


def without_process(path, process):
    change(path, f"DELETE FROM bodies WHERE record IN (SELECT id FROM records WHERE process = {process})",
           f"DELETE FROM runs WHERE record IN (SELECT id FROM records WHERE process = {process})",
           f"DELETE FROM records WHERE process = {process}", f"DELETE FROM heads WHERE process = {process}",
           f"DELETE FROM processes WHERE id = {process}")  # fmt: skip


def test_a_process_that_is_gone_as_a_whole_is_found(place):
    path = place / "audit.db"
    for _ in range(3):
        write(path)
    without_process(path, 3)

    [flaw] = verify_store(str(path)).flaws

    assert (flaw.process, flaw.what) == (3, "all records of this process are missing")


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
    monkeypatch.setattr("interpose.audit.checksum.LARGEST", 1000)
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


# With a key.


def test_with_a_key_a_store_is_complete(place):
    path = write(place / "audit.db", key=str(place / "key"))

    assert verify_store(str(path), key=KEY.encode()).verdict == "complete"
    assert status(path, key=place / "key") == 0
    assert "with --key the seal is checked too" in verify_store(str(path)).notes[0]
    assert "only an anchor detects it" in verify_store(str(path), key=KEY.encode()).notes[0]


def test_a_key_can_be_in_the_environment(place, monkeypatch):
    monkeypatch.setenv("AUDIT_KEY", KEY)
    path = write(place / "audit.db", key="env:AUDIT_KEY")

    assert status(path, key="env:AUDIT_KEY") == 0
    assert KEY.encode() not in path.read_bytes()


def test_who_rewrites_all_of_it_without_the_key_is_found_with_the_key_alone(place):
    path = write(place / "audit.db", key=str(place / "key"))
    other = write(place / "other.db", count=2)
    change(path, f"ATTACH '{other}' AS o", *(
        f"DELETE FROM {table}" for table in ("bodies", "records", "runs", "heads", "processes")))  # fmt: skip
    base = sqlite3.connect(path, isolation_level=None)
    base.execute(f"ATTACH '{other}' AS o")
    for table in ("words", "hooks", "meta", "sqlite_sequence"):
        base.execute(f"DELETE FROM {table}")
    for table in ("bodies", "records", "runs", "heads", "processes", "words", "hooks", "meta"):
        base.execute(f"INSERT INTO {table} SELECT * FROM o.{table}")
    base.close()

    assert verify_store(str(path)).verdict == "consistent"
    assert verify_store(str(path), key=KEY.encode()).verdict == "consistent"
    assert "was written without a key" in verify_store(str(path), key=KEY.encode()).notes[0]


def test_a_cut_that_was_covered_up_is_found_with_the_key(place):
    path = write(place / "audit.db", key=str(place / "key"))
    change(path, *(f"DELETE FROM {table} WHERE {column} > 3" for table, column in
                   (("records", "id"), ("bodies", "record"), ("runs", "record"))),
           "UPDATE heads SET (seq, hash) = (SELECT seq, hash FROM records WHERE id = 3)")  # fmt: skip

    assert verify_store(str(path)).verdict == "consistent"
    [flaw] = verify_store(str(path), key=KEY.encode()).flaws
    assert flaw.what == "the seal of the head is not right"


def test_another_key_is_said_to_be_another(place):
    path = write(place / "audit.db", key=str(place / "key"))

    [flaw] = verify_store(str(path), key=b"another key of sixteen bytes").flaws

    assert "another key" in flaw.what


@pytest.mark.parametrize("content", ["", "short"])
def test_a_key_that_is_none_is_refused_before_anything_is_written(content, place, capsys):
    (place / "bad").write_text(content)

    assert status(write(place / "audit.db"), key=place / "bad") == 2
    assert "key" in capsys.readouterr().err
    with pytest.raises(Exception, match="key"):
        AuditStore(place / "new.db", key=str(place / "bad"))


# With an anchor.


def test_with_an_anchor_a_store_is_complete(place):
    path = write(place / "audit.db", anchor=place / "anchor")

    assert verify_store(str(path), anchor=str(place / "anchor")).verdict == "complete"
    assert status(path, anchor=place / "anchor") == 0


def test_a_cut_that_was_covered_up_is_found_with_the_anchor(place):
    path = write(place / "audit.db", anchor=place / "anchor")
    change(path, *(f"DELETE FROM {table} WHERE {column} > 3" for table, column in
                   (("records", "id"), ("bodies", "record"), ("runs", "record"))),
           "UPDATE heads SET (seq, hash) = (SELECT seq, hash FROM records WHERE id = 3)")  # fmt: skip

    assert verify_store(str(path)).verdict == "consistent"
    found = verify_store(str(path), anchor=str(place / "anchor"))
    assert {flaw.what for flaw in found.flaws} == {"is anchored, and missing"}
    assert found.flaws[-1].sequence == 6


def test_a_store_from_a_backup_is_found_with_the_anchor(place):
    path = write(place / "audit.db", anchor=place / "anchor")
    shutil.copy(path, place / "old.db")
    write(path, anchor=place / "anchor")
    shutil.copy(place / "old.db", path)
    path.with_name("audit.db-sum").unlink()

    assert verify_store(str(path)).verdict == "consistent"
    [flaw] = {flaw.what for flaw in verify_store(str(path), anchor=str(place / "anchor")).flaws}
    assert flaw == "all records of this process are missing, which is anchored"


def test_a_process_that_was_taken_out_with_its_number_is_found_with_the_anchor(place):
    path = place / "audit.db"
    for _ in range(2):
        write(path, anchor=place / "anchor")
    without_process(path, 2)
    change(path, "UPDATE sqlite_sequence SET seq = 1")

    assert verify_store(str(path)).verdict == "consistent"
    assert verify_store(str(path), anchor=str(place / "anchor")).verdict == "broken"


def test_a_line_of_the_anchor_that_was_torn_is_noted_and_swallows_no_other(place):
    path, anchor = place / "audit.db", place / "anchor"
    write(path, anchor=anchor)
    with anchor.open("ab") as opened:
        opened.write(b'{"store": "x", "seq')
    write(path, anchor=anchor)

    found = verify_store(str(path), anchor=str(anchor))

    assert (found.verdict, len(found.notes)) == ("complete", 1)
    assert "cannot be read" in found.notes[0]


def test_records_after_the_last_line_of_the_anchor_are_only_consistent(place):
    path = write(place / "audit.db", anchor=place / "anchor")
    write(path)

    found = verify_store(str(path), anchor=str(place / "anchor"))

    assert found.verdict == "consistent"
    assert "not anchored" in found.notes[0]


def test_an_anchor_that_cannot_be_written_is_said_and_costs_no_record(place, caplog):
    (place / "anchor").mkdir()

    path = write(place / "audit.db", anchor=place / "anchor")

    assert verify_store(str(path)).records == 6
    assert any("anchor cannot be written" in record.message for record in caplog.records)


def test_an_anchor_that_is_not_there_cannot_prove_anything(place):
    assert status(write(place / "audit.db"), anchor=place / "nothing") == 2


# Retention.


def test_old_records_go_and_the_rest_is_verifiable(place):
    path, anchor = place / "audit.db", place / "anchor"
    write(path, key=str(place / "key"), anchor=anchor)
    change(path, "UPDATE heads SET time = time")  # an old process that has ended

    write(path, count=3, key=str(place / "key"), anchor=anchor, retention=Retention(age=1e-9))

    found = verify_store(str(path), key=KEY.encode(), anchor=str(anchor))
    assert (found.verdict, found.flaws) == ("complete", ())
    assert (found.gaps[0]["kind"], found.gaps[0]["forgotten"]) == ("retention", [[1, 1]])
    assert found.records < 9


def test_the_size_of_a_store_is_kept_below_its_limit(place):
    path = place / "audit.db"
    hooks = Hooks()
    for _ in range(4):
        with AuditStore(path, retention=Retention(size=1_000_000)) as store:
            hooks.record(store)
            for _ in range(40):
                hooks.fire_sync("PreToolUse", tool_name="Write", tool_input={"content": os.urandom(5000).hex()})

    found = verify_store(str(path))
    assert (found.verdict, found.flaws) == ("consistent", ())
    assert found.gaps
    assert path.stat().st_size < 2_000_000


def test_a_process_whose_first_records_are_gone_goes_on_with_its_chain(place, monkeypatch):
    monkeypatch.setattr("interpose.audit.committer._RETENTION_SECONDS", 0.0)
    monkeypatch.setattr("interpose.audit.retention._AT_ONCE", 3)
    path = place / "audit.db"
    hooks = Hooks()

    with AuditStore(path, key=str(place / "key"), retention=Retention(age=0.05)) as store:
        hooks.record(store)
        for _ in range(8):
            for _ in range(5):
                hooks.fire_sync("Stop")
            assert store.flush()
            assert verify_store(str(path), key=KEY.encode()).flaws == ()
            time.sleep(0.02)  # lets them age

    found = verify_store(str(path), key=KEY.encode())
    assert (found.verdict, found.flaws) == ("complete", ())
    assert found.records < 40


def test_a_beginning_that_somebody_else_deleted_is_found(place):
    path = write(place / "audit.db")
    change(path, "INSERT INTO checkpoints SELECT process, seq, hash FROM records WHERE id = 2",
           *(f"DELETE FROM {table} WHERE {column} < 3" for table, column in
             (("records", "id"), ("bodies", "record"), ("runs", "record"))))  # fmt: skip

    [flaw] = verify_store(str(path)).flaws

    assert flaw.what == "the checkpoints of deleted records are not those that were recorded"


def test_a_record_of_a_gap_that_was_changed_does_not_stop_the_look(place):
    path = write(place / "audit.db")
    change(path, "UPDATE records SET kind = 1 WHERE id = 2", "UPDATE bodies SET body = '[' WHERE record = 2")

    assert [flaw.id for flaw in verify_store(str(path)).flaws] == [2]


def test_text_from_a_store_cannot_drive_a_terminal(place, capsys):
    path = write(place / "audit.db")
    change(path, 'UPDATE processes SET about = \'{"pid": "\x1b[2J", "store": ""}\'', "UPDATE heads SET ended = 0")

    verify(str(path), key=None, anchor=None, json=False)

    assert "\x1b[2J" not in capsys.readouterr().out
