"""Cline's command line."""

from __future__ import annotations

from collections.abc import Sequence

from ..model_server import KEY, Call, Turn
from ..rig import MCP_SERVER, Box, Client


class Cline(Client):
    name = "cline"
    package = "cline"
    version = "3.0.65"
    program = "@cline/cli-*/bin/cline"
    events = (
        "PreToolUse", "PostToolUse", "UserPromptSubmit", "TaskStart", "TaskResume", "TaskComplete", "TaskError",
        "TaskCancel", "SessionShutdown", "PreCompact", "Notification",
    )  # fmt: skip
    at_start, at_stop = "TaskStart", "TaskComplete"

    def configure(self, box: Box, url: str) -> None:
        settings = {"provider": "openai-compatible", "apiKey": KEY, "model": "scripted", "baseUrl": f"{url}/v1"}
        provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
        known = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": provider}}
        box.merge("home/.cline/data/settings/providers.json", known)
        box.merge("home/.cline/data/settings/global-settings.json", {"telemetryOptOut": True, "autoUpdate": False})

    def command(self, box: Box, prompt: str) -> list[str]:
        return ["--json", "--auto-approve", "true", "-P", "openai-compatible", "-m", "scripted", prompt]

    def environ(self, box: Box, url: str) -> dict[str, str]:
        return {"CLINE_NO_AUTO_UPDATE": "1", "CLINE_TELEMETRY_DISABLED": "1", "CLINE_SESSION_BACKEND_MODE": "local"}

    def add_hook(self, box: Box, event: str, command: str, seconds: float | None = None) -> None:
        path = box.project / ".clinerules/hooks" / event
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{command}\n")
        path.chmod(0o755)

    def add_mcp_server(self, box: Box) -> None:
        house = {"command": MCP_SERVER[0], "args": MCP_SERVER[1:], "env": {"BOX": str(box.marks)}}
        box.merge("home/.cline/data/settings/cline_mcp_settings.json", {"mcpServers": {"house": house}})

    def shell(self, command: str) -> Call:
        return Call("run_commands", {"commands": [command]})

    def write(self, path: str, content: str) -> Call:
        return Call("editor", {"command": "create", "path": path, "new_text": content})

    def read(self, path: str) -> Call:
        return Call("read_files", {"files": [{"path": path}]})

    def subagent(self, prompt: str) -> Sequence[Turn]:
        return [[Call("spawn_agent", {"systemPrompt": "s", "task": prompt})]]

    def mcp_call(self, text: str) -> Call:
        return Call("house__note", {"text": text})
