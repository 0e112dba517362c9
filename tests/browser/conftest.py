"""A Chromium, a project with ask rules and a record, and its pages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.asking import configure
from tests.browser.pages import Started, browser, chromium, pages
from tests.browser.watched import Watched

from interpose import AuditStore, Hooks

TURNS = """turns:
  - say: I publish.
    calls: [{Bash: {command: "echo published >> out.txt"}}]
  - say: Done.
"""


@pytest.fixture(scope="session")
def chrome() -> Iterator[Any]:
    if not chromium():
        pytest.skip("there is no Chromium on this machine")
    with browser() as made:
        yield made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    configure(tmp_path)
    (tmp_path / "turns.yaml").write_text(TURNS)
    hooks = Hooks()
    with AuditStore(tmp_path / "audit.db") as store:
        hooks.record(store)
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, session_id="earlier")
    return tmp_path


@pytest.fixture
def started(project: Path) -> Iterator[Started]:
    with pages(project, "--config", "hooks.yaml") as made:
        yield made


@pytest.fixture
def watched(chrome: Any, started: Started) -> Iterator[Watched]:
    made = Watched(chrome)
    yield made
    made.context.close()
    assert made.wrong == []
