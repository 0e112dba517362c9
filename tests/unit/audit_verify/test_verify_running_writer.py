"""A store that is altered while a process writes to it: the process notices, and verification reports it."""

import json
import shutil
import sqlite3

import pytest
from tests.unit.audit_verify.stores import KEY, SEALED, change, said, write

from interpose.audit.chain import link
from interpose.audit.entries import PendingRecord
from interpose.audit.protocol import StoreOptions
from interpose.audit.retention import Retention
from interpose.audit.sqlite.committer import Committer
from interpose.audit.verify import verify_store

REMOVED = "the store was altered before it was written: record 3 of this process was removed or replaced"
FORGED = "the store was altered before it was written: record 4 has the name of this process, which did not write it"


def running(path, **options):
    """Be a process that has written three records and goes on."""
    committer = Committer(StoreOptions(path=str(path), **options))
    for _ in range(3):
        committer.write([PendingRecord("{}")], {})
    return committer


def heads(path):
    """The head as it is now: its id, its hash and its seal."""
    base = sqlite3.connect(path)
    row = base.execute("SELECT record, hash, mac FROM head").fetchone()
    base.close()
    return row


def put_back(path, head):
    """Remove the records after an older head, and put it back, with the seal that it had."""
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("DELETE FROM records WHERE id > ?", head[:1])
    base.execute("DELETE FROM bodies WHERE record > ?", head[:1])
    base.execute("DELETE FROM processes WHERE id > ?", head[:1])
    base.execute("UPDATE processes SET last = min(last, ?)", head[:1])
    base.execute("UPDATE head SET record = ?, hash = ?, mac = ?", head)
    base.close()


@pytest.mark.parametrize("last", ["a record", "the end"])
@pytest.mark.parametrize("key", [None, SEALED], ids=["without a key", "with a key"])
def test_an_older_head_that_is_put_back_is_found(key, last, place):
    path = place / "audit.db"
    committer = Committer(StoreOptions(path=str(path), key=key))
    committer.write([PendingRecord("{}")], {})
    older = heads(path)
    for _ in range(2):
        committer.write([PendingRecord("{}")], {})
    put_back(path, older)
    assert said(path, key) == []  # nothing gives it away yet

    if last == "a record":
        committer.write([PendingRecord("{}")], {})
    committer.finish()

    assert said(path, key) == [REMOVED]


def test_records_that_others_wrote_on_top_of_an_older_head_do_not_hide_it(place):
    path = place / "audit.db"
    committer = Committer(StoreOptions(path=str(path), key=SEALED))
    committer.write([PendingRecord("{}")], {})
    older = heads(path)
    for _ in range(2):
        committer.write([PendingRecord("{}")], {})
    put_back(path, older)
    write(path, key=str(place / "key"))

    committer.finish()

    assert said(path, SEALED) == [REMOVED]


def test_a_process_that_lost_all_its_records_says_so_and_goes_on(place):
    path = write(place / "audit.db", key=str(place / "key"))
    older = heads(path)
    committer = Committer(StoreOptions(path=str(path), key=SEALED))
    committer.write([PendingRecord("{}")], {})
    put_back(path, older)
    assert said(path, SEALED) == []

    committer.write([PendingRecord('{"n":1}')], {})
    committer.finish()

    [flaw] = said(path, SEALED)
    assert flaw.endswith("record 7 of this process was removed or replaced")


def test_an_older_copy_in_the_place_of_the_store_is_found(place):
    path = place / "audit.db"
    committer = Committer(StoreOptions(path=str(path), key=SEALED))
    committer.write([PendingRecord("{}")], {})
    base = sqlite3.connect(path)
    base.execute("VACUUM INTO ?", (str(place / "old.db"),))
    base.close()
    for _ in range(2):
        committer.write([PendingRecord("{}")], {})
    for beside in ("", "-wal", "-shm"):
        path.with_name(path.name + beside).unlink(missing_ok=True)
    shutil.copy(place / "old.db", path)
    assert said(path, SEALED) == []

    committer.finish()

    assert said(path, SEALED) == [REMOVED]


