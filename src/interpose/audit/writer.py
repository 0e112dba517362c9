"""The writer: one thread per process and store takes records from a bounded queue and commits them in batches.

What cannot be written is kept as far as there is room, and counted beyond that; as soon as the store works again, a
record says how much was lost. Whoever waits for a record is told when it is committed, or why it is not.
"""

from __future__ import annotations

import threading
from _queue import Empty, SimpleQueue
from _thread import allocate_lock
from collections.abc import Callable
from time import monotonic, time_ns
from typing import Any

from ..faults import log
from ..records import Record
from .desk import AT_ONCE, Desk, Options
from .entries import Entry, encode
from .retention import Retention
from .tickets import StoreDown, Ticket

__all__ = ["Health", "Writer"]

GATHER = 0.05
"""Seconds in which records gather for one transaction, unless somebody waits for one."""

_BACKOFF = (0.05, 1.0)
_ALARM_SECONDS = 60.0
_REST_SECONDS = 5.0
_LONGEST_BATCH = 8 * 1024 * 1024
_LARGE = 16 * 1024
"""Characters from which on records are counted by their length too."""


class Health(Record):
    """How a store is: ``up``, ``down``, ``new`` (nothing was written yet) or ``closed``, and what became of records."""

    state: str
    why: str = ""
    written: int = 0
    waiting: int = 0
    lost: int = 0
    """Firings that were given out and are not in the record."""
    denied: int = 0
    """Firings that were denied because they could not be recorded."""
    moved: str = ""
    """Where a damaged store was moved to."""


