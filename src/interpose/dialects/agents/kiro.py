"""Kiro: exit status 2 with a text denies; plain standard output is context at the start and at a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import Wish
from .shaped import ShapedDialect
from .tools import mcp_name, tool_table

__all__ = ["DIALECT"]


class Kiro(ShapedDialect):
    """The dialect of Kiro."""

    NAME, TITLE = "kiro", "Kiro"
    EVENTS = {
        "preToolUse": "PreToolUse", "postToolUse": "PostToolUse", "userPromptSubmit": "UserPromptSubmit",
        "agentSpawn": "SessionStart", "stop": "Stop",
    }  # fmt: skip
    TOOLS = tool_table("""
        execute_bash Bash
        shell Bash
        fs_write Write path=file_path file_text=content
        write Write path=file_path
        fs_read Read path=file_path
        read Read path=file_path
        use_aws Bash
    """)
    CAN = {"preToolUse": "deny", "userPromptSubmit": "context", "agentSpawn": "context"}
    SPECIFIC = False
    PLAIN_CONTEXT = "userPromptSubmit agentSpawn"

    def name_of(self, name: str, payload: Mapping[str, Any]) -> str:
        own = super().name_of(name, payload)
        spelled = {mine.lower(): mine for mine in self.EVENTS} | {"sessionstart": "agentSpawn"}
        return own if own in self.EVENTS else spelled.get(own.lower(), own)

    def call_of(self, name: str, given: dict[str, Any], fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        if name.startswith("@") and "/" in name:
            server, _, tool = name[1:].partition("/")
            return mcp_name(server, tool), dict(given)
        return super().call_of(name, given, fields)

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        return None  # JSON on standard output is not read


DIALECT = Kiro()
