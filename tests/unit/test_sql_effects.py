"""SQL is read as databases read it: words in strings and comments are no statements."""

from __future__ import annotations

import pytest

from interpose.policies.effects.rows import RUNS
from interpose.policies.effects.sql import sql_effects


def kinds(text: str) -> list[str]:
    return [one.kind for one in sql_effects(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("drop table a", "db-drop"),
        ("DROP INDEX CONCURRENTLY i", "db-drop"),
        ("truncate a", "db-drop"),
        ("ALTER TABLE a DROP COLUMN b", "db-drop"),
        ("ALTER TABLE a DROP b", "db-drop"),
        ("ALTER TABLE a DROP CONSTRAINT b", "db-schema"),
        ("ALTER TABLE a ALTER COLUMN b DROP NOT NULL", "db-schema"),
        ("GRANT ALL ON a TO b", "db-schema"),
        ("CREATE OR REPLACE VIEW v AS SELECT 1", "db-schema"),
        ("DELETE FROM a", "db-delete"),
        ("delete from a where true", "db-delete"),
        ("DELETE FROM a WHERE (1 = 1)", "db-delete"),
        ("DELETE FROM a WHERE b = 1 OR 1 = 1", "db-delete"),
        ("DELETE FROM a WHERE b = b", "db-delete"),
        ("DELETE FROM a -- WHERE b = 1", "db-delete"),
        ("DELETE FROM a # WHERE b = 1", "db-delete"),
        ("DELETE FROM a RETURNING *", "db-delete"),
        ("DELETE FROM a USING (SELECT 1 WHERE b = 1) c", "db-delete"),
        ("UPDATE a SET b = 'WHERE c = 1'", "db-delete"),
        ("BEGIN; UPDATE a SET b = 1; COMMIT", "db-delete"),
        ("EXPLAIN ANALYZE DELETE FROM a", "db-delete"),
        ("WITH x AS (DELETE FROM a RETURNING *) SELECT 1", "db-delete"),
        ("PREPARE p AS DELETE FROM a", "db-delete"),
        ("DO $x$ BEGIN DELETE FROM a; END $x$", "db-delete"),
        ("EXECUTE 'DROP TABLE a'", "db-drop"),
        ("/*!50001 DROP TABLE a */", "db-drop"),
        ("SELECT '\\'; DROP TABLE a; --'", "db-drop"),
        ("SELECT 1 # 2; DROP TABLE a", "db-drop"),
        ("COPY a TO PROGRAM 'rm -rf /'", RUNS),
        ("\\! rm -rf /", RUNS),
        ("SELECT 1 \\g | sh", RUNS),
        ("\\copy a from program 'id'", RUNS),
        (".shell rm -rf /", RUNS),
        ("EXEC xp_cmdshell 'dir'", RUNS),
    ],
)
def test_a_statement_has_its_effect(text: str, expected: str) -> None:
    assert kinds(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM drops",
        "SELECT 'DROP TABLE a'",
        "SELECT $$ DROP TABLE a $$",
        'SELECT "DROP TABLE a" FROM b',
        "-- DROP TABLE a",
        "/* DROP TABLE a; */ SELECT 1",
        "DELETE FROM a WHERE b = 1",
        "DELETE FROM a WHERE b IN (SELECT c FROM d)",
        "DELETE FROM a WHERE false",
        "UPDATE a SET b = 1 FROM c WHERE a.d = c.d",
        "INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 2",
        "SELECT * FROM a FOR UPDATE",
        "EXPLAIN DELETE FROM a",
        "CREATE TABLE a (b int)",
        "DROP TEMPORARY TABLE a",
        "SELECT truncate(1.23, 1)",
        "",
    ],
)
def test_other_statements_have_none(text: str) -> None:
    assert kinds(text) == []


def test_the_target_names_what_is_lost() -> None:
    assert [one.target for one in sql_effects("DROP TABLE IF EXISTS shop.users CASCADE")] == ["TABLE shop.users"]
    assert [one.target for one in sql_effects("DELETE FROM ONLY shop.users")] == ["of shop.users"]
    assert [one.target for one in sql_effects("TRUNCATE TABLE orders, items")] == ["all rows of orders"]
