"""OpenHands: a deny is exit status 2, or ``decision: deny`` alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .shaped import ShapedDialect
from .tools import tool_table

__all__ = ["DIALECT"]


class OpenHands(ShapedDialect):
    """The dialect of OpenHands."""

    NAME, TITLE = "openhands", "OpenHands"
    EVENTS = {
        "pre_tool_use": "PreToolUse", "post_tool_use": "PostToolUse", "user_prompt_submit": "UserPromptSubmit",
        "session_start": "SessionStart", "session_end": "SessionEnd", "stop": "Stop",
    }  # fmt: skip
    TOOLS = tool_table("""
        terminal Bash
        execute_bash Bash
        file_editor Edit path=file_path file_text=content old_str=old_string new_str=new_string
        str_replace_editor Edit path=file_path file_text=content old_str=old_string new_str=new_string
        browser_navigate WebFetch
    """)
    FIELDS = {"working_dir": "cwd", "message": "prompt"}
    CAN = {"pre_tool_use": "deny", "user_prompt_submit": "deny", "stop": "keep_going"}
    SPECIFIC = False
    DENY_WORD = "deny"

    def name_of(self, name: str, payload: Mapping[str, Any]) -> str:
        said = payload.get("event_type")
        spelled = "".join(f"_{one.lower()}" if one.isupper() else one for one in said).lstrip("_") if isinstance(
            said, str) else ""  # fmt: skip
        return spelled if spelled in self.EVENTS else name


DIALECT = OpenHands()
