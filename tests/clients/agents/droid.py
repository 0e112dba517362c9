"""Factory's Droid, with a custom model."""

from __future__ import annotations

from collections.abc import Sequence

from ..model_server import KEY, Call, Turn
from ..rig import MCP_SERVER, Box, Client


class Droid(Client):
    name = "droid"
    package = "droid"
    version = "0.215.0"
    program = "@factory/cli-*/bin/droid"
    events = (
        "PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop", "SubagentStop",
        "PreCompact", "Notification",
    )  # fmt: skip

    has_subagents = False  # a daemon starts them, which needs Factory's servers

    def configure(self, box: Box, url: str) -> None:
        model = {"model": "scripted", "id": "custom:scripted", "index": 0, "baseUrl": f"{url}/v1", "apiKey": KEY,
                 "displayName": "scripted", "maxOutputTokens": 4096, "noImageSupport": True,
                 "provider": "generic-chat-completion-api"}  # fmt: skip
        box.merge("home/.factory/settings.json", {
            "customModels": [model], "cloudSessionSync": False, "enableDroidShield": False, "autoUpdate": False,
        })  # fmt: skip

    def command(self, box: Box, prompt: str) -> list[str]:
        return ["exec", "--skip-permissions-unsafe", "-m", "custom:scripted", "-o", "json", prompt]

    def environ(self, box: Box, url: str) -> dict[str, str]:
        return {"FACTORY_API_KEY": "fk-" + KEY, "FACTORY_DISABLE_TELEMETRY": "1", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
                "FACTORY_API_BASE_URL": url, "DROID_DISABLE_AUTO_UPDATE": "1"}  # fmt: skip

    def add_hook(self, box: Box, event: str, command: str, seconds: float | None = None) -> None:
        hook = {"type": "command", "command": command, **({"timeout": seconds} if seconds else {})}
        box.merge("project/.factory/hooks.json", {event: [{"hooks": [hook]}]})

    def add_mcp_server(self, box: Box) -> None:
        house = {"type": "stdio", "command": MCP_SERVER[0], "args": MCP_SERVER[1:], "env": {"BOX": str(box.marks)}}
        box.merge("home/.factory/mcp.json", {"mcpServers": {"house": house}})

    def shell(self, command: str) -> Call:
        given = {"command": command, "summary": "s", "riskLevelReason": "r", "riskLevel": "low"}
        return Call("Execute", given)

    def write(self, path: str, content: str) -> Call:
        return Call("Create", {"file_path": path, "content": content})

    def read(self, path: str) -> Call:
        return Call("Read", {"file_path": path})

    def subagent(self, prompt: str) -> Sequence[Turn]:
        return [[Call("Task", {"description": "d", "prompt": prompt, "subagent_type": "worker"})]]

    def mcp_call(self, text: str) -> Call:
        return Call("house___note", {"text": text})