def test_a_record_in_the_name_of_a_running_process_is_found(place):
    path = place / "audit.db"
    committer = running(path, anchor=str(place / "anchor"))
    base = sqlite3.connect(path, isolation_level=None)
    before = base.execute("SELECT hash FROM head").fetchone()[0]
    digest = link(before, 4, 1, 0, 1, 1, b"{}")
    row = base.execute("SELECT event, session FROM records WHERE id = 3").fetchone()
    base.execute("INSERT INTO records VALUES (4, 1, 0, 1, 1, ?, ?, '', 0, 0, ?)", (*row, digest))
    base.execute("INSERT INTO bodies VALUES (4, '{}')")
    base.execute("UPDATE head SET record = 4, hash = ?", (digest,))
    base.execute("UPDATE processes SET last = 4")
    base.close()
    assert said(path, anchor=place / "anchor") == []

    committer.finish()

    assert said(path, anchor=place / "anchor") == [FORGED]


HEADS = {
    "deleted": "DELETE FROM head",
    "with an id that is none": "UPDATE head SET record = 'last'",
    "with a hash that is none": "UPDATE head SET hash = 'x'",
}


@pytest.mark.parametrize("key", [None, SEALED], ids=["without a key", "with a key"])
@pytest.mark.parametrize("statement", HEADS.values(), ids=HEADS)
def test_a_head_that_is_none_any_more_is_found_and_stops_no_record(statement, key, place):
    path = place / "audit.db"
    committer = running(path, key=key)
    change(path, statement)

    committer.write([PendingRecord('{"n":1}')], {})
    committer.finish()

    found = verify_store(str(path), key=key)
    assert found.verdict == "broken"
    assert found.records == 6  # three, the one that says it, one, and the end
    assert found.flaws[0].id == 4


def test_a_rollback_is_said_once(place):
    path = place / "audit.db"
    committer = Committer(StoreOptions(path=str(path)))
    committer.write([PendingRecord("{}")], {})
    older = heads(path)
    committer.write([PendingRecord("{}")], {})
    put_back(path, older)

    for _ in range(3):
        committer.write([PendingRecord("{}")], {})
    committer.finish()

    assert len(said(path)) == 1


@pytest.mark.parametrize("key", [None, KEY], ids=["without a key", "with a key"])
def test_retention_by_another_process_alters_nothing(key, place):
    path = place / "audit.db"
    given = {"key": key.encode()} if key else {}
    committer = running(path, **given)
    write(path, retention=Retention(age=1e-9), **({"key": str(place / "key")} if key else {}))

    committer.write([PendingRecord("{}")], {})
    committer.finish()

    assert said(path, key.encode() if key else None) == []


def test_retention_of_its_own_alters_nothing(place):
    path = place / "audit.db"
    committer = running(path, retention=Retention(age=1e-9))
    committer._pruned = float("-inf")
    committer.idle()
    committer.write([PendingRecord("{}")], {})
    committer.finish()

    assert said(path) == []


def test_a_commit_that_failed_and_came_back_is_not_taken_for_forged(place, monkeypatch):
    """SQLite may finish, on opening the file again, a commit that it said has failed."""
    path = place / "audit.db"
    committer = running(path)
    base = committer._base
    assert base is not None
    append = base.append

    def seem_to_fail(process, entries):
        append(process, entries)
        raise sqlite3.OperationalError("database or disk is full")

    def fail(process, entries):
        process.record, process.hash = process.record + 1, b"other"
        raise sqlite3.OperationalError("database or disk is full")

    kept = PendingRecord(json.dumps({"n": 1}))
    for failing in (seem_to_fail, fail):
        monkeypatch.setattr("interpose.audit.sqlite.database.Database.append", lambda _, *given, by=failing: by(*given))
        if failing is fail:
            # The first attempt is not there while its log is not read again.
            monkeypatch.setattr("interpose.audit.sqlite.database.Database.has", lambda *_: False)
        with pytest.raises(sqlite3.OperationalError):
            committer.write([kept], {})
        if failing is seem_to_fail:
            committer._base = None
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "state"))

    committer.write([kept], {})
    committer.finish()

    assert said(path) == []
    assert verify_store(str(path)).records == 5  # three, the one that failed twice, and the end
