"""``interpose replay``: a review for people, a document and a status for programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks
from interpose.cli import main

OLD = """
audit: {path: audit.db}
hooks:
  PreToolUse:
    - {name: guard, matcher: Bash, handler: guards.old}
"""
NEW = OLD.replace("guards.old", "guards.new").replace("audit.db", "other.db")
GUARDS = """
from interpose import deny, modify
def old(event):
    return deny("too risky") if event.tool_input["command"] == "rm" else None
def new(event):
    print("a hook that prints")
    command = event.tool_input["command"]
    if command == "push":
        return modify(tool_input={"command": "push -n"})
    return deny("too \\x1b[31mbig") if command.startswith("curl") else None
"""
HOSTILE = "curl ev\x1b[2Jil \u202e\x07"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("old.yaml", OLD), ("new.yaml", NEW), ("guards.py", GUARDS)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def recorded() -> str:
    hooks = Hooks.load("old.yaml")
    for session, commands in (("one", ["ls"]), ("two", ["ls", "rm", "push", HOSTILE])):
        for command in commands:
            hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": command}, session_id=session)
    hooks.close()
    return "audit.db"


def transcript(path: Path, *calls: tuple[str, str | None]) -> str:
    """A session with a tool call per line; ``None`` as its result means that it ran."""
    lines = []
    for number, (command, refused) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        result = {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "content": refused or "done",
            "is_error": bool(refused),
        }
        lines += [{"type": "assistant", "sessionId": "s", "message": {"content": [use]}},
                  {"type": "user", "sessionId": "s", "message": {"content": [result]}}]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path.name


def replayed(capsys: pytest.CaptureFixture[str], *arguments: str, status: int) -> str:
    assert main(["replay", *arguments]) == status, capsys.readouterr().err
    return capsys.readouterr().out


def test_the_same_configuration_decides_the_same(recorded, capsys):
    out = replayed(capsys, "two", "--store", recorded, "--against", "old.yaml", status=0)

    assert out == "4 events of session two: all would be decided the same\n"


def test_a_review_shows_what_was_and_what_would_be(recorded, capsys):
    out = replayed(capsys, "latest", "--store", recorded, "--against", "new.yaml", status=1)

    (denied, changed, refused), summary = (
        [part.splitlines()[1:] for part in out.split("\n\n")[:3]],
        out.split("\n\n")[3:],
    )
    assert denied == ["  command: rm", "- was: deny too risky (guard)", "+ now: go on"]
    assert changed == [
        "  command: push", "  tool_input was changed:", '    - command: "push"', '    + command: "push -n"',
    ]  # fmt: skip
    assert refused == ["  command: curl evil", "- was: go on", "+ now: deny too big (guard)"]
    assert summary == ["4 events of session two: 3 would be decided differently\n"]


def test_nothing_in_a_review_is_obeyed_by_a_terminal(recorded, capsys):
    out = replayed(capsys, "two", "--store", recorded, "--against", "new.yaml", status=1)

    assert not [letter for letter in out if (letter < " " and letter != "\n") or letter in "\x7f\u202e"]


def test_programs_get_one_document_whatever_hooks_print(recorded, capsys):
    said = json.loads(replayed(capsys, "two", "--store", recorded, "--against", "new.yaml", "--json", status=1))

    assert (said["ok"], said["kind"], said["events"], said["same"], said["different"]) == (False, "store", 4, 1, 3)
    assert [(one["was"]["decision"], one["now"]["decision"], one["differences"]) for one in said["results"]] == [
        ("deny", "none", ["decision"]), ("none", "none", ["tool_input"]), ("none", "deny", ["decision"]),
    ]  # fmt: skip
    assert said["results"][1]["changes"] == [
        {"field": "tool_input", "was": {"command": "push"}, "now": {"command": "push -n"}}
    ]


def test_a_replay_writes_to_no_store(recorded, capsys, project):
    replayed(capsys, "two", "--store", recorded, "--against", "new.yaml", status=1)

    assert not (project / "other.db").exists()


@pytest.mark.usefixtures("person")
def test_the_store_is_the_one_of_the_configuration_that_is_found(recorded, capsys, project):
    (project / ".interpose").mkdir()
    (project / ".interpose" / "hooks.yaml").write_text("audit: {path: ../audit.db}\nhooks: {}\n")
    assert main(["trust", "--yes"]) == 0
    capsys.readouterr()

    assert "all would be decided the same" in replayed(capsys, "one", "--against", "new.yaml", status=0)


def test_an_export_is_replayed_like_its_store(recorded, capsys):
    assert main(["log", "export", "--store", recorded, "--session", "two", "-o", "two.jsonl"]) == 0

    out = replayed(capsys, "two.jsonl", "--against", "new.yaml", status=1)

    assert out.endswith("4 events of export two.jsonl: 3 would be decided differently\n")


def test_a_transcript_says_how_its_decisions_were_told(capsys, project):
    path = transcript(project / "t.jsonl", ("ls", None), ("curl x", None), ("rm", "PreToolUse:Bash hook error: no"))

    out = replayed(capsys, path, "--against", "new.yaml", status=1)

    assert "  command: curl x\n- was: it ran\n+ now: deny too big (guard)\n" in out
    assert "- was: a hook or a rule refused it: PreToolUse:Bash hook error: no\n+ now: go on\n" in out
    assert out.endswith("5 events of transcript t.jsonl: 2 would be decided differently\n")


def test_redacted_inputs_and_directories_that_are_gone_are_told(capsys, project):
    document: dict[str, Any] = {
        "id": 1, "event": "PreToolUse", "decision": "none",
        "given": {"tool_name": "Bash", "tool_input": {"command": "curl [redacted:github:0a1b2c3d]"}, "cwd": "/no/such"},
    }  # fmt: skip
    (project / "e.jsonl").write_text(json.dumps(document) + "\n")

    out = replayed(capsys, "e.jsonl", "--against", "new.yaml", status=1)

    assert "! redacted: the hooks did not see the redacted parts of this input\n" in out
    assert "note: the directory /no/such is not here; hooks run in the current one instead\n" in out


def test_events_that_are_not_known_here_are_left_out_in_sight(capsys, project):
    (project / "e.jsonl").write_text(json.dumps({"id": 1, "event": "pre:deploy", "given": {"stage": "x"}}) + "\n")

    out = replayed(capsys, "e.jsonl", "--against", "new.yaml", status=0)

    assert "! left out: pre:deploy is not an event" in out
    assert out.endswith("1 event of export e.jsonl: none would be decided differently, 1 left out\n")


def test_a_dry_run_says_what_would_run_and_runs_nothing(recorded, capsys, project):
    (project / "new.yaml").write_text(
        "hooks:\n  PreToolUse:\n    - {name: touches, matcher: Bash, command: touch ran}\n    - {name: other, matcher: Write, "
        'command: "true"}\n'
    )

    out = replayed(capsys, "two", "--store", recorded, "--against", "new.yaml", "--dry", status=0)
    said = json.loads(replayed(capsys, "two", "--store", recorded, "-a", "new.yaml", "--dry", "--json", status=0))

    assert out.endswith("4 events, 4 runs of 1 hook; nothing was run\n")
    assert [(one["hook"], one["runs"]) for one in said["hooks"]] == [("touches", 4)]
    assert not (project / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["nobody", "-a", "new.yaml", "--store", "audit.db"],
            "audit.db: nobody is not a session (the latest are two, one",
        ),
        (["no/such.jsonl", "-a", "new.yaml"], "no/such.jsonl: no such file (check the path)"),
        (["gone.jsonl", "-a", "new.yaml"], "gone.jsonl: no such file"),
        (["latest", "-a", "new.yaml"], "nothing is recorded: there is no audit store at"),
        (["two", "--store", "audit.db"], "no configuration was found here (name one with --against)"),
        (["two", "--store", "audit.db", "-a", "none.yaml"], "none.yaml: "),
        (["guards.py", "-a", "new.yaml"], "neither an export nor a transcript"),
        ([], "which events?"),
    ],
)
def test_mistakes_are_told(recorded, capsys, arguments, complaint):
    assert main(["replay", *arguments]) == 1

    assert complaint in capsys.readouterr().err


def test_a_configuration_that_is_not_trusted_decides_nothing(recorded, capsys, project):
    (project / ".interpose").mkdir()
    (project / ".interpose" / "hooks.yaml").write_text("hooks: {Stop: [{command: touch ran}]}\n")

    assert main(["replay", "two", "--store", recorded]) == 1

    assert "no configuration that was found here is trusted (name one with --against)" in capsys.readouterr().err
