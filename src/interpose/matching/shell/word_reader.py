"""Words: their plain text, wildcards, braces and arrays; quotes and expansions are read by ``expansions``."""

from __future__ import annotations

import re

from ...runtime.regex import regex
from .expansions import ExpansionReader, NestedCommands
from .parsed import ARRAY_ELEMENT
from .source import BARE, ShellSource
from .words import MANY, ONE, Expansion, MarkedWord, expanded, join, pieces_of

__all__ = ["WordReader"]

_TILDE = regex(r"~[\w.+-]*(?=[/:\s;&|()<>]|\Z)", re.ASCII)
_BRACKETS = regex(r"\[[^\]\s;&|()<>'\"\\$`]{0,64}\]")
_AFTER_BRACKET = regex(r"[\s;&|<>()\]$`\"'\\]")  # ends a word, or may make a pattern of an open bracket
_NO_BRACES = regex(r"\{(?:(?!\.\.)[^{},\s;&|()<>'\"\\$`])*\}")  # nothing to choose from: no expansion
_PLAIN_BRACES = regex(r"\{[\w./:@%+=-]*(?:,[\w./:@%+=-]*)+\}", re.ASCII)


class WordReader:
    """Reads words, in which marks stand for what is only known while the line runs."""

    def __init__(self, source: ShellSource, expansions: ExpansionReader, commands: NestedCommands) -> None:
        self.source = source
        self.expansions = expansions
        self.commands = commands
        self.after_bracket = (0, -1)  # a place, and the first mark after it that decides what an open bracket is

    def read(self, *, is_target: bool = False) -> str:
        """Read one word; ``is_target`` says that it is the target of a redirection."""
        source, text = self.source, self.source.text
        pieces: list[str] = []
        began, unreadable = source.at, False
        while source.at < len(text):
            bare = BARE.match(text, source.at)
            if bare:
                source.at = bare.end()
                pieces.append(bare.group())
                continue
            mark = text[source.at]
            if mark in "<>" and source.is_process_substitution() and (is_target or self._begins_value(began)):
                source.at += 2
                pieces.append(expanded(self.expansions.read_substitution(ONE)._replace(pipe=mark)))
            elif mark in " \t\n;&|)<>":
                break
            elif mark == "(":
                if source.at == began or text[source.at - 1] != "=":
                    break
                source.at += 1
                self.commands.read_group(ARRAY_ELEMENT)
                pieces.append(MANY)
            elif mark in "\\'\"$`":
                pieces.append(self.expansions.read_part(mark))
            else:
                piece = self._read_wildcard(mark, began)
                unreadable |= piece is None
                pieces.append(MANY if piece is None else piece)
        if unreadable:
            return _beginning(pieces)
        return join(pieces) if pieces else ""

    def _begins_value(self, began: int) -> bool:
        """Return whether a word that began at a place, or its value after an equals sign, begins here."""
        return self.source.at == began or self.source.text[self.source.at - 1] == "="

    def _read_wildcard(self, mark: str, began: int) -> str | None:
        """Read a special part of a word; None if nothing after it is as it is written."""
        source, text, at = self.source, self.source.text, self.source.at
        if mark == "~" and (at == began or text[at - 1] in "=:"):
            tilde = _TILDE.match(text, at)
            source.at = tilde.end() if tilde else at + 1
            return expanded(Expansion(ONE, "~", tilde.group())) if tilde else mark
        if mark == "[":
            return self._read_bracket(began)
        if mark == "{":
            return self._read_brace(began)
        source.at += 1
        if mark in "*?":
            return expanded(Expansion(MANY, written=mark))
        if mark == "=" and at == began and text[at + 1 : at + 2].isalpha():  # zsh: =git is the path of git
            return ONE
        return mark

    def _read_brace(self, began: int) -> str | None:
        source, text, at = self.source, self.source.text, self.source.at
        choices = _PLAIN_BRACES.match(text, at)
        if choices and not source.arithmetic:
            source.at = choices.end()
            return expanded(Expansion(MANY, written=choices.group()))
        literal = _NO_BRACES.match(text, at)
        if literal:
            source.at = literal.end()
            return literal.group()
        source.at += 1
        ahead = source.mark()
        is_alone = at == began and (not ahead or ahead in " \t\n;")
        return "{" if is_alone else None

    def _read_bracket(self, began: int) -> str | None:
        source, text, at = self.source, self.source.text, self.source.at
        brackets = _BRACKETS.match(text, at)
        if brackets:
            source.at = brackets.end()
            return expanded(Expansion(MANY, written=brackets.group()))
        source.at += 1
        if at == began and source.mark() == "[" and text[at + 2 : at + 3] in ("", " ", "\t", "\n"):
            source.at += 1
            return "[["
        if not self.after_bracket[0] <= source.at <= self.after_bracket[1]:  # looked for once, not once per bracket
            found = _AFTER_BRACKET.search(text, source.at)
            self.after_bracket = source.at, found.start() if found else len(text)
        mark = text[self.after_bracket[1] : self.after_bracket[1] + 1]
        return None if mark and mark in "]$`\"'\\" else "["


def _beginning(pieces: list[str]) -> MarkedWord:
    """Return a word of which only the beginning is as it is written: braces follow it, or an open bracket."""
    word = "".join(pieces)
    unknown = tuple(one for piece in pieces for one in pieces_of(piece) if not isinstance(one, str))
    known = word[: word.index(MANY) + 1]
    return MarkedWord(known, unknown, known)
