"""Strands: ``Agent(..., hooks=[provider("hooks.yaml")])``. An agent, or its session manager, is a session."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from weakref import WeakSet

from strands.hooks import AfterInvocationEvent, AgentInitializedEvent, BeforeInvocationEvent, HookProvider
from strands.interrupt import InterruptException
from strands.middleware import ExecuteToolStage, InvokeModelStage
from strands.types.events import ModelStopReason, ToolResultEvent

from interpose import Session, UsageError

from .base import Adapter, Agents, Ask, HooksOrPath, Refused, RunningTool, unanswered
from .base import text_of_blocks as text_of

__all__ = ["provider"]


def provider(hooks: HooksOrPath, *, agents: Agents = (), ask: Ask = "native") -> HookProvider:
    """Return a hook provider that puts hooks around an agent. Give it to every agent of a swarm or a graph.

    ``agents`` names tools that run an agent, besides those of ``agent.as_tool()``. With ``ask="native"`` a question is
    an interrupt, whose response is True, False, or ``{"tool_input": {...}}`` for another input.
    """
    tested = ("strands-agents", "1.62", "2")
    return _Governed(Adapter(hooks, agents=agents, ask=ask, pauses=(InterruptException,), tested=tested))


class _Governed(HookProvider):
    def __init__(self, adapter: Adapter) -> None:
        self.adapter, self.sessions = adapter, adapter.sessions
        self._sent_back: WeakSet[Any] = WeakSet()

    def register_hooks(self, registry: Any, **_: Any) -> None:
        registry.add_callback(AgentInitializedEvent, self._install)
        registry.add_callback(BeforeInvocationEvent, self._prompt)
        registry.add_callback(AfterInvocationEvent, self._stop)

    def _install(self, event: Any) -> None:
        event.agent.add_middleware(InvokeModelStage, self._model)
        event.agent.add_middleware(ExecuteToolStage, self._tool)

    async def _session(self, agent: Any) -> Session:
        manager = getattr(agent, "_session_manager", None)  # private: no public name has the id of the conversation
        known = getattr(manager, "session_id", None) or self.adapter.id_of(agent)
        return await self.adapter.session(known)

    async def _prompt(self, event: Any) -> None:
        if event.messages is None:
            raise UsageError("agent.structured_output() passes no hooks", hint="use structured_output_model=")
        if event.agent in self._sent_back or self.adapter.is_nested or not event.messages:
            self._sent_back.discard(event.agent)
            return  # what a hook says, what a subagent is told, or an answer to a question
        answer = await (await self._session(event.agent)).prompt(text_of(event.messages[-1]["content"]))
        if not answer.ok:
            event.cancel = str(answer.content)

    async def _stop(self, event: Any) -> None:
        if event.result is not None and event.result.stop_reason == "end_turn":
            stop = await (await self._session(event.agent)).stop(str(event.result).strip())
            if stop.keep_going:
                self._sent_back.add(event.agent)
                event.resume = stop.content

    async def _model(self, context: Any, next_fn: Any) -> AsyncIterator[Any]:
        messages, system, tools = context.messages, context.system_prompt, context.tool_specs
        begin = unanswered(messages, lambda one: one["role"] == "assistant")
        prompt = "\n".join(filter(None, (text_of(one["content"]) for one in messages[begin:])))
        session, given = await self._session(context.agent), system if isinstance(system, str) else ""
        call = await session.begin_message(prompt, system=given, messages=self.adapter.messages(messages), tools=tools)
        if call.state != "run":
            said = {"role": "assistant", "content": [{"text": call.reason}]}
            usage = {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
            yield ModelStopReason("end_turn", said, usage, {"latencyMs": 0})
            return
        if call.prompt != prompt:
            context = context.replace(messages=[*messages[:begin], *_rewritten(messages[begin:], call.prompt)])
        told = [*system, {"text": call.system}] if isinstance(system, list) and call.system else call.system or system
        async with call:
            async for event in next_fn(context.replace(system_prompt=told, tool_specs=call.tools)):
                yield await _answered(call, event) if isinstance(event, ModelStopReason) else event

    async def _tool(self, context: Any, next_fn: Any) -> AsyncIterator[Any]:
        use, result = context.tool_use, None
        try:
            running = await self._begin(context, use, await self._session(context.agent))
        except InterruptException:
            raise  # the framework asks; then the call is begun again
        except Exception as error:  # it is refused, or the adapter is wrong: the tool does not run
            told = [{"text": str(error) or type(error).__name__}]
            yield ToolResultEvent({"toolUseId": use["toolUseId"], "status": "error", "content": told})
            return
        async with running:
            async for event in next_fn(context.replace(tool_use={**use, "input": running.input})):
                if isinstance(event, ToolResultEvent):
                    result = event  # the last one counts
                else:
                    yield event
            if result is not None:
                yield await _finished(running, result)

    async def _begin(self, context: Any, use: Any, session: Session) -> RunningTool:
        tool, name = context.tool, use["name"]
        schema = tool.tool_spec["inputSchema"].get("json") if tool is not None else None
        begun = await self.adapter.begin(session, name, use["input"], id=use["toolUseId"], schema=schema)
        if begun.state == "asked":
            reason = {"question": str(begun.question), "tool_name": name, "tool_input": begun.input}
            await self.adapter.answer(begun, context.interrupt("interpose", reason=reason).response)
        if name == "handoff_to_agent":  # the tool that a swarm gives to its agents, which have a session each
            handoff = await session.handoff(str(begun.input.get("agent_name")), config=begun.input, acts=False)
            if not handoff.ok:
                await begun.failed(str(handoff.content))
                raise Refused(str(handoff.content))
        return await self.adapter.start(begun, session, is_agent=getattr(tool, "tool_type", "") == "agent")


async def _answered(call: Any, event: Any) -> Any:
    content = event.message["content"]
    calls = [one["toolUse"] for one in content if "toolUse" in one]
    answer = await call.done(event.message, text=text_of(content), tool_calls=calls)
    if not answer.changed:
        return event
    changed = [{"text": answer.content}, *(one for one in content if "text" not in one)]
    return ModelStopReason(event.stop_reason, {**event.message, "content": changed}, event.usage, event.metrics)


async def _finished(running: RunningTool, event: Any) -> Any:
    """End a call with the last event of its tool; return the event as hooks have left it."""
    result, content = event.tool_result, event.tool_result["content"]
    wrong = event.exception or (result["status"] == "error" and (text_of(content) or "the tool failed"))
    answer = await (running.failed(wrong, result=content) if wrong else running.done(content))
    if not answer.changed:
        return event
    blocks = answer.content if isinstance(answer.content, list) else [{"text": str(answer.content)}]
    return ToolResultEvent({**result, "content": blocks}, event.exception)


def _rewritten(messages: list[Any], prompt: str) -> list[Any]:
    """Return messages with another prompt in the place of the first text; results of tools stay where they are."""
    new = iter([{"text": prompt}])
    return [
        {**one, "content": [next(new, {"text": ""}) if "text" in block else block for block in one["content"]]}
        for one in messages
    ]
