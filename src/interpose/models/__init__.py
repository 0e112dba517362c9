"""What the agent asks and what a model answers, in words of no particular API; and which model a name stands for.

The agent's loop knows this module only. A client turns a `Request` into what its API wants, and what the API streams
back into a `Turn`; it runs no tool, keeps no history and asks no hook. Official packages are imported when a model of
theirs is made, never here.
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
    "count",
    "find_model",
    "first_new",
    "read_input",
    "unheard",
    "written",
]


@dataclass(frozen=True)
class ToolCall:
    """One tool that the model wants run. With a ``problem`` it cannot be run: the model is to be told that instead."""

    id: str
    name: str
    input: dict[str, Any]
    problem: str = ""


@dataclass(frozen=True)
class ToolSpec:
    """A tool as the model is told of it; ``schema`` is the JSON Schema of its input."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class ToolResult:
    """What became of the call with this id."""

    id: str
    content: str
    ok: bool = True


@dataclass(frozen=True)
class User:
    """What a person, or the agent in their place, says to the model."""

    role: ClassVar[str] = "user"
    content: str


@dataclass(frozen=True)
class Assistant:
    """What the model said. ``kept`` is for its API alone, which may want to see more of it again: signed thoughts."""

    role: ClassVar[str] = "assistant"
    content: str
    calls: tuple[ToolCall, ...] = ()
    kept: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class ToolResults:
    """What became of all calls of the message before, in their order."""

    role: ClassVar[str] = "tool"
    results: tuple[ToolResult, ...]


Message: TypeAlias = User | Assistant | ToolResults
"""One entry of a conversation."""


@dataclass(frozen=True)
class Request:
    """Everything that the model is sent. ``agent`` says on whose behalf; only a scripted model looks at it."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    agent: str = "main"


@dataclass(frozen=True)
class Turn:
    """What the model answered. ``tokens`` is how much of its context is in use after it.

    ``stop_reason`` is ``end_turn``, ``tool_use``, ``max_tokens`` or ``refusal``, or another word of the API's own.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop_reason: str = "end_turn"
    tokens: int = 0
    kept: Any = field(default=None, repr=False)

    def message(self) -> Assistant:
        """Return the turn as the entry that it is in the conversation from now on."""
        return Assistant(self.text, self.calls, self.kept)


def unheard(_text: str) -> None:
    """Take a piece of text and do nothing with it: the ear of a caller who waits for the whole turn."""


class Model(Protocol):
    """One model that can be asked; ``window`` is the size of its context in tokens."""

    name: str
    window: int

    async def answer(self, request: Request, on_text: Callable[[str], None] = unheard) -> Turn:
        """Return the model's next turn; its text reaches ``on_text`` piece by piece while it comes in."""
        ...

    async def close(self) -> None:
        """Let go of connections; the model is not asked again."""
        ...


class ModelError(InterposeError):
    """A model that gave no answer, with what to do about it; ``code`` says which kind of trouble it is.

    ``no_model`` (no such kind or name), ``no_package``, ``no_key``, ``not_allowed``, ``rejected``, ``overloaded``,
    ``unreachable``, ``cut_off``, ``unreadable``, ``context_too_long``; and of a script ``bad_script``, ``off_script``.
    """

    code = "model"

    def __init__(self, what: str, *, code: str = "model", where: str = "", hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.code = code


def written(message: Message) -> str:
    """Return all that a message says, its calls and results too, as plain text."""
    match message:
        case User():
            return message.content
        case Assistant():
            calls = (f"{call.name} {json.dumps(call.input, ensure_ascii=False)}" for call in message.calls)
            return "\n".join(part for part in (message.content, *calls) if part)
        case ToolResults():
            return "\n".join(result.content for result in message.results)


def first_new(messages: Sequence[Message]) -> int:
    """Return where the messages begin that the model has not seen yet: after its own last one."""
    return next((at + 1 for at in reversed(range(len(messages))) if isinstance(messages[at], Assistant)), 0)


def count(request: Request, answer: str = "") -> int:
    """Return about how many tokens a request and its answer have, four letters each: for when an API does not say."""
    tools = sum(len(tool.name) + len(tool.description) + len(json.dumps(tool.schema)) for tool in request.tools)
    said = sum(len(written(message)) for message in request.messages)
    return (len(request.system) + tools + said + len(answer)) // 4


def read_input(text: str) -> tuple[dict[str, Any], str]:
    """Return a tool's input from the JSON that a model wrote, and what is wrong with it: then the input is empty."""
    if not text.strip():
        return {}, ""  # how a call without input is streamed
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

    Without a name, ``anthropic`` and ``openai`` are the default model there. Without a spec, the keys in the
    environment decide; without a key there is no model. ``window`` replaces what is known of the model's context.
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
