"""The agent's small parts: the conversation, the transcript, kinds of subagents, frames and the timeline."""

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from interpose import ConfigError, Hooks, UsageError, deny
from interpose.agent.agent_types import AgentType, read_agent_types
from interpose.agent.conversation import newest, with_newest, without_newest
from interpose.agent.transcript import Transcript
from interpose.cli.run.timeline import Timeline, print_timeline
from interpose.cli.run.view import frame_lines
from interpose.models import Assistant, Message, ToolCall, ToolResult, ToolResults, User

CALLS = (ToolCall("1", "Read", {"file_path": "a"}), ToolCall("2", "Read", {"file_path": "b"}))
RESULTS = ToolResults((ToolResult("1", "alpha"), ToolResult("2", "beta", ok=False)))


@pytest.mark.parametrize(
    ("messages", "new"),
    [
        ([], ""),
        ([User("hi")], "hi"),
        ([User("hi"), Assistant("hello")], ""),
        ([User("hi"), Assistant("hello"), User("and?")], "and?"),
        ([User("hi"), Assistant("", CALLS), RESULTS, User("more")], "alpha\nbeta\nmore"),
    ],
)
def test_the_newest_is_what_the_model_has_not_seen(messages: list[Message], new: str) -> None:
    assert newest(messages) == new


def test_a_changed_prompt_stands_in_the_place_of_the_prompt() -> None:
    assert with_newest([User("hi"), Assistant("hello"), User("secret")], "[redacted]") == [
        User("hi"), Assistant("hello"), User("[redacted]"),
    ]  # fmt: skip


def test_every_call_keeps_a_result_when_results_are_changed() -> None:
    before: list[Message] = [User("hi"), Assistant("", CALLS), RESULTS, User("secret")]

    after = with_newest(before, "[redacted]")

    assert after[:2] == before[:2]
    assert isinstance(after[2], ToolResults)
    assert [result.id for result in after[2].results] == ["1", "2"]
    assert [result.ok for result in after[2].results] == [True, False]
    assert after[2].results[0].content == "[redacted]"
    assert not any("alpha" in str(message) or "beta" in str(message) or "secret" in str(message) for message in after)


@pytest.mark.parametrize(
    ("texts", "changed", "parts"),
    [
        (["alpha", "beta", "more"], "alpha\n[redacted]\nmore", ["alpha", "[redacted]", "more"]),
        (["a\nkey\nb", "c", "key"], "a\n[1]\nb\nc\n[2]", ["a\n[1]\nb", "c", "[2]"]),
        (["a\nkey\nkey\nb", "c", "d"], "a\n[gone]\nb\nc\nd", ["a\n[gone]\nb", "c", "d"]),
        (["secret", "b", "c"], "b\nc", ["", "b", "c"]),
        (["a", "b", "c"], "a\nb\nc\nand a note", ["a", "b", "c\nand a note"]),
        (["a", "b", "c"], "note\na\nb\nc", ["note\na", "b", "c"]),
    ],
)
def test_a_change_leaves_tool_results_where_they_are(texts: list[str], changed: str, parts: list[str]) -> None:
    first, second, last = texts
    results = ToolResults((ToolResult("1", first), ToolResult("2", second, ok=False)))
    before: list[Message] = [User("hi"), Assistant("", CALLS), results, User(last)]

    after = with_newest(before, changed)

    assert after == [
        *before[:2], ToolResults((ToolResult("1", parts[0]), ToolResult("2", parts[1], ok=False))), User(parts[2]),
    ]  # fmt: skip
    assert newest(after).lstrip("\n") == changed


def test_what_was_refused_does_not_go_out_with_the_next_message() -> None:
    talk: list[Message] = [User("hi"), Assistant("hello"), User("secret")]
    work: list[Message] = [User("hi"), Assistant("", CALLS), RESULTS]

    assert without_newest(talk) == talk[:2]
    assert "alpha" not in str(without_newest(work))
    assert isinstance(without_newest(work)[-1], ToolResults)


