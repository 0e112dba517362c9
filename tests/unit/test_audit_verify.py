"""``interpose log verify``: what was changed, removed or cut is found, and where."""

import json
import os
import re
import shutil
import sqlite3
import time
from hashlib import sha256

import pytest

from interpose import Hooks, deny
from interpose.audit import open_store
from interpose.audit.chain import begin, genesis, link
from interpose.audit.entries import Entry
from interpose.audit.protocol import NotAStore, StoreOptions
from interpose.audit.retention import Retention
from interpose.audit.sqlite.committer import Committer
from interpose.audit.store import AuditStore
from interpose.audit.verify import verify_store
from interpose.cli.log.verify import verify

KEY = "a key of more than sixteen bytes"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
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


def without_process(path, process):
    """Remove a process, and whatever says that it was there."""
    change(path, f"DELETE FROM bodies WHERE record IN (SELECT id FROM records WHERE process = {process})",
           f"DELETE FROM runs WHERE record IN (SELECT id FROM records WHERE process = {process})",
           f"DELETE FROM records WHERE process = {process}", f"DELETE FROM processes WHERE id = {process}",
           "UPDATE head SET (record, hash) = (SELECT id, hash FROM records ORDER BY id DESC LIMIT 1)")  # fmt: skip


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


# With a key.


def test_with_a_key_a_store_is_complete(place):
    path = write(place / "audit.db", key=str(place / "key"))

    assert verify_store(str(path), key=KEY.encode()).verdict == "complete"
    assert status(path, key=place / "key") == 0
    assert "none was given: the seals were not checked" in verify_store(str(path)).notes[0]
    assert "only an anchor detects it" in verify_store(str(path), key=KEY.encode()).notes[0]


def test_a_key_can_be_in_the_environment(place, monkeypatch):
    monkeypatch.setenv("AUDIT_KEY", KEY)
    path = write(place / "audit.db", key="env:AUDIT_KEY")

    assert status(path, key="env:AUDIT_KEY") == 0
    assert KEY.encode() not in path.read_bytes()


def rechained(path):
    """Compute every hash again, as an attacker without the key can, and make the head that of the last record."""
    base = sqlite3.connect(path, isolation_level=None)
    store = base.execute("SELECT value FROM meta WHERE name = 'store'").fetchone()[0]
    digest = genesis(store)
    rows = base.execute(
        "SELECT r.id, r.process, r.kind, r.time, r.mono, b.body, p.uuid, p.about FROM records r JOIN bodies b "
        "ON b.record = r.id LEFT JOIN processes p ON p.id = r.id ORDER BY r.id"
    ).fetchall()
    for number, process, kind, at, mono, body, uuid, about in rows:
        before = digest if uuid is None else begin(digest, uuid, about)
        digest = link(before, number, process, kind, at, mono, body.encode())
        base.execute("UPDATE records SET hash = ? WHERE id = ?", (digest, number))
    base.execute("UPDATE head SET record = ?, hash = ?", (rows[-1][0], digest))
    base.execute("UPDATE processes SET last = (SELECT max(id) FROM records WHERE process = processes.id)")
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.close()
    path.with_name(f"{path.name}-sum").unlink(missing_ok=True)


def cut_after(path, last):
    change(path, *(f"DELETE FROM {table} WHERE {column} > {last}" for table, column in
                   (("records", "id"), ("bodies", "record"), ("runs", "record"))),
           f"UPDATE head SET (record, hash) = (SELECT id, hash FROM records WHERE id = {last})",
           f"UPDATE processes SET last = min(last, {last})")  # fmt: skip


def said(path, key=None, anchor=None):
    """What is wrong with a store, as texts."""
    found = verify_store(str(path), key=key, anchor=anchor and str(anchor))
    return [flaw.what for flaw in found.flaws]


SEALED = KEY.encode()


def test_a_store_that_is_written_again_without_the_key_is_broken(place):
    path = write(place / "audit.db", key=str(place / "key"))
    path.unlink()
    write(path, count=2)

    assert said(path, SEALED)[0] == "this process wrote without a key"
    assert "the head has no seal" in said(path, SEALED)
    assert status(path, key=place / "key") == 1


def test_a_record_that_is_changed_with_all_hashes_after_it_is_found_with_the_key(place):
    path = write(place / "audit.db", key=str(place / "key"))
    change(path, "UPDATE bodies SET body = replace(body, '\"n\":3', '\"n\":4') WHERE record = 4")
    rechained(path)

    assert said(path) == []
    assert said(path, SEALED) == ["the seal of the head is not right"]


