"""Verification with a key: what was written without it, or cut and covered up, is found."""

import pytest
from tests.unit.audit_verify.stores import (
    KEY,
    SEALED,
    change,
    cut_after,
    rechained,
    said,
    status,
    without_process,
    write,
)

from interpose import Hooks
from interpose.audit.store import AuditStore
from interpose.audit.verify import verify_store


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
