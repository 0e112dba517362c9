"""Verification of a store in SQLite: every record from the first to the last, and every column that follows from them.

Without a key and an anchor a store can only be *consistent*: with write access to the file, all of it can be written
again. With one of them it can be *complete*.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from .. import process_info
from ..anchors import AnchorLine, read_anchors
from ..chain import begin, genesis, key_name, link, seal_head
from ..columns import ALTERED, END, FIRING, KINDS, PERMISSION, UNSEALED, columns_of, permission_columns, storable
from ..known_stores import known_stores
from ..private_files import places_of
from ..protocol import Flaw, NotAStore, StoreUnreadable, Verification
from . import files
from .checksum import matches_checksum
from .pruning import last_deletion, older_processes
from .question_rows import QuestionCheck
from .reader import SqliteReader, open_sqlite
from .schema import FORMAT, INDEXES, SCHEMA

__all__ = ["verify_sqlite"]

MOST_FLAWS = 200
"""How many flaws are listed; further ones are counted."""

_MOST_MOVED = 20
"""How many stores that were moved aside are verified too."""


def verify_sqlite(
    path: str, *, key: bytes | None = None, anchor: str | None = None, aside: bool = False
) -> Verification:
    """Verify a whole store; raise NotAStore if there is none. A store that was moved ``aside`` had none before it."""
    try:
        reader = open_sqlite(path)
    except NotAStore as error:
        return _without_store(path, error, key, anchor)
    with reader:
        verifier = _Verifier(reader, key, anchor)
        if reader.format < FORMAT:
            verifier.flaw(f"has format {reader.format}, in which each process had a chain of its own: this version "
                          "reads it and cannot verify it")  # fmt: skip
            return verifier.result()
        if not matches_checksum(path):
            verifier.flaw("the file was changed since the last process closed it")
        try:
            reader.base.execute("BEGIN")  # one snapshot, even if other processes write
            reader.base.text_factory = _any_text
            verifier.everything(aside=aside)
        except (sqlite3.DatabaseError, StoreUnreadable) as error:
            verifier.flaw(f"the database is damaged: {error}")
        return verifier.result()


def _without_store(path: str, error: NotAStore, key: bytes | None, anchor: str | None) -> Verification:
    """Return what is known of a store that cannot be opened; raise if nothing is."""
    if files.is_ours(path) and not _is_blank(path):
        what = f"the file cannot be read any more: {error.problem.what}"
    elif os.path.lexists(path) and not _is_blank(path):
        raise error
    else:
        earlier = [one.time for one in known_stores(path)]
        lines = _lines_about(anchor, key, "", path) if anchor is not None else []
        earlier += [line.time for line in lines]
        if not earlier:
            raise error
        what = f"the store is gone; there was one at {process_info.moment(max(earlier))}"
    return Verification(verdict="broken", flaws=(Flaw(what=what),))


def _is_blank(path: str) -> bool:
    """Say whether a file is a database without a table: what a process leaves that is killed while it creates one."""
    try:
        with closing(sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True)) as base:
            return not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.Error:
        return False


class _Writer:
    """One process that wrote to the store, and what the walk has seen of it."""

    __slots__ = ("about", "ended", "known", "last", "listed_last", "time", "uuid")

    def __init__(self, uuid: str, about: str, last: int) -> None:
        self.uuid = uuid
        self.about = process_info.read(about)
        self.known = False
        """Whether its first record was seen, or was deleted by retention."""
        self.last = 0
        self.listed_last = last
        self.time = 0.0
        self.ended = False


class _Verifier:
    def __init__(self, reader: SqliteReader, key: bytes | None, anchor: str | None) -> None:
        self._reader = reader
        self._base = reader.base
        self._key = key
        self._anchor_path = anchor
        # Read before the store: what it knows to be there must be there.
        self._anchored_before = _lines_about(anchor, key, reader.store_id(), reader.path) if anchor is not None else []
        self._store = ""
        self._flaws: list[Flaw] = []
        self._more = 0
        self._notes: list[str] = []
        self._writers: dict[int, _Writer] = {}
        self._abouts: dict[int, str] = {}
        self._last = 0
        self._hash = b""
        self._deleted = 0
        """The id of the last record that retention deleted."""
        self._deleted_hash = b""
        self._records = 0
        self._gaps: list[dict[str, Any]] = []
        self._anchored = True
        self._configurations: set[str] = set()
        self._questions = QuestionCheck(key)

    def flaw(self, what: str, **where: Any) -> None:
        if len(self._flaws) < MOST_FLAWS:
            self._flaws.append(Flaw(what=what, **where))
        else:
            self._more += 1

    def result(self) -> Verification:
        complete = (self._anchor_path is not None and self._anchored) or self._key is not None
        return Verification(
            verdict="broken" if self._flaws else "complete" if complete else "consistent",
            records=self._records, processes=len(self._writers), flaws=tuple(self._flaws), more_flaws=self._more,
            gaps=tuple(self._gaps), notes=tuple(self._notes),
        )  # fmt: skip

    def everything(self, *, aside: bool) -> None:
        for (found,) in self._base.execute("PRAGMA integrity_check(20)"):
            if found != "ok":
                self.flaw(f"the database is damaged: {found}")
        for look in (self._schema, self._beginning, self._processes, self._walk, self._head, self._ends,
                     self._described, self._asked, self._find_gaps):  # fmt: skip
            try:
                look()
            except _UNREADABLE as error:
                self.flaw(f"a value has the wrong type: {error}")
        lines: list[AnchorLine] = []
        if self._anchor_path is not None:
            # Read again after the store: what a process wrote there before it wrote to the store must be there.
            lines = self._anchor_lines(self._anchor_path)
            self._compare(lines)
        elif self._key is not None:
            self._notes.append("an older copy of the whole store would look the same; only an anchor detects it")
        if not aside:
            self._earlier_stores(lines, strict=self._anchor_path is not None or self._key is not None)

    # Tables with few rows.

    def _schema(self) -> None:
        query = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        with closing(sqlite3.connect(":memory:")) as wanted:
            wanted.executescript(SCHEMA)
            needed = set(wanted.execute(query))
            wanted.executescript(INDEXES)  # a store of an earlier version may lack them
            known = set(wanted.execute(query))
        found = self._base.execute(query).fetchall()
        if not needed <= set(found) <= known or len(found) != len(set(found)):
            self.flaw("the tables are not as they were made")

    def _beginning(self) -> None:
        """Find where the chain begins: at the first record of the store, or after the last one that was deleted."""
        row = self._base.execute("SELECT value FROM meta WHERE name = 'store'").fetchone()
        self._store = row[0] if row is not None else ""
        self._hash = genesis(self._store)
        deletion = last_deletion(self._base)
        if deletion:
            self._deleted = self._last = int(deletion["upto"])
            self._deleted_hash = self._hash = bytes.fromhex(deletion["hash"])
            if deletion["processes"] != older_processes(self._base, self._deleted):
                self.flaw("the processes that began before the first record are not those that were recorded")

    def _processes(self) -> None:
        for number, uuid, about, last in self._base.execute("SELECT id, uuid, about, last FROM processes ORDER BY id"):
            writer = self._writers[number] = _Writer(uuid, about, last)
            self._abouts[number] = about
            writer.known = number <= self._deleted
            if writer.about.get("store") != self._store:
                self.flaw("this process wrote to another store, or its description was changed", process=number)
            self._check_key(number, writer)

    def _check_key(self, number: int, writer: _Writer) -> None:
        made_with = writer.about.get("key")
        if self._key is None or made_with == key_name(self._key):
            return
        self.flaw(f"this process wrote with{' another key than this one' if made_with else 'out a key'}",
                  process=number)  # fmt: skip

    def _head(self) -> None:
        row = self._base.execute("SELECT record, hash, mac FROM head").fetchone()
        record, digest, mac = row if row is not None else (0, b"", None)
        if row is None:
            self.flaw("there is no head: the id and the hash of the last record")
        elif record > self._last:
            self.flaw(f"cut: the records from {self._last + 1} to {record} are missing", id=record)
        elif (record, digest) != (self._last, self._hash):
            self.flaw("the head is not that of the last record", id=record)
        if self._key is not None and row is not None and mac != seal_head(self._key, self._store, record, digest):
            self.flaw("the seal of the head is not right" if mac else "the head has no seal", id=record)

    def _ends(self) -> None:
        """Compare what processes say of their records with the records."""
        for number, writer in self._writers.items():
            if not writer.known or not writer.last:
                self.flaw("all records of this process are missing", process=number)
            elif writer.last != writer.listed_last:
                self.flaw(f"its last record is {writer.last}, and {writer.listed_last} is listed", process=number)
            elif not writer.ended:
                self._notes.append(process_info.describe_unended(number, writer.about, writer.time))
        if self._anchor_path is None and any(writer.about.get("anchored") for writer in self._writers.values()):
            self._notes.append("the store has an anchor, and none was given: it was not compared")
        sealed = [number for number, writer in self._writers.items() if writer.about.get("key")]
        if self._key is not None or not sealed:
            return
        self._notes.append("the store is sealed with a key, and none was given: the seals were not checked")
        for number in sorted(set(self._writers) - set(sealed)):
            self.flaw("this process wrote without a key, and others with one", process=number)

    def _described(self) -> None:
        known = set()
        for digest, body in self._base.execute("SELECT digest, body FROM configurations"):
            known.add(digest)
            if sha256(body.encode("utf-8", "surrogateescape")).hexdigest()[:16] != digest:
                self.flaw(f"the description of configuration {digest} was changed")
        for digest in sorted(self._configurations - known):
            self.flaw(f"the description of configuration {digest} is missing")
        for table, what in (("bodies", "a body"), ("permissions", "a permission")):
            query = f"SELECT record FROM {table} WHERE record NOT IN (SELECT id FROM records) LIMIT 20"  # noqa: S608
            for (number,) in self._base.execute(query):
                self.flaw(f"there is {what} without its record", id=number)

    def _asked(self) -> None:
        for what, number in self._questions.flaws(self._base, self._store, self._deleted):
            self.flaw(what, id=number)

    def _find_gaps(self) -> None:
        self._gaps = self._reader.gaps()

    # Records.

    def _walk(self) -> None:
        runs = _grouped(self._base.execute(_RUNS))
        ahead = next(runs, None)
        for row in self._base.execute(_RECORDS):
            self._records += 1
            while ahead is not None and ahead[0] < row[0]:
                self.flaw("there are runs of hooks without their record", id=ahead[0])
                ahead = next(runs, None)
            found: list[Any] = []
            if ahead is not None and ahead[0] == row[0]:
                found, ahead = ahead[1], next(runs, None)
            try:
                self._one(row, found)
            except _UNREADABLE:
                self.flaw("cannot be read", id=row[0])
        for number, _ in [ahead, *runs] if ahead is not None else ():
            self.flaw("there are runs of hooks without their record", id=number)

    def _one(self, row: tuple[Any, ...], runs: list[Any]) -> None:
        number, process, kind, time, mono, event, session, subject, decision, took, digest, body, call = row
        where = {"id": number, "process": process, "time": time / 1e9}
        before, self._hash = self._hash, digest
        expected, self._last = self._last + 1, number
        writer = self._writers.get(process)
        if writer is None:
            self.flaw("belongs to a process that does not exist", **where)
            return
        if number == process:
            writer.known = True
            before = begin(before, writer.uuid, self._abouts[process])
        if number != expected:
            missing = f"{expected} is" if number == expected + 1 else f"{expected} to {number - 1} are"
            what = f"the records before it are missing: {missing} not in the store"
            self.flaw(what if number > expected else "was deleted by retention, and is there", **where)
        elif body is None:
            self.flaw("its body is missing", **where)
        elif digest != link(before, number, process, kind, time, mono, body.encode("utf-8", "surrogateescape")):
            self.flaw("was changed, or the one before it", **where)
        elif not _agrees(body, kind, (event, session, subject, decision, took, call), runs, self._configurations):
            self.flaw("its columns or the runs of its hooks were changed", **where)
        elif not writer.known:
            self.flaw("precedes the first record of its process", **where)
        elif writer.ended:
            self.flaw("follows the end of its process", **where)
        elif kind == UNSEALED:
            self.flaw("when it was written, the records before it were not sealed with the key", **where)
        elif kind == ALTERED:
            self.flaw(f"the store was altered before it was written: {_why(body)}", **where)
        writer.last, writer.time, writer.ended = number, time / 1e9, kind == END
        if body is not None:
            self._questions.see(kind, number, body)

    # The anchor.

    def _anchor_lines(self, path: str) -> list[AnchorLine]:
        """Return the lines of the anchor that can be trusted; report the others."""
        lines: list[AnchorLine] = []
        places = set(places_of(self._reader.path))
        try:
            for line in read_anchors(path, self._key):
                if not isinstance(line, AnchorLine):
                    number, cut = line
                    if cut:
                        self._notes.append(f"line {number} of the anchor was cut short")
                    else:
                        self.flaw(f"line {number} of the anchor was changed")
                elif line.store == self._store and not line.sealed:
                    self.flaw(f"line {line.number} of the anchor has no right seal: it was changed")
                elif line.store == self._store or places.intersection(line.places):
                    lines.append(line)
        except OSError as error:
            self.flaw(f"the anchor {path} cannot be read: {error.strerror or error}")
        return lines

    def _compare(self, every: list[AnchorLine]) -> None:
        lines = [line for line in every if line.store == self._store]
        if not lines:
            self.flaw("the anchor does not know this store")
            self._anchored = False
            return
        begun = {line.begins for line in lines}
        for number, writer in self._writers.items():
            if writer.uuid not in begun:
                self.flaw("the anchor does not know this process", process=number, time=writer.time or None)
        self._find_vanished(lines)
        prunings = {(line.prunes, line.hash) for line in lines}
        if self._deleted and (self._deleted, self._deleted_hash.hex()) not in prunings:
            self.flaw(f"the records up to {self._deleted} were deleted, which the anchor does not know")
        last = 0
        for line in (line for line in self._anchored_before if line.store == self._store and line.sealed):
            last = max(last, line.record)
            if line.record > self._deleted:
                self._anchor(line)
        if last < self._last:
            self._anchored = False
            count = self._last - last
            said = "the last record is" if count == 1 else f"the last {count} records are"
            self._notes.append(f"{said} not anchored, only consistent")

    def _find_vanished(self, lines: list[AnchorLine]) -> None:
        """Note processes that began to write and are not there; those from before a deletion may have been deleted."""
        deleted = max((number for number, line in enumerate(lines) if line.prunes), default=0)
        there = {writer.uuid for writer in self._writers.values()}
        before = {line.begins for line in self._anchored_before}
        gone = [one for one in lines[deleted:] if one.begins and one.begins in before and one.begins not in there]
        if gone:
            self._anchored = False
            said = "a process" if len(gone) == 1 else f"{len(gone)} processes"
            self._notes.append(f"{said} began to write, the last at {process_info.moment(gone[-1].time)}, and no "
                               "record of it is here: it was killed first, or its records were removed")  # fmt: skip

    def _anchor(self, line: AnchorLine) -> None:
        row = self._base.execute("SELECT hash, process FROM records WHERE id = ?", (line.record,)).fetchone()
        if row is None:
            self.flaw("is anchored, and missing", id=line.record, time=line.time)
        elif row[0].hex() != line.hash:
            self.flaw("is not the record that is anchored", id=line.record, process=row[1], time=line.time)

    # Stores that were at this path before.

    def _earlier_stores(self, lines: list[AnchorLine], *, strict: bool) -> None:
        """Report every store that is known to have been at this path and was not moved aside as it was."""
        places = set(places_of(self._reader.path))
        known = {one.store: one.time for one in known_stores(self._reader.path)}
        for line in lines:
            if places.intersection(line.places):
                known[line.store] = max(known.get(line.store, 0.0), line.time)
        known.pop(self._store, None)
        intact = self._moved_stores() if known else {}
        for store, time in known.items():
            if not intact.get(store):
                what = "was moved aside, and is not intact" if store in intact else "is gone: this one was begun anew"
                said = f"another store was here at {process_info.moment(time)}, and {what}"
                if strict:
                    self.flaw(said)
                else:
                    self._notes.append(said)

    def _moved_stores(self) -> dict[str, bool]:
        """Verify the stores that were moved aside, one after another; return by their ids whether they are intact."""
        intact: dict[str, bool] = {}
        waiting, seen = _moved_to(self._gaps), set[str]()
        while waiting and len(seen) < _MOST_MOVED:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            try:
                with open_sqlite(path) as reader:
                    store, gaps = reader.store_id(), reader.gaps()
                intact[store] = not verify_sqlite(path, key=self._key, anchor=self._anchor_path, aside=True).flaws
            except (NotAStore, StoreUnreadable, *_UNREADABLE):
                continue
            waiting += _moved_to(gaps)
        return intact


def _moved_to(gaps: Iterable[dict[str, Any]]) -> list[str]:
    return [str(gap.get("moved", "")) for gap in gaps if gap["kind"] == "moved"]


def _lines_about(anchor: str, key: bytes | None, store: str, path: str) -> list[AnchorLine]:
    """Return the readable lines of an anchor about a store or a path; none if the anchor cannot be read."""
    places = set(places_of(path))
    try:
        lines = (line for line in read_anchors(anchor, key) if isinstance(line, AnchorLine))
        return [line for line in lines if line.store == store or places.intersection(line.places)]
    except OSError:  # reported when it is read again
        return []


_RECORDS = (
    "SELECT r.id, r.process, r.kind, r.time, r.mono, e.word, s.word, r.subject, r.decision, r.took, r.hash, "
    "b.body, p.call FROM records r LEFT JOIN bodies b ON b.record = r.id LEFT JOIN permissions p ON p.record = r.id "
    "LEFT JOIN words e ON e.id = r.event LEFT JOIN words s ON s.id = r.session ORDER BY r.id"
)
_RUNS = (
    "SELECT u.record, h.event, h.name, u.what, u.took, s.word FROM runs u LEFT JOIN hooks h ON h.id = u.hook "
    "LEFT JOIN words s ON s.id = u.session ORDER BY u.record, u.place"
)


def _grouped(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
    """Yield the runs of each record."""
    record, found = -1, list[tuple[Any, ...]]()
    for row in rows:
        if row[0] != record:
            if found:
                yield record, found
            record, found = row[0], []
        found.append(row[1:])
    if found:
        yield record, found


def _agrees(
    body: str, kind: int, columns: tuple[Any, ...], runs: list[tuple[Any, ...]], configurations: set[str]
) -> bool:
    """Say whether the columns, the runs and the call of a record agree with its body."""
    try:
        found = json.loads(body)
        if kind == PERMISSION:
            event, session, subject, decision, took, wanted = permission_columns(found)
            call = storable(found.get("tool_use_id"))
        elif kind == FIRING:
            (event, session, subject, decision, took, wanted), call = columns_of(found), None
        else:
            return kind < len(KINDS) and columns == ("", "", "", 0, 0, None) and not runs
    except _UNREADABLE:
        return False
    if kind == FIRING and found.get("config"):
        configurations.add(found["config"])
    made = [(event, name, what, us, session) for name, what, us in wanted]
    return columns == (event, session, subject, decision, took, call) and runs == made


def _why(body: str) -> str:
    found = json.loads(body)
    return str(found.get("why", "")) if isinstance(found, dict) else ""


def _any_text(data: bytes) -> str:
    """Decode a text; a changed text that is not UTF-8 must still be read, and equal no other, to be reported."""
    return data.decode("utf-8", "surrogateescape")


_UNREADABLE = (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError)
