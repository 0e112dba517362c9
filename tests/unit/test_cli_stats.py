"""Which hooks are slow, fail, or never run: as a table that fits, as JSON, and in the list of hooks."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.terminals import on_a_terminal

from interpose import Hooks, ask, deny
from interpose.audit.store import AuditStore
from interpose.cli import main
from interpose.cli.stats import bar

CONFIG = """
audit: {path: audit.db}
hooks:
  PreToolUse:
    - {name: guard, matcher: Bash, handler: guards.guard, onError: abort}
    - {name: lint, matcher: Bash, handler: guards.lint}
    - {name: unused, matcher: Wrtie, command: "true"}
    - {name: resting, matcher: Bash, command: "true", enabled: false}
  Stop:
    - {name: more, handler: guards.more}
"""
GUARDS = """
def guard(event):
    command = event.tool_input["command"]
    return {"decision": command} if command in ("deny", "ask") else None
def lint(event):
    if event.tool_input["command"] == "crash":
        raise ValueError("boom")
def more(event):
    return None
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "hooks.yaml").write_text(CONFIG)
    (tmp_path / "guards.py").write_text(GUARDS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def fired(*commands: str, sessions: int = 1) -> None:
    hooks = Hooks.load("hooks.yaml")
    for session in range(sessions):
        for command in commands:
            hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": command}, session_id=f"s{session}")
    hooks.close()


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "-c", "hooks.yaml", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_every_hook_is_counted(capsys):
    fired("ls", "deny", "ask", "crash", sessions=2)

    found = {one["hook"]: one for one in document(capsys, "stats")["hooks"]}

    counted = ("runs", "skipped", "denies", "asks", "failures", "timeouts", "sessions")
    assert {name: tuple(one[what] for what in counted) for name, one in found.items()} == {
        "guard": (8, 0, 2, 2, 0, 0, 2),
        "lint": (6, 2, 0, 0, 2, 0, 2),
    }
    for one in found.values():
        assert 0 <= one["p50_ms"] <= one["p95_ms"] <= one["p99_ms"] <= one["total_ms"]
        assert one["per_session_ms"] == pytest.approx(one["total_ms"] / 2, abs=0.002)
        assert one["last_fired"] > 1_700_000_000


def test_hooks_that_never_ran_are_named_and_those_switched_off_are_not(capsys):
    fired("ls")

    found = document(capsys, "stats")

    assert [(one["hook"], one["event"]) for one in found["never_fired"]] == [("unused", "PreToolUse"), ("more", "Stop")]
    assert found["not_since"] == []


def test_hooks_that_have_not_run_since_are_another_matter(capsys):
    fired("ls")

    found = document(capsys, "stats", "--since", "2100-01-01")

    assert found["hooks"] == []
    assert [one["hook"] for one in found["not_since"]] == ["guard", "lint"]
    assert [one["hook"] for one in found["never_fired"]] == ["unused", "more"]


def test_a_table_says_it_to_people(capsys):
    fired("ls", "deny")

    assert main(["stats", "-c", "hooks.yaml"]) == 0

    heading, event, first, second, *rest = capsys.readouterr().out.splitlines()
    assert heading.split() == ["HOOK", "RUNS", "DENY", "P50", "P95", "P99", "SESSION", "LAST", "SHARE"]
    assert event == "PreToolUse"
    assert (first.split()[:3], second.split()[:2]) == (["guard", "2", "1"], ["lint", "1"])
    assert [line.split()[:3] for line in rest] == [["never", "fired", "unused"], ["never", "fired", "more"]]


def test_before_anything_has_run_it_says_so(capsys, project):
    with AuditStore(project / "audit.db") as store:
        hooks = Hooks()
        hooks.record(store)
        hooks.fire_sync("Stop")

    assert main(["stats", "-c", "hooks.yaml"]) == 0

    assert capsys.readouterr().err == "no hook has run\n"


def test_without_a_store_it_says_how_to_have_one(capsys):
    assert main(["stats"]) == 1

    assert "add `audit: {path: audit.db}` to the configuration" in capsys.readouterr().err


def test_a_broken_configuration_does_not_hide_the_numbers(capsys, project):
    fired("ls")
    (project / "hooks.yaml").write_text("hooks: {PreToolUse: [{nmae: x}]}\n")

    assert main(["stats", "--store", "audit.db", "-c", "hooks.yaml"]) == 0

    out, err = capsys.readouterr()
    assert "guard" in out
    assert "hooks.yaml:1:" in err


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_table_fits_a_terminal_and_keeps_what_matters(columns, project):
    hooks = Hooks()
    for name in ("a name that is longer than any name should ever be, really", "ev\x1b[2Jil", "short"):
        hooks.register(
            "PreToolUse", lambda event: ask() if event.tool_name == "a" else deny(), name=name, parallel=True
        )
    with AuditStore(project / "own.db") as store:
        hooks.record(store)
        for tool in "aab":
            hooks.fire_sync("PreToolUse", tool_name=tool)

    lines = on_a_terminal("stats", "--store", "own.db", columns=columns, NO_COLOR="1")

    assert max(map(len, lines)) <= columns
    assert {"HOOK", "RUNS", "DENY", "P95"} <= set(lines[0].split())
    assert ("SHARE" in lines[0]) == (columns == 120)
    assert not [line for line in lines if "\x1b" in line]


def test_a_bar_is_a_part_of_the_longest_and_something_is_never_nothing():
    assert [bar(value, 8) for value in (8, 4, 1.125, 0.001, 0)] == ["████████", "████", "█▏", "▏", ""]
    assert bar(1, 0) == ""


# The list of hooks.


def test_the_list_says_when_a_hook_last_ran_and_which_are_dead(capsys):
    fired("deny")

    rows = {row["name"]: row for row in document(capsys, "list")["hooks"]}

    assert {name: row["dead"] for name, row in rows.items()} == {
        "guard": False, "lint": True, "unused": True, "resting": False, "more": True,
    }  # fmt: skip
    assert rows["guard"]["last_fired"] > 1_700_000_000
    assert rows["resting"]["last_fired"] is None


def test_the_list_shows_it_to_people(capsys):
    fired("ls")

    assert main(["list", "-c", "hooks.yaml"]) == 0

    heading, *lines = capsys.readouterr().out.splitlines()
    assert "LAST FIRED" in heading
    assert [line.split()[2] for line in lines if "on, never ran" in line and " never " in line] == ["unused", "more"]
    assert [line.split()[2] for line in lines if "s ago" in line] == ["guard", "lint"]


def test_where_nobody_records_the_list_is_as_before_and_makes_no_store(capsys, project):
    for row in document(capsys, "list")["hooks"]:
        assert not {"last_fired", "dead"} & set(row)

    assert not (project / "audit.db").exists()


def test_a_store_that_cannot_be_read_does_not_keep_hooks_from_being_listed(capsys, project):
    (project / "audit.db").write_text("nonsense")

    assert main(["list", "-c", "hooks.yaml"]) == 0

    out, err = capsys.readouterr()
    assert "guard" in out
    assert "audit.db: cannot be read as an audit store" in err


def test_the_list_takes_the_store_of_a_host_that_records_by_itself(capsys, project):
    fired("ls")
    (project / "audit.db").rename(project / "elsewhere.db")

    rows = document(capsys, "list", "--store", "elsewhere.db")["hooks"]

    assert [row["name"] for row in rows if row["dead"]] == ["unused", "more"]
    assert main(["list", "-c", "hooks.yaml", "--store", "nowhere.db"]) == 1
