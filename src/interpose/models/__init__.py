"""Requests to models and their answers, independent of an API; and finding a model by its name.

The agent's loop uses this module only. A client translates a `Request` for its API, and the streamed answer into a
`Turn`; it runs no tool, keeps no history and fires no event. The official packages are imported when one of their
models is made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeAlias, overload

from ..errors import InterposeError

__all__ = [
    "Assistant",
    "Message",
    "Model",
    "ModelError",
    "Request",
    "ToolCall",
    "ToolResult",
    "ToolResults",
    "ToolSpec",
    "Turn",
    "User",
    "estimate_tokens",
    "find_model",
    "first_new",
    "ignore_text",
    "message_text",
    "parse_tool_input",
]


@dataclass(frozen=True)
class ToolCall:
    """A tool call of the model. One with a ``problem`` is not run: the model is told the problem."""

    id: str
    name: str
    input: dict[str, Any]
    problem: str = ""


@dataclass(frozen=True)
class ToolSpec:
    """A tool as it is described to the model; ``schema`` is the JSON Schema of its input."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class ToolResult:
    """The result of the call with this id."""

    id: str
    content: str
    ok: bool = True


@dataclass(frozen=True)
class User:
    """A message of the person, or of the agent in their place."""

    role: ClassVar[str] = "user"
    content: str


@dataclass(frozen=True)
class Assistant:
    """A message of the model. ``kept`` is data that its API wants back, such as signed thoughts."""

    role: ClassVar[str] = "assistant"
    content: str
    calls: tuple[ToolCall, ...] = ()
    kept: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class ToolResults:
    """The results of all calls of the message before, in their order."""

    role: ClassVar[str] = "tool"
    results: tuple[ToolResult, ...]


Message: TypeAlias = User | Assistant | ToolResults
"""One message of a conversation."""


@dataclass(frozen=True)
class Request:
    """Everything that is sent to the model. ``agent`` is the agent that asks; only a scripted model uses it.

    ``must_call`` is the name of a tool that the answer has to call.
    """

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    agent: str = "main"
    must_call: str = ""


@dataclass(frozen=True)
class Turn:
    """The answer of the model. ``tokens`` is how much of its context is in use afterwards.

    ``stop_reason`` is ``end_turn``, ``tool_use``, ``max_tokens`` or ``refusal``, or another word of the API.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop_reason: str = "end_turn"
    tokens: int = 0
    kept: Any = field(default=None, repr=False)

    def message(self) -> Assistant:
        """Return the turn as a message of the conversation."""
        return Assistant(self.text, self.calls, self.kept)


def ignore_text(_text: str) -> None:
    """Ignore a piece of text: the default for a caller that waits for the whole turn."""


class Model(Protocol):
    """A model; ``window`` is the size of its context in tokens."""

    name: str
    window: int

    async def answer(self, request: Request, on_text: Callable[[str], None] = ignore_text) -> Turn:
        """Return the model's next turn; ``on_text`` is called with each piece of its text as it arrives."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class ModelError(InterposeError):
    """A model gave no answer; ``code`` is the kind of error.

    ``no_model`` (no such kind or name), ``no_package``, ``no_key``, ``not_allowed``, ``rejected``, ``overloaded``,
    ``unreachable``, ``cut_off``, ``unreadable``, ``context_too_long``; and of a script ``bad_script``, ``off_script``.
    """

    code = "model"

    def __init__(self, what: str, *, code: str = "model", where: str = "", hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.code = code


def message_text(message: Message) -> str:
    """Return a message with its calls and results as plain text."""
    match message:
        case User():
            return message.content
        case Assistant():
            calls = (f"{call.name} {json.dumps(call.input, ensure_ascii=False)}" for call in message.calls)
            return "\n".join(part for part in (message.content, *calls) if part)
        case ToolResults():
            return "\n".join(result.content for result in message.results)


def first_new(messages: Sequence[Message]) -> int:
    """Return the index of the first message that the model has not seen: after its own last one."""
    return next((at + 1 for at in reversed(range(len(messages))) if isinstance(messages[at], Assistant)), 0)


def estimate_tokens(request: Request, answer: str = "") -> int:
    """Estimate the tokens of a request and its answer, four characters each, for an API that does not report them."""
    tools = sum(len(tool.name) + len(tool.description) + len(json.dumps(tool.schema)) for tool in request.tools)
    said = sum(len(message_text(message)) for message in request.messages)
    return (len(request.system) + tools + said + len(answer)) // 4


def parse_tool_input(text: str) -> tuple[dict[str, Any], str]:
    """Parse the JSON of a tool's input; return the input and a problem. With a problem the input is empty."""
    if not text.strip():
        return {}, ""  # a call without input is streamed like this
    try:
        made = json.loads(text)
    except (ValueError, RecursionError) as error:
        return {}, f"the input was not valid JSON: {error}"
    if not isinstance(made, dict):
        return {}, "the input was not a JSON object"
    return made, ""


@overload
def find_model(spec: str, *, environ: Mapping[str, str] = ..., window: int | None = ...) -> Model: ...
@overload
def find_model(spec: None, *, environ: Mapping[str, str] = ..., window: int | None = ...) -> Model | None: ...


def find_model(spec: str | None, *, environ: Mapping[str, str] = os.environ, window: int | None = None) -> Model | None:
    """Return the model that ``spec`` names: ``anthropic:NAME``, ``openai:NAME`` or ``scripted:FILE``.

    Without a name, ``anthropic`` and ``openai`` are the default model of that API. Without a spec, the API keys in the
    environment decide; without a key the result is None. ``window`` overrides the known size of the context.
    """
    if spec is None:
        spec = _by_key(environ)
        if spec is None:
            return None
    kind, _, name = spec.partition(":")
    match kind:
        case "anthropic":
            from .anthropic import AnthropicModel

            return AnthropicModel(name, environ=environ, window=window)
        case "openai":
            from .openai import OpenAIModel

            return OpenAIModel(name, environ=environ, window=window)
        case "scripted" if name:
            from .scripted import ScriptedModel

            return ScriptedModel(name, window=window)
        case "scripted":
            raise ModelError("scripted names no file", code="no_model", hint="scripted:turns.yaml")
        case _:
            hint = "anthropic:NAME, openai:NAME or scripted:FILE"
            raise ModelError(f"{spec!r} is not a model", code="no_model", hint=hint)


def _by_key(environ: Mapping[str, str]) -> str | None:
    if environ.get("ANTHROPIC_API_KEY") or environ.get("ANTHROPIC_AUTH_TOKEN"):
        return "anthropic"
    return "openai" if environ.get("OPENAI_API_KEY") else None