def test_a_cut_that_was_covered_up_is_found_with_the_key(place):
    path = write(place / "audit.db", key=str(place / "key"))
    cut_after(path, 3)

    assert verify_store(str(path)).verdict == "consistent"
    assert said(path, SEALED) == ["the seal of the head is not right"]


def test_the_last_process_that_is_gone_with_everything_that_names_it_is_found_with_the_key(place):
    path = place / "audit.db"
    for _ in range(2):
        write(path, key=str(place / "key"))
    without_process(path, 7)

    assert said(path) == []
    assert said(path, SEALED) == ["the seal of the head is not right"]


def test_a_process_without_the_key_is_found(place):
    path = write(place / "audit.db", key=str(place / "key"))
    write(path)

    assert said(path, SEALED) == ["this process wrote without a key", "the head has no seal"]
    assert said(path) == ["this process wrote without a key, and others with one"]


def test_a_process_with_the_key_does_not_seal_what_another_wrote_without_it(place):
    path = write(place / "audit.db", key=str(place / "key"))
    write(path)
    forged = "UPDATE processes SET about = replace(about, '\"key\": \"\"', (SELECT '\"key\": \"' || json_extract(about, '$.key') || '\"' FROM processes WHERE id = 1)) WHERE id = 7"
    change(path, forged)
    rechained(path)
    assert said(path, SEALED) == ["the head has no seal"]

    write(path, key=str(place / "key"))

    [flaw] = verify_store(str(path), key=SEALED).flaws
    assert flaw.what == "when it was written, the records before it were not sealed with the key"
    assert flaw.id == 13


def test_the_record_that_says_so_cannot_be_given_another_kind_by_a_fraction(place):
    path = write(place / "audit.db", key=str(place / "key"))
    change(path, "UPDATE records SET time = time + 1")
    rechained(path)
    write(path, key=str(place / "key"))

    change(path, "UPDATE records SET kind = 6.5 WHERE kind = 6")

    assert said(path, SEALED) == ["was changed, or the one before it"]


@pytest.mark.parametrize("column", ["kind", "time", "mono"])
def test_a_fraction_in_a_column_of_integers_is_found(column, place):
    path = write(place / "audit.db")
    change(path, "UPDATE records SET mono = 7, time = 7")
    rechained(path)
    assert said(path) == []

    change(path, f"UPDATE records SET {column} = {column} + 0.5 WHERE id = 6")

    assert said(path)[0] == "was changed, or the one before it"


def test_a_text_that_is_not_utf_8_is_not_the_one_that_it_is_shown_as(place):
    path = place / "audit.db"
    hooks = Hooks(session_id="s-1")
    with AuditStore(path) as store:
        hooks.record(store)
        hooks.fire_sync("PreToolUse", tool_name="Ba\ufffd", tool_input={"a": "b?"})
    change(path, "UPDATE records SET subject = CAST(X'4261FF' AS TEXT) WHERE id = 1")
    assert said(path) == ["its columns or the runs of its hooks were changed"]

    change(path, "UPDATE records SET subject = 'Ba\ufffd' WHERE id = 1")
    change(path, "UPDATE bodies SET body = CAST(replace(CAST(body AS BLOB), X'3F', X'FF') AS TEXT) WHERE record = 1")

    assert said(path) == ["was changed, or the one before it"]


def test_a_process_that_is_there_twice_is_found(place):
    path = write(place / "audit.db", key=str(place / "key"))
    change(path, "INSERT INTO processes SELECT 7, 12, uuid || 'x', about FROM processes",
           "INSERT INTO records SELECT id + 6, 7, kind, time, mono, event, session, subject, decision, took, hash FROM records",
           "INSERT INTO bodies SELECT record + 6, body FROM bodies",
           "INSERT INTO runs SELECT hook, record + 6, place, what, took, session FROM runs")  # fmt: skip
    assert said(path)
    rechained(path)

    assert said(path) == []
    assert said(path, SEALED) == ["the seal of the head is not right"]


def test_records_that_changed_places_are_found(place):
    path = place / "audit.db"
    for _ in range(2):
        write(path)
    change(path, *(f"UPDATE {table} SET {column} = CASE {column} WHEN 3 THEN -9 ELSE -3 END WHERE {column} IN (3, 9)"
                   for table, column in (("records", "id"), ("bodies", "record"), ("runs", "record"))),
           *(f"UPDATE {table} SET {column} = -{column} WHERE {column} < 0"
             for table, column in (("records", "id"), ("bodies", "record"), ("runs", "record"))))  # fmt: skip

    found = verify_store(str(path)).flaws

    assert {flaw.id for flaw in found} >= {3, 9}


