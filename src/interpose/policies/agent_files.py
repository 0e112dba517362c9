"""The files that guard an agent: Interpose's own, and the settings, hooks and plugins of each coding agent."""

from __future__ import annotations

import os

from .file_table import FileTable

__all__ = ["AGENT_FILES", "INSTRUCTIONS", "MOVED_HOMES", "OWN_FILES", "own_folders"]

OWN_FILES = FileTable({
    "Interpose": """
        .interpose/ .config/interpose/ .local/state/interpose/ .cache/interpose/ /etc/interpose/
        site-packages/interpose/ site-packages/interpose-*.dist-info/ .local/bin/interpose /usr/local/bin/interpose
        /usr/bin/interpose .venv/bin/interpose site-packages/__editable__*interpose*
        systemd/user/interpose*.service launchagents/*interpose*.plist
    """,
})  # fmt: skip

AGENT_FILES = FileTable({
    "claude": """
        .claude/settings.json .claude/settings.local.json .claude/hooks/ .claude/plugins/ .claude.json .mcp.json
        managed-settings.json managed-settings.d/ managed-mcp.json .claude/mcp.json hooks/hooks.json hooks.json
        .claude/remote-settings.json .claude-plugin/
    """,
    "codex": ".codex/config.toml .codex/hooks.json .codex/hooks/ .codex/rules/ .codex/requirements.toml /etc/codex/ "
    ".codex/managed_config.toml .codex/plugins/",
    "gemini": ".gemini/settings.json .gemini/extensions/ .gemini/policies/ .gemini/hooks/ .gemini/trustedfolders.json "
    "/etc/gemini-cli/",
    "qwen": ".qwen/settings.json .qwen/extensions/ .qwen/hooks/ /etc/qwen-code/",
    "cursor": ".cursor/hooks.json .cursor/hooks/ .cursor/mcp.json .cursor/cli.json .cursor/cli-config.json "
    ".cursor/permissions.json .cursor/sandbox.json /etc/cursor/",
    "copilot": ".github/hooks/ .copilot/hooks/ .copilot/config.json .copilot/settings.json .copilot/mcp-config.json "
    ".github/copilot/settings*.json .github/extensions/ /etc/github-copilot/ .copilot/plugins/",
    "vscode": ".vscode/mcp.json",
    "windsurf": ".windsurf/hooks.json .codeium/windsurf/hooks.json .codeium/windsurf/mcp_config.json /etc/windsurf/",
    "kiro": ".kiro/hooks/ .kiro/agents/ .kiro/settings/",
    "cline": ".cline/hooks/ .clinerules/hooks/ cline/hooks/ .cline/plugins/ .cline/data/settings/",
    "opencode": ".opencode/plugins/ .opencode/plugin/ .config/opencode/ opencode.json opencode.jsonc "
    ".opencode/opencode.json",
    "factory": ".factory/hooks.json .factory/settings.json .factory/settings.local.json .factory/hooks/ "
    ".factory/plugins/ .factory/mcp.json",
    "augment": ".augment/settings.json .augment/settings.local.json .augment/hooks/ .augment/plugins/ /etc/augment/",
    "amp": ".amp/plugins/ .amp/settings.json .config/amp/",
    "goose": ".agents/plugins/ .config/goose/",
    "kimi": ".kimi/config.toml .kimi/mcp.json .kimi-code/config.toml",
    "antigravity": ".agents/hooks.json .gemini/config/ .gemini/antigravity*/",
    "grok": ".grok/hooks/ .grok/settings.json .grok/user-settings.json .grok/config.toml",
    "hermes": ".hermes/config.yaml .hermes/plugins/ .hermes/hooks/",
    "deepagents": ".deepagents/hooks.json .deepagents/config.toml .deepagents/plugins/",
    "openhands": ".openhands/hooks.json .openhands/config.toml .openhands/settings.json .openhands/agent_settings.json",
    "devin": ".devin/hooks*.json .devin/config*.json .config/devin/",
    "junie": ".junie/config.json .junie/mcp/",
    "vibe": ".vibe/hooks.toml .vibe/config.toml",
    "pi": ".pi/extensions/ .pi/settings.json .pi/agent/",
    "others": ".muse/hooks.json .rulesync/hooks.jsonc .continue/config.* .continue/permissions.yaml .config/crush/ "
    "crush.json .crush.json .qoder/settings.json .letta/settings.json .tabnine/agent/settings.json "
    ".openclaw/openclaw.json",
})  # fmt: skip
"""The files by agent."""

INSTRUCTIONS = FileTable({
    "instructions": """
        claude.md claude.local.md agents.md agents.override.md gemini.md qwen.md .cursorrules .cursor/rules/
        .windsurfrules .windsurf/rules/ .github/copilot-instructions.md .github/instructions/ .clinerules .goosehints
        .kiro/steering/ .claude/agents/ .claude/commands/ .claude/skills/ .claude/rules/ .claude/output-styles/
        .codex/prompts/ .codex/skills/ .agents/skills/ .gemini/commands/ .opencode/agent/ .opencode/command/
        .factory/droids/ .junie/guidelines.md
    """,
})  # fmt: skip
"""What agents are told: texts, not settings."""


MOVED_HOMES = {
    "CLAUDE_CONFIG_DIR": ".claude", "CODEX_HOME": ".codex", "COPILOT_HOME": ".copilot", "KIRO_HOME": ".kiro",
    "CURSOR_CONFIG_DIR": ".cursor", "HERMES_HOME": ".hermes", "OPENCODE_CONFIG_DIR": ".config/opencode",
}  # fmt: skip
"""Variables that name the folder of an agent, and the folder that it is without them."""


def own_folders(home: str) -> tuple[str, ...]:
    """Return the folders of Interpose's configuration, state and cache, also where variables move them."""
    places = {"XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state", "XDG_CACHE_HOME": ".cache"}
    bases = [(os.environ.get(name, ""), os.path.join(home, below)) for name, below in places.items()]
    return tuple(os.path.join(base if os.path.isabs(base) else default, "interpose") for base, default in bases)
