"""Deny changing what guards the agent: Interpose's files, commands and processes, and the settings of agents."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import urlsplit

from ..matching.paths import names_of
from ..matching.shell import Line, ShellCommand
from ..matching.shell.words import is_known
from ..matching.tool_inputs import TooMuch, limited_values
from ..runtime.regex import regex
from .agent_files import AGENT_FILES, OWN_FILES
from .call import Call
from .changes import CHANGES, Change, changes_of, label_of
from .effects import Effect, say
from .effects.given_code import code_of
from .effects.rows import written
from .effects.texts import Texts
from .git_settings import text_of
from .guarded_files import guard_of, hidden_changes, is_own
from .parameters import action, count, known_names
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
_CHANGE = regex(
    r"remove|unlink|rmtree|rmdir|rename|chmod|chown|truncate|write|copy|move|delete|touch|link|sysopen|openSync|getattr"
    r"|call_user_func|send\(|trust|disable|approve|kill|spawn|['\"][wa]\+?b?['\"]"
)
_SPOKEN_OF = regex(
    r"INTERPOSE_[A-Z]|\balias\s+interpose=|(?<![\w.-])interpose\s+[a-z]|\.interpose\b|bin/interpose\b|(?:config|state|cache)/interpose\b"
)
"""A variable or a command of Interpose in a text that runs later."""
_VARIABLE = regex(r"INTERPOSE_[A-Z_]+=")
_OWN_IN_CODE = regex(
    r"\.interpose\b|\binterpose[/.](?!py)|bin/interpose\b|INTERPOSE_|['\"]interpose['\"]", re.IGNORECASE
)
_SETS_VARIABLES = frozenset({"mise.toml", ".mise.toml", "mise.local.toml", "devcontainer.json", "direnv.toml"})
"""Files that set variables for what runs later."""
_LONGEST = 4_096
_MOST_READ = 10
_MOST_TEXT = 100_000
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0", "[::1]", "[::]", "127.1", "0"})  # noqa: S104 - compared


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_COMMANDS):
        parameter = _COMMANDS[effect.kind]
        yield Objection(options[parameter], say(effect, _INSTEAD[parameter]), effect.grade)
    changes = (*changes_of(call), *hidden_changes(call))
    for change in changes:
        if parameter := guard_of(change, call, options["agents"]):
            yield Objection(options[parameter], say(change.effect, _INSTEAD[parameter]), change.effect.grade)
    yield from _variables(call, options)
    yield from _later(call, changes, options)
    for line in call.lines:
        yield from _passed_on(line, call, options)
        for command in line.commands:
            yield from _of_command(command, call, options)
    yield from _requests(call, options)
    if options["read"] != "allow":
        yield from _reads(call, options)


def _reads(call: Call, options: Options) -> Iterator[Objection]:
    for change in changes_of(call, "read-files"):
        if is_own(change, call) or label_of(change, AGENT_FILES, call):
            yield Objection(options["read"], say(change.effect), change.effect.grade)


# Commands that no table knows.


def _later(call: Call, changes: tuple[Change, ...], options: Options) -> Iterator[Objection]:
    """Yield an objection to what runs later and speaks of Interpose: ``echo 'export INTERPOSE_OFF=1' >> ~/.bashrc``."""
    runs_later = any(True for _ in call.of("persist", "persist-service", "persist-command"))
    runs_later |= any("CLAUDE_ENV_FILE" in one.variables for line in call.lines for one in line.commands)
    if not runs_later and not any(_is_start_file(change, call) for change in changes):
        return
    texts = [edit.new for edit in call.edits]
    for line in call.lines:
        for command in line.commands:
            texts += (*command.parts, *(one.text for one in command.redirections))
        texts += Texts(line).files.values()  # what printf makes of its words
    texts += _copied(call)
    if any(_SPOKEN_OF.search(text) for text in texts):
        yield Objection(
            options["own"], f"`{call.tool}` has something run later that concerns Interpose ({_INSTEAD['own']})"
        )


def _copied(call: Call) -> list[str]:
    """Return the texts of the files that the call reads, such as those that it adds to a start file."""
    paths = [effect.target for effect in call.of("read-files") if is_known(effect.target)][:_MOST_READ]
    return [text_of(os.path.join(call.cwd, path), _MOST_TEXT) for path in paths]


def _is_start_file(change: Change, call: Call) -> bool:
    base = os.path.basename(change.path)
    is_settings = base in _SETS_VARIABLES or change.path.endswith(".vscode/settings.json")
    return is_settings or base.startswith(".env") or bool(label_of(change, START_FILES, call))


def _variables(call: Call, options: Options) -> Iterator[Objection]:
    """Yield an objection to a variable of Interpose in the input of a tool: ``env: {INTERPOSE_OFF: 1}``."""
    try:
        for key, value, _ in limited_values(call.input):
            if key.startswith("INTERPOSE_") or (isinstance(value, str) and _VARIABLE.match(value)):
                yield Objection(options["own"], f"`{call.tool}` sets a variable of Interpose ({_INSTEAD['own']})")
    except TooMuch:
        return


def _of_command(command: ShellCommand, call: Call, options: Options) -> Iterator[Objection]:
    """Yield an objection to a command that ends Interpose's process, types its commands, or is given its files."""
    if command.name == "kill" and any(word.isdigit() and _is_own_process(word) for word in command.parts[1:]):
        yield Objection(options["own"], f"`{' '.join(command.parts)}` ends Interpose's process ({_INSTEAD['own']})")
    typed = (*command.parts[1:], "".join(command.parts[1:])) if command.name in _TYPISTS else ()
    if any(_speaks(word) for word in typed) or any("interpose trust" in word for word in typed):
        yield Objection(
            options["own"], f"`{command.name}` types a command of Interpose ({_INSTEAD['own']})", "possible"
        )
    if command.name and command.name.lower() not in _READERS and any(_own_words(command, call)):
        strict: Action = options["own"] if command.name in _CLIENTS or options["own"] == "allow" else "ask"
        yield Objection(strict, f"`{command.name}` is given a file of Interpose", command.grade)
    elif any("interpose" in word.lower() for word in command.parts[1:]) and _writes_own(command, call):
        yield Objection(options["own"], f"`{command.name}` writes a file of Interpose", command.grade)
    elif (parameter := _given_to_code(command, call, options)) and options[parameter] != "allow":
        reason = f"the code for `{command.name}` is given a file that guards the agent ({_INSTEAD[parameter]})"
        yield Objection(options[parameter], reason, "possible")
    elif _is_suspicious_code(command):
        action: Action = "allow" if options["own"] == "allow" else "ask"
        yield Objection(action, f"the code for `{command.name}` may change Interpose's files", "possible")


