"""Strands: ``Agent(..., hooks=[provider("hooks.yaml")])``. An agent, or its session manager, is a session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from os import PathLike
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary, WeakSet

from strands.hooks import AfterInvocationEvent, AgentInitializedEvent, BeforeInvocationEvent, HookProvider
from strands.interrupt import InterruptException
from strands.middleware import ExecuteToolStage, InvokeModelStage
from strands.types.events import ModelStopReason, ToolResultEvent

from interpose import Hooks, Session, UsageError

from .base import Adapter, Ask, Refused, RunningTool, check_version, current_session, merge_input, read_answer
from .base import text_of_blocks as text_of

__all__ = ["provider"]


def provider(
    hooks: Hooks | str | PathLike[str], *, agents: Iterable[str] | Mapping[str, str] = (), ask: Ask = "native"
) -> HookProvider:
    """Return a hook provider that puts hooks around an agent. Give it to every agent of a swarm or a graph.

    ``agents`` names tools that run an agent, besides those of ``agent.as_tool()``. With ``ask="native"`` a question is
    an interrupt, whose response is True, False, or ``{"tool_input": {...}}`` for another input.
    """
    check_version("strands-agents", "1.62", "2")
    return _Governed(Adapter(hooks, agents=agents, ask=ask))


class _Governed(HookProvider):
    def __init__(self, adapter: Adapter) -> None:
        self.adapter, self.sessions = adapter, adapter.sessions
        self._ids: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
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
        known = getattr(manager, "session_id", None) or self._ids.setdefault(agent, uuid4().hex)
        return await self.adapter.session(known)

    async def _prompt(self, event: Any) -> None:
        if event.messages is None:
            hint = "pass structured_output_model= to the call of the agent"
            raise UsageError("agent.structured_output() calls the model without hooks", hint=hint)
        if event.agent in self._sent_back or current_session() is not None or not event.messages:
            self._sent_back.discard(
                event.agent
            )  # what a hook says, what a subagent is told, or an answer to a question
            return
        answer = await (await self._session(event.agent)).prompt(text_of(event.messages[-1]["content"]))
        if not answer.ok:
            event.cancel = str(answer.content)

    async def _stop(self, event: Any) -> None:
        if event.result is None or event.result.stop_reason != "end_turn":
            return
        stop = await (await self._session(event.agent)).stop(str(event.result).strip())
        if stop.keep_going:
            self._sent_back.add(event.agent)
            event.resume = stop.content

    async def _model(self, context: Any, next_fn: Any) -> AsyncIterator[Any]:
        messages, system, tools = context.messages, context.system_prompt, context.tool_specs
        last = max((at for at, one in enumerate(messages) if one["role"] == "assistant"), default=-1)
        prompt = "\n".join(filter(None, (text_of(one["content"]) for one in messages[last + 1 :])))
        call = await (await self._session(context.agent)).begin_message(
            prompt,
            system=system if isinstance(system, str) else "",
            messages=self.adapter.messages(messages),
            tools=tools,
        )
        if call.state != "run":
            said = {"role": "assistant", "content": [{"text": call.reason}]}
            usage = {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
            yield ModelStopReason("end_turn", said, usage, {"latencyMs": 0})
            return
        if call.prompt != prompt:
            context = context.replace(messages=[*messages[: last + 1], *_rewritten(messages[last + 1 :], call.prompt)])
        if call.system:
            told = [*system, {"text": call.system}] if isinstance(system, list) else call.system
            context = context.replace(system_prompt=told)
        if call.tools != tools:
            context = context.replace(tool_specs=call.tools)
        try:
            async for event in next_fn(context):
                yield await _answered(call, event) if isinstance(event, ModelStopReason) else event
        except Exception as error:
            if call.state == "run":
                await call.failed(error)
            raise

    async def _tool(self, context: Any, next_fn: Any) -> AsyncIterator[Any]:
        use, result = context.tool_use, None
        try:
            running, given = await self._begin(context, use, await self._session(context.agent))
        except InterruptException:
            raise  # the framework asks; then the call is begun again
        except Exception as error:  # it is refused, or the adapter is wrong: the tool does not run
            told = [{"text": str(error) or type(error).__name__}]
            yield ToolResultEvent({"toolUseId": use["toolUseId"], "status": "error", "content": told})
            return
        try:
            async for event in next_fn(context.replace(tool_use={**use, "input": given})):
                if isinstance(event, ToolResultEvent):
                    result = event  # the last one counts
                else:
                    yield event
        except (InterruptException, GeneratorExit):  # the tool has a question of its own
            running.close()
            raise
        except BaseException as error:
            await running.failed(error)
            raise
        if result is None:
            running.close()
        else:
            yield await _finished(running, result)

    async def _begin(self, context: Any, use: Any, session: Session) -> tuple[RunningTool, dict[str, Any]]:
        tool, name = context.tool, use["name"]
        schema = tool.tool_spec["inputSchema"].get("json") if tool is not None else None
        begun = await self.adapter.begin(session, name, use["input"], id=use["toolUseId"], schema=schema)
        if begun.state == "asked":
            reason = {"question": str(begun.question), "tool_name": name, "tool_input": begun.input}
            await self.adapter.answer(begun, read_answer(context.interrupt("interpose", reason=reason).response))
        if name == "handoff_to_agent":  # the tool that a swarm gives to its agents
            acts_as = session.agent_type or session.agent_id
            handoff = await session.handoff(str(begun.input.get("agent_name")), config=begun.input)
            if not handoff.ok:
                await begun.failed(str(handoff.content))
                raise Refused(str(handoff.content))
            session.act_as(acts_as)  # the other agent has a session of its own
        running = await self.adapter.start(begun, session, is_agent=getattr(tool, "tool_type", "") == "agent")
        return running, merge_input(use["input"], begun.input)


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
    if event.exception is not None or result["status"] == "error":
        answer = await running.failed(event.exception or text_of(content), result=content)
    else:
        answer = await running.done(content)
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
