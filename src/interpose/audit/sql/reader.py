"""Reading a store by SQL: firings and permissions with filters, aggregates. Changes nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from ...errors import UsageError
from ...records import replace
from ...runtime.regex import regex
from ..columns import CHANGE, DECISIONS, FIRING, GAP, KINDS, MOVED, PERMISSION, RETENTION, STATUSES
from ..protocol import (
    EVERYTHING,
    HookStats,
    PermissionCount,
    SearchResult,
    Selection,
    SessionOverview,
    StoredChange,
    StoredFiring,
    StoredPermission,
    StoredSession,
    StoreUnreadable,
    Totals,
)
from ..questions import StoredQuestion
from .base import Base, nanoseconds
from .overview import recent_sessions, session_overviews, totals
from .questions import find_questions

__all__ = ["SqlReader"]

_PAGE = 500
_ALL = 1 << 62
"""A limit that no store reaches."""
_MOST_CALLS = 500
_FIRST_RANGE = 2_000
"""How many ids a search looks through before it looks at the time."""
_POLL_SECONDS = 0.2
"""Seconds between two reads of a store that is followed."""

Entry = StoredFiring | StoredPermission


class SqlReader:
    """Reads a store. Each call sees what was committed when it began; ``close()`` closes the connection."""

    def __init__(self, path: str, base: Base, *, has_permissions: bool = True) -> None:
        self.path = path
        self._base = base
        self._has_permissions = has_permissions
        """Whether the store's format has permissions and questions."""

    @property
    def has_nodes(self) -> bool:
        """Whether it has the records of several nodes of a fleet."""
        return self._base.has_nodes

    def close(self) -> None:
        """Close the connection."""
        self._base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _entries(self) -> str:
        """The beginning of a query of firings and permissions."""
        return (
            "SELECT r.id, r.kind, r.process, r.time, r.mono, e.word, r.subject, s.word, r.decision, r.took, b.body, "  # noqa: S608 - our own names
            f"{self._base.node} FROM records r {self._base.body} "
            "JOIN words e ON e.id = r.event JOIN words s ON s.id = r.session"
        )

    def _rows(self, query: str, values: Iterable[Any] = ()) -> list[Any]:
        with self._readable():
            return self._base.execute(query, tuple(values)).fetchall()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except self._base.errors as error:
            raise StoreUnreadable(f"the store cannot be read: {error}", where=self.path,
                                  hint="`interpose log verify` finds the damage") from error  # fmt: skip

    def store_id(self) -> str:
        """Return the id that the store got when it was created; empty if it is missing."""
        rows = self._rows("SELECT value FROM meta WHERE name = 'store'")
        return str(rows[0][0]) if rows else ""

    # Firings and permissions.

    def firings(
        self, selection: Selection = EVERYTHING, *, limit: int | None = None, oldest_first: bool = False
    ) -> Iterator[StoredFiring]:
        """Yield the firings of a selection, newest first, reading a page at a time."""
        for entry in self._pages(selection, (FIRING,), limit, oldest_first):
            if isinstance(entry, StoredFiring):
                yield entry

    def entries(
        self, selection: Selection = EVERYTHING, *, limit: int | None = None, oldest_first: bool = False
    ) -> Iterator[Entry]:
        """Yield the firings and permissions of a selection, newest first, reading a page at a time."""
        return self._pages(selection, (FIRING, PERMISSION), limit, oldest_first)

    def _pages(
        self, selection: Selection, kinds: tuple[int, ...], limit: int | None, oldest_first: bool
    ) -> Iterator[Entry]:
        self._check(selection)
        conditions, values = _conditions(selection, self._base)
        low, high = self._low(selection), selection.before
        left = limit if limit is not None else -1
        while left:
            count = _PAGE if left < 0 or selection.texts else min(_PAGE, left)
            bounds = "r.id > ?" + ("" if high is None else " AND r.id < ?")
            rows = self._rows(
                f"{self._entries} WHERE r.kind IN ({_marks(kinds)}) AND {bounds}{conditions} "
                f"ORDER BY r.id {'ASC' if oldest_first else 'DESC'} LIMIT ?",
                [*kinds, low, *(() if high is None else (high,)), *values, count],
            )
            for entry in map(_entry, rows):
                if not selection.texts or _has_text(entry.body, selection.texts):
                    yield entry
                    left -= 1
                    if not left:
                        return
            if len(rows) < count:
                return
            if oldest_first:
                low = rows[-1][0]
            else:
                high = rows[-1][0]

    def _check(self, selection: Selection) -> None:
        selection.check()
        if selection.nodes and not self._base.has_nodes:
            raise UsageError("a store of one machine has no nodes", where=self.path,
                             hint="--store postgresql://… reads what a fleet collects")  # fmt: skip

    def _low(self, selection: Selection) -> int:
        """Return the id after which the records of a selection are."""
        after = selection.after or 0
        if selection.since is None:
            return after
        with self._readable():
            return max(after, self._base.first_since(selection.since) - 1)

    def search(self, selection: Selection, *, limit: int, seconds: float, firings_only: bool = False) -> SearchResult:
        """Return the newest entries of a selection; stop after some seconds, and say how far it came."""
        self._check(selection)
        until = time.monotonic() + seconds
        lowest, high = self._low(selection), selection.before or self.last_id() + 1
        # An index leads to these at once; for others ranges of ids are searched, so that the time is looked at.
        indexed = bool(selection.sessions) or bool(
            selection.decisions and not {"none", "allow"} & {*selection.decisions}
        )
        size, found = (1 << 62 if indexed and not selection.texts else _FIRST_RANGE), list[Entry]()
        while high > lowest + 1:
            low = max(lowest, high - size)
            began = time.monotonic()
            some = replace(selection, after=low, before=high, since=selection.since)
            kinds = (FIRING,) if firings_only else (FIRING, PERMISSION)
            found += self._pages(some, kinds, limit + 1 - len(found), False)
            if len(found) > limit:
                return SearchResult(entries=tuple(found[:limit]), searched=found[limit - 1].id)
            high = low + 1
            now = time.monotonic()
            if now > until and high > lowest + 1:
                return SearchResult(entries=tuple(found), searched=high, late=True)
            size = size * 2 if now - began < seconds / 8 else size
        return SearchResult(entries=tuple(found))

    def entry(self, id: int) -> Entry | None:
        """Return the firing or the permission with this id, or None."""
        query = f"{self._entries} WHERE r.kind IN (?, ?) AND r.id = ?"
        return next(map(_entry, self._rows(query, (FIRING, PERMISSION, id))), None)

    def permissions_of(self, calls: Iterable[str]) -> dict[str, list[StoredPermission]]:
        """Return the permissions of calls, by the id of the call, oldest first."""
        found: dict[str, list[StoredPermission]] = {}
        wanted = list(dict.fromkeys(call for call in calls if call))
        if not self._has_permissions:
            return found  # permissions were not recorded
        for at in range(0, len(wanted), _MOST_CALLS):
            some = wanted[at : at + _MOST_CALLS]
            query = (
                f"{self._entries} WHERE r.id IN (SELECT record FROM permissions WHERE call IN ({_marks(some)})) "  # noqa: S608
                "AND r.kind = ? ORDER BY r.id"
            )
            for entry in map(_entry, self._rows(query, [*some, PERMISSION])):
                if isinstance(entry, StoredPermission):
                    found.setdefault(entry.call, []).append(entry)
        return found

    def last_id(self) -> int:
        """Return the id of the newest record; 0 if there is none."""
        with self._readable():
            return self._base.last_id()

    def follow(self, selection: Selection = EVERYTHING) -> Iterator[Entry]:
        """Yield firings and permissions as they are written, oldest first, without end."""
        seen = self.last_id() if selection.after is None else selection.after
        while True:
            upto = self.last_id()
            if upto > seen:
                yield from self.entries(replace(selection, after=seen, before=upto + 1), oldest_first=True)
                seen = upto
            else:
                time.sleep(_POLL_SECONDS)

    # Questions.

    def questions(
        self, *, session: str | None = None, answered: bool = False, limit: int = 1000
    ) -> list[StoredQuestion]:
        """Return questions, the newest first; without ``answered``, those that have no answer."""
        if not self._has_permissions:
            return []
        with self._readable():
            return find_questions(self._base, session=session, answered=answered, limit=limit)

    def question(self, id: str) -> StoredQuestion | None:
        """Return the question with this id, or None."""
        if not self._has_permissions:
            return None
        with self._readable():
            return next(iter(find_questions(self._base, id=id)), None)

    def change(self) -> object:
        """Return a value that is another one after a process has written to the store; cheap enough to be polled."""
        with self._readable():
            return self._base.change()

    # Aggregates.

    def totals(self, since: float | None = None, before: Totals | None = None) -> Totals:
        """Return the sums of all firings since a moment; ``before`` are sums for the same moment to go on from."""
        with self._readable():
            return totals(self._base, since, before)

    def recent_sessions(
        self, since: float | None = None, *, limit: int = 50, before: int | None = None
    ) -> list[SessionOverview]:
        """Return sessions, the most recently active first; with ``before``, those whose last record is older."""
        with self._readable():
            return recent_sessions(self._base, since, limit, before)

    def session(self, id: str) -> SessionOverview | None:
        """Return the session with this id, or None."""
        with self._readable():
            rows = self._rows("SELECT id FROM words WHERE word = ? AND word <> ''", (id,))
            return next(iter(session_overviews(self._base, [session for (session,) in rows])), None)

    def changes(self, *, limit: int = 50) -> list[StoredChange]:
        """Return what persons have changed about hooks, the newest first."""
        # They belong to no session, as few other records do, and so the index finds them.
        rows = self._rows(
            f"SELECT r.id, r.time, b.body FROM records r {self._base.body} "  # noqa: S608 - our own names
            "WHERE r.session = (SELECT id FROM words WHERE word = '') AND r.kind = ? ORDER BY r.id DESC LIMIT ?",
            (CHANGE, limit if limit >= 0 else _ALL),
        )
        return [StoredChange(id=number, time=at / 1e9, body=_body(body)) for number, at, body in rows]

    def hook_stats(self, since: float | None = None, *, sample: int | None = None) -> list[HookStats]:
        """Return what each hook did at each event; most runs first."""
        from .statistics import hook_stats

        with self._readable():
            return hook_stats(self._base, since, sample)

    def permission_counts(self, since: float | None = None) -> list[PermissionCount]:
        """Return how many permissions there are, by verdict and by decider; most first."""
        from .statistics import permission_counts

        with self._readable():
            return permission_counts(self._base, since) if self._has_permissions else []

    def question_counts(self, since: float | None = None) -> dict[str, int]:
        """Return how many questions there are, by their state now."""
        counts: dict[str, int] = {}
        for one in self.questions(answered=True, limit=-1):
            if since is None or one.time >= since:
                counts[one.state] = counts.get(one.state, 0) + 1
        return counts

    def last_fired(self) -> dict[tuple[str, str], float]:
        """Return when each hook last ran, by event and name; fast for a store of any size."""
        rows = self._rows(
            "SELECT h.event, h.name, r.time FROM hooks h JOIN records r ON r.id = "
            "(SELECT record FROM runs WHERE hook = h.id AND what & 3 <> 3 ORDER BY record DESC LIMIT 1)"
        )
        return {(event, name): at / 1e9 for event, name, at in rows}

    def session_ids(self) -> list[str]:
        """Return the ids of all sessions, the most recently active first."""
        rows = self._rows(
            "SELECT w.word FROM records r JOIN words w ON w.id = r.session WHERE r.kind = ? "
            "GROUP BY w.word ORDER BY max(r.id) DESC",
            (FIRING,),
        )
        return [word for (word,) in rows]

    def sessions(self, since: float | None = None, limit: int | None = None) -> list[StoredSession]:
        """Return sessions with their counts, the most recently active first."""
        from .statistics import sessions

        with self._readable():
            return sessions(self._base, since, limit, has_permissions=self._has_permissions)

    def configuration(self, digest: str) -> dict[str, Any] | None:
        """Return the description of a configuration: ``files`` with their hashes and those of the scripts they name."""
        rows = self._rows("SELECT body FROM configurations WHERE digest = ?", (digest,))
        return json.loads(rows[0][0]) if rows else None

    def gaps(self) -> list[dict[str, Any]]:
        """Return the records of lost firings, of deletions by retention, and of a store that was moved aside."""
        rows = self._rows(
            f"SELECT r.id, r.kind, r.time, r.process, b.body FROM records r {self._base.body} "  # noqa: S608 - our own names
            "WHERE r.kind IN (?, ?, ?) ORDER BY r.id",
            (GAP, RETENTION, MOVED),
        )
        return [
            {**_body(body), "id": number, "kind": KINDS[kind], "time": at / 1e9, "process": process}
            for number, kind, at, process, body in rows
        ]


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)


