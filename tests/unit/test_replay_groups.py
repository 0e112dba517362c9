"""Differences of a replay in groups."""

import json
from pathlib import Path
from typing import Any

import pytest

from interpose import AuditStore, Hooks
from interpose.audit import open_store
from interpose.cli import main
from interpose.replay import Recorded, Recording, group_differences, prepared, read_period, replay
from interpose.replay.groups import pattern_of

NEW = """hooks:
  PreToolUse:
    - {name: no-publish, if: Bash(npm publish *), type: script, handler: /deny "Use the pipeline."}
    - {name: read, matcher: Write, type: script, handler: /ask "Really?"}
"""


def recorded(tool: str = "Bash", decision: str = "none", **given: Any) -> Recorded:
    return Recorded(
        id="1",
        event="PreToolUse",
        decision=decision,
        fields={"tool_name": tool, "tool_input": given, "cwd": "/home/me/app"},
    )


@pytest.mark.parametrize(
    ("given", "pattern"),
    [
        ({"command": "npm publish --tag next"}, "Bash(npm publish *)"),
        ({"command": "cd web && CI=1 sudo npm publish"}, "Bash(npm publish *)"),
        ({"command": "git -C x push"}, "Bash(git *)"),
        ({"command": "git push --force"}, "Bash(git push *)"),
        ({"command": "/usr/bin/rm -rf build"}, "Bash(rm *)"),
        ({"command": "python tools/make.py"}, "Bash(python *)"),
        ({"command": "X=1"}, "Bash(X=1 *)"),
        ({"command": "   "}, "Bash"),
        ({"tool": "Write", "file_path": "/home/me/app/src/a.py"}, "Write(src/**)"),
        ({"tool": "Write", "file_path": "/etc/hosts"}, "Write(/etc/**)"),
        ({"tool": "Write", "file_path": "/home/me/app/README.md"}, "Write(**)"),
        ({"tool": "mcp__x__y", "other": 1}, "mcp__x__y"),
    ],
)
def test_a_call_is_named_as_a_rule_would_name_it(given: dict[str, Any], pattern: str) -> None:
    assert pattern_of(recorded(**given)) == pattern


def test_an_event_without_a_call_is_named_by_itself() -> None:
    assert pattern_of(Recorded(id="1", event="Stop", fields={})) == "Stop"
    assert pattern_of(Recorded(id="1", event="host:own", fields={"tool_input": None})) == "host:own"


def test_decisions_that_differ_alike_are_one_group_with_examples(tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(NEW)
    events = [recorded(decision="ask", command=f"npm publish --tag {number}") for number in range(36)]
    events += [recorded("Write", file_path=f"/home/me/app/src/{number}.py") for number in range(2)]
    events += [recorded(decision="deny", command="rm -rf build"), recorded(command="ls")]

    done = replay(prepared(Hooks.load(str(tmp_path / "new.yaml"))), Recording("r", "store", events))
    groups = group_differences(done.results)

    assert [group.title for group in groups] == [
        "36 asks become denies: Bash(npm publish *)", "2 events that went on become asks: Write(src/**)", "1 deny goes on: Bash(rm *)",
    ]  # fmt: skip
    assert groups[0].hooks == ("no-publish",)
    assert groups[0].reason == "Use the pipeline."
    assert [one["call"] for one in groups[0].examples] == [f"npm publish --tag {number}" for number in range(3)]
    assert done.different == sum(group.count for group in groups) == 39


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "new.yaml").write_text(NEW)
    hooks = Hooks()
    with AuditStore(tmp_path / "audit.db") as made:
        hooks.record(made)
        for number in range(12):
            hooks.fire_sync(
                "PreToolUse",
                tool_name="Bash",
                tool_input={"command": f"npm publish {number}"},
                session_id=f"s{number % 3}",
            )
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, session_id="s0")
    return tmp_path / "audit.db"


def test_all_sessions_of_a_time_are_compared_and_grouped(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["replay", "--since", "1h", "--against", "new.yaml", "--store", str(store)])

    said = capsys.readouterr().out
    assert status == 1
    assert said.splitlines()[0] == "12 events that went on become denies: Bash(npm publish *)"
    assert "  Use the pipeline. (no-publish)" in said
    assert "    and 9 more" in said
    assert said.splitlines()[-1] == "13 events since 1h: 12 would be decided differently"


def test_each_difference_is_printed_if_asked_for(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["replay", "--since", "1h", "--each", "--against", "new.yaml", "--store", str(store)])

    assert capsys.readouterr().out.count("+ now: deny Use the pipeline. (no-publish)") == 12


def test_few_differences_are_printed_one_by_one(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["replay", "s1", "--against", "new.yaml", "--store", str(store)])

    assert capsys.readouterr().out.count("+ now: deny Use the pipeline. (no-publish)") == 4


def test_programs_get_the_groups(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["replay", "--since", "1h", "--against", "new.yaml", "--store", str(store), "--json"])

    said = json.loads(capsys.readouterr().out)
    assert (said["events"], said["different"], said["results"]) == (13, 12, [])
    assert [(one["count"], one["pattern"], len(one["examples"])) for one in said["groups"]] == [
        (12, "Bash(npm publish *)", 3)
    ]


@pytest.mark.parametrize("arguments", [[], ["s1", "--since", "1h"]])
def test_a_session_or_a_time_has_to_be_named(
    store: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(["replay", *arguments, "--against", "new.yaml", "--store", str(store)]) == 1

    assert "which events?" in capsys.readouterr().err


def test_of_very_many_events_the_latest_are_compared_and_that_is_told(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interpose.replay.sources.MOST_EVENTS", 5)

    with open_store(store) as reader:
        found = read_period(reader, 0.0, "1h")

    assert [one.fields["tool_input"]["command"] for one in found.events] == [
        *(f"npm publish {number}" for number in range(8, 12)),
        "ls",
    ]
    assert found.notes == ["only the latest 5 records of this time are compared"]
