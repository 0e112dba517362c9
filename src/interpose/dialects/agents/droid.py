"""Factory Droid: Claude's shape. JSON counts with every exit status, and exit status 3 ends the run.

An ask has no effect there. ``droid exec`` does not fire UserPromptSubmit; the app refuses a prompt on exit status 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import predictions as then
from .base import BaseDialect, Wish, hook_specific
from .predictions import object_in, specific, text_in
from .tools import tool_table

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["DIALECT"]

_KEYS = frozenset({"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason",
                   "hookSpecificOutput"})  # fmt: skip
"""An object without any of these is plain text to it."""


class Droid(BaseDialect):
    """The dialect of Factory Droid."""

    NAME, TITLE = "droid", "Droid"
    EVENTS = {name: name for name in (
        "PreToolUse", "PostToolUse", "UserPromptSubmit", "Notification", "Stop", "SubagentStop", "PreCompact",
        "SessionStart", "SessionEnd",
    )}  # fmt: skip
    TOOLS = tool_table("""
        Execute Bash
        Create Write
        Edit Edit old_str=old_string new_str=new_string
        MultiEdit MultiEdit
        ApplyPatch apply_patch
        Read Read
        LS LS directory_path=path
        Glob Glob folder=path
        Grep Grep
        FetchUrl WebFetch
        WebSearch WebSearch
        Task Task
    """)
    FIELDS = {"sessionId": "session_id", "transcriptPath": "transcript_path", "permissionMode": "permission_mode",
              "toolName": "tool_name", "toolInput": "tool_input", "toolResponse": "tool_response"}  # fmt: skip
    MCP_SEPARATOR = "___"
    CAN = {
        "PreToolUse": "deny grant input stop message", "PostToolUse": "context stop message",
        "UserPromptSubmit": "deny context message", "Stop": "keep_going stop message", "SessionStart": "context",
    }  # fmt: skip
    DENY_STATUS = 2

    def name_of(self, name: str, payload: Any) -> str:
        return super().name_of(name, {"hook_event_name": payload.get("hook_event_name", payload.get("hookEventName"))})

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        body: dict[str, Any] = {"systemMessage": wish.message} if wish.message else {}
        own: dict[str, Any] = {"additionalContext": wish.context} if wish.context else {}
        if wish.stop:
            body |= {"continue": False, "stopReason": wish.stop}
        if name == "PreToolUse":
            if wish.deny:
                own |= {"permissionDecision": "deny", "permissionDecisionReason": wish.deny}
            elif wish.granted:
                own |= {"permissionDecision": "allow"}
            if wish.input is not None:
                own["updatedInput"] = wish.input
        elif wish.keep_going:
            body |= {"decision": "block", "reason": wish.keep_going}
        body |= hook_specific(name, **own) if own else {}
        return body or None

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        status = 1 if ended.status is None or ended.status < 0 else ended.status
        said = object_in(ended.stdout) or {} if ended.stdout.strip().startswith("{") else {}
        own, warned = specific(said), ["stderr"] if status == 1 and ended.stderr.strip() else []
        if name == "PreToolUse":
            if said.get("continue") is False or status == 3:
                return then.ended_run(tool_ran=False)
            if own.get("permissionDecision") == "deny":
                return then.stopped_tool("reason")
            if status == 2:
                return then.stopped_tool("stderr")
            has_input = own.get("updatedInput") and own.get("permissionDecision") in (None, "allow")
            return then.rewritten(*warned) if has_input else then.ordinary(*warned)
        if name == "PostToolUse":
            if said.get("continue") is False or status == 3:
                return then.ended_run(tool_ran=True)
            context = ["context"] if own.get("additionalContext") else []
            return then.ordinary(*context, *(["stderr"] if status == 2 else []))
        if name == "Stop":
            if said.get("decision") == "block":
                return then.sent_back("reason") if text_in(said, "reason") else then.ordinary()
            return then.sent_back("stderr") if status == 2 else then.ordinary()
        if name == "SessionStart" and status == 0:
            if own.get("additionalContext"):
                return then.ordinary("context")
            return then.ordinary("stdout") if ended.stdout.strip() and not _KEYS & said.keys() else then.ordinary()
        return then.ordinary()


DIALECT = Droid()
