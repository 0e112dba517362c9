"""opencode: a plugin of ours calls the hooks; a deny is an error that the plugin throws, which the model reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .exchange import AgentEvent
from .plugins import PluginDialect
from .tools import tool_table

__all__ = ["DIALECT"]


class Opencode(PluginDialect):
    """The dialect of opencode."""

    NAME, TITLE = "opencode", "opencode"
    EVENTS = {
        "tool.execute.before": "PreToolUse", "tool.execute.after": "PostToolUse", "chat.message": "UserPromptSubmit",
    }  # fmt: skip
    TOOLS = tool_table("""
        bash Bash
        write Write filePath=file_path
        edit Edit filePath=file_path oldString=old_string newString=new_string replaceAll=replace_all
        multiedit MultiEdit filePath=file_path
        patch apply_patch
        apply_patch apply_patch
        read Read filePath=file_path
        grep Grep
        glob Glob
        list LS
        webfetch WebFetch
        websearch WebSearch
        task Task
    """)
    FIELDS = {"sessionID": "session_id", "callID": "tool_use_id", "tool": "tool_name", "args": "tool_input"}
    MCP_SEPARATOR = "_"
    CAN = {
        "tool.execute.before": "deny input context", "tool.execute.after": "result context",
        "chat.message": "deny context",
    }  # fmt: skip

    def read_event(self, name: str, payload: Mapping[str, Any]) -> AgentEvent:
        """Return an event; a plugin may pass on the two arguments of its function as they are."""
        given, result = payload.get("input"), payload.get("output")
        if not isinstance(given, dict) or not isinstance(result, dict):
            return super().read_event(name, payload)
        rest = {key: value for key, value in payload.items() if key not in ("input", "output")}
        flat = {**rest, **given, **{key: result[key] for key in ("args",) if key in result}}
        if "output" in result:
            flat["tool_response"] = result["output"]
        if isinstance(parts := result.get("parts"), list):
            texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
            flat["prompt"] = "\n".join(text for text in texts if isinstance(text, str))
        return super().read_event(name, flat)


DIALECT = Opencode()
