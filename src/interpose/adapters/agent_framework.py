"""Microsoft Agent Framework: ``Agent(..., middleware=[middleware("hooks.yaml")])``. An AgentSession is a session."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Iterable, Mapping
from os import PathLike
from typing import Any

import agent_framework as af

from interpose import Hooks, Session, UsageError

from .agent_framework_model import ModelCalls, SessionMiddleware, changed, said, shown
from .base import Adapter, Ask, Refused, Unfinished, check_version, current_session, merge_input

__all__ = ["middleware"]

_ASKED = "interpose_asked"


def middleware(
    hooks: Hooks | str | PathLike[str], *, agents: Iterable[str] | Mapping[str, str] = (), ask: Ask = "native"
) -> af.MiddlewareBundle:
    """Return a middleware that puts hooks around an agent. ``agents`` names the tools that run another agent.

    With ``ask="native"`` a question ends the run with a function approval request, which is answered by a run with the
    same ``AgentSession``.
    """
    check_version("agent-framework-core", "1.23", "2")
    adapter = Adapter(hooks, agents=agents, ask=ask)
    with warnings.catch_warnings():  # it warns that bundles are new; without one, a part could be left out
        warnings.simplefilter("ignore", FutureWarning)
        return af.MiddlewareBundle([_Runs(adapter), ModelCalls(adapter), _Tools(adapter)])


class _Runs(SessionMiddleware, af.AgentMiddleware):
    async def process(self, context: Any, call_next: Any) -> None:
        client = getattr(context.agent, "client", None)
        if not (isinstance(client, af.ChatMiddlewareLayer) and isinstance(client, af.FunctionInvocationLayer)):
            hint = "give the agent a chat client with ChatMiddlewareLayer and FunctionInvocationLayer"
            raise UsageError(f"no hook can see what {type(client).__name__} does", hint=hint)
        if context.session is None:
            context.session = context.agent.create_session()
        session = await self.session(context)
        text = context.messages[-1].text if context.messages else ""
        if text and current_session() is None:  # neither an answer to a question nor what a subagent is told
            answer = await session.prompt(text)
            if not answer.ok:
                context.result = said(answer.content, af.AgentResponse, af.AgentResponseUpdate, context.stream)
                return
        await call_next()
        if context.stream:
            final: list[Any] = []
            stream = self._streamed(session, context, call_next, context.result, final)
            context.result = af.ResponseStream(stream, finalizer=lambda _: final[-1])
            return
        while await self._sent_back(session, context, context.result):
            await call_next()

    async def _streamed(
        self, session: Session, context: Any, call_next: Any, stream: Any, final: list[Any]
    ) -> AsyncIterator[Any]:
        while True:
            async for update in stream:
                yield update
            final.append(await stream.get_final_response())
            if not await self._sent_back(session, context, final[-1]):
                return
            await call_next()
            stream = context.result

    async def _sent_back(self, session: Session, context: Any, response: Any) -> bool:
        """Return whether a hook refuses the end of a run; the next message says why, and the session has the others."""
        if response is None or response.user_input_requests:
            return False
        stop = await session.stop(response.text)
        if stop.keep_going:
            context.messages = [af.Message("user", [stop.content])]
        return stop.keep_going


class _Tools(SessionMiddleware, af.FunctionMiddleware):
    async def process(self, context: Any, call_next: Any) -> None:
        function, call_id = context.function, context.metadata.get("call_id")
        try:
            session, given = await self.session(context), dict(context.arguments)
            begun = await self.adapter.begin(session, function.name, given, id=call_id, schema=function.parameters())
            if begun.state == "asked" and not _approved(context):
                context.result = _request(context, begun)
            else:
                if begun.state == "asked":
                    await self.adapter.answer(begun, True)
                context.arguments = merge_input(given, begun.input)
        except Exception as error:  # it is refused, or the adapter is wrong: the tool does not run
            context.result = str(error) or type(error).__name__
            return
        if begun.state == "asked":
            raise af.MiddlewareTermination("a hook asks")
        ended: list[Exception] = []

        async def tool() -> Any:
            try:
                await call_next()
            except af.UserInputRequiredException as error:
                raise Unfinished(error) from None
            except af.MiddlewareTermination as error:  # a middleware inside of this one ends the run with its result
                ended.append(error)
            return context.result

        try:
            result, answer = await self.adapter.run(begun, session, tool, show=shown)
        except Refused as refused:
            context.result = str(refused)
        except Unfinished as unfinished:
            raise unfinished.result from None
        else:
            if answer.changed:
                context.result = changed(result, answer.content)
            if ended:
                raise ended[0]


def _approved(context: Any) -> bool:
    """Return whether a person has answered yes to the question about this call; the session knows what was asked.

    The framework calls what it held back beside another question approved as well.
    """
    asked: list[str] = context.session.state.get(_ASKED, [])
    if "approval_response" not in context.metadata or _occurrence(context) not in asked:
        return False
    asked.remove(_occurrence(context))
    return True


def _request(context: Any, begun: Any) -> Any:
    own = _occurrence(context)
    context.session.state.setdefault(_ASKED, []).append(own)
    call = af.Content.from_function_call(context.metadata["call_id"], begun.name, arguments=begun.input, id=own)
    reason = {"reason": begun.reason, "question": str(begun.question)}
    return af.Content.from_function_approval_request(own, call, additional_properties=reason)


def _occurrence(context: Any) -> str:
    return str(context.metadata.get("function_call_occurrence_id") or context.metadata["call_id"])