def test_a_record_after_the_end_of_its_process_is_found(place):
    path = write(place / "audit.db")
    change(path, "INSERT INTO records SELECT 7, process, kind, time, mono, event, session, subject, decision, took, hash FROM records WHERE id = 5",
           "INSERT INTO bodies SELECT 7, body FROM bodies WHERE record = 5",
           "INSERT INTO runs SELECT hook, 7, place, what, took, session FROM runs WHERE record = 5")  # fmt: skip
    rechained(path)

    assert said(path) == ["follows the end of its process"]


def test_a_key_that_is_gone_is_said(place, capsys):
    path = write(place / "audit.db", key=str(place / "key"))
    (place / "key").unlink()

    assert status(path, key=place / "key") == 2
    assert "key: the key cannot be read: No such file or directory" in capsys.readouterr().err


def test_another_key_is_said_to_be_another(place):
    path = write(place / "audit.db", key=str(place / "key"))

    assert said(path, b"another key of sixteen bytes") == [
        "this process wrote with another key than this one",
        "the seal of the head is not right",
    ]


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
    cut_after(path, 3)

    assert verify_store(str(path)).verdict == "consistent"
    found = verify_store(str(path), anchor=str(place / "anchor"))
    assert {flaw.what for flaw in found.flaws} == {"is anchored, and missing"}
    assert found.flaws[-1].id == 6


def test_a_store_from_a_backup_is_found_with_the_anchor(place):
    path = write(place / "audit.db", key=str(place / "key"), anchor=place / "anchor")
    shutil.copy(path, place / "old.db")
    write(path, key=str(place / "key"), anchor=place / "anchor")
    shutil.copy(place / "old.db", path)
    path.with_name("audit.db-sum").unlink()

    assert verify_store(str(path), key=SEALED).verdict == "complete"
    [flaw] = {flaw.what for flaw in verify_store(str(path), key=SEALED, anchor=str(place / "anchor")).flaws}
    assert flaw == "is anchored, and missing"


def test_a_process_that_was_taken_out_with_everything_is_found_with_the_anchor(place):
    path = place / "audit.db"
    for _ in range(2):
        write(path, anchor=place / "anchor")
    without_process(path, 7)

    assert verify_store(str(path)).verdict == "consistent"
    assert said(path, anchor=place / "anchor")[0] == "is anchored, and missing"


def test_a_store_that_is_written_again_is_not_the_one_that_is_anchored(place):
    path = write(place / "audit.db", anchor=place / "anchor")
    change(path, "UPDATE bodies SET body = replace(body, '\"n\":3', '\"n\":4') WHERE record = 4")
    rechained(path)

    assert said(path) == []
    assert said(path, anchor=place / "anchor") == ["is not the record that is anchored"]


def test_a_process_that_the_anchor_does_not_know_is_found(place):
    path = write(place / "audit.db", anchor=place / "anchor")
    write(path)

    [flaw] = verify_store(str(path), anchor=str(place / "anchor")).flaws

    assert (flaw.process, flaw.what) == (7, "the anchor does not know this process")
    assert status(path, anchor=place / "anchor") == 1


def killed(path, anchor):
    """Be a process that is killed after its first record."""
    committer = Committer(StoreOptions(path=str(path), anchor=str(anchor)))
    committer.write([Entry("{}")], {})
    assert committer._base is not None
    committer._base.close()


def test_a_process_that_was_removed_before_its_records_were_anchored_is_missed(place):
    path = write(place / "audit.db", anchor=place / "anchor")
    killed(path, place / "anchor")
    change(path, "DELETE FROM records WHERE id > 6", "DELETE FROM bodies WHERE record > 6",
           "DELETE FROM processes WHERE id > 6",
           "UPDATE head SET (record, hash) = (SELECT id, hash FROM records WHERE id = 6)")  # fmt: skip

    found = verify_store(str(path), anchor=str(place / "anchor"))

    assert (found.verdict, found.flaws) == ("consistent", ())
    assert found.notes[0].startswith("a process began to write, the last at 20")


