"""GitHub Copilot CLI, with a model provider of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from ..model_server import KEY, Call, Turn
from ..rig import MCP_SERVER, Box, Client


class Copilot(Client):
    name = "copilot"
    package = "@github/copilot"
    version = "1.0.102"
    program = "@github/copilot-*/copilot"
    events = (
        "PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop",
        "SubagentStart", "SubagentStop", "PreCompact", "PermissionRequest", "Notification", "ErrorOccurred",
    )  # fmt: skip

    def configure(self, box: Box, url: str) -> None:
        box.merge("home/.copilot/config.json", {"trusted_folders": [str(box.project)], "banner": "never"})

    def command(self, box: Box, prompt: str) -> list[str]:
        return ["-p", prompt, "--allow-all-tools", "--allow-all-paths", "--trust-folder", "--disable-builtin-mcps",
                "--no-auto-update", "--log-level", "none"]  # fmt: skip

    def environ(self, box: Box, url: str) -> dict[str, str]:
        return {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_API_KEY": KEY, "COPILOT_MODEL": "gpt-4.1",
            "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false",
        }  # fmt: skip

    def add_hook(self, box: Box, event: str, command: str, seconds: float | None = None) -> None:
        hook = {"type": "command", "bash": command, **({"timeoutSec": seconds} if seconds else {})}
        box.merge("project/.github/hooks/rig.json", {"version": 1, "hooks": {event: [hook]}})

    def add_mcp_server(self, box: Box) -> None:
        start = {"type": "local", "command": MCP_SERVER[0], "args": MCP_SERVER[1:]}
        house = {**start, "tools": ["*"], "env": {"BOX": str(box.marks)}}
        box.merge("home/.copilot/mcp-config.json", {"mcpServers": {"house": house}})

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "d"})

    def write(self, path: str, content: str) -> Call:
        return Call("create", {"path": path, "file_text": content})

    def read(self, path: str) -> Call:
        return Call("view", {"path": path})

    def subagent(self, prompt: str) -> Sequence[Turn]:
        return [[Call("task", {"description": "d", "prompt": prompt, "agent_type": "task", "name": "helper"})]]

    def mcp_call(self, text: str) -> Call:
        return Call("house-note", {"text": text})
