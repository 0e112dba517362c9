"""Kimi CLI: Claude's shape, of which it reads a deny. It keeps going once."""

from __future__ import annotations

from .shaped import ShapedDialect
from .tools import tool_table

__all__ = ["DIALECT"]


class Kimi(ShapedDialect):
    """The dialect of Kimi CLI."""

    NAME, TITLE = "kimi", "Kimi CLI"
    EVENTS = {
        "PreToolUse": "PreToolUse", "PostToolUse": "PostToolUse", "PostToolUseFailure": "PostToolUseFailure",
        "UserPromptSubmit": "UserPromptSubmit", "SessionStart": "SessionStart", "SessionEnd": "SessionEnd",
        "SubagentStart": "SubagentStart", "SubagentStop": "SubagentStop", "PreCompact": "PreCompact",
        "PostCompact": "PostCompact", "Notification": "Notification", "Stop": "Stop", "StopFailure": "StopFailure",
    }  # fmt: skip
    TOOLS = tool_table("""
        Shell Bash
        WriteFile Write path=file_path
        StrReplaceFile Edit path=file_path
        ReadFile Read path=file_path
        Glob Glob directory=path
        Grep Grep
        FetchURL WebFetch
        SearchWeb WebSearch
        Task Task
    """)
    FIELDS = {"tool_call_id": "tool_use_id", "tool_output": "tool_response", "agent_name": "agent_type",
              "response": "last_assistant_message"}  # fmt: skip
    CAN = {
        "PreToolUse": "deny", "UserPromptSubmit": "deny context", "SessionStart": "context", "Stop": "keep_going",
        "SubagentStop": "keep_going",
    }  # fmt: skip
    PLAIN_CONTEXT = "UserPromptSubmit SessionStart"


DIALECT = Kimi()
