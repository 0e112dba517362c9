"""Transcripts of Claude Code read as events: what was asked, what became of it, and what nobody can know."""

import json
from pathlib import Path
from typing import Any

import pytest

from interpose import UsageError
from interpose.replay import read_file, read_transcript
from interpose.replay.recording import UNKNOWN, Recorded


def entry(type: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": type, "uuid": more.pop("uuid", None), "sessionId": "s-1", "cwd": "/repo", "isSidechain": False,
        "timestamp": "2026-01-02T03:04:05.000Z", "message": {"role": type, "content": content}, **more,
    }  # fmt: skip


def call(id: str, command: str = "ls", **more: Any) -> dict[str, Any]:
    return entry("assistant", [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}], **more)


def result(id: str, text: Any = "done", *, error: bool = False, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": text, **({"is_error": True} if error else {})}
    return entry("user", [block], **more)


def events(tmp_path: Path, *entries: Any) -> list[Recorded]:
    return read_transcript(written(tmp_path / "session.jsonl", *entries)).events


def written(path: Path, *entries: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in entries))
    return str(path)


def told(recorded: Recorded) -> tuple[str, str, str]:
    return recorded.event, recorded.decision, recorded.derived


def test_a_call_that_ran_is_the_event_before_it_and_the_one_after(tmp_path):
    before, after = events(
        tmp_path,
        call("t1", "ls -l", permissionMode="plan"),
        result("t1", "total 0", toolUseResult={"stdout": "total 0", "stderr": ""}),
    )

    assert told(before) == ("PreToolUse", "none", "it ran")
    assert before.fields == {
        "session_id": "s-1", "transcript_path": str(tmp_path / "session.jsonl"), "cwd": "/repo",
        "permission_mode": "plan", "tool_name": "Bash", "tool_input": {"command": "ls -l"}, "tool_use_id": "t1",
    }  # fmt: skip
    assert told(after) == ("PostToolUse", "none", "it ran")
    assert after.fields["tool_response"] == {"stdout": "total 0", "stderr": ""}
    assert after.fields["tool_input"] == {"command": "ls -l"}


def test_a_call_that_failed_ran_all_the_same(tmp_path):
    before, after = events(tmp_path, call("t1"), result("t1", "Exit code 1\nno", error=True))

    assert told(before) == ("PreToolUse", "none", "it ran")
    assert (after.event, after.fields["error"]) == ("PostToolUseFailure", "Exit code 1\nno")


@pytest.mark.parametrize(
    ("text", "more", "decision", "derived"),
    [
        ("PreToolUse:Bash hook error: [./guard.sh]: no", {}, "deny", "a hook or a rule refused it"),
        ("a reason of its own", {"toolDenialKind": "permission-rule"}, "deny", "a hook or a rule refused it"),
        ("blocked", {"toolDenialKind": "automode-blocked"}, "deny", "a hook or a rule refused it"),
        ("Permission to use Bash with command rm has been denied.", {}, "deny", "a hook or a rule refused it"),
        ("Claude requested permissions to use Bash, but you haven't granted it yet.", {}, "deny",
         "a hook or a rule refused it"),
        ("The user doesn't want to proceed with this tool use. The tool use was rejected", {}, "ask",
         "a person was asked and refused it"),
        ("anything", {"toolDenialKind": "user-rejected"}, "ask", "a person was asked and refused it"),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", {}, UNKNOWN, "the transcript does not tell"),
        ("stopped", {"toolDenialKind": "interrupted"}, UNKNOWN, "the transcript does not tell"),
    ],
)  # fmt: skip
def test_what_was_decided_is_told_from_what_happened(tmp_path, text, more, decision, derived):
    found = events(tmp_path, call("t1"), result("t1", text, error=True, **more))

    assert [told(one) for one in found] == [("PreToolUse", decision, derived)]


def test_a_result_that_only_speaks_of_a_refusal_is_none(tmp_path):
    before, after = events(tmp_path, call("t1"), result("t1", "PreToolUse:Bash hook error: see the manual"))

    assert (before.decision, after.event) == ("none", "PostToolUse")


def test_the_first_result_of_a_call_counts(tmp_path):
    found = events(tmp_path, call("t1"), result("t1"), result("t1", "no", error=True, toolDenialKind="user-rejected"))

    assert [told(one)[:2] for one in found] == [("PreToolUse", "none"), ("PostToolUse", "none")]


def test_a_call_without_a_result_was_decided_by_nobody_that_we_know(tmp_path):
    assert [told(one) for one in events(tmp_path, call("t1"))] == [
        ("PreToolUse", UNKNOWN, "the transcript does not tell")
    ]


