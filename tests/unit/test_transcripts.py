"""Transcripts of real sessions of six coding agents, and of older shapes: the events, and what became of each call."""

import json
from pathlib import Path
from typing import Any

import pytest

from interpose.replay import read_file
from interpose.replay.recording import UNKNOWN
from interpose.replay.transcripts import READERS, Damage, Fate, find_transcripts, session_name, stream

HERE = Path(__file__).parent / "transcripts"
RAN, REFUSED, NOT_TOLD = "it ran", "a hook or a rule refused it", "the transcript does not tell"
PUSH = "git push --force origin main"


def calls(path: Path) -> list[tuple[str, str, str, str]]:
    return [
        (
            event.fields["tool_name"],
            event.fields["tool_input"].get("command") or event.fields["tool_input"].get("file_path", ""),
            event.decision,
            event.derived,
        )
        for event in read_file(str(path)).events
        if event.event == "PreToolUse"
    ]


def write(path: Path, *entries: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in entries))
    return path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-2.1.325", [("Bash", "echo hello", "none", RAN), ("Bash", PUSH, "deny", REFUSED),
                            ("Write", "/home/dev/project/a.txt", "none", RAN),
                            ("Bash", "rm -rf /home/dev/none", "none", RAN)]),
        ("codex-0.166.0", [("Bash", "echo hello", "none", RAN), ("Bash", PUSH, "deny", REFUSED),
                           ("apply_patch", "*** Begin Patch\n*** Add File: b.txt\n+hello\n*** End Patch\n", UNKNOWN,
                            NOT_TOLD),
                           ("Bash", "cat", "deny", REFUSED), ("update_plan", "", UNKNOWN, NOT_TOLD)]),
        ("gemini-0.61.0", [("Bash", "echo hello", "none", RAN), ("Bash", PUSH, "none", RAN),
                           ("Write", "/home/dev/project/c.txt", "none", RAN)]),
        ("gemini-0.61.0-denied", [("Bash", "echo hello", "deny", REFUSED), ("Bash", PUSH, "deny", REFUSED),
                                  ("Write", "/home/dev/project/c.txt", UNKNOWN, NOT_TOLD)]),
        ("qwen-0.24.4", [("Bash", "echo hello", "none", RAN), ("Bash", PUSH, "none", RAN),
                         ("Write", "/home/dev/project/c.txt", "none", RAN)]),
        ("qwen-0.24.4-denied", [("Bash", "echo hello", "deny", REFUSED), ("Bash", PUSH, "deny", REFUSED),
                                ("Write", "/home/dev/project/c.txt", "deny", REFUSED)]),
        ("droid-0.215.0", [("Bash", "echo hello", "none", RAN), ("Bash", PUSH, "none", RAN),
                           ("Write", "/home/dev/project/f.txt", "none", RAN)]),
        ("droid-0.215.0-denied", [("Bash", "echo hello", UNKNOWN, NOT_TOLD), ("Bash", PUSH, UNKNOWN, NOT_TOLD),
                                  ("Write", "/home/dev/project/f.txt", UNKNOWN, NOT_TOLD)]),
        ("copilot-1.0.102", [("Bash", "echo hello", "none", RAN), ("Bash", PUSH, "none", RAN),
                             ("Write", "/home/dev/project/e.txt", "none", RAN)]),
        ("copilot-1.0.102-denied", [("Bash", "echo hello", "deny", REFUSED), ("Bash", PUSH, "deny", REFUSED),
                                    ("Write", "/home/dev/project/e.txt", "deny", REFUSED)]),
    ],
)  # fmt: skip
def test_the_calls_of_a_real_session_and_what_became_of_them(name, expected):
    assert calls(HERE / f"{name}.jsonl") == expected


@pytest.mark.parametrize(
    ("name", "version", "session"),
    [
        ("claude-2.1.325", "2.1.325", "7b3dd929-c7a4-4eb2-b4a8-42cbd2bd59f7"),
        ("codex-0.166.0", "0.166.0", "01a1ec50-82fe-7131-89b7-628f39a682c2"),
        ("gemini-0.61.0", "", "1db0c874-1a7e-44b3-a2eb-3a032ce9168d"),
        ("qwen-0.24.4", "0.24.4", "5b5f2910-ccef-49c8-af49-3b230fdc292d"),
        ("droid-0.215.0", "", "7d7d72e8-1a22-4c5b-a142-c41ed9e603fa"),
        ("copilot-1.0.102", "1.0.102", "13ba7382-c266-46ff-abaf-3a3a0309873f"),
    ],
)
def test_what_a_real_transcript_says_of_its_session(name, version, session):
    reader = READERS[name.partition("-")[0]](str(HERE / f"{name}.jsonl"))

    events = [one for one in stream(reader.path, reader, Damage()) if not isinstance(one, Fate)]

    assert (reader.session, reader.version, reader.cwd) == (session, version, "/home/dev/project")
    assert reader.name == session_name(reader.path) == "please tidy up"
    assert {event.fields["session_id"] for event in events} == {session}
    assert {event.fields["cwd"] for event in events} == {"/home/dev/project"}


