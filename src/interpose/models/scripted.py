"""A model that plays a script: offline and deterministic, for demonstrations and tests.

Each agent has its own turns, by the agent's name in the request; two subagents of one name share them, in the order of
their requests.
"""

from __future__ import annotations

from collections.abc import Callable

from ..runtime.regex import regex
from . import (
    ModelError,
    Request,
    ToolCall,
    Turn,
    estimate_tokens,
    first_new,
    ignore_text,
    message_text,
    parse_tool_input,
)
from .script import Script, ScriptedTurn, ScriptSource, read_script

__all__ = ["ScriptedModel", "sent_last"]

_WINDOW = 200_000
_WORDS = regex(r"\s*\S+\s*|\s+")


class ScriptedModel:
    """Plays a script: a file, Python data of the same form, or a list of the main agent's turns."""

    def __init__(self, script: Script | ScriptSource, *, window: int | None = None) -> None:
        self.script = script if isinstance(script, Script) else read_script(script)
        self.name = f"scripted:{self.script.source}" if self.script.source else "scripted"
        self.window = window or self.script.window or _WINDOW
        self._played: dict[str, int] = {}
        self._called: dict[str, int] = {}

    async def answer(self, request: Request, on_text: Callable[[str], None] = ignore_text) -> Turn:
        """Return the agent's next turn; ``on_text`` gets it word by word."""
        turn = self._next(request)
        await _say(turn, on_text)
        calls = tuple(self._call(request.agent, name, made) for name, made in turn.calls)
        tokens = estimate_tokens(request, turn.say) if turn.tokens is None else turn.tokens
        return Turn(turn.say, calls, turn.stop_reason, tokens)

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    def _next(self, request: Request) -> ScriptedTurn:
        agent, script = request.agent, self.script
        turns = script.turns.get(agent)
        if turns is None:
            if agent == "compactor":
                return ScriptedTurn(say=_summary(request))
            there = "turns: [{say: Hello.}]" if agent == "main" else f"agents: {{{agent}: [{{say: Hello.}}]}}"
            what = f"the script has no turns for the agent {agent}"
            raise ModelError(what, code="off_script", where=script.source, hint=f"add {there}")
        number = self._played.get(agent, 0)
        if number >= len(turns):
            what = f"the script is at its end: the agent {agent} has {len(turns)} turns and was called once more"
            raise ModelError(
                what, code="off_script", where=script.source, hint="add a turn, or check why the model was called again"
            )
        self._played[agent] = number + 1
        return turns[number].after(sent_last(request))

    def _call(self, agent: str, name: str, made: dict[str, object] | str) -> ToolCall:
        number = self._called[agent] = self._called.get(agent, 0) + 1
        whose = "" if agent == "main" else f"{agent}_"
        problem = ""
        if isinstance(made, str):
            made, problem = parse_tool_input(made)
        return ToolCall(f"{whose}call_{number}", name, made, problem)


def sent_last(request: Request) -> str:
    """Return the system prompt and the messages after the model's own last message."""
    return "\n".join(
        [request.system, *(message_text(message) for message in request.messages[first_new(request.messages) :])]
    )


async def _say(turn: ScriptedTurn, on_text: Callable[[str], None]) -> None:
    """Call ``on_text`` with each word, over the time that the turn takes."""
    import asyncio

    words = _WORDS.findall(turn.say)
    for word in words:
        on_text(word)
        if turn.pause:
            await asyncio.sleep(turn.pause / len(words))
    if turn.pause and not words:
        await asyncio.sleep(turn.pause)


def _summary(request: Request) -> str:
    text = " ".join("\n".join(message_text(message) for message in request.messages).split())
    return f"So far: {text[:200]}{'…' if len(text) > 200 else ''}"
