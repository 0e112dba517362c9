"""Grok Build: camel case in the payload, the event's name in a variable. It loads Claude's hooks too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .shaped import ShapedDialect
from .tools import tool_table

__all__ = ["DIALECT"]


class Grok(ShapedDialect):
    """The dialect of Grok Build."""

    NAME, TITLE = "grok", "Grok Build"
    EVENTS = {
        "PreToolUse": "PreToolUse", "PostToolUse": "PostToolUse", "PostToolUseFailure": "PostToolUseFailure",
        "UserPromptSubmit": "UserPromptSubmit", "SessionStart": "SessionStart", "SessionEnd": "SessionEnd",
        "SubagentStart": "SubagentStart", "SubagentStop": "SubagentStop", "PreCompact": "PreCompact",
        "PostCompact": "PostCompact", "Notification": "Notification", "Stop": "Stop", "StopFailure": "StopFailure",
        "PermissionDenied": "PermissionDenied",
    }  # fmt: skip
    TOOLS = tool_table("""
        bash Bash
        shell Bash
        run_terminal_cmd Bash
        write Write path=file_path contents=content
        search_replace Edit path=file_path
        read_file Read path=file_path target_file=file_path
        grep Grep
        list_dir LS
    """)
    FIELDS = {"sessionId": "session_id", "toolName": "tool_name", "toolInput": "tool_input",
              "toolResult": "tool_response", "workspaceRoot": "cwd"}  # fmt: skip
    CAN = {"PreToolUse": "deny"}
    SPECIFIC = False
    DENY_WORD = "deny"

    def fields_of(self, own: str, row: Any, payload: Mapping[str, Any]) -> dict[str, Any]:
        fields = super().fields_of(own, row, payload)
        if isinstance(payload.get("cwd"), str) and payload["cwd"]:
            fields["cwd"] = payload["cwd"]
        return fields


DIALECT = Grok()
