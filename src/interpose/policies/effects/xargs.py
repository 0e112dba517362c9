"""The words that xargs gives to a command, as far as a ``find`` or ``ls`` before the pipe shows them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...matching.shell import Line, ShellCommand
from ...matching.shell.words import MANY, ONE, Expansion, MarkedWord, is_known
from .find import effects_of_find
from .rows import parse, written

__all__ = ["Inputs"]

_MOST_SOURCES = 50
"""How many commands before a pipe are looked at."""

_FILTERS = frozenset(["grep", "egrep", "fgrep", "head", "sort", "tail", "uniq"])
"""Programs that pass some of the lines that they read on."""
_PRINTS = frozenset(["-print", "-print0"])


class Inputs:
    """The commands of a line and the pipes before them, by their places."""

    def __init__(self, line: Line) -> None:
        self.at: dict[int, list[ShellCommand]] = {}
        for command in line.commands:
            self.at.setdefault(command.place, []).append(command)
        self._sources: dict[int, tuple[int, int]] = {}
        for first, middle, last in line.pipes:
            for place in range(middle, last):
                self._sources.setdefault(place, (first, middle))

    def with_input(self, command: ShellCommand) -> ShellCommand:
        """Return a command that xargs runs with the words that it is given; the command itself if they are unknown."""
        if command.via[-1:] != ("xargs",) or command.parts[-1:] not in ((ONE,), (MANY,)):
            return command
        words = list(self._words(command))
        if not words:
            return command
        known = [part for part in command.parts if part not in (ONE, MANY)]
        return command._replace(parts=(*known, *words))

    def hosts(self, command: ShellCommand) -> tuple[str, ...]:
        """Return the words of the ssh commands that run a command: one of them is the host."""
        if "ssh" not in command.via:
            return ()
        runners = (one for one in self.at[command.place] if one.name == "ssh")
        return tuple(word for one in runners for word in one.parts[1:-1] if not word.startswith("-"))

    def _words(self, command: ShellCommand) -> Iterator[str]:
        """Yield the words that are piped to a command, also through programs that select some of them."""
        first, middle = self._sources.get(command.place, (0, 0))
        if not 0 < middle - first <= _MOST_SOURCES:
            return
        sources = [one for place in range(first, middle) for one in self.at.get(place, ())]
        makers = [one for one in sources if one.name not in _FILTERS]
        if len(makers) != 1 or makers[0].directories != command.directories:
            return
        is_selected = any(one.name in _FILTERS and one.name not in ("sort", "uniq") for one in sources)
        for word in _printed(makers[0]):
            yield _pattern(f"{word.rstrip('/')}/selected") if is_selected and is_known(word) else word


def _printed(source: ShellCommand) -> Iterator[str]:
    if source.name == "find":
        yield from _found(source)
    elif source.name == "ls":
        operands = [word for word in source.parts[1:] if not word.startswith("-")]
        if not any(is_known(word) for word in operands):  # the names in a directory are relative to it
            yield from operands or [_pattern("./")]


def _found(source: ShellCommand) -> Iterator[str]:
    """Yield the files that find prints: the directories, or patterns in them if tests select the files."""
    words = [written(word) for word in source.parts[1:]]
    if any(word.startswith(("-exec", "-ok", "-delete", "-fprint", "-printf", "-fls")) for word in words):
        return
    at = next((at for at, word in enumerate(words) if at and word.startswith(("-", "(", "!"))), len(words))
    tests = [word for word in words[at:] if word not in _PRINTS]
    whole = [*words[:at], *(["(", *tests, ")"] if tests else []), "-delete"]
    for found in effects_of_find(parse("find", whole, "", source)):
        folder, name = os.path.split(found.target)
        yield _pattern(f"{folder}/{name.rstrip(MANY)}") if MANY in found.target else found.target


def _pattern(start: str) -> MarkedWord:
    return MarkedWord(start + MANY, (start, Expansion(MANY, written="*")))
