"""Claude Agent SDK: ``query(prompt=..., options=options("hooks.yaml", ClaudeAgentOptions(...)))``, or a client.

A session of Claude Code is a session of the hooks. Claude Code runs the tools and the subagents, and asks the hooks
before and after each.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, PermissionResultDeny

from interpose import BegunAgent, BegunTool, Hooks, Session, allow, deny, modify

from .base import Adapter, Ask, Refused, check_version

__all__ = ["options"]

_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SubagentStart",
           "SubagentStop", "PermissionRequest", "PreCompact", "PostCompact", "Notification")  # fmt: skip
_COMMON = {"hook_event_name", "session_id", "cwd", "transcript_path", "permission_mode", "agent_id", "agent_type"}


def options(
    hooks: Hooks | str | PathLike[str], base: ClaudeAgentOptions | None = None, *,
    agents: Iterable[str] | Mapping[str, str] = (), ask: Ask = "native",
) -> ClaudeAgentOptions:  # fmt: skip
    """Return options with hooks, for ``query`` and ``ClaudeSDKClient``. Hooks that ``base`` has are kept.

    With ``ask="native"`` a question goes to ``can_use_tool`` of ``base``; without that function it is denied.
    ``agents`` names your own tools that run an agent; subagents of Claude Code are known.
    """
    check_version("claude-agent-sdk", "0.2.182", "0.3")
    base = base or ClaudeAgentOptions()
    person = None if ask == "native" and base.can_use_tool is None else ask
    governor = _Governor(Adapter(hooks, agents=agents, ask=person), base)
    seconds = 86400.0 if callable(person) else (governor.adapter.hooks.settings.total_timeout or 120) + 10
    matcher = HookMatcher(hooks=[governor.fire], timeout=seconds, on_failure="block")
    table: dict[Any, list[HookMatcher]] = {event: [matcher] for event in _EVENTS}
    for event, matchers in (base.hooks or {}).items():
        table[event] = [*table.get(event, ()), *matchers]
    asks = governor.can_use_tool if base.can_use_tool is not None else None
    return replace(base, hooks=table, can_use_tool=asks)


class _Governor:
    """The calls and the subagents of the sessions that have these options."""

    def __init__(self, adapter: Adapter, base: ClaudeAgentOptions) -> None:
        self.adapter, self.person = adapter, base.can_use_tool
        servers = base.mcp_servers if isinstance(base.mcp_servers, Mapping) else {}
        self.own = [f"mcp__{name}__" for name, one in servers.items() if one.get("type") == "sdk"]
        self.calls: dict[str, tuple[BegunTool, Session, bool]] = {}
        """The calls that have begun, their sessions, and whether a main agent makes them."""
        self.begun: dict[str, BegunAgent] = {}
        """The subagents that were begun, by the call that runs them."""
        self.children: dict[str, BegunAgent] = {}
        """The same, by the id that Claude Code gives them."""

    async def fire(self, given: Any, tool_use_id: str | None, context: Any) -> Any:
        """Answer one event of Claude Code; an error of this adapter denies, or ends the turn."""
        event: str = given["hook_event_name"]
        said: dict[str, Any] = {}
        try:
            session = await self.session(given)
            own: dict[str, Any] = await getattr(self, f"_on_{event}", self._fire)(session, given, said) or {}
            if event not in ("Stop", "SubagentStop") and (added := session.take_context()):
                own["additionalContext"] = "\n".join(added)
            if session.halted:
                said |= {"continue_": False, "stopReason": session.halted}
        except Exception as error:
            reason = f"it cannot be judged: {type(error).__name__}: {error}"
            own = _denied(reason) if event == "PreToolUse" else {}
            said = {} if own else {"decision": "block", "reason": reason, "continue_": False, "stopReason": reason}
        return {**said, "hookSpecificOutput": {"hookEventName": event, **own}} if own else said

    async def session(self, given: Any) -> Session:
        child = self.children.get(given.get("agent_id") or "")
        if child is not None and child.session is not None and child.state == "run":
            return child.session
        known = {"cwd": given["cwd"], "transcript_path": given["transcript_path"]}
        return await self.adapter.session(given["session_id"], **known)

    def declare(self, tool: str) -> None:
        """Declare a tool of a server in this process as it is declared under its own name."""
        declared, bare = self.adapter.hooks.engine.tools, self.bare(tool)
        if declared is not None and declared.find(tool) is None and (found := declared.find(bare)) is not None:
            kind = {"kind": found.kind} if found.kind else {}
            self.adapter.hooks.declare_tools({tool: {"as": found.name, "fields": dict(found.fields), **kind}})

    def bare(self, tool: str) -> str:
        return next((tool.removeprefix(one) for one in self.own if tool.startswith(one)), tool)

    async def _on_PreToolUse(self, session: Session, given: Any, said: Any) -> dict[str, Any]:  # noqa: N802
        name, key, shown = given["tool_name"], given["tool_use_id"], given["tool_input"]
        self.declare(name)
        try:
            call = await self.adapter.begin(session, name, shown, id=key)
            self.calls[key] = call, session, "agent_id" not in given
            if call.state == "run":
                await self._begin_agent(call, session)
        except Refused as refused:
            return _denied(str(refused))
        own: dict[str, Any] = {} if call.input == shown else {"updatedInput": call.input}
        if call.state == "asked":
            return {**own, "permissionDecision": "ask", "permissionDecisionReason": call.reason}
        return own if call.permission is None else {**own, "permissionDecision": "allow"}

    async def _begin_agent(self, call: BegunTool, session: Session) -> None:
        """Begin the subagent of a call that may run, if it runs one; raise Refused if that is denied."""
        known = self.adapter.agents
        agent = known.get(call.name) or known.get(self.bare(call.name))
        if call.name in ("Agent", "Task"):
            agent = str(call.input.get("subagent_type") or "general-purpose")
        if agent is None:
            return
        begun = await session.begin_agent(agent, config=dict(call.input))
        if begun.state != "run":
            self.calls.pop(call.id)[0].close()
            raise Refused(f"{call.name} was not run: {begun.reason}")
        self.begun[call.id] = begun

    async def can_use_tool(self, name: str, given: dict[str, Any], context: Any) -> Any:
        """Ask the person, about a question of the hooks or of Claude Code; what was edited is judged again."""
        said = await self.person(name, given, context) if self.person else PermissionResultDeny()
        call, session, _ = self.calls.get(context.tool_use_id, (None, None, None))
        if call is None or session is None or call.state != "asked":
            return said
        if isinstance(said, PermissionResultDeny):
            await call.said(deny(said.message))
            return said
        changed = said.updated_input
        try:
            await self.adapter.answer(call, True if changed in (None, given) else allow() + modify(tool_input=changed))
            await self._begin_agent(call, session)
        except Refused as refused:
            return PermissionResultDeny(message=str(refused))
        return replace(said, updated_input=call.input)

    async def _on_PostToolUse(self, session: Session, given: Any, said: Any) -> dict[str, Any]:  # noqa: N802
        call, *_ = self.calls.pop(given["tool_use_id"])
        if (agent := self.begun.pop(call.id, None)) is not None:
            await agent.done(given["tool_response"])
        answer = await call.done(given["tool_response"])
        return {"updatedToolOutput": answer.content} if answer.changed else {}

    async def _on_PostToolUseFailure(self, session: Session, given: Any, said: Any) -> None:  # noqa: N802
        error: Any = CancelledError(given["error"]) if given.get("is_interrupt") else given["error"]
        call, *_ = self.calls.pop(given["tool_use_id"], (None,))
        if (agent := self.begun.pop(given["tool_use_id"], None)) is not None:
            await agent.failed(error)
        if call is not None and call.state == "run":
            await call.failed(error)

    async def _on_UserPromptSubmit(self, session: Session, given: Any, said: Any) -> None:  # noqa: N802
        for key in [key for key, (_, whose, is_main) in self.calls.items() if is_main and whose is session]:
            cut = {"tool_use_id": key, "error": "", "is_interrupt": True}  # Claude Code has not told it
            await self._on_PostToolUseFailure(session, cut, said)
        answer = await session.prompt(given["prompt"])
        if not answer.ok:
            said |= {"decision": "block", "reason": str(answer.content)}

    async def _on_Stop(self, session: Session, given: Any, said: Any) -> None:  # noqa: N802
        stop = await session.stop(given.get("last_assistant_message") or "")
        if stop.keep_going:
            said |= {"decision": "block", "reason": stop.content}

    async def _on_SubagentStart(self, session: Session, given: Any, said: Any) -> None:  # noqa: N802
        self.children = {key: one for key, one in self.children.items() if one.state == "run"}
        waiting = (one for one in self.begun.values() if one not in self.children.values())
        child = next((one for one in waiting if one.agent == given["agent_type"]), None)
        if child is not None:
            self.children[given["agent_id"]] = child

    async def _on_SubagentStop(self, session: Session, given: Any, said: Any) -> None:  # noqa: N802
        if given["agent_id"] in self.children:
            await self._on_Stop(session, given, said)

    async def _on_PermissionRequest(self, session: Session, given: Any, said: Any) -> dict[str, Any]:  # noqa: N802
        asked = (call.input for call, *_ in self.calls.values() if call.state == "asked")
        return {} if given["tool_input"] in asked else await self._fire(session, given, said)  # else it was fired

    async def _fire(self, session: Session, given: Any, said: Any) -> dict[str, Any]:
        fields = {name: value for name, value in given.items() if name not in _COMMON}
        reply = (await session.fire(given["hook_event_name"], **fields)).reply("claude")
        own: dict[str, Any] = reply.pop("hookSpecificOutput", {})
        said |= {"continue_" if name == "continue" else name: value for name, value in reply.items()}
        return {name: value for name, value in own.items() if name not in ("hookEventName", "additionalContext")}


def _denied(reason: str) -> dict[str, Any]:
    return {"permissionDecision": "deny", "permissionDecisionReason": reason}
