"""Variables and settings that make programs run a command, or load code from a folder or a file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ...matching.shell import ShellCommand
from ...matching.shell.words import base_name, is_known, written_of
from .rows import Found

__all__ = ["loading_variables"]

_FOLDERS = frozenset({"PYTHONPATH"})
_COMMANDS = frozenset({"GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "PROMPT_COMMAND"})
_SETTINGS = frozenset({"core.sshcommand", "core.gitproxy"})
_LOADS = ("--require", "-r", "--import", "--loader", "--experimental-loader")
_SETTERS = frozenset({"export", "declare", "typeset", "local", "readonly", "setenv"})


def loading_variables(command: ShellCommand) -> Iterator[Found]:
    """Yield what a command is made to run or load by variables; a folder of modules has the value ``folder``."""
    for name, value in _assigned(command):
        if name in _FOLDERS:
            yield from (Found("load-code", folder, ("folder",)) for folder in value.split(":") if folder)
        elif (name in _COMMANDS and not _is_ssh(value)) or (name == "NODE_OPTIONS" and _loads(value)):
            yield Found("load-code", f"{name}={value}")
    if command.name == "git":
        yield from _settings(command)


def _assigned(command: ShellCommand) -> Iterator[tuple[str, str]]:
    yield from command.assigned
    if command.name in _SETTERS:
        for word in map(written_of, command.parts[1:]):
            name, equals, value = word.partition("=")
            if equals:
                yield name, value


def _settings(command: ShellCommand) -> Iterator[Found]:
    words = command.parts[1:]
    for at, word in enumerate(words):
        if word.startswith("-c") and not word.startswith("--"):
            setting = word[2:] or "".join(words[at + 1 : at + 2])
            name, _, value = setting.partition("=")
            if name.lower() in _SETTINGS and not _is_ssh(value):
                yield Found("load-code", setting)


def _is_ssh(value: str) -> bool:
    """Return whether a command is ssh itself with options that name no further command, or not known at all."""
    if not value or not is_known(value):
        return not value
    try:
        words = shlex.split(value)
    except ValueError:
        return False
    return bool(words) and "/" not in words[0] and base_name(words[0]) == "ssh" and "command" not in value.lower()


def _loads(value: str) -> bool:
    return any(word.partition("=")[0] in _LOADS for word in value.split())
