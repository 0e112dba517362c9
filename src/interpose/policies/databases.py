"""Ask before data or tables of a database are lost."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import STRICTNESS
from .call import Call
from .effects import Effect, say
from .environments import names_match, production
from .parameters import action, flag, names
from .policy import Action, Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {"db-drop": "drop", "db-delete": "noWhere", "db-reset": "reset", "db-schema": "schema"}
_INSTEAD = {
    "db-delete": "add a WHERE that chooses rows",
    "db-reset": "a migration keeps the data",
    "db-drop": "a backup first, or a person does it",
}
_INTERPRETERS = (
    "python",
    "py",
    "node",
    "bun",
    "deno",
    "tsx",
    "ts-node",
    "ruby",
    "perl",
    "php",
    "awk",
    "lua",
    "ipython",
)


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_PARAMETERS):
        if (
            not options["strings"]
            and effect.program.lower().startswith(_INTERPRETERS)
            and "manage.py" not in effect.command
        ):
            continue
        yield _objection(effect, options)


def _objection(effect: Effect, options: Options) -> Objection:
    chosen: Action = options[_PARAMETERS[effect.kind]]
    reason = say(effect, _INSTEAD.get(effect.kind, ""))
    named = (*effect.values, *_database(effect))
    if names_match(named, options["production"]):
        stricter = options["productionChange" if effect.kind == "db-schema" else "productionDelete"]
        chosen = max(chosen, stricter, key=lambda one: STRICTNESS.get(one, 0))
        reason += ", in production"
    elif names_match(named, options["free"]):
        chosen = "allow"
    return Objection(chosen, reason, effect.grade)


def _database(effect: Effect) -> tuple[str, ...]:
    """Return the target if it is a database; a table may have any name."""
    first, _, rest = effect.target.partition(" ")
    return (effect.target,) if not rest or first.upper() in ("DATABASE", "SCHEMA", "KEYSPACE") else ()


POLICY = Policy(
    name="databases",
    prevents="Dropping, truncating or resetting databases, and deleting or updating rows without a WHERE.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action(
            "drop",
            "ask",
            "DROP, TRUNCATE, ALTER … DROP COLUMN, FLUSHALL, dropDatabase, dropdb, restores that clean first",
        ),
        action("noWhere", "ask", "DELETE and UPDATE without a WHERE that chooses rows, deleteMany({})"),
        action(
            "reset",
            "ask",
            "resets by migration tools: prisma migrate reset, rails db:drop, manage.py flush, alembic downgrade base",
        ),
        action("schema", "ask", "ALTER, RENAME, GRANT, REVOKE, CREATE OR REPLACE, migrations"),
        production(),
        action("productionChange", "ask", "changes of the schema in production"),
        action("productionDelete", "deny", "all the others in production"),
        names("free", (), "the names of databases, hosts and environments where everything is allowed, such as test"),
        flag("strings", True, "whether statements in inline code are judged: python -c, node -e"),
    ),
    recommended={"schema": "allow", "free": ["test", "testing"]},
    notes=(
        "SQL is split into tokens, so that a word in a string or a comment is no statement. It is read "
        "from the options and "
        "operands of clients, from here-documents and pipes, from inline code, and from the input of MCP "
        "tools for databases. "
        "A file of statements (`psql -f`) is not read unless the same line writes it."
    ),
)
