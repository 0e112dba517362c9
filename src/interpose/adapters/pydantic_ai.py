"""Pydantic AI: ``Agent(..., capabilities=[capability("hooks.yaml")])``, or the same for one run.

A run is a turn of the session of its conversation. A tool that is named in ``agents`` runs an agent, whose own run is a
subagent of this one if it has the capability too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, ModelRetry, ToolFailed
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)

from interpose import Session

from .base import Adapter, Agents, Ask, HooksOrPath, Refused, merge_input
from .base import text_of_blocks as text_of

__all__ = ["capability"]


def capability(hooks: HooksOrPath, *, agents: Agents = (), ask: Ask = "native") -> AbstractCapability[Any]:
    """Return a capability that puts hooks around the runs of an agent.

    ``agents`` names the tools that run another agent. With ``ask="native"`` a question ends the run with
    ``DeferredToolRequests``, if that is one of the agent's output types.
    """
    return _Governed(Adapter(hooks, agents=agents, ask=ask, tested=("pydantic-ai-slim", "2.66", "3")))


class _Governed(AbstractCapability[Any]):
    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self.sessions = adapter.sessions
        self._session: Session
        self._nested = False
        self._denied = ""

    async def for_run(self, ctx: Any) -> _Governed:
        return _Governed(self.adapter)  # what belongs to one run

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        self._nested = self.adapter.is_nested
        self._session = await self.adapter.session(ctx.conversation_id or ctx.run_id, model=ctx.model.model_name)
        if ctx.prompt is not None and not self._nested:  # a run that is resumed has no prompt
            answer = await self._session.prompt(text_of(ctx.prompt))
            self._denied = "" if answer.ok else str(answer.content)
        return await handler()

    async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> Any:
        if self._denied:
            return ModelResponse([TextPart(self._denied)])
        *earlier, last = request_context.messages
        prompt = "\n".join(filter(None, map(_text_of, last.parts)))
        messages = self.adapter.messages(request_context.messages)
        call = await self._session.begin_message(prompt, model=request_context.model.model_name, messages=messages)
        if call.state != "run":
            return ModelResponse([TextPart(call.reason)])
        request_context.messages = [*earlier, _changed_request(last, prompt, call.prompt, call.system)]
        async with call:
            response = await handler(request_context)
        calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
        answer = await call.done(response, text=_answer_of(response), tool_calls=calls)
        if not answer.changed:
            return response
        others = [part for part in response.parts if not isinstance(part, TextPart)]
        return replace(response, parts=[TextPart(answer.content), *others])

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        try:
            begun = await self.adapter.begin(
                self._session, call.tool_name, args, id=call.tool_call_id, schema=tool_def.parameters_json_schema
            )
            if begun.state == "asked":
                if not ctx.tool_call_approved:  # pause with the framework's own question
                    raise ApprovalRequired(metadata={"reason": begun.reason})
                await self.adapter.answer(begun, True)
            given = merge_input(args, begun.input)
            result, answer = await self.adapter.run(begun, self._session, lambda: handler(given))
        except Refused as refused:
            raise ToolFailed(str(refused)) from None
        return answer.content if answer.changed else result

    async def after_output_process(self, ctx: Any, *, output_context: Any, output: Any) -> Any:
        if self._denied or ctx.partial_output:
            return output
        stop = await self._session.stop(output if isinstance(output, str) else "")
        if stop.keep_going:
            raise ModelRetry(stop.content)
        return output


def _changed_request(request: Any, prompt: str, changed: str, context: str) -> ModelMessage:
    """Return a request with what hooks changed and added; results of tools stay where they are."""
    parts = list(request.parts)
    if changed != prompt:
        texts = [at for at, part in enumerate(parts) if isinstance(part, UserPromptPart) and _text_of(part)]
        for at in texts:
            parts[at] = replace(parts[at], content=changed if at == texts[0] else "")
    if context:
        parts.insert(0, SystemPromptPart(context))
    made: ModelRequest = replace(request, parts=parts)
    return made


def _text_of(part: Any) -> str:
    return text_of(part.content) if isinstance(part, UserPromptPart) else ""


def _answer_of(response: Any) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))
