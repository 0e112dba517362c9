"""Requests to models of both APIs, and short words to send them to servers that speak them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from tests.end_to_end.model_servers import (
    AnthropicServer,
    ModelServer,
    OpenAIServer,
    Played,
    Raw,
)

from interpose.models import (
    Message,
    ModelError,
    Request,
    ToolResult,
    ToolResults,
    ToolSpec,
    Turn,
    User,
    find_model,
    ignore_text,
)

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


def chunks(*deltas: dict[str, Any], reason: str = "stop", done: bool = False) -> Raw:
    """Return a body with these deltas and no figures."""
    lines = [json.dumps({"id": "1", "choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    lines.append(json.dumps({"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
    return Raw("".join(f"data: {line}\n\n" for line in [*lines, *(["[DONE]"] if done else [])]))
