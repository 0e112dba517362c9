"""The tables of a fleet's record in PostgreSQL, in a schema of their own.

A record has an id of its own here, in the order in which records were collected, and the number that it has in the
store of its node. The tables of records have a partition for each day on which they were collected.
"""

from __future__ import annotations

from typing import Any

from ..protocol import NotAStore

__all__ = ["FORMAT", "PARTITIONED", "create_tables"]

FORMAT = 1

PARTITIONED = ("records", "runs", "permissions")

_LOCK = 0x496E7465
"""The advisory lock under which tables are made."""

_TABLES = """
CREATE SCHEMA IF NOT EXISTS interpose;
CREATE TABLE IF NOT EXISTS interpose.meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE IF NOT EXISTS progress (
    one integer PRIMARY KEY CHECK (one = 1), last bigint NOT NULL, dropped bigint NOT NULL, quarantined bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS stores (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, node text NOT NULL, store text NOT NULL,
    since bigint NOT NULL, flaws integer NOT NULL DEFAULT 0, UNIQUE (node, store)
);
CREATE TABLE IF NOT EXISTS stretches (
    store integer NOT NULL, first bigint NOT NULL, last bigint NOT NULL, before bytea NOT NULL, hash bytea NOT NULL,
    PRIMARY KEY (store, first)
);
CREATE TABLE IF NOT EXISTS batches (first bigint PRIMARY KEY, last bigint NOT NULL, arrived bigint NOT NULL);
CREATE INDEX IF NOT EXISTS batches_by_time ON batches (arrived);
CREATE TABLE IF NOT EXISTS processes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, store integer NOT NULL, number bigint NOT NULL,
    uuid text NOT NULL, about text NOT NULL, UNIQUE (store, number)
);
CREATE TABLE IF NOT EXISTS records (
    id bigint NOT NULL, day integer NOT NULL, store integer NOT NULL, number bigint NOT NULL, process bigint NOT NULL,
    kind smallint NOT NULL, time bigint NOT NULL, mono bigint NOT NULL, event bigint NOT NULL, session bigint NOT NULL,
    subject text NOT NULL, decision smallint NOT NULL, took bigint NOT NULL, hash bytea NOT NULL, body text NOT NULL,
    PRIMARY KEY (id, day), UNIQUE (store, number, day)
) PARTITION BY LIST (day);
CREATE INDEX IF NOT EXISTS records_of_sessions ON records (session, id);
CREATE INDEX IF NOT EXISTS strict_records ON records (decision, id) WHERE decision > 1;
CREATE INDEX IF NOT EXISTS other_records ON records (kind, id) WHERE kind > 0;
CREATE TABLE IF NOT EXISTS runs (
    hook bigint NOT NULL, record bigint NOT NULL, place integer NOT NULL, what smallint NOT NULL, took bigint NOT NULL,
    session bigint NOT NULL, day integer NOT NULL, PRIMARY KEY (hook, record, place, day)
) PARTITION BY LIST (day);
CREATE INDEX IF NOT EXISTS failed_runs ON runs (record) WHERE what & 3 IN (1, 2);
CREATE INDEX IF NOT EXISTS telling_runs ON runs (hook, what, record) WHERE what <> 0;
CREATE TABLE IF NOT EXISTS permissions (
    record bigint NOT NULL, call text NOT NULL, day integer NOT NULL, PRIMARY KEY (record, day)
) PARTITION BY LIST (day);
CREATE INDEX IF NOT EXISTS permissions_of_calls ON permissions (call);
CREATE TABLE IF NOT EXISTS questions (
    id text NOT NULL, store integer NOT NULL, record bigint NOT NULL, session text NOT NULL, until bigint NOT NULL,
    answer bigint, PRIMARY KEY (id, store)
);
CREATE INDEX IF NOT EXISTS open_questions ON questions (record) WHERE answer IS NULL;
CREATE TABLE IF NOT EXISTS hooks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event text NOT NULL, name text NOT NULL, UNIQUE (event, name)
);
CREATE TABLE IF NOT EXISTS words (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, word text NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS configurations (digest text PRIMARY KEY, body text NOT NULL);
CREATE TABLE IF NOT EXISTS flaws (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), store integer NOT NULL,
    number bigint NOT NULL, what text NOT NULL, UNIQUE (store, number, what)
);
CREATE TABLE IF NOT EXISTS quarantine (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), subject text NOT NULL,
    reason text NOT NULL, size bigint NOT NULL, digest bytea NOT NULL, payload bytea NOT NULL, UNIQUE (subject, digest)
);
CREATE TABLE IF NOT EXISTS dropped (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), day integer NOT NULL,
    store integer NOT NULL, first bigint NOT NULL, last bigint NOT NULL, hash bytea NOT NULL
);
CREATE OR REPLACE VIEW bodies AS SELECT id AS record, body FROM records;
CREATE OR REPLACE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS 'SELECT strpos($1, $2)';
-- PostgreSQL catches an exception in a subtransaction, which no parallel query may begin: these two are unsafe.
CREATE OR REPLACE FUNCTION json_valid(body text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL UNSAFE AS $$
BEGIN
    PERFORM body::json;
    RETURN true;
EXCEPTION WHEN others THEN
    RETURN false;
END $$;
CREATE OR REPLACE FUNCTION json_extract(body text, path text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL UNSAFE AS $$
BEGIN
    RETURN body::json #>> string_to_array(substr(path, 3), '.');
EXCEPTION WHEN others THEN
    BEGIN  -- a NUL or a lone surrogate somewhere, which no text here can have
        RETURN regexp_replace(body, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::json
            #>> string_to_array(substr(path, 3), '.');
    EXCEPTION WHEN others THEN
        RETURN NULL;
    END;
END $$;
INSERT INTO progress VALUES (1, 0, 0, 0) ON CONFLICT DO NOTHING;
INSERT INTO words (word) SELECT '' WHERE NOT EXISTS (SELECT FROM words WHERE word = '');
"""


def create_tables(connection: Any, store: str, team: str) -> None:
    """Create the tables if they are not there; ``store`` becomes the id of this store.

    Raises NotAStore for tables of a later version, or of another team.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        if connection.execute("SELECT to_regclass('interpose.meta')").fetchone()[0] is None:
            connection.execute(_TABLES)
            for name, value in (("format", str(FORMAT)), ("store", store), ("team", team)):
                connection.execute("INSERT INTO meta VALUES (%s, %s)", (name, value))
            return
        found = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    if found.get("format") != str(FORMAT):
        raise NotAStore("the schema interpose of this database was made by another version", hint="name another one")
    if found.get("team") != team:
        raise NotAStore(f"this database has the record of team {found.get('team')!r:.80}",
                        hint="a team has a database of its own")  # fmt: skip
