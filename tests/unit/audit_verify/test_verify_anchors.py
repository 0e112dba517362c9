"""Verification with an anchor: what the anchor knows must be in the store, and what it does not know must not."""

import json
import shutil
import sqlite3

import pytest
from tests.unit.audit_verify.stores import (
    KEY,
    SEALED,
    change,
    cut_after,
    killed,
    rechained,
    said,
    status,
    without_process,
    write,
)

from interpose import Hooks
from interpose.audit.entries import PendingRecord
from interpose.audit.protocol import StoreOptions
from interpose.audit.retention import Retention
from interpose.audit.sqlite.committer import Committer
from interpose.audit.store import AuditStore
from interpose.audit.verify import verify_store


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
        committer.write([PendingRecord("{}")], {})
    other.execute("DROP TRIGGER no")
    other.close()
    committer.write([PendingRecord("{}")], {})
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
