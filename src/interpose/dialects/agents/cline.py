"""Cline: one program per event. It reads ``cancel``, ``contextModification`` and ``overrideInput``, and no exit status.

A cancel ends the whole run, and the model does not read why. Programs at the start and the end of a task are not
waited for, so nothing that they say has an effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import predictions as then
from .base import BaseDialect, Wish
from .exchange import AgentEvent
from .predictions import object_in, text_in
from .tools import mcp_name, to_ours, tool_table

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["DIALECT"]

_CONTROL = "HOOK_CONTROL\t"
_OWN_NAMES = {
    "agent_start": "TaskStart", "agent_resume": "TaskResume", "agent_abort": "TaskCancel",
    "agent_end": "TaskComplete", "agent_error": "TaskError", "tool_call": "PreToolUse",
    "tool_result": "PostToolUse", "prompt_submit": "UserPromptSubmit", "pre_compact": "PreCompact",
    "session_shutdown": "SessionShutdown",
}  # fmt: skip


class Cline(BaseDialect):
    """The dialect of Cline."""

    NAME, TITLE = "cline", "Cline"
    EVENTS = {
        "PreToolUse": "PreToolUse", "PostToolUse": "PostToolUse", "UserPromptSubmit": "UserPromptSubmit",
        "TaskStart": "SessionStart", "TaskResume": "SessionStart", "TaskComplete": "Stop",
        "PreCompact": "PreCompact", "SessionShutdown": "SessionEnd",
    }  # fmt: skip
    TOOLS = tool_table("""
        run_commands Bash
        execute_command Bash
        editor Write path=file_path text=content new_text=content
        write_to_file Write path=file_path
        replace_in_file Edit path=file_path
        new_file Write path=file_path
        read_files Read
        read_file Read path=file_path
        list_files LS
        search_codebase Grep
        search_files Grep regex=pattern
        fetch_web_content WebFetch
        web_fetch WebFetch
        web_search WebSearch
        apply_patch apply_patch
        spawn_agent Task
    """)
    MCP_SEPARATOR = "__"
    CAN = {"PreToolUse": "deny input context", "PostToolUse": "context stop"}

    def name_of(self, name: str, payload: Mapping[str, Any]) -> str:
        said = payload.get("hookName")
        said = _OWN_NAMES.get(said, said) if isinstance(said, str) else None
        return said if said in self.EVENTS else _OWN_NAMES.get(name, name)

    def fields_of(self, own: str, row: Any, payload: Mapping[str, Any]) -> dict[str, Any]:
        known = ("tool_call", "tool_result", "preToolUse", "postToolUse", "userPromptSubmit", "taskStart", "turn")
        fields = super().fields_of(own, row, {k: v for k, v in payload.items() if k not in (*known, "agent_id")})
        call = _part(payload, "tool_call") or _part(payload, "tool_result")
        older = _part(payload, "preToolUse") or _part(payload, "postToolUse")
        roots = payload.get("workspaceRoots")
        cwd = roots[0] if isinstance(roots, list) and roots else None
        found = {
            "session_id": payload.get("taskId"), "cwd": cwd, "tool_use_id": call.get("id"),
            "tool_name": call.get("name", older.get("toolName")), "error": call.get("error"),
            "tool_input": call.get("input", older.get("parameters")),
            "tool_response": call.get("output", older.get("result")),
            "prompt": _part(payload, "userPromptSubmit").get("prompt"),
            "last_assistant_message": _part(payload, "turn").get("outputText"),
            "source": "resume" if own == "TaskResume" else "startup" if own == "TaskStart" else None,
        }  # fmt: skip
        if payload.get("parent_agent_id"):
            found["agent_id"] = payload.get("agent_id")
        return {**fields, **{name: value for name, value in found.items() if value is not None}}

    def call_of(self, name: str, given: dict[str, Any], fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        if name == "use_mcp_tool":
            arguments = given.get("arguments")
            return mcp_name(given.get("server_name"), given.get("tool_name")), _arguments(arguments)
        tool = self.tool(name)
        mapped = to_ours(tool, given)
        if tool.name == "Bash" and "commands" in mapped:
            commands = mapped.pop("commands")
            lines = commands if isinstance(commands, list) else [commands]
            mapped["command"] = "\n".join(line if isinstance(line, str) else _line(line) for line in lines)
        if tool.name == "Read" and "file_path" not in mapped and isinstance(mapped.get("files"), list):
            paths = [one.get("path") if isinstance(one, dict) else one for one in mapped["files"]]
            if len(paths) == 1:
                mapped["file_path"] = paths[0]
        return tool.name, mapped

    def input_for(self, event: AgentEvent, new: Mapping[str, Any]) -> dict[str, Any] | None:
        given = self.given_input(event)
        if given is not None and "commands" in given:
            rest = {key: value for key, value in new.items() if key != "command"}
            return {**rest, "commands": [new["command"]]} if isinstance(new.get("command"), str) else None
        if given is not None and event.fields.get("client_tool_name") == "use_mcp_tool":
            return {**given, "arguments": dict(new)}
        return super().input_for(event, new)

    def given_input(self, event: AgentEvent) -> dict[str, Any] | None:
        call, older = _part(event.given, "tool_call"), _part(event.given, "preToolUse")
        given = call.get("input", older.get("parameters"))
        return given if isinstance(given, dict) else None

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        if text := wish.deny or wish.stop:
            return {"cancel": True, "errorMessage": text}
        body: dict[str, Any] = {}
        if wish.input is not None:
            body["overrideInput"] = wish.input
        if wish.context:
            body["contextModification"] = wish.context
        return body or None

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        if name not in ("PreToolUse", "PostToolUse") or ended.status is None:
            return then.ordinary()
        lines = [
            line.strip()[len(_CONTROL) :] for line in ended.stdout.splitlines() if line.strip().startswith(_CONTROL)
        ]
        said = object_in(lines[-1] if lines else ended.stdout.strip()) or {}
        if said.get("cancel") is True:
            return then.ended_run(tool_ran=name == "PostToolUse")
        context = ["context"] if text_in(said, "context") or text_in(said, "contextModification") else []
        if not context and text_in(said, "errorMessage"):
            context = ["reason"]
        if name == "PreToolUse" and said.get("overrideInput") is not None:
            return then.rewritten(*context)
        return then.ordinary(*context)


def _part(payload: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = payload.get(name)
    return found if isinstance(found, dict) else {}


def _arguments(given: Any) -> dict[str, Any]:
    found = object_in(given) if isinstance(given, str) else given
    return found if isinstance(found, dict) else {}


def _line(command: Any) -> str:
    """Return a command of a list as a line; it may be text under a key, or a program and its words."""
    if isinstance(command, dict):
        words = command.get("args")
        if isinstance(words, list):
            import shlex

            return shlex.join([str(command.get("command", "")), *map(str, words)])
        return str(command.get("command", command))
    return str(command)


DIALECT = Cline()
