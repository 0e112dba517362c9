"""Which programs are agents, terminals of persons and shells, and which variables agents give to what they start."""

from __future__ import annotations

__all__ = [
    "AGENTS",
    "AGENT_VARIABLES",
    "EDITORS",
    "INTERPRETERS",
    "LOGINS",
    "MULTIPLEXERS",
    "SHELLS",
    "TERMINALS",
    "is_editor_server",
]

AGENTS = frozenset(
    "aider amp auggie claude cline codex copilot crush cursor-agent deepagents devin droid gemini goose grok hermes "
    "junie kimi kiro-cli openhands opencode qwen vibe".split()
)
"""Coding agents, by the name of their program."""

INTERPRETERS = ("bash", "bun", "dash", "deno", "node", "python", "sh", "zsh")
"""The beginnings of the names of programs whose first argument is the program that they run."""

AGENT_VARIABLES = (
    "AI_AGENT ANTIGRAVITY_AGENT AUGMENT_AGENT CLAUDECODE CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT "
    "CLAUDE_CODE_SESSION_ID CLINE_ACTIVE CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CODEX_THREAD_ID COPILOT_CLI "
    "CURSOR_AGENT GEMINI_CLI GOOSE_TERMINAL INTERPOSE_DEPTH OPENCODE QWEN_CODE".split()
)
"""Variables that agents set for their tools and hooks. Those that people set to configure an agent are not here, such
as CODEX_HOME and CLAUDE_CODE_USE_BEDROCK, and neither are those of an editor's own terminal, such as CURSOR_TRACE_ID.
"""

SHELLS = frozenset("ash bash busybox csh dash elvish fish ksh ksh93 mksh nu oksh pwsh sh tcsh yash zsh".split())

TERMINALS = frozenset(
    "alacritty blackbox contour cool-retro-term cosmic-term deepin-terminal foot ghostty gnome-terminal-server "
    "hyper io.elementary.terminal iTerm2 iTermServer kgx kitty konsole lxterminal mate-terminal mlterm ptyxis "
    "ptyxis-agent qterminal rio roxterm rxvt rxvt-unicode sakura st tabby Terminal terminology tilda tilix urxvt "
    "urxvtd uxterm warp warp-terminal wezterm wezterm-gui xfce4-terminal xterm yakuake".split()
)
"""Programs with a window in which a person types."""

EDITORS = frozenset(
    "Code code code-insiders code-oss codium cursor Cursor windsurf zed zed-editor clion datagrip goland idea "
    "phpstorm pycharm rider rubymine rustrover studio webstorm".split()
) | {"Code Helper", "Cursor Helper", "Windsurf Helper"}
"""Editors with a terminal in which a person types. Some are agents too: then they call hooks themselves."""

MULTIPLEXERS = frozenset(("screen", "tmux", "zellij"))
"""Programs that keep terminals without a person: a person sees one only through a client on another terminal."""

LOGINS = frozenset(("sshd", "sshd-session"))
"""Programs that give a terminal to a person on another machine."""

_SERVERS = ("/.vscode-server/", "/.vscode-server-insiders/", "/.cursor-server/", "/.windsurf-server/", "/code-server/")


def is_editor_server(program: str, arguments: tuple[str, ...]) -> bool:
    """Return whether a process keeps the terminals of an editor: that of VS Code on a remote machine, or a JetBrains
    editor, which run on an interpreter of their own.
    """
    if program.endswith("/jbr/bin/java"):
        return True
    return any(part in program for part in _SERVERS) and "--type=ptyHost" in arguments