_OUTPUTS = frozenset({"-o", "-O", "--output", "--out", "-out", "--prefix", "--output-file", "--outfile", "-C"})
_PRESSES = frozenset({"gzip", "bzip2", "xz", "zstd", "lz4", "compress", "gunzip", "pigz"})


def _writes_own(command: ShellCommand, call: Call) -> bool:
    """Return whether a program that mostly reads is given a file of Interpose to write."""
    words = [written(word) for word in command.parts[1:]]
    operands = [word for word in words if not word.startswith("-")]
    targets = [word.partition("=")[2] for word in words if word.partition("=")[0] in _OUTPUTS]
    if command.name != "git" or "-C" not in words:
        targets += [after for before, after in pairwise(words) if before in _OUTPUTS - {"-C"}]
    if command.name == "uniq":
        targets += operands[1:2]
    elif command.name in _PRESSES and not {"-c", "--stdout", "-k", "--keep", "-t", "-l"} & set(words):
        targets += operands
    elif command.name == "git" and operands[:2] in (["submodule", "add"], ["worktree", "add"]):
        targets += operands[2:]
    elif command.name in ("sqlite3", "sqlite"):
        texts = [text.split() for text in operands[1:]]
        targets += [text[1] for text in texts if text[:1] in ([".output"], [".once"], [".backup"]) and len(text) > 1]
    return any(_is_own_path(target, command, call) for target in targets if target)


def _given_to_code(command: ShellCommand, call: Call, options: Options) -> str:
    """Return what guards the agent among the words that code on the line is given, if it has a word for a change."""
    codes = code_of(command, [one.text for one in command.redirections])[1]
    if not any(map(_CHANGE.search, codes)):
        return ""
    folder = command.directories[0] if command.directories else ""
    for word in map(written, command.parts[1:]):
        if word in codes or len(word) > _LONGEST:
            continue
        for one in (word, *word.split("=")[1:]):
            path = os.path.expanduser(one)
            known = is_known(path) and is_known(folder)
            names = names_of(path, os.path.join(call.cwd, os.path.expanduser(folder))) if known else ()
            change = Change(Effect("write-files", path), path, names, False)
            found = guard_of(change, call, options["agents"])
            if found in ("own", "settings"):
                return found
    return ""


def _is_suspicious_code(command: ShellCommand) -> bool:
    """Return whether code on the line speaks of Interpose and has a word for a change."""
    texts = [one.text for one in command.redirections]
    if not any("interpose" in text.lower() for text in (*command.parts[1:], *texts)):
        return False
    return any(_OWN_IN_CODE.search(code) and _CHANGE.search(code) for code in code_of(command, texts)[1])


