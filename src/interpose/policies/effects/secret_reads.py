"""Read what a line does with secrets: files that programs are given, secrets that are printed or sent away."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ...matching.shell import Command, Line
from ...matching.shell.resolver import program_of
from ...matching.shell.words import MANY, ONE, is_known, written_of
from .effect import Effect
from .flow import Brought, Origin, Origins, Step, follow
from .output import PRINTERS
from .rows import Found, apply_rows
from .secret_names import is_secret_variable, secret_kind
from .senders import sent_by
from .tables import find_programs
from .tables.readers import PROGRAMS as READERS

__all__ = ["printed_variables", "read_secrets"]

_NAMES = frozenset(name for entry, program in READERS.items() for name in (entry, *program.aka.split()))

# Programs that neither show nor copy a file that they are given.
_NOTHING = frozenset({
    "", "ls", "stat", "test", "[", "[[", "file", "chmod", "chown", "chgrp", "chattr", "touch", "rm", "unlink", "shred",
    "mkdir", "rmdir", "realpath", "readlink", "basename", "dirname", "du", "wc", "md5", "md5sum", "sha1sum",
    "sha256sum", "sha512sum", "shasum", "b2sum", "cksum", "echo", "printf", "print", "cd", "pushd", "mktemp", "true",
    "false", "which", "type", "alias", "exa", "eza", "tree", "trash", "rg", "expect", "man", "help", "return", "exit",
    "for", "read", "getfacl", "setfacl", "lsattr", "namei", "truncate", "tee", "ssh-keygen", "mkcert", "openssl",
    "keytool", "certbot", "wg", "export", "declare", "local", "set", "unset", "kill", "sleep", "dotenv-linter",
    "shellcheck", "prettier", "rename", "case", "git-crypt", "ssh-copy-id",
})  # fmt: skip
_USERS = frozenset({
    "source", ".", "ssh", "ssh-add", "sftp", "dotenv", "direnv", "docker-compose", "terraform", "tofu", "ansible",
    "ansible-playbook", "kubectl", "helm", "node", "deno", "bun", "npm", "npx", "yarn", "pnpm", "make", "cosign",
    "codesign", "jarsigner", "apksigner", "signtool", "gpg", "sops", "age", "kubeseal", "flask", "uvicorn", "python",
    "ruby", "java", "nginx", "caddy", "openvpn", "wg-quick", "fastlane", "flutter", "xcrun", "keepassxc", "minisign",
    "vault", "set-env", "env-cmd", "doppler", "infisical", "step", "certutil", "pk12util", "update-ca-certificates",
})  # fmt: skip
"""Programs that work with a secret file that they are given."""


def read_secrets(line: Line, cwd: str, home: str) -> Iterator[Effect]:
    """Yield the files of secrets that programs are given, and the secrets that are printed or sent."""
    reading = _Reading(cwd, home)
    for command in line.commands:
        if not _runs_another(command, line):
            yield from reading.given(command)
            for name in printed_variables(command):
                yield _effect("print-variable", name, command)
    yield from reading.listed(line)
    for step in follow(line, reading.sources):
        yield from reading.sent(step)
        yield from reading.printed(step)


def printed_variables(command: Command) -> Iterator[str]:
    """Yield the names of the variables that a command prints."""
    if program_of(command.name.lower()) in PRINTERS:
        yield from command.variables


def _effect(kind: str, target: str, command: Command) -> Effect:
    return Effect(kind, target, " ".join(map(written_of, command.parts)), command.name, command.grade)


def _runs_another(command: Command, line: Line) -> bool:
    """Return whether a command only runs another one that the line shows too, as ``sudo`` does."""
    return any(one.place == command.place and len(one.via) > len(command.via) for one in line.commands)


class _Reading:
    """What a line does with secrets, in a directory."""

    def __init__(self, cwd: str, home: str) -> None:
        self.cwd = cwd
        self.home = home

    def is_secret(self, path: str) -> bool:
        if not path or "://" in path or len(path) > 4_096:
            return False
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        elif not path.startswith(("/", "~", ONE, MANY)):
            path = os.path.normpath(os.path.join(self.cwd, path))
        return secret_kind(path, self.home) not in (None, "settings")

    def given(self, command: Command) -> Iterator[Effect]:
        """Yield the secret files among the words of a program of which no table says that it reads files."""
        program = program_of(command.name.lower())
        if program in _NAMES or program in _NOTHING:
            return
        before = ""
        for word in map(written_of, command.parts[1:]):
            _, equals, value = word.partition("=")
            if word.startswith("-"):
                path, used = (value, True) if equals else ("", True)
            else:
                path, used = word, before.startswith("-") and "=" not in before
                path = value if equals and not self.is_secret(word) else path
            before = word
            path = path.partition(":")[0].removeprefix("@")
            if " " in path and not {".", "/"} & set(path.partition(" ")[0]):
                continue  # a sentence
            if path and ("." in path or "/" in path or path.startswith("id_")) and self.is_secret(path):
                kind = "use-secret-file" if used or program in _USERS else "give-secret-file"
                yield _effect(kind, path, command)

    def listed(self, line: Line) -> Iterator[Effect]:
        """Yield the secret files whose names a command prints for xargs, which gives them to a program that reads."""
        for first, middle, last in line.pipes:
            readers = [
                one for one in line.commands if middle <= one.place < last and {"xargs", "parallel"} & set(one.via)
            ]
            if any(program_of(one.name.lower()) in _NAMES for one in readers):
                for command in line.commands:
                    for word in map(written_of, command.parts[1:] if first <= command.place < middle else ()):
                        if self.is_secret(word):
                            yield _effect("give-secret-file", word, command)

    def sources(self, command: Command) -> Iterator[Brought]:
        """Yield the secrets that a command reads."""
        for found in _found(command):
            if found.kind == "read-files" and self.is_secret(found.target):
                yield Brought(Origin("file", found.target))
            elif found.kind == "print-env" and not found.values:
                yield Brought(Origin("environment", "the environment"))
            elif found.kind == "read-secret":
                yield Brought(Origin("variable", found.target or "a secret"))
            elif found.kind == "print-variable" and is_secret_variable(found.target):
                yield Brought(Origin("variable", f"${found.target}"))
        for name in printed_variables(command):
            if is_secret_variable(name):
                yield Brought(Origin("variable", f"${name}"))
        if sent := sent_by(command):
            for path in sent.files:
                if self.is_secret(path):
                    yield Brought(Origin("file", path))
            for name in sent.variables:
                if is_secret_variable(name):
                    yield Brought(Origin("variable", f"${name}"))

    def sent(self, step: Step) -> Iterator[Effect]:
        """Yield the secrets that a command sends away."""
        command = step.command
        found: set[Origin] = set()
        host = ""
        if sent := sent_by(command):
            host = sent.host
            if sent.reads_input:
                found |= step.input
                inputs = [one.target for one in command.redirections if one.is_input and not one.text]
                found |= {Origin("file", path) for path in map(written_of, inputs) if self.is_secret(path)}
            for path in sent.files:
                found |= step.files.read(path, command)
                if self.is_secret(path):
                    found.add(Origin("file", path))
            if sent.values:
                found |= step.substituted
            found |= {Origin("variable", f"${name}") for name in sent.variables if is_secret_variable(name)}
        target = _network_output(command)
        if target:
            host = target
            found |= step.input | step.of_words | {one.origin for one in self.sources(command)}
        for origin in sorted(found):
            if origin.kind in ("file", "environment", "variable"):
                yield Effect(
                    "send-secret", origin.target, " ".join(map(written_of, command.parts)), command.name, command.grade,
                    (origin.kind, host),
                )  # fmt: skip

    def printed(self, step: Step) -> Iterator[Effect]:
        """Yield the secrets that a program prints from variables and substitutions."""
        if program_of(step.command.name.lower()) in PRINTERS:
            for origin in sorted(_by_file(step.substituted)):
                yield _effect("read-secret", origin.target, step.command)


def _by_file(origins: Origins) -> Iterable[Origin]:
    return (origin for origin in origins if origin.kind == "file")


def _found(command: Command) -> Iterator[Found]:
    for redirection in command.redirections:
        if redirection.is_input and not redirection.text:
            yield Found("read-files", written_of(redirection.target))
    for name, program in find_programs(command.name):
        yield from apply_rows(name, program, command)


def _network_output(command: Command) -> str:
    """Return the host that a redirection of bash writes to."""
    for redirection in command.redirections:
        if redirection.is_output and redirection.target.startswith(("/dev/tcp/", "/dev/udp/")):
            host = redirection.target.split("/")[3]
            return host if is_known(host) else "a host"
    return ""
