"""Which project a hook works for: ``CLAUDE_PROJECT_DIR`` of real processes, and the directory that follows from it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faults.hosts import computing

from interpose import Hooks
from interpose.handlers.projects import project_directory

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
SAY = 'printf %s "$CLAUDE_PROJECT_DIR" >&2; exit 2'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    place = tmp_path / "home"
    (place / ".claude").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(place))
    return place


def settings(folder: Path, *handlers: dict[str, Any]) -> Path:
    file = folder / ".claude" / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": list(handlers)}]}}))
    return file


def line(command: str) -> dict[str, Any]:
    return {"type": "command", "command": command}


def project(place: Path, mark: str = ".git") -> Path:
    (place / mark).mkdir(parents=True)
    (place / "deep" / "down").mkdir(parents=True)
    return place


@pytest.mark.parametrize("mark", [".git", ".claude", ".interpose"])
def test_a_persons_own_settings_work_for_the_project_of_the_event(home: Path, mark: str) -> None:
    hooks = Hooks.load(settings(home, line(SAY)))
    one, other = project(home / "one", mark), project(home / "other", mark)

    reasons = [hooks.fire_sync("PreToolUse", **CALL, cwd=str(place / "deep" / "down")).reason for place in (one, other)]

    assert reasons == [str(one), str(other)]


def test_the_home_is_not_a_project_although_it_has_a_folder_of_settings(home: Path) -> None:
    hooks = Hooks.load(settings(home, line(SAY)))
    (home / "plain").mkdir()

    assert hooks.fire_sync("PreToolUse", **CALL, cwd=str(home / "plain")).reason == str(home / "plain")
    assert hooks.fire_sync("PreToolUse", **CALL, cwd=str(home)).reason == str(home)


def test_the_hosts_variable_wins(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, own = Hooks.load(settings(home, line(SAY))), Hooks.load(settings(project(tmp_path / "own"), line(SAY)))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "start"))

    for hooks in (mine, own):
        assert hooks.fire_sync("PreToolUse", **CALL, cwd=str(tmp_path / "own")).reason == str(tmp_path / "start")


@pytest.mark.parametrize("value", ["", "relative/path"])
def test_a_variable_that_names_no_place_is_not_one(home: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    hooks = Hooks.load(settings(home, line(SAY)))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", value)
    one = project(home / "one")

    assert hooks.fire_sync("PreToolUse", **CALL, cwd=str(one)).reason == str(one)


def test_a_projects_own_settings_do_not_follow_an_agent_into_a_directory_that_it_has_made(tmp_path: Path) -> None:
    guard = project(tmp_path / "own") / ".claude" / "guard.sh"
    hooks = Hooks.load(settings(tmp_path / "own", line('"$CLAUDE_PROJECT_DIR"/.claude/guard.sh')))
    guard.write_text("#!/bin/sh\necho guarded >&2; exit 2\n")
    guard.chmod(0o755)
    for made in (project(tmp_path / "made"), project(tmp_path / "own" / "made")):
        (made / ".claude").mkdir()
        planted = made / ".claude" / "guard.sh"
        planted.write_text("#!/bin/sh\nexit 0\n")
        planted.chmod(0o755)

        assert hooks.fire_sync("PreToolUse", **CALL, cwd=str(made)).reason == "guarded"


def test_a_native_command_is_told_the_same_project(home: Path, tmp_path: Path) -> None:
    named = tmp_path / "conf" / "hooks.yaml"
    own = project(tmp_path / "own", ".interpose") / ".interpose" / "hooks.yaml"
    for file in (named, own):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"hooks: {{PreToolUse: [{{command: {json.dumps(SAY)}}}]}}\n")
    there = project(home / "one")

    assert Hooks.load(named).fire_sync("PreToolUse", **CALL, cwd=str(there / "deep")).reason == str(there)
    assert Hooks.load(own).fire_sync("PreToolUse", **CALL, cwd=str(there / "deep")).reason == str(tmp_path / "own")


def test_a_command_without_a_shell_has_the_project_in_its_words(home: Path) -> None:
    words = ["-c", 'printf "%s %s" "$1" "$CLAUDE_PROJECT_DIR" >&2; exit 2', "sh", "${CLAUDE_PROJECT_DIR}/x y"]
    hooks = Hooks.load(settings(home, {"type": "command", "command": "/bin/sh", "args": words}))
    one, other = project(home / "one"), project(home / "$(other)")

    for place in (one, other):
        reason = hooks.fire_sync("PreToolUse", **CALL, cwd=str(place / "deep")).reason
        assert reason == f"{place}/x y {place}"


def test_a_program_in_the_project_is_the_one_of_the_events_project(home: Path) -> None:
    hooks = Hooks.load(settings(home, {"type": "command", "command": "${CLAUDE_PROJECT_DIR}/guard.py", "args": []}))
    for name in ("one", "other"):
        script = project(home / name) / "guard.py"
        script.write_text(f"import sys\nsys.stderr.write('{name}')\nsys.exit(2)\n")

    reasons = [hooks.fire_sync("PreToolUse", **CALL, cwd=str(home / name)).reason for name in ("one", "other")]

    assert reasons == ["one", "other"]


def test_if_the_events_directory_is_gone_a_hook_runs_in_the_project(home: Path) -> None:
    hooks = Hooks.load(settings(home, line("pwd >&2; exit 2")))
    one = project(home / "one")

    assert hooks.fire_sync("PreToolUse", **CALL, cwd=str(one / "deep" / "gone" / "long")).reason == str(one)


def test_a_fired_event_is_judged_in_its_own_project(home: Path, tmp_path: Path) -> None:
    file, one = settings(home, line(SAY)), project(home / "one")
    event = json.dumps({"hook_event_name": "PreToolUse", **CALL, "cwd": str(one / "deep")})
    command = [str(Path(sys.executable).with_name("interpose")), "fire", "--reply", "claude", "-c", str(file)]

    ended = subprocess.run(command, input=event, capture_output=True, text=True, cwd=tmp_path, check=False)

    assert (ended.returncode, ended.stderr.strip()) == (2, str(one))


def test_a_directory_that_is_longer_than_a_path_can_be_is_not_searched(tmp_path: Path) -> None:
    """A model chooses it: to look in each of its parents would take minutes, before any deadline begins."""
    with computing(2.0):
        assert project_directory("", "/" + "x/" * 1_000_000) == os.getcwd()
