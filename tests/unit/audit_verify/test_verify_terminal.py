"""What ``interpose log verify`` prints of a store that was changed."""

import json

import pytest
from tests.unit.audit_verify.stores import (
    change,
    said,
    write,
)

from interpose import Hooks
from interpose.audit.entries import PendingRecord
from interpose.audit.protocol import StoreOptions
from interpose.audit.sqlite.committer import Committer
from interpose.audit.store import AuditStore
from interpose.audit.verify import verify_store
from interpose.cli import main
from interpose.cli.log.verify import verify


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
    committer.write([PendingRecord('{"id": "\\u001b[2J", "kind": [], "time": "x", "process": 9}', kind=1)], {})
    committer.finish()

    assert verify(str(path), key=None, anchor=None, json=False) == 0

    assert capsys.readouterr().out.startswith("record 7, process 7, 20")


@pytest.mark.parametrize("upto", ["1e999", "9" * 30])
def test_a_retention_record_with_a_number_that_is_none_is_found(upto, place):
    path = write(place / "audit.db")
    committer = Committer(StoreOptions(path=str(path)))
    committer.write([PendingRecord(f'{{"upto": {upto}, "hash": "00", "processes": []}}', kind=2)], {})
    committer.finish()

    assert said(path)[0].startswith("a value has the wrong type")


def test_a_place_in_a_store_cannot_drive_a_terminal(place, capsys):
    path = write(place / "audit.db")
    change(path, "UPDATE records SET kind = 1, process = '\x1b[2J' WHERE id = 2",
           "UPDATE records SET kind = 1, time = '\x1b[2J' WHERE id = 3")  # fmt: skip

    assert verify(str(path), key=None, anchor=None, json=False) == 1

    assert "\x1b[2J" not in capsys.readouterr().out


FAKE = "full\naudit.db: complete: nothing was changed\u2028audit.db: complete"


@pytest.mark.parametrize("kind", [1, 3], ids=["a gap", "a store that was moved"])
def test_a_reason_in_a_store_cannot_add_a_line(kind, place, capsys):
    path = write(place / "audit.db")
    committer = Committer(StoreOptions(path=str(path)))
    committer.write([PendingRecord(json.dumps({"lost": 1, "why": FAKE, "moved": FAKE}), kind=kind)], {})
    committer.finish()

    verify(str(path), key=None, anchor=None, json=False)

    assert [line.startswith("audit.db: complete") for line in capsys.readouterr().out.splitlines()] == [False, False]


def test_a_record_that_tells_of_an_altered_store_cannot_add_a_line(place, capsys):
    path = write(place / "audit.db")
    committer = Committer(StoreOptions(path=str(path)))
    committer.write([PendingRecord(json.dumps({"why": FAKE}), kind=7)], {})
    committer.finish()

    assert verify(str(path), key=None, anchor=None, json=False) == 1

    assert [line.startswith("audit.db: complete") for line in capsys.readouterr().out.splitlines()] == [False, False]


def test_the_name_of_a_tool_cannot_add_a_line_to_the_log(place, capsys):
    path = place / "audit.db"
    hooks = Hooks()
    with AuditStore(path) as store:
        hooks.record(store)
        hooks.fire_sync("PreToolUse", tool_name="Bash\nDENY  PreToolUse", tool_input={"a\nDENY  b": 1})
        assert store.flush()

    main(["log", "show", "1", "--store", str(path)])

    shown = capsys.readouterr().out.splitlines()
    assert "PreToolUse" in shown[0]
    assert not [line for line in shown if line.startswith("DENY")]  # below its field, the text is indented
