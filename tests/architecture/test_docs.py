"""What the documentation shows is what the program does: pages run, links lead somewhere, generated parts are current."""

import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from tests.architecture.pages import Wrong, compare, compile_python, fences, read_json, read_script, read_yaml
from tests.tables import rows
from tools.docs import PARTS, for_the_site, renewed
from tools.docs.api import MODULES

from interpose.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").glob("*.md"))
BESIDE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES = [*DOCS, *BESIDE]


def text_of(page: Path) -> str:
    return page.read_text("utf-8")


def without_fences(text: str) -> str:
    return re.sub(r"^[ ]*```.*?^[ ]*```", "", text, flags=re.DOTALL | re.MULTILINE)


# What is shown happens.


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in DOCS if any(fences(text_of(page)))], ids=lambda page: page.name)
def test_what_a_page_shows_is_what_happens(page: Path, tmp_path: Path, quick: Path) -> None:
    project = tmp_path / "home" / "project"
    project.mkdir(parents=True)
    environment = {
        "PATH": f"{quick}:{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(project.parent),
        "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip

    followed = subprocess.run(
        [sys.executable, "-m", "tests.architecture.pages", str(page)], cwd=project, env=environment,
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip

    assert followed.returncode == 0, followed.stdout + followed.stderr


@rows("page", BESIDE)
def test_what_a_page_shows_can_be_read(page: Path) -> None:
    readers = {"python": compile_python, "yaml": read_yaml, "json": read_json, "arma": read_script}

    for fence in fences(text_of(page)):
        if fence.language in readers and not fence.shown_only:
            readers[fence.language](fence.text)


def test_a_page_that_shows_what_does_not_happen_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    compare("took 3 ms in ~/project\n", f"took 27.5 ms in {tmp_path}/project\n")
    with pytest.raises(Wrong):
        compare("True\n", "False\n")
    with pytest.raises(Wrong):
        compare("True\n", "True\nand more\n")


def test_marks_above_a_fence_say_what_to_do_with_it() -> None:
    page = "text\n\n<!-- needs: jq -->\n<!-- file: a.sh -->\n```sh\ntrue\n```\n\n<!-- shown only: why -->\n```go\nx\n```\n```\ny\n```\n"

    first, second, third = fences(page)

    assert (first.language, first.file, first.needs, first.line) == ("sh", "a.sh", ["jq"], 6)
    assert second.shown_only
    assert (third.language, third.text, third.below) == ("", "y\n", "")


# Links lead somewhere.


def anchors(text: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", without_fences(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@rows("page", PAGES)
def test_links_lead_to_a_page_and_a_heading_that_are_there(page: Path) -> None:
    lost = []
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", without_fences(text_of(page))):
        leads_to = page.parent / target if target else page
        if not leads_to.exists() or (anchor and anchor not in anchors(text_of(leads_to))):
            lost.append(f"{target}#{anchor}")

    assert lost == []


def test_on_the_site_a_link_to_what_is_no_page_is_text() -> None:
    page = "See [one](../examples/one/README.md), [`two`](../two.md#part) and [three](three.md)."

    assert for_the_site(page) == "See one, `two` and [three](three.md)."


def test_the_navigation_has_every_page_once() -> None:
    sections = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]

    listed = [page for section in sections for pages in section.values() for page in pages]

    assert sorted(listed) == [page.name for page in DOCS]


def test_the_first_page_leads_to_every_page() -> None:
    linked = set(re.findall(r"\(([\w-]+\.md)\)", text_of(ROOT / "docs" / "index.md")))

    assert {page.name for page in DOCS} - linked - {"index.md"} == set()


@rows("page", DOCS)
def test_a_bar_in_a_table_does_not_stand_in_a_code_span(page: Path) -> None:
    # Some readers of Markdown show the backslash, others need it.
    rows = [line for line in without_fences(text_of(page)).splitlines() if line.startswith("|")]

    assert [row for row in rows for span in re.findall(r"`[^`]*`", row) if "\\|" in span] == []


@rows("page", PAGES)
def test_commands_that_are_named_exist(page: Path) -> None:
    named = set(re.findall(r"(?:`|^|\$ )interpose ([a-z]+(?:-[a-z]+)*)\b", text_of(page), re.MULTILINE))

    assert named - {command.name for command in COMMANDS} == set()


# What is generated is current.


@rows("page", DOCS)
def test_generated_parts_are_what_is_generated_now(page: Path) -> None:
    assert text_of(page) == renewed(text_of(page)), "run `make docs`, or `python -m tools.docs`"


def test_every_generated_part_stands_on_one_page() -> None:
    placed = [name for page in DOCS for name in re.findall(r"^<!-- generated: (\w+) -->$", text_of(page), re.MULTILINE)]

    assert sorted(name for name in placed if not name.startswith("agent_")) == sorted(PARTS)


def test_every_public_name_has_a_heading_and_no_other_has() -> None:
    page = text_of(ROOT / "docs" / "api.md")
    modules = dict(re.findall(r"^## ([\w.]+)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))

    documented = {name: re.findall(r"^### (\w+)$", part, re.MULTILINE) for name, part in modules.items()}

    assert documented == {name: list(import_module(name).__all__) for name in MODULES}


def test_the_origins_have_a_ruling_on_every_difference() -> None:
    ruled = re.findall(r"^\| (C-\d+) \|", text_of(ROOT / "docs" / "origins.md"), re.MULTILINE)

    assert sorted(ruled, key=lambda ruling: int(ruling[2:])) == [f"C-{number}" for number in range(1, 46)]
