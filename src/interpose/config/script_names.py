"""Name a command by the file of its script: ``python3 "$DIR"/hooks/check.py --fast`` is ``check.py``."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from ..runtime.regex import regex

__all__ = ["PREFIXES", "RUNNERS", "SHELLS", "is_assignment", "script_name"]

_DEEPEST = 4
SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "fish"}
RUNNERS = SHELLS | {
    "python", "py", "pypy", "node", "nodejs", "deno", "bun", "tsx", "ts-node", "ruby", "perl", "php", "lua", "Rscript",
    "pwsh", "osascript", "java", "go", "uv", "poetry", "pdm", "hatch", "pipenv", "rye", "source", ".",
}  # fmt: skip
"""Programs whose argument is the script."""
PREFIXES = {
    "env", "exec", "command", "builtin", "nohup", "time", "nice", "ionice", "sudo", "doas", "setsid", "stdbuf",
    "timeout", "xargs", "npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "dlx", "!", "then", "do", "else", "elif", "if",
    "while", "{",
}  # fmt: skip
"""Words before a command."""
_SYSTEM = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/")
_SCRIPT = regex(
    r".*\.(?:py|pyz|sh|bash|zsh|fish|js|mjs|cjs|ts|mts|cts|tsx|rb|pl|php|lua|go|ps1|exs|r|jar|exe)", re.IGNORECASE
)
_ENDS = regex(r"[;&|()\n]+")
_REDIRECTS = regex(r"[0-9]*(?:[<>]+[&|]?|&>+)")
_ASSIGNMENT = regex(r"[A-Za-z_][A-Za-z0-9_]*=")
_VERSION = regex(r"[0-9.]+$")


def script_name(words: Sequence[str] | str) -> str:
    """Return the name of the script's file that a line for the shell, or the words of a command, runs first.

    Nothing if it runs none: then the line itself says what it does.
    """
    commands = [list(words)] if not isinstance(words, str) else _commands(words)
    return _first(commands, _DEEPEST)


def _first(commands: Iterable[list[str]], depth: int) -> str:
    for command in commands:
        if name := _script_of(command, depth):
            return name
    return ""


def _commands(line: str) -> Iterator[list[str]]:
    """Return the words of each simple command of a line, roughly; a line with an open quote has none."""
    reader = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>\n")
    reader.whitespace = " \t\r"
    reader.whitespace_split = True
    try:
        words = list(reader)
    except ValueError:
        return
    found: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if _ENDS.fullmatch(word):
            yield found
            found = []
        elif not _REDIRECTS.fullmatch(word) and not _REDIRECTS.fullmatch(before):
            found.append(word)
    yield found


def _script_of(words: list[str], depth: int) -> str:
    """Return the script of one simple command: the program itself, or what an interpreter runs."""
    while words and (os.path.basename(words[0]) in PREFIXES or is_assignment(words[0]) or _is_option(words[0])):
        # The number of `timeout 10 …` and the like is no program.
        words = words[2:] if words[0] in ("timeout", "nice") and _is_number(words[1:2]) else words[1:]
    if not words or depth == 0:
        return ""
    program, *arguments = words
    name = _VERSION.sub("", os.path.basename(program))
    if name not in RUNNERS:
        is_file = os.sep in program and not program.startswith(_SYSTEM)
        return _name_of(program) if is_file or _SCRIPT.fullmatch(program) else ""
    if name in SHELLS and (line := _line_of(arguments)) is not None:
        return _first(_commands(line), depth - 1)
    if "-m" in arguments[:-1]:
        return _name_of(arguments[arguments.index("-m") + 1])
    script = next((word for word in arguments if _SCRIPT.fullmatch(word)), None)
    if script is None:
        script = next((word for word in arguments if os.sep in word and not _is_option(word)), "")
    return _name_of(script)


def _line_of(arguments: list[str]) -> str | None:
    """Return the line of ``sh -c LINE``; None if the shell runs a file."""
    for at, word in enumerate(arguments[:-1]):
        if not _is_option(word):
            return None
        if not word.startswith("--") and word.endswith("c"):
            return arguments[at + 1]
    return None


def is_assignment(word: str) -> bool:
    """Return whether a word sets a variable: ``NAME=value``."""
    return _ASSIGNMENT.match(word) is not None


def _is_option(word: str) -> bool:
    return word.startswith("-")


def _is_number(words: Sequence[str]) -> bool:
    return bool(words) and words[0][:1].isdigit()


def _name_of(path: str) -> str:
    name = os.path.basename(path.rstrip("/"))
    return name if name.isprintable() and not set(name) & set("$`*?{}<>|&;") else ""