def test_a_process_that_retention_deleted_as_a_whole_is_not_missed(place):
    path = write(place / "audit.db", anchor=place / "anchor")
    write(path, anchor=place / "anchor", retention=Retention(age=1e-9))

    found = verify_store(str(path), anchor=str(place / "anchor"))

    assert (found.verdict, found.notes) == ("complete", ())


def test_a_process_that_had_to_try_twice_is_anchored_once(place):
    committer = Committer(StoreOptions(path=str(place / "audit.db"), anchor=str(place / "anchor")))
    committer._open()
    other = sqlite3.connect(place / "audit.db", isolation_level=None)
    other.execute("CREATE TRIGGER no BEFORE INSERT ON records BEGIN SELECT raise(ABORT, 'no'); END")
    with pytest.raises(sqlite3.IntegrityError):
        committer.write([Entry("{}")], {})
    other.execute("DROP TRIGGER no")
    other.close()
    committer.write([Entry("{}")], {})
    committer.finish()

    assert (place / "anchor").read_text().count('"begins"') == 1
    assert verify_store(str(place / "audit.db"), anchor=str(place / "anchor")).verdict == "complete"


def test_an_anchor_that_is_not_named_is_said(place):
    path = write(place / "audit.db", anchor=place / "anchor")

    assert verify_store(str(path)).notes == ("the store has an anchor, and none was given: it was not compared",)


def test_records_that_are_not_anchored_yet_are_only_consistent(place, monkeypatch):
    path, anchor = place / "audit.db", place / "anchor"
    hooks = Hooks()
    with AuditStore(path, anchor=anchor) as store:
        hooks.record(store)
        for _ in range(2):
            hooks.fire_sync("Stop")
            assert store.flush()
        found = verify_store(str(path), anchor=str(anchor))

    assert (found.verdict, found.flaws) == ("consistent", ())
    assert "the last 2 records are not anchored, only consistent" in found.notes


def test_a_store_that_the_anchor_does_not_know_is_broken(place):
    write(place / "other.db", anchor=place / "anchor")
    path = write(place / "audit.db")

    assert said(path, anchor=place / "anchor") == ["the anchor does not know this store"]


def test_a_line_of_the_anchor_that_was_torn_is_noted_and_swallows_no_other(place):
    path, anchor = place / "audit.db", place / "anchor"
    write(path, anchor=anchor)
    with anchor.open("ab") as opened:
        opened.write(b'{"store": "x", "seq')
    write(path, anchor=anchor)

    found = verify_store(str(path), anchor=str(anchor))

    assert (found.verdict, len(found.notes)) == ("complete", 1)
    assert found.notes[0] == "line 3 of the anchor was cut short"


@pytest.mark.parametrize("key", [None, KEY], ids=["without a key", "with a key"])
def test_a_line_of_the_anchor_that_was_changed_is_found(key, place):
    path, anchor = place / "audit.db", place / "anchor"
    write(path, anchor=anchor, key=key and str(place / "key"))
    lines = anchor.read_text().splitlines(keepends=True)
    changed = json.loads(lines[-1]) | {"hash": "00" * 32}
    anchor.write_text("".join([*lines[:-1], json.dumps(changed) + "\n"]))

    found = said(path, key and key.encode(), anchor)

    assert found == (
        ["line 2 of the anchor has no right seal: it was changed"] if key else ["is not the record that is anchored"]
    )


def test_a_line_of_the_anchor_that_is_no_line_is_found(place):
    path, anchor = place / "audit.db", place / "anchor"
    write(path, anchor=anchor)
    anchor.write_text(anchor.read_text() + '{"nothing": true}\n')

    assert said(path, anchor=anchor) == ["line 3 of the anchor was changed"]


def test_a_line_of_the_anchor_with_a_number_that_is_none_is_found(place):
    path = write(place / "audit.db", anchor=place / "anchor")
    with open(place / "anchor", "a") as opened:
        opened.write('{"store": "x", "time": 1, "record": 1e999}\n')

    assert said(path, anchor=place / "anchor") == ["line 3 of the anchor was changed"]


def test_an_anchor_without_the_line_of_a_process_does_not_know_it(place):
    path, anchor = place / "audit.db", place / "anchor"
    write(path, anchor=anchor)
    anchor.write_text("".join(anchor.read_text().splitlines(keepends=True)[1:]))

    assert said(path, anchor=anchor) == ["the anchor does not know this process"]


