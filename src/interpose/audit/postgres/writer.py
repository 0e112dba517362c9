"""Writes forwarded batches to PostgreSQL: a transaction for several messages, each record once.

One collector writes at a time, so that ids are in the order in which records become visible: a reader that has seen an
id has seen all before it. Which records are new is known from the stretches of their store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from time import time
from typing import Any

from ...records import Record
from ..collected import ChainFlaw, Stretch, Taken, take_in
from ..raw import RawBatch, RawRecord
from .partitions import DroppedDay, create_partitions, day_of, drop_partitions
from .rows import RecordRow, row_of, text

__all__ = ["Arrived", "PostgresWriter", "Rejected", "Written"]

_LOCK = 0x496E7466
"""The advisory lock that the collector holds while it writes."""
_MOST_FLAWS = 200
"""How many flaws of one store are listed; further ones are counted."""
_MOST_STRETCHES = 1000
_MOST_STORES = 1000
_KEPT = 1024 * 1024
"""Bytes of a message that the quarantine keeps."""
_MOST_QUARANTINED = 1000
"""How many messages of one subject the quarantine keeps; further ones are counted and told."""
_MOST_CACHED = 50_000


class Arrived(Record):
    """A message of a node, read."""

    node: str
    batch: RawBatch
    subject: str
    payload: bytes


class Rejected(Record):
    """A message that cannot be kept as records, and why."""

    subject: str
    reason: str
    payload: bytes


class Written(Record, frozen=False):
    """What became of some messages."""

    records: int = 0
    repeated: int = 0
    quarantined: list[Rejected]
    flaws: list[tuple[str, str, ChainFlaw]]
    """Node, store, and what is wrong where."""


class _Store:
    """One store of one node within a transaction."""

    def __init__(self, id: int, flaws: int, stretches: list[Stretch]) -> None:
        self.id, self.flaws, self.before = id, flaws, {one.first: one for one in stretches}
        self.stretches: Sequence[Stretch] = stretches
        self.new: list[tuple[RawRecord, RecordRow]] = []
        self.processes: dict[int, int] = {}


class PostgresWriter:
    """Writes to one database. One thread uses it; after an exception it is closed, and another one goes on."""

    def __init__(self, connection: Any, clock: Callable[[], float] = time) -> None:
        self._base = connection
        self._clock = clock
        self._words: dict[str, int] = {}
        self._hooks: dict[tuple[str, str], int] = {}
        self._today = -1

    def close(self) -> None:
        """Close the connection."""
        self._base.close()

    def write(self, arrived: Iterable[Arrived], rejected: Iterable[Rejected] = ()) -> Written:
        """Write batches and what was rejected, all or nothing."""
        try:
            with self._base.transaction():
                return _Transaction(self._base, self._words, self._hooks, self._now()).write(arrived, rejected)
        except BaseException:
            self._words.clear()  # they may name rows that were rolled back
            self._hooks.clear()
            raise

    def _now(self) -> float:
        """Take the lock, and return the moment at which this transaction writes, which none before it has passed."""
        self._base.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        last = self._base.execute("SELECT max(arrived) FROM batches").fetchone()[0] or 0
        now = max(self._clock(), last / 1e9)
        if day_of(now) != self._today:
            create_partitions(self._base, day_of(now))
            self._today = day_of(now)
        if len(self._words) > _MOST_CACHED or len(self._hooks) > _MOST_CACHED:
            self._words.clear()
            self._hooks.clear()
        return now

    def drop_before(self, days: int) -> list[DroppedDay]:
        """Drop the records that were collected more than so many days ago."""
        with self._base.transaction():
            self._base.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            return drop_partitions(self._base, day_of(self._clock()) - days)


class _Transaction:
    """What one transaction adds."""

    def __init__(self, base: Any, words: dict[str, int], hooks: dict[tuple[str, str], int], now: float) -> None:
        self._base, self._words, self._hooks, self._now = base, words, hooks, now
        self._day = day_of(now)
        self._stores: dict[tuple[str, str], _Store | None] = {}
        self._done = Written(quarantined=[], flaws=[])

    def write(self, arrived: Iterable[Arrived], rejected: Iterable[Rejected]) -> Written:
        for one in arrived:
            self._take(one)
        for reject in rejected:
            self._quarantine(reject.subject, reject.reason, reject.payload)
        found = [store for store in self._stores.values() if store is not None]
        self._add_words(found)
        self._add_records(found)
        for store in found:
            self._keep_stretches(store)
        return self._done

    # What messages add to their stores.

    def _take(self, one: Arrived) -> None:
        batch = one.batch
        store = self._store(one.node, batch.store)
        if store is None:
            self._quarantine(one.subject, f"its node has {_MOST_STORES} stores already", one.payload)
            return
        taken = take_in(store.stretches, batch)
        if len(taken.stretches) > max(_MOST_STRETCHES, len(store.stretches)):
            self._quarantine(one.subject, f"its store has {_MOST_STRETCHES} gaps already", one.payload)
            return
        self._add_configurations(batch)
        if taken.new:
            self._add_processes(store, batch)
        rows = [(record, row_of(record)) for record in taken.new]
        flaws = [*taken.flaws, *(ChainFlaw(record.number, row.flaw) for record, row in rows if row.flaw)]
        forks = self._forks(store, taken)
        if forks:
            self._quarantine(one.subject, f"record {forks[0].number}: {forks[0].what}", one.payload)
        store.new += rows
        store.stretches = taken.stretches
        self._done.records += len(taken.new)
        self._done.repeated += len(taken.repeated)
        self._add_flaws(one.node, batch.store, store, [*flaws, *forks])

    def _store(self, node: str, name: str) -> _Store | None:
        """Return the store of a node; None if the node has too many."""
        key = (node, name)
        if key not in self._stores:
            query = "SELECT id, flaws FROM stores WHERE node = %s AND store = %s"
            row = self._base.execute(query, key).fetchone()
            if row is None:
                count = self._base.execute("SELECT count(*) FROM stores WHERE node = %s", (node,)).fetchone()[0]
                if count >= _MOST_STORES:
                    self._stores[key] = None
                    return None
                row = self._base.execute(
                    "INSERT INTO stores (node, store, since) VALUES (%s, %s, %s) RETURNING id, flaws",
                    (*key, int(self._now * 1e9)),
                ).fetchone()
            stretches = self._base.execute(
                "SELECT first, last, before, hash FROM stretches WHERE store = %s ORDER BY first", (row[0],)
            ).fetchall()
            self._stores[key] = _Store(row[0], row[1], [Stretch(*one) for one in stretches])
        return self._stores[key]

    def _forks(self, store: _Store, taken: Taken) -> list[ChainFlaw]:
        """Return the repeated records that are others than those that were collected."""
        if not taken.repeated:
            return []
        first, last = taken.repeated[0].number, taken.repeated[-1].number
        query = "SELECT number, hash FROM records WHERE store = %s AND number BETWEEN %s AND %s"
        known = dict(self._base.execute(query, (store.id, first, last)).fetchall())
        known.update((record.number, record.hash) for record, _ in store.new)
        what = "was sent again with another content: a fork of the chain; the first one is kept"
        return [ChainFlaw(one.number, what) for one in taken.repeated if known.get(one.number, one.hash) != one.hash]

    def _add_flaws(self, node: str, name: str, store: _Store, flaws: list[ChainFlaw]) -> None:
        for flaw in flaws:
            if store.flaws < _MOST_FLAWS:
                query = "INSERT INTO flaws (store, number, what) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
                if not self._base.execute(query, (store.id, flaw.number, flaw.what)).rowcount:
                    continue  # it is known
            store.flaws += 1
            self._done.flaws.append((node, name, flaw))
        if flaws:
            self._base.execute("UPDATE stores SET flaws = %s WHERE id = %s", (store.flaws, store.id))

    def _quarantine(self, subject: str, reason: str, payload: bytes) -> None:
        kept = self._base.execute("SELECT count(*) FROM quarantine WHERE subject = %s", (text(subject)[:500],))
        is_new = kept.fetchone()[0] >= _MOST_QUARANTINED  # it is counted, and not kept
        if not is_new:
            row = text(subject)[:500], text(reason)[:500], len(payload), sha256(payload).digest(), payload[:_KEPT]
            is_new = self._base.execute(
                "INSERT INTO quarantine (subject, reason, size, digest, payload) VALUES (%s, %s, %s, %s, %s) "
                "ON CONFLICT DO NOTHING",
                row,
            ).rowcount > 0  # fmt: skip
        if is_new:
            self._base.execute("UPDATE progress SET quarantined = quarantined + 1")
            self._done.quarantined.append(Rejected(subject=subject, reason=reason, payload=b""))

    # Rows.

    def _add_configurations(self, batch: RawBatch) -> None:
        for digest, body in batch.configurations.items():
            if sha256(body.encode()).hexdigest()[:16] == digest:
                self._base.execute("INSERT INTO configurations VALUES (%s, %s) ON CONFLICT DO NOTHING", (digest, body))

    def _add_processes(self, store: _Store, batch: RawBatch) -> None:
        """Find the ids of the processes of a batch; one that is not described has an empty description."""
        described = {one.number: one for one in batch.processes}
        for number in {one.process for one in batch.records} - store.processes.keys():
            one = described.get(number)
            row = self._base.execute(
                "INSERT INTO processes (store, number, uuid, about) VALUES (%s, %s, %s, %s) "
                "ON CONFLICT (store, number) DO UPDATE SET "
                "uuid = CASE WHEN processes.uuid = '' THEN excluded.uuid ELSE processes.uuid END, "
                "about = CASE WHEN processes.uuid = '' THEN excluded.about ELSE processes.about END RETURNING id",
                (store.id, number, one.uuid if one else "", one.about if one else ""),
            ).fetchone()
            store.processes[number] = row[0]

    def _add_words(self, stores: list[_Store]) -> None:
        rows = [row for store in stores for _, row in store.new]
        words = {word for row in rows for word in (row.event, row.session)} - self._words.keys()
        if words:
            listed = sorted(words)
            self._base.execute("INSERT INTO words (word) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING", (listed,))
            found = self._base.execute("SELECT word, id FROM words WHERE word = ANY(%s)", (listed,))
            self._words.update(found.fetchall())
        hooks = {(row.event, name) for row in rows for name, _, _ in row.runs} - self._hooks.keys()
        if hooks:
            events, names = zip(*sorted(hooks), strict=True)
            some = (list(events), list(names))
            self._base.execute(
                "INSERT INTO hooks (event, name) SELECT * FROM unnest(%s::text[], %s::text[]) ON CONFLICT DO NOTHING",
                some,
            )
            found = self._base.execute(
                "SELECT event, name, id FROM hooks WHERE (event, name) IN "
                "(SELECT * FROM unnest(%s::text[], %s::text[]))", some,
            )  # fmt: skip
            self._hooks.update(((event, name), key) for event, name, key in found.fetchall())

    def _add_records(self, stores: list[_Store]) -> None:
        last: int = self._base.execute("SELECT last FROM progress").fetchone()[0]
        records, runs, permissions, first = list[Any](), list[Any](), list[Any](), last + 1
        day, words = self._day, self._words
        asked: list[tuple[int, int, RecordRow]] = []
        for store in stores:
            for record, row in store.new:
                last += 1
                session = words[row.session]
                records.append((last, day, store.id, record.number, store.processes[record.process], record.kind,
                                record.time, record.mono, words[row.event], session, row.subject, row.decision,
                                row.took, record.hash, record.body))  # fmt: skip
                runs += [(self._hooks[row.event, name], last, place, what, took, session, day)
                         for place, (name, what, took) in enumerate(row.runs)]  # fmt: skip
                if row.call is not None:
                    permissions.append((last, row.call, day))
                if row.question is not None or row.answers is not None:
                    asked.append((last, store.id, row))
        if not records:
            return
        self._copy("records", records)
        self._copy("runs", runs)
        self._copy("permissions", permissions)
        for one in asked:
            self._add_question(*one)
        self._base.execute("INSERT INTO batches VALUES (%s, %s, %s)", (first, last, int(self._now * 1e9)))
        self._base.execute("UPDATE progress SET last = %s", (last,))

    def _copy(self, table: str, rows: list[Any]) -> None:
        """Copy rows to a table without a row that is there already, so that nothing stops the collector."""
        if not rows:
            return
        self._base.execute(
            f"CREATE TEMPORARY TABLE IF NOT EXISTS new_{table} (LIKE interpose.{table}) ON COMMIT DELETE ROWS"
        )
        with self._base.cursor() as cursor, cursor.copy(f"COPY new_{table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        self._base.execute(f"INSERT INTO {table} SELECT * FROM new_{table} ON CONFLICT DO NOTHING")  # noqa: S608

    def _add_question(self, id: int, store: int, row: RecordRow) -> None:
        if row.question is not None:
            name, session, until = row.question
            self._base.execute(
                "INSERT INTO questions VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (name, store, id, session, until),
            )
        else:
            self._base.execute(
                "UPDATE questions SET answer = %s WHERE id = %s AND store = %s AND answer IS NULL",
                (id, row.answers, store),
            )

    def _keep_stretches(self, store: _Store) -> None:
        """Write the stretches that are others than before."""
        after = {one.first: one for one in store.stretches}
        for first in store.before.keys() - after.keys():
            self._base.execute("DELETE FROM stretches WHERE store = %s AND first = %s", (store.id, first))
        for first, one in after.items():
            if store.before.get(first) != one:
                self._base.execute(
                    "INSERT INTO stretches VALUES (%s, %s, %s, %s, %s) ON CONFLICT (store, first) "
                    "DO UPDATE SET last = excluded.last, before = excluded.before, hash = excluded.hash",
                    (store.id, first, one.last, one.before, one.hash),
                )
