"""Find the texts that a line itself gives to a command: here-documents, what a pipe brings, files that it writes."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator

from ...matching.shell import Line, ShellCommand
from ...matching.shell.words import ONE
from ...runtime.regex import regex
from .rows import written

__all__ = ["Texts"]

_WRITERS = frozenset({"echo", "printf", "cat", "tee", "yes"})
_SHOWS = frozenset({"zcat", "gunzip", "gzip", "bzcat", "xzcat", "zstdcat", "pg_dump", "mysqldump", "pv"})
_MOST_FEEDERS = 50
_MOST_PARTS = 1_000
_ESCAPE = regex(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,4}|.)", re.DOTALL)
_DIRECTIVE = regex(r"%[-+ #0]*[0-9]*(?:\.[0-9]+)?[sbdiqcuxX]")


class Texts:
    """The texts of a line, by the command that reads them."""

    def __init__(self, line: Line) -> None:
        self._at: dict[int, list[ShellCommand]] = defaultdict(list)
        for command in line.commands:
            self._at[command.place].append(command)
        self._feeders: dict[int, set[int]] = defaultdict(set)
        self._long = set[int]()  # where a pipe brings more than is looked at
        for pipe in line.pipes:
            first = max(pipe.first, pipe.middle - _MOST_FEEDERS)
            if first > pipe.first:
                self._long |= set(range(pipe.middle, pipe.last))
            for place in range(pipe.middle, min(pipe.last, pipe.middle + _MOST_FEEDERS)):
                self._feeders[place] |= set(range(first, pipe.middle))
        self.files: dict[str, str] = {}
        """The texts that the line writes into files, by the name of the file as it is written, and normalised."""
        for command in line.commands:
            self._note_files(command)

    def read_by(self, command: ShellCommand) -> tuple[str, ...]:
        """Return what a command reads, as far as the line shows it; ``ONE`` if a pipe brings something else."""
        own = [one.text for one in command.redirections if one.is_input and one.text]
        if own:
            return tuple(own)
        places = self._feeders.get(command.place, ())
        fed = [text for place in sorted(places) for one in self._at[place] for text in _written(one)]
        found = tuple(text for text in (*fed, *self._files_of(command)) if text)
        return found or ((ONE,) if places else ())

    def file(self, path: str) -> str:
        """Return what the line writes into a file; nothing if the line does not show it."""
        name = written(path)
        return self.files.get(name) or self.files.get(os.path.normpath(name), "")

    def substituted_in(self, command: ShellCommand) -> tuple[str, ...]:
        """Return what stands for the substitutions in the words of a command, as far as the line shows it."""
        places = (place for first, last in command.substituted for place in range(first, last))
        return tuple(text for place in places for one in self._at.get(place, ()) for text in _written(one))

    def is_complete(self, command: ShellCommand) -> bool:
        """Return whether all that a command reads stands in the line."""
        if any(one.is_input and one.text for one in command.redirections):
            return True
        places = self._feeders.get(command.place, ())
        feeders = [one for place in places for one in self._at[place]]
        return (
            bool(feeders)
            and command.place not in self._long
            and all(one.name in ("echo", "printf") or (one.name == "cat" and len(one.parts) == 1) for one in feeders)
        )

    def is_from_files(self, command: ShellCommand) -> bool:
        """Return whether a command reads only texts of the line, and files that are there already."""
        feeders = [one for place in self._feeders.get(command.place, ()) for one in self._at[place]]
        return (
            bool(feeders) and command.place not in self._long and all(one.name in _WRITERS | _SHOWS for one in feeders)
        )

    def _files_of(self, command: ShellCommand) -> Iterator[str]:
        if not self.files or any(one.is_output and one.target in self.files for one in command.redirections):
            return
        names = [*command.parts[1:], *(one.target for one in command.redirections if one.is_input)]
        for text in map(self.file, names):
            if text and command.name not in _WRITERS:
                yield text

    def _note_files(self, command: ShellCommand) -> None:
        names = [written(one.target) for one in command.redirections if one.is_output]
        if command.name == "tee":
            names += [written(word) for word in command.parts[1:] if not word.startswith("-")]
        if not names or command.name not in _WRITERS:
            return
        text = "\n".join(self.read_by(command) if command.name == "tee" else _written(command))
        for name in names:
            if text:
                self.files[name] = self.files[os.path.normpath(name)] = f"{self.files.get(name, '')}{text}\n"


def _written(command: ShellCommand) -> Iterator[str]:
    """Yield what a command writes, as far as it stands in the line; with its escapes as they are, and decoded."""
    if command.name not in _WRITERS:
        return
    for one in command.redirections:
        if one.text and one.is_input:
            yield one.text
    words = [word for word in command.parts[1:] if not (word[:1] == "-" and word[1:] and set(word[1:]) <= set("neE"))]
    if command.name == "echo" and words:
        text = " ".join(words)
        yield text
        if "\\" in text:
            yield _decoded(text)
    elif command.name in ("printf", "yes") and words:
        yield _formatted(words)


def _decoded(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    text = found[1]
    if text[0] in "xuU":
        number = int(text[1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else ONE
    if text[0] in "01234567":
        return chr(int(text, 8) % 256)
    return {"n": "\n", "t": "\t", "r": "\r", "c": "", "\\": "\\"}.get(text, text)


def _formatted(words: list[str]) -> str:
    """Return the text of printf: its format with the words after it, as often as it takes to use them all."""
    parts = _DIRECTIVE.split(_decoded(words[0]))
    if len(parts) == 1 or len(words) == 1:
        return parts[0] if len(parts) == 1 else "".join(parts)
    rest, written_parts = [_decoded(word) for word in words[1:]], list[str]()
    while rest and len(written_parts) < _MOST_PARTS:
        for part in parts[:-1]:
            written_parts += [part, rest.pop(0) if rest else ""]
        written_parts.append(parts[-1])
    return "".join(written_parts)
