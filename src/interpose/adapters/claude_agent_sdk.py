"""Claude Agent SDK: ``query(prompt=..., options=options("hooks.yaml", ClaudeAgentOptions(...)))``, or a client.

A session of Claude Code is a session of the hooks. Claude Code runs the tools and the subagents, and asks the hooks
before and after each.
"""

from __future__ import annotations

from asyncio import CancelledError
from dataclasses import replace
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, PermissionResultDeny

from interpose import Session, deny

from .base import Adapter, Agents, Ask, HooksOrPath, Refused
from .claude_agent_sdk_calls import SdkCalls

__all__ = ["options"]

_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SubagentStart",
           "SubagentStop", "PermissionRequest", "PreCompact", "PostCompact", "Notification")  # fmt: skip
_COMMON = {"hook_event_name", "session_id", "cwd", "transcript_path", "permission_mode", "agent_id", "agent_type"}


def options(
    hooks: HooksOrPath, base: ClaudeAgentOptions | None = None, *, agents: Agents = (), ask: Ask = "native"
) -> ClaudeAgentOptions:
    """Return options with hooks, for ``query`` and ``ClaudeSDKClient``. Hooks that ``base`` has are kept.

    With ``ask="native"`` a question goes to ``can_use_tool`` of ``base``; without that function it is denied.
    ``agents`` names your own tools that run an agent; subagents of Claude Code are known.
    """
    base = base or ClaudeAgentOptions()
    person = None if ask == "native" and base.can_use_tool is None else ask
    adapter = Adapter(hooks, agents=agents, ask=person, tested=("claude-agent-sdk", "0.2.182", "0.3"))
    governor = _Governor(adapter, base)
    seconds = 86400.0 if callable(person) else (adapter.hooks.settings.total_timeout or 120) + 10
    matcher = HookMatcher(hooks=[governor.fire], timeout=seconds, on_failure="block")
    table: dict[Any, list[HookMatcher]] = {event: [matcher] for event in _EVENTS}
    for event, matchers in (base.hooks or {}).items():
        table[event] = [*table.get(event, ()), *matchers]
    asks = governor.can_use_tool if base.can_use_tool is not None else None
    return replace(base, hooks=table, can_use_tool=asks)


class _Governor:
    """Answers the events of Claude Code in the sessions that have these options."""

    def __init__(self, adapter: Adapter, base: ClaudeAgentOptions) -> None:
        self.adapter, self.person = adapter, base.can_use_tool
        self.calls = SdkCalls(adapter, base.mcp_servers)

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
        child = self.calls.subagent(given.get("agent_id"))
        if child is not None and child.session is not None and child.state == "run":
            return child.session
        known = {name: given[name] for name in ("cwd", "transcript_path")}
        return await self.adapter.session(given["session_id"], **known)

    async def _on_PreToolUse(self, session: Session, given: Any, said: Any) -> dict[str, Any]:  # noqa: N802
        try:
            call = await self.calls.begin(session, given)
        except Refused as refused:
            return _denied(str(refused))
        own: dict[str, Any] = {} if call.input == given["tool_input"] else {"updatedInput": call.input}
        if call.state == "asked":
            return {**own, "permissionDecision": "ask", "permissionDecisionReason": call.reason}
        return own if call.permission is None else {**own, "permissionDecision": "allow"}

    async def can_use_tool(self, name: str, given: dict[str, Any], context: Any) -> Any:
        """Ask the person, about a question of the hooks or of Claude Code; what was edited is judged again."""
        said = await self.person(name, given, context) if self.person else PermissionResultDeny()
        call = self.calls.find(context.tool_use_id)
        if call is None or call.begun.state != "asked":
            return said
        if isinstance(said, PermissionResultDeny):
            await call.begun.said(deny(said.message))
            return said
        changed = said.updated_input
        try:
            await self.adapter.answer(call.begun, True if changed in (None, given) else {"tool_input": changed})
            await self.calls.begin_agent(call)
        except Refused as refused:
            return PermissionResultDeny(message=str(refused))
        return replace(said, updated_input=call.begun.input)

    async def _on_PostToolUse(self, session: Session, given: Any, said: Any) -> dict[str, Any]:  # noqa: N802
        answer = await self.calls.take(given["tool_use_id"]).done(given["tool_response"])
        return {"updatedToolOutput": answer.content} if answer.changed else {}

    async def _on_PostToolUseFailure(self, session: Session, given: Any, said: Any) -> None:  # noqa: N802
        if call := self.calls.pop(given["tool_use_id"]):
            await call.failed(CancelledError(given["error"]) if given.get("is_interrupt") else given["error"])

    async def _on_UserPromptSubmit(self, session: Session, given: Any, said: Any) -> None:  # noqa: N802
        for call in self.calls:
            if call.is_of_main_agent and call.session is session:  # it was cut off: Claude Code has not told it
                self.calls.pop(call.begun.id)
                await call.failed(CancelledError(""))
        answer = await session.prompt(given["prompt"])
        if not answer.ok:
            said |= {"decision": "block", "reason": str(answer.content)}

    async def _on_Stop(self, session: Session, given: Any, said: Any) -> None:  # noqa: N802
        stop = await session.stop(given.get("last_assistant_message") or "")
        if stop.keep_going:
            said |= {"decision": "block", "reason": stop.content}

    async def _on_SubagentStart(self, session: Session, given: Any, said: Any) -> None:  # noqa: N802
        self.calls.name_agent(given["agent_type"], given["agent_id"])

    async def _on_SubagentStop(self, session: Session, given: Any, said: Any) -> None:  # noqa: N802
        if self.calls.subagent(given["agent_id"]) is not None:
            await self._on_Stop(session, given, said)

    async def _on_PermissionRequest(self, session: Session, given: Any, said: Any) -> dict[str, Any]:  # noqa: N802
        asked = (call.begun.input for call in self.calls if call.begun.state == "asked")
        return {} if given["tool_input"] in asked else await self._fire(session, given, said)  # else it was fired

    async def _fire(self, session: Session, given: Any, said: Any) -> dict[str, Any]:
        fields = {name: value for name, value in given.items() if name not in _COMMON}
        reply = (await session.fire(given["hook_event_name"], **fields)).reply("claude")
        own: dict[str, Any] = reply.pop("hookSpecificOutput", {})
        said |= {"continue_" if name == "continue" else name: value for name, value in reply.items()}
        return {name: value for name, value in own.items() if name not in ("hookEventName", "additionalContext")}


def _denied(reason: str) -> dict[str, Any]:
    return {"permissionDecision": "deny", "permissionDecisionReason": reason}
