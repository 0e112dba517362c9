"""Qwen Code: Claude's names and shape on Gemini's machinery. It rewrites no input.

With exit status 2 it reads standard error alone, and a JSON object there decides: so a deny is JSON with status 0.
After a tool, ``continue: false`` gives the model the stop reason as the error of the call, in place of its result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import predictions as then
from .base import BaseDialect, Wish, hook_specific, text_of
from .predictions import object_in, specific, text_in
from .tools import tool_table

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["DIALECT"]

_PLAIN_IS_CONTEXT = frozenset({"SessionStart", "UserPromptSubmit", "UserPromptExpansion"})


class Qwen(BaseDialect):
    """The dialect of Qwen Code."""

    NAME, TITLE = "qwen", "Qwen Code"
    EVENTS = {name: name for name in (
        "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "UserPromptSubmit",
        "UserPromptExpansion", "SessionStart", "SessionEnd", "SubagentStart", "SubagentStop", "PreCompact",
        "PostCompact", "Notification", "Stop", "StopFailure", "PermissionDenied", "InstructionsLoaded",
    )}  # fmt: skip
    TOOLS = tool_table("""
        run_shell_command Bash
        write_file Write
        edit Edit
        replace Edit
        read_file Read absolute_path=file_path
        read_many_files Read
        list_directory LS
        glob Glob
        grep_search Grep
        search_file_content Grep
        web_fetch WebFetch
        web_search WebSearch
        task Task
        agent Task
    """)
    RESULT_KEY = "llmContent"
    CAN = {
        "PreToolUse": "deny ask message", "PostToolUse": "result context message",
        "PostToolUseFailure": "context message", "PostToolBatch": "deny context message",
        "PermissionRequest": "deny grant message", "UserPromptSubmit": "deny context stop message",
        "UserPromptExpansion": "deny context message", "SessionStart": "context message",
        "SubagentStart": "context message", "Stop": "keep_going message", "SubagentStop": "keep_going message",
        "Notification": "message", "PreCompact": "message",
    }  # fmt: skip

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        body: dict[str, Any] = {"systemMessage": wish.message} if wish.message else {}
        own: dict[str, Any] = {"additionalContext": wish.context} if wish.context else {}
        if name == "PreToolUse":
            if text := wish.deny or wish.ask:
                own |= {"permissionDecision": "deny" if wish.deny else "ask", "permissionDecisionReason": text}
        elif name == "PermissionRequest":
            if wish.deny or wish.granted:
                own["decision"] = {"behavior": "deny", "message": wish.deny} if wish.deny else {"behavior": "allow"}
        elif text := wish.deny or wish.keep_going:
            body |= {"decision": "block", "reason": text}
        elif wish.result is not None or wish.stop:
            text = text_of(wish.stop if wish.result is None else wish.result)
            body |= {"continue": False, "stopReason": text if text.strip() else "[removed]"}
        body |= hook_specific(name, **own) if own else {}
        return body or None

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        said, word = _read(name, ended)
        if said is None:
            return then.ordinary()
        own, context = specific(said), ["context"] if isinstance(specific(said).get("additionalContext"), str) else []
        if word == "stdout" and context:
            context = ["stdout"]
        blocks = said.get("decision") in ("block", "deny")
        text = word or ("stop_reason" if text_in(said, "stopReason") else "reason")
        if name == "PreToolUse":
            return _before_tool(said, own, word)
        if name == "PostToolUse":
            return then.replaced_result(text, *context) if said.get("continue") is False else then.ordinary(*context)
        if name == "UserPromptSubmit":
            return then.refused_prompt() if blocks or said.get("continue") is False else then.ordinary(*context)
        if name in ("Stop", "SubagentStop"):
            return then.sent_back(text) if blocks or said.get("continue") is False else then.ordinary()
        if name == "PermissionRequest":
            decision = own.get("decision")
            denied = isinstance(decision, dict) and decision.get("behavior") == "deny"
            return then.stopped_tool("reason") if denied else then.ordinary()
        return (
            then.ordinary(*context)
            if name in ("SessionStart", "SubagentStart", "PostToolUseFailure")
            else then.ordinary()
        )


def _before_tool(said: dict[str, Any], own: dict[str, Any], word: str) -> Prediction:
    decision = own.get("permissionDecision")
    if decision not in ("allow", "deny", "ask"):
        words = {"allow": "allow", "approve": "allow", "deny": "deny", "block": "deny", "ask": "ask"}
        decision = words.get(str(said.get("decision")))
    if decision in ("deny", "ask"):
        return then.stopped_tool(word or "reason", asks=decision == "ask")
    if said.get("continue") is False:
        return then.stopped_tool("stop_reason")
    return then.ordinary()


def _read(name: str, ended: HookExit) -> tuple[dict[str, Any] | None, str]:
    """Return what a program said as an object, and which stream it was if it was plain text."""
    if ended.status is None or ended.status < 0:
        return None, ""
    stdout, stderr = ended.stdout.strip(), ended.stderr.strip()
    text, stream = (stderr, "stderr") if ended.status == 2 or not stdout else (stdout, "stdout")
    if not text:
        return None, ""
    said = object_in(text)
    if said is None and text.startswith('"'):
        inner = object_in('{"text":' + text + "}")
        said = object_in(str(inner["text"])) if inner is not None else None
    if said is not None:
        return said, ""
    if ended.status == 2:
        return {"decision": "deny", "reason": text}, stream
    if text.startswith("{"):
        return None, ""
    if ended.status == 0 and stream == "stdout" and name in _PLAIN_IS_CONTEXT:
        return {"decision": "allow", "hookSpecificOutput": {"additionalContext": text}}, stream
    return {"decision": "allow"}, stream


DIALECT = Qwen()
