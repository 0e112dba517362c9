"""OpenAI Agents SDK: the model of a governed agent, with pre:message, post:message and Stop around its calls."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from agents import Model, ModelResponse, Usage

from interpose import BegunMessage, BegunTool, Session

from .base import Refused, text_of_blocks, unanswered
from .openai_agents_items import completed, continued, is_of_model, message

__all__ = ["GovernedModel", "GovernedRun", "running"]


@dataclass
class GovernedRun:
    """What belongs to one run of a governed agent."""

    key: str
    acting: Session | None
    session: Session
    begins: bool = False
    """Whether it began with an input: one that goes on after a pause does not."""
    model_calls: int = 0
    calls: dict[str, BegunTool | Refused] = field(default_factory=dict)
    """What became of the calls that were judged when the framework asked whether they need an approval."""
    tools: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """The tools that were governed, by the ids of their originals, with these: they are the same in every turn."""
    notes: list[str] = field(default_factory=list)
    """What the model is told with its next call: why a handoff was refused."""

    async def close_calls(self) -> None:
        """End the calls that were judged and not made: a person has rejected them."""
        calls, self.calls = self.calls, {}
        for call in calls.values():
            if isinstance(call, BegunTool) and call.state == "asked":
                await call.said(False)
            elif isinstance(call, BegunTool):
                call.close()


running: ContextVar[GovernedRun] = ContextVar("interpose_openai_agents_run")
"""The run of this task: a model is not told for which run it is called."""


class GovernedModel(Model):
    """A model whose calls pass the hooks. An answer that may not be the last one is followed by another call."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner
        self.close = inner.close  # type: ignore[method-assign]
        self.get_retry_advice = inner.get_retry_advice  # type: ignore[method-assign]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def get_response(self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *rest: Any,
                           **more: Any) -> ModelResponse:  # fmt: skip
        """Return the answer after hooks have seen it."""
        given, said, usage = input, list[Any](), Usage()
        while True:
            call, system, items, left = await _begin(system_instructions, given, tools)
            if call.state != "run":
                return ModelResponse(output=[*said, message(call.reason)], usage=usage, response_id=None)
            async with call:
                response = await self.inner.get_response(system, items, model_settings, left, *rest, **more)
            usage.add(response.usage)
            go_on = await _end(call, response.output)
            if not go_on:
                response.output[:0], response.usage = said, usage
                return response
            said += response.output
            given, more = continued(given, response.output, go_on, response.response_id, more)

    async def stream_response(self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *rest: Any,
                              **more: Any) -> AsyncIterator[Any]:  # fmt: skip
        """Yield the events of the answer; hooks see it when it is complete."""
        given, said, go_on = input, list[Any](), "begin"
        while go_on:
            call, system, items, left = await _begin(system_instructions, given, tools)
            if call.state != "run":
                yield completed([*said, message(call.reason)])
                return
            go_on, done = "", []
            async with call:
                async for event in self.inner.stream_response(system, items, model_settings, left, *rest, **more):
                    if event.type == "response.output_item.done":
                        done.append(event.item)
                    if event.type == "response.completed":
                        output = event.response.output = event.response.output or done  # some send only the items
                        go_on = await _end(call, output)
                        if go_on:
                            said += output
                            given, more = continued(given, output, go_on, event.response.id, more)
                            continue
                        output[:0] = said
                    yield event


async def _begin(system: str | None, given: Any, tools: list[Any]) -> tuple[BegunMessage, str | None, Any, list[Any]]:
    """Begin a model call; return it and what is sent: the system prompt, the items and the tools."""
    run = running.get()
    run.model_calls += 1
    await run.close_calls()
    notes, run.notes = run.notes, []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
    newest = unanswered(items, is_of_model)
    prompt = "\n".join(text_of_blocks(one.get("content") or one.get("output") or "") for one in items[newest:])
    call = await run.session.begin_message(prompt, system="\n\n".join(filter(None, [system, *notes])), tools=tools)
    if call.state == "run" and call.prompt != prompt:
        users = [at for at, one in enumerate(items) if at >= newest and "content" in one]
        for at in users:  # results of tools stay where they are
            items[at] = {**items[at], "content": call.prompt if at == users[0] else ""}
        given = items
    return call, call.system or system, given, call.tools if call.tools is not None else tools


async def _end(call: BegunMessage, output: list[Any]) -> str:
    """End a model call: rewrite its answer, and return what the model is told if it may not stop yet."""
    texts = [part for one in output if one.type == "message" for part in one.content if part.type == "output_text"]
    calls = [one for one in output if one.type not in ("message", "reasoning")]
    answer = await call.done(output, text="".join(part.text for part in texts), tool_calls=calls)
    if answer.changed and texts:
        for part in texts:
            part.text = answer.content if part is texts[0] else ""
    elif answer.changed:
        output.append(message(answer.content))
    if calls:
        return ""
    stop = await running.get().session.stop(str(answer.content))
    return str(stop.content) if stop.keep_going else ""
