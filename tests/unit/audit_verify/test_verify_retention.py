"""Retention: old records go, the rest stays verifiable, and a forged deletion is found."""

import json
import os
import sqlite3
import time
from hashlib import sha256

from tests.unit.audit_verify.stores import (
    KEY,
    SEALED,
    change,
    rechained,
    said,
    write,
)

from interpose import Hooks
from interpose.audit.chain import begin, link
from interpose.audit.retention import Retention
from interpose.audit.store import AuditStore
from interpose.audit.verify import verify_store


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