def _own_words(command: ShellCommand, call: Call) -> Iterator[str]:
    """Yield the words of a command that name files of Interpose, also as ``--config=FILE`` and ``FILE:/inside``."""
    for word in map(written, command.parts[1:]):
        if "interpose" in word.lower():
            yield from (one for one in re.split("[=:,]", word) if _is_own_path(one, command, call))


def _passed_on(line: Line, call: Call, options: Options) -> Iterator[Objection]:
    """Yield an objection to a command that changes the files whose names another prints, as with xargs."""
    takers = [one for one in line.commands if _is_given(one)]
    texts = {" ".join(map(written, one.parts)) for one in takers}
    if any(effect.command in texts for effect in call.of(*CHANGES)) or any(one.name in _BLIND for one in takers):
        for command in line.commands:
            if command.name in _PRINTERS and not _is_given(command) and any(_own_words(command, call)):
                reason = f"`{' '.join(command.parts)}` names files of Interpose for another command to change"
                yield Objection(options["own"], reason, "possible")


def _is_given(command: ShellCommand) -> bool:
    """Return whether a command is given words by xargs or parallel."""
    return not {"xargs", "parallel"}.isdisjoint(" ".join(command.via).split())


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


def _is_own_path(word: str, command: ShellCommand, call: Call) -> bool:
    path = os.path.expanduser(word)
    folder = command.directories[0] if command.directories else ""
    if not is_known(path) or not is_known(folder):
        return bool(OWN_FILES.may_mean(path, call.home))
    names = names_of(path, os.path.join(call.cwd, os.path.expanduser(folder)))
    return is_own(Change(Effect("read-files", path), path, names, False), call)


def _requests(call: Call, options: Options) -> Iterator[Objection]:
    """Yield an objection to each word that is an address of Interpose's server on this machine."""
    port = options["port"]
    if port is None:
        return
    for line in call.lines:
        kills = any(command.name in ("kill", "xargs", "fuser", "kill-port") for command in line.commands)
        for command in line.commands:
            found = any(_is_own_address(word, port) for word in command.parts[1:]) or _dials(command, port)
            if found or (kills and command.name in _BY_PORT and any(_names_port(word, port) for word in command.parts)):
                reason = f"`{command.name}` reaches Interpose's server ({_INSTEAD['own']})"
                yield Objection(options["own"], reason, command.grade)
    for effect in call.of("request"):
        if effect.command == call.tool and _is_own_address(effect.target, port):
            yield Objection(options["own"], f"`{effect.command}` reaches Interpose's server", effect.grade)


def _dials(command: ShellCommand, port: int) -> bool:
    """Return whether ``nc localhost 7878`` and the like reach a port: host and port are two words."""
    if command.name not in ("nc", "ncat", "netcat", "telnet"):
        return False
    operands = [word for word in command.parts[1:] if not word.startswith("-")]
    return any(_is_this_machine(host) and text == str(port) for host, text in pairwise(operands))


def _is_own_address(word: str, port: int) -> bool:
    """Return whether a word has an address of this machine with a port, in whichever spelling."""
    if str(port) not in word:
        return False
    try:
        parts = urlsplit(word if "://" in word else f"//{word}")
        if parts.port == port and _is_this_machine(parts.hostname or ""):
            return True
    except ValueError:
        pass
    # curl --resolve NAME:PORT:ADDRESS, --connect-to NAME:PORT:ADDRESS:PORT, and an address in code
    pieces = word.split(":")
    if str(port) in pieces[1:] and any(map(_is_this_machine, pieces)) and "/" not in word:
        return True
    return any(_is_own_address(one, port) for one in _URL.findall(word)[:_MOST_URLS] if one != word)


_URL = regex(r"""https?://[^\s'"`<>)]+""")
_MOST_URLS = 20


def _is_this_machine(host: str) -> bool:
    """Return whether a host is this machine: also ``127.0.0.2``, ``0x7f000001``, and one that is computed."""
    if host in _LOOPBACK or not is_known(host):
        return True
    try:
        found = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return _is_short_loopback(host)
    mapped = getattr(found, "ipv4_mapped", None)
    return found.is_loopback or found.is_unspecified or (mapped is not None and mapped.is_loopback)


def _is_short_loopback(host: str) -> bool:
    """Return whether a host is a number that the system reads as an address: ``2130706433``, ``0x7f.1``."""
    if not host[:1].isdigit():
        return False
    import socket

    try:
        return socket.inet_aton(host)[0] in (0, 127)
    except OSError:
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
        known_names("agents", AGENT_FILES.labels, "the agents whose settings are protected"),
        count("port", 7878, "the port of Interpose's server; null for none"),
    ),
    recommended={},
    locked=True,
    notes="""
Reading and copying these files is free. The interpreter, the virtual environment and the packages that run Interpose
are protected with it. What is run by a program that the line does not show (`make`, a script of the
project) is not seen; files that were changed that way are not armed until a person trusts them.
""",
)
