"""The coding agents that can be attached: where their settings are, and how hooks are written there.

A line of the table per agent; what its events and answers are, its dialect knows. Paths begin with ``~`` (the
person's home), with ``/`` (the machine), or are relative to the project.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ..errors import UsageError, nearest
from .entry import Deadlines, SettingsEntry
from .plugins import amp_plugin, opencode_plugin
from .shapes import (
    ExecutableFile,
    JsonHooks,
    OwnJson,
    Plugin,
    Shape,
    TomlHooks,
    YamlHooks,
    grouped,
    toml_flat,
    toml_grouped,
)

__all__ = ["AGENTS", "SCOPES", "CodingAgent", "Scope", "find_agent", "found_agents"]

Scope = Literal["local", "shared", "user", "managed"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True, slots=True)
class CodingAgent:
    """A coding agent that can be attached."""

    name: str
    title: str
    places: Mapping[Scope, str]
    """The file, or for a script per event the folder, of each scope that this agent has."""
    shape: Shape
    shapes: Mapping[Scope, Shape] = field(default_factory=dict)
    """Of scopes whose file has another form."""
    programs: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """Folders in a project or in the home that show that the agent is used."""
    deadlines: Deadlines = field(default_factory=Deadlines)
    moved: tuple[str, str] = ("", "")
    """The variable that moves the person's folder of this agent, and that folder."""
    notes: tuple[str, ...] = ()
    """What a person has to do or to know, after attaching."""
    adopts: bool = False
    """Whether its hooks speak Claude Code's dialect, so that they can be taken into our configuration."""
    in_posix_shell: bool = False
    """Whether it is known to start hooks with sh, bash or zsh."""
    restarts: bool = True
    """Whether a running session must be started again to see the change."""

    def path(self, scope: Scope, project: str) -> str:
        """Return the absolute path of a scope; raise UsageError if the agent has none."""
        place = self.places.get(scope)
        if place is None:
            others = ", ".join(f"--{one}" if one != "local" else "no option" for one in self.places)
            words = {"local": "local settings", "shared": "settings in a project", "user": "settings of a person",
                     "managed": "managed settings"}  # fmt: skip
            raise UsageError(f"{self.title} has no {words[scope]}", hint=f"it has: {others}")
        if place.startswith("~/"):
            variable, folder = self.moved
            moved = os.environ.get(variable, "") if variable else ""
            if os.path.isabs(moved) and (place + "/").startswith(folder + "/"):
                return os.path.normpath(moved + place[len(folder) :])
            return os.path.expanduser(place)
        return place if os.path.isabs(place) else os.path.join(project, place)

    def shape_of(self, scope: Scope) -> Shape:
        """Return how the file of a scope holds hooks."""
        return self.shapes.get(scope, self.shape)


def _managed(linux: str, mac: str) -> str:
    return mac if sys.platform == "darwin" else linux


def _versioned(entries: Sequence[SettingsEntry]) -> Any:
    return {"version": 1, "hooks": {entry.name: [_copilot(entry)] for entry in entries}}


def _copilot(entry: SettingsEntry) -> dict[str, Any]:
    return {"type": "command", "command": entry.command, "timeoutSec": entry.timeout}


def _cursor(entry: SettingsEntry) -> dict[str, Any]:
    return {"command": entry.command, "timeout": entry.timeout, "failClosed": True}


def _claude(entry: SettingsEntry) -> dict[str, Any]:
    return grouped(entry, more={"onFailure": "block"})


def _gemini(entry: SettingsEntry) -> dict[str, Any]:
    return grouped(entry, unit="ms", more={"name": "interpose"})


def _droid(entry: SettingsEntry) -> dict[str, Any]:
    return grouped(entry, matcher="*")


def _windsurf(entry: SettingsEntry) -> dict[str, Any]:
    return {"command": entry.command, "show_output": True}


def _kiro(entries: Sequence[SettingsEntry]) -> Any:
    hooks = [{"name": f"interpose {entry.name}", "trigger": entry.name, "timeout": entry.timeout,
              "action": {"type": "command", "command": entry.command}} for entry in entries]  # fmt: skip
    return {"version": "v1", "hooks": hooks}


def _group_file(entries: Sequence[SettingsEntry]) -> Any:
    return {"hooks": {entry.name: [grouped(entry)] for entry in entries}}


