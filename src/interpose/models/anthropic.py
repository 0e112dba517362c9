"""Claude through Anthropic's package: the Messages API, streamed.

The thinking blocks of an answer are signed and must be sent back unchanged or not at all. They are kept beside the
text, and left out once a hook has changed the text or another model is used.
"""

from __future__ import annotations

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
from .catalog import ANTHROPIC_MODEL, MAX_TOKENS, window_of
from .errors import ModelServer, located, missing_package, usable_key
from .streaming import stream_answer

__all__ = ["AnthropicModel"]

_STOPS = {"stop_sequence": "end_turn", "model_context_window_exceeded": "max_tokens"}


class AnthropicModel:
    """A model of Anthropic, used with the key in the environment."""

    def __init__(self, name: str, *, environ: Mapping[str, str], window: int | None = None) -> None:
        self.name = name or ANTHROPIC_MODEL
        self.window = window or window_of(self.name)
        self._server = ModelServer("Anthropic", self.name, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "anthropic")
        try:
            from anthropic import AsyncAnthropic
        except ImportError as error:
            raise missing_package(self._server) from error
        self._server = located(self._server, environ)
        address = environ.get("ANTHROPIC_BASE_URL") or None
        token = "" if environ.get("ANTHROPIC_API_KEY") else environ.get("ANTHROPIC_AUTH_TOKEN", "")
        if token:
            self._client = AsyncAnthropic(auth_token=usable_key(token, self._server), base_url=address)
        else:
            key = usable_key(environ.get("ANTHROPIC_API_KEY", ""), self._server)
            self._client = AsyncAnthropic(api_key=key, base_url=address)

    async def answer(self, request: Request, on_text: Callable[[str], None] = ignore_text) -> Turn:
        """Return the model's next turn."""
        return await stream_answer(self._open, request, _AnthropicAnswer(self.name), self._server, on_text)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _open(self, request: Request) -> Any:
        from anthropic import BadRequestError

        wanted = request_of(self.name, request)
        try:
            return await self._client.messages.create(**wanted)
        except BadRequestError as error:
            # Thinking blocks are refused if the messages before them have changed: send the request without them.
            if "thinking" not in str(error) or not _has_thinking(_sent(wanted)):
                raise
            return await self._client.messages.create(**request_of(self.name, request, thoughts=False))


