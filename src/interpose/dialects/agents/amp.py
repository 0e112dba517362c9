"""Amp: a plugin of ours calls the hooks. It can ask the person with a dialog."""

from __future__ import annotations

from .plugins import PluginDialect
from .tools import tool_table

__all__ = ["DIALECT"]


class Amp(PluginDialect):
    """The dialect of Amp."""

    NAME, TITLE = "amp", "Amp"
    EVENTS = {"tool.call": "PreToolUse", "tool.result": "PostToolUse", "agent.start": "UserPromptSubmit"}
    TOOLS = tool_table("""
        Bash Bash cmd=command
        shell_command Bash cmd=command
        create_file Write path=file_path
        edit_file Edit path=file_path old_str=old_string new_str=new_string
        apply_patch apply_patch
        Read Read path=file_path
        read_file Read path=file_path
        Grep Grep
        glob Glob
        list_directory LS
        read_web_page WebFetch
        web_search WebSearch
        Task Task
    """)
    FIELDS = {"tool": "tool_name", "input": "tool_input", "toolUseID": "tool_use_id", "output": "tool_response",
              "message": "prompt"}  # fmt: skip
    CAN = {"tool.call": "deny ask", "tool.result": "result", "agent.start": "context"}


DIALECT = Amp()
