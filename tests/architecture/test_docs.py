"""What the documentation shows is what the program takes: configurations load, links lead somewhere, commands exist."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from interpose.cli.commands import COMMANDS
from interpose.config.mapping import read_mapping
from interpose.config.text import parse
from interpose.events import TABLE

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def blocks(language: str) -> list[Any]:
    return [
        pytest.param(block, id=f"{page.name}: {block.strip().splitlines()[0][:40]}")
        for page in PAGES
        for block in re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)
    ]


@pytest.mark.parametrize("text", [block for block in blocks("yaml") if str(block.values[0]).startswith("hooks:")])
def test_a_configuration_in_the_documentation_loads(text: str) -> None:
    given = parse(text.encode(), "docs.yaml", format="yaml").value
    given.pop("scripts", None)  # they are shown elsewhere on the page

    assert read_mapping(TABLE, given).hooks


@pytest.mark.parametrize("text", blocks("json"))
def test_json_in_the_documentation_is_json(text: str) -> None:
    documents = [text] if text.lstrip().startswith("{\n") else text.strip().splitlines()

    for document in documents:
        value = json.loads(document)
        if "hooks" in value:
            assert read_mapping(TABLE, value, directory=str(ROOT)).hooks


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.name))
def test_links_inside_the_project_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)(#[^)]*)?\)", page.read_text())

    assert [target for target, _ in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.name))
def test_commands_that_are_named_exist(page: Path) -> None:
    named = set(re.findall(r"(?:`|^|\$ )interpose ([a-z]+)\b", page.read_text(), re.MULTILINE))

    assert named - {command.name for command in COMMANDS} == set()
