"""The loop: call the model, make its tool calls, repeat until it may stop. Every step goes through the session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from interpose import Answer
from interpose.models import ModelError, Request, ToolCall, ToolResult, ToolResults, ToolSpec, Turn, User

from .agent import Agent
from .compaction import compact, is_full
from .conversation import newest, with_newest, without_newest
from .phases import ACT, DONE, REVIEW, enter

__all__ = ["work"]


async def work(agent: Agent, prompt: str, *, asks_to_stop: bool = True) -> str:
    """Work on a prompt until the agent may stop; return the last text of the model."""
    agent.task = prompt
    agent.say(User(prompt))
    try:
        return await _take_turns(agent, asks_to_stop=asks_to_stop)
    finally:
        agent.write_transcript()


async def _take_turns(agent: Agent, *, asks_to_stop: bool) -> str:
    said = ""
    for _ in range(agent.runtime.limits.turns):
        turn = await _ask(agent)
        if turn is None:
            return said
        said = turn.text or said
        if turn.calls:
            await _make_calls(agent, turn.calls)
        else:
            told = await _finish(agent, said) if asks_to_stop else ""
            if not told:
                return said
            agent.say(User(told))
        if is_full(agent):
            await compact(agent)
    await agent.notify(f"{agent.name} was stopped after {agent.runtime.limits.turns} turns.", "limit")
    return said


async def _ask(agent: Agent) -> Turn | None:
    """Call the model with the conversation after hooks changed it; return None if they denied the call."""
    try:
        return await _ask_once(agent)
    except ModelError as error:
        if error.code != "context_too_long" or not await compact(agent):
            raise
    return await _ask_once(agent)


async def _ask_once(agent: Agent) -> Turn | None:
    new, hooks = newest(agent.messages), agent.runtime.hooks

    async def send(prompt: str, system: str, tools: Sequence[ToolSpec] = agent.specs) -> Turn:
        if prompt != new:
            agent.rewrite(with_newest(agent.messages, prompt))
        agent.write_transcript()
        agent.runtime.view.busy(agent.name, "is thinking")
        return await agent.runtime.model.answer(
            Request(system, tuple(agent.messages), tools, agent.name), agent.on_text
        )

    try:
        answer = await agent.session.message(
            new, send, system=agent.system, model=agent.runtime.model.name, text=lambda turn: turn.text,
            usage=lambda turn: {"total_tokens": turn.tokens},
            tools=agent.specs if hooks.wants("pre:message", agent_id=agent.session.agent_id) else None,
            tool_calls=_calls_of if hooks.wants("post:message", agent_id=agent.session.agent_id) else None,
        )  # fmt: skip
    finally:
        agent.runtime.view.busy(agent.name, "")
    if not answer.ok:
        if not agent.session.halted:  # what was denied must not be sent with the next message
            agent.rewrite(without_newest(agent.messages))
            agent.transcript.note("withheld", answer.reason)
        await agent.show("notice", text=answer.content)
        return None
    if answer.input != new:
        await agent.show("notice", text=f"the message was changed before the model saw it: {answer.input}")
    turn: Turn = answer.raw
    if answer.content != turn.text:
        # ``kept`` still has the text that a hook removed.
        turn = replace(turn, text=answer.content, kept=None)
    agent.tokens = turn.tokens
    agent.say(turn.message())
    agent.write_transcript()
    if turn.text:
        await agent.show("assistant", text=turn.text)
    if turn.stop_reason == "max_tokens":
        await agent.notify("The model's answer was cut off at its limit.", "limit")
    return turn


def _calls_of(turn: Turn) -> list[dict[str, object]]:
    return [{"id": call.id, "name": call.name, "input": call.input} for call in turn.calls]


async def _finish(agent: Agent, said: str) -> str:
    """Ask whether the agent may stop; return what it is told if it must continue."""
    is_main = agent.depth == 0
    if is_main and (refused := await enter(agent.session, REVIEW)):
        return refused
    stop = await agent.session.stop(said)
    if stop.keep_going:
        await agent.show("notice", text=f"continues: {stop.content}")
        return str(stop.content)
    return await enter(agent.session, DONE) if is_main else ""


async def _make_calls(agent: Agent, calls: tuple[ToolCall, ...]) -> None:
    """Make the calls of one turn; concurrently if all of them only read or are subagents."""
    done: dict[str, ToolResult] = {}
    told: list[str] = []

    async def make(call: ToolCall) -> None:
        result, messages = await _make_call(agent, call)
        done[call.id] = result
        told.extend(messages)

    try:
        if all(_may_run_concurrently(agent, call) for call in calls):
            async with asyncio.TaskGroup() as group:
                for call in calls:
                    group.create_task(make(call))
        else:
            for call in calls:
                await make(call)
    finally:
        # Also if it was interrupted: a model's API requires a result for every call.
        results = [done.get(call.id, ToolResult(call.id, "interrupted", ok=False)) for call in calls]
        agent.say(ToolResults(tuple(results)))
    for text in told:
        agent.say(User(text))


def _may_run_concurrently(agent: Agent, call: ToolCall) -> bool:
    tool = agent.tools.get(call.name)
    return tool is None or tool.kind == "read" or tool.name == "Task"


async def _make_call(agent: Agent, call: ToolCall) -> tuple[ToolResult, tuple[str, ...]]:
    """Make one call through the session; return its result, and messages to add after it."""
    tool = agent.tools.get(call.name)
    problem = call.problem or ("" if tool else f"there is no tool {call.name}; there are {', '.join(agent.tools)}")
    if tool is None or problem:
        return ToolResult(call.id, problem, ok=False), ()
    if agent.depth == 0 and tool.kind != "read" and (refused := await enter(agent.session, ACT)):
        return ToolResult(call.id, refused, ok=False), ()

    # A server may give every call the same id. An approval of one call must not hold for the next.
    is_new = call.id not in agent.called
    agent.called.add(call.id)

    async def run(given: dict[str, object]) -> str:
        agent.runtime.view.busy(agent.name, f"runs {tool.name}")
        workplace = agent.workplace
        if tool.kind != "run":  # files may have been exchanged for links since the rules were applied to the input
            workplace = replace(workplace, left_out=agent.session.left_out(tool.name, given))
        return await tool.run(given, workplace)

    try:
        answer = await agent.session.tool(
            call.name, call.input, run, tool_use_id=call.id if is_new else None, schema=tool.schema, kind=tool.kind,
            leaves_out=tool.leaves_out,
        )  # fmt: skip
    finally:
        agent.runtime.view.busy(agent.name, "")
    content = answer.content if isinstance(answer.content, str) else str(answer.content)
    await agent.show(
        "call", tool=call.name, input=answer.input, given=call.input, ok=answer.ok, content=content,
        denied=answer.denied, reason=answer.reason, decided=_decided(answer, agent.runtime.cwd),
    )  # fmt: skip
    return ToolResult(call.id, content, ok=answer.ok), answer.user_messages


def _decided(answer: Answer, cwd: Path) -> str:
    """Return who or what decided about a call that was not simply allowed, and where that is written."""
    permission = answer.permission
    if permission is None or permission.by in ("nobody", "default"):
        return ""
    place = permission.place.removeprefix(f"{cwd}{os.sep}") if permission.by in ("rule", "hook") else ""
    name = {"rule": permission.rule, "hook": permission.hook, "mode": permission.mode}.get(permission.by, "")
    if permission.by == "rule" and answer.denied:  # the reason names it
        return place
    return f"{permission.verdict} by the {permission.by}{f' {name}' if name else ''}{f' ({place})' if place else ''}"