def test_an_anchor_that_cannot_be_written_is_said_and_costs_no_record(place, caplog):
    (place / "anchor").mkdir()

    path = write(place / "audit.db", anchor=place / "anchor")

    assert verify_store(str(path)).records == 6
    assert any("anchor cannot be written" in record.message for record in caplog.records)


def test_an_anchor_that_is_gone_is_said(place):
    path = write(place / "audit.db", anchor=place / "anchor")
    (place / "anchor").unlink()

    assert said(path, anchor=place / "anchor")[0].endswith("anchor cannot be read: No such file or directory")
    assert status(path, anchor=place / "anchor") == 1


# Stores that are begun anew, and stores in each other's place.


def removed(path):
    for beside in ("", "-wal", "-shm", "-salt", "-sum"):
        path.with_name(path.name + beside).unlink(missing_ok=True)


BEGUN_ANEW = re.compile(r"another store was here at \d{4}-.*, and is gone: this one was begun anew")


@pytest.mark.parametrize(
    "options", [{"key": "key"}, {"anchor": "anchor"}, {"key": "key", "anchor": "anchor"}], ids=" and ".join
)
def test_a_store_that_was_deleted_and_begun_anew_is_broken(options, place):
    given = {name: str(place / file) for name, file in options.items()}
    path = write(place / "audit.db", **given)
    removed(path)
    write(path, **given)

    [what] = said(path, SEALED if "key" in options else None, given.get("anchor"))

    assert BEGUN_ANEW.fullmatch(what)


def test_without_a_key_and_an_anchor_a_store_that_was_begun_anew_is_noted(place):
    path = write(place / "audit.db")
    removed(path)
    write(path)

    found = verify_store(str(path))

    assert (found.verdict, found.flaws) == ("consistent", ())
    assert BEGUN_ANEW.fullmatch(found.notes[0])


def test_the_anchor_notices_it_where_there_is_no_note(place, monkeypatch):
    anchor = place / "anchor"
    path = write(place / "audit.db", anchor=anchor)
    removed(path)
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "empty"))
    write(path, anchor=anchor)

    [what] = said(path, anchor=anchor)

    assert BEGUN_ANEW.fullmatch(what)


def test_a_store_that_was_deleted_is_said_to_be_gone(place):
    path = write(place / "audit.db")
    removed(path)

    [what] = said(path)

    assert re.fullmatch(r"the store is gone; there was one at \d{4}-.*", what)
    assert status(path) == 1


def test_a_store_that_was_emptied_is_said_to_be_gone_and_one_that_never_was_is_none(place):
    path = write(place / "audit.db")
    removed(path)
    sqlite3.connect(path).close()
    base = sqlite3.connect(place / "other.db")
    base.execute("PRAGMA application_id = 1229999955")
    base.close()

    assert said(path)[0].startswith("the store is gone; there was one at ")
    with pytest.raises(NotAStore, match="no such table"):
        verify_store(str(place / "other.db"))


def test_stores_that_changed_places_are_found(place):
    one, other = (
        write(place / name, key=str(place / "key"), anchor=place / "anchor") for name in ("one.db", "other.db")
    )
    one.rename(place / "third.db")
    other.rename(one)
    (place / "third.db").rename(other)
    for path in (one, other):
        path.with_name(f"{path.name}-sum").unlink()

    for path in (one, other):
        [what] = said(path, SEALED, place / "anchor")
        assert BEGUN_ANEW.fullmatch(what)


@pytest.mark.parametrize("options", [{"key": "key"}, {"anchor": "anchor"}], ids=" and ".join)
def test_a_directory_that_was_exchanged_for_a_link_is_found(options, place):
    given = {name: str(place / file) for name, file in options.items()}
    path = write(place / "state" / "audit.db", **given)
    path.parent.rename(place / "hidden")
    (place / "elsewhere").mkdir()
    path.parent.symlink_to(place / "elsewhere")
    (place / "elsewhere" / "interpose").symlink_to(place / "hidden" / "interpose")
    write(path, **given)

    [what] = said(path, SEALED if "key" in options else None, given.get("anchor"))

    assert BEGUN_ANEW.fullmatch(what)


def test_a_copy_elsewhere_is_as_good_as_the_store(place):
    path = write(place / "audit.db", key=str(place / "key"), anchor=place / "anchor")
    shutil.copy(path, place / "copy.db")

    assert said(place / "copy.db", SEALED, place / "anchor") == []


def test_without_a_state_directory_there_is_no_note_and_the_store_works(place, monkeypatch):
    (place / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "file"))

    path = write(place / "audit.db")

    assert verify_store(str(path)).verdict == "consistent"


