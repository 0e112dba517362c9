"""Compaction: replace the conversation by a summary when it fills the context. Hooks may deny or change it."""

from __future__ import annotations

from interpose import InterposeError
from interpose.models import Request, Turn, User, message_text

from .agent import Agent
from .env_file import EnvFile

__all__ = ["compact", "is_full"]

_SYSTEM = """\
Summarise the conversation of a coding agent, so that the agent can continue from it: what was asked, what was decided,
what was done and found (with paths), what is left to do. Leave nothing out that is still needed."""

_CHARACTERS_PER_TOKEN = 3


class NotSummarised(InterposeError):
    """Hooks denied the model call that makes the summary."""

    code = "not_summarised"


def is_full(agent: Agent) -> bool:
    """Say whether the conversation must be compacted."""
    return agent.tokens >= agent.runtime.limits.compact_at * agent.runtime.model.window


async def compact(agent: Agent, *, trigger: str = "auto", instructions: str | None = None) -> bool:
    """Replace the conversation by a summary; return whether that was done."""
    files: list[EnvFile] = []

    async def summarise(extra: str | None) -> str:
        summary = await _summary(agent, extra)
        files.append(agent.runtime.make_env_file())  # for the hooks of SessionStart, which fires next
        agent.session.env_file = files[0].path
        return summary

    try:
        answer = await agent.session.compact(summarise, trigger=trigger, custom_instructions=instructions)
    except NotSummarised as error:
        await agent.notify(f"The conversation was not compacted: {error}", "compaction")
        return False
    finally:
        for file in files:
            await agent.take_variables(file)
    if not answer.ok:
        await agent.notify(f"The conversation was not compacted: {answer.reason}", "compaction")
        return False
    agent.write_transcript()
    agent.transcript.note("compact_boundary", str(answer.content), trigger=trigger)
    agent.rewrite([])
    agent.say(User(f"This is what has happened so far:\n{answer.content}\n\nThe task was:\n{agent.task}"))
    agent.tokens = 0
    await agent.show("notice", text="the conversation was compacted")
    return True


async def _summary(agent: Agent, extra: str | None) -> str:
    whole = "\n\n".join(f"{message.role}: {message_text(message)}" for message in agent.messages)
    system = f"{_SYSTEM}\n\n{extra}" if extra else _SYSTEM

    async def send(prompt: str, system: str) -> Turn:
        return await agent.runtime.model.answer(Request(system, (User(prompt),), agent="compactor"))

    answer = await agent.session.message(
        _shortened(whole, agent.runtime.model.window * _CHARACTERS_PER_TOKEN), send, system=system,
        model=agent.runtime.model.name, text=lambda turn: turn.text, with_context=False,
    )  # fmt: skip
    if not answer.ok:
        raise NotSummarised(answer.reason)
    return str(answer.content)


def _shortened(text: str, most: int) -> str:
    """Return a text of limited length: its beginning, which has the task, and its end."""
    if len(text) <= most:
        return text
    return f"{text[: most // 4]}\n\n[…]\n\n{text[-most * 3 // 4 :]}"
