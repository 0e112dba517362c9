"""Deny changing what guards the agent: Interpose's files, commands and processes, and the settings of agents."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from ..matching.paths import is_hard_link, names_of
from ..matching.shell import Command, Line
from ..matching.shell.words import is_known
from .agent_files import AGENT_FILES, INSTRUCTIONS, MOVED_HOMES, OWN_FILES, own_folders
from .call import Call
from .changes import CHANGES, Change, changes_of, label_of
from .effects import Effect, say
from .effects.rows import written
from .parameters import action, count, names
from .policy import Action, Objection, Options, Policy
from .start_files import START_FILES

__all__ = ["POLICY"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


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
_PARENTS = AGENT_FILES.parents()
_UNPACKS = frozenset({"tar", "bsdtar", "gtar", "unzip", "7z", "7za", "cpio", "rsync", "unrar", "ditto"})
_TYPISTS = frozenset(
    {"tmux", "screen", "expect", "unbuffer", "xdotool", "osascript", "zellij", "wezterm", "kitty", "ydotool"}
)
_CLIENTS = frozenset({"curl", "nc", "ncat", "netcat", "socat", "websocat", "wget", "http", "xh"})
_BY_PORT = frozenset({"fuser", "lsof", "kill-port", "ss", "npx", "netstat"})
_READERS = _words("""
    cat tac head tail less more bat view nl wc sort uniq cut tr grep egrep fgrep rg ag ack awk gawk sed jq yq diff cmp
    comm colordiff ls ll dir tree du df stat file find fd test [ [[ realpath readlink basename dirname md5sum sha1sum
    sha256sum shasum b2sum cksum xxd od hexdump strings base64 echo printf cd pushd popd git gh interpose python
    python3 node ruby perl bash sh zsh dash fish source . cp rsync scp tar zip gzip yamllint check-jsonschema ajv
    prettier mkdir which type command whereis pip pip3 pipx uv npm read mapfile true false : for export pytest make
    tox nox pre-commit code open rm mv ln tee touch chmod chown chgrp chattr truncate dd install shred rmdir sqlite3
    vim vi nvim nano emacs ed ex patch sponge kill pkill killall pgrep pidof ps lsof sudo env nohup time timeout xargs
    watch systemctl launchctl
""")
"""Programs that read, or whose changes the tables know."""
_PRINTERS = frozenset({"echo", "printf", "ls", "find", "fd", "cat", "git"})
_BLIND = frozenset(
    {"rm", "mv", "chmod", "chown", "truncate", "shred", "unlink", "sed", "tee", "cp", "ln", "sh", "bash"}
)
_LONGEST = 4_096
_MOST_ENTRIES = 200
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0", "[::1]", "[::]", "127.1", "0"})  # noqa: S104 - compared


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_COMMANDS):
        parameter = _COMMANDS[effect.kind]
        yield Objection(options[parameter], say(effect, _INSTEAD[parameter]), effect.grade)
    changes = tuple(changes_of(call))
    for change in changes:
        parameter = _parameter(change, call, options)
        if parameter:
            yield Objection(options[parameter], say(change.effect, _INSTEAD[parameter]), change.effect.grade)
    yield from _later(call, changes, options)
    for line in call.lines:
        yield from _passed_on(line, call, options)
        for command in line.commands:
            yield from _of_command(command, call, options)
    yield from _requests(call, options)
    if options["read"] != "allow":
        yield from _reads(call, options)


def _parameter(change: Change, call: Call, options: Options) -> str:
    """Return the parameter that decides about a changed file; an empty text if it is none of the guards'."""
    if _is_own(change, call):
        return "own"
    agent = label_of(change, AGENT_FILES, call) or _in_moved_home(change)
    if agent and _is_meant(agent, options):
        return "settings"
    if (
        change.names
        and (change.whole or change.effect.kind == "change-mode")
        and (found := _held(change, call, options))
    ):
        return found
    if change.names and change.effect.program in _UNPACKS and os.path.basename(change.names[0]).lower() in _PARENTS:
        return "settings"
    if change.names and change.effect.program in ("find", "gfind", "bfs") and (found := _found_by_name(change, call)):
        return found
    if change.names and is_hard_link(change.names[-1], _existing(call)):
        return "settings"
    return "instructions" if label_of(change, INSTRUCTIONS, call) else ""


def _is_own(change: Change, call: Call) -> bool:
    if label_of(change, OWN_FILES, call):
        return True
    folders = own_folders(call.home)
    return any(name == folder or name.startswith(f"{folder}/") for name in change.names for folder in folders)


def _in_moved_home(change: Change) -> str:
    """Return the agent whose settings a file is, where a variable has moved them."""
    for variable, folder in MOVED_HOMES.items():
        base = os.environ.get(variable, "").rstrip("/")
        for name in change.names:
            if os.path.isabs(base) and name.startswith(f"{base}/"):
                return AGENT_FILES.label_of(f"/{folder}{name[len(base) :]}", "/")
    return ""


def _is_meant(agent: str, options: Options) -> bool:
    return any(fnmatch.fnmatchcase(agent, one.lower()) for one in options["agents"])


def _held(change: Change, call: Call, options: Options) -> str:
    """Return the parameter for a folder that is deleted, moved or locked with files of the guards in it."""
    folder = change.names[-1]
    if change.whole and os.path.basename(folder).casefold() in _PARENTS:
        return "settings"
    if not os.path.isdir(folder):
        return ""
    bases = tuple(dict.fromkeys((folder, call.project, call.cwd, call.home)))
    own = (*own_folders(call.home), *(path for _, path in OWN_FILES.below(bases, call.home)))
    if any(_holds(folder, path) and os.path.lexists(path) for path in own):
        return "own" if change.whole or any(os.path.dirname(path) == folder for path in own) else ""
    agents = (label for label, path in AGENT_FILES.below(bases, call.home) if _holds(folder, path))
    return "settings" if change.whole and any(_is_meant(agent, options) for agent in agents) else ""


def _found_by_name(change: Change, call: Call) -> str:
    """Return the parameter for files that find changes by name: one that exists below the folder has that name."""
    folder, name = os.path.split(change.names[0])
    for parameter, table in (("own", OWN_FILES), ("settings", AGENT_FILES)):
        for _, path in table.below((call.project, call.home), call.home):
            files = [path] if os.path.isfile(path) else [one.path for one in _entries(path)]
            if any(_holds(folder, one) and fnmatch.fnmatchcase(os.path.basename(one), name) for one in files):
                return parameter
    return ""


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)]
    except OSError:
        return []


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


# Commands that no table knows.


def _later(call: Call, changes: tuple[Change, ...], options: Options) -> Iterator[Objection]:
    """Yield an objection to what runs later and speaks of Interpose: ``echo 'export INTERPOSE_OFF=1' >> ~/.bashrc``."""
    runs_later = any(True for _ in call.of("persist", "persist-service", "persist-command"))
    if not runs_later and not any(label_of(change, START_FILES, call) for change in changes):
        return
    texts = [edit.new for edit in call.edits]
    for line in call.lines:
        for command in line.commands:
            texts += (*command.parts, *(one.text for one in command.redirections))
    if any("interpose" in text.lower() for text in texts):
        yield Objection(
            options["own"], f"`{call.tool}` has something run later that concerns Interpose ({_INSTEAD['own']})"
        )


def _of_command(command: Command, call: Call, options: Options) -> Iterator[Objection]:
    """Yield an objection to a command that ends Interpose's process, types its commands, or is given its files."""
    if command.name == "kill" and any(word.isdigit() and _is_own_process(word) for word in command.parts[1:]):
        yield Objection(options["own"], f"`{' '.join(command.parts)}` ends Interpose's process ({_INSTEAD['own']})")
    if command.name in _TYPISTS and any(_speaks(word) for word in command.parts[1:]):
        yield Objection(
            options["own"], f"`{command.name}` types a command of Interpose ({_INSTEAD['own']})", "possible"
        )
    if command.name and command.name.lower() not in _READERS and any(_own_words(command, call)):
        strict: Action = options["own"] if command.name in _CLIENTS or options["own"] == "allow" else "ask"
        yield Objection(strict, f"`{command.name}` is given a file of Interpose", command.grade)


def _own_words(command: Command, call: Call) -> Iterator[str]:
    """Yield the words of a command that name files of Interpose, also as ``--config=FILE`` and ``FILE:/inside``."""
    for word in map(written, command.parts[1:]):
        if "interpose" in word.lower():
            yield from (one for one in re.split("[=:,]", word) if _is_own_path(one, command, call))


def _passed_on(line: Line, call: Call, options: Options) -> Iterator[Objection]:
    """Yield an objection to a command that changes the files whose names another prints, as with xargs."""
    takers = [one for one in line.commands if {"xargs", "parallel"} & set(" ".join(one.via).split())]
    texts = {" ".join(map(written, one.parts)) for one in takers}
    if any(effect.command in texts for effect in call.of(*CHANGES)) or any(one.name in _BLIND for one in takers):
        for command in line.commands:
            if command not in takers and command.name in _PRINTERS and any(_own_words(command, call)):
                reason = f"`{' '.join(command.parts)}` names files of Interpose for another command to change"
                yield Objection(options["own"], reason, "possible")


def _is_own_process(number: str) -> bool:
    """Return whether a process is Interpose's, where the system says how processes were started."""
    try:
        with open(f"/proc/{number}/cmdline", "rb") as opened:
            words = opened.read(_LONGEST).split(b"\0")[:4]
    except OSError:
        return False
    return any(os.path.basename(word) == b"interpose" for word in words)


def _speaks(text: str) -> bool:
    """Return whether a text that is typed for a terminal has a command of Interpose."""
    words = text.replace(";", " ").split()
    return any(os.path.basename(word) == "interpose" for word in words)


def _is_own_path(word: str, command: Command, call: Call) -> bool:
    path = os.path.expanduser(word)
    folder = command.directories[0] if command.directories else ""
    if not is_known(path) or not is_known(folder):
        return bool(OWN_FILES.may_mean(path, call.home))
    names = names_of(path, os.path.join(call.cwd, os.path.expanduser(folder)))
    return _is_own(Change(Effect("read-files", path), path, names, False), call)


def _requests(call: Call, options: Options) -> Iterator[Objection]:
    """Yield an objection to each word that is an address of Interpose's server on this machine."""
    port = options["port"]
    if port is None:
        return
    for line in call.lines:
        kills = any(command.name in ("kill", "xargs", "fuser", "kill-port") for command in line.commands)
        for command in line.commands:
            found = any(_is_own_address(word, port) for word in command.parts[1:])
            if found or (kills and command.name in _BY_PORT and any(_names_port(word, port) for word in command.parts)):
                reason = f"`{command.name}` reaches Interpose's server ({_INSTEAD['own']})"
                yield Objection(options["own"], reason, command.grade)
    for effect in call.of("request"):
        if effect.command == call.tool and _is_own_address(effect.target, port):
            yield Objection(options["own"], f"`{effect.command}` reaches Interpose's server", effect.grade)


def _is_own_address(word: str, port: int) -> bool:
    if str(port) not in word:
        return False
    try:
        parts = urlsplit(word if "://" in word else f"//{word}")
        return parts.port == port and (parts.hostname or "") in _LOOPBACK
    except ValueError:
        return False


def _names_port(word: str, port: int) -> bool:
    return word.rpartition(":")[2].partition("/")[0] == str(port)


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
