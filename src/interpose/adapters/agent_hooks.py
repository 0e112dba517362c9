"""AGENT-HOOKS 0.1: ``InterceptionEmitter().register(interceptor("hooks.yaml"))``. A session of the host is a session.

The host calls the interceptor at eight points and does what its verdict says.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from agent_hooks import AgentContext, Decision, Transform, Verdict

from interpose import Session

from .base import Adapter, Agents, Ask, HooksOrPath, Refused, text_of_blocks, unanswered

__all__ = ["interceptor"]


def interceptor(hooks: HooksOrPath, *, agents: Agents = (), ask: Ask = "native") -> _Interceptor:
    """Return an interceptor that asks hooks at every point.

    ``agents`` names the tools that run another agent. With ``ask="native"`` a question is a deny that the host's
    approval resolver can lift.
    """
    return _Interceptor(Adapter(hooks, agents=agents, ask=ask, tested=("agent-hooks-sdk", "0.1", "0.2")))


_Begun = dict[str, Any]
"""What has begun in a session and not ended: model calls by the id of the request, tool calls and agents by theirs."""


class _Interceptor:
    def __init__(self, adapter: Adapter) -> None:
        self.adapter, self.sessions = adapter, adapter.sessions
        self._begun: WeakKeyDictionary[Session, _Begun] = WeakKeyDictionary()

    async def intercept(self, context: AgentContext) -> Verdict:
        """Return what hooks decide about a context. What cannot be judged is denied."""
        try:
            judge = getattr(self, f"at_{context['interception_point']}", None)
            if judge is None:
                return _deny(f"the point {context['interception_point']!r} is not known")
            agent, name = context["agent"]["id"], context["session"]["id"]
            session = await self.sessions.get(name, agent_id=agent)
            if session.agent_id != agent:
                return _deny(f"session {name!r} is of agent {session.agent_id!r}: give {agent!r} a session of its own")
            verdict: Verdict = await judge(session, self._begun.setdefault(session, {}), context)
            return verdict
        except Refused as refused:
            return _deny(str(refused))
        except Exception as error:
            return _deny(f"this cannot be judged: {type(error).__name__}: {error}")

    async def at_agent_startup(self, session: Session, begun: _Begun, context: AgentContext) -> Verdict:
        return Verdict.allow()  # the session has begun

    async def at_agent_shutdown(self, session: Session, begun: _Begun, context: AgentContext) -> Verdict:
        await self.sessions.end(session.session_id, str(context["summary"].get("reason") or "other"))
        return Verdict.allow()

    async def at_input(self, session: Session, begun: _Begun, context: AgentContext) -> Verdict:
        answer = await session.prompt(text_of_blocks(context["input"]["content"]))
        return Verdict.allow() if answer.ok else _deny(str(answer.content))

    async def at_output(self, session: Session, begun: _Begun, context: AgentContext) -> Verdict:
        stop = await session.stop(text_of_blocks(context["output"]["content"]))
        return _deny(str(stop.content)) if stop.keep_going else Verdict.allow()

    async def at_pre_model_call(self, session: Session, begun: _Begun, context: AgentContext) -> Verdict:
        messages, tools = context["messages"], context.get("tools")
        begin = unanswered(messages, lambda one: one.get("role") == "assistant")
        news = [at for at, one in enumerate(messages) if at >= begin and one.get("role") == "user"]
        prompt = "\n".join(text_of_blocks(messages[at].get("content")) for at in news)
        shown = self.adapter.messages(messages)
        call = await session.begin_message(prompt, model=context["model"]["id"], messages=shown, tools=tools)
        if call.state != "run":
            return _deny(call.reason)
        if tools is not None and call.tools != tools:
            raise Refused("a hook hides tools, and a host of this standard cannot be told so")
        begun[_request(context)] = call
        if call.prompt == prompt and not call.system:
            return Verdict.allow()
        changed = [dict(one) for one in messages]
        if call.prompt != prompt:
            for at in news:
                changed[at]["content"] = call.prompt if at == news[0] else ""
        if call.system:
            changed.insert(0, {"role": "system", "content": call.system})
        return _transform("$target", changed)

    async def at_post_model_call(self, session: Session, begun: _Begun, context: AgentContext) -> Verdict:
        response, call = context["response"], begun.pop(_request(context), None)
        if call is None:
            raise Refused("the host has shown no pre_model_call before this post_model_call")
        text = text_of_blocks(response["content"])
        answer = await call.done(response, text=text, tool_calls=response["tool_calls"], usage=context.get("usage"))
        return _transform("$target.content", answer.content) if answer.changed else Verdict.allow()

    async def at_pre_tool_call(self, session: Session, begun: _Begun, context: AgentContext) -> Verdict:
        call = context["tool_call"]
        made = await self.adapter.begin(session, call["name"], call["args"], id=call["id"])
        if made.state == "asked" and made.input != call["args"]:
            made.close()  # a verdict is either a question or a change
            raise Refused(f"{made.name} was not run: {made.reason}; and a hook changes what would be asked about")
        if made.name in self.adapter.agents and made.state == "run":
            agent = await session.begin_agent(self.adapter.agents[made.name], config={"prompt": str(made.input)})
            if agent.state != "run":
                made.close()
                raise Refused(agent.reason)
            begun[f"agent {made.id}"] = agent
        begun[f"tool {made.id}"] = made
        if made.state == "asked":
            return Verdict.escalate(reason=_reason(made.reason), message=str(made.question))
        return _transform("$target", made.input) if made.input != call["args"] else Verdict.allow()

    async def at_post_tool_call(self, session: Session, begun: _Begun, context: AgentContext) -> Verdict:
        shown, result = context["tool_call"], context["tool_result"]
        given, value, failed = shown["args"], result["value"], result["is_error"]
        call, agent = begun.pop(f"tool {shown['id']}", None), begun.pop(f"agent {shown['id']}", None)
        if call is None:
            raise Refused("the host has shown no pre_tool_call before this post_tool_call")
        if call.state == "asked":  # the host's resolver has lifted the deny
            await self.adapter.answer(call, True if given == call.input else {"tool_input": given})
        if agent is not None:
            await (agent.failed(text_of_blocks(value)) if failed else agent.done(value, may_continue=False))
        answer = await (call.failed(text_of_blocks(value), result=value) if failed else call.done(value))
        return _transform("$target", answer.content) if answer.changed else Verdict.allow()


def _request(context: AgentContext) -> str:
    return f"request {context.get('request_id', '')}"


def _reason(text: str) -> str:
    return f"interpose: {text}"


def _deny(text: str) -> Verdict:
    return Verdict.deny(reason=_reason(text), message=text)


def _transform(path: str, value: Any) -> Verdict:
    return Verdict(Decision.TRANSFORM, transform=Transform(path, value))