def _conditions(selection: Selection, base: Base) -> tuple[str, list[Any]]:
    """Return the conditions of a selection, each beginning with AND, and their values."""
    conditions, values = "", list[Any]()

    def add(condition: str, wanted: Iterable[Any]) -> None:
        nonlocal conditions
        listed = list(wanted)
        if listed:
            conditions += f" AND {condition.replace('(*)', f'({_marks(listed)})')}"
            values.extend(listed)

    add("r.event IN (SELECT id FROM words WHERE word IN (*))", selection.events)
    # A subject may also be the name of an agent: only a tool's is in `tool_name`.
    add("r.subject IN (*)", selection.tools)
    add(f"{_part('tool_name')} IN (*)", selection.tools)
    if selection.agents:
        marks = _marks(selection.agents)
        conditions += f" AND ({_part('agent_id')} IN ({marks}) OR {_CLIENT} IN ({marks}))"
        values += [*selection.agents, *selection.agents]
    # By name first: a hook that rarely ran is found without scanning every run.
    ran = "SELECT 1 FROM runs WHERE runs.hook IN (SELECT id FROM hooks WHERE name IN (*))"
    add(f"EXISTS ({ran} AND runs.record = r.id AND runs.what & 3 <> {STATUSES.index('skipped')})", selection.hooks)
    add("r.decision IN (*)", map(DECISIONS.index, selection.decisions))
    if selection.decisions and not {"none", "allow"} & {*selection.decisions}:
        conditions += " AND r.decision > 1"  # the condition of the index
    if selection.sessions:
        begins = " OR ".join("substr(word, 1, length(?)) = ?" for _ in selection.sessions)
        conditions += f" AND r.session IN (SELECT id FROM words WHERE {begins})"  # noqa: S608 - marks only
        values += [part for session in selection.sessions for part in (session, session)]
    if selection.texts:
        # A body is ASCII: a text that has to be escaped in it is looked for in the document, and so is a document with
        # escapes, whose letters may be those of the text in another case.
        plain = [text for text in selection.texts if _is_plain(text)]
        if len(plain) == len(selection.texts):
            like = " OR ".join(f"b.body {base.like} ? ESCAPE '!'" for _ in plain)
            conditions += f" AND ({like} OR instr(b.body, '\\u') > 0)"
            values += [f"%{_LIKE.sub(lambda found: '!' + found[0], text)}%" for text in plain]
    add(f"{base.node} IN (*)", selection.nodes)
    if selection.since is not None:
        conditions += " AND r.time >= ?"
        values.append(nanoseconds(selection.since))
    return conditions, values


