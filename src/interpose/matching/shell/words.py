"""Words of a shell's command line, and the commands that they make.

A word is a text in which two marks stand for what is only known while the line runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Self

from ...runtime.named_tuples import NamedTuple
from ...runtime.regex import regex

__all__ = [
    "MANY",
    "ONE",
    "Expansion",
    "MarkedWord",
    "RawCommand",
    "Redirection",
    "SimpleCommand",
    "Unread",
    "UnreadKind",
    "Unsure",
    "Word",
    "base_name",
    "brace_words",
    "expanded",
    "is_known",
    "join",
    "names_in",
    "pieces_of",
    "value_of",
    "word_of",
    "written_of",
]

ONE = "\0"
"""Any text within one word: ``"$x"``."""
MANY = "\1"
"""Any number of words, or none: ``$x``, ``*``, ``{a,b}``."""

_MARK = regex("[\0\1]")


class Word(NamedTuple):
    """A word of a command; ``text`` is the whole word, or its certain beginning if the rest is unknown."""

    text: str
    known: bool = True


SimpleCommand = tuple[Word, ...]


UnreadKind = Literal[
    "computed", "arguments", "arithmetic", "input", "written", "file", "program", "code", "path", "variable", "broken",
    "control",
]  # fmt: skip
"""Why a part of a line cannot be read.

computed: a text that is only known while the line runs; arguments: such a text is given to a program that is not known
and may run it; arithmetic: a variable is evaluated of which the line shows no harmful value; program: a variable of the
environment names the program; input: what a program reads from a pipe or a descriptor; written: a file that the line
itself writes; file: a file that is there already; code: another language;
path: a PATH that the line sets; variable: another variable, or a setting, that makes a program run or load something;
broken: no shell's text, or too much of it; control: a control character.
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
    descriptor: str = ""
    """The number or the variable before the operator: ``2>``, ``{log}>``."""

    @property
    def is_input(self) -> bool:
        """Whether it gives the command its standard input, or may."""
        return self.operator.startswith("<")

    @property
    def is_output(self) -> bool:
        """Whether it writes to a file."""
        return ">" in self.operator and not (self.operator.endswith("&") and self.target.rstrip("-").isdigit())


class Expansion(NamedTuple):
    """A part of a word that the shell replaces while the line runs: a variable, a substitution, a tilde, a wildcard."""

    mark: str
    """``ONE`` or ``MANY``, which stands for it in the word."""
    name: str = ""
    """The variable's name, or ``~``."""
    written: str = ""
    """The text of a tilde or wildcard, which says enough of a path without being replaced."""
    is_plain: bool = True
    """Whether it is the whole value: ``$x`` and not ``${x%/*}``."""
    commands: tuple[int, int] | None = None
    """The range of the commands in a substitution."""
    default: str = ""
    """The text after ``${x:-`` and the like, which it may be too."""
    pipe: str = ""
    """``<`` or ``>`` for ``<(…)`` and ``>(…)``, the name of a file that is not what the commands print."""


class MarkedWord(str):
    """A word with marks, of which is known what stands for them."""

    __slots__ = ("pieces", "written")

    pieces: tuple[str | Expansion, ...]
    written: str
    """The word with tildes and wildcards as they are written, and with the values that the line shows."""

    def __new__(cls, text: str, pieces: tuple[str | Expansion, ...], written: str | None = None) -> Self:
        """Return the word with its pieces."""
        made = super().__new__(cls, text)
        made.pieces = pieces
        made.written = _written(pieces) if written is None else written
        return made

    def __reduce__(self) -> tuple[type[MarkedWord], tuple[str, tuple[str | Expansion, ...], str]]:
        """Return what a copy is made of."""
        return MarkedWord, (str(self), self.pieces, self.written)


def _written(pieces: tuple[str | Expansion, ...]) -> str:
    return "".join(piece if isinstance(piece, str) else piece.written or piece.mark for piece in pieces)


