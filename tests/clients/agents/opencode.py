"""opencode, whose hooks are plugins: a hook of the rig is a plugin that starts a shell line."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..model_server import KEY, Call, Turn
from ..rig import MCP_SERVER, Box, Client

PLUGIN = """\
import { spawnSync } from "node:child_process"
export const Rig = async () => ({
  %(event)s: async (input, output) => {
    const given = JSON.stringify({ input, output }, (key, value) => (typeof value === "function" ? undefined : value))
    const done = spawnSync("/bin/sh", ["-c", %(command)s], { input: given, encoding: "utf8" })
    if (done.status === 2) throw new Error(done.stderr)
    if (done.stdout) Object.assign(output ?? {}, JSON.parse(done.stdout))
  },
})
"""


class OpenCode(Client):
    name = "opencode"
    package = "opencode-ai"
    version = "1.18.33"
    program = "opencode-linux-x64/bin/opencode"
    events = (
        "tool.execute.before", "tool.execute.after", "chat.message", "chat.params", "permission.ask", "event",
        "command.execute.before", "experimental.chat.system.transform", "experimental.session.compacting",
        "experimental.text.complete", "shell.env",
    )  # fmt: skip
    before_tool, after_tool, at_prompt = "tool.execute.before", "tool.execute.after", "chat.message"
    at_start, at_stop = "experimental.chat.system.transform", "event"

    def configure(self, box: Box, url: str) -> None:
        models = {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": 100000, "output": 4096}}}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "models": models}
        provider["options"] = {"baseURL": f"{url}/v1", "apiKey": KEY}
        box.merge("home/.config/opencode/opencode.json", {
            "$schema": "https://opencode.ai/config.json", "provider": {"scripted": provider}, "autoupdate": False,
            "model": "scripted/scripted", "small_model": "scripted/scripted", "share": "disabled",
            "permission": {"bash": "allow", "edit": "allow", "external_directory": "allow"},
        })  # fmt: skip

    def command(self, box: Box, prompt: str) -> list[str]:
        return ["run", "--format", "json", "--title", "t", "-m", "scripted/scripted", prompt]

    def environ(self, box: Box, url: str) -> dict[str, str]:
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}  # fmt: skip

    def add_hook(self, box: Box, event: str, command: str, seconds: float | None = None) -> None:
        name = f"project/.opencode/plugins/rig-{event.replace('.', '-')}.js"
        box.write(name, PLUGIN % {"event": json.dumps(event), "command": json.dumps(command)})

    def add_mcp_server(self, box: Box) -> None:
        house = {"type": "local", "command": MCP_SERVER, "environment": {"BOX": str(box.marks)}}
        box.merge("home/.config/opencode/opencode.json", {"mcp": {"house": house}})

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "d"})

    def write(self, path: str, content: str) -> Call:
        return Call("write", {"filePath": path, "content": content})

    def read(self, path: str) -> Call:
        return Call("read", {"filePath": path})

    def subagent(self, prompt: str) -> Sequence[Turn]:
        return [[Call("task", {"description": "d", "prompt": prompt, "subagent_type": "general"})]]

    def mcp_call(self, text: str) -> Call:
        return Call("house_note", {"text": text})