class Writer:
    """Takes entries from any thread; see ``AuditStore`` for who may wait for what."""

    def __init__(
        self, options: Options, most_waiting: int, most_bytes: int, successor: Callable[[list[Entry]], None]
    ) -> None:
        self.options = options
        self._successor = successor
        self.users = 0
        self.durable = False
        self.stopping = False
        """Whether nothing more should be handed over."""
        self.down = ""
        """Why nothing can be written now; nothing if it can, as far as is known."""
        self._most_waiting = most_waiting
        self._most_bytes = most_bytes
        self._queue: SimpleQueue[Entry | Ticket | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._hurried = allocate_lock()
        self._hurried.acquire()
        self._held = 0
        self._large = 0
        self._room: list[Ticket] = []
        self._configurations: dict[str, str] = {}
        self._gap: dict[str, Any] = {}
        self._written = self._lost = self._denied = 0
        self._moved = ""
        self._alarmed = float("-inf")
        self._began = self._ended = False
        self._thread = threading.Thread(target=self._run, name="interpose-audit", daemon=True)
        self._thread.start()

    # For the hosts.

    def is_full(self) -> bool:
        """Say whether a firing has to wait for room."""
        return self._queue.qsize() + self._held >= self._most_waiting or self._large >= self._most_bytes

    def put(self, entry: Entry) -> None:
        """Hand over a record."""
        if len(entry.text) >= _LARGE:
            entry.size = len(entry.text)
            with self._lock:
                self._large += entry.size
        self._queue.put(entry)
        if entry.ticket is not None:
            self._hurry()
        if self._ended:
            self._pass_on_leftovers()  # it has stopped while this was on its way

    def _hurry(self) -> None:
        """Have the writer gather no longer: somebody waits."""
        try:
            self._hurried.release()
        except RuntimeError:  # it was told already
            return

    def room(self) -> Ticket:
        """Return a ticket that is settled when there is room."""
        ticket = Ticket()
        with self._lock:
            self._room.append(ticket)
        self._queue.put(Ticket())  # wakes the writer up, should it have become idle meanwhile
        self._hurry()
        return ticket

    def describe(self, digest: str, body: str) -> None:
        """Keep what a configuration consists of, to be written with the next record."""
        if len(self._configurations) < 1000:
            self._configurations[digest] = body

    def count_lost(self, why: str, *, denied: bool = False) -> None:
        """Count a firing that is not in the record; it is written down as a gap."""
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
        """Wait until all that was handed over is written; say whether it is."""
        ticket = Ticket()
        self._queue.put(ticket)
        self._hurry()
        try:
            ticket.block(patience)
        except Exception:
            return False
        return True

    def stop(self, patience: float) -> None:
        """Write what is there, say goodbye, and end the thread, if that can be done in this time."""
        self.stopping = True
        self._queue.put(None)
        self._hurry()
        if threading.current_thread() is not self._thread:
            self._thread.join(patience)

    @property
    def health(self) -> Health:
        """How the store is, now."""
        state = "closed" if self._ended else "down" if self.down else "up" if self._began else "new"
        return Health(
            state=state, why=self.down, written=self._written, waiting=self._queue.qsize() + self._held,
            lost=self._lost, denied=self._denied, moved=self._moved,
        )  # fmt: skip

    # In the thread.

    def _run(self) -> None:
        # A variable, not an attribute: after a fork nobody in the child can reach, and close, its parent's connection.
        desk = Desk(self.options)
        hand: list[Entry] = []
        waiting: list[Ticket] = []
        rests = self.options.anchor is not None or self.options.retention != Retention()
        backoff = _BACKOFF[0]
        last_try = 0.0
        while True:
            over = self._gather(hand, waiting, backoff if self.down else _REST_SECONDS if rests else None)
            if self.down and monotonic() - last_try < backoff and not over:
                self._refuse(hand, self.down)
                continue
            last_try = monotonic()
            try:
                desk.set_durable(self.durable)
                self._write(desk, hand)
            except Exception as error:
                backoff = min(backoff * 2, _BACKOFF[1])
                self._go_down(desk, error)
                self._refuse(hand, self.down)
            else:
                backoff = _BACKOFF[0]
            self._settle(waiting, hand)
            if over:
                break
        self._end(desk, hand)

    def _gather(self, hand: list[Entry], waiting: list[Ticket], patience: float | None) -> bool:
        """Take what there is, at least one thing or none in time; say whether that was the last."""
        take = self._queue.get
        over = False
        try:
            first = take(True, patience)
            if isinstance(first, Entry) and first.ticket is None and not self.down:
                self._hurried.acquire(timeout=GATHER)
            while True:
                if isinstance(first, Entry):
                    hand.append(first)
                    self._held = len(hand)  # at once, or hosts would find room for as many as are taken here
                elif first is None:
                    over = True
                else:
                    waiting.append(first)
                first = take(False)
        except Empty:
            pass
        self._held = len(hand)
        self._make_room()
        return over

    def _make_room(self) -> None:
        if self._room:
            with self._lock:
                room, self._room = self._room, []
            for ticket in room:
                ticket.settle()

    def _write(self, desk: Desk, hand: list[Entry]) -> None:
        """Commit everything in hand, a batch at a time, and first what has to be said about a gap."""
        gap = self._take_gap()
        try:
            if gap is not None or (self.down and not hand):
                # With nothing to write, a store that was down is tried with what was lost meanwhile.
                desk.write([gap] if gap is not None else [], {})
                self._began = True
        except Exception:
            if gap is not None:
                self._put_gap_back(gap)
            raise
        while hand:
            taken = hand[: _batch_of(hand)]
            batch = [entry for entry in taken if entry.ticket is None or not entry.ticket.late]
            desk.write(batch, dict(self._configurations))
            self._told(taken, batch)
            del hand[: len(taken)]
            self._held = len(hand)
        if self._began and not self.down:
            desk.rest()
        if desk.problem:
            self._alarm(desk.problem)
        self._go_up(desk)

    def _told(self, taken: list[Entry], batch: list[Entry]) -> None:
        """Tell those who wait. Who had gone has counted that themselves."""
        self._began = True
        self._written += len(batch)
        for entry in taken:
            self._forget_length(entry)
            if entry.ticket is not None:
                entry.ticket.settle()

    def _forget_length(self, entry: Entry) -> None:
        if entry.size:
            with self._lock:
                self._large -= entry.size
            entry.size = 0

    def _refuse(self, hand: list[Entry], why: str) -> None:
        """Tell those who wait that their record is not written; it is let go. The others keep theirs."""
        kept = []
        for entry in hand:
            if entry.ticket is None:
                kept.append(entry)
                continue
            self._forget_length(entry)
            entry.ticket.settle(StoreDown(why))
        hand[:] = kept
        self._held = len(hand)

    def _settle(self, waiting: list[Ticket], hand: list[Entry]) -> None:
        error = StoreDown(self.down or "not everything could be written") if self.down or hand else None
        for ticket in waiting:
            ticket.settle(error)
        waiting.clear()

    def _go_down(self, desk: Desk, error: Exception) -> None:
        first = not self.down
        why = f"{error}" if isinstance(error, StoreDown) else f"{self.options.path}: {error}"
        self.down = why or type(error).__name__
        if desk.moved and desk.moved != self._moved:
            self._moved = desk.moved
            self._alarm(f"{self.options.path}: {error}; the damaged store is now {desk.moved}", always=True)
        else:
            self._alarm(f"{self.down}; firings are not being recorded", always=first)

    def _go_up(self, desk: Desk) -> None:
        if self.down:
            self.down = ""
            log("warning", "audit: %s is written to again", self.options.path)

    def _alarm(self, text: str, *, always: bool = False) -> None:
        """Say what is wrong, once a minute at the most."""
        if monotonic() - self._alarmed >= _ALARM_SECONDS or (always and monotonic() - self._alarmed > 1.0):
            self._alarmed = monotonic()
            log("error", "audit: %s", text)

    def _take_gap(self) -> Entry | None:
        with self._lock:
            gap, self._gap = self._gap, {}
        return Entry(encode(gap), kind=1) if gap else None

    def _put_gap_back(self, entry: Entry) -> None:
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

    def _end(self, desk: Desk, hand: list[Entry]) -> None:
        if hand:
            for _ in hand:
                self.count_lost(self.down)
            log("error", "audit: %s: %d records could not be written before the end", self.options.path, len(hand))
            hand.clear()
        try:
            desk.finish()
        except Exception as error:
            log("error", "audit: %s: the last record could not be written: %s", self.options.path, error)
        self._ended = True
        self._pass_on_leftovers()

    def _pass_on_leftovers(self) -> None:
        """Give what came after the last record to another writer, which begins where this one has ended."""
        left: list[Entry] = []
        try:
            while True:
                found = self._queue.get(False)
                if isinstance(found, Entry):
                    left.append(found)
                elif found is not None:
                    found.settle()
        except Empty:
            pass
        if not left:
            return
        try:
            self._successor(left)
        except Exception as error:
            for entry in left:
                self.count_lost(str(error))
                if entry.ticket is not None:
                    entry.ticket.settle(StoreDown("the audit store was closed"))
            log("error", "audit: %s: %d firings came after the end: %s", self.options.path, len(left), error)


def _batch_of(hand: list[Entry]) -> int:
    """Return how many of the entries in hand make a transaction: neither too many nor too long ones."""
    length = 0
    for count, entry in enumerate(hand[:AT_ONCE], 1):
        length += len(entry.text)
        if length >= _LONGEST_BATCH:
            return count
    return min(len(hand), AT_ONCE)
