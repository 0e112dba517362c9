"""Words of a shell's command line, and the simple command that they make."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["ASSIGNMENT", "CommandBuilder", "SimpleCommand", "Unsure", "Word"]


class Word(NamedTuple):
    """A word of a command; ``text`` is the whole word, or its certain beginning if the rest is unknown."""

    text: str
    known: bool = True


SimpleCommand = tuple[Word, ...]


class Unsure(Exception):
    """The text cannot be read with certainty."""


_MOST_COMMANDS = 3_000

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[.*?\])?\+?=", re.ASCII | re.DOTALL)
_OPEN_SUBSCRIPT = re.compile(r"[A-Za-z_]\w*\[[^\]]*\Z", re.ASCII)

# Reserved words after which a command begins; for `case` and `esac` see _reserved.
_RESERVED = frozenset(
    [
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "do",
        "done",
        "while",
        "until",
        "{",
        "}",
        "!",
        "case",
        "esac",
        "time",
        "coproc",
    ]
)


class CommandBuilder:
    """Collects the words of the current command, and knows where a command may begin."""

    def __init__(self, commands: list[SimpleCommand]) -> None:
        self.commands = commands
        self.words: list[Word] = []
        self.cases = 0
        self._before = "\n"
        self._timed = False
        self.forked = False  # after &>: bash redirects, other shells end the command

    @property
    def is_test(self) -> bool:
        """Whether this is ``[[ … ]]``."""
        return bool(self.words) and self.words[0] == Word("[[")

    @property
    def is_for(self) -> bool:
        """Whether a loop's head has just begun."""
        return self.words == [Word("for")]

    def add(self, word: Word, source: str) -> None:
        """Add the next word; a reserved word begins a new command."""
        if self.forked:
            raise Unsure
        is_reserved = word.known and source == word.text
        if not self.words:
            if is_reserved and source in _RESERVED:
                self._reserved(source)
                return
            if _OPEN_SUBSCRIPT.match(source):
                raise Unsure  # a blank within a subscript
            if ASSIGNMENT.match(source):
                return
            if self._timed and source.startswith("-"):
                if source not in ("-p", "--"):
                    self.words.append(Word("time"))
                else:
                    return
        self._timed = False
        self.words.append(word)
        if is_reserved and self._ends_its_head(source):
            self.words.clear()
            self._before = "\n"

    def _ends_its_head(self, source: str) -> bool:
        first, count = self.words[0].text, len(self.words)
        return (
            (first == "case" and count == 3 and source == "in")
            or (first in ("for", "select") and count == 3 and source == "do")
            or (first == "function" and count == 2)
        )

    def _reserved(self, source: str) -> None:
        if source == "coproc":
            raise Unsure  # may have a name before its command
        if source == "case":
            self.cases += 1
            self.words.append(Word("case"))
        elif source == "esac" and self.cases:
            if self._before not in ";&)\n":
                raise Unsure  # the end of the case, or one of its patterns
            self.cases -= 1
        self._timed = source == "time"

    def end(self, mark: str) -> None:
        """Finish the command; ``mark`` is the character after it."""
        if self.words:
            self.commands.append(tuple(self.words))
            self.words.clear()
            if len(self.commands) > _MOST_COMMANDS:
                raise Unsure
        self._before = mark
        self._timed = self.forked = False
