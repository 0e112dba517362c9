"""Parse strict JSON with positions, which the standard library does not give.

It is as strict as strict_json.py. After a mistake that is easy to recover from, such as an extra comma or a comment,
parsing goes on to find more.
"""

from __future__ import annotations

import json
from json.decoder import scanstring  # type: ignore[attr-defined] # exists, is fast, has no stub
from typing import Any, NoReturn

from ..runtime.regex import regex
from .positions import Position, SourceText, shown

__all__ = ["read_json"]

_SPACE = regex(r"[ \t\r\n]*")
_NUMBER = regex(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?(?![\w.+-])")
_WORD = regex(r"[-+]?[\w.$][\w.$+-]*")
_COMMENT = regex(r"(?:#|//)[^\r\n]*|/\*(?s:.*?)\*/")
_WORDS = {"true": True, "false": False, "null": None}
_MEANT = {"True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false", "NULL": "null",
          "undefined": "null"}  # fmt: skip
_NOT_FINITE = {"NaN", "Infinity", "-Infinity", "+Infinity", "-NaN", "+NaN"}
_STRINGS = {
    "Unterminated": ("this text is never closed", 'end it with "'),
    "Invalid control": ("a line break or control character inside text", r"write \n, \t or \u0007 instead"),
    "Invalid \\u": ("no character has this code", r"\u and four hexadecimal digits"),
    "Invalid \\": ("there is no such escape in JSON", r"write \\ for a backslash"),
}


def read_json(source: SourceText) -> tuple[Any, Position]:
    """Parse one JSON document."""
    return _JsonReader(source).document()


class _JsonReader:
    """Parses from left to right; every method takes an offset and returns the offset after what it has read."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.text = source.text

    def document(self) -> tuple[Any, Position]:
        at = self.space(0)
        if at == len(self.text):
            # A truncated file must not count as one without hooks.
            self.source.stop(0, "there is no JSON document", "write {} for an empty one")
        value, place, at = self.value(at, 1)
        at = self.space(at)
        if at < len(self.text):
            self.source.wrong(at, "there is more text after the JSON document", "one file holds one document")
        return value, place

    def space(self, at: int) -> int:
        """Skip white space, and comments with a problem for each."""
        while True:
            at = _SPACE.match(self.text, at).end()  # type: ignore[union-attr] # the empty match always exists
            if self.text[at : at + 1] not in ("#", "/") or not (comment := _COMMENT.match(self.text, at)):
                return at
            self.source.wrong(at, "JSON has no comments", "use a key such as x-note, or a YAML file")
            at = comment.end()

    def value(self, at: int, depth: int) -> tuple[Any, Position, int]:
        self.source.count(at)
        mark = self.text[at : at + 1]
        if mark == '"':
            text, end = self.string(at)
            return text, at, end
        if mark == "{":
            return self.mapping(at, depth)
        if mark == "[":
            return self.sequence(at, depth)
        number = _NUMBER.match(self.text, at)
        if number:
            return self.source.number(at, number[0], whole=number[1] is number[2] is None), at, number.end()
        return self.word(at)

    def string(self, at: int) -> tuple[str, int]:
        try:
            text, end = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            for begin, (what, hint) in _STRINGS.items():
                if error.msg.startswith(begin):
                    self.source.stop(min(error.pos, len(self.text)), what, hint)
            self.source.stop(error.pos, error.msg)
        return self.source.checked(at, text), end

    def word(self, at: int) -> tuple[Any, Position, int]:
        """Read true, false or null, or report what the word should be."""
        found = _WORD.match(self.text, at)
        if found is None:
            self.unexpected(at, "a value")
        word = found[0]
        if word in _WORDS:
            return _WORDS[word], at, found.end()
        if word in _NOT_FINITE:
            self.source.wrong(at, f"{word} is not JSON", "write a number, or quote it")
        elif word in _MEANT:
            self.source.wrong(at, f"{word} is not JSON", f"write {_MEANT[word]}")
        elif word.lstrip("-+.")[:1].isdigit():
            self.source.wrong(at, f"{shown(word)} is not a number in JSON", "as in 10, 0.5 or 1e3, or quote it")
        else:
            self.source.wrong(at, f"{shown(word)} without quotes", 'put text in " quotes')
        return None, at, found.end()

    def unexpected(self, at: int, expected: str) -> NoReturn:
        mark = self.text[at : at + 1]
        hint = 'put text in " quotes' if mark in ("'", "`", "“", "”") else ""
        self.source.stop(at, f"{shown(mark) if mark else 'the end of the file'} where {expected} is expected", hint)

    def sequence(self, begin: int, depth: int) -> tuple[list[Any], Position, int]:
        self.source.check_depth(begin, depth)
        made: list[Any] = []
        places: list[Position] = []
        at = self.space(begin + 1)
        while self.text[at : at + 1] != "]":
            self.not_the_end(at, begin)
            value, place, at = self.value(at, depth + 1)
            made.append(value)
            places.append(place)
            at = self.comma(at, "]", begin)
        return made, (begin, places), at + 1

    def mapping(self, begin: int, depth: int) -> tuple[dict[str, Any], Position, int]:
        self.source.check_depth(begin, depth)
        made: dict[str, Any] = {}
        places: dict[str, tuple[int, Position]] = {}
        at = self.space(begin + 1)
        while self.text[at : at + 1] != "}":
            self.not_the_end(at, begin)
            key_at = at
            key, at = self.key(at)
            at = self.space(at)
            if self.text[at : at + 1] != ":":
                self.unexpected(at, f"a colon after the key {shown(key)}")
            value, place, at = self.value(self.space(at + 1), depth + 1)
            if key in made:
                first = self.source.line(places[key][0])
                self.source.wrong(key_at, f"the key {shown(key)} is there twice, first in line {first}",
                                "remove one of them")  # fmt: skip
            else:
                made[key], places[key] = value, (key_at, place)
            at = self.comma(at, "}", begin)
        return made, (begin, places), at + 1

    def key(self, at: int) -> tuple[str, int]:
        if self.text[at : at + 1] == '"':
            return self.string(at)
        word = _WORD.match(self.text, at)
        if word is None:
            self.unexpected(at, "a key")
        self.source.wrong(at, f"the key {shown(word[0])} without quotes", f'write "{word[0][:60]}"')
        return word[0], word.end()

    def comma(self, at: int, closing: str, begin: int) -> int:
        """Skip the comma between two values; return the offset of the next value or of the closing bracket."""
        at = self.space(at)
        mark = self.text[at : at + 1]
        if mark == closing:
            return at
        if mark == ",":
            behind = self.space(at + 1)
            if self.text[behind : behind + 1] == closing:
                self.source.wrong(at, f"a comma before the closing {closing}", "remove it")
            return behind
        self.not_the_end(at, begin)
        if mark != '"':
            self.unexpected(at, f"a comma or {closing}")
        self.source.wrong(at, "there is no comma before this", "put one between two values")
        return at

    def not_the_end(self, at: int, begin: int) -> None:
        if at >= len(self.text):
            self.source.stop(begin, f"this {self.text[begin]} is never closed", "the file ends before it")
