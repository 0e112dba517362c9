"""``interpose agents status``: which calls of coding agents no hook has seen, and who tries to hide that."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks
from interpose.attach.record import changing_attachments
from interpose.cli import main

CLAUDE = ".claude/projects/-repo/s-1.jsonl"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    (place / "repo").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(place))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "FORCE_COLOR", "CLAUDE_CONFIG_DIR", "CODEX_HOME",
                 "INTERPOSE_REPLAY", "CLAUDE_PROJECT_DIR", "AI_AGENT"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "h.yaml").write_text("audit: {path: audit.db}\npolicies: [environment]\n")
    return place


def stamp(before: float) -> str:
    return datetime.fromtimestamp(time.time() - before, UTC).isoformat().replace("+00:00", "Z")


def claude(home: Path, *calls: str, path: str = CLAUDE, session: str = "s-1", before: float = 1.0) -> Path:
    """A session of Claude Code in which these calls ran some seconds ago."""
    lines: list[Any] = []
    for call in calls:
        base = {"sessionId": session, "cwd": str(home / "repo"), "version": "2.1.325", "timestamp": stamp(before)}
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"echo {call}"}}
        result = {"type": "tool_result", "tool_use_id": call, "content": "done"}
        lines += [{**base, "type": "assistant", "message": {"content": [use]}},
                  {**base, "type": "user", "message": {"content": [result]}}]  # fmt: skip
    return write(home / path, *lines)


def write(path: Path, *lines: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def asked(
    home: Path, *calls: str, path: str = CLAUDE, session: str = "s-1", agent: str = "claude", ids: bool = True
) -> None:
    """What the hook of the agent was asked, and recorded."""
    from interpose.person.caller import set_client

    hooks = Hooks.load("h.yaml")
    set_client(agent)
    for call in calls:
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": f"echo {call}"}, session_id=session,
                        cwd=str(home / "repo"), transcript_path=str(home / path),
                        **({"tool_use_id": call} if ids else {}))  # fmt: skip
    set_client(None)
    hooks.close()


def attached(
    home: Path, agent: str = "claude", *, scope: str = "user", project: str = "", before: float = 3600.0
) -> None:
    with changing_attachments() as record:
        record[f"{agent} {scope}"] = {
            "agent": agent, "scope": scope, "project": project, "at": time.time() - before, "files": [],
            "directories": [], "entries": [["PreToolUse", "PreToolUse", "x", 1], ["Stop", "Stop", "x", 1]],
            "leaving": False, "adopted": "",
        }  # fmt: skip


def status(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    code = main(["agents", "status", "--store", "audit.db", "--json", *options])
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] == (code == 0)
    return code, {one["agent"]: one for one in document["agents"]}


def test_all_calls_were_seen(home, capsys):
    attached(home)
    claude(home, "t1", "t2")
    asked(home, "t1", "t2")

    code, found = status(capsys)

    assert (code, found["claude"]["calls"], found["claude"]["seen"], found["claude"]["gaps"]) == (0, 2, 2, [])
    assert found["claude"]["versions"] == ["2.1.325"]
    assert found["claude"]["versions_without_contract"] == []
    assert found["claude"]["never_fired"] == ["Stop"]


def test_hooks_that_are_switched_off_are_noticed(home, capsys):
    attached(home)
    asked(home, "other", session="another", path=".claude/projects/-repo/another.jsonl")
    claude(home, "other", session="another", path=".claude/projects/-repo/another.jsonl")
    claude(home, "t1", "t2", "t3")

    assert main(["agents", "status", "--store", "audit.db"]) == 1

    out = capsys.readouterr().out
    assert "✗ claude  Claude Code 2.1.325\n" in out
    assert ": 0 of 3 tool calls of that session were seen by a hook\n      Bash echo t1\n" in out
    assert "    gap: 3 of 4 calls were seen by no hook\n" in out


def test_calls_before_it_was_attached_and_in_other_projects_are_no_gap(home, capsys):
    attached(home, scope="local", project=str(home / "other"))
    attached(home, scope="shared", project=str(home / "repo"), before=30)
    asked(home, "x", agent="codex", session="c")
    claude(home, "t1", "t2", before=60)

    code, found = status(capsys, "claude")

    assert (code, found["claude"]["calls"], found["claude"]["calls_where_not_attached"]) == (0, 0, 2)


def test_an_agent_that_removes_the_record_of_the_attachment_is_noticed(home, capsys):
    """It was asked in this directory before, so a later session there without records is a gap."""
    asked(home, "t1")
    claude(home, "t1", before=0)
    claude(home, "t2", session="next", path=".claude/projects/-repo/next.jsonl", before=-1)

    code, found = status(capsys)

    assert (code, found["claude"]["attached"], found["claude"]["gaps"]) == (
        1, [], ["1 of 2 calls were seen by no hook"],
    )  # fmt: skip


def test_a_call_that_was_taken_out_of_the_transcript_is_missed_there(home, capsys):
    attached(home)
    asked(home, "t1", "t2", "t3")
    claude(home, "t1")

    code, found = status(capsys)

    assert (code, found["claude"]["gaps"]) == (1, ["2 recorded calls are not in the transcript"])


def test_a_transcript_that_is_gone_is_noticed(home, capsys):
    attached(home)
    asked(home, "t1")
    (home / ".claude/projects").mkdir(parents=True)

    code, found = status(capsys)

    assert (code, found["claude"]["gaps"]) == (1, [f"the transcript {home / CLAUDE} is gone"])


def test_a_session_in_another_home_is_read_where_its_hooks_said_that_it_is(home, capsys):
    attached(home)
    asked(home, "t1", path="second/projects/x/s.jsonl")
    claude(home, "t1", "t2", path="second/projects/x/s.jsonl")

    code, found = status(capsys)

    assert (code, found["claude"]["calls"], found["claude"]["seen"]) == (1, 2, 1)


def test_a_record_that_was_written_after_the_call_had_ended_proves_nothing(home, capsys):
    """An agent may read the id of a call in its transcript, and fire the event itself."""
    attached(home)
    claude(home, "t1", before=600)
    asked(home, "t1")

    code, found = status(capsys)

    (session,) = found["claude"]["sessions"]
    assert (code, session["seen"]) == (1, 0)
    assert session["unseen"][0]["why"] == "it was recorded after the call had ended"


def test_a_call_with_the_words_of_another_is_not_seen_for_it(home, capsys):
    attached(home)
    path = claude(home, "t1", "t2")
    path.write_text(path.read_text().replace("echo t2", "echo t1"))
    asked(home, "t1")

    assert status(capsys)[1]["claude"]["seen"] == 1


def test_calls_that_were_invalid_have_no_hook(home, capsys):
    attached(home)
    asked(home, "t1")
    path = claude(home, "t1")
    base = {"sessionId": "s-1", "cwd": str(home / "repo"), "timestamp": stamp(1)}
    use = {"type": "tool_use", "id": "t2", "name": "Nope", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t2", "is_error": True, "content": "<tool_use_error>No such tool"}
    with path.open("a") as file:
        for kind, block in (("assistant", use), ("user", result)):
            file.write(json.dumps({**base, "type": kind, "message": {"content": [block]}}) + "\n")

    code, found = status(capsys)

    assert (code, found["claude"]["calls"]) == (0, 1)


def test_codex_writes_to_a_running_process_without_a_hook(home, capsys):
    attached(home, "codex")
    items = [{"type": "session_meta", "payload": {"id": "c", "cwd": str(home / "repo"), "cli_version": "99.0.0"}}]
    for number, (name, given) in enumerate([("exec_command", {"cmd": "cat"}), ("write_stdin", {"chars": "x"})]):
        pair = ({"type": "function_call", "name": name, "call_id": f"c{number}", "arguments": json.dumps(given)},
                {"type": "function_call_output", "call_id": f"c{number}", "output": "ok"})  # fmt: skip
        items += [{"type": "response_item", "timestamp": stamp(1), "payload": item} for item in pair]
    path = write(home / ".codex/sessions/rollout-c.jsonl", *items)
    asked(home, "c0", session="c", path=str(path.relative_to(home)), agent="codex")

    code, found = status(capsys, "codex")

    (session,) = found["codex"]["sessions"]
    assert (code, session["calls"], session["seen"], session["without_hook"]) == (0, 1, 1, 1)
    assert found["codex"]["versions_without_contract"] == ["99.0.0"]


def test_ids_that_hooks_of_an_agent_do_not_get_are_replaced_by_what_was_called(home, capsys):
    attached(home, "gemini")
    call = {"name": "run_shell_command", "args": {"command": "echo t1"}, "status": "success", "result": []}
    path = write(
        home / ".gemini/tmp/repo/chats/session-1.jsonl",
        {"sessionId": "g", "projectHash": "x"},
        *({"id": f"m{number}", "type": "gemini", "timestamp": stamp(1), "toolCalls": [{**call, "id": f"c{number}"}]}
          for number in range(3)),
    )  # fmt: skip
    asked(home, "t1", "t1", session="g", path=str(path.relative_to(home)), agent="gemini", ids=False)

    code, found = status(capsys)

    assert (code, found["gemini"]["calls"], found["gemini"]["seen"]) == (1, 3, 2)


def test_a_store_of_an_untrusted_configuration_proves_nothing(home, capsys, monkeypatch):
    attached(home)
    monkeypatch.chdir(home / "repo")
    (home / "repo/h.yaml").write_text("audit: {path: forged.db}\npolicies: [environment]\n")
    asked(home, "t1")
    (home / "repo/.interpose").mkdir()
    (home / "repo/.interpose/hooks.yaml").write_text("audit: {path: ../forged.db}\n")
    claude(home, "t1")
    assert (home / "repo/forged.db").exists()

    code = main(["agents", "status", "--json"])

    assert (code, json.loads(capsys.readouterr().out)["agents"][0]["seen"]) == (1, 0)


def test_hostile_names_and_commands_do_not_reach_the_terminal(home, capsys):
    attached(home)
    asked(home, "x", session="y")
    path = claude(home, "t1")
    path.write_text(path.read_text().replace("echo t1", "echo \\u001b[2J\\u202e ghp_" + "a1B2" * 9))
    with path.open("a") as file:
        file.write(json.dumps({"type": "custom-title", "customTitle": "\x1b]0;x\x07 title\u202e"}) + "\n")

    assert main(["agents", "status", "--store", "audit.db"]) == 1

    out = capsys.readouterr().out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)
    assert "a1B2a1B2" not in out


def test_mistakes_are_told(capsys):
    assert main(["agents", "status", "codx"]) == 1
    assert capsys.readouterr().err.startswith("interpose agents: there is no agent codx (did you mean codex?)")

    assert main(["agents", "status", "--store", "nowhere.db"]) == 1
    assert "there is no audit store that can be read" in capsys.readouterr().err


def test_nothing_is_attached_and_nothing_was_used(capsys):
    assert main(["agents", "status"]) == 0

    assert capsys.readouterr().out == "no coding agent is attached, and none has left a transcript here\n"


def test_nothing_is_written(home, capsys):
    attached(home)
    claude(home, "t1")
    asked(home, "t1")
    before = sorted((str(path), path.stat().st_mtime_ns) for path in home.rglob("*"))

    status(capsys)

    assert sorted((str(path), path.stat().st_mtime_ns) for path in home.rglob("*")) == before
    assert os.path.exists("audit.db")


def test_an_agent_that_has_removed_all_its_traces_but_the_record_is_noticed(home, capsys):
    asked(home, "t1")

    code, found = status(capsys)

    assert (code, found["claude"]["gaps"]) == (1, [f"the transcript {home / CLAUDE} is gone"])


@pytest.mark.parametrize("entry", [None, 3, {}, {"agent": "claude"}, {"agent": "claude", "scope": "user", "project": "",
                                   "at": "x", "files": [], "entries": []}])  # fmt: skip
def test_a_record_of_attachments_that_was_damaged_is_a_gap(entry, home, capsys):
    asked(home, "t1")
    with changing_attachments() as record:
        record["claude user x"] = entry

    code, found = status(capsys)

    assert (code, found["claude"]["gaps"][-1]) == (1, "the record of attachments is damaged: claude user x")


def test_without_an_audit_log_nothing_can_be_compared_and_that_is_said(home, capsys):
    attached(home)

    main(["agents", "status"])

    assert "    no audit log is found, so it is unknown what hooks were asked" in capsys.readouterr().out
