"""Read from a whole line what weakens the guards: variables, the port of the server, and processes found by name."""

from __future__ import annotations

from collections.abc import Iterator

from ...matching.shell import Line, ShellCommand
from ...matching.shell.words import is_known
from .effect import Effect
from .tables.guards import AGENTS

__all__ = ["guard_effects"]

_OWN = "INTERPOSE_"
_FREE = frozenset({"INTERPOSE_COMPLETE"})
_MOVES_FILES = frozenset({
    "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_DIR",
    "GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "QWEN_HOME", "CURSOR_CONFIG_DIR", "COPILOT_HOME", "KIRO_HOME",
    "CLINE_DIR", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT", "OPENCODE_PURE", "FACTORY_HOME",
    "PLUGINS", "AMP_SETTINGS_FILE", "GOOSE_MODE", "KIMI_HOME", "HERMES_HOME", "PI_CODING_AGENT_DIR",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS", "CLAUDE_CODE_SIMPLE", "DISABLE_HOOKS", "CLAUDE_CODE_MANAGED_SETTINGS_PATH",
})  # fmt: skip
"""Variables that make an agent, or Interpose, read other settings."""
_CHANGERS = frozenset("chmod chown cp dd gzip install ln mv patch rm rsync sed shred tee truncate unlink".split())
_SETTERS = frozenset({"export", "declare", "typeset", "local", "readonly", "setenv", "env", "set", "unset", "setx"})
_SETS = frozenset({"set-environment", "setenv", "import-environment"})
_FINDERS = frozenset({"pgrep", "pidof", "grep", "rg", "egrep", "ps", "lsof", "awk", "cat", "fuser", "head"})


def guard_effects(line: Line, cwd: str, home: str) -> Iterator[Effect]:
    """Yield the effects on the guards that several commands of a line have together."""
    yield from _variables(line)
    yield from _processes(line)
    yield from _programs(line)


def _programs(line: Line) -> Iterator[Effect]:
    """Yield a command that changes the file of Interpose's program: ``rm "$(which interpose)"``."""
    named = {one.place for one in line.commands if any("interpose" in word for word in one.parts)}
    for command in line.commands if named else ():
        finds = any(not named.isdisjoint(range(first, last)) for first, last in command.substituted)
        changes = command.name in _CHANGERS or any(one.is_output for one in command.redirections)
        if finds and changes:
            yield _effect("guard", "the program of Interpose", command)


def _variables(line: Line) -> Iterator[Effect]:
    starts_agent = any(command.name in AGENTS or command.name == "interpose" for command in line.commands)
    for command in line.commands:
        for name in _assigned(command):
            if (name.startswith(_OWN) and name not in _FREE) or (name in _MOVES_FILES and starts_agent):
                yield _effect("guard", f"the variable {name}", command)


def _assigned(command: ShellCommand) -> Iterator[str]:
    yield from (name.removesuffix("+") for name, _ in command.assigned)
    if command.name in _SETTERS:
        for word in command.parts[1:]:
            yield word.partition("=")[0]
    elif command.name in ("systemctl", "launchctl", "tmux") and _SETS & set(command.parts):
        yield from (word.partition("=")[0] for word in command.parts[1:])


def _processes(line: Line) -> Iterator[Effect]:
    """Yield a process that one command finds by its name and another ends; and the agent's own."""
    for command in line.commands:
        if command.name == "kill" and "PPID" in command.variables:
            yield _effect("guard-process", "the agent itself", command)
    finds = [one for one in line.commands if one.name in _FINDERS and any("interpose" in word for word in one.parts)]
    if not finds:
        return
    for command in line.commands:
        ends = command.name == "kill" and (command.via or not all(map(is_known, command.parts)))
        if ends or (command.name in ("xargs", "parallel") and "kill" in command.parts):
            yield _effect("guard-process", "found by the name interpose", command)


def _effect(kind: str, target: str, command: ShellCommand) -> Effect:
    return Effect(kind, target, " ".join(command.parts) or target, command.name, command.grade)
