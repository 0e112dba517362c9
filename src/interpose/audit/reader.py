"""Reading a store: firings with filters, statistics of hooks, sessions. Changes nothing.

with open_store("audit.db") as store:
    for firing in store.firings(decision="deny", limit=20):
        print(firing.id, firing.event, firing.subject, firing.reason)
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from ..errors import UsageError
from ..records import Record, made_by
from .schema import APPLICATION, DECISIONS, FORMAT, KINDS

if TYPE_CHECKING:
    import sqlite3

__all__ = ["HookStats", "NotAStore", "StoreReader", "StoredFiring", "StoredSession", "open_store"]

_PAGE = 500
_POLL_SECONDS = 0.2
"""Seconds between two reads of a store that is followed."""


class NotAStore(UsageError):
    """There is no readable audit store at a path."""

    code = "not_a_store"


class StoredFiring(Record):
    """One recorded firing. ``body`` has everything; the other fields are its most used parts."""

    id: int
    process: int
    sequence: int
    time: float
    """Seconds since 1970, by the wall clock."""
    monotonic: float
    event: str
    subject: str
    session: str
    decision: str
    duration: float
    """Seconds that the hooks took."""
    body: dict[str, Any] = made_by(factory=dict)

    @property
    def reason(self) -> str:
        """The reason of the decision."""
        return str(self.body.get("reason", ""))

    @property
    def agent(self) -> str:
        """The agent that it was fired for; empty if there was none."""
        return str(self.input.get("agent_id") or "")

    @property
    def input(self) -> dict[str, Any]:
        """The final fields of the event, redacted."""
        found = self.body.get("input")
        return found if isinstance(found, dict) else {}

    @property
    def given(self) -> dict[str, Any]:
        """The fields of the event as the host gave them, before hooks changed them."""
        return {**self.input, **self.body.get("given", {})}

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The result of every hook in the order they ran, in the shape of ``Result.to_dict``."""
        return [_run(run) for run in self.body.get("runs", ())]

    @property
    def configuration(self) -> str:
        """The digest of the configuration at that time; ``StoreReader.configuration`` returns its description."""
        return str(self.body.get("config", ""))

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON document: the outcome as ``interpose fire --json`` prints it, and its place in the store."""
        body = self.body
        return {
            "id": self.id,
            "time": self.time,
            "process": self.process,
            "sequence": self.sequence,
            "session": self.session,
            "agent": self.agent,
            "event": self.event,
            "subject": self.subject,
            "decision": self.decision,
            "allowed": self.decision not in ("deny", "ask"),
            "reason": self.reason,
            "duration_ms": round(self.duration * 1000, 3),
            "input": self.input,
            "given": self.given,
            "outcome": {name: value for name, value in body.items() if name not in _NOT_OUTCOME},
            "results": self.runs,
            "configuration": self.configuration,
        }


_NOT_OUTCOME = {"event", "subject", "decision", "reason", "input", "given", "runs", "config", "us"}


def _run(run: dict[str, Any]) -> dict[str, Any]:
    return {
        "hook": run.get("hook", ""),
        "type": run.get("type", "python"),
        "status": run.get("status", "ok"),
        "decision": run.get("decision", "none"),
        "reason": run.get("reason", ""),
        "error": run.get("error"),
        "duration_ms": run.get("us", 0) / 1000,
        "round": run.get("round", 1),
        "enforced": run.get("enforced", True),
        **({"evidence": run["evidence"]} if "evidence" in run else {}),
    }


class HookStats(Record):
    """What one hook did at one event. Times are seconds; hooks that were skipped did not run."""

    hook: str
    event: str
    runs: int = 0
    skipped: int = 0
    denies: int = 0
    asks: int = 0
    observed: int = 0
    """How many of the denies and asks were recorded and not enforced."""
    failures: int = 0
    timeouts: int = 0
    p50: float = 0.0
    p95: float = 0.0
    p99: float = 0.0
    total: float = 0.0
    sessions: int = 0
    last_fired: float | None = None
    """Seconds since 1970."""

    @property
    def per_session(self) -> float:
        """The seconds that it added to a session, on average."""
        return self.total / self.sessions if self.sessions else 0.0


class StoredSession(Record):
    """One session: its time span, and its counts of firings and decisions."""

    id: str
    first: float
    last: float
    firings: int
    denies: int
    asks: int


def open_store(path: str | os.PathLike[str]) -> StoreReader:
    """Return a reader of the store at this path; raise NotAStore if there is none."""
    import sqlite3
    from urllib.parse import quote

    place = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(place).st_mode):
            raise NotAStore("is not a file", where=place, hint="name the store's file")
    except OSError as error:
        raise NotAStore("there is no audit store", where=place,
                        hint="`audit: {path: …}` in a configuration has one written") from error  # fmt: skip
    # A read-only directory: without a WAL file the store can be read as immutable.
    writable = os.access(os.path.dirname(os.path.abspath(place)), os.W_OK)
    how = "mode=ro" if writable or os.path.exists(f"{place}-wal") else "immutable=1"
    try:
        base = sqlite3.connect(
            f"file:{quote(os.path.abspath(place))}?{how}", uri=True, isolation_level=None, timeout=10,
            check_same_thread=False,
        )  # fmt: skip
        try:
            ours = base.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
            version = int(base.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()[0]) if ours else 0
        except BaseException:
            base.close()
            raise
    except (sqlite3.Error, TypeError, ValueError) as error:
        raise NotAStore(f"cannot be read as an audit store: {error}", where=place) from error
    if not 0 < version <= FORMAT:
        base.close()
        why = "was written by a later version" if version else "is another program's database"
        raise NotAStore(why, where=place)
    return StoreReader(place, base)


class StoreReader:
    """A connection that reads a store. Each call sees what was committed when it began; ``close()`` closes the file."""

    def __init__(self, path: str, base: sqlite3.Connection) -> None:
        self.path = path
        self.base = base

    def close(self) -> None:
        """Close the file."""
        self.base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Firings.

    def firings(
        self,
        *,
        event: str | None = None,
        hook: str | None = None,
        decision: str | None = None,
        session: str | None = None,
        since: float | None = None,
        limit: int | None = None,
        after: int | None = None,
        before: int | None = None,
        oldest_first: bool = False,
    ) -> Iterator[StoredFiring]:
        """Yield the firings that match every given filter, newest first, reading a page at a time.

        ``session`` is an id or a prefix of one; ``since`` is seconds since 1970; ``after`` and ``before`` are ids.
        """
        conditions, values = self._conditions(event, hook, decision, session, since)
        low, high = after or 0, before
        while limit is None or limit > 0:
            count = _PAGE if limit is None else min(_PAGE, limit)
            bounds = "r.id > ?" + ("" if high is None else " AND r.id < ?")
            rows = self.base.execute(
                f"{_FIRINGS} WHERE r.kind = 0 AND {bounds}{conditions} "
                f"ORDER BY r.id {'ASC' if oldest_first else 'DESC'} LIMIT ?",
                [low, *(() if high is None else (high,)), *values, count],
            ).fetchall()
            yield from map(_firing, rows)
            if len(rows) < count:
                return
            limit = None if limit is None else limit - len(rows)
            if oldest_first:
                low = rows[-1][0]
            else:
                high = rows[-1][0]

    @staticmethod
    def _conditions(
        event: str | None, hook: str | None, decision: str | None, session: str | None, since: float | None
    ) -> tuple[str, list[Any]]:
        conditions, values = "", list[Any]()
        if event is not None:
            conditions += " AND r.event = (SELECT id FROM words WHERE word = ?)"
            values.append(event)
        if hook is not None:
            # By name first: a hook that rarely ran is found without scanning every run.
            conditions += (
                " AND EXISTS (SELECT 1 FROM runs WHERE runs.hook IN (SELECT id FROM hooks WHERE name = ?) "
                "AND runs.record = r.id AND runs.what & 3 <> 3)"
            )
            values.append(hook)
        if decision is not None:
            if decision not in DECISIONS:
                raise UsageError(f"{decision!r} is not a decision", hint=f"choose {', '.join(DECISIONS)}")
            conditions += " AND r.decision = ?"
            values.append(DECISIONS.index(decision))
        if session is not None:
            conditions += " AND r.session IN (SELECT id FROM words WHERE substr(word, 1, length(?)) = ?)"
            values += [session, session]
        if since is not None:
            conditions += " AND r.time >= ?"
            values.append(int(since * 1e9))
        return conditions, values

    def firing(self, id: int) -> StoredFiring | None:
        """Return the firing with this id, or None."""
        row = self.base.execute(f"{_FIRINGS} WHERE r.kind = 0 AND r.id = ?", (id,)).fetchone()
        return None if row is None else _firing(row)

    def last_id(self) -> int:
        """Return the number of the newest record; 0 if there is none."""
        found: int | None = self.base.execute("SELECT max(id) FROM records").fetchone()[0]
        return found or 0

    def follow(self, after: int | None = None, **filters: Any) -> Iterator[StoredFiring]:
        """Yield firings as they are written, oldest first, without end."""
        seen = self.last_id() if after is None else after
        while True:
            upto = self.last_id()
            if upto > seen:
                yield from self.firings(after=seen, before=upto + 1, oldest_first=True, **filters)
                seen = upto
            else:
                time.sleep(_POLL_SECONDS)

    # Aggregates.

    def hook_stats(self, since: float | None = None) -> list[HookStats]:
        """Return what each hook did at each event, in one pass; most runs first."""
        from .statistics import hook_stats

        return hook_stats(self.base, since)

    def last_fired(self) -> dict[tuple[str, str], float]:
        """Return when each hook last ran, by event and name; fast for a store of any size."""
        rows = self.base.execute(
            "SELECT h.event, h.name, r.time FROM hooks h JOIN records r ON r.id = "
            "(SELECT record FROM runs WHERE hook = h.id AND what & 3 <> 3 ORDER BY record DESC LIMIT 1)"
        )
        return {(event, name): at / 1e9 for event, name, at in rows}

    def sessions(self) -> list[StoredSession]:
        """Return every session, the most recently active first."""
        rows = self.base.execute(
            "SELECT w.word, min(r.time), max(r.time), count(*), sum(r.decision = 3), sum(r.decision = 2), max(r.id) "
            "FROM records r JOIN words w ON w.id = r.session WHERE r.kind = 0 "
            "GROUP BY r.session ORDER BY max(r.id) DESC"
        )
        return [
            StoredSession(id=word, first=first / 1e9, last=last / 1e9, firings=count, denies=denies, asks=asks)
            for word, first, last, count, denies, asks, _ in rows
        ]

    def configuration(self, digest: str) -> dict[str, Any] | None:
        """Return the description of a configuration: ``files`` with their hashes and those of the scripts they name."""
        row = self.base.execute("SELECT body FROM configurations WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else json.loads(row[0])

    def gaps(self) -> list[dict[str, Any]]:
        """Return the records that are not firings: lost firings, pruned records, a damaged store that was moved."""
        rows = self.base.execute(
            "SELECT r.id, r.kind, r.time, r.process, r.seq, b.body FROM records r JOIN bodies b ON b.record = r.id "
            "WHERE r.kind BETWEEN 1 AND 3 ORDER BY r.id"
        )
        return [
            {
                "id": number,
                "kind": KINDS[kind],
                "time": at / 1e9,
                "process": process,
                "sequence": seq,
                **_body(body),
            }
            for number, kind, at, process, seq, body in rows
        ]


_FIRINGS = (
    "SELECT r.id, r.process, r.seq, r.time, r.mono, e.word, r.subject, s.word, r.decision, r.took, b.body "
    "FROM records r JOIN bodies b ON b.record = r.id JOIN words e ON e.id = r.event JOIN words s ON s.id = r.session"
)


def _firing(row: tuple[Any, ...]) -> StoredFiring:
    number, process, seq, at, mono, event, subject, session, decision, took, body = row
    return StoredFiring(
        id=number, process=process, sequence=seq, time=at / 1e9, monotonic=mono / 1e9, event=event, subject=subject,
        session=session, decision=DECISIONS[decision & 3], duration=took / 1e6,
        body=_body(body),
    )  # fmt: skip


def _body(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):  # the body was changed; `interpose log verify` reports it
        return {}
    return found if isinstance(found, dict) else {}
