"""Hermes: a deny is ``decision: block``; context is read before a call of the model alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import predictions as then
from .base import Wish
from .predictions import object_in, text_in
from .shaped import ShapedDialect
from .tools import tool_table

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["DIALECT"]


class Hermes(ShapedDialect):
    """The dialect of Hermes."""

    NAME, TITLE = "hermes", "Hermes"
    EVENTS = {
        "pre_tool_call": "PreToolUse", "post_tool_call": "PostToolUse", "pre_llm_call": "UserPromptSubmit",
        "on_session_start": "SessionStart", "on_session_finalize": "SessionEnd", "on_session_end": "Stop",
        "subagent_start": "SubagentStart", "subagent_stop": "SubagentStop",
    }  # fmt: skip
    TOOLS = tool_table("""
        terminal Bash
        write_file Write path=file_path
        patch Edit path=file_path
        read_file Read path=file_path
        search_files Grep
        web_extract WebFetch
        web_search WebSearch
        delegate_task Task
    """)
    CAN = {"pre_tool_call": "deny", "pre_llm_call": "context"}
    SPECIFIC = False
    DENY_STATUS = 0

    def fields_of(self, own: str, row: Any, payload: Mapping[str, Any]) -> dict[str, Any]:
        fields = super().fields_of(own, row, payload)
        extra = payload.get("extra")
        if isinstance(extra, dict):
            found = {"tool_use_id": extra.get("tool_call_id"), "tool_response": extra.get("result"),
                     "error": extra.get("error_message"), "prompt": extra.get("user_message")}  # fmt: skip
            fields |= {name: value for name, value in found.items() if value is not None}
        if row.name == "UserPromptSubmit":
            fields.setdefault("prompt", "")
        return fields

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        return {"context": wish.context} if wish.context and not wish.deny else super().say(name, wish)

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        said = object_in(ended.stdout) or {} if ended.status == 0 else {}
        if name == "pre_tool_call" and (said.get("decision") == "block" or said.get("action") == "block"):
            return then.stopped_tool("reason")
        return then.ordinary("context") if name == "pre_llm_call" and text_in(said, "context") else then.ordinary()


DIALECT = Hermes()
