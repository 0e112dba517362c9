"""Read the effects of a command line: of each command by its program's table, and of its redirections."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from ...matching.shell import Command, Line
from ...matching.shell.words import ONE, is_known
from .downloads import downloads_that_run
from .effect import Effect
from .rows import Found, apply_rows, written
from .tables import find_programs

__all__ = ["effects_of_line"]

FILE_KINDS = frozenset({
    "read-files", "write-files", "delete-files", "delete-files-for-good", "empty-files", "move-files", "change-tree",
    "change-mode", "lock-out", "lose-changes", "lose-untracked", "open-permissions", "setuid",
})  # fmt: skip
"""Kinds whose target is a file: it is made absolute."""


def _fork_bombs(line: Line, cwd: str, home: str) -> Iterator[Effect]:
    if line.is_fork_bomb:
        yield Effect("fork-bomb", command=line.text, directory=cwd)


LINE_READERS: tuple[Callable[[Line, str, str], Iterable[Effect]], ...] = (
    downloads_that_run,
    _fork_bombs,
)
"""Functions that read effects of several commands together: a download that is run, a secret that is sent."""


@lru_cache(maxsize=256)  # every policy at an event asks for the same line
def effects_of_line(line: Line, cwd: str, home: str) -> tuple[Effect, ...]:
    """Return what a line does in a directory. Looks at no file."""
    found = [effect for command in line.commands for effect in _effects(command, cwd, home)]
    for read in LINE_READERS:
        found += read(line, cwd, home)
    return tuple(dict.fromkeys(found))


def _effects(command: Command, cwd: str, home: str) -> Iterator[Effect]:
    text = " ".join(map(written, command.parts))
    found = tuple(_found(command))
    if not found:
        return
    for directory in _directories(command, cwd, home):
        for one in found:
            place = _known(_absolute(one.directory, directory, home)) if one.directory else directory
            is_file = one.kind in FILE_KINDS and one.target
            target = _absolute(one.target, place, home) if is_file else one.target
            yield Effect(one.kind, target, text, command.name, command.grade, one.values, place)


def _found(command: Command) -> Iterator[Found]:
    for redirection in command.redirections:
        if redirection.is_output:
            yield Found("write-files", written(redirection.target))
            if redirection.operator in (">", ">|") and _writes_nothing(command):
                yield Found("empty-files", written(redirection.target))
        elif redirection.is_input and not redirection.text:
            yield Found("read-files", written(redirection.target))
    for name, program in find_programs(command.name):
        yield from apply_rows(name, program, command)


def _writes_nothing(command: Command) -> bool:
    """Return whether a command has no output, so that a redirection empties its file."""
    return command.parts in ((), (":",), ("true",), ("cat", "/dev/null"))


def _directories(command: Command, cwd: str, home: str) -> tuple[str | None, ...]:
    places = [_absolute(place, cwd, home) if is_known(place) else None for place in command.directories]
    return tuple(dict.fromkeys(places)) or (None,)


def _known(path: str) -> str | None:
    return path if is_known(path) else None


def _absolute(path: str, directory: str | None, home: str) -> str:
    """Return a path with the directory that it is relative to; one that is not known is marked."""
    if path[:1] == "~":
        user, _, rest = path.partition("/")
        path = os.path.join(home if user == "~" else ONE, rest) if rest else home if user == "~" else ONE
    if os.path.isabs(path) or path.startswith(ONE):
        return path
    if directory is None:
        return f"{ONE}/{path}"
    return os.path.join(directory, path) if path else directory
