"""Which local files a configuration makes run: the scripts and modules that its hooks name."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable

from ..handlers.command import Command
from ..handlers.python import LazyFunction
from ..model import Hook

__all__ = ["references_of"]

_MOST_BYTES = 50 * 1024 * 1024
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/nix/", "/System/", "/Library/")


def references_of(hooks: Iterable[Hook], file: str, scripts: Iterable[str] = ()) -> dict[str, str]:
    """Return the files that hooks name and that belong to no system, each with the hash of its content.

    A file that is not there has an empty hash: that it turns up later is a change too.
    """
    directory = os.path.dirname(file)
    named: set[str] = set(scripts)
    for hook in hooks:
        command = hook.options.get("command")
        if isinstance(command, Command):
            named.update(_files_of(command, directory))
        elif hook.type == "python" and isinstance(hook.handler, str):
            named.update(_modules_of(hook.handler, directory))
    return {path: _hash(path) for path in sorted(named) if not path.startswith(_SYSTEM)}


def _files_of(command: Command, directory: str) -> Iterable[str]:
    """Find the program and every word that is a file; the words of a line for the shell too."""
    words = [command.path, *command.argv]
    if len(command.argv) == 3 and command.argv[1] == "-c":
        try:
            words += shlex.split(command.argv[2], comments=True)
        except ValueError:
            words += command.argv[2].split()
    for word in words:
        path = os.path.join(directory, word.replace("$CLAUDE_PROJECT_DIR", directory))
        if "\0" not in path and os.path.isfile(path):
            yield os.path.realpath(path)
    if os.path.isabs(command.path) and not os.path.exists(command.path):
        yield command.path


def _modules_of(handler: str, directory: str) -> Iterable[str]:
    """Find the modules, from the package down, that a function's name leads to beside the file."""
    function = LazyFunction(handler, directory)
    parts = function.path.replace(":", ".").split(".")
    for count in range(1, len(parts)):
        stem = os.path.join(directory, *parts[:count])
        for path in (f"{stem}.py", os.path.join(stem, "__init__.py")):
            if os.path.isfile(path):
                yield os.path.realpath(path)


def _hash(path: str) -> str:
    try:
        with open(path, "rb") as opened:
            return hashlib.sha256(opened.read(_MOST_BYTES)).hexdigest()
    except OSError:
        return ""
