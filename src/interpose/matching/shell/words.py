"""Words of a shell's command line, and the commands that they make.

A word is a text in which two marks stand for what is only known while the line runs.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, Self

__all__ = [
    "MANY",
    "ONE",
    "RawCommand",
    "Redirection",
    "SimpleCommand",
    "TildeWord",
    "Unread",
    "UnreadKind",
    "Unsure",
    "Word",
    "base_name",
    "is_known",
    "word_of",
]

ONE = "\0"
"""Any text within one word: ``"$x"``."""
MANY = "\1"
"""Any number of words, or none: ``$x``, ``*``, ``{a,b}``."""

_MARK = re.compile("[\0\1]")


class Word(NamedTuple):
    """A word of a command; ``text`` is the whole word, or its certain beginning if the rest is unknown."""

    text: str
    known: bool = True


SimpleCommand = tuple[Word, ...]


UnreadKind = Literal["computed", "input", "written", "file", "code", "variable", "broken", "control"]
"""Why a part of a line cannot be read.

computed: a text that is only known while the line runs; input: what a program reads from a pipe or a descriptor;
written: a file that the line itself writes; file: a file that is there already; code: another language;
variable: a variable or setting that loads code, or changes which program a name means; broken: no shell's text, or too
much of it; control: a control character.
"""


class Unread(str):
    """What of a line cannot be read, in words, and of which kind it is."""

    __slots__ = ("kind",)

    kind: UnreadKind

    def __new__(cls, text: str, kind: UnreadKind = "computed") -> Self:
        """Return the words with their kind."""
        made = super().__new__(cls, text)
        made.kind = kind
        return made


class Unsure(Exception):
    """The text cannot be read with certainty; the message says why."""


class Redirection(NamedTuple):
    """A redirection: ``>``, its file and, for a here-document or here-string, the text."""

    operator: str
    target: str
    text: str = ""

    @property
    def is_input(self) -> bool:
        """Whether it gives the command its standard input, or may."""
        return self.operator.startswith("<")

    @property
    def is_output(self) -> bool:
        """Whether it writes to a file."""
        return ">" in self.operator and not (self.operator.endswith("&") and self.target.rstrip("-").isdigit())


class TildeWord(str):
    """A word that begins with a tilde, whose directory is unknown to a rule; it is shown as it is written."""

    __slots__ = ("written",)

    written: str


class RawCommand:
    """A simple command as it stands in the line, before wrappers such as ``sudo`` are looked into."""

    __slots__ = ("assigned", "doubt", "place", "redirections", "substituted", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.assigned: list[tuple[str, str]] = []
        self.redirections: list[Redirection] = []
        self.substituted: list[tuple[int, int]] = []
        """The ranges of the commands in its substitutions."""
        self.doubt = ""
        """Why it may be no command: it stands in arithmetic or in a test."""
        self.place = 0


def is_known(word: str) -> bool:
    """Return whether the whole word is known before the line runs."""
    return ONE not in word and MANY not in word


def word_of(word: str) -> Word:
    """Return the public form of a word."""
    if isinstance(word, TildeWord):
        return Word(word.written)
    mark = _MARK.search(word)
    return Word(word) if mark is None else Word(word[: mark.start()], known=False)


def base_name(word: str) -> str:
    """Return the last part of a program's path."""
    return word.rpartition("/")[2]