def test_notes_of_directories_that_are_gone_are_dropped(place, monkeypatch):
    monkeypatch.setattr("interpose.audit.known_stores._LARGEST", 1000)
    for number in range(20):
        folder = place / str(number)
        write(folder / "audit.db", count=1)
        if number < 19:
            shutil.rmtree(folder)

    notes = (place / "state" / "interpose" / "audit-stores.jsonl").read_text().splitlines()

    assert len(notes) < 10
    assert json.loads(notes[-1])["places"][0] == str(place / "19" / "audit.db")


# The format before this one.


def old_store(path):
    base = sqlite3.connect(path)
    base.executescript("""
        CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE processes (id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE, about TEXT NOT NULL);
        CREATE TABLE records (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, seq INTEGER NOT NULL, kind INTEGER NOT NULL,
            time INTEGER NOT NULL, mono INTEGER NOT NULL, event INTEGER NOT NULL, session INTEGER NOT NULL,
            subject TEXT NOT NULL, decision INTEGER NOT NULL, took INTEGER NOT NULL, hash BLOB NOT NULL);
        CREATE TABLE bodies (record INTEGER PRIMARY KEY, body TEXT NOT NULL);
        CREATE TABLE runs (hook INTEGER NOT NULL, record INTEGER NOT NULL, place INTEGER NOT NULL, what INTEGER NOT NULL,
            took INTEGER NOT NULL, session INTEGER NOT NULL, PRIMARY KEY (hook, record, place)) WITHOUT ROWID;
        CREATE TABLE hooks (id INTEGER PRIMARY KEY, event TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (event, name));
        CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
        CREATE TABLE configurations (digest TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO meta VALUES ('format', '1'), ('store', 'old');
        INSERT INTO words VALUES (1, ''), (2, 'Stop'), (3, 's-old');
        INSERT INTO records VALUES (1, 1, 1, 0, 1000000000, 1, 2, 3, '', 0, 0, x'00');
        INSERT INTO bodies VALUES (1, '{"event":"Stop","input":{"session_id":"s-old"}}');
        PRAGMA application_id = 1229999955;
    """)
    base.close()
    return path


def test_a_store_of_the_format_before_is_read_and_not_verified(place):
    path = old_store(place / "audit.db")

    with open_store(path) as reader:
        assert [(one.id, one.event, one.session) for one in reader.firings()] == [(1, "Stop", "s-old")]
        assert (reader.session_ids(), reader.permission_counts()) == (["s-old"], [])
        assert [one.calls for one in reader.sessions()] == [0]
    [what] = said(path)
    assert (
        what == "has format 1, in which each process had a chain of its own: this version reads it and cannot verify it"
    )
    assert status(path) == 1


def test_a_store_of_the_format_before_is_moved_aside_by_the_first_record(place):
    path = old_store(place / "audit.db")

    write(path, count=1)

    found = verify_store(str(path))
    assert (found.verdict, found.flaws) == ("consistent", ())
    [gap] = found.gaps
    assert (gap["kind"], gap["why"]) == ("moved", "has format 1, which is not written any more")
    with open_store(gap["moved"]) as reader:
        assert [one.session for one in reader.firings()] == ["s-old"]


def test_a_store_that_is_made_to_look_like_the_format_before_does_not_vanish(place):
    path = write(place / "audit.db", key=str(place / "key"), anchor=place / "anchor")
    change(path, "UPDATE meta SET value = '1' WHERE name = 'format'")
    write(path, key=str(place / "key"), anchor=place / "anchor")
    [gap] = verify_store(str(path)).gaps

    [what] = said(path, SEALED, place / "anchor")
    assert re.fullmatch(r"another store was here at .*, and was moved aside, and is not intact", what)

    os.unlink(gap["moved"])
    [what] = said(path, SEALED, place / "anchor")
    assert BEGUN_ANEW.fullmatch(what)


def test_a_store_that_was_moved_aside_and_is_intact_is_accounted_for(place):
    path, given = place / "audit.db", {"key": str(place / "key"), "anchor": place / "anchor"}
    write(path, **given)
    aside = path.rename(place / "audit.db.aside")
    committer = Committer(StoreOptions(path=str(path), key=SEALED, anchor=str(place / "anchor")))
    committer._moved = str(aside)
    committer.write([Entry('{"lost":1}', kind=1)], {})
    committer.finish()
    assert said(path, SEALED, place / "anchor") == []

    change(aside, "DELETE FROM records WHERE id = 3")

    [what] = said(path, SEALED, place / "anchor")
    assert what.endswith("was moved aside, and is not intact")


