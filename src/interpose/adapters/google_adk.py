"""Google ADK: ``App(..., plugins=[plugin("hooks.yaml")])`` governs all agents of an app. Its sessions are sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary, WeakValueDictionary, finalize

from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.tools import AgentTool, BaseTool
from google.adk.utils.content_utils import SKIP_THOUGHT_SIGNATURE_VALIDATOR
from google.genai.types import Content, FunctionCall, Part

from interpose import BegunMessage, Hooks, Session, UsageError

from .base import Adapter, Ask, RunningTool, check_version, current_session, read_answer

__all__ = ["plugin"]

_NOT_YET = "interpose_keep_going"  # a call that is put behind a final answer: its result says why the agent goes on


def plugin(
    hooks: Hooks | str | PathLike[str], *, agents: Iterable[str] | Mapping[str, str] = (), ask: Ask = "native"
) -> BasePlugin:
    """Return a plugin that puts hooks around all agents of an app. Make it the first plugin of the app.

    ``agents`` names tools that run an agent, besides each ``AgentTool``. With ``ask="native"`` a question is a call of
    ``adk_request_confirmation``; ``"payload": {"tool_input": {...}}`` beside ``"confirmed": True`` is another input.
    """
    check_version("google-adk", "2.13", "3")
    if not hasattr(BaseTool, "_get_declaration"):
        raise UsageError("google-adk: tools have no _get_declaration", hint="install a version that was tested")
    return _Governed(Adapter(hooks, agents=agents, ask=ask))


class _Governed(BasePlugin):
    def __init__(self, adapter: Adapter) -> None:
        super().__init__(name="interpose")
        self.adapter, self.close = adapter, adapter.close
        self._denied: dict[str, str] = {}
        # What belongs to an object of the framework goes with it: a run that is cancelled leaves nothing behind.
        self._tools: WeakKeyDictionary[Any, RunningTool] = WeakKeyDictionary()
        self._messages: WeakValueDictionary[Any, BegunMessage] = WeakValueDictionary()

    async def _session(self, context: Any) -> Session:
        at = context.session
        return await self.adapter.session(":".join(quote(part, safe="") for part in (at.app_name, at.user_id, at.id)))

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        if current_session() is not None or all(part.function_response for part in user_message.parts or ()):
            return None  # what a subagent is told, or the answer to a question
        answer = await (await self._session(invocation_context)).prompt(_text_of(user_message))
        if answer.ok:
            return None
        self._denied[invocation_context.invocation_id] = str(answer.content)
        return Content(role="user", parts=[Part(text="(a prompt that was denied)")])  # nor does a later request have it

    async def before_run_callback(self, *, invocation_context: Any) -> Any:
        denied = self._denied.pop(invocation_context.invocation_id, "")
        return Content(role="model", parts=[Part(text=denied)]) if denied else None

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        contents, config = llm_request.contents, llm_request.config
        last = max((at for at, one in enumerate(contents) if one.role == "model"), default=-1)
        prompt = _text_of(*contents[last + 1 :])
        tools = [one for tool in config.tools or () for one in getattr(tool, "function_declarations", None) or ()]
        call = await (await self._session(callback_context)).begin_message(
            prompt, model=llm_request.model, messages=self.adapter.messages(contents), tools=tools
        )
        if call.state != "run":
            return LlmResponse(content=Content(role="model", parts=[Part(text=call.reason)]))
        if call.prompt != prompt:
            llm_request.contents = [*contents[: last + 1], *_rewritten(contents[last + 1 :], call.prompt)]
        if call.system:
            llm_request.append_instructions([call.system])
        for tool in config.tools or ():
            if getattr(tool, "function_declarations", None) and call.tools != tools:
                tool.function_declarations = [one for one in tool.function_declarations if one in (call.tools or ())]
        self._messages[_key(callback_context)] = call
        finalize(llm_request, lambda begun: None, call)  # the request keeps it
        return None

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        call = None if llm_response.partial else self._messages.pop(_key(callback_context), None)
        if call is None:
            return None
        content = llm_response.content or Content()
        parts, calls = content.parts or [], [part.function_call for part in content.parts or () if part.function_call]
        answer = await call.done(llm_response, text=_text_of(content), tool_calls=calls)
        if answer.changed:
            parts = [Part(text=answer.content), *(part for part in parts if not _is_text(part))]
        stop = None if calls else await (await self._session(callback_context)).stop(str(answer.content))
        if stop and stop.keep_going:
            again = FunctionCall(name=_NOT_YET, args={"reason": stop.content})
            parts = [*parts, Part(function_call=again, thought_signature=SKIP_THOUGHT_SIGNATURE_VALIDATOR)]
        elif not answer.changed:
            return None
        return llm_response.model_copy(update={"content": Content(role="model", parts=parts)})

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        if tool.name == _NOT_YET:  # never a tool that runs
            return {"result": str(tool_args.get("reason", ""))}
        try:
            session, named = await self._session(tool_context), tool_context.function_call_id
            begun = await self.adapter.begin(session, tool.name, dict(tool_args), id=named, schema=_schema_of(tool))
            if begun.state == "asked":
                said = tool_context.tool_confirmation
                if said is None:  # when the framework has the answer, the call is begun again and comes here
                    tool_context.request_confirmation(hint=str(begun.question), payload={"tool_input": begun.input})
                    tool_context.actions.skip_summarization = True
                    return {"error": f"{tool.name} was not run: it waits for an answer"}
                edited = isinstance(said.payload, dict) and "tool_input" in said.payload
                await self.adapter.answer(begun, said.confirmed and read_answer(said.payload if edited else True))
            running = await self.adapter.start(begun, session, is_agent=isinstance(tool, AgentTool))
        except Exception as error:  # it is refused, or the adapter is wrong: the tool does not run
            return {"error": str(error) or type(error).__name__}
        self._tools[tool_context] = running
        tool_args.clear()
        tool_args.update(begun.input)
        return None

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> Any:
        call, actions, said = self._tools.pop(tool_context, None), tool_context.actions, tool_context.tool_confirmation
        if call is None:
            return None
        if tool_context.function_call_id in actions.requested_tool_confirmations or (said and not said.confirmed):
            return call.close()  # the tool has a question of its own, or the answer to it is no
        answer = await call.done(result)
        if actions.transfer_to_agent:
            handoff = await (await self._session(tool_context)).handoff(actions.transfer_to_agent)
            if not handoff.ok:
                actions.transfer_to_agent = None
                return {"error": str(handoff.content)}
        changed = answer.content if isinstance(answer.content, dict) else {"result": answer.content}
        return changed if answer.changed else None

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any) -> None:
        if call := self._tools.pop(tool_context, None):
            await call.failed(error)


def _key(context: Any) -> tuple[Any, ...]:
    return context.invocation_id, context.branch, context.agent_name


def _schema_of(tool: Any) -> Any:
    declared = tool._get_declaration()  # private, yet what every tool overrides: no public name has the schema
    if declared is None or declared.parameters_json_schema or declared.parameters is None:
        return declared and declared.parameters_json_schema
    return declared.parameters.json_schema.model_dump(mode="json", exclude_none=True)


def _is_text(part: Any) -> bool:
    return bool(part.text) and not part.thought


def _text_of(*contents: Any) -> str:
    return "\n".join(part.text for one in contents for part in one.parts or () if _is_text(part))


def _rewritten(contents: list[Any], prompt: str) -> list[Content]:
    """Return contents with another prompt in the place of the first text; results of tools stay where they are."""
    new = iter([Part(text=prompt)])
    return [
        Content(role=one.role, parts=[next(new, Part(text="")) if _is_text(part) else part for part in one.parts or ()])
        for one in contents
    ]