def test_a_transcript_has_the_lines_that_readers_of_claude_code_expect(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "deep" / "t.jsonl", session_id="s", cwd=Path("/tmp"), agent="helper")
    for message in (User("hi\nthere"), Assistant("Reading.", CALLS[:1]), ToolResults(RESULTS.results[:1])):
        transcript.add(message)
    transcript.note("compact_boundary", "short", trigger="auto")
    transcript.close()

    lines = [json.loads(line) for line in transcript.path.read_text().splitlines()]

    assert [line["type"] for line in lines] == ["user", "assistant", "user", "system"]
    assert [line["parentUuid"] for line in lines] == [None, *(line["uuid"] for line in lines[:-1])]
    assert {(line["sessionId"], line["cwd"], line["isSidechain"], line["agentId"]) for line in lines} == {
        ("s", "/tmp", True, "helper")
    }
    assert [line.get("message", {}).get("content") for line in lines] == [
        "hi\nthere",
        [
            {"type": "text", "text": "Reading."},
            {"type": "tool_use", "id": "1", "name": "Read", "input": {"file_path": "a"}},
        ],
        [{"type": "tool_result", "tool_use_id": "1", "content": "alpha", "is_error": False}],
        None,
    ]
    assert stat.S_IMODE(transcript.path.stat().st_mode) == 0o600


def test_a_transcript_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match="link"):
        Transcript(tmp_path / "t.jsonl", session_id="s", cwd=tmp_path)


def test_kinds_of_subagents_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "kinds.yaml").write_text("reviewer: {description: Reviews., system: Be strict., tools: [Read]}")

    assert read_agent_types(str(tmp_path / "kinds.yaml")) == {
        "reviewer": AgentType("Reviews.", "Be strict.", ("Read",))
    }


@pytest.mark.parametrize(
    "text",
    ["[]", "a: [", "a: {description: x, tools: Read}", "a: 5", "a: {description: ''}", "a: {description: x}\na: {}"],
)
def test_a_bad_file_of_kinds_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "kinds.yaml").write_text(text)

    with pytest.raises((UsageError, ConfigError), match=r"kinds\.yaml"):
        read_agent_types(str(tmp_path / "kinds.yaml"))


CALL: dict[str, Any] = {
    "tool": "Bash", "input": {"command": "ls"}, "given": {"command": "ls"}, "ok": True, "content": "a\nb",
    "denied": False, "reason": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("view", "data", "lines"),
    [
        ("prompt", {"text": "hi\nthere"}, ["› hi", "  there"]),
        ("assistant", {"text": "hello", "agent": "ada"}, ["● ada hello"]),
        ("call", CALL, ["  ✓ Bash ls", "      a", "      b"]),
        ("call", {**CALL, "given": {"command": "rm"}}, ["  ✓ Bash ls", "      was rm", "      a", "      b"]),
        ("call", {**CALL, "ok": False, "denied": True, "reason": "no"}, ["  ✗ Bash ls", "      denied: no"]),
        ("call", {**CALL, "content": "1\n2\n3\n4\n5\n6"},
         ["  ✓ Bash ls", "      1", "      2", "      3", "      4", "      … 2 more lines"]),
        ("notice", {"text": "psst"}, ["  · psst"]),
        ("agent", {"name": "ada", "state": "started", "task": "look"}, ["  ↳ ada started: look"]),
        ("assistant", "what a hook made of it", ["  what a hook made of it"]),
        ("assistant", {"text": "\x1b[31mred\x1b[0m \x07bell"}, ["● red bell"]),
    ],
)  # fmt: skip
def test_a_frame_is_drawn_as_lines(view: str, data: Any, lines: list[str]) -> None:
    assert list(frame_lines(view, data)) == lines


def test_the_timeline_says_which_hooks_ran_and_what_came_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("no\x1b[2J"), name="guard", matcher="Bash")
    hooks.register("PreToolUse", lambda event: None, name="later", matcher="Bash")
    timeline = Timeline()
    for tool in ("Bash", "Read"):
        timeline.add(hooks.fire_sync("PreToolUse", tool_name=tool))

    print_timeline(timeline.rows)

    assert timeline.firings == 2
    heading, line = capsys.readouterr().out.splitlines()
    assert heading.split() == ["event", "subject", "hooks", "outcome", "ms"]
    assert line.startswith("PreToolUse  Bash     guard (deny), 1 skipped  deny ")


@pytest.mark.parametrize("rows", ["nothing", [1], [{"event": "x"}], None])
def test_a_timeline_that_a_hook_has_spoilt_is_shown_as_it_is(rows: Any, capsys: pytest.CaptureFixture[str]) -> None:
    print_timeline(rows)

    assert capsys.readouterr().out.strip() == str(rows)


def test_a_session_without_hooks_has_an_empty_timeline(capsys: pytest.CaptureFixture[str]) -> None:
    async def fire() -> None:
        async with Hooks().session(on_outcome=timeline.add):
            pass

    timeline = Timeline()
    asyncio.run(fire())
    print_timeline(timeline.rows)

    assert timeline.firings == 3
    assert capsys.readouterr().out == "No hook ran.\n"
