"""Windsurf: an event for each kind of tool, and exit status 2 with a text as the only answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .base import Wish
from .shaped import ShapedDialect
from .tools import mcp_name, tool_table

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["DIALECT"]


class Windsurf(ShapedDialect):
    """The dialect of Windsurf."""

    NAME, TITLE = "windsurf", "Windsurf"
    EVENTS = {
        "pre_run_command": "PreToolUse", "pre_write_code": "PreToolUse", "pre_read_code": "PreToolUse",
        "pre_mcp_tool_use": "PreToolUse", "pre_user_prompt": "UserPromptSubmit", "post_run_command": "PostToolUse",
        "post_write_code": "PostToolUse", "post_read_code": "PostToolUse", "post_mcp_tool_use": "PostToolUse",
        "post_cascade_response": "Stop",
    }  # fmt: skip
    TOOLS = tool_table("""
        run_command Bash command_line=command
        write_code Write
        read_code Read
    """)
    FIELDS = {"trajectory_id": "session_id"}
    CAN = {name: "deny" for name in EVENTS if name.startswith("pre_")}
    SPECIFIC = False

    def name_of(self, name: str, payload: Mapping[str, Any]) -> str:
        said = payload.get("agent_action_name")
        return said if isinstance(said, str) and said in self.EVENTS else name

    def fields_of(self, own: str, row: Any, payload: Mapping[str, Any]) -> dict[str, Any]:
        fields = super().fields_of(own, row, payload)
        about = fields.pop("tool_info", None)
        about = about if isinstance(about, dict) else {}
        kind = own.partition("_")[2]
        if row.subject == "tool_name":
            fields["tool_name"] = kind
            fields["tool_input"] = {key: value for key, value in about.items() if key not in ("cwd", "response")}
        found = {"cwd": about.get("cwd"), "prompt": about.get("user_prompt"), "tool_response": about.get("mcp_result"),
                 "last_assistant_message": about.get("response")}  # fmt: skip
        return fields | {name: value for name, value in found.items() if value is not None}

    def call_of(self, name: str, given: dict[str, Any], fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        if name == "mcp_tool_use":
            arguments = given.get("mcp_tool_arguments")
            return (mcp_name(given.get("mcp_server_name"), given.get("mcp_tool_name")),
                    arguments if isinstance(arguments, dict) else {})  # fmt: skip
        return super().call_of(name, given, fields)

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        return None  # standard output is not read

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        return super().predict(name, ended._replace(stdout=""), version)


DIALECT = Windsurf()
