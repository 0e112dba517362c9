"""Transcripts that are damaged, huge, hostile, or change while they are read: everything else is still read."""

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks
from interpose.replay.scan import policies_only, scan
from interpose.replay.transcripts import Damage, Fate, find_transcripts, lines, stream
from interpose.replay.transcripts.claude import ClaudeReader
from interpose.replay.transcripts.lines import open_transcript, read_entries


def call(number: int, command: str = "env") -> str:
    use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    return json.dumps({"type": "assistant", "sessionId": "s", "cwd": "/gone", "timestamp": "2026-10-01T10:00:00Z",
                       "message": {"content": [use]}}) + "\n"  # fmt: skip


def place(home: Path, name: str = "a") -> Path:
    path = home / f".claude/projects/p/{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def scanned(home: Path) -> Any:
    hooks = Hooks()
    hooks.use("environment")
    policies_only(hooks)
    return scan(hooks, find_transcripts(str(home)))


@pytest.mark.parametrize(
    "damage",
    [
        '{"type": "assis\n',
        "\x00\x00\x00\n",
        "[" * 200_000 + "\n",
        '{"a": ' * 200_000 + "\n",
        "9" * 5000 + "\n",
        '{"type": "assistant", "message": {"content": [{"type": "tool_use", "id": ["x"], "name": {}}]}}\n',
        '{"type": "assistant", "message": {"content": {"type": "tool_use"}}, "sessionId": 7, "cwd": []}\n',
        '{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": null}]}}\n',
        '{"type": "assistant", "timestamp": 3, "message": "text"}\n',
        '{"type": ["user"], "message": 1}\n',
        '{"type": "summary", "summary": {"x": 1}}\n',
        "\n\n   \n",
        "\ufeff\n",
    ],
)
def test_a_damaged_line_costs_that_line_only(tmp_path, damage):
    place(tmp_path).write_text(call(1) + damage + call(2))

    report = scanned(tmp_path)

    assert (report.calls, report.asked, report.unreadable) == (2, 2, [])
    assert report.broken_lines <= 1


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "droid", "gemini", "qwen"])
@pytest.mark.parametrize(
    "entry",
    [
        {"type": "response_item", "payload": {"type": "function_call", "name": 5, "arguments": [], "call_id": {}}},
        {
            "type": "response_item",
            "payload": {"type": "function_call", "name": "shell", "arguments": '{"command": {}}'},
        },
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "x", "output": {"a": [1]}}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [None, 5, {"text": 7}]}},
        {"type": "gemini", "toolCalls": [None, {"name": 3, "id": None, "args": "x", "result": [5], "status": []}]},
        {"$set": {"messages": [None, 3, {"type": "user", "content": {"a": 1}}]}},
        {
            "sessionId": "s",
            "type": "assistant",
            "message": {"parts": [None, {"functionCall": 3}, {"functionCall": {}}]},
        },
        {"type": "assistant.message", "data": {"toolRequests": [None, {"toolCallId": 3, "name": [], "arguments": 1}]}},
        {"type": "tool.execution_complete", "data": {"toolCallId": None, "error": "x", "result": 3}},
        {
            "type": "message",
            "message": {"role": "user", "content": [None, {"type": "text"}, {"type": "tool_use", "id": 1}]},
        },
        {"type": "session.start", "data": {"sessionId": [], "context": "x", "copilotVersion": {}}},
    ],
)
def test_entries_with_values_of_other_types_are_no_error(agent, entry, tmp_path):
    from interpose.replay.transcripts import READERS

    reader = READERS[agent](str(tmp_path))

    assert all(
        one.event in ("PreToolUse", "UserPromptSubmit") for one in reader.take(entry) if not isinstance(one, Fate)
    )
    assert isinstance(reader.name, str)


def test_a_line_that_is_too_long_is_passed_over_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 1000)
    place(tmp_path).write_text(call(1) + call(2, "x" * 5000) + call(3))

    report = scanned(tmp_path)

    assert (report.calls, report.broken_lines) == (2, 1)


def test_a_call_that_would_take_minutes_is_counted_and_not_asked_about(tmp_path):
    deep: Any = "x"
    for _ in range(100):
        deep = {"a": [deep]}
    wide = {"edits": [{"old": "a" * 50}] * 50_000}
    calls = [{"command": "x" * 1_000_001}, {"command": "env", "more": wide}, {"command": "env"}, {"deep": deep}]
    with place(tmp_path).open("w") as file:
        for number, given in enumerate(calls):
            use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": given}
            file.write(json.dumps({"type": "assistant", "sessionId": "s", "message": {"content": [use]}}) + "\n")

    report = scanned(tmp_path)

    assert (report.calls, report.too_large, report.asked) == (4, 2, 2)  # a command that is no text is asked about


