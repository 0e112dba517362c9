"""The writer: one thread per process and store takes records from a bounded queue and commits them in batches.

While the store is down, records stay in the queue as long as it has room; further ones are counted. When the store
works again, a gap record says how many were lost. A waiting firing is woken when its record is committed or refused.
"""

from __future__ import annotations

import threading
from _queue import Empty, SimpleQueue
from _thread import allocate_lock
from collections.abc import Callable
from time import monotonic, time_ns
from typing import Any

from ..records import Record
from ..runtime.faults import log
from .columns import GAP
from .completion import Completion, StoreDown
from .entries import PendingRecord, encode
from .protocol import StoreOptions, StoreWriter
from .retention import Retention

__all__ = ["StoreHealth", "Writer", "add_indexes"]

COLLECT_SECONDS = 0.05
"""Seconds to collect records for one transaction, unless a firing waits for one of them."""

AT_ONCE = 2048
"""The maximum number of records in one transaction."""

_BACKOFF = (0.05, 1.0)
_ALARM_SECONDS = 60.0
_IDLE_SECONDS = 5.0
_LONGEST_BATCH = 8 * 1024 * 1024
_LARGE = 16 * 1024
"""The length in characters from which a record counts towards the queue's limit of characters."""


class StoreHealth(Record):
    """The state of a store (``up``, ``down``, ``new``: nothing was written yet, ``closed``), and counts of records."""

    state: str
    why: str = ""
    written: int = 0
    waiting: int = 0
    lost: int = 0
    """Firings that returned an outcome and are not in the store."""
    denied: int = 0
    """Firings that were denied because they could not be recorded."""
    moved: str = ""
    """The path that a damaged store was moved to."""


