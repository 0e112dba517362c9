"""VS Code's agent mode: Claude's shape, camel case in the inputs of tools. It ignores matchers."""

from __future__ import annotations

from .shaped import ShapedDialect
from .tools import tool_table

__all__ = ["DIALECT"]


class VSCode(ShapedDialect):
    """The dialect of VS Code."""

    NAME, TITLE = "vscode", "VS Code"
    EVENTS = {
        "SessionStart": "SessionStart", "UserPromptSubmit": "UserPromptSubmit", "PreToolUse": "PreToolUse",
        "PostToolUse": "PostToolUse", "PreCompact": "PreCompact", "SubagentStart": "SubagentStart",
        "SubagentStop": "SubagentStop", "Stop": "Stop",
    }  # fmt: skip
    TOOLS = tool_table("""
        runTerminalCommand Bash
        run_in_terminal Bash
        runInTerminal Bash
        createFile Write filePath=file_path
        create_file Write filePath=file_path
        editFiles Edit filePath=file_path
        replace_string_in_file Edit filePath=file_path oldString=old_string newString=new_string
        insert_edit_into_file Edit filePath=file_path code=new_string
        apply_patch apply_patch
        readFile Read filePath=file_path
        read_file Read filePath=file_path
        list_dir LS
        grep_search Grep query=pattern
        file_search Glob query=pattern
        fetch_webpage WebFetch
    """)
    CAN = {
        "PreToolUse": "deny ask grant input context stop message", "PostToolUse": "context stop message",
        "UserPromptSubmit": "deny stop message", "SessionStart": "context stop message",
        "SubagentStart": "context message", "Stop": "keep_going message", "SubagentStop": "keep_going message",
        "PreCompact": "message",
    }  # fmt: skip
    STOP_SPECIFIC = True


DIALECT = VSCode()
