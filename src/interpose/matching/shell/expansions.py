"""Quotes and expansions: the parts of a word that begin with a quote, a backslash, a dollar or a backtick.

They hold each other: ``"${x:-"$(date)"}"``. What an expansion stands for is not known; only the commands in it are.
"""

from __future__ import annotations

import re
from typing import Protocol

from ...runtime.regex import regex
from ..programs import DIRECTORY_VARIABLES
from .ansi_c import decode_ansi_c
from .parsed import ParsedLine
from .source import ShellSource
from .words import MANY, ONE, Expansion, MarkedWord, Unread, Unsure, expanded, join, pieces_of

__all__ = ["ExpansionReader", "NestedCommands"]

_IN_DOUBLE_QUOTES = regex(r'[^"\\$`]+')
_IN_BRACES = regex(r"[^}'\"\\$`<>]+")
_IN_BACKTICKS = regex(r"((?:[^`\\]|\\.)*)`", re.DOTALL)
_IN_ANSI_C = regex(r"((?:[^'\\]|\\.)*)'", re.DOTALL)
_NAME = regex(r"[A-Za-z_]\w*", re.ASCII)
_PARAMETER = regex(r"[A-Za-z_]\w*|[0-9@*#?$!-]", re.ASCII)
_DEFAULT = regex(r"[A-Za-z_]\w*:?[-=+]((?:[^${}`'\"\\*?\[]|\"[\w./:@%+-]*\"|'[\w./:@%+-]*')+)", re.ASCII)
_SUBSCRIPT = regex(r"\[(?:[@*]|-?[0-9]+)\]")
_SLICE = regex(r":(?![-=?+]) *[^}]*")
_NUMBERS = regex(r"[ 0-9:-]*\Z")
_INDIRECT = regex(r"![A-Za-z_]\w*(?:[@*]|\[[@*]\])?\}?", re.ASCII)


class NestedCommands(Protocol):
    """Reads the commands that stand inside a word, and returns the range of those that it has read."""

    def read_group(self, doubt: str = "", opener: str = "$(") -> tuple[int, int]:
        """Read commands up to the closing parenthesis."""

    def read_substitution(self) -> tuple[int, int]:
        """Read the commands of a substitution up to its closing parenthesis."""

    def read_arithmetic(self) -> None:
        """Read the rest of ``((``, whose words are taken for commands."""

    def read_apart(self, text: str) -> tuple[int, int]:
        """Read commands that stand in another text."""

    def read_document(self, text: str) -> tuple[str, tuple[int, int]]:
        """Read the text of a here-document; return it too."""


