"""Gemini CLI."""

from __future__ import annotations

from collections.abc import Sequence

from ..model_server import KEY, Call, Turn
from ..rig import MCP_SERVER, Box, Client


class Gemini(Client):
    name = "gemini"
    package = "@google/gemini-cli"
    version = "0.61.0"
    program = "@google/gemini-cli/bundle/gemini.js"
    needs_node = True
    events = (
        "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection",
        "SessionStart", "SessionEnd", "Notification", "PreCompress",
    )  # fmt: skip
    before_tool, after_tool, at_prompt, at_stop = "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent"

    def configure(self, box: Box, url: str) -> None:
        box.merge("home/.gemini/settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
            "model": {"name": "gemini-2.5-flash"},
        })  # fmt: skip

    def command(self, box: Box, prompt: str) -> list[str]:
        return ["-p", prompt, "--approval-mode", "yolo", "--output-format", "json", "-m", "gemini-2.5-flash"]

    def environ(self, box: Box, url: str) -> dict[str, str]:
        return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_NO_RELAUNCH": "true"}

    def add_hook(self, box: Box, event: str, command: str, seconds: float | None = None) -> None:
        hook = {"type": "command", "command": command, **({"timeout": int(seconds * 1000)} if seconds else {})}
        box.merge("project/.gemini/settings.json", {"hooks": {event: [{"hooks": [hook]}]}})

    def add_mcp_server(self, box: Box) -> None:
        house = {"command": MCP_SERVER[0], "args": MCP_SERVER[1:], "trust": True, "env": {"BOX": str(box.marks)}}
        box.merge("home/.gemini/settings.json", {"mcpServers": {"house": house}})

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command, "description": "d"})

    def write(self, path: str, content: str) -> Call:
        return Call("write_file", {"file_path": path, "content": content})

    def read(self, path: str) -> Call:
        return Call("read_file", {"file_path": path})

    def subagent(self, prompt: str) -> Sequence[Turn]:
        return [[Call("invoke_agent", {"agent_name": "generalist", "prompt": prompt})]]

    def mcp_call(self, text: str) -> Call:
        return Call("mcp_house_note", {"text": text})
