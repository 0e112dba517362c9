"""Read the statements that tools for databases are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...matching.tool_inputs import TooMuch, limited_values, plain_key
from ...runtime.regex import regex
from .effect import Effect
from .rows import RUNS
from .sql import sql_effects

__all__ = ["effects_of_query"]

_STATEMENTS = frozenset({"sql", "statement", "statements", "sqlquery", "queries"})
_QUERIES = frozenset({"query", "text", "command", "q", "sqltext", "sqlstatement", "script"})
_DATABASE = regex(
    r"(?i)sql|database|postgres|maria|supabase|snowflake|bigquery|redshift|clickhouse|duckdb|oracle|(?:^|_)(?:db|neon)(?:_|$)"
)
_NAMES = frozenset(
    {"database", "host", "connection", "connectionstring", "project", "projectid", "schema", "dsn", "environment"}
)


def effects_of_query(tool: str, given: Mapping[str, Any]) -> tuple[Effect, ...]:
    """Return what the statements do that a tool is given: under ``sql``, or under ``query`` if it is for databases."""
    return tuple(dict.fromkeys(_effects(tool, given)))


def _effects(tool: str, given: Mapping[str, Any]) -> Iterator[Effect]:
    keys = _STATEMENTS | _QUERIES if _DATABASE.search(tool) else _STATEMENTS
    try:
        values = [(plain_key(key), value) for key, value, _ in limited_values(given) if isinstance(value, str)]
    except TooMuch:
        return
    named = tuple(value for key, value in values if key in _NAMES)
    for key, value in values:
        if key in keys:
            for one in sql_effects(value):
                if one.kind != RUNS:
                    yield Effect(one.kind, one.target, tool, tool, values=named)
