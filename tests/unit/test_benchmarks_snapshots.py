"""The comparison of hooks in place and from a snapshot: which events, what counts as the same, what is left out."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.snapshots import comparing
from benchmarks.snapshots.comparing import MISSING, NEVER, ONCE, SLOW, VARIES, Script, compared, problem, report
from benchmarks.snapshots.events import events_of
from benchmarks.snapshots.projects import Copies, claude_projects, native_projects

EXAMPLES = Path(__file__).parents[2] / "examples"
ENDED = {"status": 0, "stdout": "", "stderr": "", "failure": ""}


def hook(command: str, matcher: str = "") -> dict[str, object]:
    return {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}


def written(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_events_are_of_the_kinds_that_hooks_are_for_and_of_the_tools_that_matchers_name():
    found = list(events_of({"PreToolUse": [hook("x", "Bash|WebFetch")], "Stop": [hook("x")]}, "/project"))

    assert Counter(event for event, _ in found).keys() == {"PreToolUse", "Stop"}
    assert {fields.get("tool_name") for _, fields in found} == {"Bash", "Write", "Edit", "Read", "WebFetch", None}
    assert all(fields["cwd"] == "/project" for _, fields in found)


def test_an_event_that_has_no_typical_fields_is_fired_without():
    [(event, fields)] = events_of({"PostCompact": [hook("x")]}, "/project")

    assert (event, set(fields)) == ("PostCompact", {"session_id", "transcript_path", "cwd"})


def test_projects_are_the_folders_with_hooks_in_a_settings_file(tmp_path: Path):
    armed = json.dumps({"hooks": {"Stop": [hook("true")]}})
    written(
        tmp_path,
        {
            "one/.claude/settings.json": armed,
            "one/template/.claude/settings.local.json": armed,
            "two/.claude/settings.json": '{"hooks": {}}',
            "three/.claude/settings.json": "{",
        },
    )

    found = [(project.repository, project.name, list(project.files)) for project in claude_projects(tmp_path)]

    assert found == [
        ("one", "one", [".claude/settings.json"]),
        ("one", "one/template", [".claude/settings.local.json"]),
    ]


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ({}, {}, ""),
        ({"failure": "timeout"}, {}, SLOW),
        ({"status": 127}, {"status": 127}, MISSING),
        ({"status": 1, "stderr": "Error: Cannot find module 'x'"}, {}, MISSING),
        ({"status": 2, "stderr": "python3: can't open file 'x.py'"}, {}, MISSING),
        ({"status": 2, "stderr": "secret not found"}, {"status": 2, "stderr": "secret not found"}, ""),
        ({"stdout": "1"}, {"stdout": "2"}, VARIES),
    ],
)
def test_a_script_is_left_out_that_does_not_run_here_or_does_not_agree_with_itself(first, second, why):
    assert comparing._left_out({**ENDED, **first}, {**ENDED, **second}, str) == why


def test_a_script_that_differs_once_is_different_and_one_that_never_ran_is_left_out():
    assert Script("r", "a", same=3).verdict == "same"
    assert Script("r", "a", same=3, different=["Stop: status is 1, not 0"]).verdict == "different"
    assert Script("r", "a").verdict == NEVER
    assert Script("r", "a", same=1, left_out=Counter([SLOW])).verdict == "same"
    assert Script("r", "a", left_out=Counter([SLOW, VARIES])).verdict == SLOW


@pytest.mark.parametrize(
    ("there", "same", "different", "once"),
    [
        (["in place"], 1, 0, 0),
        (["other"], 0, 1, 0),
        (["other", "other"], 0, 1, 0),
        (["other", "third"], 0, 1, 0),
        (["other", "in place"], 0, 0, 1),
    ],
)
def test_what_differs_once_from_a_snapshot_and_not_again_is_no_difference(there, same, different, once):
    runs = [
        {"armed": {"k": "line"}, "ended": {"k": {**ENDED, "stdout": said}}, "said": {"context": said}}
        for said in ("in place", "in place", *there)
    ]
    scripts: dict[str, Script] = {}

    comparing._compare(next(native_projects(EXAMPLES)), scripts, runs, str, "Stop")

    assert (scripts["line"].same, len(scripts["line"].different), scripts["line"].left_out[ONCE]) == (
        same, different, once,
    )  # fmt: skip


def test_too_few_scripts_say_nothing_and_a_share_below_the_limit_is_a_problem():
    many = [Script(f"r{number % 20}", str(number), same=1) for number in range(200)]

    assert problem(many) == ""
    assert problem(many[:99]) == "99 scripts of 20 repositories are too few to say"
    for script in many[:11]:
        script.different.append("Stop: it does not run")
    assert problem(many) == "only 94.5% run as in place"


@pytest.mark.slow
def test_hooks_of_a_project_are_compared_in_place_and_from_its_snapshot(tmp_path: Path):
    lines = [
        "sh .claude/hooks/good.sh",
        "sh .claude/hooks/mode.sh",
        "sh .claude/hooks/gone.sh",
        "od -An -N8 -tu1 /dev/urandom",
    ]
    written(
        tmp_path / "cases/owner+name",
        {
            ".claude/settings.json": json.dumps({"hooks": {"Stop": [hook(line) for line in lines]}}),
            ".claude/hooks/good.sh": '. "$(dirname "$0")/lib.sh"; echo "$said in $(dirname "$0") at $(date -Is)" >&2; touch "$(dirname "$0")/run.txt"; exit 2\n',
            ".claude/hooks/lib.sh": "said=good\n",
            # What is stored is read-only, which a script can see.
            ".claude/hooks/mode.sh": 'stat -c %a "$0" 2>/dev/null || stat -f %Lp "$0"\n',
        },
    )

    told: list[str] = []
    found = compared(claude_projects(tmp_path / "cases"), sys.executable, told.append)

    assert [(script.line, script.verdict) for script in found.scripts] == [
        (lines[0], "same"), (lines[1], "different"), (lines[2], MISSING), (lines[3], VARIES),
    ]  # fmt: skip
    assert "owner+name: sh .claude/hooks/mode.sh" in report(found)
    assert found.elsewhere == {"owner+name": [".claude/hooks/run.txt"]}
    assert told == [
        "owner+name: 1 same, 1 different, 1 needs a program or a file that is not here, 1 does not agree with itself"
    ]


def test_an_example_is_the_folder_of_hooks_of_a_project(tmp_path: Path):
    project = next(one for one in native_projects(EXAMPLES) if one.name.endswith("redact-results/hooks.node.yaml"))

    copies = Copies(project, tmp_path, sys.executable)

    assert copies.untrusted == ""
    assert copies.neutral("44 seconds ago") == copies.neutral("2 minutes ago")
    assert sorted(path.name for path in (tmp_path / "template/.interpose").iterdir() if path.suffix != ".md") == [
        "cases.yaml", "hooks.yaml", "redact-results.mjs", "redact_results.py",
    ]  # fmt: skip
