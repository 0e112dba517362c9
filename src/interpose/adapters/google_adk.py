"""Google ADK: ``App(..., plugins=[plugin("hooks.yaml")])`` governs all agents of an app. Its sessions are sessions."""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.tools import AgentTool, BaseTool
from google.adk.utils.content_utils import SKIP_THOUGHT_SIGNATURE_VALIDATOR
from google.genai.types import Content, FunctionCall, ModelContent, Part, UserContent

from interpose import BegunMessage, Session, UsageError

from .base import Adapter, Agents, Ask, HooksOrPath, RunningTool, unanswered
from .google_adk_contents import is_text, rewritten, schema_of, text_of

__all__ = ["plugin"]

_NOT_YET = "interpose_keep_going"  # a call that is put behind a final answer: its result says why the agent goes on
_asked: ContextVar[BegunMessage | None] = ContextVar("interpose_google_adk_message", default=None)  # of this task


def plugin(hooks: HooksOrPath, *, agents: Agents = (), ask: Ask = "native") -> BasePlugin:
    """Return a plugin that puts hooks around all agents of an app. Make it the first plugin of the app.

    ``agents`` names tools that run an agent, besides each ``AgentTool``. With ``ask="native"`` a question is a call of
    ``adk_request_confirmation``; ``"payload": {"tool_input": {...}}`` beside ``"confirmed": True`` is another input.
    """
    if not hasattr(BaseTool, "_get_declaration"):
        raise UsageError("google-adk: tools have no _get_declaration", hint="install a version that was tested")
    return _Governed(Adapter(hooks, agents=agents, ask=ask, tested=("google-adk", "2.13", "3")))


class _Governed(BasePlugin):
    def __init__(self, adapter: Adapter) -> None:
        super().__init__(name="interpose")
        self.adapter, self.close = adapter, adapter.close
        self._denied: dict[str, Content] = {}
        self._tools: WeakKeyDictionary[Any, RunningTool] = WeakKeyDictionary()  # a cancelled run leaves nothing behind

    async def _session(self, context: Any) -> Session:
        at = context.session
        return await self.adapter.session(":".join(quote(part, safe="") for part in (at.app_name, at.user_id, at.id)))

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        if self.adapter.is_nested or all(part.function_response for part in user_message.parts or ()):
            return None  # what a subagent is told, or the answer to a question
        answer = await (await self._session(invocation_context)).prompt(text_of(user_message))
        if answer.ok:
            return None
        self._denied[invocation_context.invocation_id] = ModelContent(str(answer.content))
        return UserContent("(a prompt that was denied)")  # nor does a later request have it

    async def before_run_callback(self, *, invocation_context: Any) -> Any:
        return self._denied.pop(invocation_context.invocation_id, None)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        contents, config = llm_request.contents, llm_request.config
        begin = unanswered(contents, lambda one: one.role == "model")
        prompt = text_of(*contents[begin:])
        tools = [one for tool in config.tools or () for one in getattr(tool, "function_declarations", None) or ()]
        call = await (await self._session(callback_context)).begin_message(
            prompt, model=llm_request.model, messages=self.adapter.messages(contents), tools=tools
        )
        if call.state != "run":
            return LlmResponse(content=ModelContent(call.reason))
        if call.prompt != prompt:
            llm_request.contents = [*contents[:begin], *rewritten(contents[begin:], call.prompt)]
        if call.system:
            llm_request.append_instructions([call.system])
        for tool in config.tools or ():
            if getattr(tool, "function_declarations", None) and call.tools != tools:
                tool.function_declarations = [one for one in tool.function_declarations if one in (call.tools or ())]
        _asked.set(call)
        return None

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        call = _asked.get()
        if call is None or llm_response.partial:
            return None
        _asked.set(None)
        content = llm_response.content or Content()
        parts, calls = content.parts or [], [part.function_call for part in content.parts or () if part.function_call]
        answer = await call.done(llm_response, text=text_of(content), tool_calls=calls)
        if answer.changed:
            parts = [Part(text=answer.content), *(part for part in parts if not is_text(part))]
        stop = None if calls else await (await self._session(callback_context)).stop(str(answer.content))
        if stop and stop.keep_going:
            again = FunctionCall(name=_NOT_YET, args={"reason": stop.content})
            parts = [*parts, Part(function_call=again, thought_signature=SKIP_THOUGHT_SIGNATURE_VALIDATOR)]
        elif not answer.changed:
            return None
        return llm_response.model_copy(update={"content": ModelContent(parts)})

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        if tool.name == _NOT_YET:  # never a tool that runs
            return {"result": str(tool_args.get("reason", ""))}
        try:
            session, named = await self._session(tool_context), tool_context.function_call_id
            begun = await self.adapter.begin(
                session, tool.name, dict(tool_args), id=named, schema=partial(schema_of, tool)
            )
            if begun.state == "asked":
                said = tool_context.tool_confirmation
                if said is None:  # when the framework has the answer, the call is begun again and comes here
                    tool_context.request_confirmation(hint=str(begun.question), payload={"tool_input": begun.input})
                    tool_context.actions.skip_summarization = True
                    return {"error": f"{tool.name} was not run: it waits for an answer"}
                edited = isinstance(said.payload, dict) and "tool_input" in said.payload
                await self.adapter.answer(begun, said.confirmed and (said.payload if edited else True))
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