# Retention.


def test_old_records_go_and_the_rest_is_verifiable(place):
    path, anchor = place / "audit.db", place / "anchor"
    write(path, key=str(place / "key"), anchor=anchor)

    write(path, count=3, key=str(place / "key"), anchor=anchor, retention=Retention(age=1e-9))

    found = verify_store(str(path), key=KEY.encode(), anchor=str(anchor))
    assert (found.verdict, found.flaws) == ("complete", ())
    assert (found.gaps[0]["kind"], found.gaps[0]["upto"]) == ("retention", 9)
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
    monkeypatch.setattr("interpose.audit.sqlite.committer._RETENTION_SECONDS", 0.0)
    monkeypatch.setattr("interpose.audit.sqlite.pruning._AT_ONCE", 3)
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


def test_the_description_of_a_process_whose_first_record_was_deleted_still_counts(place, monkeypatch):
    monkeypatch.setattr("interpose.audit.sqlite.committer._RETENTION_SECONDS", 0.0)
    monkeypatch.setattr("interpose.audit.sqlite.pruning._AT_ONCE", 3)
    path, hooks = place / "audit.db", Hooks()
    with AuditStore(path, retention=Retention(size=200_000)) as store:
        hooks.record(store)
        for _ in range(40):
            hooks.fire_sync("PreToolUse", tool_name="Write", tool_input={"content": os.urandom(5000).hex()})
            assert store.flush()
    assert said(path) == []

    change(path, "UPDATE processes SET about = replace(about, 'pid', 'pod')")

    assert said(path)[0] == "the processes that began before the first record are not those that were recorded"


def forged_deletion(path, upto):
    """Delete the first records, and append a retention record that says so, as a process of one's own."""
    base = sqlite3.connect(path, isolation_level=None)
    (digest,) = base.execute("SELECT hash FROM records WHERE id = ?", (upto,)).fetchone()
    for table, column in (("records", "id"), ("bodies", "record"), ("runs", "record"), ("processes", "last")):
        base.execute(f"DELETE FROM {table} WHERE {column} <= ?", (upto,))
    left = [[first, uuid, sha256(about.encode()).hexdigest()]
            for first, uuid, about in base.execute("SELECT id, uuid, about FROM processes WHERE id <= ?", (upto,))]  # fmt: skip
    note = json.dumps({"records": upto, "upto": upto, "hash": digest.hex(), "processes": left}, separators=(",", ":"))
    record, before = base.execute("SELECT record, hash FROM head").fetchone()
    about = json.dumps({"store": base.execute("SELECT value FROM meta WHERE name = 'store'").fetchone()[0], "key": ""})
    number = record + 1
    made = link(begin(before, "mine", about), number, number, 2, 1, 1, note.encode())
    base.execute("INSERT INTO processes VALUES (?, ?, 'mine', ?)", (number, number, about))
    base.execute("INSERT INTO records VALUES (?, ?, 2, 1, 1, 1, 1, '', 0, 0, ?)", (number, number, made))
    base.execute("INSERT INTO bodies VALUES (?, ?)", (number, note))
    base.execute("UPDATE head SET record = ?, hash = ?", (number, made))
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.close()
    path.with_name(f"{path.name}-sum").unlink(missing_ok=True)


def test_a_beginning_that_was_deleted_is_found(place):
    path = write(place / "audit.db")
    change(path, *(f"DELETE FROM {table} WHERE {column} < 3" for table, column in
                   (("records", "id"), ("bodies", "record"), ("runs", "record"))))  # fmt: skip

    first, *_ = verify_store(str(path)).flaws

    assert (first.id, first.what) == (3, "the records before it are missing: 1 to 2 are not in the store")


def test_a_forged_deletion_is_found_with_the_key_and_with_the_anchor(place):
    path = write(place / "audit.db", key=str(place / "key"), anchor=place / "anchor")
    forged_deletion(path, 3)

    assert "this process wrote without a key" in said(path, SEALED)
    assert said(path, anchor=place / "anchor") == [
        "this process wrote without a key, and others with one",
        "the anchor does not know this process",
        "the records up to 3 were deleted, which the anchor does not know",
    ]


