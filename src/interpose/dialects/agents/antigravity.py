"""Antigravity: an answer without a decision makes it ask. So silence is ``allow``, which grants nothing there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import predictions as then
from .base import Wish
from .predictions import object_in
from .shaped import ShapedDialect
from .tools import tool_table

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["DIALECT"]


class Antigravity(ShapedDialect):
    """The dialect of Antigravity."""

    NAME, TITLE = "antigravity", "Antigravity"
    EVENTS = {
        "PreToolUse": "PreToolUse", "PostToolUse": "PostToolUse", "SessionStart": "SessionStart", "Stop": "Stop",
    }  # fmt: skip
    TOOLS = tool_table("""
        run_command Bash CommandLine=command
        write_to_file Write TargetFile=file_path CodeContent=content
        replace_file_content Edit TargetFile=file_path
        view_file Read AbsolutePath=file_path
        list_dir LS DirectoryPath=path
        grep_search Grep Query=pattern SearchPath=path
        read_url_content WebFetch Url=url
        search_web WebSearch
    """)
    FIELDS = {"conversationId": "session_id", "transcriptPath": "transcript_path", "toolResponse": "tool_response"}
    CAN = {"PreToolUse": "deny ask", "Stop": "keep_going"}
    SPECIFIC = False
    DENY_WORD = "deny"
    DENY_STATUS = 0

    def name_of(self, name: str, payload: Mapping[str, Any]) -> str:
        said = payload.get("hookEventName")
        return said if isinstance(said, str) and said in self.EVENTS else name

    def fields_of(self, own: str, row: Any, payload: Mapping[str, Any]) -> dict[str, Any]:
        fields = super().fields_of(own, row, payload)
        call, paths = fields.pop("toolCall", None), payload.get("workspacePaths")
        if isinstance(call, dict):
            fields |= {"tool_name": call.get("name"), "tool_input": call.get("args")}
        if isinstance(paths, list) and paths:
            fields["cwd"] = paths[0]
        return fields

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        if wish.keep_going:
            return {"decision": "continue", "reason": wish.keep_going}
        body = super().say(name, wish)
        return {"decision": "allow"} if body is None and name == "PreToolUse" else body

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        said = object_in(ended.stdout) if ended.status == 0 else None
        if name == "PreToolUse":
            decision = said.get("decision") if said is not None else None
            if decision == "deny":
                return then.stopped_tool("reason")
            return then.ordinary() if decision == "allow" else then.stopped_tool(asks=True)
        if name == "Stop" and said is not None and said.get("decision") == "continue":
            return then.sent_back("reason")
        return then.ordinary()


DIALECT = Antigravity()
