"""Codex."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ..model_server import KEY, Call, Turn
from ..rig import MCP_SERVER, Box, Client


class Codex(Client):
    name = "codex"
    package = "@openai/codex"
    version = "0.166.0"
    program = "@openai/codex-*/vendor/*/bin/codex"
    events = (
        "PreToolUse", "PostToolUse", "PermissionRequest", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop",
        "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Interrupt", "PreModelRequest",
    )  # fmt: skip
    can_read = False

    def configure(self, box: Box, url: str) -> None:
        servers = ""
        if box.has_mcp:
            program, *arguments = MCP_SERVER
            servers = f"""
[mcp_servers.house]
command = {json.dumps(program)}
args = {json.dumps(arguments)}
default_tools_approval_mode = "approve"
env_vars = ["BOX"]
"""
        box.write(
            "home/.codex/config.toml",
            f"""\
model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[projects."{box.project}"]
trust_level = "trusted"
{servers}""",
        )

    def command(self, box: Box, prompt: str) -> list[str]:
        trust = ["--dangerously-bypass-hook-trust"] if box.has_raw_hooks else []
        return ["exec", "--json", *trust, prompt]

    def environ(self, box: Box, url: str) -> dict[str, str]:
        return {"SCRIPTED_KEY": KEY, "CODEX_HOME": str(box.home / ".codex")}

    def add_hook(self, box: Box, event: str, command: str, seconds: float | None = None) -> None:
        hook = {"type": "command", "command": command, **({"timeout": seconds} if seconds else {})}
        box.has_raw_hooks = True
        box.merge("project/.codex/hooks.json", {"hooks": {event: [{"hooks": [hook]}]}})

    def add_mcp_server(self, box: Box) -> None:
        box.has_mcp = True

    def shell(self, command: str) -> Call:
        return Call("exec_command", {"cmd": command})

    def rewritten(self, command: str) -> dict[str, str]:
        return {"command": command}

    def write(self, path: str, content: str) -> Call:
        lines = "".join(f"+{line}\n" for line in content.splitlines())
        return Call("apply_patch", f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")

    def subagent(self, prompt: str) -> Sequence[Turn]:
        return [[Call("multi_agent_v1/spawn_agent", {"message": prompt})], _wait_for_agent]

    def mcp_call(self, text: str) -> Call:
        return Call("mcp__house/note", {"text": text})


def _wait_for_agent(body: dict[str, Any]) -> Sequence[Call]:
    """Wait for the agent whose id came back last."""
    found = re.findall(r'agent_id[\\"]+: *[\\"]+([^"\\]+)', json.dumps(body["input"]))
    return [Call("multi_agent_v1/wait_agent", {"targets": found[-1:], "timeout_ms": 30000})]