def test_a_codex_session_from_before_there_were_envelopes(tmp_path):
    path = write(
        tmp_path / "rollout-2025-06-01T10-00-00-abc.jsonl",
        {"id": "abc", "timestamp": "2025-06-01T10:00:00.000Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text":
            "<environment_context>\nCurrent working directory: /repo\nApproval policy: never\n</environment_context>"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix it"}]},
        {"type": "function_call", "name": "shell", "call_id": "c1",
         "arguments": json.dumps({"command": ["bash", "-lc", "make test"], "workdir": "/repo/sub"})},
        {"type": "function_call_output", "call_id": "c1",
         "output": json.dumps({"output": "failed", "metadata": {"exit_code": 2, "duration_seconds": 1}})},
        {"type": "local_shell_call", "call_id": "c2", "status": "completed",
         "action": {"type": "exec", "command": ["ls", "a b"]}},
        {"type": "function_call_output", "call_id": "c2", "output": "exec command rejected by user"},
        {"type": "function_call", "name": "shell", "call_id": "c3", "arguments": "not JSON"},
    )  # fmt: skip

    events = read_file(str(path)).events

    assert [(one.event, one.decision) for one in events] == [
        ("UserPromptSubmit", "none"), ("PreToolUse", "none"), ("PostToolUse", "none"), ("PreToolUse", "ask"),
        ("PreToolUse", UNKNOWN),
    ]  # fmt: skip
    assert events[1].fields == {
        "session_id": "abc", "transcript_path": str(path), "cwd": "/repo/sub", "tool_name": "Bash",
        "tool_input": {"command": "make test", "workdir": "/repo/sub"}, "tool_use_id": "c1",
    }  # fmt: skip
    assert events[2].fields["tool_response"] == {"stdout": "failed", "exit_code": 2}
    assert (events[3].fields["tool_input"], events[3].fields["cwd"]) == ({"command": "ls 'a b'"}, "/repo")


def test_codex_names_a_thread_and_mcp_tools(tmp_path):
    path = write(
        tmp_path / "rollout-1.jsonl",
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/a", "cli_version": "0.100.0"}},
        {"type": "turn_context", "payload": {"cwd": "/b"}},
        {"type": "event_msg", "payload": {"type": "thread_name_updated", "thread_name": "Release \x1b[31mnotes"}},
        {"type": "response_item", "payload": {"type": "function_call", "namespace": "mcp__git__", "name": "push",
                                              "call_id": "c1", "arguments": '{"branch": "main"}'}},
    )  # fmt: skip

    (call,) = read_file(str(path)).events

    assert (call.fields["tool_name"], call.fields["tool_input"], call.fields["cwd"]) == (
        "mcp__git__push", {"branch": "main"}, "/b",
    )  # fmt: skip
    assert session_name(str(path)) == "Release \x1b[31mnotes"


def test_claude_names_a_session_by_title_before_summary_before_prompt(tmp_path):
    user = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": "first  prompt"}}
    summary, ai = {"type": "summary", "summary": "A summary"}, {"type": "ai-title", "aiTitle": "A title"}
    own = {"type": "custom-title", "customTitle": "My own", "sessionId": "s"}

    names = [
        session_name(str(write(tmp_path / f"{number}.jsonl", user, *more)))
        for number, more in enumerate([[], [summary], [summary, ai], [own, summary, ai]])
    ]

    assert names == ["first prompt", "A summary", "A title", "My own"]


def test_transcripts_are_found_where_each_agent_keeps_them(tmp_path):
    places = {
        ".claude/projects/-repo/a.jsonl": "claude",
        ".claude/projects/-repo/a/subagents/agent-1.jsonl": "claude",
        ".codex/sessions/2026/01/02/rollout-2026-x.jsonl": "codex",
        ".codex/archived_sessions/rollout-2025-x.jsonl": "codex",
        ".copilot/session-state/id/events.jsonl": "copilot",
        ".gemini/tmp/repo/chats/session-1.jsonl": "gemini",
        ".factory/sessions/-repo/id.jsonl": "droid",
        ".qwen/projects/-repo/chats/id.jsonl": "qwen",
    }
    for place in (*places, ".codex/history.jsonl", ".claude/projects/-repo/notes.txt", ".gemini/tmp/repo/logs.json"):
        write(tmp_path / place, "{}\n")
    moved = write(tmp_path / "elsewhere" / "sessions" / "rollout-1.jsonl", "{}\n")

    found = find_transcripts(str(tmp_path), environment={"CODEX_HOME": str(tmp_path / "elsewhere")}).found

    assert {str(Path(one.path).relative_to(tmp_path)): one.agent for one in found} == {
        **places, str(moved.relative_to(tmp_path)): "codex",
    }  # fmt: skip


def test_only_the_agents_and_the_time_that_are_asked_for(tmp_path):
    import os

    old = write(tmp_path / ".claude/projects/p/old.jsonl", "{}\n")
    new = write(tmp_path / ".claude/projects/p/new.jsonl", "{}\n")
    write(tmp_path / ".codex/sessions/rollout-1.jsonl", "{}\n")
    os.utime(old, (1000, 1000))

    found = find_transcripts(str(tmp_path), ["claude"], since=2000.0).found

    assert [one.path for one in found] == [str(new)]