def test_a_large_transcript_is_never_in_memory_as_a_whole(tmp_path):
    path = place(tmp_path)
    result = {"type": "user", "sessionId": "s", "message": {"content": "x" * 1_000_000}, "isMeta": True}
    with path.open("w") as file:
        for number in range(50):
            file.write(call(number, "ls"))
            file.write(json.dumps(result) + "\n")
    tracemalloc.start()

    found = sum(not isinstance(one, Fate) for one in stream(str(path), ClaudeReader(str(path)), Damage()))

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == 50
    assert peak < 10_000_000, f"{path.stat().st_size:,} bytes were read with {peak:,}"


def test_loops_of_links_pipes_folders_and_broken_links_do_not_stop_a_scan(tmp_path):
    place(tmp_path).write_text(call(1))
    folder = place(tmp_path).parent
    (folder / "loop").symlink_to(folder)
    (folder / "same.jsonl").symlink_to(place(tmp_path))
    (folder / "broken.jsonl").symlink_to(folder / "nowhere")
    (folder / "ring.jsonl").symlink_to(folder / "ring.jsonl")
    (folder / "folder.jsonl").mkdir()
    os.mkfifo(folder / "pipe.jsonl")

    report = scanned(tmp_path)

    assert (report.calls, report.files) == (1, 1)
    assert sorted(Path(path).name for path, _ in report.unreadable) == ["broken.jsonl", "ring.jsonl"]


def test_a_pipe_in_place_of_a_transcript_that_was_found_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(OSError, match="is not a regular file"):
        open_transcript(str(tmp_path / "pipe"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(tmp_path):
    place(tmp_path).write_text(call(1))
    place(tmp_path).chmod(0)

    assert [why for _, why in scanned(tmp_path).unreadable] == ["Permission denied"]


def test_a_transcript_that_goes_away_between_finding_and_reading_is_named(tmp_path):
    place(tmp_path).write_text(call(1))
    place(tmp_path, "b").write_text(call(2))
    search = find_transcripts(str(tmp_path))
    place(tmp_path, "b").unlink()
    hooks = Hooks()
    hooks.use("environment")

    report = scan(hooks, search)

    assert (report.calls, [why for _, why in report.unreadable]) == (1, ["No such file or directory"])


def test_a_transcript_that_grows_while_it_is_read_ends_where_it_ended_at_first(tmp_path):
    path = place(tmp_path)
    path.write_text(call(1))
    read = 0
    with open_transcript(str(path)) as file, path.open("a") as writer:
        for _ in read_entries(file, Damage()):
            read += 1
            writer.write(call(read + 1))
            writer.flush()

    assert read == 1


def test_a_transcript_that_is_cut_while_it_is_read_is_no_error(tmp_path):
    path = place(tmp_path)
    path.write_text(call(1) * 50_000)
    damage, read = Damage(), 0
    with open_transcript(str(path)) as file:
        for _ in read_entries(file, damage):
            read += 1
            if read == 1:
                os.truncate(path, 10)

    assert 0 < read < 50_000
    assert damage.lines <= 1


def test_the_half_line_of_a_running_session_is_counted_and_what_comes_before_it_read(tmp_path):
    place(tmp_path).write_text(call(1) + call(2)[:50])

    report = scanned(tmp_path)

    assert (report.calls, report.broken_lines) == (1, 1)


def test_compressed_transcripts_are_named_and_not_taken_for_damaged(tmp_path):
    path = tmp_path / ".codex/sessions/rollout-1.jsonl.zst"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"(\xb5/\xfd\x00")

    report = scanned(tmp_path)

    assert (report.broken_lines, [why for _, why in report.unreadable]) == (0, ["it is compressed"])


def test_ctrl_c_ends_the_scan_and_keeps_what_was_found(tmp_path):
    for name in ("a", "b"):
        place(tmp_path, name).write_text(call(ord(name)))
    hooks = Hooks()
    hooks.use("environment")
    told = []

    def interrupt(*_: object) -> None:
        told.append(1)
        if len(told) == 2:
            raise KeyboardInterrupt

    report = scan(hooks, find_transcripts(str(tmp_path)), told=interrupt)

    assert (report.stopped, report.calls, report.asked) == (True, 1, 1)
