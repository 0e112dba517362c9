"""Deny changing what guards the agent: Interpose's files, commands and processes, and the settings of agents."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator
from urllib.parse import urlsplit

from ..matching.paths import is_hard_link
from .agent_files import AGENT_FILES, INSTRUCTIONS, OWN_FILES, own_folders
from .call import Call
from .changes import Change, changes_of, label_of
from .effects import say
from .parameters import action, count, names
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_COMMANDS = {
    "guard": "own",
    "guard-process": "own",
    "agent-config": "settings",
    "agent-unguarded": "unguarded",
}
_INSTEAD = {
    "own": "a person has to do that",
    "settings": "a person has to change the settings of agents",
    "instructions": "a person has to change what agents are told",
    "unguarded": "start it with its guards",
}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0", "[::1]", "[::]", "127.1", "0"})  # noqa: S104 - compared


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_COMMANDS):
        parameter = _COMMANDS[effect.kind]
        yield Objection(options[parameter], say(effect, _INSTEAD[parameter]), effect.grade)
    for change in changes_of(call):
        parameter = _parameter(change, call, options)
        if parameter:
            yield Objection(options[parameter], say(change.effect, _INSTEAD[parameter]), change.effect.grade)
    if options["read"] != "allow":
        yield from _reads(call, options)
    if options["port"] is not None:
        yield from _requests(call, options)


def _parameter(change: Change, call: Call, options: Options) -> str:
    """Return the parameter that decides about a changed file; an empty text if it is none of the guards'."""
    if _is_own(change, call):
        return "own"
    agent = label_of(change, AGENT_FILES, call)
    if agent and _is_meant(agent, options):
        return "settings"
    if change.names and change.whole and (found := _held(change, call, options)):
        return found
    if change.names and is_hard_link(change.names[-1], _existing(call)):
        return "settings"
    return "instructions" if label_of(change, INSTRUCTIONS, call) else ""


def _is_own(change: Change, call: Call) -> bool:
    if label_of(change, OWN_FILES, call):
        return True
    folders = own_folders(call.home)
    return any(name == folder or name.startswith(f"{folder}/") for name in change.names for folder in folders)


def _is_meant(agent: str, options: Options) -> bool:
    return any(fnmatch.fnmatchcase(agent, one.lower()) for one in options["agents"])


def _held(change: Change, call: Call, options: Options) -> str:
    """Return the parameter for a folder that is deleted or moved with files of the guards in it."""
    folder = change.names[-1]
    if os.path.basename(folder).casefold() in AGENT_FILES.parents():
        return "settings"
    inside = [base for base in (call.project, call.cwd, call.home) if _holds(folder, base)]
    if any(os.path.lexists(one) and _holds(folder, one) for one in own_folders(call.home)):
        return "own"
    if any(OWN_FILES.below((folder, *inside), call.home)):
        return "own"
    agents = (label for label, path in AGENT_FILES.below((folder, *inside), call.home) if _holds(folder, path))
    return "settings" if any(_is_meant(agent, options) for agent in agents) else ""


def _existing(call: Call) -> list[str]:
    """Return the files of the guards that exist in the project and the home."""
    tables = (OWN_FILES, AGENT_FILES)
    return [path for table in tables for _, path in table.below((call.project, call.home), call.home)]


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _reads(call: Call, options: Options) -> Iterator[Objection]:
    for change in changes_of(call, "read-files"):
        if _is_own(change, call) or label_of(change, AGENT_FILES, call):
            yield Objection(options["read"], say(change.effect), change.effect.grade)


def _requests(call: Call, options: Options) -> Iterator[Objection]:
    """Yield an objection to each word that is an address of Interpose's server on this machine."""
    for line in call.lines:
        for command in line.commands:
            if any(_is_own_address(word, options["port"]) for word in command.parts[1:]):
                reason = f"`{command.name}` talks to Interpose's server ({_INSTEAD['own']})"
                yield Objection(options["own"], reason, command.grade)
    for effect in call.of("request"):
        if _is_own_address(effect.target, options["port"]):
            yield Objection(options["own"], f"`{effect.command}` talks to Interpose's server", effect.grade)


def _is_own_address(word: str, port: int) -> bool:
    if str(port) not in word:
        return False
    try:
        parts = urlsplit(word if "://" in word else f"//{word}")
        return parts.port == port and (parts.hostname or "") in _LOOPBACK
    except ValueError:
        return False


POLICY = Policy(
    name="self-protection",
    prevents="Changing what guards the agent: Interpose's own files, commands, variables and processes, the settings, "
    "hooks and plugins of coding agents, and agents started without guards.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("own", "deny", "changing files, variables or processes of Interpose, and its commands such as trust"),
        action("settings", "deny", "changing settings, hooks or plugins of a coding agent"),
        action("unguarded", "deny", "starting an agent without its guards"),
        action("instructions", "allow", "changing what agents are told: CLAUDE.md, AGENTS.md, commands, skills"),
        action("read", "allow", "reading the files of the guards"),
        names("agents", ("*",), "the agents whose settings are protected: claude, codex, cursor …"),
        count("port", 7878, "the port of Interpose's server; null for none"),
    ),
    recommended={},
    locked=True,
    notes="""
Reading and copying these files is free. What is run by a program that the line does not show (`make`, a script of the
project) is not seen; files that were changed that way are not armed until a person trusts them.
""",
)
