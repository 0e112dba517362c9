"""deepagents-code: Claude's shape, in Python."""

from __future__ import annotations

from .shaped import ShapedDialect
from .tools import tool_table

__all__ = ["DIALECT"]


class DeepAgents(ShapedDialect):
    """The dialect of deepagents-code."""

    NAME, TITLE = "deepagents", "deepagents-code"
    EVENTS = {
        "PreToolUse": "PreToolUse", "PostToolUse": "PostToolUse", "PostToolUseFailure": "PostToolUseFailure",
        "PermissionRequest": "PermissionRequest", "UserPromptSubmit": "UserPromptSubmit",
        "SessionStart": "SessionStart", "SessionEnd": "SessionEnd", "SubagentStart": "SubagentStart",
        "SubagentStop": "SubagentStop", "PreCompact": "PreCompact", "Notification": "Notification", "Stop": "Stop",
    }  # fmt: skip
    TOOLS = tool_table("""
        execute Bash
        shell Bash
        write_file Write
        edit_file Edit
        read_file Read
        ls LS
        glob Glob
        grep Grep
        fetch_url WebFetch
        web_search WebSearch
        task Task
    """)
    CAN = {
        "PreToolUse": "deny input stop", "PermissionRequest": "deny grant", "UserPromptSubmit": "deny stop",
        "PostToolUse": "stop", "Stop": "keep_going stop",
    }  # fmt: skip


DIALECT = DeepAgents()