def expanded(expansion: Expansion) -> MarkedWord:
    """Return the word that an expansion alone makes."""
    return MarkedWord(expansion.mark, (expansion,))


def join(pieces: Sequence[str]) -> str:
    """Join pieces of a word; what is known of their marks is kept."""
    if len(pieces) == 1:
        return pieces[0]
    text = "".join(pieces)
    if all(type(piece) is str for piece in pieces):
        return text
    return MarkedWord(text, tuple(one for piece in pieces for one in pieces_of(piece)))


def pieces_of(word: str) -> tuple[str | Expansion, ...]:
    """Return the pieces of a word."""
    return word.pieces if isinstance(word, MarkedWord) else (str(word),)


def written_of(word: str) -> str:
    """Return a word with its tilde and wildcards as written, and with the values that the line shows."""
    return word.written if isinstance(word, MarkedWord) else word


def brace_words(word: str, most: int) -> Sequence[str]:
    """Return the words that plain braces stand for: ``a{b,c}`` is ``ab`` and ``ac``; if they are too many, the word."""
    if not isinstance(word, MarkedWord) or not any(map(_is_braces, word.pieces)):
        return (word,)
    made: list[list[str]] = [[]]
    for piece in word.pieces:
        choices = [expanded(piece)] if isinstance(piece, Expansion) else [piece]
        if isinstance(piece, Expansion) and _is_braces(piece):
            choices = piece.written[1:-1].split(",")
        if len(made) * len(choices) > most:
            return (MarkedWord(word, word.pieces, str(word)),)
        made = [[*one, choice] for one in made for choice in choices]
    return [text for text in map(join, made) if text]


def _is_braces(piece: str | Expansion) -> bool:
    return isinstance(piece, Expansion) and piece.written[:1] == "{"


def value_of(word: str) -> str:
    """Return what stands after the first equals sign of a word."""
    value = word.partition("=")[2]
    if not isinstance(word, MarkedWord):
        return value
    for at, piece in enumerate(word.pieces):
        if isinstance(piece, str) and "=" in piece:
            rest = piece.partition("=")[2]
            return MarkedWord(value, (*((rest,) if rest else ()), *word.pieces[at + 1 :]))
        if not isinstance(piece, str):
            break
    return value


def names_in(words: Iterable[str]) -> Iterator[str]:
    """Yield the names of the variables in words."""
    for word in words:
        if isinstance(word, MarkedWord):
            yield from (one.name for one in word.pieces if isinstance(one, Expansion) and one.name.isidentifier())


class RawCommand:
    """A simple command as it stands in the line, before wrappers such as ``sudo`` are looked into."""

    __slots__ = ("assigned", "doubt", "loops", "place", "redirections", "substituted", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.assigned: list[tuple[str, str]] = []
        self.redirections: list[Redirection] = []
        self.substituted: list[tuple[int, int]] = []
        """The ranges of the commands in its substitutions."""
        self.doubt = ""
        """Why it may be no command: it stands in arithmetic or in a test."""
        self.place = 0
        self.loops = False
        """Whether it is the head of a loop, which sets its variable to each of the values."""

    def filled(self, words: list[str], redirections: list[Redirection]) -> RawCommand:
        """Return the command with other words."""
        other = RawCommand()
        other.words, other.redirections = words, redirections
        other.assigned, other.substituted, other.doubt = self.assigned, self.substituted, self.doubt
        other.place, other.loops = self.place, self.loops
        return other


def is_known(word: str) -> bool:
    """Return whether the whole word is known before the line runs."""
    return ONE not in word and MANY not in word


def word_of(word: str) -> Word:
    """Return the public form of a word."""
    if isinstance(word, MarkedWord) and word[:1] == ONE and is_known(word[1:]) and is_known(word.written):
        return Word(word.written)
    mark = _MARK.search(word)
    return Word(word) if mark is None else Word(word[: mark.start()], known=False)


def base_name(word: str) -> str:
    """Return the last part of a program's path."""
    return word.rpartition("/")[2]
