"""Gemini CLI: JSON on standard output decides, and the exit status only where there is none.

Standard error is read if standard output is empty. Text with a status other than 0 and 1 denies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import predictions as then
from .base import BaseDialect, Wish, hook_specific, text_of
from .exchange import AgentEvent
from .predictions import object_in, specific, text_in
from .tools import mcp_name, tool_table

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["DIALECT"]


class Gemini(BaseDialect):
    """The dialect of Gemini CLI."""

    NAME, TITLE = "gemini", "Gemini CLI"
    EVENTS = {
        "BeforeTool": "PreToolUse", "AfterTool": "PostToolUse", "BeforeAgent": "UserPromptSubmit",
        "AfterAgent": "Stop", "SessionStart": "SessionStart", "SessionEnd": "SessionEnd",
        "PreCompress": "PreCompact", "Notification": "Notification",
    }  # fmt: skip
    TOOLS = tool_table("""
        run_shell_command Bash
        write_file Write
        replace Edit
        read_file Read absolute_path=file_path
        read_many_files Read
        list_directory LS dir_path=path
        glob Glob dir_path=path
        grep_search Grep dir_path=path
        search_file_content Grep dir_path=path
        web_fetch WebFetch
        google_web_search WebSearch
        invoke_agent Task
    """)
    FIELDS = {"prompt_response": "last_assistant_message"}
    RESULT_KEY = "llmContent"
    CAN = {
        "BeforeTool": "deny ask input stop message", "AfterTool": "result context stop message",
        "BeforeAgent": "deny context stop message", "AfterAgent": "keep_going stop message",
        "SessionStart": "context message", "SessionEnd": "message", "PreCompress": "message",
        "Notification": "message",
    }  # fmt: skip
    DENY_STATUS = 2

    def call_of(self, name: str, given: dict[str, Any], fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        server = fields.get("mcp_context")
        if isinstance(server, dict):
            return mcp_name(server.get("server_name"), server.get("tool_name")), dict(given)
        return super().call_of(name, given, fields)

    def input_for(self, event: AgentEvent, new: Mapping[str, Any]) -> dict[str, Any] | None:
        if isinstance(event.given.get("mcp_context"), dict):
            return dict(new)
        return super().input_for(event, new)

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        body: dict[str, Any] = {"systemMessage": wish.message} if wish.message else {}
        own: dict[str, Any] = {}
        if wish.stop:
            body |= {"continue": False, "stopReason": wish.stop}
        elif text := wish.deny or wish.keep_going:
            body |= {"decision": "deny", "reason": text}
        elif wish.result is not None:  # it returns before it reads the context
            texts = [text_of(wish.result), wish.context]
            body |= {"decision": "deny", "reason": "\n".join(filter(str.strip, texts)) or "[removed]"}
            return body
        elif wish.ask:
            body |= {"decision": "ask", "reason": wish.ask, "systemMessage": wish.message or wish.ask}
        if wish.input is not None:
            own["tool_input"] = wish.input
        if wish.context:
            own["additionalContext"] = wish.context
        body |= hook_specific(name, **own) if own else {}
        return body or None

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        said, word = _read(ended)
        if said is None:
            return then.ordinary()
        decision, own = said.get("decision"), specific(said)
        blocks = decision in ("block", "deny")
        text = word or ("stop_reason" if text_in(said, "stopReason") else "reason")
        context = ["context"] if isinstance(own.get("additionalContext"), str) else []
        if name == "BeforeTool":
            if said.get("continue") is False:
                return then.ended_run(tool_ran=False)
            if blocks:
                return then.stopped_tool(text)
            if decision == "ask":
                # A run without a person waits for an answer that does not come, and ends.
                return then.stopped_tool(asks=True)._replace(model_calls=1)
            return then.rewritten() if isinstance(own.get("tool_input"), dict) else then.ordinary()
        if name == "AfterTool":
            if said.get("continue") is False:
                return then.ended_run(tool_ran=True)
            return then.replaced_result(text) if blocks else then.ordinary(*context)
        if name == "BeforeAgent":
            return then.refused_prompt() if blocks or said.get("continue") is False else then.ordinary(*context)
        if name == "AfterAgent":
            return then.sent_back(text) if blocks and said.get("continue") is not False else then.ordinary()
        return then.ordinary(*context) if name == "SessionStart" else then.ordinary()


def _read(ended: HookExit) -> tuple[dict[str, Any] | None, str]:
    """Return what a program said as an object, and which stream is the reason if it was plain text."""
    if ended.status is None:
        return None, ""
    stream = "stdout" if ended.stdout.strip() else "stderr"
    text = (ended.stdout.strip() or ended.stderr.strip()) if ended.status >= 0 or ended.stdout.strip() else ""
    if not text:
        return None, ""
    said = object_in(text)
    if said is None and text.startswith('"') and isinstance(inner := _string(text), str):
        said = object_in(inner)
    if said is not None:
        return said, ""
    if _is_json(text):
        return None, ""
    status = max(ended.status, 0)  # a signal has no status, which is read as 0
    return ({"decision": "deny", "reason": text} if status > 1 else {"decision": "allow"}), stream


def _string(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_json(text: str) -> bool:
    import json

    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


DIALECT = Gemini()