class ExpansionReader:
    """Reads quotes and expansions, and notes the ranges of the commands in them."""

    def __init__(self, source: ShellSource, parsed: ParsedLine, commands: NestedCommands) -> None:
        self.source = source
        self.parsed = parsed
        self.commands = commands
        self.substituted: list[tuple[int, int]] = []

    def take_substituted(self) -> list[tuple[int, int]]:
        """Return the ranges of the commands in the substitutions since the last call."""
        taken, self.substituted = self.substituted, []
        return taken

    def read_part(self, mark: str) -> str:
        """Read the part of a word that begins with a quote, a backslash, a dollar or a backtick."""
        source = self.source
        if mark == "$":
            return self._read_dollar(quoted=False)
        if mark == "`":
            return expanded(self._read_backticks(MANY))
        if source.arithmetic:
            raise Unsure("a quote in arithmetic")
        if mark == "\\":
            taken = source.text[source.at + 1 : source.at + 2]
            source.at += 1 + len(taken)
            return "" if taken == "\n" else taken or "\\"
        if mark == '"':
            source.at += 1
            return self.read_double_quoted('"')
        end = source.text.find("'", source.at + 1)
        if end < 0:
            raise Unsure("a quote that is not closed")
        piece, source.at = source.text[source.at + 1 : end], end + 1
        return piece

    def read_double_quoted(self, closer: str) -> str:
        """Read up to the closing quote, or without a closer to the end, as for a here-document."""
        source = self.source
        source.go_deeper()
        pieces: list[str] = []
        while True:
            plain = _IN_DOUBLE_QUOTES.match(source.text, source.at)
            if plain:
                source.at = plain.end()
                pieces.append(plain.group())
                continue
            mark = source.mark()
            if mark == closer:
                break
            if not mark:
                raise Unsure("a quote that is not closed")
            if mark == "\\":
                taken = source.text[source.at + 1 : source.at + 2]
                pieces.append("" if taken == "\n" else taken if taken and taken in '$`"\\' else mark + taken)
                source.at += 1 + len(taken)
            elif mark == "$":
                pieces.append(self._read_dollar(quoted=True))
            elif mark == "`":
                pieces.append(expanded(self._read_backticks(ONE)))
            else:
                source.at += 1
                pieces.append(mark)
        source.at += len(closer)
        source.depth -= 1
        return join(pieces) if pieces else ""

    def read_substitution(self, mark: str) -> Expansion:
        """Read the commands of ``$(…)``, ``<(…)`` or ``>(…)`` after the parenthesis."""
        outer = self.take_substituted()
        found = self.commands.read_substitution()
        self.substituted = [*outer, found]
        return Expansion(mark, commands=found)

    def _read_backticks(self, mark: str) -> Expansion:
        """Read a substitution whose own backticks, dollars and backslashes have a backslash before them."""
        source = self.source
        inside = _IN_BACKTICKS.match(source.text, source.at + 1)
        if inside is None or (mark == ONE and '\\"' in inside.group(1)):
            raise Unsure("a backtick that is not closed, or that shells read differently")
        source.at = inside.end()
        found = self.commands.read_apart(re.sub(r"\\([$`\\])", r"\1", inside.group(1)))
        self.substituted.append(found)
        return Expansion(mark, commands=found)

    def _read_dollar(self, *, quoted: bool) -> str:
        source = self.source
        source.at += 1
        unknown = ONE if quoted else MANY
        mark = source.mark()
        if mark == "(":
            source.at += 1
            if source.mark() != "(":
                return expanded(self.read_substitution(unknown))
            self.commands.read_arithmetic()
            return ONE if source.text[source.at - 2 : source.at] == "))" else unknown
        if mark == "{":
            source.at += 1
            return self._read_braces(quoted)
        if mark == "[":
            raise Unsure("arithmetic in $[ ]")
        if mark == "'" and not quoted:
            return self._read_ansi_c()
        if mark == '"' and not quoted:
            return ""  # a text to translate; the quotes are read next
        parameter = _PARAMETER.match(source.text, source.at)
        if parameter is None:
            return "$"
        source.at = parameter.end()
        return self._value(parameter.group(), quoted)

    def _read_ansi_c(self) -> str:
        string = _IN_ANSI_C.match(self.source.text, self.source.at + 1)
        if string is None or "\\'" in string.group(1):
            raise Unsure("a $'…' that other shells end elsewhere")
        self.source.at = string.end()
        return decode_ansi_c(string.group(1))

    def _value(self, name: str, quoted: bool) -> str:
        """Return the mark of a variable's value."""
        if name == "@" or (name == "*" and not quoted):
            return expanded(Expansion(MANY, name, is_plain=False))
        if name in DIRECTORY_VARIABLES:
            self.parsed.used.add(name)
            return expanded(Expansion(ONE, name))
        return expanded(Expansion(ONE if quoted or name in "#?$!" else MANY, name))

    def _read_braces(self, quoted: bool) -> str:
        """Read ``${…}`` for the commands in its default or pattern."""
        source, text = self.source, self.source.text
        source.go_deeper()
        if source.mark() in (" ", "\t", "\n", "|"):
            raise Unsure("a ${ that some shells run")
        began = source.at
        value = self._read_parameter(quoted)
        inner: list[str] = [value]
        while not source.starts("}"):
            plain = _IN_BRACES.match(text, source.at)
            mark = source.mark()
            if plain:
                source.at = plain.end()
            elif not mark or source.is_process_substitution() or (mark == "'" and quoted):
                raise Unsure("a ${…} that shells read differently")
            elif mark in "<>":
                source.at += 1
            else:
                inner.append(self.read_part(mark))
            value = ONE if quoted and value != MANY else MANY
        source.at += 1
        source.depth -= 1
        if type(value) is not str:
            return value
        names = [one for piece in inner for one in pieces_of(piece) if not isinstance(one, str) and one.name]
        default = _DEFAULT.fullmatch(text, began, source.at - 1)
        if default and len(names) == 1:
            return expanded(
                Expansion(value, names[0].name, is_plain=False, default=re.sub("['\"]", "", default.group(1)))
            )
        pieces = tuple(one._replace(is_plain=False, mark=value if one is names[0] else "") for one in names)
        return MarkedWord(value, pieces, value) if names else value

    def _read_parameter(self, quoted: bool) -> str:
        """Read the name in ``${…}``, and note if what follows is evaluated."""
        source, text = self.source, self.source.text
        indirect = _INDIRECT.match(text, source.at)
        if indirect and indirect.group().endswith("}") and indirect.group()[-2] not in "@*]":
            self.parsed.opaque.append(Unread("${!name} evaluates what a variable holds"))
        changed = source.mark() in ("!", "#") and text[source.at + 1 : source.at + 2] not in ("}", "")
        source.at += changed
        name = _PARAMETER.match(text, source.at)
        if name is None:
            return ONE if quoted else MANY
        source.at = name.end()
        value = self._value(name.group(), quoted)
        value = str(value) if changed else value
        after = source.at
        if text.startswith("[", after):
            subscript = _SUBSCRIPT.match(text, after)
            after = subscript.end() if subscript else after
            if subscript is None:
                self.parsed.counted.add("")
            is_whole = subscript is not None and ("@" in subscript.group() or "*" in subscript.group())
            value = expanded(Expansion(MANY if is_whole else str(value), name.group(), is_plain=False))
        self._note_operator(name.group(), after)
        return value

    def _note_operator(self, name: str, after: int) -> None:
        """Note what stands after the name in ``${…}`` and sets the variable, or evaluates a value."""
        text = self.source.text
        if text.startswith(("=", ":="), after):
            self.parsed.changed.add(name)
        if text.startswith(("@P", "@E", "@A"), after):
            self.parsed.opaque.append(Unread("${x@P} evaluates what a variable holds"))
        part = _SLICE.match(text, after)
        if part and not _NUMBERS.match(part.group()):
            self.parsed.counted.update(_NAME.findall(part.group()) or [""])
