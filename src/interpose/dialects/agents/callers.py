"""Which agent calls a hook: some agents load the settings of another, and call its hooks with payloads of their own.

Only the payload is evidence, and a variable beside it where two payloads look alike: a cloned project can set variables
in an agent's settings, but it cannot add a field to a payload. ``CLAUDE_PROJECT_DIR`` is set by many and says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["caller_of", "can_call_twice"]

_SHARED = frozenset({"claude", "copilot", "vscode"})
"""Agents whose settings others load."""
_TWICE = frozenset({"copilot", "cursor", "vscode", "grok", "antigravity"})
"""Agents that load several files with an entry of ours in each."""


def can_call_twice(agent: str) -> bool:
    """Return whether an agent may call two entries of ours for one event."""
    return agent in _TWICE


def caller_of(agent: str, payload: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """Return the agent that has sent a payload to an entry for ``agent``."""
    return (_by_fields(payload) or _by_names(agent, payload, environment) or agent) if agent in _SHARED else agent


def _by_fields(payload: Mapping[str, Any]) -> str:
    """Return the agent that alone has such fields."""
    for agent, fields in _FIELDS.items():
        if all(field in payload for field in fields):
            return agent
    return ""


_FIELDS = {
    "cursor": ("cursor_version",),
    "windsurf": ("agent_action_name",),
    "cline": ("clineVersion",),
    "antigravity": ("toolCall", "workspacePaths"),
    "grok": ("toolInput", "workspaceRoot"),
    "codex": ("turn_id", "model", "hook_event_name"),
    "goose": ("event", "matcher_context"),
    "openhands": ("event_type", "working_dir"),
    "auggie": ("conversation_id", "workspace_roots"),
    "copilot": ("toolArgs", "sessionId"),
}


def _by_names(agent: str, payload: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """Return the agent of a payload in Claude's shape; Claude Code itself sends no time."""
    event = payload.get("hook_event_name")
    if "timestamp" not in payload or not isinstance(event, str):
        return "copilot" if "timestamp" in payload and "sessionId" in payload else ""
    if event in ("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "PreCompress"):
        return "gemini"
    if "QWEN_PROJECT_DIR" in environment:
        return "qwen"
    if "COPILOT_CLI" in environment or "tool_result" in payload:
        return "copilot"
    if "tool_use_id" in payload or "VSCODE_PID" in environment or agent == "vscode":
        return "vscode"
    return "copilot"
