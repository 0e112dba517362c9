"""Read the effects of a command line: of each command by its program's table, and of its redirections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from ...matching.shell import Command, Line
from .effect import Effect
from .guards import guard_effects
from .directories import absolute, directories_of
from .rows import Found, apply_rows
from .sizes import size_effects
from .tables import find_programs

__all__ = ["effects_of_line"]

FILE_KINDS = frozenset({
    "read-files", "write-files", "delete-files", "delete-files-for-good", "empty-files", "move-files", "change-tree",
    "lock-out", "lose-changes", "lose-untracked", "open-permissions", "setuid",
    "rename-files", "link-files", "write-into", "make-folder", "change-files", "fill-disk",
})  # fmt: skip
"""Kinds whose target is a file: it is made absolute."""

LINE_READERS: tuple[Callable[[Line, str, str], Iterable[Effect]], ...] = (
    guard_effects,
    size_effects,
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
    text = " ".join(command.parts)
    for directory in directories_of(command, cwd, home):
        for one in _found(command):
            target = absolute(one.target, directory, home) if one.kind in FILE_KINDS and one.target else one.target
            yield Effect(one.kind, target, text, command.name, command.grade, one.values, directory)


def _found(command: Command) -> Iterator[Found]:
    for redirection in command.redirections:
        if redirection.is_output:
            yield Found("write-files", redirection.target)
        elif redirection.is_input and not redirection.text:
            yield Found("read-files", redirection.target)
    for name, program in find_programs(command.name):
        yield from apply_rows(name, program, command)
