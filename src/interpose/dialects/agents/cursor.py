"""Cursor: answers of its own. One call of a shell fires ``preToolUse`` and ``beforeShellExecution``.

An empty output counts as a failed hook, so that a hook with ``failClosed`` would deny: silence is ``{}``. Output that
is no JSON denies at the events that ask for permission.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...errors import BadEvent
from . import predictions as then
from .base import BaseDialect, Wish
from .exchange import AgentEvent
from .predictions import object_in, text_in
from .tools import mcp_name, tool_table

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["DIALECT"]

_PERMISSION = frozenset({"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"})
_TOOLS = {"beforeShellExecution": "Shell", "afterShellExecution": "Shell", "beforeReadFile": "Read",
          "afterFileEdit": "Write"}  # fmt: skip


class Cursor(BaseDialect):
    """The dialect of Cursor."""

    NAME, TITLE = "cursor", "Cursor"
    EVENTS = {
        "preToolUse": "PreToolUse", "beforeShellExecution": "PreToolUse", "beforeMCPExecution": "PreToolUse",
        "beforeReadFile": "PreToolUse", "postToolUse": "PostToolUse", "postToolUseFailure": "PostToolUseFailure",
        "afterFileEdit": "PostToolUse", "beforeSubmitPrompt": "UserPromptSubmit", "sessionStart": "SessionStart",
        "sessionEnd": "SessionEnd", "preCompact": "PreCompact", "subagentStart": "SubagentStart",
        "subagentStop": "SubagentStop", "stop": "Stop",
    }  # fmt: skip
    TOOLS = tool_table("""
        Shell Bash
        Write Write path=file_path contents=content
        Edit Edit path=file_path
        Read Read path=file_path target_file=file_path
        Delete Write path=file_path
        Grep Grep
        Glob Glob
        WebFetch WebFetch
        WebSearch WebSearch
        Task Task
    """)
    FIELDS = {
        "conversation_id": "session_id", "tool_output": "tool_response", "output": "tool_response",
        "error_message": "error", "text": "last_assistant_message", "subagent_id": "agent_id",
        "subagent_type": "agent_type",
    }  # fmt: skip
    CAN = {
        "preToolUse": "deny input context", "beforeShellExecution": "deny ask grant",
        "beforeMCPExecution": "deny ask grant", "beforeReadFile": "deny", "postToolUse": "context",
        "postToolUseFailure": "context", "beforeSubmitPrompt": "deny context", "sessionStart": "context stop",
        "stop": "keep_going", "subagentStop": "keep_going",
    }  # fmt: skip
    SILENCE = "{}\n"

    def name_of(self, name: str, payload: Mapping[str, Any]) -> str:
        own = super().name_of(name, payload)
        spelled = {mine.lower(): mine for mine in self.EVENTS}  # an imported file of Claude's says PreToolUse
        spelled |= {"userpromptsubmit": "beforeSubmitPrompt"}
        return own if own in self.EVENTS else spelled.get(own.lower(), own)

    def fields_of(self, own: str, row: Any, payload: Mapping[str, Any]) -> dict[str, Any]:
        fields = super().fields_of(own, row, payload)
        if isinstance(payload.get("session_id"), str):
            fields["session_id"] = payload["session_id"]
        roots = payload.get("workspace_roots")
        if "cwd" not in fields and isinstance(roots, list) and roots:
            fields["cwd"] = roots[0]
        if own in _TOOLS:
            keys = ("command", "file_path", "edits", "sandbox")
            fields["tool_name"] = _TOOLS[own]
            fields["tool_input"] = {key: payload[key] for key in keys if payload.get(key) is not None}
        if own == "stop":
            count = payload.get("loop_count")
            fields["stop_hook_active"] = isinstance(count, int) and count > 0
        return fields

    def call_of(self, name: str, given: dict[str, Any], fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        server = fields.get("mcp_server_name", fields.get("server_name"))
        if name.startswith("MCP:") or "url" in fields or ("command" in fields and "tool_input" in fields and server):
            return mcp_name(server or "cursor", name.removeprefix("MCP:").strip()), dict(given)
        if name == "Shell" and not isinstance(given.get("command"), str):
            raise BadEvent("a call of the shell without a command")
        return super().call_of(name, given, fields)

    def input_for(self, event: AgentEvent, new: Mapping[str, Any]) -> dict[str, Any] | None:
        if str(event.fields.get("tool_name")).startswith("mcp__"):
            return dict(new)
        return super().input_for(event, new)

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        body: dict[str, Any] = {"additional_context": wish.context} if wish.context else {}
        if name in _PERMISSION:
            if text := wish.deny or wish.ask:
                word = "deny" if wish.deny else "ask"
                body |= {"permission": word, "user_message": text, "agent_message": text}
            elif wish.granted:
                body["permission"] = "allow"
            if wish.input is not None:
                body["updated_input"] = wish.input
        elif text := wish.deny or wish.stop:
            body |= {"continue": False, "user_message": text}
        elif wish.keep_going:
            body["followup_message"] = wish.keep_going
        return body or None

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        name = self.name_of(name, {})
        if ended.status == 2:
            if name in _PERMISSION:
                return then.stopped_tool("stdout" if ended.stdout.strip() else "stderr")
            return then.refused_prompt() if name == "beforeSubmitPrompt" else then.ordinary()
        if ended.status != 0 or not ended.stdout.strip():
            return then.ordinary()
        said = _last_object(ended.stdout)
        if said is None:
            return then.stopped_tool() if name in _PERMISSION else then.ordinary()
        context = ["context"] if text_in(said, "additional_context") else []
        if name in _PERMISSION:
            if said.get("permission") == "deny":
                return then.stopped_tool("reason")
            if said.get("permission") == "ask" and name != "preToolUse":
                return then.stopped_tool(asks=True)
            return then.rewritten(*context) if isinstance(said.get("updated_input"), dict) else then.ordinary(*context)
        if name in ("beforeSubmitPrompt", "sessionStart") and said.get("continue") is False:
            return then.refused_prompt()
        if name in ("stop", "subagentStop"):
            return then.sent_back("reason") if text_in(said, "followup_message") else then.ordinary()
        return then.ordinary(*context)


def _last_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that an output is or ends with."""
    found = object_in(text.strip())
    start = text.find("{")
    while found is None and start >= 0:
        found = object_in(text[start:].strip())
        start = text.find("{", start + 1)
    return found


DIALECT = Cursor()
