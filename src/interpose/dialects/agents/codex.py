"""Codex: Claude's shape, read strictly. An unknown key or an empty reason makes it drop an answer and go on.

An ask is such an error, and so is an allow without a new input. At PostToolUse a block replaces the tool's output.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import predictions as then
from .base import BaseDialect, Wish, hook_specific, text_of
from .predictions import object_in, specific, text_in
from .tools import to_ours, tool_table

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["DIALECT"]

_TOP = {"continue": bool, "stopReason": str, "suppressOutput": bool, "systemMessage": str}
_BLOCK = {**_TOP, "decision": str, "reason": str, "hookSpecificOutput": dict}
_KEYS: Mapping[str, Mapping[str, Any]] = {
    "PreToolUse": _BLOCK, "PostToolUse": _BLOCK, "UserPromptSubmit": _BLOCK,
    "Stop": {**_TOP, "decision": str, "reason": str}, "SubagentStop": {**_TOP, "decision": str, "reason": str},
    "SessionStart": {**_TOP, "hookSpecificOutput": dict}, "SubagentStart": {**_TOP, "hookSpecificOutput": dict},
    "PermissionRequest": {**_TOP, "hookSpecificOutput": dict}, "PreCompact": _TOP, "PostCompact": _TOP,
}  # fmt: skip
_SPECIFIC: Mapping[str, Mapping[str, Any]] = {
    "PreToolUse": {"permissionDecision": str, "permissionDecisionReason": str, "updatedInput": object,
                   "additionalContext": str},
    "PostToolUse": {"additionalContext": str, "updatedMCPToolOutput": object},
    "PermissionRequest": {"decision": dict},
}  # fmt: skip
_NAMES = frozenset(_KEYS)
"""It checks that ``hookEventName`` is an event, and not which one."""
_DECISIONS = {"PreToolUse": ("approve", "block")}


class Codex(BaseDialect):
    """The dialect of Codex."""

    NAME, TITLE = "codex", "Codex"
    EVENTS = {name: name for name in (
        "PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd",
        "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Stop",
    )}  # fmt: skip
    TOOLS = tool_table("""
        exec_command Bash cmd=command
        shell Bash
        shell_command Bash
        local_shell Bash
        unified_exec Bash cmd=command
        write_stdin Bash chars=command
        view_image Read path=file_path
        read_file Read path=file_path
        list_dir LS dir_path=path
        grep_files Grep
        web_search WebSearch
        spawn_agent Task
    """)
    CAN = {
        "PreToolUse": "deny input context message", "PermissionRequest": "deny grant message",
        "PostToolUse": "result context message", "UserPromptSubmit": "deny context stop message",
        "SessionStart": "context stop message", "SubagentStart": "context message",
        "Stop": "keep_going stop message", "SubagentStop": "keep_going stop message", "PreCompact": "deny message",
        "PostCompact": "message",
    }  # fmt: skip

    def call_of(self, name: str, given: dict[str, Any], fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        tool = self.tool(name)
        mapped = to_ours(tool, given)
        if tool.name == "Bash" and isinstance(words := mapped.get("command"), list):
            mapped["command"] = _line(words)
        return tool.name, mapped

    def input_for(self, event: Any, new: Mapping[str, Any]) -> dict[str, Any] | None:
        given = self.given_input(event)
        if given is not None and isinstance(given.get("command"), list):
            return None  # it is started without a shell, so a line is no input for it
        return super().input_for(event, new)

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        body: dict[str, Any] = {"systemMessage": wish.message} if wish.message else {}
        own: dict[str, Any] = {"additionalContext": wish.context} if wish.context else {}
        if name == "PermissionRequest":
            if wish.deny:
                own["decision"] = {"behavior": "deny", "message": wish.deny}
            elif wish.granted:
                own["decision"] = {"behavior": "allow"}
        elif name == "PreCompact":
            body |= {"continue": False, "stopReason": wish.deny} if wish.deny else {}
        elif name == "PreToolUse":
            if wish.deny:
                own |= {"permissionDecision": "deny", "permissionDecisionReason": wish.deny}
            elif wish.input is not None:
                own |= {"permissionDecision": "allow", "updatedInput": wish.input}
        elif text := wish.deny or wish.keep_going:
            body |= {"decision": "block", "reason": text}
        elif wish.result is not None:
            body |= {"decision": "block", "reason": _text(wish.result)}
        elif wish.stop:
            body |= {"continue": False, "stopReason": wish.stop}
        body |= hook_specific(name, **own) if own else {}
        return body or None

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        if name == "PermissionRequest":
            return then.stopped_tool()  # a headless run refuses what needs a yes, and the hook is not asked
        if name not in _KEYS:
            return then.ordinary()
        if ended.status == 2 and name not in ("SessionStart", "SubagentStart", "PreCompact", "PostCompact"):
            return self._blocked(name, "stderr") if ended.stderr.strip() else then.ordinary()
        if ended.status != 0 or not ended.stdout.strip():
            return then.ordinary()
        said = object_in(ended.stdout.strip())
        if said is None or not _is_known(name, said):
            is_plain = said is None and not ended.stdout.lstrip().startswith(("{", "["))
            return (
                then.ordinary("stdout")
                if is_plain and name in ("SessionStart", "UserPromptSubmit")
                else then.ordinary()
            )
        return self._answered(name, said)

    def _answered(self, name: str, said: dict[str, Any]) -> Prediction:
        own, context = specific(said), ["context"] if text_in(specific(said), "additionalContext") else []
        if name == "PreToolUse":
            return _before_tool(said, own, context)
        if said.get("continue") is False:
            if name == "PostToolUse":
                return then.replaced_result("reason" if text_in(said, "reason") else "stop_reason", *context)
            return then.refused_prompt() if name in ("UserPromptSubmit", "SessionStart") else then.ordinary()
        if name == "PostToolUse" and (said.get("suppressOutput") or "updatedMCPToolOutput" in own):
            return then.ordinary()
        if said.get("decision") == "block":
            return self._blocked(name, "reason", *context) if text_in(said, "reason") else then.ordinary()
        if name == "PostToolUse" and "reason" in said:
            return then.ordinary()
        return then.ordinary(*context)

    def _blocked(self, name: str, text: str, *context: str) -> Prediction:
        if name == "PostToolUse":
            return then.replaced_result(text, *context)
        if name == "UserPromptSubmit":
            return then.refused_prompt()
        return then.sent_back(text) if name in ("Stop", "SubagentStop") else then.stopped_tool(text)


def _before_tool(said: dict[str, Any], own: dict[str, Any], context: list[str]) -> Prediction:
    if said.get("continue") is False or said.get("stopReason") is not None or said.get("suppressOutput"):
        return then.ordinary()
    decision = own.get("permissionDecision")
    if not {"permissionDecision", "permissionDecisionReason", "updatedInput"} & own.keys():
        if said.get("decision") == "block" and text_in(said, "reason"):
            return then.stopped_tool("reason", *context)
        return then.ordinary(*context) if "decision" not in said and "reason" not in said else then.ordinary()
    if decision == "deny" and text_in(own, "permissionDecisionReason") and "updatedInput" not in own:
        return then.stopped_tool("reason", *context)
    return then.rewritten(*context) if decision == "allow" and own.get("updatedInput") is not None else then.ordinary()


def _is_known(name: str, said: dict[str, Any]) -> bool:
    """Return whether every key of an answer is known at this event and has its type."""
    if not _fits(said, _KEYS[name]):
        return False
    if "decision" in said and said["decision"] not in _DECISIONS.get(name, ("block",)):
        return False
    own = said.get("hookSpecificOutput")
    if own is None:
        return True
    keys = _SPECIFIC.get(name, {"additionalContext": str})
    decision = own.get("permissionDecision")
    return (own.get("hookEventName") in _NAMES and decision in (None, "allow", "deny", "ask")
            and _fits({key: value for key, value in own.items() if key != "hookEventName"}, keys))  # fmt: skip


def _fits(said: Mapping[str, Any], keys: Mapping[str, Any]) -> bool:
    return all(key in keys and ((value is None and keys[key] is not bool) or isinstance(value, keys[key]))
               for key, value in said.items())  # fmt: skip


def _line(words: list[Any]) -> str:
    """Return the words of a command as a line: what a shell is told to run, else all of them, quoted."""
    import shlex

    texts = [str(word) for word in words]
    if len(texts) == 3 and texts[1] in ("-c", "-lc") and texts[0].rpartition("/")[2] in ("bash", "sh", "zsh"):
        return texts[2]
    return shlex.join(texts)


def _text(value: Any) -> str:
    text = text_of(value)
    return text if text.strip() else "[removed]"


DIALECT = Codex()
