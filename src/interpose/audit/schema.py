"""How the store is laid out: its tables, the small numbers in them, and how a row's columns follow from its body.

``bodies`` has all that was recorded, one JSON document per record. The other tables repeat parts of it, so that a list
or a statistic need not read the documents; whoever verifies a store makes them anew from the bodies and compares.
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
    "Run",
    "columns_of",
    "run_of",
    "storable",
    "what_of",
]

APPLICATION = 0x49504F53
"""Stands in the header of the file and says that it is one of ours."""

FORMAT = 1
"""The number of this layout; a store with a higher one is left to whoever wrote it."""

KINDS = ("firing", "gap", "retention", "moved", "end")
"""What a record can be: a firing; firings that were lost; records that were deleted by their age or for their size; a
damaged store that was moved aside; and the last record of a process that ended in order."""

DECISIONS = ("none", "allow", "ask", "deny")
STATUSES = ("ok", "failed", "timeout", "skipped")

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

Run = tuple[str, int, int]
"""A hook's name, what became of it, and the microseconds that it took."""


Columns = tuple[str, str, str, int, int, list[Run]]
"""Event, session, subject, decision and microseconds of a firing, and the runs of its hooks."""

NO_COLUMNS: Columns = ("", "", "", 0, 0, [])
"""Those of a record that is no firing."""


def what_of(status: str, decision: str, round: int, enforced: bool) -> int:
    """Return what became of a hook as one number."""
    return (
        (STATUSES.index(status) if status in STATUSES else 1)
        + 4 * (DECISIONS.index(decision) if decision in DECISIONS else 0)
        + (0 if enforced else 16)
        + (32 if round == 2 else 0)
    )


def run_of(what: int) -> tuple[str, str, int, bool]:
    """Return the status, the decision, the round and whether it was enforced."""
    return STATUSES[what & 3], DECISIONS[what >> 2 & 3], 2 if what & 32 else 1, not what & 16


def storable(text: object) -> str:
    """Return what a column holds of a text: nothing that is no text, and no half of a character."""
    if not isinstance(text, str):
        return ""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def columns_of(body: Mapping[str, Any]) -> Columns:
    """Return event, session, subject, decision and microseconds of a firing's body, and the runs of its hooks."""
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