def _is_not(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: type(value) not in kinds


_MODES = ("acceptEdits", "auto", "bypassPermissions", "default", "delegate", "dontAsk", "plan")
_OFF: dict[str, Any] = {
    "disableAllHooks": True,
    "env.INTERPOSE_OFF": ...,
    "env.INTERPOSE_TRUST": ...,
    # The shell that runs our line loads it, and can be ended by it.
    "env.LD_AUDIT": ...,
    "env.LD_PRELOAD": ...,
    # Claude Code drops a file in which a key that it knows has a value of another type.
    "cleanupPeriodDays": _is_not(int, float),
    "env": _is_not(dict),
    "model": _is_not(str),
    "permissions": _is_not(dict),
    "permissions.allow": _is_not(list),
    "permissions.ask": _is_not(list),
    "permissions.defaultMode": lambda value: value not in _MODES,
    "permissions.deny": _is_not(list),
    "sandbox": _is_not(dict),
    "statusLine": _is_not(dict),
}
"""What switches hooks off in settings of Claude Code."""

_TABLE = (
    CodingAgent(
        "claude", "Claude Code",
        {"local": ".claude/settings.local.json", "shared": ".claude/settings.json", "user": "~/.claude/settings.json",
         "managed": _managed("/etc/claude-code/managed-settings.d/50-interpose.json",
                             "/Library/Application Support/ClaudeCode/managed-settings.d/50-interpose.json")},
        JsonHooks(form=_claude, switches=_OFF),
        programs=("claude",), folders=(".claude",), moved=("CLAUDE_CONFIG_DIR", "~/.claude"), adopts=True,
        deadlines=Deadlines(tool=300, other=60, events={"SessionEnd": 30, "UserPromptSubmit": 60}), restarts=False,
        in_posix_shell=True,
    ),
    CodingAgent(
        "codex", "Codex",
        {"local": ".codex/hooks.json", "shared": ".codex/hooks.json", "user": "~/.codex/hooks.json",
         "managed": "/etc/codex/config.toml"},
        JsonHooks(known=("hooks", "description")), {"managed": TomlHooks(toml_grouped)}, programs=("codex",),
        folders=(".codex",),
        moved=("CODEX_HOME", "~/.codex"), adopts=True,
        deadlines=Deadlines(tool=300, other=60, events={"SessionEnd": 3}),
    ),
    CodingAgent(
        "copilot", "Copilot CLI",
        {"local": ".github/copilot/settings.local.json", "shared": ".github/hooks/interpose.json",
         "user": "~/.copilot/hooks/interpose.json",
         "managed": _managed("/etc/github-copilot/policy.d/interpose.json",
                             "/Library/Application Support/GitHubCopilot/policy.d/interpose.json")},
        OwnJson(_versioned),
        {"local": JsonHooks(form=_copilot, strict=False, switches={"disableAllHooks": True})},
        programs=("copilot",), folders=(".github/copilot", ".copilot"), moved=("COPILOT_HOME", "~/.copilot"),
        notes=("Copilot loads hooks of a project in a folder that you have trusted there.",),
        in_posix_shell=True,
    ),
    CodingAgent(
        "gemini", "Gemini CLI",
        {"local": ".gemini/settings.json", "shared": ".gemini/settings.json", "user": "~/.gemini/settings.json",
         "managed": _managed("/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json")},
        JsonHooks(form=_gemini, strict=False, switches={"hooksConfig.enabled": False, "tools.enableHooks": False}),
        programs=("gemini",), folders=(".gemini",),
        notes=("Gemini CLI skips hooks of a project in a folder that you have not trusted there.",),
        in_posix_shell=True,
    ),
    CodingAgent(
        "qwen", "Qwen Code",
        {"local": ".qwen/settings.json", "shared": ".qwen/settings.json", "user": "~/.qwen/settings.json",
         "managed": _managed("/etc/qwen-code/settings.json", "/Library/Application Support/QwenCode/settings.json")},
        JsonHooks(strict=False, switches={"disableAllHooks": True, "hooksConfig.enabled": False}),
        programs=("qwen",), folders=(".qwen",), adopts=True,
        in_posix_shell=True,
    ),
    CodingAgent(
        "cline", "Cline",
        {"local": ".cline/hooks", "shared": ".clinerules/hooks", "user": "~/.cline/hooks"},
        ExecutableFile(), programs=("cline",), folders=(".cline", ".clinerules"),
        deadlines=Deadlines(tool=30, other=30), in_posix_shell=True,
    ),
    CodingAgent(
        "droid", "Droid",
        {"local": ".factory/hooks.json", "shared": ".factory/hooks.json", "user": "~/.factory/hooks.json"},
        JsonHooks((), form=_droid),
        programs=("droid",), folders=(".factory",), adopts=True,
        in_posix_shell=True,
    ),
    CodingAgent(
        "cursor", "Cursor",
        {"local": ".cursor/hooks.json", "shared": ".cursor/hooks.json", "user": "~/.cursor/hooks.json",
         "managed": _managed("/etc/cursor/hooks.json", "/Library/Application Support/Cursor/hooks.json")},
        JsonHooks(form=_cursor, head={"version": 1}, strict=False),
        programs=("cursor-agent", "cursor"), folders=(".cursor",),
    ),
    CodingAgent(
        "opencode", "opencode",
        {"local": ".opencode/plugins/interpose.js", "shared": ".opencode/plugins/interpose.js",
         "user": "~/.config/opencode/plugins/interpose.js"},
        Plugin(opencode_plugin), programs=("opencode",), folders=(".opencode",),
        in_posix_shell=True,
    ),
    CodingAgent(
        "vscode", "VS Code",
        {"shared": ".github/hooks/interpose-vscode.json", "user": "~/.copilot/hooks/interpose-vscode.json"},
        OwnJson(_versioned), programs=("code",), folders=(".vscode",),
        notes=("Copilot CLI reads the same folder.",),
    ),
    CodingAgent(
        "windsurf", "Windsurf",
        {"local": ".windsurf/hooks.json", "shared": ".windsurf/hooks.json",
         "user": "~/.codeium/windsurf/hooks.json",
         "managed": _managed("/etc/windsurf/hooks.json", "/Library/Application Support/Windsurf/hooks.json")},
        JsonHooks(form=_windsurf), programs=("windsurf",), folders=(".windsurf", ".codeium"),
        notes=("Windsurf has no deadline for hooks, and runs none in Restricted Mode.",),
    ),
    CodingAgent(
        "kiro", "Kiro",
        {"local": ".kiro/hooks/interpose.json", "shared": ".kiro/hooks/interpose.json"},
        OwnJson(_kiro), programs=("kiro-cli", "kiro"), folders=(".kiro",),
    ),
    CodingAgent(
        "auggie", "Auggie",
        {"local": ".augment/settings.local.json", "shared": ".augment/settings.json",
         "user": "~/.augment/settings.json", "managed": "/etc/augment/settings.json"},
        JsonHooks(unit="ms"), programs=("auggie",), folders=(".augment",),
    ),
    CodingAgent(
        "amp", "Amp",
        {"local": ".amp/plugins/interpose.ts", "shared": ".amp/plugins/interpose.ts",
         "user": "~/.config/amp/plugins/interpose.ts"},
        Plugin(amp_plugin), programs=("amp",), folders=(".amp",),
        notes=("A run without a person needs `amp --plugin-ready-timeout`.",),
        in_posix_shell=True,
    ),
    CodingAgent(
        "goose", "Goose",
        {"local": ".agents/plugins/interpose/hooks/hooks.json", "shared": ".agents/plugins/interpose/hooks/hooks.json",
         "user": "~/.agents/plugins/interpose/hooks/hooks.json"},
        OwnJson(_group_file), programs=("goose",), folders=(".goose",),
    ),
    CodingAgent(
        "kimi", "Kimi CLI", {"user": "~/.kimi/config.toml"}, TomlHooks(toml_flat),
        programs=("kimi",), folders=(".kimi",),
    ),
    CodingAgent(
        "antigravity", "Antigravity",
        {"local": ".agents/hooks.json", "shared": ".agents/hooks.json", "user": "~/.gemini/config/hooks.json"},
        JsonHooks(("interpose",)), programs=("agy",), folders=(".gemini/config",),
        notes=("A mistake anywhere in its hooks.json makes Antigravity drop the whole file.",),
    ),
    CodingAgent(
        "grok", "Grok Build",
        {"local": ".grok/hooks/interpose.json", "shared": ".grok/hooks/interpose.json",
         "user": "~/.grok/hooks/interpose.json"},
        OwnJson(_group_file), programs=("grok",), folders=(".grok",),
    ),
    CodingAgent(
        "hermes", "Hermes", {"user": "~/.hermes/config.yaml"}, YamlHooks(),
        programs=("hermes",), folders=(".hermes",), moved=("HERMES_HOME", "~/.hermes"),
        notes=("Hermes asks once for each new hook: answer it, or run `hermes hooks list`.",),
    ),
    CodingAgent(
        "deepagents", "deepagents-code",
        {"local": ".deepagents/hooks.json", "shared": ".deepagents/hooks.json", "user": "~/.deepagents/hooks.json"},
        JsonHooks(), programs=("deepagents", "dcode"), folders=(".deepagents",),
    ),
    CodingAgent(
        "openhands", "OpenHands",
        {"local": ".openhands/hooks.json", "shared": ".openhands/hooks.json", "user": "~/.openhands/hooks.json"},
        JsonHooks((), form=_droid), programs=("openhands",), folders=(".openhands",),
    ),
)  # fmt: skip

AGENTS: Mapping[str, CodingAgent] = {agent.name: agent for agent in _TABLE}
"""The agents by name."""


def find_agent(name: str) -> CodingAgent:
    """Return an agent; raise UsageError if there is none of that name."""
    found = AGENTS.get(name.lower())
    if found is None:
        hint = nearest(name, AGENTS) or f"one of {', '.join(AGENTS)}"
        raise UsageError(f"{name} is not an agent that can be attached", hint=hint)
    return found


def found_agents(project: str) -> list[CodingAgent]:
    """Return the agents that are used here: their program is on PATH, or the project has their folder."""
    found = []
    for agent in AGENTS.values():
        on_path = any(shutil.which(program) for program in agent.programs)
        used = any(os.path.isdir(os.path.join(project, folder)) for folder in agent.folders)
        if on_path or used:
            found.append(agent)
    return found
