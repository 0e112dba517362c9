"""Verification of a store: every record from the first to the last, and every column that follows from them.

Without a key and an anchor a store can only be *consistent*: with write access to the file, all of it can be written
again. With one of them it can be *complete*.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from ..records import Record, made_by
from . import files, process_info
from .anchors import AnchorLine, read_anchors
from .chain import genesis, key_name, link, seal
from .checksum import matches_checksum
from .reader import NotAStore, StoreReader, open_store
from .retention import kept_state, recorded_state
from .schema import KINDS, SCHEMA, columns_of

__all__ = ["Flaw", "Verification", "verify_store"]

MOST_FLAWS = 200
"""How many flaws are listed; further ones are counted."""


class Flaw(Record):
    """Something that was changed or is missing, and where."""

    what: str
    id: int | None = None
    process: int | None = None
    sequence: int | None = None
    time: float | None = None


class Verification(Record):
    """The result of verifying a store."""

    verdict: str
    """``broken``, ``consistent`` or ``complete``."""
    records: int = 0
    processes: int = 0
    flaws: tuple[Flaw, ...] = ()
    more_flaws: int = 0
    gaps: tuple[dict[str, Any], ...] = ()
    """What the store itself says was lost, deleted by retention, or moved aside."""
    notes: tuple[str, ...] = made_by(factory=tuple)


def verify_store(path: str, *, key: bytes | None = None, anchor: str | None = None) -> Verification:
    """Verify a whole store; raise NotAStore if there is none."""
    try:
        reader = open_store(path)
    except NotAStore as error:
        if not files.is_ours(path):
            raise
        return Verification(
            verdict="broken", flaws=(Flaw(what=f"the file cannot be read any more: {error.problem.what}"),)
        )
    with reader:
        verifier = _Verifier(reader, key)
        if not matches_checksum(path):
            verifier.flaw("the file was changed since the last process closed it")
        try:
            reader.base.execute("BEGIN")  # one snapshot, even if other processes write
            reader.base.text_factory = _any_text
            verifier.everything(anchor)
        except sqlite3.DatabaseError as error:
            verifier.flaw(f"the database is damaged: {error}")
        return verifier.result(anchored=anchor is not None)


class _ChainPosition:
    """How far the chain of one process is verified."""

    __slots__ = ("about", "hash", "seq", "time", "uuid")

    def __init__(self, uuid: str, about: str) -> None:
        self.uuid = uuid
        self.about = about
        self.seq = 0
        self.hash = genesis(uuid, about)
        self.time: float | None = None


class _Verifier:
    def __init__(self, reader: StoreReader, key: bytes | None) -> None:
        self._reader = reader
        self._base = reader.base
        self._key = key
        self._flaws: list[Flaw] = []
        self._more = 0
        self._notes: list[str] = []
        self._links: dict[int, _ChainPosition] = {}
        self._records = 0
        self._gaps: list[dict[str, Any]] = []
        self._sealed = key is not None
        self._anchored = True
        self._configurations: set[str] = set()

    def flaw(self, what: str, **where: Any) -> None:
        if len(self._flaws) < MOST_FLAWS:
            self._flaws.append(Flaw(what=what, **where))
        else:
            self._more += 1

    def result(self, *, anchored: bool) -> Verification:
        complete = (anchored and self._anchored) or self._sealed
        return Verification(
            verdict="broken" if self._flaws else "complete" if complete else "consistent",
            records=self._records, processes=len(self._links), flaws=tuple(self._flaws), more_flaws=self._more,
            gaps=tuple(self._gaps), notes=tuple(self._notes),
        )  # fmt: skip

    def everything(self, anchor: str | None) -> None:
        for (found,) in self._base.execute("PRAGMA integrity_check(20)"):
            if found != "ok":
                self.flaw(f"the database is damaged: {found}")
        for look in (self._schema, self._processes, self._walk, self._heads, self._retention, self._described):
            try:
                look()
            except _UNREADABLE as error:
                self.flaw(f"a value has the wrong type: {error}")
        self._gaps = self._reader.gaps()
        if anchor is not None:
            self._compare(anchor)
        elif self._sealed:
            self._notes.append("an older copy of the whole store would look the same; only an anchor detects it")

    # Tables with few rows.

    def _schema(self) -> None:
        with sqlite3.connect(":memory:") as wanted:
            wanted.executescript(SCHEMA)
            query = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
            ours, theirs = (base.execute(query).fetchall() for base in (wanted, self._base))
        wanted.close()
        if ours != theirs:
            self.flaw("the tables are not as they were made")

    def _processes(self) -> None:
        store = self._base.execute("SELECT value FROM meta WHERE name = 'store'").fetchone()
        for number, uuid, about in self._base.execute("SELECT id, uuid, about FROM processes ORDER BY id"):
            self._links[number] = _ChainPosition(uuid, about)
            if store is None or process_info.read(about).get("store") != store[0]:
                self.flaw("this process wrote to another store, or its description was changed", process=number)
        for process, seq, digest in self._base.execute("SELECT process, seq, hash FROM checkpoints"):
            link_ = self._links.get(process)
            if link_ is None:
                self.flaw("there is a checkpoint of a process that does not exist", process=process)
            else:
                link_.seq, link_.hash = seq, digest
        gone = [(first, last) for first, last in self._base.execute("SELECT first, last FROM forgotten")]
        row = self._base.execute("SELECT seq FROM sqlite_sequence WHERE name = 'processes'").fetchone()
        given = max([row[0] if row is not None else 0, *self._links])
        for number in range(1, min(given, 10_000_000) + 1):
            if number not in self._links and not any(first <= number <= last for first, last in gone):
                self.flaw("all records of this process are missing", process=number)

    def _heads(self) -> None:
        heads = {
            row[0]: row[1:] for row in self._base.execute("SELECT process, seq, hash, time, ended, mac FROM heads")
        }
        for process, found in self._links.items():
            head = heads.pop(process, None)
            if head is None:
                self.flaw("there is no head of this process", process=process)
                continue
            seq, digest, time, ended, mac = head
            where = {"process": process, "sequence": seq, "time": time / 1e9}
            if seq > found.seq:
                self.flaw(f"cut: the records from number {found.seq + 1} to {seq} are missing", **where)
            elif (seq, digest) != (found.seq, found.hash):
                self.flaw("the head is not that of the last record", **where)
            self._seal(found, where, mac, seal(self._key, "head", found.uuid, seq, digest, ended))
            if not ended:
                self._notes.append(
                    process_info.describe_open_chain(process, process_info.read(found.about), time / 1e9)
                )
        for process in heads:
            self.flaw("there is a head of a process that does not exist", process=process)

    def _seal(self, found: _ChainPosition, where: dict[str, Any], mac: bytes | None, wanted: bytes | None) -> None:
        made_with = process_info.read(found.about).get("key")
        if self._key is None:
            if made_with:
                self._notes.append(
                    f"process {where['process']} is sealed with a key; with --key the seal is checked too"
                )
        elif not made_with and mac is None:
            self._sealed = False
            self._notes.append(f"process {where['process']} was written without a key")
        elif made_with != key_name(self._key):
            self.flaw("is sealed with another key than this one", **where)
        elif mac != wanted:
            self.flaw("the seal of the head is not right", **where)

    def _retention(self) -> None:
        if kept_state(self._base) != recorded_state(self._base):
            self.flaw("the checkpoints of deleted records are not those that were recorded")

    def _described(self) -> None:
        known = set()
        for digest, body in self._base.execute("SELECT digest, body FROM configurations"):
            known.add(digest)
            if sha256(body.encode("utf-8", "replace")).hexdigest()[:16] != digest:
                self.flaw(f"the description of configuration {digest} was changed")
        for digest in sorted(self._configurations - known):
            self.flaw(f"the description of configuration {digest} is missing")
        query = "SELECT record FROM bodies WHERE record NOT IN (SELECT id FROM records) LIMIT 20"
        for (number,) in self._base.execute(query):
            self.flaw("there is a body without its record", id=number)

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
        number, process, seq, kind, time, mono, event, session, subject, decision, took, digest, body = row
        where = {"id": number, "process": process, "sequence": seq, "time": time / 1e9}
        chain = self._links.get(process)
        if chain is None:
            self.flaw("belongs to a process that does not exist", **where)
            return
        if seq != chain.seq + 1:
            missing = f"{chain.seq + 1}" if seq == chain.seq + 2 else f"{chain.seq + 1} to {seq - 1}"
            what = f"the records before it, number {missing}, are missing" if seq > chain.seq else "is out of order"
            self.flaw(what, **where)
        elif body is None:
            self.flaw("its body is missing", **where)
        elif digest != link(chain.hash, chain.uuid.encode(), seq, kind, time, mono, body.encode("utf-8", "replace")):
            self.flaw("was changed, or the one before it", **where)
        elif not _agrees(body, kind, (event, session, subject, decision, took), runs, self._configurations):
            self.flaw("its columns or the runs of its hooks were changed", **where)
        chain.seq, chain.hash, chain.time = max(seq, chain.seq), digest, time / 1e9

    # The anchor.

    def _compare(self, path: str) -> None:
        store = self._base.execute("SELECT value FROM meta WHERE name = 'store'").fetchone()[0]
        numbers = {found.uuid: process for process, found in self._links.items()}
        kept = {row[0]: row[1] for row in self._base.execute("SELECT process, seq FROM checkpoints")}
        gone = self._base.execute("SELECT first, last FROM forgotten").fetchall()
        last: dict[str, int] = {}
        try:
            for line in read_anchors(path, store):
                if isinstance(line, str):
                    self._notes.append(line)
                    continue
                last[line.uuid] = line.seq
                process = numbers.get(line.uuid)
                if process is not None:
                    self._anchor(line, process, kept.get(process, 0))
                elif not any(first <= line.process <= end for first, end in gone):
                    self.flaw("all records of this process are missing, which is anchored",
                              process=line.process, sequence=line.seq, time=line.time)  # fmt: skip
        except OSError as error:
            raise NotAStore(f"the anchor cannot be read: {error.strerror or error}", where=path) from None
        for process, found in self._links.items():
            if last.get(found.uuid, 0) < found.seq:
                self._anchored = False
                after = found.seq - last.get(found.uuid, 0)
                self._notes.append(f"process {process}: the last {after} records are not anchored, only consistent")

    def _anchor(self, line: AnchorLine, process: int, kept: int) -> None:
        row = self._base.execute(
            "SELECT hash FROM records WHERE process = ? AND seq = ?", (process, line.seq)
        ).fetchone()
        where = {"process": process, "sequence": line.seq, "time": line.time}
        if row is None and line.seq > kept:
            self.flaw("is anchored, and missing", **where)
        elif row is not None and row[0].hex() != line.hash:
            self.flaw("is not the record that is anchored", **where)


_RECORDS = (
    "SELECT r.id, r.process, r.seq, r.kind, r.time, r.mono, e.word, s.word, r.subject, r.decision, r.took, r.hash, "
    "b.body FROM records r LEFT JOIN bodies b ON b.record = r.id LEFT JOIN words e ON e.id = r.event "
    "LEFT JOIN words s ON s.id = r.session ORDER BY r.id"
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
    """Say whether the columns and runs of a record agree with its body."""
    if kind != 0:
        return kind < len(KINDS) and columns == ("", "", "", 0, 0) and not runs
    try:
        found = json.loads(body)
        event, session, subject, decision, took, wanted = columns_of(found)
    except _UNREADABLE:
        return False
    if found.get("config"):
        configurations.add(found["config"])
    made = [(event, name, what, us, session) for name, what, us in wanted]
    return columns == (event, session, subject, decision, took) and runs == made


def _any_text(data: bytes) -> str:
    """Decode a text; a text that was changed and is not UTF-8 must still be read, to be reported."""
    return data.decode("utf-8", "replace")


_UNREADABLE = (TypeError, ValueError, KeyError, AttributeError, RecursionError)