class Writer:
    """Takes entries from any thread; see ``AuditStore`` for which firings wait."""

    def __init__(
        self,
        options: StoreOptions,
        most_waiting: int,
        most_bytes: int,
        successor: Callable[[list[PendingRecord]], object],
    ) -> None:
        self.options = options
        self._successor = successor
        self.users = 0
        self.durable = False
        self.stopping = False
        """Whether it is closing: no more entries should be put."""
        self.down = ""
        """Why the store is down; empty if the last write succeeded."""
        self._most_waiting = most_waiting
        self._most_bytes = most_bytes
        self._queue: SimpleQueue[PendingRecord | Completion | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._hurried = allocate_lock()
        self._hurried.acquire()
        self._held = 0
        self._large = 0
        self._room: list[Completion] = []
        self._configurations: dict[str, str] = {}
        self._gap: dict[str, Any] = {}
        self._written = self._lost = self._denied = 0
        self._moved = ""
        self._alarmed = float("-inf")
        self._began = self._ended = False
        self._open = _opener()
        self._thread = threading.Thread(target=self._run, name=f"interpose-audit {options.path}", daemon=True)
        self._thread.start()

    # Called by firings.

    def is_full(self) -> bool:
        """Say whether a firing must wait for room in the queue."""
        return self._queue.qsize() + self._held >= self._most_waiting or self._large >= self._most_bytes

    def put(self, entry: PendingRecord) -> None:
        """Put a record into the queue."""
        if len(entry.text) >= _LARGE:
            entry.size = len(entry.text)
            with self._lock:
                self._large += entry.size
        self._queue.put(entry)
        if entry.completion is not None:
            self._hurry()
        if self._ended:
            self._pass_on_leftovers()  # the thread ended meanwhile

    def _hurry(self) -> None:
        """Make the thread commit now: a firing waits."""
        try:
            self._hurried.release()
        except RuntimeError:  # it was released already
            return

    def room(self) -> Completion:
        """Return a completion that is completed when the queue has room."""
        completion = Completion()
        with self._lock:
            self._room.append(completion)
        self._queue.put(Completion())  # wakes the thread, which may be idle
        self._hurry()
        return completion

    def describe(self, digest: str, body: str) -> None:
        """Keep the description of a configuration, to be written with the next record."""
        if len(self._configurations) < 1000:
            self._configurations[digest] = body

    def count_lost(self, why: str, *, denied: bool = False) -> None:
        """Count a firing that is not recorded; a gap record will say so."""
        with self._lock:
            self._count("denied" if denied else "lost", why)

    def _count(self, what: str, why: str) -> None:
        if what == "lost":
            self._lost += 1
        else:
            self._denied += 1
        gap = self._gap
        gap[what] = gap.get(what, 0) + 1
        gap.setdefault("first", time_ns())
        gap["last"] = time_ns()
        gap["why"] = why[:500]

    def flush(self, patience: float) -> bool:
        """Wait until every entry is written; return whether that succeeded."""
        completion = Completion()
        self._queue.put(completion)
        self._hurry()
        try:
            completion.block(patience)
        except Exception:
            return False
        return True

    def stop(self, patience: float) -> None:
        """Write the remaining entries and the end record, and wait for the thread to end, for so many seconds."""
        self.stopping = True
        self._queue.put(None)
        self._hurry()
        if threading.current_thread() is not self._thread:
            self._thread.join(patience)

    @property
    def is_over(self) -> bool:
        """Whether everything is written and the thread ends."""
        return self._ended

    @property
    def health(self) -> StoreHealth:
        """The state of the store."""
        state = "closed" if self._ended else "down" if self.down else "up" if self._began else "new"
        return StoreHealth(
            state=state, why=self.down, written=self._written, waiting=self._queue.qsize() + self._held,
            lost=self._lost, denied=self._denied, moved=self._moved,
        )  # fmt: skip

    # In the thread.

    def _run(self) -> None:
        # A variable, not an attribute: after a fork the child must not reach and close the parent's connection.
        committer = self._open(self.options)
        entries: list[PendingRecord] = []
        waiting: list[Completion] = []
        has_idle_work = self.options.anchor is not None or self.options.retention != Retention()
        backoff = _BACKOFF[0]
        last_try = 0.0
        while True:
            over = self._collect(entries, waiting, backoff if self.down else _IDLE_SECONDS if has_idle_work else None)
            if self.down and monotonic() - last_try < backoff and not over:
                self._refuse(entries, self.down)
                continue
            last_try = monotonic()
            try:
                committer.set_durable(self.durable)
                self._write(committer, entries)
            except Exception as error:
                backoff = min(backoff * 2, _BACKOFF[1])
                self._go_down(committer, error)
                self._refuse(entries, self.down)
            else:
                backoff = _BACKOFF[0]
            self._complete(waiting, entries)
            if over:
                break
        self._end(committer, entries)

    def _collect(self, entries: list[PendingRecord], waiting: list[Completion], patience: float | None) -> bool:
        """Take everything from the queue, waiting for the first item; return whether the writer is to end."""
        take = self._queue.get
        over = False
        try:
            first = take(True, patience)
            if isinstance(first, PendingRecord) and first.completion is None and not self.down:
                self._hurried.acquire(timeout=COLLECT_SECONDS)
            while True:
                if isinstance(first, PendingRecord):
                    entries.append(first)
                    self._held = len(entries)  # at once, or hosts would find room for as many as are taken here
                elif first is None:
                    over = True
                else:
                    waiting.append(first)
                first = take(False)
        except Empty:
            pass
        self._held = len(entries)
        self._make_room()
        return over

    def _make_room(self) -> None:
        if self._room:
            with self._lock:
                room, self._room = self._room, []
            for completion in room:
                completion.complete()

    def _write(self, committer: StoreWriter, entries: list[PendingRecord]) -> None:
        """Commit the gap record, if there is one, and then the entries, a batch at a time."""
        gap = self._take_gap()
        try:
            if gap is not None or (self.down and not entries):
                # A store that is down is tried with the gap record, even if there is nothing else to write.
                committer.write([gap] if gap is not None else [], {})
                self._began = True
        except Exception:
            if gap is not None:
                self._put_gap_back(gap)
            raise
        while entries:
            taken = entries[: _batch_of(entries)]
            batch = [entry for entry in taken if entry.completion is None or not entry.completion.timed_out]
            committer.write(batch, dict(self._configurations))
            self._committed(taken, batch)
            del entries[: len(taken)]
            self._held = len(entries)
        if self._began and not self.down:
            committer.idle()
        if committer.problem:
            self._alarm(committer.problem)
        self._go_up()

    def _committed(self, taken: list[PendingRecord], batch: list[PendingRecord]) -> None:
        """Wake the waiting firings. One that gave up has counted its record as lost."""
        self._began = True
        self._written += len(batch)
        for entry in taken:
            self._forget_length(entry)
            if entry.completion is not None:
                entry.completion.complete()

    def _forget_length(self, entry: PendingRecord) -> None:
        if entry.size:
            with self._lock:
                self._large -= entry.size
            entry.size = 0

    def _refuse(self, entries: list[PendingRecord], why: str) -> None:
        """Refuse the entries that a firing waits for; keep the others."""
        kept = []
        for entry in entries:
            if entry.completion is None:
                kept.append(entry)
                continue
            self._forget_length(entry)
            entry.completion.complete(StoreDown(why))
        entries[:] = kept
        self._held = len(entries)

    def _complete(self, waiting: list[Completion], entries: list[PendingRecord]) -> None:
        error = StoreDown(self.down or "not everything could be written") if self.down or entries else None
        for completion in waiting:
            completion.complete(error)
        waiting.clear()

    def _go_down(self, committer: StoreWriter, error: Exception) -> None:
        first = not self.down
        why = f"{error}" if isinstance(error, StoreDown) else f"{self.options.path}: {error}"
        self.down = why or type(error).__name__
        if committer.moved and committer.moved != self._moved:
            self._moved = committer.moved
            self._alarm(f"{self.options.path}: {error}; the damaged store is now {committer.moved}", always=True)
        else:
            self._alarm(f"{self.down}; firings are not being recorded", always=first)

    def _go_up(self) -> None:
        if self.down:
            self.down = ""
            log("warning", "audit: %s is written to again", self.options.path)

    def _alarm(self, text: str, *, always: bool = False) -> None:
        """Log what is wrong, at most once a minute."""
        if monotonic() - self._alarmed >= _ALARM_SECONDS or (always and monotonic() - self._alarmed > 1.0):
            self._alarmed = monotonic()
            log("error", "audit: %s", text)

    def _take_gap(self) -> PendingRecord | None:
        with self._lock:
            gap, self._gap = self._gap, {}
        return PendingRecord(encode(gap), kind=GAP) if gap else None

    def _put_gap_back(self, entry: PendingRecord) -> None:
        import json

        was = json.loads(entry.text)
        with self._lock:
            now = self._gap
            for what in ("lost", "denied"):
                if was.get(what):
                    now[what] = now.get(what, 0) + was[what]
            now["first"] = was["first"]
            now["last"] = max(now.get("last", 0), was["last"])
            now.setdefault("why", was["why"])

    def _end(self, committer: StoreWriter, entries: list[PendingRecord]) -> None:
        if entries:
            for _ in entries:
                self.count_lost(self.down)
            log("error", "audit: %s: %d records could not be written before the end", self.options.path, len(entries))
            entries.clear()
        try:
            committer.finish()
        except Exception as error:
            log("error", "audit: %s: the last record could not be written: %s", self.options.path, error)
        self._ended = True
        self._pass_on_leftovers()

    def _pass_on_leftovers(self) -> None:
        """Pass entries that came after the end record to another writer."""
        left: list[PendingRecord] = []
        try:
            while True:
                found = self._queue.get(False)
                if isinstance(found, PendingRecord):
                    left.append(found)
                elif found is not None:
                    found.complete()
        except Empty:
            pass
        if not left:
            return
        try:
            self._successor(left)
        except Exception as error:
            for entry in left:
                self.count_lost(str(error))
                if entry.completion is not None:
                    entry.completion.complete(StoreDown("the audit store was closed"))
            log("error", "audit: %s: %d firings came after the end: %s", self.options.path, len(left), error)


def _opener() -> Callable[[StoreOptions], StoreWriter]:
    """Return what opens a store for writing. It is imported here: a fork while a thread imports breaks the child."""
    from .sqlite.committer import Committer

    return Committer


def _batch_of(entries: list[PendingRecord]) -> int:
    """Return how many entries fit into one transaction, by their number and their length."""
    length = 0
    for count, entry in enumerate(entries[:AT_ONCE], 1):
        length += len(entry.text)
        if length >= _LONGEST_BATCH:
            return count
    return min(len(entries), AT_ONCE)


def add_indexes(path: str) -> None:
    """Add what pages look up to a store of an earlier version."""
    from .sqlite.database import add_indexes as add

    add(path)
