"""Qwen Code."""

from __future__ import annotations

from collections.abc import Sequence

from ..model_server import KEY, Call, Turn
from ..rig import MCP_SERVER, Box, Client


class Qwen(Client):
    name = "qwen"
    package = "@qwen-code/qwen-code"
    version = "0.24.4"
    program = "@qwen-code/qwen-code/cli.js"
    needs_node = True
    events = (
        "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion",
        "SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact",
        "PostCompact", "PermissionRequest", "PermissionDenied", "Notification", "MessageDisplay", "InstructionsLoaded",
        "TodoCreated", "TodoCompleted",
    )  # fmt: skip

    def configure(self, box: Box, url: str) -> None:
        box.merge("home/.qwen/settings.json", {
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True, "disableUpdateNag": True},
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
        })  # fmt: skip

    def command(self, box: Box, prompt: str) -> list[str]:
        return [prompt, "--approval-mode", "yolo", "--output-format", "json", "-m", "scripted"]

    def environ(self, box: Box, url: str) -> dict[str, str]:
        return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted"}

    def add_hook(self, box: Box, event: str, command: str, seconds: float | None = None) -> None:
        hook = {"type": "command", "command": command, **({"timeout": seconds} if seconds else {})}
        box.merge("project/.qwen/settings.json", {"hooks": {event: [{"hooks": [hook]}]}})

    def add_mcp_server(self, box: Box) -> None:
        house = {"command": MCP_SERVER[0], "args": MCP_SERVER[1:], "trust": True, "env": {"BOX": str(box.marks)}}
        box.merge("home/.qwen/settings.json", {"mcpServers": {"house": house}})

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command, "description": "d", "is_background": False})

    def write(self, path: str, content: str) -> Call:
        return Call("write_file", {"file_path": path, "content": content})

    def read(self, path: str) -> Call:
        return Call("read_file", {"file_path": path})

    def subagent(self, prompt: str) -> Sequence[Turn]:
        return [[Call("agent", {"description": "d", "prompt": prompt, "subagent_type": "general-purpose"})]]

    def mcp_call(self, text: str) -> Call:
        return Call("mcp__house__note", {"text": text})
