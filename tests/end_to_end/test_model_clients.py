"""The clients of both APIs, through the official packages: what is asked, answered, thought and left out."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tests.end_to_end.model_questions import BASH, HELLO, SERVERS, after, answered, ask, both, chunks, failure
from tests.end_to_end.model_servers import (
    AnthropicServer,
    Fails,
    OpenAIServer,
    Raw,
    Thinks,
)

from interpose.models import (
    Assistant,
    Request,
    ToolCall,
    ToolResult,
    ToolResults,
    Turn,
    User,
)

pytestmark = pytest.mark.slow


# What is asked and answered.


@both
def test_text_is_heard_piece_by_piece_and_is_whole_in_the_turn(kind: str) -> None:
    heard: list[str] = []

    with SERVERS[kind]([{"say": "Two words.", "tokens": 90}]) as server:
        turns = ask(server, HELLO, on_text=heard.append)

    assert turns == [Turn("Two words.", (), "end_turn", 90)]
    assert heard == ["Two ", "words."]


@both
def test_parallel_calls_are_put_together_from_their_fragments(kind: str) -> None:
    commands = ["ls -l /somewhere", "echo 'ä \"quoted\" \\ thing'"]

    turn = answered(kind, {"calls": [{"Bash": {"command": command}} for command in commands]})

    assert turn.calls == tuple(
        ToolCall(f"toolu_{number}", "Bash", {"command": command}) for number, command in enumerate(commands, 1)
    )
    assert turn.stop_reason == "tool_use"


@both
def test_a_call_without_input_has_an_empty_one(kind: str) -> None:
    turn = answered(kind, {"call": {"Bash": ""}})

    assert turn.calls == (ToolCall("toolu_1", "Bash", {}),)


def test_anthropic_is_sent_everything_that_was_said() -> None:
    calls = (ToolCall("a", "Bash", {"command": "ls"}), ToolCall("b", "Bash", {}))
    said = Assistant("I look.", calls)
    results = ToolResults((ToolResult("a", "x.py"), ToolResult("b", "no command", ok=False)))

    with AnthropicServer([{"say": "Done."}]) as server:
        ask(server, Request("Be brief.", [User("Hello?"), said, results], [BASH]))

    assert server.requests == [
        {
            "model": "claude-sonnet-5-5",
            "max_tokens": 32_000,
            "stream": True,
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Hello?"}]},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}},
                        {"type": "tool_use", "id": "b", "name": "Bash", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "a", "content": "x.py", "is_error": False},
                        {
                            "type": "tool_result",
                            "tool_use_id": "b",
                            "content": "no command",
                            "is_error": True,
                            "cache_control": {"type": "ephemeral"},
                        },
                    ],
                },
            ],
            "tools": [{"name": "Bash", "description": "Runs a command.", "input_schema": BASH.schema}],
        }
    ]


def test_openai_is_sent_everything_that_was_said() -> None:
    calls = (ToolCall("a", "Bash", {"command": "ls"}), ToolCall("b", "Bash", {}))
    results = ToolResults((ToolResult("a", "x.py"), ToolResult("b", "no command", ok=False)))

    with OpenAIServer([{"say": "Done."}]) as server:
        ask(server, Request("Be brief.", [User("Hello?"), Assistant("", calls), results], [BASH]))

    assert server.requests == [
        {
            "model": "gpt-6-sol",
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hello?"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "a", "type": "function", "function": {"name": "Bash", "arguments": '{"command": "ls"}'}},
                        {"id": "b", "type": "function", "function": {"name": "Bash", "arguments": "{}"}},
                    ],
                },
                {"role": "tool", "tool_call_id": "a", "content": "x.py"},
                {"role": "tool", "tool_call_id": "b", "content": "Error: no command"},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {"name": "Bash", "description": "Runs a command.", "parameters": BASH.schema},
                }
            ],
        }
    ]


@both
def test_a_conversation_goes_on_with_what_the_model_said_itself(kind: str) -> None:
    with SERVERS[kind](
        [{"say": "I look.", "call": {"Bash": {"command": "ls"}}}, {"needs": "^0$|\n0", "say": "One."}]
    ) as server:
        first = ask(server, HELLO)[0]
        second = ask(server, after(first))[0]

    assert second.text == "One."


@both
def test_a_conversation_with_calls_can_be_sent_without_tools_and_none_is_called(kind: str) -> None:
    called = Turn(calls=(ToolCall("a", "Bash", {"command": "ls"}),))

    with SERVERS[kind]([{"say": "A summary."}]) as server:
        turn = ask(server, Request("Sum up.", after(called).messages))[0]

    assert turn.text == "A summary."
    assert server.requests[0].get("tool_choice") == ({"type": "none"} if server.requests[0].get("tools") else None)


@both
def test_messages_with_nothing_in_them_do_not_break_a_conversation(kind: str) -> None:
    request = Request("", [User("Hello?"), Assistant(""), User(" "), Assistant(" \n"), User("Still there?")])

    assert answered(kind, {"say": "Yes."}, request=request).text == "Yes."


@both
@pytest.mark.parametrize("reason", ["end_turn", "tool_use", "max_tokens", "refusal", "something_new"])
def test_a_reason_to_stop_is_said_in_our_words_and_an_unknown_one_in_its_own(kind: str, reason: str) -> None:
    assert answered(kind, {"say": "So.", "stop_reason": reason}).stop_reason == reason


def test_a_full_window_ends_a_turn_as_its_longest_does() -> None:
    assert (
        answered("anthropic", {"say": "So", "stop_reason": "model_context_window_exceeded"}).stop_reason == "max_tokens"
    )


@both
def test_a_refused_turn_has_no_calls(kind: str) -> None:
    turn = answered(
        kind, {"say": "I will not.", "call": {"Bash": {"command": "ls"}}, "stop_reason": "refusal", "tokens": 7}
    )

    assert turn == Turn("I will not.", (), "refusal", 7)


def test_a_refusal_without_text_says_why() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "This could do harm."}
    delta = {"stop_reason": "refusal", "stop_sequence": None, "stop_details": details}
    event = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}

    turn = answered("anthropic", Raw(f"event: message_delta\ndata: {json.dumps(event)}\n\n"))

    assert (turn.text, turn.stop_reason) == ("This could do harm.", "refusal")


def test_a_refusal_in_words_of_its_own_is_heard() -> None:
    turn = answered("openai", chunks({"refusal": "I will not."}))

    assert (turn.text, turn.stop_reason) == ("I will not.", "refusal")


# Input that is none.


@both
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"command": ls}', "the input was not valid JSON: Expecting value: line 1 column 13 (char 12)"),
        ('["ls"]', "the input was not a JSON object"),
        ("[" * 100_000, "the input was not valid JSON"),
    ],
)
def test_input_that_is_no_json_is_a_call_with_a_problem(kind: str, text: str, problem: str) -> None:
    (call,) = answered(kind, {"call": {"Bash": text}}).calls

    assert (call.id, call.name, call.input) == ("toolu_1", "Bash", {})
    assert call.problem.startswith(problem)


@both
def test_a_call_with_a_problem_can_be_answered(kind: str) -> None:
    with SERVERS[kind]([{"call": {"Bash": "ls"}}, {"needs": "not valid JSON", "say": "Sorry."}]) as server:
        first = ask(server, HELLO)[0]
        told = ToolResults(tuple(ToolResult(call.id, call.problem, ok=False) for call in first.calls))
        second = ask(server, Request("", [*HELLO.messages, first.message(), told], [BASH]))[0]

    assert second.text == "Sorry."


@both
def test_the_call_at_which_an_answer_reached_its_longest_is_not_run(kind: str) -> None:
    turn = answered(
        kind, {"calls": [{"Bash": {"command": "ls"}}, {"Bash": '{"command": "rm -r'}], "stop_reason": "max_tokens"}
    )

    assert [call.input for call in turn.calls] == [{"command": "ls"}, {}]
    assert [call.problem for call in turn.calls] == [
        "",
        "the answer was cut off at its limit before the input was complete",
    ]


# Thoughts.


@pytest.mark.parametrize("redacted", [False, True])
def test_thoughts_go_back_as_they_came(redacted: bool) -> None:
    thinks = Thinks({"say": "I look.", "call": {"Bash": {"command": "ls"}}}, "Where is it?", "sig-1", redacted)

    with AnthropicServer([thinks, {"say": "Done."}]) as server:
        first = ask(server, HELLO)[0]
        ask(server, after(first))

    sent = [block["type"] for block in server.requests[1]["messages"][1]["content"]]
    assert sent == ["redacted_thinking" if redacted else "thinking", "text", "tool_use"]
    assert first.text == "I look."


def test_empty_text_beside_thoughts_is_left_out() -> None:
    thinks = Thinks({"say": "\n", "call": {"Bash": {"command": "ls"}}}, "Where is it?", "sig-1")

    with AnthropicServer([thinks, {"say": "Done."}]) as server:
        first = ask(server, HELLO)[0]
        ask(server, after(first))

    sent = [block["type"] for block in server.requests[1]["messages"][1]["content"]]
    assert sent == ["thinking", "tool_use"]


def test_thoughts_survive_a_transcript() -> None:
    with AnthropicServer([Thinks({"say": "I look."}, "Where?", "sig-1"), {"say": "Done."}]) as server:
        first = ask(server, HELLO)[0]
        kept = json.loads(json.dumps(first.kept))
        ask(server, Request("", [User("Hello?"), Assistant(first.text, first.calls, kept), User("Go on.")]))

    assert server.requests[1]["messages"][1]["content"][0]["signature"] == "sig-1"


@pytest.mark.parametrize(
    "changed",
    [
        lambda turn: Assistant("I look elsewhere.", turn.calls, turn.kept),
        lambda turn: Assistant(turn.text, (ToolCall("toolu_1", "Bash", {"command": "pwd"}),), turn.kept),
        lambda turn: Assistant(turn.text, turn.calls, {**turn.kept, "model": "another"}),
    ],
)
def test_thoughts_are_left_out_beside_what_a_hook_changed_or_another_model_said(
    changed: Callable[[Turn], Assistant],
) -> None:
    with AnthropicServer(
        [Thinks({"say": "I look.", "call": {"Bash": {"command": "ls"}}}, "Hm.", "s"), {"say": "Done."}]
    ) as server:
        first = ask(server, HELLO)[0]
        ask(server, Request("", [User("Hello?"), changed(first), ToolResults((ToolResult("toolu_1", "x"),))], [BASH]))

    sent = [block["type"] for block in server.requests[1]["messages"][1]["content"]]
    assert sent == ["text", "tool_use"]


def test_thoughts_that_the_server_no_longer_accepts_are_left_out() -> None:
    with AnthropicServer([Thinks({"say": "I look."}, "Hm.", "s"), {"say": "Done."}]) as server:
        first = ask(server, HELLO)[0]
        server.forget_thoughts()
        second = ask(server, after(first))[0]

    assert second.text == "Done."
    assert len(server.requests) == 3


def test_a_model_that_takes_tools_only_without_thinking_is_asked_so_and_from_then_on() -> None:
    refuses = Fails(
        400, "Function tools with reasoning_effort are not supported", "invalid_request_error", "reasoning_effort"
    )

    with OpenAIServer([refuses, {"say": "One."}, {"say": "Two."}, {"say": "Three."}]) as server:
        turns = ask(server, HELLO, HELLO, Request("", [User("No tools.")]))

    assert [turn.text for turn in turns] == ["One.", "Two.", "Three."]
    assert [request.get("reasoning_effort") for request in server.requests] == [None, "none", "none", None]


def test_a_model_that_takes_no_tools_here_is_an_error_that_says_so() -> None:
    refuses = Fails(400, "not supported", "invalid_request_error", "reasoning_effort")

    error = failure("openai", refuses, refuses)

    assert error.code == "rejected"
    assert "it takes tools through another API only: choose another model" in str(error)


# Servers that leave things out.


def test_without_figures_the_tokens_are_estimated() -> None:
    request = Request("s" * 40, [User("u" * 40)])

    assert answered("openai", chunks({"content": "a" * 40}), request=request).tokens == 30


def test_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    calls = [{"index": 0, "id": name, "function": {"name": "Bash", "arguments": "{}"}} for name in ("a", "b")]

    turn = answered("openai", chunks({"tool_calls": calls[:1]}, {"tool_calls": calls[1:]}))

    assert turn.calls == (ToolCall("a", "Bash", {}), ToolCall("b", "Bash", {}))
    assert turn.stop_reason == "tool_use"


def test_calls_without_ids_get_some_that_no_other_turn_has() -> None:
    calls = [{"index": index, "function": {"name": "Bash", "arguments": "{}"}} for index in (0, 1)]

    turn = answered("openai", chunks({"tool_calls": calls}))

    assert [call.id for call in turn.calls] == ["call_1_1", "call_1_2"]
