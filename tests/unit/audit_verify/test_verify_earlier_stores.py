"""Stores that are begun anew, stores in each other's place, and stores of the format before this one."""

import json
import os
import re
import shutil
import sqlite3

import pytest
from tests.unit.audit_verify.stores import (
    SEALED,
    change,
    removed,
    said,
    status,
    write,
)

from interpose.audit import open_store
from interpose.audit.entries import PendingRecord
from interpose.audit.protocol import NotAStore, StoreOptions
from interpose.audit.sqlite.committer import Committer
from interpose.audit.verify import verify_store

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
    committer.write([PendingRecord('{"lost":1}', kind=1)], {})
    committer.finish()
    assert said(path, SEALED, place / "anchor") == []

    change(aside, "DELETE FROM records WHERE id = 3")

    [what] = said(path, SEALED, place / "anchor")
    assert what.endswith("was moved aside, and is not intact")