class _AnthropicAnswer:
    """The blocks of an answer that have arrived so far."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, str] = {}
        self._usage: dict[str, int] = {}
        self._stop = ""
        self._why = ""

    def take(self, event: Any) -> str:
        """Add an event of the stream; return the text in it."""
        match event.type:
            case "message_start":
                self._count(event.message.usage)
            case "content_block_start":
                block = event.content_block.to_dict(mode="json", exclude_unset=True)
                self._blocks[event.index] = block
                return str(block["text"]) if block["type"] == "text" else ""
            case "content_block_delta":
                return self._add(event.index, event.delta)
            case "message_delta":
                self._count(event.usage)
                self._stop = event.delta.stop_reason or self._stop
                self._why = getattr(event.delta.stop_details, "explanation", None) or ""
            case _:
                pass
        return ""

    @property
    def complete(self) -> bool:
        """Whether the stop reason has arrived, which is the end of an answer."""
        return bool(self._stop)

    def _add(self, at: int, delta: Any) -> str:
        block = self._blocks[at]
        match delta.type:
            case "text_delta":
                block["text"] += delta.text
                return str(delta.text)
            case "input_json_delta":
                self._inputs[at] = self._inputs.get(at, "") + delta.partial_json
            case "thinking_delta":
                block["thinking"] = block.get("thinking", "") + delta.thinking
            case "signature_delta":
                block["signature"] = delta.signature
            case _:
                pass
        return ""

    def _count(self, usage: Any) -> None:
        """Keep the token counts; later ones replace earlier ones, because they are totals."""
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"):
            figure = getattr(usage, name, None)
            if figure is not None:
                self._usage[name] = figure

    def turn(self, request: Request) -> Turn:
        """Return the answer as a turn."""
        blocks = list(self._blocks.values())
        text = _text_of(blocks)
        stop = _STOPS.get(self._stop, self._stop)
        tokens = sum(self._usage.values()) or estimate_tokens(request, text)
        if stop == "refusal":  # its calls are neither made nor sent again
            return Turn(text or self._why, stop_reason=stop, tokens=tokens)
        calls = tuple(self._calls(cut=stop == "max_tokens"))
        kept = {"model": self.model, "blocks": blocks} if _has_thinking(blocks) else None
        return Turn(text, calls, stop, tokens, kept)

    def _calls(self, *, cut: bool) -> Iterable[ToolCall]:
        for at, block in self._blocks.items():
            if block["type"] != "tool_use":
                continue
            block["input"], problem = (
                parse_tool_input(self._inputs[at]) if at in self._inputs else (block["input"] or {}, "")
            )
            if cut and at == max(self._blocks):
                block["input"], problem = {}, "the answer was cut off at its limit before the input was complete"
            yield ToolCall(block["id"], block["name"], block["input"], problem)


def request_of(model: str, request: Request, *, thoughts: bool = True) -> dict[str, Any]:
    """Return the request for the API, with the model's earlier thinking blocks or without."""
    author = model if thoughts else None
    wanted: dict[str, Any] = {"model": model, "max_tokens": MAX_TOKENS, "stream": True}
    wanted["messages"] = [made for message in request.messages if (made := _message(author, message))["content"]]
    if wanted["messages"]:  # the API caches the request up to here
        wanted["messages"][-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    if request.system:
        wanted["system"] = request.system
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in request.tools
    ]
    if not tools:  # tools in the conversation must be declared, even if none may be used
        used = {call.name for message in request.messages if isinstance(message, Assistant) for call in message.calls}
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in sorted(used)]
        if tools:
            wanted["tool_choice"] = {"type": "none"}
    elif request.must_call:
        wanted["tool_choice"] = {"type": "tool", "name": request.must_call}
    return {**wanted, "tools": tools} if tools else wanted


def _message(author: str | None, message: Message) -> dict[str, Any]:
    match message:
        case User():
            return {"role": "user", "content": _text(message.content) or _text("(nothing)")}
        case Assistant():
            return {"role": "assistant", "content": _blocks(author, message)}
        case ToolResults():
            results = [
                {"type": "tool_result", "tool_use_id": one.id, "content": one.content, "is_error": not one.ok}
                for one in message.results
            ]
            return {"role": "user", "content": results}


def _blocks(author: str | None, message: Assistant) -> list[dict[str, Any]]:
    """Return the kept blocks of a message if its text and calls are unchanged, else new blocks."""
    kept = message.kept if isinstance(message.kept, dict) else {}
    if author is not None and kept.get("model") == author:
        blocks: list[dict[str, Any]] = kept["blocks"]
        calls = [(block["id"], block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]
        if _text_of(blocks) == message.content and calls == [(one.id, one.name, one.input) for one in message.calls]:
            return [dict(block) for block in blocks if block["type"] != "text" or block["text"].strip()]
    uses = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.input} for call in message.calls]
    return _text(message.content) + uses


def _sent(wanted: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return (block for message in wanted["messages"] for block in message["content"])


def _text(text: str) -> list[dict[str, Any]]:
    """Return a text block; no block for an empty text, which the API refuses."""
    return [{"type": "text", "text": text}] if text.strip() else []


def _text_of(blocks: Iterable[dict[str, Any]]) -> str:
    return "".join(block["text"] for block in blocks if block["type"] == "text")


def _has_thinking(blocks: Iterable[dict[str, Any]]) -> bool:
    return any(block["type"] in {"thinking", "redacted_thinking"} for block in blocks)
