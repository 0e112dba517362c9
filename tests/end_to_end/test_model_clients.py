"""The clients of both APIs, through the official packages, against servers that speak them."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from tests.end_to_end.model_servers import (
    KEY,
    AnthropicServer,
    Cuts,
    Fails,
    ModelServer,
    OpenAIServer,
    Played,
    Raw,
    Thinks,
)

from interpose.models import (
    Assistant,
    Message,
    ModelError,
    Request,
    ToolCall,
    ToolResult,
    ToolResults,
    ToolSpec,
    Turn,
    User,
    find_model,
    ignore_text,
)

pytestmark = pytest.mark.slow

BASH = ToolSpec("Bash", "Runs a command.", {"type": "object", "properties": {"command": {"type": "string"}}})
HELLO = Request("Be brief.", [User("Hello?")], [BASH])
SERVERS: dict[str, type[ModelServer]] = {"anthropic": AnthropicServer, "openai": OpenAIServer}

both = pytest.mark.parametrize("kind", SERVERS)


def ask(
    server: ModelServer,
    *requests: Request,
    on_text: Callable[[str], None] = ignore_text,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> list[Turn]:
    """Return the answers to several requests, one after the other."""

    async def run() -> list[Turn]:
        model = find_model(server.kind, environ={**server.environ, **environ})
        try:
            return [await model.answer(request, on_text) for request in requests]
        finally:
            await model.close()

    return asyncio.run(run())


def answered(kind: str, *turns: Played, request: Request = HELLO) -> Turn:
    with SERVERS[kind](turns) as server:
        return ask(server, request)[0]


def failure(kind: str, *turns: Played, request: Request = HELLO) -> ModelError:
    with SERVERS[kind](turns) as server, pytest.raises(ModelError) as raised:
        ask(server, request)
    return raised.value


def after(*turns: Turn, said: Sequence[Message] = (User("Hello?"),)) -> Request:
    """Return the request in which all calls of these turns have been answered with their number."""
    messages = list(said)
    for turn in turns:
        results = (ToolResult(call.id, str(number)) for number, call in enumerate(turn.calls))
        messages += [turn.message(), ToolResults(tuple(results)) if turn.calls else User("Go on.")]
    return Request("Be brief.", messages, [BASH])


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


def chunks(*deltas: dict[str, Any], reason: str = "stop", done: bool = False) -> Raw:
    """Return a body with these deltas and no figures."""
    lines = [json.dumps({"id": "1", "choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    lines.append(json.dumps({"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
    return Raw("".join(f"data: {line}\n\n" for line in [*lines, *(["[DONE]"] if done else [])]))


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


# Trouble.

TROUBLES = [
    (Fails(401, "invalid x-api-key", "authentication_error"), "not_allowed", "does not accept the key", "check {key}"),
    (Fails(403, "no access", "permission_error"), "not_allowed", "the key may not do this", "or check {key}"),
    (Fails(402, "credit is low", "billing_error"), "not_allowed", "requires payment", "the account of the key"),
    (Fails(429, "no credit", "insufficient_quota", retry=False), "not_allowed", "requires payment", "the account"),
    (Fails(404, "no such model", "not_found_error"), "no_model", "has no model {model}", "check the model's name"),
    (Fails(400, "bad schema", "invalid_request_error"), "rejected", "refused: bad schema", "is {model} a model"),
    (Fails(413, "too large", "request_too_large"), "context_too_long", "too long for {model}", "compact it"),
]


@both
@pytest.mark.parametrize(("fails", "code", "what", "hint"), TROUBLES)
def test_what_a_server_refuses_is_an_error_that_says_what_to_do(
    kind: str, fails: Fails, code: str, what: str, hint: str
) -> None:
    names = {"key": f"{kind.upper()}_API_KEY", "model": {"anthropic": "claude-sonnet-5-5", "openai": "gpt-6-sol"}[kind]}

    error = failure(kind, fails)

    assert error.code == code
    assert what.format(**names) in str(error)
    assert hint.format(**names) in error.problem.hint
    assert fails.message in str(error)


@both
@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 208310 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
        "This model's maximum context length is 16385 tokens. However, your messages resulted in 31228 tokens.",
        "the request exceeds the available context size, try increasing it",
        "Your input exceeds the context window of this model.",
    ],
)
def test_too_long_a_conversation_has_a_code_of_its_own(kind: str, message: str) -> None:
    assert failure(kind, Fails(400, message, "invalid_request_error")).code == "context_too_long"


@both
@pytest.mark.parametrize(
    ("status", "kind_of_error"), [(429, "rate_limit_error"), (529, "overloaded_error"), (500, "api_error")]
)
def test_a_busy_server_is_asked_again_before_it_is_an_error(kind: str, status: int, kind_of_error: str) -> None:
    busy = Fails(status, "later please", kind_of_error)

    with SERVERS[kind]([busy, busy, {"say": "Now."}]) as server:
        turn = ask(server, HELLO)[0]
    error = failure(kind, busy, busy, busy)

    assert turn.text == "Now."
    assert error.code == "overloaded"
    assert str(error).endswith("is too busy: later please (try again later)")


@both
def test_an_error_in_the_middle_of_an_answer_is_told_as_what_it_is(kind: str) -> None:
    assert failure(kind, Fails(0, "later please", "overloaded_error", in_stream=True)).code == "overloaded"
    assert (
        failure(kind, Fails(0, "prompt is too long", "invalid_request_error", in_stream=True)).code
        == "context_too_long"
    )


@both
@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("after", [0, 1, 4])
def test_an_answer_that_breaks_off_is_an_error_and_not_a_short_answer(kind: str, after: int, clean: bool) -> None:
    error = failure(kind, Cuts({"say": "It is not safe to run this."}, after, clean))

    assert error.code == "cut_off"
    assert str(error).endswith(" broke off in the middle (ask again)")


NONSENSE = [
    {"type": "content_block_delta", "choices": 5},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use"}, "choices": [{"delta": 5}]},
]


@both
@pytest.mark.parametrize("data", ["{nonsense", *map(json.dumps, NONSENSE)])
def test_an_answer_in_no_known_language_is_an_error(kind: str, data: str) -> None:
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}

    error = failure(kind, Raw(f"event: some\ndata: {data}\n\nevent: some\ndata: {json.dumps(end)}\n\n"))

    assert error.code == "unreadable"
    assert f"{kind.upper()}_BASE_URL" in str(error)


@both
def test_a_server_that_is_not_there_is_an_error_with_its_variable(kind: str) -> None:
    with SERVERS[kind]([]) as server, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens at it, and nobody else can
        address = {f"{kind.upper()}_BASE_URL": f"http://127.0.0.1:{taken.getsockname()[1]}"}

        with pytest.raises(ModelError, match="cannot be reached: ") as raised:
            ask(server, HELLO, environ=address)

    assert raised.value.code == "unreachable"
    assert f"{kind.upper()}_BASE_URL" in str(raised.value)


@both
@pytest.mark.parametrize("address", ["http://[", "127.0.0.1:9", "http://user:secret@127.0.0.1:nine/"])
def test_an_address_that_is_none_is_an_error_that_tells_no_secret(kind: str, address: str) -> None:
    with SERVERS[kind]([]) as server, pytest.raises(ModelError) as raised:
        ask(server, HELLO, environ={f"{kind.upper()}_BASE_URL": address})

    assert raised.value.code == "unreachable"
    assert f"{kind.upper()}_BASE_URL" in str(raised.value)
    assert "secret" not in str(raised.value)


@both
def test_a_wrong_key_is_not_accepted(kind: str) -> None:
    with SERVERS[kind]([]) as server, pytest.raises(ModelError) as raised:
        ask(server, HELLO, environ={f"{kind.upper()}_API_KEY": "wrong"})

    assert raised.value.code == "not_allowed"
    assert server.keys == ["wrong"]


@both
def test_a_line_end_behind_a_key_does_not_matter(kind: str) -> None:
    with SERVERS[kind]([{"say": "Hello."}]) as server:
        assert ask(server, HELLO, environ={f"{kind.upper()}_API_KEY": f"{KEY}\r\n"})[0].text == "Hello."


@both
@pytest.mark.parametrize("key", ["se\ncret", "sécret"])
def test_a_key_that_cannot_be_one_is_an_error_that_does_not_tell_it(kind: str, key: str) -> None:
    with SERVERS[kind]([]) as server, pytest.raises(ModelError) as raised:
        ask(server, HELLO, environ={f"{kind.upper()}_API_KEY": key})

    assert raised.value.code == "no_key"
    assert "cret" not in str(raised.value).replace("secret", "")
    assert server.requests == []


def test_anthropic_takes_a_token_in_place_of_a_key() -> None:
    with AnthropicServer([{"say": "Hello."}]) as server:
        assert ask(server, HELLO, environ={"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": KEY})[0].text == "Hello."


# Leaving.


@both
def test_cancelling_closes_the_connection(kind: str) -> None:
    with SERVERS[kind]([{"say": "word " * 400, "pause": 60}]) as server:

        async def run() -> None:
            model = find_model(kind, environ=server.environ)
            heard = asyncio.Event()
            task = asyncio.create_task(model.answer(HELLO, lambda _: heard.set()))
            await asyncio.wait_for(heard.wait(), 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(server.hung_up.wait, 30)  # before the client as a whole is closed
            await model.close()

        asyncio.run(run())


@both
def test_what_a_listener_raises_reaches_its_caller_and_closes_the_connection(kind: str) -> None:
    def fed_up(_text: str) -> None:
        raise TypeError("enough")

    with SERVERS[kind]([{"say": "word " * 400, "pause": 60}]) as server:

        async def run() -> None:
            model = find_model(kind, environ=server.environ)
            with pytest.raises(TypeError) as raised:
                await model.answer(HELLO, fed_up)
            assert await asyncio.to_thread(server.hung_up.wait, 30)  # before the client as a whole is closed
            assert str(raised.value) == "enough"  # held until here, and with it all that it came through
            await model.close()

        asyncio.run(run())


@both
def test_one_model_answers_several_requests_at_once(kind: str) -> None:
    async def run(server: ModelServer) -> list[Turn]:
        model = find_model(kind, environ=server.environ)
        try:
            return await asyncio.gather(*(model.answer(HELLO) for _ in range(5)))
        finally:
            await model.close()

    with SERVERS[kind]([{"say": f"Answer {number}."} for number in range(5)]) as server:
        turns = asyncio.run(run(server))

    assert sorted(turn.text for turn in turns) == [f"Answer {number}." for number in range(5)]
