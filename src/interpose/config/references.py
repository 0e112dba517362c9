"""Find the local files that a configuration runs: the scripts and modules that its hooks name."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator

from ..handlers.command import Command, command_of, current_interpreter
from ..handlers.python import LazyFunction
from ..model import Hook
from .files import sha256

__all__ = ["hash_of", "references_of"]

_MOST_BYTES = 50 * 1024 * 1024
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/opt/", "/nix/", "/System/", "/Library/")
_OUR_FOLDERS = (".interpose", ".claude")
_REDIRECTS = re.compile(r"&?>+[|]?")
_MOST_SOURCE = 1024 * 1024
_PYTHON = re.compile(rb"#!.*python")
_IMPORTS = re.compile(r"(?:^|[;:])[ \t]*(?:from|import)[ \t]+([^#\n;]+)", re.MULTILINE)
_TOPS = re.compile(r"(?:^|,)[ \t]*(\w+)")
_VARIABLE = re.compile(r"\$\{?(CLAUDE_PROJECT_DIR|HOME)\b\}?")


def references_of(hooks: Iterable[Hook], file: str, scripts: Iterable[str] = ()) -> dict[str, str]:
    """Return the files that hooks name, outside of system directories, each with its hash.

    A file that does not exist has an empty hash: if it appears later, that is a change.
    """
    directory = os.path.dirname(file)
    # A project's files are in .interpose or .claude, and its commands run in the project.
    project = os.path.dirname(directory) if os.path.basename(directory) in _OUR_FOLDERS else directory
    named: set[str] = set(scripts)
    for hook in hooks:
        command = command_of(hook)
        if command is not None:
            named.update(_files_of(command, directory, project))
        elif hook.type == "python" and isinstance(hook.handler, str):
            named.update(_modules_of(hook.handler, directory))
    own = os.path.join(os.path.realpath(project), "")
    return {path: hash_of(path) for path in sorted(named) if path.startswith(own) or not path.startswith(_SYSTEM)}


def _files_of(command: Command, directory: str, project: str) -> Iterator[str]:
    """Find the program, and every word that is a file, also in a line for the shell."""
    # A variable can name a file to run: BASH_ENV, NODE_OPTIONS=--require=…, PYTHONSTARTUP.
    words = [command.path, *command.argv, *(word for value in command.env.values() for word in _words(value))]
    if len(command.argv) == 3 and command.argv[1] == "-c":
        words += _words(command.argv[2])
    # The current interpreter is not named by the file, and differs between hosts.
    words = [word for word in words if word != current_interpreter()]
    home = os.path.expanduser("~")
    for base in dict.fromkeys((directory, project, command.cwd or directory)):
        for word in words:
            filled = _VARIABLE.sub(lambda found: home if found[1] == "HOME" else base, word)  # noqa: B023 - used at once
            path = os.path.join(base, os.path.expanduser(filled))
            if "\0" not in path and os.path.isfile(path):
                yield os.path.realpath(path)
                yield from _modules_beside(os.path.realpath(path))
    if os.path.isabs(command.path) and not os.path.exists(command.path):
        yield command.path


def _words(line: str) -> list[str]:
    """Return the words of a line for the shell, and the parts of assignments.

    Files that the line writes to are left out: otherwise a log would end trust with every line.
    """
    line = line.replace("`", " ")
    reader = shlex.shlex(line, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    try:
        words = list(reader)
    except ValueError:
        words = line.split()
    words = [word for before, word in zip(["", *words], words, strict=False) if not _REDIRECTS.fullmatch(before)]
    return words + [part for word in words if "=" in word for part in word.split("=")]


def _modules_of(handler: str, directory: str) -> Iterator[str]:
    """Find the modules in the configuration's directory that a function's name leads to, from the package down.

    Imports are not followed, but all modules of the package are included, since they import one another.
    """
    from importlib.machinery import all_suffixes

    parts = LazyFunction(handler, directory).path.replace(":", ".").split(".")
    endings = tuple(all_suffixes())
    for count in range(1, len(parts)):
        stem = os.path.join(directory, *parts[:count])
        for path in (*(stem + ending for ending in endings), *_listed(stem, endings)):
            if os.path.isfile(path):
                yield os.path.realpath(path)


def _modules_beside(script: str) -> Iterator[str]:
    """Find the modules that a Python script would import from its own folder, which comes first on its path.

    These are the modules that it names, and any with the name of a module of the standard library: a new ``json.py`` in
    the folder of a guard would be run.
    """
    from importlib.machinery import all_suffixes

    endings = tuple(all_suffixes())
    wanted, unread, seen = {*sys.stdlib_module_names}, [script], {script}
    while unread:
        text = _python_of(unread.pop())
        if text is None:
            continue
        for line in _IMPORTS.findall(text):
            wanted.update(_TOPS.findall(line))
        for path in _files_named(wanted, os.path.dirname(script), endings):
            if path not in seen:
                seen.add(path)
                unread.append(path)
                yield path


def _files_named(names: set[str], folder: str, endings: tuple[str, ...]) -> Iterator[str]:
    """Return the files in a folder that are modules with one of these names."""
    try:
        there = os.listdir(folder)
    except OSError:
        return
    for name in there:
        path = os.path.join(folder, name)
        if name.partition(".")[0] not in names:
            continue
        if name.endswith(endings) and os.path.isfile(path):
            yield os.path.realpath(path)
        elif "." not in name:
            yield from map(os.path.realpath, _listed(path, endings))


def _python_of(path: str) -> str | None:
    """Return the text of a Python script; None if it is something else."""
    try:
        with open(path, "rb") as opened:
            if not path.endswith(".py") and not _PYTHON.match(opened.readline(200)):
                return None
            opened.seek(0)
            return opened.read(_MOST_SOURCE).decode("utf-8", "replace")
    except OSError:
        return None


def _listed(folder: str, endings: tuple[str, ...]) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(endings)]
    except OSError:
        return []


def hash_of(path: str) -> str:
    """Return the hash of a file's content; nothing if it cannot be read."""
    try:
        if not os.path.isfile(path):  # opening a FIFO would wait
            return ""
        with open(path, "rb") as opened:
            return sha256(opened.read(_MOST_BYTES)).hex()
    except OSError:
        return ""