_CLIENT = "CASE WHEN json_valid(b.body) THEN json_extract(b.body, '$.client.name') END"
"""SQL for the coding agent whose hook fired an event; older records have none."""

_LIKE = regex("[%_!]")


def _is_plain(text: str) -> bool:
    """Say whether a text is written in JSON as it is."""
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text


def _part(name: str) -> str:
    """Return SQL for a field of a firing's input, or of a permission; a body that was changed may be no JSON."""
    path = f"CASE r.kind WHEN {PERMISSION} THEN '$.{name}' ELSE '$.input.{name}' END"
    return f"CASE WHEN json_valid(b.body) THEN json_extract(b.body, {path}) END"


def _has_text(body: dict[str, Any], texts: tuple[str, ...]) -> bool:
    """Say whether one of these texts is in a string of a document; upper and lower case are the same."""
    wanted = [text.casefold() for text in texts]
    waiting: list[Any] = [body]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str) and any(text in one.casefold() for text in wanted):
            return True
    return False


def _entry(row: tuple[Any, ...]) -> Entry:
    number, kind, process, at, mono, event, subject, session, decision, took, body, node = row
    if kind == PERMISSION:
        return StoredPermission(
            id=number, process=process, time=at / 1e9, session=session, tool=subject, decision=DECISIONS[decision & 3],
            body=_body(body), node=node,
        )  # fmt: skip
    return StoredFiring(
        id=number, process=process, time=at / 1e9, monotonic=mono / 1e9, event=event, subject=subject,
        session=session, decision=DECISIONS[decision & 3], duration=took / 1e6,
        body=_body(body), node=node,
    )  # fmt: skip


def _body(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):  # the body was changed; `interpose log verify` reports it
        return {}
    return found if isinstance(found, dict) else {}
