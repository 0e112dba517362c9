"""The store's tables, the codes in their columns, and how the columns follow from a record's body.

``bodies`` has everything, one JSON document per record. The other tables repeat parts of it, so that lists and
statistics need not read the documents; ``verify`` computes them again from the bodies and compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "APPLICATION",
    "DECISIONS",
    "FORMAT",
    "KINDS",
    "NO_COLUMNS",
    "SCHEMA",
    "STATUSES",
    "Columns",
    "RunColumns",
    "columns_of",
    "run_of",
    "storable",
    "what_of",
]

APPLICATION = 0x49504F53
"""SQLite's application id in the header of the file."""

FORMAT = 1
"""The version of this layout; a store with a higher one is not opened."""

KINDS = ("firing", "gap", "retention", "moved", "end")
"""The kinds of records: a firing; lost firings; records that retention deleted; a damaged store that was moved aside;
the last record of a process that ended in order. The place of a kind is its code in the file."""

DECISIONS = ("none", "allow", "ask", "deny")
STATUSES = ("ok", "failed", "timeout", "skipped")
"""The place of a decision or a status is its code in the file: a storage format, which must not change."""

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE processes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- a number that was given away once is missed when its process is gone
    uuid TEXT NOT NULL UNIQUE,
    about TEXT NOT NULL
);
CREATE TABLE heads (
    process INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL, time INTEGER NOT NULL,
    ended INTEGER NOT NULL, mac BLOB
);
CREATE TABLE checkpoints (
    process INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL  -- of the last record that was deleted
);
CREATE TABLE forgotten (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);  -- processes that were deleted as a whole
CREATE TABLE records (
    id INTEGER PRIMARY KEY, process INTEGER NOT NULL, seq INTEGER NOT NULL, kind INTEGER NOT NULL,
    time INTEGER NOT NULL, mono INTEGER NOT NULL, event INTEGER NOT NULL, session INTEGER NOT NULL,
    subject TEXT NOT NULL, decision INTEGER NOT NULL, took INTEGER NOT NULL, hash BLOB NOT NULL
);
CREATE UNIQUE INDEX chain ON records (process, seq);
CREATE TABLE bodies (record INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE runs (
    hook INTEGER NOT NULL, record INTEGER NOT NULL, place INTEGER NOT NULL, what INTEGER NOT NULL,
    took INTEGER NOT NULL, session INTEGER NOT NULL, PRIMARY KEY (hook, record, place)
) WITHOUT ROWID;
CREATE TABLE hooks (id INTEGER PRIMARY KEY, event TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (event, name));
CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
CREATE TABLE configurations (digest TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE VIEW log AS
    SELECT r.id, datetime(r.time / 1000000000, 'unixepoch') AS time, s.word AS session, e.word AS event, r.subject,
           CASE r.decision WHEN 0 THEN 'none' WHEN 1 THEN 'allow' WHEN 2 THEN 'ask' ELSE 'deny' END AS decision,
           r.took / 1000.0 AS milliseconds, b.body
    FROM records r JOIN bodies b ON b.record = r.id JOIN words e ON e.id = r.event JOIN words s ON s.id = r.session
    WHERE r.kind = 0;
"""

RunColumns = tuple[str, int, int]
"""A hook's name, the code of its result, and its duration in microseconds."""

Columns = tuple[str, str, str, int, int, list[RunColumns]]
"""Event, session, subject, decision and duration of a firing, and the runs of its hooks."""

NO_COLUMNS: Columns = ("", "", "", 0, 0, [])
"""The columns of a record that is not a firing."""


def what_of(status: str, decision: str, round: int, enforced: bool) -> int:
    """Return the code of a hook's result."""
    return (
        (STATUSES.index(status) if status in STATUSES else 1)
        + 4 * (DECISIONS.index(decision) if decision in DECISIONS else 0)
        + (0 if enforced else 16)
        + (32 if round == 2 else 0)
    )


def run_of(what: int) -> tuple[str, str, int, bool]:
    """Return the status, the decision, the round and whether it was enforced, from the code of a result."""
    return STATUSES[what & 3], DECISIONS[what >> 2 & 3], 2 if what & 32 else 1, not what & 16


def storable(text: object) -> str:
    """Return a text for a column: empty for other types, and without lone surrogates."""
    if not isinstance(text, str):
        return ""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def columns_of(body: Mapping[str, Any]) -> Columns:
    """Return the columns of a firing from its body."""
    decision = body.get("decision", "none")
    given = body.get("input")
    runs = [
        (
            storable(run["hook"]),
            what_of(
                run.get("status", "ok"), run.get("decision", "none"), run.get("round", 1), run.get("enforced", True)
            ),
            run.get("us", 0),
        )
        for run in body.get("runs", ())
    ]
    return (
        storable(body.get("event")),
        storable(given.get("session_id")) if isinstance(given, dict) else "",
        storable(body.get("subject")),
        DECISIONS.index(decision) if decision in DECISIONS else 0,
        body.get("us", 0),
        runs,
    )
