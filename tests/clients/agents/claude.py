"""Claude Code."""

from __future__ import annotations

from collections.abc import Sequence

from ..model_server import KEY, Call, Turn
from ..rig import MCP_SERVER, Box, Client


class Claude(Client):
    name = "claude"
    package = "@anthropic-ai/claude-code"
    version = "2.1.325"
    program = "@anthropic-ai/claude-code-*/claude"
    events = (
        "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit",
        "UserPromptExpansion", "SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
        "PreCompact", "PostCompact", "PermissionRequest", "PermissionDenied", "Setup", "TaskCreated", "TaskCompleted",
        "ConfigChange", "InstructionsLoaded", "CwdChanged", "FileChanged", "MessageDisplay",
    )  # fmt: skip

    def configure(self, box: Box, url: str) -> None:
        known = {str(box.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}
        box.merge("home/.claude.json", {"hasCompletedOnboarding": True, "projects": known})
        allowed = ["Bash", "Write", "Edit", "Read", "Agent", "Task", "mcp__house__note"]
        box.merge("home/.claude/settings.json", {"permissions": {"allow": allowed}})

    def command(self, box: Box, prompt: str) -> list[str]:
        return ["-p", prompt, "--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-5"]

    def environ(self, box: Box, url: str) -> dict[str, str]:
        return {
            "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
        }  # fmt: skip

    def add_hook(self, box: Box, event: str, command: str, seconds: float | None = None) -> None:
        hook = {"type": "command", "command": command, **({"timeout": seconds} if seconds else {})}
        box.merge("project/.claude/settings.local.json", {"hooks": {event: [{"hooks": [hook]}]}})

    def add_mcp_server(self, box: Box) -> None:
        house = {"type": "stdio", "command": MCP_SERVER[0], "args": MCP_SERVER[1:]}
        box.merge("home/.claude.json", {"mcpServers": {"house": house}})

    def shell(self, command: str) -> Call:
        return Call("Bash", {"command": command, "description": "d"})

    def write(self, path: str, content: str) -> Call:
        return Call("Write", {"file_path": path, "content": content})

    def read(self, path: str) -> Call:
        return Call("Read", {"file_path": path})

    def subagent(self, prompt: str) -> Sequence[Turn]:
        return [[Call("Agent", {"description": "d", "prompt": prompt, "subagent_type": "general-purpose"})]]

    def mcp_call(self, text: str) -> Call:
        return Call("mcp__house__note", {"text": text})