def test_only_what_a_person_typed_is_a_prompt(tmp_path):
    found = events(
        tmp_path,
        entry("user", "good morning", uuid="u1"),
        entry("user", [{"type": "text", "text": "and"}, {"type": "text", "text": "more"}], uuid="u2"),
        entry("user", "for the model", uuid="u3", isMeta=True),
        entry("user", "a summary", uuid="u4", isCompactSummary=True),
        entry("user", "a task", uuid="u5", isSidechain=True, agentId="a1"),
        entry("user", "an agent is done", uuid="u6", origin={"kind": "task-notification"}),
        entry("user", "<command-name>/clear</command-name>", uuid="u7"),
        entry("user", "[Request interrupted by user]", uuid="u8"),
        entry("user", "said by a person", uuid="u9", origin={"kind": "human"}),
    )

    assert [one.fields["prompt"] for one in found] == ["good morning", "and\nmore", "said by a person"]


def test_a_prompt_that_a_hook_refused_is_told_by_the_program(tmp_path):
    (found,) = events(tmp_path, {
        "type": "system", "subtype": "informational", "uuid": "u1", "sessionId": "s-1", "cwd": "/repo",
        "content": "UserPromptSubmit operation blocked by hook:\n[./no.sh]: not today\n\n\nOriginal prompt: delete all",
    })  # fmt: skip

    assert (found.event, found.decision, found.fields["prompt"]) == ("UserPromptSubmit", "deny", "delete all")
    assert found.reason == "[./no.sh]: not today"


def test_what_a_resumed_session_repeats_happened_once(tmp_path):
    twice = [entry("user", "hello", uuid="u1"), call("t1", uuid="u2"), result("t1", uuid="u3")]

    assert len(events(tmp_path, *twice, *twice)) == 3


def test_calls_of_subagents_are_theirs_and_in_time(tmp_path):
    path = written(
        tmp_path / "abc.jsonl",
        call("t1", "first", timestamp="2026-01-01T00:00:01Z"),
        result("t1", timestamp="2026-01-01T00:00:05Z"),
    )
    written(
        tmp_path / "abc" / "subagents" / "agent-a1.jsonl",
        call("t2", "between", timestamp="2026-01-01T00:00:03Z", agentId="a1", isSidechain=True),
    )

    found = read_transcript(path).events

    assert [(one.event, one.fields["tool_use_id"], one.fields.get("agent_id")) for one in found] == [
        ("PreToolUse", "t1", None), ("PreToolUse", "t2", "a1"), ("PostToolUse", "t1", None),
    ]  # fmt: skip


def test_several_results_in_one_message_have_their_own_content(tmp_path):
    both = entry(
        "user",
        [{"type": "tool_result", "tool_use_id": which, "content": which} for which in ("t1", "t2")],
        toolUseResult={"stdout": "of one of them"},
    )

    found = events(tmp_path, call("t1"), call("t2"), both)

    assert [one.fields["tool_response"] for one in found if one.event == "PostToolUse"] == ["t1", "t2"]


def test_what_cannot_be_read_is_left_out_and_counted(tmp_path):
    odd = ['{"type": "assis', "\n", '"text"\n', "[1]\n", '{"type": "user", "message": "no"}\n',
           '{"type": "assistant", "message": {"content": [7, {"type": "tool_use", "id": 3, "name": null}]}}\n']  # fmt: skip
    path = written(tmp_path / "session.jsonl", call("t1"), *odd)

    recording = read_transcript(path)

    assert [one.event for one in recording.events] == ["PreToolUse"]
    assert recording.notes == ["session.jsonl: 1 line could not be read"]


def test_a_file_says_itself_what_it_is(tmp_path):
    transcript = written(tmp_path / "t.jsonl", {"type": "summary", "summary": "x"}, call("t1"))
    export = written(tmp_path / "e.jsonl", {"event": "Stop", "given": {"cwd": "/"}, "decision": "none", "id": 4})

    assert [read_file(path).kind for path in (transcript, export)] == ["transcript", "export"]


@pytest.mark.parametrize("content", ["", "{}\n", "not JSON\n", "\x00\xff"])
def test_a_file_of_another_kind_is_refused(tmp_path, content):
    path = written(tmp_path / "x.jsonl", content)

    with pytest.raises(UsageError, match="neither an export nor a transcript"):
        read_file(path)


def test_a_damaged_line_of_an_export_is_named(tmp_path):
    path = written(tmp_path / "e.jsonl", {"event": "Stop", "given": {"cwd": "/"}}, '{"event": "Sto\n')

    with pytest.raises(UsageError, match=r"e\.jsonl:2: not a line of an export"):
        read_file(path)
