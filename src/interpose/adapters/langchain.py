"""LangChain: ``create_agent(..., middleware=[middleware("hooks.yaml")])``. A thread is a session."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, NotRequired
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import ModelResponse, PrivateStateAttr
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.config import get_config
from langgraph.types import Command, interrupt

from interpose import Session, deny

from .base import Adapter, Agents, Ask, HooksOrPath, Refused, unanswered
from .base import text_of_blocks as text_of

__all__ = ["middleware"]


def middleware(hooks: HooksOrPath, *, agents: Agents = (), ask: Ask = "native") -> AgentMiddleware[Any, Any, Any]:
    """Return a middleware that puts hooks around an agent. ``agents`` names the tools that run another agent.

    With ``ask="native"`` a question interrupts the graph, which needs a checkpointer. It is resumed with
    ``Command(resume=...)``: True, False, ``{"tool_input": {...}}`` for another input, or a decision of LangChain's own
    ``HumanInTheLoopMiddleware``.
    """
    return _Governed(Adapter(hooks, agents=agents, ask=ask, tested=("langchain", "1.4.7", "2")))


class _State(AgentState[Any]):
    interpose_session: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]


def _both(flow: Any, jump: Any = None) -> tuple[Any, Any]:
    """Return a flow as two methods of the framework, one for hosts without an event loop and one for hosts with one."""

    def run(self: Any, at: Any, *more: Any) -> Any:
        return self.adapter.blocking(_conversation(at)).run(partial(flow, self), at, *more)

    async def arun(self: Any, at: Any, *more: Any) -> Any:
        return await flow(self, await self.adapter.session(_conversation(at)), at, *more)

    jumps = hook_config(can_jump_to=[jump]) if jump else lambda method: method
    return jumps(run), jumps(arun)


class _Governed(AgentMiddleware[Any, Any, Any]):
    state_schema = _State

    def __init__(self, adapter: Adapter) -> None:
        super().__init__()
        self.adapter, self.sessions = adapter, adapter.sessions

    async def _begin(self, session: Session, state: Any) -> dict[str, Any]:
        kept = {"interpose_session": session.session_id}
        if self.adapter.is_nested:  # what a subagent is told is no prompt of a person
            return kept
        answer = await session.prompt(text_of(state["messages"][-1].content))
        return kept if answer.ok else {**kept, "messages": [AIMessage(str(answer.content))], "jump_to": "end"}

    async def _model(self, session: Session, request: Any, handler: Any) -> Any:
        begin = unanswered(request.messages, lambda one: isinstance(one, AIMessage))
        news = [one for one in request.messages[begin:] if isinstance(one, HumanMessage)]
        prompt = "\n".join(text_of(one.content) for one in news)
        system = request.system_message.text if request.system_message is not None else ""
        tools = [one for one in request.tools if not isinstance(one, dict) or "name" in one or "function" in one]
        messages = self.adapter.messages(request.messages)
        call = await session.begin_message(prompt, system=system, messages=messages, tools=tools)
        if call.state != "run":
            return ModelResponse(result=[AIMessage(call.reason)])
        if call.prompt != prompt and news:  # results of tools stay where they are
            changed = {id(one): call.prompt if one is news[0] else "" for one in news}
            copies = [one.model_copy(update={"content": changed.get(id(one), one.content)}) for one in request.messages]
            request = request.override(messages=copies)
        if call.system != system:
            request = request.override(system_message=SystemMessage(call.system))
        if call.tools is not None and call.tools != tools:
            request = request.override(tools=[one for one in request.tools if one not in tools or one in call.tools])
        async with call:
            made = handler(request)
            response = await made if hasattr(made, "__await__") else made
        calls = [one for message in response.result for one in getattr(message, "tool_calls", ())]
        answer = await call.done(response, text="\n".join(one.text for one in response.result), tool_calls=calls)
        if not answer.changed:
            return response
        first = response.result[0].model_copy(update={"content": answer.content})
        return ModelResponse([first, *response.result[1:]], response.structured_response)

    async def _tool(self, session: Session, request: Any, handler: Any) -> Any:
        call, schema = request.tool_call, partial(_schema_of, request.tool)
        try:
            begun = await self.adapter.begin(session, call["name"], call["args"], id=call["id"], schema=schema)
            if begun.state == "asked":  # pauses the graph; when it is resumed, the call is begun again and comes here
                action = {"name": begun.name, "args": begun.input, "description": str(begun.question)}
                review = {"action_name": begun.name, "allowed_decisions": ["approve", "edit", "reject"]}
                said = interrupt({"action_requests": [action], "review_configs": [review]})
                await self.adapter.answer(begun, _read(said))
            given = request.override(tool_call={**call, "args": begun.input})
            result, answer = await self.adapter.run(begun, session, lambda: handler(given), show=_content_of)
        except Refused as refused:
            return ToolMessage(str(refused), tool_call_id=call["id"], name=call["name"], status="error")
        if not answer.changed:
            return result
        content = answer.content if isinstance(answer.content, str | list) else str(answer.content)
        if isinstance(result, ToolMessage):
            return result.model_copy(update={"content": content, "artifact": None})
        return ToolMessage(content, tool_call_id=call["id"], name=call["name"])

    async def _finish(self, session: Session, state: Any) -> dict[str, Any] | None:
        stop = await session.stop(text_of(state["messages"][-1].content))
        return {"messages": [HumanMessage(stop.content)], "jump_to": "model"} if stop.keep_going else None

    before_agent, abefore_agent = _both(_begin, "end")
    wrap_model_call, awrap_model_call = _both(_model)
    wrap_tool_call, awrap_tool_call = _both(_tool)
    after_agent, aafter_agent = _both(_finish, "model")


def _conversation(at: Any) -> str:
    """Return the id of the conversation that a state or a request belongs to."""
    known = getattr(at, "state", at).get("interpose_session") or get_config().get("configurable", {}).get("thread_id")
    return str(known or uuid4().hex)


def _schema_of(tool: Any) -> Any:
    schema: Any = getattr(tool, "tool_call_schema", None)
    return schema.model_json_schema() if hasattr(schema, "model_json_schema") else schema


def _content_of(result: Any) -> Any:
    """Return what hooks see of a result: its content; of a Command, the contents of its messages."""
    if isinstance(result, Command):
        update = result.update if isinstance(result.update, dict) else {}
        return [one.content for one in update.get("messages", []) if isinstance(one, ToolMessage)]
    return getattr(result, "content", result)


def _read(answer: Any) -> Any:
    """Return what the person said, also as a decision of HumanInTheLoopMiddleware."""
    said = answer["decisions"][0] if isinstance(answer, dict) and answer.get("decisions") else answer
    match said:
        case {"type": "edit", "edited_action": {"args": given}}:
            return {"tool_input": given}
        case {"type": str(kind)}:
            return True if kind == "approve" else deny(str(said.get("message") or ""))
        case _:
            return said
