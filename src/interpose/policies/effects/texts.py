"""Find the texts that a line itself gives to a command: here-documents, what a pipe brings, files that it writes."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator

from ...matching.shell import Command, Line
from ...matching.shell.words import ONE
from .rows import written

__all__ = ["Texts"]

_WRITERS = frozenset({"echo", "printf", "cat", "tee", "yes"})
_SHOWS = frozenset(
    {"zcat", "gunzip", "gzip", "bzcat", "xzcat", "zstdcat", "pg_dump", "mysqldump", "pv", "sed", "envsubst"}
)
_MOST_FEEDERS = 50


class Texts:
    """The texts of a line, by the command that reads them."""

    def __init__(self, line: Line) -> None:
        self._at: dict[int, list[Command]] = defaultdict(list)
        for command in line.commands:
            self._at[command.place].append(command)
        self._feeders: dict[int, set[int]] = defaultdict(set)
        for pipe in line.pipes:
            first = max(pipe.first, pipe.middle - _MOST_FEEDERS)
            for place in range(pipe.middle, min(pipe.last, pipe.middle + _MOST_FEEDERS)):
                self._feeders[place] |= set(range(first, pipe.middle))
        self.files: dict[str, str] = {}
        """The texts that the line writes into files, by the name of the file as it is written, and normalised."""
        for command in line.commands:
            self._note_files(command)

    def read_by(self, command: Command) -> tuple[str, ...]:
        """Return what a command reads, as far as the line shows it; ``ONE`` if a pipe brings something else."""
        own = [one.text for one in command.redirections if one.is_input and one.text]
        if own:
            return tuple(own)
        places = self._feeders.get(command.place, ())
        fed = [text for place in sorted(places) for one in self._at[place] for text in _written(one)]
        found = tuple(text for text in (*fed, *self._files_of(command)) if text)
        return found or ((ONE,) if places else ())

    def is_complete(self, command: Command) -> bool:
        """Return whether all that a command reads stands in the line."""
        if any(one.is_input and one.text for one in command.redirections):
            return True
        places = self._feeders.get(command.place, ())
        feeders = [one for place in places for one in self._at[place]]
        return bool(feeders) and all(
            one.name in ("echo", "printf") or (one.name == "cat" and len(one.parts) == 1) for one in feeders
        )

    def is_from_files(self, command: Command) -> bool:
        """Return whether a command reads only texts of the line, and files that are there already."""
        feeders = [one for place in self._feeders.get(command.place, ()) for one in self._at[place]]
        return bool(feeders) and all(one.name in _WRITERS | _SHOWS for one in feeders)

    def _files_of(self, command: Command) -> Iterator[str]:
        if not self.files or any(one.is_output and one.target in self.files for one in command.redirections):
            return
        names = [*command.parts[1:], *(one.target for one in command.redirections if one.is_input)]
        for name in map(written, names):
            text = self.files.get(name) or self.files.get(os.path.normpath(name))
            if text and command.name not in _WRITERS:
                yield text

    def _note_files(self, command: Command) -> None:
        names = [written(one.target) for one in command.redirections if one.is_output]
        if command.name == "tee":
            names += [written(word) for word in command.parts[1:] if not word.startswith("-")]
        if not names or command.name not in _WRITERS:
            return
        text = "\n".join(self.read_by(command) if command.name == "tee" else _written(command))
        for name in names:
            if text:
                self.files[name] = self.files[os.path.normpath(name)] = f"{self.files.get(name, '')}{text}\n"


def _written(command: Command) -> Iterator[str]:
    """Yield what a command writes, as far as it stands in the line."""
    if command.name not in _WRITERS:
        return
    for one in command.redirections:
        if one.text and one.is_input:
            yield one.text
    words = [word for word in command.parts[1:] if not (word[:1] == "-" and word[1:] and set(word[1:]) <= set("neE"))]
    if command.name == "echo" and words:
        yield " ".join(words).replace("\\n", "\n")
    elif command.name in ("printf", "yes") and words:
        yield _formatted(words)


def _formatted(words: list[str]) -> str:
    """Return the text of printf: its format, and with ``%s`` the words after it."""
    text = words[0].replace("\\n", "\n").replace("\\t", "\t")
    return "\n".join(text.replace("%s", word) for word in words[1:]) if "%s" in text and len(words) > 1 else text
