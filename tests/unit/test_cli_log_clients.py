"""``interpose log`` and coding agents: which one asked, its version, its transcript, and what it calls a session."""

import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks
from interpose.cli import main

TITLE = {"type": "ai-title", "aiTitle": "Tidy \x1b[31mthe \u202erepository ghp_" + "a1B2" * 9}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "140")
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "FORCE_COLOR", "CLAUDE_PROJECT_DIR", "AI_AGENT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "h.yaml").write_text("audit: {path: audit.db, required: true}\npolicies: recommended\n")
    lines = [{"type": "user", "uuid": "u", "sessionId": "s-claude", "message": {"content": "first prompt"}}, TITLE]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def hook(monkeypatch: pytest.MonkeyPatch, reply: str, command: str, **more: Any) -> int:
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, **more}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(event).encode())))
    return main(["fire", "PreToolUse", "--reply", reply, "-c", "h.yaml"])


def documents(capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    capsys.readouterr()
    assert main(["log", *options, "--store", "audit.db", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def asked(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AI_AGENT", "claude-code_2-1-325_harness")
    hook(monkeypatch, "claude", "ls", session_id="s-claude", transcript_path=str(project / "t.jsonl"), cwd=str(project))
    monkeypatch.delenv("AI_AGENT")
    hook(monkeypatch, "codex", "ls", session_id="s-codex", transcript_path=None, cwd=str(project))
    monkeypatch.setenv("AI_AGENT", "evil_\x1b[31m_1-x")
    hook(monkeypatch, "copilot", "ls", session_id="s-copilot", cwd=str(project))
    main(["fire", "PreToolUse", "--tool", "Bash", "--tool-input", '{"command": "ls"}', "-c", "h.yaml"])


def test_the_record_knows_which_coding_agent_asked_and_its_version(asked, capsys):
    found = documents(capsys)["firings"]

    assert [(one["client"], one["client_version"]) for one in found] == [
        ("", ""), ("copilot", ""), ("codex", ""), ("claude", "2.1.325"),
    ]  # fmt: skip
    assert main(["log", "verify", "--store", "audit.db"]) == 0


def test_log_is_filtered_by_coding_agent(asked, capsys):
    assert [one["session"] for one in documents(capsys, "--agent", "codex")["firings"]] == ["s-codex"]
    assert [one["session"] for one in documents(capsys, "--agent", "codex", "--agent", "claude")["firings"]] == [
        "s-codex", "s-claude",
    ]  # fmt: skip


def test_an_id_of_an_agent_is_still_a_filter(project, capsys):
    hooks = Hooks.load("h.yaml")
    hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, agent_id="reviewer")
    hooks.close()

    assert len(documents(capsys, "--agent", "reviewer")["firings"]) == 1
    assert documents(capsys, "--agent", "claude")["firings"] == []


def test_a_session_has_the_name_that_its_agent_gave_it_and_its_transcript(asked, capsys, project):
    found = {one["id"]: one for one in documents(capsys, "sessions")["sessions"]}

    claude = found["s-claude"]
    assert claude["name"].startswith("Tidy \x1b[31mthe \u202erepository [redacted:")
    assert (claude["client"], claude["client_version"], claude["transcript"]) == (
        "claude", "2.1.325", str(project / "t.jsonl"),
    )  # fmt: skip
    assert (found["s-codex"]["client"], found["s-codex"]["name"]) == ("codex", "")

    assert main(["log", "sessions", "--store", "audit.db"]) == 0
    out = capsys.readouterr().out
    assert "Tidy the repository [redacted:" in out
    assert not {"\x1b", "\u202e"} & set(out)


def test_show_links_the_transcript(asked, capsys, project):
    identity = documents(capsys, "--agent", "claude")["firings"][0]["id"]

    assert main(["log", "show", str(identity), "--store", "audit.db"]) == 0

    out = capsys.readouterr().out
    assert "  client: claude 2.1.325\n" in out
    assert f"  transcript: {project / 't.jsonl'}\n" in out


def test_the_transcript_of_copilot_is_found_by_the_session(asked, capsys, project):
    path = project / ".copilot/session-state/s-copilot/events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"type": "user.message", "data": {"content": "go on"}, "id": "1"}) + "\n")

    (session,) = [one for one in documents(capsys, "sessions")["sessions"] if one["id"] == "s-copilot"]

    assert (session["transcript"], session["name"]) == (str(path), "go on")


@pytest.mark.parametrize("place", ["/dev/zero", "/nowhere", "pipe", "."])
def test_a_transcript_that_an_agent_invents_does_no_harm(place, project, capsys, monkeypatch):
    import os

    os.mkfifo(project / "pipe")
    hook(monkeypatch, "claude", "ls", session_id="s", transcript_path=str(project / place), cwd=str(project))

    assert documents(capsys, "sessions")["sessions"][0]["name"] == ""


def test_records_from_before_agents_were_recorded_are_read(asked, capsys):
    base = sqlite3.connect("audit.db")
    base.execute("UPDATE bodies SET body = json_remove(json_remove(body, '$.client'), '$.input.client')")
    base.commit()
    base.close()

    assert {one["client"] for one in documents(capsys)["firings"]} == {""}
    assert documents(capsys, "--agent", "codex")["firings"] == []
    assert {one["client"] for one in documents(capsys, "sessions")["sessions"]} == {""}


DOES = "(push a branch and open a pull request)"


@pytest.mark.parametrize(
    ("command", "decision", "said"),
    [
        ("git push --force origin main", "deny",
         f"denied by rule protected-branches: `git push --force origin main` overwrites main on the remote {DOES}"),
        ("git push origin main", "ask",
         f"asked by rule protected-branches: `git push origin main` pushes to main {DOES}"),
    ],
)  # fmt: skip
def test_the_model_is_told_the_rule_what_the_call_does_and_what_to_do_instead(
    command, decision, said, project, capsys, monkeypatch
):
    hook(monkeypatch, "claude", command, session_id="s", cwd=str(project))

    answer = json.loads(capsys.readouterr().out)["hookSpecificOutput"]
    assert (answer["permissionDecision"], answer["permissionDecisionReason"]) == (decision, said)
    assert documents(capsys)["firings"][0]["reason"] == said.partition(" rule ")[2]


def test_the_words_of_a_hook_that_is_no_policy_stay(project, capsys, monkeypatch):
    (project / "h.yaml").write_text(
        "hooks:\n  PreToolUse:\n    - {name: guard, command: 'echo \"not today\" >&2; exit 2'}\n"
    )

    hook(monkeypatch, "claude", "ls", session_id="s", cwd=str(project))

    answer = json.loads(capsys.readouterr().out)["hookSpecificOutput"]
    assert answer["permissionDecisionReason"] == "not today"
