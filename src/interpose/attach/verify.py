"""Verify that an attached agent is stopped: start each written entry as the agent does, with a canary event.

The canary is a tool call that ``interpose fire`` denies by itself, with a word in the reason that only this run knows.
So a deny counts only if the engine made it, and if the agent honours it.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..dialects.agents import agent_dialect
from ..dialects.agents.contract import HookExit
from ..person.trying import not_registering
from .agents import find_agent
from .attachment import states_of
from .elsewhere import switched_off_elsewhere
from .entry import CANARY, SettingsEntry
from .files import read_bytes, text_of
from .record import Attached
from .shapes import ExecutableFile

__all__ = ["Verified", "canary_payload", "verify"]


@dataclass(slots=True)
class Verified:
    """What became of the canaries of one agent."""

    agent: str
    path: str
    events: list[str] = field(default_factory=list)
    """The events whose canary was denied."""
    problems: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether every canary was denied, and nothing else is wrong."""
        return bool(self.events) and not self.problems


def verify(one: Attached, environ: Mapping[str, str] | None = None) -> Verified:
    """Start the written entries of an attachment before a tool call; return what happened."""
    agent = find_agent(one["agent"])
    written = [file for file in one["files"] if file["kind"] == "entries"]
    made = Verified(agent.name, written[0]["path"])
    for state in states_of(one):
        if not state.holds:
            made.problems += [f"{state.path}: {what}" for what in state.what]
    made.problems += switched_off_elsewhere(agent, one["scope"], one["project"])  # type: ignore[arg-type]
    shape = agent.shape_of(one["scope"])  # type: ignore[arg-type]
    lines: dict[str, tuple[str, str]] = {}
    for file in written:
        data = read_bytes(file["path"])
        for name, line in shape.lines(text_of(data or b"", file["path"]), file["path"]).items() if data else ():
            lines[name] = (file["path"], line)
    for entry in (SettingsEntry(*given) for given in one["entries"]):
        if entry.event == "PreToolUse" and entry.name in lines:
            path, line = lines[entry.name]
            command = [path] if isinstance(shape, ExecutableFile) else ["/bin/sh", "-c", line]
            problem = _denied(one, entry, command, environ)
            if problem:
                made.problems.append(f"{entry.name}: {problem}")
            else:
                made.events.append(entry.name)
    if not made.events and not made.problems:
        made.problems.append("no entry before a tool call is there")
    return made


def _denied(one: Attached, entry: SettingsEntry, command: list[str], environ: Mapping[str, str] | None) -> str:
    """Return why a canary was not denied as it should be; empty if it was."""
    dialect = agent_dialect(one["agent"])
    canary = f"{CANARY}{secrets.token_hex(8)}"
    folder = one["project"] if os.path.isdir(one["project"]) else os.path.expanduser("~")
    payload = json.dumps(canary_payload(one["agent"], entry.name, canary, folder))
    variables = {**(os.environ if environ is None else environ), "CLAUDE_PROJECT_DIR": folder}
    try:
        with not_registering():
            done = subprocess.run(command, input=payload.encode(), capture_output=True, check=False, cwd=folder,
                                  timeout=entry.timeout, env=variables)  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it did not answer within {entry.timeout} s, and the agent goes on then"
    except OSError as error:
        return f"it cannot be started: {error.strerror}"
    stdout, stderr = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    seen = dialect.predict(entry.name, HookExit(stdout, stderr, done.returncode))
    said = " ".join((stderr or stdout).split())[:300]
    if seen.tool_ran:
        return f"{dialect.TITLE} would run the tool: exit status {done.returncode}, {said or 'no output'}"
    if canary not in stdout + stderr:
        return f"it denies, but everything: {said or f'exit status {done.returncode}'}"
    return ""


def canary_payload(agent: str, name: str, canary: str, folder: str) -> dict[str, Any]:
    """Return the event of a tool call in the words of an agent."""
    call = {"command": canary}
    common = {"hook_event_name": name, "session_id": canary, "cwd": folder, "tool_use_id": canary}
    if agent == "cline":
        return {"hookName": "tool_call", "taskId": canary, "clineVersion": "0", "workspaceRoots": [folder],
                "tool_call": {"id": canary, "name": "run_commands", "input": {"commands": [canary]}}}  # fmt: skip
    if agent == "windsurf":
        info = {"command_line": canary, "cwd": folder, "file_path": canary, "mcp_server_name": "s",
                "mcp_tool_name": "t", "mcp_tool_arguments": call, "edits": []}  # fmt: skip
        return {"agent_action_name": name, "trajectory_id": canary, "tool_info": info}
    if agent == "antigravity":
        return {"hookEventName": name, "conversationId": canary, "workspacePaths": [folder],
                "toolCall": {"name": "run_command", "args": {"CommandLine": canary, "Cwd": folder}}}  # fmt: skip
    if agent == "grok":
        return {"hookEventName": name, "sessionId": canary, "cwd": folder, "workspaceRoot": folder,
                "toolName": "bash", "toolInput": call}  # fmt: skip
    if agent == "goose":
        return {"event": name, "session_id": canary, "working_dir": folder, "matcher_context": "developer__shell",
                "tool_name": "developer__shell", "tool_input": call}  # fmt: skip
    if agent == "openhands":
        return {"event_type": name, "session_id": canary, "working_dir": folder, "tool_name": "terminal",
                "tool_input": call}  # fmt: skip
    if agent == "cursor":
        return {**common, "cursor_version": "0", "conversation_id": canary, "workspace_roots": [folder],
                "tool_name": "Shell", "tool_input": call, "command": canary, "file_path": canary}  # fmt: skip
    tool = {"codex": "Bash", "gemini": "run_shell_command", "qwen": "run_shell_command", "droid": "Execute",
            "opencode": "bash", "kimi": "Shell", "kiro": "execute_bash", "auggie": "launch-process",
            "hermes": "terminal"}.get(agent, "Bash")  # fmt: skip
    return {**common, "tool_name": tool, "tool_input": call}
