"""Split a script line into arguments: quotes, escapes and ``$name``.

An argument is made of adjacent pieces: bare text, ``"double quotes"`` and ``'single quotes'``. This is not a shell:
nothing is expanded, and a line never continues on the next one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..runtime.named_tuples import NamedTuple
from ..runtime.regex import regex
from .lines import Reference, Template, joined

__all__ = ["Argument", "Wrong", "bare_word", "read_arguments"]

Wrong = Callable[[int, str, str], None]
"""Reports a problem: its column, its text and a hint."""

_BLANKS = " \t"
_IN_QUOTES = {'"': '"', "\\": "\\", "$": "$", "n": "\n", "t": "\t"}
_BARE = {mark: mark for mark in "\"'\\$# \t"}
_QUOTED_TEXT = regex(r'[^"$\\]+')
_BARE_TEXT = regex(r"""[^ \t"'$\\]+""")
_HEAD = regex(r"[^ \t]+")
_REFERENCE = regex(r"\$([A-Za-z_]\w*)((?:\.\w+)*)", re.ASCII)
# In braces a field may have a dash: the end of the reference is clear.
_BRACED = regex(r"\$\{([A-Za-z_]\w*)((?:\.[\w-]+)*)\}", re.ASCII)
_BRACES = regex(r"""\$\{[^ \t"'{}]*\}?""")


class Argument(NamedTuple):
    """An argument, and the column where it begins."""

    template: Template
    column: int


def bare_word(text: str, at: int) -> tuple[str, int]:
    """Return the next word as written, and its index; an empty one at the end or before a comment."""
    at = _skip_blanks(text, at)
    found = _HEAD.match(text, at)
    return ("", at) if found is None or found[0].startswith("#") else (found[0], at)


def read_arguments(text: str, at: int, wrong: Wrong) -> list[Argument]:
    """Return the arguments from an index on. It goes on after a problem, to report all of them."""
    reader = _Tokenizer(text, at, wrong)
    words: list[Argument] = []
    while reader.is_at_word():
        words.append(reader.word())
    return words


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


class _Tokenizer:
    def __init__(self, text: str, at: int, wrong: Wrong) -> None:
        self.text = text
        self.at = at
        self.wrong = wrong
        self.parts: list[str | Reference] = []

    def is_at_word(self) -> bool:
        """Go to the next word; a ``#`` begins a comment only at the beginning of a word, so ``a#b`` is a word."""
        self.at = _skip_blanks(self.text, self.at)
        return self.at < len(self.text) and self.text[self.at] != "#"

    def word(self) -> Argument:
        begin = self.at
        self.parts = []
        while self.at < len(self.text) and self.text[self.at] not in _BLANKS:
            match self.text[self.at]:
                case '"':
                    self.in_double_quotes()
                case "'":
                    self.in_single_quotes()
                case _:
                    self.piece(_BARE_TEXT, _BARE)
        return Argument(joined(self.parts), begin + 1)

    def in_double_quotes(self) -> None:
        begin = self.at
        self.at += 1
        while self.at < len(self.text):
            if self.text[self.at] == '"':
                self.at += 1
                return
            self.piece(_QUOTED_TEXT, _IN_QUOTES)
        self.wrong(begin + 1, "this double quote is never closed", 'end the text with "')

    def in_single_quotes(self) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            self.wrong(self.at + 1, "this single quote is never closed", "end the text with '")
            end = len(self.text)
        self.parts.append(self.text[self.at + 1 : end])
        self.at = end + 1

    def piece(self, plain: re.Pattern[str], escapes: dict[str, str]) -> None:
        """Read plain text, an escape or a reference."""
        match self.text[self.at]:
            case "\\":
                self.escape(escapes)
            case "$":
                self.dollar()
            case _:
                found = plain.match(self.text, self.at)
                self.take(found[0] if found else self.text[self.at], len(found[0]) if found else 1)

    def take(self, part: str | Reference, length: int) -> None:
        self.parts.append(part)
        self.at += length

    def escape(self, escapes: dict[str, str]) -> None:
        mark = self.text[self.at + 1 : self.at + 2]
        if mark not in escapes:
            what = f"\\{mark} is not an escape" if mark else "a backslash at the end of the line"
            self.wrong(self.at + 1, what, "write \\\\ for a backslash")
        self.take(escapes.get(mark, ""), 1 + len(mark))

    def dollar(self) -> None:
        text, at = self.text, self.at
        if text.startswith("$$", at):
            self.take("$", 2)
        elif found := _BRACED.match(text, at) or _REFERENCE.match(text, at):
            path = tuple(found[2].split(".")[1:])
            self.take(Reference(found[1], path, at + 1), len(found[0]))
        elif braces := _BRACES.match(text, at):
            self.wrong(at + 1, f"{braces[0]} names no field", "write ${name} or ${name.field}")
            self.take("", len(braces[0]))
        else:
            self.wrong(at + 1, "a $ without a name", "write $$ for a dollar")
            self.take("", 1)
