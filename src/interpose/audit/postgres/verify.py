"""Verification of the record of a fleet: the chain of every store of every node, from the first record to the last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...records import Record
from ..chain import begin, genesis, link
from ..places import shown_url
from ..protocol import Flaw, StoreUnreadable, Verification
from ..raw import RawRecord
from .connection import connect, without_secrets
from .reader import open_postgres
from .rows import row_of

__all__ = ["StoreState", "VerifiedStore", "store_states", "verify_postgres", "verify_stores"]

_MOST_FLAWS = 200
_AT_ONCE = 2000


class StoreState(Record):
    """What has been collected of one store."""

    node: str
    store: str
    id: int
    last: int
    """The number of its last record."""
    records: int
    missing: tuple[tuple[int, int], ...] = ()
    """Numbers between the first and the last that have not been collected: from, to."""
    flaws: tuple[tuple[int, str], ...] = ()
    """What was found while collecting: the number of a record, and what is wrong."""
    more_flaws: int = 0


class VerifiedStore(Record):
    """The result of verifying one store."""

    state: StoreState
    records: int
    flaws: tuple[tuple[int, str], ...]
    more_flaws: int = 0


def store_states(connection: Any) -> list[StoreState]:
    """Return what has been collected of every store, by node."""
    made = []
    rows = connection.execute("SELECT id, node, store, flaws FROM stores ORDER BY node, id").fetchall()
    for key, node, store, count in rows:
        stretches = connection.execute(
            "SELECT first, last FROM stretches WHERE store = %s ORDER BY first", (key,)
        ).fetchall()
        flaws = connection.execute(
            "SELECT number, what FROM flaws WHERE store = %s ORDER BY number, id LIMIT %s", (key, _MOST_FLAWS)
        ).fetchall()
        ends = [0, *(last for _, last in stretches)]
        missing = tuple((end + 1, first - 1) for end, (first, _) in zip(ends, stretches, strict=False)
                        if first > end + 1)  # fmt: skip
        made.append(StoreState(
            node=node, store=store, id=key, last=ends[-1], records=sum(last - first + 1 for first, last in stretches),
            missing=missing, flaws=tuple(flaws), more_flaws=max(0, count - len(flaws)),
        ))  # fmt: skip
    return made


def verify_stores(url: str) -> Iterator[VerifiedStore]:
    """Read every record again and verify the chain of each store; changes nothing."""
    from psycopg import Error

    open_postgres(url).close()  # raises NotAStore
    connection = connect(url, name="interpose verify", autocommit=False)
    try:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        for state in store_states(connection):
            yield _Walk(connection, state).result()
    except Error as error:
        raise StoreUnreadable(without_secrets(url, error), where=shown_url(url)) from None
    finally:
        connection.close()


class _Walk:
    """Goes through the records of one store."""

    def __init__(self, connection: Any, state: StoreState) -> None:
        self._base, self._state = connection, state
        self._flaws: list[tuple[int, str]] = []
        self._count = self._more = 0
        self._absent = {
            first: (last, bytes(digest)) for first, last, digest in connection.execute(
                "SELECT first, last, hash FROM dropped WHERE store = %s", (state.id,))
        }  # fmt: skip
        """Records that retention has dropped: the first, the last, and the hash of the last."""
        self._stretches = connection.execute(
            "SELECT first, last, before, hash FROM stretches WHERE store = %s ORDER BY first", (state.id,)
        ).fetchall()

    def _flaw(self, number: int, what: str) -> None:
        if len(self._flaws) < _MOST_FLAWS:
            self._flaws.append((number, what))
        else:
            self._more += 1

    def result(self) -> VerifiedStore:
        rows = self._rows()
        row = next(rows, None)
        for first, last, before, digest in self._stretches:
            expected, head = first, bytes(before)
            if first == 1 and head != genesis(self._state.store):
                self._flaw(1, "is not the beginning of this store's chain")
            while expected <= last:
                if expected in self._absent and (row is None or row[0] != expected):
                    upto, head = self._absent[expected]
                    expected = upto + 1
                    continue
                if row is None or row[0] > expected:
                    until = min(last, row[0] - 1 if row is not None else last,
                                *(one - 1 for one in self._absent if one > expected))  # fmt: skip
                    said = (
                        "was collected, and is not here"
                        if until == expected
                        else f"to {until}: were collected, and are not here"
                    )
                    self._flaw(expected, said)
                    expected, head = until + 1, b""
                    continue
                if row[0] < expected:
                    self._flaw(row[0], "is here twice, or was never collected")
                    row = next(rows, None)
                    continue
                head = self._one(row, head)
                expected, row = expected + 1, next(rows, None)
            if head != bytes(digest) and head:
                self._flaw(last, "is not the last record that was collected")
        while row is not None:
            self._flaw(row[0], "was never collected")
            row = next(rows, None)
        return VerifiedStore(state=self._state, records=self._count, flaws=tuple(self._flaws), more_flaws=self._more)

    def _one(self, row: tuple[Any, ...], before: bytes) -> bytes:
        number, process, kind, at, mono, digest, body, uuid, about, *columns = row
        self._count += 1
        if number == process:
            before = begin(before, uuid, about) if before else b""
        if not body:
            self._flaw(number, "was too large to be forwarded, or is no text: its body is at its node only")
        elif before and link(before, number, process, kind, at, mono, body.encode()) != bytes(digest):
            self._flaw(number, "was changed, or the one before it")
        else:
            made = row_of(RawRecord(number, process, kind, at, mono, bytes(digest), body))
            if [made.event, made.session, made.subject, made.decision, made.took] != columns:
                self._flaw(number, "its columns were changed")
        return bytes(digest)

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        with self._base.cursor(name=f"walk_{self._state.id}") as cursor:
            cursor.itersize = _AT_ONCE
            cursor.execute(
                "SELECT r.number, p.number, r.kind, r.time, r.mono, r.hash, r.body, p.uuid, p.about, e.word, s.word, "
                "r.subject, r.decision, r.took FROM records r LEFT JOIN processes p ON p.id = r.process "
                "LEFT JOIN words e ON e.id = r.event LEFT JOIN words s ON s.id = r.session "
                "WHERE r.store = %s ORDER BY r.number", (self._state.id,),
            )  # fmt: skip
            yield from cursor


def verify_postgres(url: str) -> Verification:
    """Verify the record of a fleet; raise NotAStore if there is none."""
    flaws: list[Flaw] = []
    records = stores = more = 0
    notes: list[str] = []
    for found in verify_stores(url):
        state = found.state
        who = f"node {state.node}, store {state.store}"
        stores, records = stores + 1, records + found.records
        seen = dict.fromkeys([*state.flaws, *found.flaws])
        flaws += [Flaw(what=f"{who}: record {number} {what}") for number, what in seen]
        more += found.more_flaws + state.more_flaws
        for first, last in state.missing:
            numbers = f"record {first} was" if first == last else f"records {first} to {last} were"
            notes.append(f"{who}: {numbers} not collected")
    with open_postgres(url) as reader:
        gaps = tuple(reader.gaps())
    return Verification(
        verdict="broken" if flaws else "consistent", records=records, processes=stores,
        flaws=tuple(flaws[:_MOST_FLAWS]),
        more_flaws=more + max(0, len(flaws) - _MOST_FLAWS), gaps=gaps, notes=tuple(notes),
    )  # fmt: skip
