"""The agent, and whatever people copy, stand on public names alone: what these need, any host can have."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import interpose

ROOT = Path(__file__).parents[2]
AGENT = ROOT / "src" / "interpose" / "agent"
ADAPTERS = ROOT / "src" / "interpose" / "adapters"
MOST_LINES_OF_AN_ADAPTER = 150
COPIED = (ROOT / "src" / "interpose" / "cli" / "demo" / "project", ROOT / "examples")


def imported(text: str, file: Path, package: Path) -> Iterator[str]:
    """What a module of a package imports of Interpose, as ``interpose.name``; what is beside it does not count."""
    depth = len(file.relative_to(package).parts)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == "interpose")
        elif isinstance(node, ast.ImportFrom) and node.level > depth:
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").startswith("interpose"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def private_of(package: Path) -> list[str]:
    public = {"interpose", *(f"interpose.{name}" for name in interpose.__all__)}
    files = [file for file in package.rglob("*.py") if not file.name.startswith("test_")]
    assert files
    return [
        f"{file.relative_to(package)}: {name}"
        for file in files
        for name in imported(file.read_text("utf-8"), file, package)
        if name not in public and not name.startswith("interpose.models.")
    ]


@pytest.mark.parametrize("package", [AGENT, ADAPTERS, *COPIED], ids=lambda path: path.name)
def test_only_public_names_are_imported(package: Path) -> None:
    assert private_of(package) == []


def test_an_adapter_is_short() -> None:
    lines = {file.name: len(file.read_text("utf-8").splitlines()) for file in ADAPTERS.glob("*.py")}
    shared = lines.pop("base.py")

    assert {name: count for name, count in lines.items() if count > MOST_LINES_OF_AN_ADAPTER} == {}
    assert shared <= 2 * MOST_LINES_OF_AN_ADAPTER


@pytest.mark.parametrize(
    "line",
    [
        "from ..hooks import Hooks",
        "from .. import hooks",
        "import interpose.engine",
        "from interpose.model import Hook",
    ],
)
def test_another_name_would_be_found(line: str) -> None:
    assert list(imported(line, AGENT / "loop.py", AGENT))


@pytest.mark.parametrize("line", ["from .agent import Agent", "from . import models", "import asyncio"])
def test_what_is_the_agents_own_or_anybodys_may_be_imported(line: str) -> None:
    assert not list(imported(line, AGENT / "loop.py", AGENT))