def test_a_forged_deletion_in_a_store_with_an_anchor_alone_is_found(place):
    path = write(place / "audit.db", anchor=place / "anchor")
    forged_deletion(path, 6)

    assert said(path) == []
    assert said(path, anchor=place / "anchor") == [
        "the anchor does not know this process",
        "the records up to 6 were deleted, which the anchor does not know",
    ]


def test_a_retention_record_that_was_changed_is_found(place):
    path, key = place / "audit.db", str(place / "key")
    write(path, key=key)
    write(path, key=key, retention=Retention(age=1e-9))
    last = verify_store(str(path)).gaps[-1]
    more = last["upto"] + 1
    change(path, f"DELETE FROM records WHERE id <= {more}",
           f"UPDATE bodies SET body = json_set(body, '$.upto', {more}) WHERE record = {last['id']}")  # fmt: skip

    assert said(path)
    rechained(path)
    assert "the seal of the head is not right" in said(path, SEALED)


def test_retention_does_not_delete_records_that_were_made_to_look_old(place, caplog):
    path, key = place / "audit.db", str(place / "key")
    write(path, key=key)
    change(path, "UPDATE records SET time = 1 WHERE id < 4")

    write(path, key=key, retention=Retention(age=3600))

    assert any(
        "records up to 3 were changed, and retention does not delete them" in one.message for one in caplog.records
    )
    assert [flaw.id for flaw in verify_store(str(path), key=SEALED).flaws][:3] == [1, 2, 3]


def test_retention_does_not_delete_what_the_anchor_knows_otherwise(place, caplog):
    path, anchor = place / "audit.db", place / "anchor"
    write(path, anchor=anchor)
    change(path, "UPDATE records SET time = 1")
    rechained(path)

    write(path, anchor=anchor, retention=Retention(age=3600))

    assert any("retention does not delete them" in one.message for one in caplog.records)
    assert "is not the record that is anchored" in said(path, anchor=anchor)


def test_retention_waits_for_an_anchor_that_cannot_be_written(place, caplog):
    path, anchor = place / "audit.db", place / "anchor"
    write(path, anchor=anchor)
    anchor.unlink()
    anchor.mkdir()

    write(path, anchor=anchor, retention=Retention(age=1e-9))

    assert verify_store(str(path)).gaps == ()
    assert any("anchor cannot be written" in record.message for record in caplog.records)


def test_a_record_of_a_gap_that_was_changed_does_not_stop_the_look(place):
    path = write(place / "audit.db")
    change(path, "UPDATE records SET kind = 1 WHERE id = 2", "UPDATE bodies SET body = '[' WHERE record = 2")

    assert [flaw.id for flaw in verify_store(str(path)).flaws] == [2]


def test_text_from_a_store_cannot_drive_a_terminal(place, capsys):
    path = write(place / "audit.db")
    change(
        path, 'UPDATE processes SET about = \'{"pid": "\x1b[2J", "store": ""}\'', "DELETE FROM records WHERE kind = 4"
    )

    verify(str(path), key=None, anchor=None, json=False)

    assert "\x1b[2J" not in capsys.readouterr().out


def test_a_record_of_a_gap_cannot_say_where_it_is(place, capsys):
    path = write(place / "audit.db")
    committer = Committer(StoreOptions(path=str(path)))
    committer.write([Entry('{"id": "\\u001b[2J", "kind": [], "time": "x", "process": 9}', kind=1)], {})
    committer.finish()

    assert verify(str(path), key=None, anchor=None, json=False) == 0

    assert capsys.readouterr().out.startswith("record 7, process 7, 20")


@pytest.mark.parametrize("upto", ["1e999", "9" * 30])
def test_a_retention_record_with_a_number_that_is_none_is_found(upto, place):
    path = write(place / "audit.db")
    committer = Committer(StoreOptions(path=str(path)))
    committer.write([Entry(f'{{"upto": {upto}, "hash": "00", "processes": []}}', kind=2)], {})
    committer.finish()

    assert said(path)[0].startswith("a value has the wrong type")


def test_a_place_in_a_store_cannot_drive_a_terminal(place, capsys):
    path = write(place / "audit.db")
    change(path, "UPDATE records SET kind = 1, process = '\x1b[2J' WHERE id = 2",
           "UPDATE records SET kind = 1, time = '\x1b[2J' WHERE id = 3")  # fmt: skip

    assert verify(str(path), key=None, anchor=None, json=False) == 1

    assert "\x1b[2J" not in capsys.readouterr().out
