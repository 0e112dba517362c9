"""Copilot CLI: flat answers, read with exit status 0 alone. A hook that fails before a tool denies, a late one not.

Its events have two spellings: ``PreToolUse`` gives fields in snake case and Claude's tool names, ``preToolUse`` gives
camel case and no event name in the payload.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import predictions as then
from .base import BaseDialect, Wish, text_of
from .predictions import object_in, specific, text_in
from .tools import ToolMapping, to_ours, tool_table

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["DIALECT"]

_CAMEL = {
    "preToolUse": "PreToolUse", "postToolUse": "PostToolUse", "postToolUseFailure": "PostToolUseFailure",
    "permissionRequest": "PermissionRequest", "userPromptSubmitted": "UserPromptSubmit",
    "sessionStart": "SessionStart", "sessionEnd": "SessionEnd", "agentStop": "Stop", "subagentStop": "SubagentStop",
    "subagentStart": "SubagentStart", "preCompact": "PreCompact", "notification": "Notification",
}  # fmt: skip
_FILE = "path=file_path file_text=content old_str=old_string new_str=new_string"


class Copilot(BaseDialect):
    """The dialect of Copilot CLI."""

    NAME, TITLE = "copilot", "Copilot CLI"
    EVENTS = {name: name for name in _CAMEL.values()}
    TOOLS = tool_table(f"""
        bash Bash
        powershell Bash
        view Read {_FILE}
        read Read {_FILE}
        create Write {_FILE}
        write Write {_FILE}
        edit Edit {_FILE}
        str_replace_editor Edit {_FILE}
        apply_patch apply_patch
        rg Grep
        grep Grep
        glob Glob
        web_fetch WebFetch
        web_search WebSearch
        task Task
        agent Task
    """)
    FIELDS = {
        "sessionId": "session_id", "transcriptPath": "transcript_path", "toolName": "tool_name",
        "toolArgs": "tool_input", "toolInput": "tool_input", "agentId": "agent_id", "agentType": "agent_type",
        "response": "last_assistant_message", "customInstructions": "custom_instructions",
    }  # fmt: skip
    MCP_SEPARATOR = "-"
    CAN = {
        "PreToolUse": "deny ask grant input context", "PostToolUse": "result context",
        "PostToolUseFailure": "context", "PermissionRequest": "deny grant interrupt",
        "UserPromptSubmit": "deny context", "SessionStart": "context", "SubagentStart": "context",
        "Stop": "keep_going", "SubagentStop": "keep_going", "Notification": "context",
    }  # fmt: skip

    def name_of(self, name: str, payload: Mapping[str, Any]) -> str:
        said = payload.get("hook_event_name", payload.get("hookName"))
        if isinstance(said, str) and _CAMEL.get(said, said) in self.EVENTS:
            name = said
        return _CAMEL.get(name, name)

    def fields_of(self, own: str, row: Any, payload: Mapping[str, Any]) -> dict[str, Any]:
        fields = super().fields_of(own, row, payload)
        result = fields.pop("tool_result", fields.pop("toolResult", None))
        if isinstance(result, dict):
            text = result.get("text_result_for_llm", result.get("textResultForLlm"))
            fields.setdefault("tool_response", text if text is not None else result)
        if isinstance(error := fields.get("error"), dict):
            fields["error"] = str(error.get("message", ""))
        return fields

    def tool(self, name: str) -> ToolMapping:
        known = self.TOOLS.get(name.lower())
        return known if known is not None else ToolMapping(name)

    def call_of(self, name: str, given: dict[str, Any], fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        tool = self.tool(name)
        return tool.name, to_ours(tool, given)

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        body: dict[str, Any] = {"additionalContext": wish.context} if wish.context else {}
        if name == "PreToolUse":
            if text := wish.deny or wish.ask:
                body |= {"permissionDecision": "deny" if wish.deny else "ask", "permissionDecisionReason": text}
            elif wish.granted:
                body["permissionDecision"] = "allow"
            if wish.input is not None:
                body["modifiedArgs"] = wish.input
        elif name == "PermissionRequest":
            if wish.deny:
                body |= {"behavior": "deny", "message": wish.deny, **({"interrupt": True} if wish.interrupt else {})}
            elif wish.granted:
                body["behavior"] = "allow"
        elif text := wish.deny or wish.keep_going:
            body |= {"decision": "block", "reason": text}
        elif wish.result is not None:
            body["modifiedResult"] = {"resultType": "success", "textResultForLlm": text_of(wish.result)}
        return body or None

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        name = _CAMEL.get(name, name)
        if name == "PreToolUse" and ended.status is not None and ended.status != 0:
            return then.stopped_tool()
        if name == "PermissionRequest" and ended.status == 2:
            return then.stopped_tool()
        if ended.status != 0:
            return then.ordinary()
        said = object_in(_without_progress(ended.stdout)) or {}
        context = ["context"] if text_in(said, "additionalContext") else []
        if name == "PreToolUse":
            return _before_tool({**said, **specific(said)})
        if name == "PostToolUse":
            if isinstance(result := said.get("modifiedResult"), dict) and "textResultForLlm" in result:
                return then.replaced_result("result", *context)
            if said.get("decision") == "block":
                return then.replaced_result("reason", *context)
            return then.ordinary(*context)
        if name == "PermissionRequest":
            return then.stopped_tool("reason") if said.get("behavior") == "deny" else then.ordinary()
        if name == "UserPromptSubmit" and said.get("decision") == "block":
            return then.refused_prompt()
        if name in ("Stop", "SubagentStop"):
            return (
                then.sent_back("reason")
                if said.get("decision") == "block" and text_in(said, "reason")
                else then.ordinary()
            )
        return (
            then.ordinary(*context)
            if name in ("UserPromptSubmit", "SessionStart", "SubagentStart")
            else then.ordinary()
        )


def _before_tool(said: dict[str, Any]) -> Prediction:
    decision = said.get("permissionDecision")
    context = ["context"] if text_in(said, "additionalContext") else []
    if decision in ("deny", "ask"):
        return then.stopped_tool("reason", asks=decision == "ask")
    new = said.get("modifiedArgs", said.get("updatedInput"))
    return then.rewritten(*context) if isinstance(new, dict) else then.ordinary(*context)


def _without_progress(text: str) -> str:
    """Return what is left of an output without the lines that only say how far the hook is."""
    lines = (line for line in text.splitlines() if (object_in(line.strip()) or {}).get("type") != "progress")
    return "\n".join(lines).strip()


DIALECT = Copilot()
