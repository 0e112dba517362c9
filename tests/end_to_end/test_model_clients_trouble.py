"""The clients of both APIs when servers refuse, break off or talk nonsense, and when the caller leaves."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from tests.end_to_end.model_questions import HELLO, SERVERS, ask, both, failure
from tests.end_to_end.model_servers import (
    KEY,
    AnthropicServer,
    Cuts,
    Fails,
    ModelServer,
    Raw,
)

from interpose.models import (
    ModelError,
    Turn,
    find_model,
)

pytestmark = pytest.mark.slow


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
