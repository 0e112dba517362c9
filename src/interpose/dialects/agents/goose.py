"""Goose: a deny is ``decision: block`` or exit status 2; it stops at the first. Nothing else has an effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .shaped import ShapedDialect
from .tools import mcp_name, tool_table

__all__ = ["DIALECT"]


class Goose(ShapedDialect):
    """The dialect of Goose."""

    NAME, TITLE = "goose", "Goose"
    EVENTS = {
        "PreToolUse": "PreToolUse", "PostToolUse": "PostToolUse", "PostToolUseFailure": "PostToolUseFailure",
        "UserPromptSubmit": "UserPromptSubmit", "SessionStart": "SessionStart", "SessionEnd": "SessionEnd",
        "Stop": "Stop",
    }  # fmt: skip
    TOOLS = tool_table("""
        developer__shell Bash
        shell Bash
        developer__text_editor Edit path=file_path file_text=content old_str=old_string new_str=new_string
        text_editor Edit path=file_path file_text=content old_str=old_string new_str=new_string
    """)
    FIELDS = {"working_dir": "cwd", "tool_output": "tool_response", "message": "prompt"}
    CAN = {"PreToolUse": "deny"}
    SPECIFIC = False

    def name_of(self, name: str, payload: Mapping[str, Any]) -> str:
        said = payload.get("event")
        return said if isinstance(said, str) and said in self.EVENTS else name

    def call_of(self, name: str, given: dict[str, Any], fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        if name not in self.TOOLS and "__" in name:
            server, _, tool = name.partition("__")
            return mcp_name(server, tool), dict(given)
        return super().call_of(name, given, fields)


DIALECT = Goose()
