"""Other packages know the audit store by its protocol: no database and no SQL is outside its packages."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "interpose"
DATABASES = tuple(PACKAGE / "audit" / name for name in ("postgres", "sql", "sqlite"))
SQLITE = PACKAGE / "audit" / "sqlite"
ELSEWHERE = [path for path in sorted(PACKAGE.rglob("*.py")) if not any(map(path.is_relative_to, DATABASES))]

OPENERS = {"audit/raw.py", "audit/reader.py", "audit/verify.py", "audit/writer.py"}
"""The modules that choose what is behind the protocol, each in one function."""

SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\w+\s+SET|CREATE\s+TABLE|PRAGMA\s)\b", re.DOTALL
)
ABOUT_SQL = ("policies/effects/", "policies/cases/", "matching/")  # what they say of the SQL of others


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, by their full names; of a file that does not name SQLite, none."""
    if "sqlite" not in path.read_text("utf-8"):
        return
    package = ("interpose", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_nothing_outside_imports_sqlite() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): {
            name for name in imported(path) if re.match(r"sqlite3\b|interpose\.audit\.sqlite\b", name)
        }
        for path in ELSEWHERE
    }

    found |= {
        path.relative_to(PACKAGE).as_posix(): {name for name in imported(path) if "sqlite" in name}
        for folder in DATABASES if folder != SQLITE for path in folder.rglob("*.py")
    }  # fmt: skip

    assert {name for name, modules in found.items() if modules} == OPENERS
    assert [name for path in OPENERS for name in found[path] if not name.startswith("interpose.audit.sqlite.")] == []


def test_only_the_collector_writes_to_postgresql() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in ELSEWHERE
        if re.search(r"\bpostgres\.(writer|schema|partitions|rows)\b", path.read_text("utf-8"))
    }

    assert found == {"fleet/collect.py"}


def test_no_sql_is_written_outside() -> None:
    found = [
        (path.relative_to(PACKAGE).as_posix(), node.lineno)
        for path in ELSEWHERE
        if not path.relative_to(PACKAGE).as_posix().startswith(ABOUT_SQL)
        if SQL.search(path.read_text("utf-8"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value)
    ]

    assert found == []
