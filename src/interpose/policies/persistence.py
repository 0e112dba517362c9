"""Ask about what runs later: cron jobs, start files, git hooks, keys for logins, services, tasks of editors."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..matching.shell.words import is_known
from .call import Call
from .changes import changes_of, label_of
from .effects import Effect, say
from .effects.rows import written
from .parameters import action
from .policy import Objection, Options, Policy
from .repository import find_repository
from .start_files import START_FILES

__all__ = ["POLICY"]

_KINDS = ("write-files", "change-files", "change-mode", "open-permissions", "setuid")
_DECODERS = frozenset({"base32", "base64", "gpg", "openssl", "rev", "uudecode", "xxd"})
_INSTEAD = {
    "cron": "it runs without the agent's guards",
    "sshKeys": "a person has to give access to this account",
    "startFiles": "every new shell or program runs it",
    "additions": "every new shell runs it",
    "services": "it starts with the machine or the session",
    "loaders": "every program of this kind loads it",
    "gitHooks": "git runs it later",
    "hookScripts": "git runs it later",
    "editors": "an editor or a shell runs it when the folder is opened",
}


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of("persist", "persist-service", "persist-command"):
        if _is_tracked_hooks(effect, call):
            continue
        parameter = _parameter(effect.kind, effect.values)
        yield Objection(options[parameter], say(effect, _INSTEAD[parameter]), effect.grade)
    added = _added_to(call)
    for change in changes_of(call, *_KINDS):
        if change.effect.program == "git" and change.effect.kind == "change-files":
            continue  # a version that was committed
        label = label_of(change, START_FILES, call)
        if change.effect.kind == "change-mode" and label not in ("gitHooks", "hookScripts"):
            continue
        if label == "startFiles" and change.effect.command in added:
            label = "additions"
        if label:
            yield Objection(options[label], say(change.effect, _INSTEAD[label]), change.effect.grade)


def _is_tracked_hooks(effect: Effect, call: Call) -> bool:
    """Return whether git is told to run the hooks of a folder of the project that is in its history."""
    key, _, value = effect.target.partition(" = ")
    if key.lower() != "core.hookspath" or os.path.isabs(value) or "--global" in effect.command.split():
        return False
    path = os.path.join(call.cwd, value)
    repository = find_repository(call.cwd) if is_known(value) and call.place_of(path) == "inside" else None
    return (
        repository is not None and repository.tracks(path) is True and repository.changes(path, untracked=True) is False
    )


def _parameter(kind: str, values: tuple[str, ...]) -> str:
    if kind == "persist-service":
        return "services"
    if kind == "persist-command":
        return "gitHooks"
    return "sshKeys" if "ssh" in values else "cron" if "cron" in values else "loaders"


def _added_to(call: Call) -> frozenset[str]:
    """Return the commands that only add lines to files: ``echo … >> FILE``, ``tee -a FILE``."""
    found = set()
    for line in call.lines:
        if any(command.name in _DECODERS for command in line.commands):
            continue  # what is added cannot be read
        for command in line.commands:
            outputs = [one.operator for one in command.redirections if one.is_output]
            adds = command.name == "tee" and {"-a", "--append"} & set(command.parts)
            if (outputs and all(">>" in one for one in outputs)) or (adds and not outputs):
                found.add(" ".join(map(written, command.parts)))
    return frozenset(found)


POLICY = Policy(
    name="persistence",
    prevents="Making something run later without being asked for: cron jobs, start files of shells, git hooks and "
    "settings that are commands, keys for logins, services, files that programs load, tasks of editors.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("cron", "ask", "cron jobs and commands for at"),
        action("startFiles", "ask", "overwriting start files of shells and sessions"),
        action("additions", "ask", "adding lines to start files of shells and sessions"),
        action("gitHooks", "ask", "git hooks, and settings of git whose values it runs"),
        action("hookScripts", "ask", "git hooks that are files of the project, such as .husky/pre-commit"),
        action("sshKeys", "deny", "keys that give access to an account"),
        action("services", "ask", "services, timers and login items"),
        action("loaders", "ask", "files that every program of a kind loads: ld.so.preload, sitecustomize.py, .pth"),
        action("editors", "ask", "tasks of editors, dev containers and .envrc"),
    ),
    recommended={"hookScripts": "allow", "additions": "allow", "services": "allow"},
)
