"""Read what a line does with secrets: files that programs are given, secrets that are printed or sent away."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ...matching.programs import SHELLS
from ...matching.shell import Line, ShellCommand
from ...matching.shell.options import program_of
from ...matching.shell.words import MANY, ONE, is_known, written_of
from ...redaction.names import is_secret_variable
from ...runtime.regex import regex
from .effect import Effect
from .flow import Brought, DataOrigin, FlowStep, Origins, follow
from .output import PRINTERS
from .rows import Found, apply_rows
from .secret_names import secret_kind
from .senders import Sent, sent_by
from .tables import find_programs
from .tables.readers import PROGRAMS as READERS
from .texts import Texts

__all__ = ["SENT", "printed_variables", "read_secrets"]

_LONGEST = 4_096
"""Longer paths are none: the system refuses them."""

_NAMES = frozenset(name for entry, program in READERS.items() for name in (entry, *program.aka.split()))

# Programs that neither show nor copy a file that they are given.
_NOTHING = frozenset({
    "", "ls", "stat", "test", "[", "[[", "file", "chmod", "chown", "chgrp", "chattr", "touch", "rm", "unlink", "shred",
    "mkdir", "rmdir", "realpath", "readlink", "basename", "dirname", "du", "wc", "md5", "md5sum", "sha1sum",
    "sha256sum", "sha512sum", "shasum", "b2sum", "cksum", "echo", "printf", "print", "cd", "pushd", "mktemp", "true",
    "false", "which", "type", "alias", "exa", "eza", "tree", "trash", "rg", "expect", "man", "help", "return", "exit",
    "for", "read", "getfacl", "setfacl", "lsattr", "namei", "truncate", "tee", "ssh-keygen", "mkcert", "openssl",
    "keytool", "certbot", "wg", "export", "declare", "local", "set", "unset", "kill", "sleep", "dotenv-linter",
    "shellcheck", "prettier", "venv", "virtualenv", "go", "rename", "case", "git-crypt", "ssh-copy-id",
})  # fmt: skip
_HIDDEN = regex(rf"\.(?:[*?{MANY}]|\[[^\]]*\])+")
"""A pattern for all hidden files: only the disk says whether a secret is among them."""
_TRACE = regex(r"-[a-zA-Z]*[xv][a-zA-Z]*|xtrace|verbose")
"""Options of shells that print what they run."""
_SHOWS = _NAMES - frozenset(
    """
    grep egrep fgrep rg ag ack zgrep ripgrep git-grep ugrep pcregrep git find gfind fd fdfind xargs docker podman
    nerdctl kubectl oc curl wget date ln link mv
    """.split()
)
"""Programs that show or copy the files whose names they are given; a search in many files is no aim at secrets."""

_USERS = frozenset({
    "source", ".", "ssh", "ssh-add", "sftp", "dotenv", "direnv", "docker-compose", "terraform", "tofu", "ansible",
    "ansible-playbook", "kubectl", "helm", "deno", "npm", "npx", "yarn", "pnpm", "make", "cosign",
    "codesign", "jarsigner", "apksigner", "signtool", "gpg", "sops", "age", "kubeseal", "flask", "uvicorn",
    "java", "nginx", "caddy", "openvpn", "wg-quick", "fastlane", "flutter", "xcrun", "keepassxc", "minisign",
    "vault", "set-env", "env-cmd", "doppler", "infisical", "step", "certutil", "pk12util", "update-ca-certificates",
})  # fmt: skip
"""Programs that work with a secret file that they are given."""


_SCRIPTS = frozenset({"node", "bun", "python", "ruby"})
"""Programs that run a script, which may do anything with a secret file that it is given."""


def read_secrets(line: Line, cwd: str, home: str) -> Iterator[Effect]:
    """Yield the files of secrets that programs are given, and the secrets that are printed or sent."""
    reading, tested = _Reading(line, cwd, home), _tested(line.text)
    deepest: dict[int, int] = {}
    for command in line.commands:
        deepest[command.place] = max(deepest.get(command.place, 0), len(command.via))
    for command in line.commands:
        # A command that only runs another one, as sudo does, is not looked at: the other one is.
        if len(command.via) == deepest[command.place]:
            yield from reading.given(command)
            for name in printed_variables(command):
                if name not in tested:
                    yield _effect("print-variable", name, command)
    yield from reading.listed(line)
    for step in follow(line, reading.sources):
        yield from reading.sent(step)
        yield from reading.printed(step)


def printed_variables(command: ShellCommand) -> Iterator[str]:
    """Yield the names of the variables that a command prints."""
    if program_of(command.name.lower()) in PRINTERS:
        yield from command.variables


_USE = regex(r"\$(?:\{(\w+)(:?\+)?|(\w+))")


def _tested(text: str) -> set[str]:
    """Return the variables of which a line only says whether they are set: ``${NAME:+yes}``."""
    tested, used = set[str](), set[str]()
    for braced, test, bare in _USE.findall(text):
        (tested if test else used).add(braced or bare)
    return tested - used


def _of_home(path: str, home: str) -> str:
    return home + path[1:] if path == "~" or path.startswith("~/") else path


def _effect(kind: str, target: str, command: ShellCommand) -> Effect:
    return Effect(kind, target, " ".join(map(written_of, command.parts)), command.name, command.grade)


class _Reading:
    """What a line does with secrets, in a directory."""

    def __init__(self, line: Line, cwd: str, home: str) -> None:
        self.cwd = cwd
        self.home = home
        self.socket = next(filter(None, map(_socket, line.commands)), "")
        """The host to which a redirection of the line leads; a descriptor of the line may lead there too."""
        self.traces = any(one.name == "set" and any(map(_TRACE.fullmatch, one.parts[1:])) for one in line.commands)
        """Whether the shell prints the commands that it runs."""

        self.is_simple = line.is_simple
        self.selects = any(one.name in _SELECTORS for one in line.commands)
        """Whether a command of the line picks a part of what it reads, such as one token."""
        configured = any(one.name == "curl" and {"-K", "--config"} & set(one.parts) for one in line.commands)
        self.texts = Texts(line) if configured else None

    def sent_by(self, command: ShellCommand) -> Sent | None:
        """Return what a command sends to another machine."""
        if self.texts is None or command.name != "curl":
            return sent_by(command)
        return sent_by(command, (*self.texts.read_by(command), *self.texts.substituted_in(command)))

    def is_one_of_many(self, path: str, command: ShellCommand) -> bool:
        """Return whether a path is unknown and stands for each of many files: in a loop, or given by find or xargs."""
        if path.strip(ONE + MANY):
            return False
        given = any(one.split()[0] in ("find", "xargs", "parallel", "fd") for one in command.via)
        return given or (not self.is_simple and bool(command.variables) and not command.assigned)

    def paths(self, path: str, command: ShellCommand) -> list[str]:
        """Return the absolute paths that a path may be in the directories of a command, the likeliest last."""
        path = _of_home(path, self.home)
        if path.startswith(("/", "~", ONE, MANY)):
            return [path]
        places = [ONE if not is_known(place) or len(place) > _LONGEST else place for place in command.directories]
        places = places or [""]
        return [os.path.normpath(os.path.join(self.cwd, _of_home(place, self.home), path)) for place in places]

    def is_secret(self, path: str, command: ShellCommand) -> bool:
        if not path or "://" in path or len(path) > _LONGEST or _HIDDEN.fullmatch(path.rpartition("/")[2]):
            return False
        return any(secret_kind(one, self.home) not in (None, "settings") for one in self.paths(path, command))

    def given(self, command: ShellCommand) -> Iterator[Effect]:
        """Yield the secret files among the words of a program of which no table says that it reads files."""
        program = program_of(command.name.lower())
        if program in _NAMES or program in _NOTHING:
            return
        shows = self.traces and program in ("source", ".", "bash", "sh", "zsh", "dash", "ksh")
        shows |= program in SHELLS and any(_TRACE.fullmatch(word) for word in command.parts[1:])
        works = program in _USERS
        before = ""
        for word in map(written_of, command.parts[1:]):
            _, equals, value = word.partition("=")
            if "://" in word.partition("?")[0] and not word.startswith("-"):
                before = word
                continue  # a URL whose parameters name a file: a program works with it
            if word.startswith("-"):
                path, used = (value, True) if equals else ("", True)
            else:
                path, used = word, before.startswith("-") and "=" not in before
                path = value if equals and not self.is_secret(word, command) else path
            before = word
            path = path.partition(":")[0].removeprefix("@")
            if " " in path and not {".", "/"} & set(path.partition(" ")[0]):
                continue  # a sentence
            if path and ("." in path or "/" in path or path.startswith("id_")) and self.is_secret(path, command):
                own = "/" in command.parts[0] and not os.path.isabs(command.parts[0]) and path[:1] not in "/~"
                kind = "give-secret-file" if shows or not (used or works or own) else "use-secret-file"
                values = ("script",) if program in _SCRIPTS and not shows else ()
                effect = _effect(kind, path, command)._replace(values=values)
                yield effect._replace(program="set -x") if shows else effect

    def listed(self, line: Line) -> Iterator[Effect]:
        """Yield the secret files whose names a command prints for another that reads them: ``ls -A | xargs cat``."""
        readers = [one for one in line.commands if program_of(one.name.lower()) in _SHOWS]
        piped = {one.place for one in readers if {"xargs", "parallel"} & set(one.via)}
        places: set[int] = set()
        for first, middle, last in line.pipes if piped else ():
            if not piped.isdisjoint(range(middle, last)):
                places.update(range(first, middle))
        for one in readers:
            for first, last in one.substituted:
                places.update(range(first, last))
        for command in line.commands if places else ():
            if command.place not in places:
                continue
            for word in map(written_of, command.parts[1:]):
                if self.is_secret(word, command):
                    yield _effect("give-secret-file", word, command)
            if _lists_hidden(command):
                yield _effect("give-secret-file", self.paths(f".{MANY}", command)[-1], command)

    def sources(self, command: ShellCommand) -> Iterator[Brought]:
        """Yield the secrets that a command reads."""
        for found in _found(command):
            if found.kind == "read-files" and self.is_secret(found.target, command):
                yield Brought(DataOrigin("file", found.target))
            elif found.kind == "read-files" and found.target in _SYSTEM:
                yield Brought(DataOrigin("system", found.target))
            elif found.kind == "read-files" and _may_be_folder(command, found.target):
                yield Brought(DataOrigin("folder", self.paths(found.target, command)[-1]))
            elif found.kind == "print-env" and not found.values:
                yield Brought(DataOrigin("environment", "the environment"))
            elif found.kind == "read-secret":
                yield Brought(DataOrigin("variable", found.target or "a secret"))
            elif found.kind == "print-variable" and is_secret_variable(found.target):
                yield Brought(DataOrigin("variable", f"${found.target}"))
        for name in printed_variables(command):
            if is_secret_variable(name):
                yield Brought(DataOrigin("variable", f"${name}"))
        yield from self.sent_sources(command)

    def sent_sources(self, command: ShellCommand) -> Iterator[Brought]:
        """Yield the secrets that a command itself sends away."""
        if sent := self.sent_by(command):
            for path in (*sent.files, *_typed(command)):
                if self.is_one_of_many(path, command):
                    yield Brought(DataOrigin("folder", self.paths(".", command)[-1]))
                elif path not in ("-", "."):
                    yield Brought(self.of_file(path, command))
            for name in sent.variables:
                if is_secret_variable(name):
                    yield Brought(DataOrigin("variable", f"${name}"))

    def of_file(self, path: str, command: ShellCommand) -> DataOrigin:
        """Return what a file is that is sent."""
        if self.is_secret(path, command):
            return DataOrigin("file", path)
        if _HIDDEN.fullmatch(path.rpartition("/")[2]):
            return DataOrigin("folder", self.paths(path, command)[-1])
        return DataOrigin("system", path) if path in _SYSTEM else DataOrigin("path", self.paths(path, command)[-1])

    def sent(self, step: FlowStep) -> Iterator[Effect]:
        """Yield the secrets that a command sends away."""
        command = step.command
        found: set[DataOrigin] = set()
        host = ""
        if sent := self.sent_by(command):
            host = sent.host
            if sent.reads_input:
                found |= step.input
                inputs = [one.target for one in command.redirections if one.is_input and not one.text]
                found |= {DataOrigin("file", path) for path in map(written_of, inputs) if self.is_secret(path, command)}
            for path in (*sent.files, *_typed(command)):
                found |= step.files.read(path, command)
                if self.is_one_of_many(path, command):
                    found.add(DataOrigin("folder", self.paths(".", command)[-1]))
                elif path not in ("-", "."):
                    found.add(self.of_file(path, command))
            if sent.values:
                found |= step.substituted
            found |= {DataOrigin("variable", f"${name}") for name in sent.variables if is_secret_variable(name)}
        program = program_of(command.name.lower())
        if program in _REQUESTS and not self.selects:  # also in headers, which are meant for a token
            found |= {origin for origin in step.substituted if origin.kind in ("file", "environment", "system")}
        is_raw = program in _RAW
        if target := _socket(command) or (self.socket if _is_descriptor(command) else ""):
            host, is_raw = target, True
            found |= step.input | step.of_words | {one.origin for one in self.sources(command)}
        for origin in sorted(found):
            if origin.kind in SENT and origin.target not in ("-", ""):
                kind = "send-files" if origin.kind in ("folder", "path") else "send-secret"
                values = (origin.kind, host, "raw" if is_raw else "")
                yield _effect(kind, origin.target, command)._replace(values=values)

    def printed(self, step: FlowStep) -> Iterator[Effect]:
        """Yield the secrets that a program prints from variables and substitutions."""
        if program_of(step.command.name.lower()) in PRINTERS:
            for origin in sorted(_by_file(step.substituted)):
                yield _effect("read-secret", origin.target, step.command)


def _by_file(origins: Origins) -> Iterable[DataOrigin]:
    return (origin for origin in origins if origin.kind == "file")


def _found(command: ShellCommand) -> Iterator[Found]:
    for redirection in command.redirections:
        if redirection.is_input and not redirection.text:
            yield Found("read-files", written_of(redirection.target))
    for name, program in find_programs(command.name):
        yield from apply_rows(name, program, command)


_SYSTEM = frozenset({"/etc/passwd", "/etc/group"})
"""Files that are sent away for no good reason, though every user may read them."""

SENT = frozenset({"file", "system", "environment", "variable", "folder", "path"})
"""What an effect ``send-secret`` or ``send-files`` has as its first value. Only the disk says what is in files."""

_RAW = frozenset({"curl", "wget", "nc", "ncat", "netcat", "socat", "telnet", "mail", "mailx"})
"""Programs that are no usual way to copy a folder to another machine."""

_REQUESTS = frozenset({"curl", "curlie", "wget", "wget2", "http", "https", "xh", "xhs", "httpie"})
_SELECTORS = frozenset({"jq", "yq", "grep", "egrep", "rg", "cut", "awk", "gawk", "sed", "gron", "dasel"})
"""Programs that pick a part of a file: a token for a header is how a service is used."""

_FTP = frozenset({"sftp", "ftp", "lftp", "smbclient", "ncftp"})
_PACKERS = frozenset({"tar", "bsdtar", "gtar", "zip", "7z", "7za", "7zz", "cpio", "rsync"})


def _lists_hidden(command: ShellCommand) -> bool:
    """Return whether a command prints the names of hidden or ignored files, whichever there are."""
    words = command.parts[1:]
    letters = {letter for word in words if word[:1] == "-" and word[:2] != "--" for letter in word[1:]}
    if command.name == "ls":
        operands = [word for word in words if not word.startswith("-")]
        return bool(letters & {"a", "A"} or {"--all", "--almost-all"} & set(words)) and operands in ([], ["."])
    if command.name == "git" and words[:1] == ("ls-files",):
        others = "o" in letters or "--others" in words
        return others and ("i" in letters or "--ignored" in words or "--exclude-standard" not in words)
    return False


def _may_be_folder(command: ShellCommand, path: str) -> bool:
    """Return whether a command reads a whole folder, or files of which only the pattern is known."""
    if not path or path == "-":
        return False
    program = program_of(command.name.lower())
    is_deep = program in ("grep", "rg", "ag", "egrep", "fgrep") and (program in ("rg", "ag") or _is_recursive(command))
    return program in _PACKERS or is_deep or any(mark in path for mark in ("*", "?", MANY))


def _is_recursive(command: ShellCommand) -> bool:
    return any(word[:1] == "-" and word[:2] != "--" and {"r", "R"} & set(word) for word in command.parts[1:])


def _typed(command: ShellCommand) -> list[str]:
    """Return the words of the text that a program for transfers reads, such as ``put file``."""
    return " ".join(one.text for one in command.redirections).split() if command.name in _FTP else []


def _socket(command: ShellCommand) -> str:
    """Return the host that a redirection of bash writes to."""
    for redirection in command.redirections:
        if redirection.is_output and redirection.target.startswith(("/dev/tcp/", "/dev/udp/")):
            host = redirection.target.split("/")[3]
            return host if is_known(host) else "a host"
    return ""


def _is_descriptor(command: ShellCommand) -> bool:
    """Return whether a command writes to a descriptor that the line may have opened."""
    numbers = [one.target.rstrip("-") for one in command.redirections if "&" in one.operator and ">" in one.operator]
    words = [word for word in command.parts[1:] if word.startswith(("/dev/fd/", "/proc/self/fd/", "FD:"))]
    return any(number not in ("", "0", "1", "2") for number in numbers) or bool(words)
