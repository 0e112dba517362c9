"""The tables of a store in SQLite.

``bodies`` has everything, one JSON document per record. The records of all processes form one chain: their ids have no
gaps, and ``head`` has the id and the hash of the last one. The other columns repeat parts of the bodies.
"""

from __future__ import annotations

__all__ = ["APPLICATION", "FORMAT", "INDEXES", "OLDEST_READABLE", "SCHEMA"]

APPLICATION = 0x49504F53
"""SQLite's application id in the header of the file."""

FORMAT = 2
"""The version of this layout; a store with a higher one is not opened."""

OLDEST_READABLE = 1
"""The oldest layout that can be read. Format 1 had a chain per process; it is neither written nor verified."""

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1), record INTEGER NOT NULL, hash BLOB NOT NULL, mac BLOB
);
CREATE TABLE processes (
    id INTEGER PRIMARY KEY,  -- the id of its first record
    last INTEGER NOT NULL,  -- the id of its last record
    uuid TEXT NOT NULL UNIQUE, about TEXT NOT NULL
);
CREATE TABLE records (
    id INTEGER PRIMARY KEY, process INTEGER NOT NULL, kind INTEGER NOT NULL, time INTEGER NOT NULL,
    mono INTEGER NOT NULL, event INTEGER NOT NULL, session INTEGER NOT NULL, subject TEXT NOT NULL,
    decision INTEGER NOT NULL, took INTEGER NOT NULL, hash BLOB NOT NULL
);
CREATE TABLE bodies (record INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE runs (
    hook INTEGER NOT NULL, record INTEGER NOT NULL, place INTEGER NOT NULL, what INTEGER NOT NULL,
    took INTEGER NOT NULL, session INTEGER NOT NULL, PRIMARY KEY (hook, record, place)
) WITHOUT ROWID;
CREATE TABLE permissions (record INTEGER PRIMARY KEY, call TEXT NOT NULL);  -- the tool_use_id of the call
CREATE INDEX permissions_of_calls ON permissions (call);
CREATE TABLE questions (
    id TEXT PRIMARY KEY, record INTEGER NOT NULL, session TEXT NOT NULL,
    until INTEGER NOT NULL,  -- the moment at which it expires
    answer INTEGER  -- the record of its answer
) WITHOUT ROWID;
CREATE INDEX open_questions ON questions (record) WHERE answer IS NULL;
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

INDEXES = """
CREATE INDEX IF NOT EXISTS records_of_sessions ON records (session, id, kind, decision, took);
CREATE INDEX IF NOT EXISTS strict_records ON records (decision, id) WHERE decision > 1;
CREATE INDEX IF NOT EXISTS failed_runs ON runs (record) WHERE what & 3 IN (1, 2);
CREATE INDEX IF NOT EXISTS failed_runs_of_sessions ON runs (session, record) WHERE what & 3 IN (1, 2);
CREATE INDEX IF NOT EXISTS telling_runs ON runs (hook, what, record) WHERE what <> 0;
"""
"""What lists and pages look up in a large store. Every query is answered without them too, only later: a store that an
earlier version made gets them when pages are opened. Of four of them a query has to repeat the condition."""
