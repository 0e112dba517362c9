"""An event is a row of the table: the engine asks the row what it can, never what it is called."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.tables import rows

from interpose.events import TABLE

PACKAGE = Path(__file__).parents[2] / "src" / "interpose"

# The table itself, and the parts that speak with hosts, wires and people. All other modules are the engine's half,
# so a new one is looked at without being listed.
MAY_NAME_EVENTS = {
    "events", "session", "agent", "attach", "dialects", "compat", "adapters", "policies",
    "cli", "audit", "telemetry", "scripts", "testing", "replay", "models",
}  # fmt: skip

CLIENTS = {"server/client.py", "server/thin_client.py"}
"""Programs that stand alone and load no table; a refusal of theirs must not keep an agent going."""

ENGINE_HALF = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.relative_to(PACKAGE).parts[0].removesuffix(".py") not in MAY_NAME_EVENTS
    and path.relative_to(PACKAGE).as_posix() not in CLIENTS
]


def string_literals(source: str) -> Iterator[tuple[int, str]]:
    """Line and value of every string in ``source`` that is not there as documentation."""
    tree = ast.parse(source)
    documentation = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documentation:
            yield node.lineno, node.value


@rows("path", ENGINE_HALF)
def test_the_engine_knows_no_event_by_name(path: Path) -> None:
    names = set(TABLE.spellings())

    named = [(line, text) for line, text in string_literals(path.read_text("utf-8")) if text in names]

    assert named == []


def test_a_docstring_may_name_an_event_and_code_may_not() -> None:
    source = '"""Stop"""\nif event == "Stop":\n    "Stop"\n'

    assert list(string_literals(source)) == [(2, "Stop")]
