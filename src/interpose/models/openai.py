"""Models with OpenAI's chat completions API, through OpenAI's package: OpenAI's, and those of compatible servers.

Servers implement different parts of the API, so only its common parts are used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import (
    Assistant,
    Message,
    Request,
    ToolCall,
    ToolResults,
    Turn,
    User,
    estimate_tokens,
    ignore_text,
    parse_tool_input,
)
from .catalog import OPENAI_MODEL, window_of
from .errors import ModelServer, located, missing_package, usable_key
from .streaming import stream_answer

__all__ = ["OpenAIModel"]

_STOPS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


class OpenAIModel:
    """A model of OpenAI, or of the server at ``OPENAI_BASE_URL``, used with the key in the environment."""

    def __init__(self, name: str, *, environ: Mapping[str, str], window: int | None = None) -> None:
        self.name = name or OPENAI_MODEL
        self.window = window or window_of(self.name)
        self._server = ModelServer("OpenAI", self.name, "OPENAI_API_KEY", "OPENAI_BASE_URL", "openai")
        self._extras: dict[str, Any] = {}
        try:
            from openai import AsyncOpenAI
        except ImportError as error:
            raise missing_package(self._server) from error
        self._server = located(self._server, environ)
        address = environ.get("OPENAI_BASE_URL") or None
        hint = "set OPENAI_API_KEY, to any word if the server needs none" if address else ""
        key = usable_key(environ.get("OPENAI_API_KEY", ""), self._server, hint)
        self._client = AsyncOpenAI(api_key=key, base_url=address)

    async def answer(self, request: Request, on_text: Callable[[str], None] = ignore_text) -> Turn:
        """Return the model's next turn."""
        return await stream_answer(self._open, request, _OpenAIAnswer(), self._server, on_text)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _open(self, request: Request) -> Any:
        from openai import BadRequestError

        wanted = request_of(self.name, request)
        extras = self._extras if "tools" in wanted else {}
        try:
            return await self._client.chat.completions.create(**wanted, **extras)
        except BadRequestError as error:
            if error.param != "reasoning_effort" or "tools" not in wanted or extras:
                raise
            # Some models take tools only with reasoning_effort="none", and only this error says so.
            stream = await self._client.chat.completions.create(**wanted, reasoning_effort="none")
            self._extras = {"reasoning_effort": "none"}
            return stream


class _PartialCall:
    """A call whose input arrives in fragments."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.id = self.name = self.input = ""


class _OpenAIAnswer:
    """The parts of an answer that have arrived so far."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: list[_PartialCall] = []
        self._stop = ""
        self._refused = False
        self._tokens = 0

    def take(self, chunk: Any) -> str:
        """Add a chunk of the stream; return the text in it."""
        if chunk.usage:
            self._tokens = chunk.usage.total_tokens or 0
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        if choice.finish_reason:
            self._stop = choice.finish_reason
        delta = choice.delta
        if delta is None:
            return ""
        for fragment in delta.tool_calls or ():
            self._add(fragment)
        refusal = delta.refusal or ""
        self._refused = self._refused or bool(refusal)
        piece = (delta.content or "") + refusal
        self._text.append(piece)
        return piece

    @property
    def complete(self) -> bool:
        """Whether the stop reason has arrived, which is the end of an answer."""
        return bool(self._stop)

    def _add(self, fragment: Any) -> None:
        call = next((call for call in reversed(self._calls) if call.index == fragment.index), None)
        # Some servers give every call the same index; then a new id is a new call.
        if call is None or (fragment.id and call.id and fragment.id != call.id):
            call = _PartialCall(fragment.index)
            self._calls.append(call)
        call.id = call.id or fragment.id or ""
        if fragment.function:
            call.name = call.name or fragment.function.name or ""
            call.input += fragment.function.arguments or ""

    def turn(self, request: Request) -> Turn:
        """Return the answer as a turn."""
        text = "".join(self._text)
        stop = _STOPS.get(self._stop, self._stop)
        tokens = self._tokens or estimate_tokens(request, text)
        if self._refused or stop == "refusal":  # its calls are not made
            return Turn(text, stop_reason="refusal", tokens=tokens)
        calls = tuple(self._made(request, cut=stop == "max_tokens"))
        if calls and stop == "end_turn":
            stop = "tool_use"
        return Turn(text, calls, stop, tokens)

    def _made(self, request: Request, *, cut: bool) -> Iterable[ToolCall]:
        for number, call in enumerate(self._calls, 1):
            made, problem = parse_tool_input(call.input)
            if cut and number == len(self._calls):
                made, problem = {}, "the answer was cut off at its limit before the input was complete"
            yield ToolCall(call.id or f"call_{len(request.messages)}_{number}", call.name, made, problem)


def request_of(model: str, request: Request) -> dict[str, Any]:
    """Return the request for the API."""
    messages = [{"role": "system", "content": request.system}] if request.system else []
    wanted: dict[str, Any] = {
        "model": model,
        "messages": messages + [made for message in request.messages for made in _messages(message)],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        wanted["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in request.tools
        ]
    if request.must_call:
        wanted["tool_choice"] = {"type": "function", "function": {"name": request.must_call}}
    return wanted


def _messages(message: Message) -> list[dict[str, Any]]:
    match message:
        case User():
            return [{"role": "user", "content": message.content}]
        case ToolResults():
            return [
                {"role": "tool", "tool_call_id": one.id, "content": one.content if one.ok else f"Error: {one.content}"}
                for one in message.results
            ]
        case Assistant():
            if not message.content and not message.calls:
                return []
            made: dict[str, Any] = {"role": "assistant", "content": message.content or None}
            if message.calls:
                made["tool_calls"] = [_call(call) for call in message.calls]
            return [made]


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(call.input, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
