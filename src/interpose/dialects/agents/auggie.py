"""Auggie: Claude's shape. Exit status 2 blocks at PreToolUse alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .shaped import ShapedDialect
from .tools import tool_table

__all__ = ["DIALECT"]


class Auggie(ShapedDialect):
    """The dialect of Auggie."""

    NAME, TITLE = "auggie", "Auggie"
    EVENTS = {
        "PreToolUse": "PreToolUse", "PostToolUse": "PostToolUse", "PromptSubmit": "UserPromptSubmit",
        "Stop": "Stop", "SessionStart": "SessionStart", "SessionEnd": "SessionEnd", "Notification": "Notification",
    }  # fmt: skip
    TOOLS = tool_table("""
        launch-process Bash
        terminal Bash
        save-file Write path=file_path file_content=content
        str-replace-editor Edit path=file_path old_str=old_string new_str=new_string
        remove-files Write
        view Read path=file_path
        web-fetch WebFetch
        web-search WebSearch
    """)
    FIELDS = {"conversation_id": "session_id", "tool_output": "tool_response", "tool_error": "error",
              "user_prompt": "prompt"}  # fmt: skip
    CAN = {
        "PreToolUse": "deny ask grant input context stop message", "PostToolUse": "context stop message",
        "SessionStart": "context stop message", "Stop": "keep_going stop message",
        "PromptSubmit": "context stop message",
    }  # fmt: skip
    STOP_SPECIFIC = True
    EXIT_2_EVERYWHERE = False

    def fields_of(self, own: str, row: Any, payload: Mapping[str, Any]) -> dict[str, Any]:
        fields = super().fields_of(own, row, payload)
        roots = payload.get("workspace_roots")
        if "cwd" not in fields and isinstance(roots, list) and roots:
            fields["cwd"] = roots[0]
        return fields


DIALECT = Auggie()
