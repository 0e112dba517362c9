"""Split code of script languages into names, texts and marks. A text is a literal, decoded as far as it is known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ...matching.shell.words import ONE
from ...runtime.named_tuples import NamedTuple
from ...runtime.regex import regex

__all__ = ["LANGUAGES", "Token", "tokens_of"]

LANGUAGES = frozenset({"python", "node", "ruby", "perl", "php", "awk", "lua", "osascript", "julia", "r", "elixir"})


class Token(NamedTuple):
    """A part of code."""

    kind: str
    """``name``, ``text``, ``words`` (a list of plain words), ``command`` (a text that is run) or ``mark``."""
    text: str


_MARKED = {"python", "ruby", "perl", "r", "julia", "elixir", "php", "awk"}
"""The languages whose comments begin with ``#``."""
_DOTTED = r"(?:\.|::|\?\.|&\.)"
_JOINERS = {"php": r"(?:->|::)", "perl": r"(?:->|::)"}
_OPENERS = {"python": "{", "node": "${", "ruby": "#{", "elixir": "#{"}
_DEEPEST = 4

_LONG = (
    r"(?P<long>[a-zA-Z]{0,2}(?:\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*+(?:\"\"\"|\Z)|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)))"
)
_SHORT = (
    r"(?P<prefix>(?<![\w$])(?:[rRbBfFuU]{1,2}(?=[\"'])))?"
    r"(?P<short>\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|'(?:[^'\\]|\\.)*+(?:'|\Z)|`(?:[^`\\]|\\.)*+(?:`|\Z))"
)
_QUOTED = (
    r"(?P<quoted>(?:%[xwWqQiI]|\b(?:qx|qw|qq|q))\s?(?:\((?P<b1>[^()\n]*+)\)|\[(?P<b2>[^\[\]\n]*+)\]"
    r"|\{(?P<b3>[^{}\n]*+)\}|(?P<b4>[/|!#])(?P<b5>[^/|!#\n]*+)(?P=b4)))"
)
_PATTERN = r"(?P<pattern>(?<=[(,=:!&|?{};~\n])\s?/(?![/*\s])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/[a-z]*)"
_ESCAPE = regex(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|[0-7]{1,3}|.)", re.DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "", "a": "", "b": "", "f": "", "v": "", "\n": ""}
_INSERTED = {
    "python": regex(r"\{[^{}]*+\}"),
    "node": regex(r"\$\{[^{}]*+\}"),
    "ruby": regex(r"#\{[^{}]*+\}"),
    "elixir": regex(r"#\{[^{}]*+\}"),
    "perl": regex(r"[$@](?:\w+|\{[^{}]*+\})(?:\{[^{}]*+\}|\[[^\[\]]*+\])?"),
    "php": regex(r"\{\$[^{}]*+\}|\$\w+(?:\[[^\[\]]*+\])?"),
    "julia": regex(r"\$(?:\w+|\([^()]*+\))"),
}
_HOME = regex(r"\$?\{?(?:process\.env\.HOME|\$?ENV\{?[\['\"]*HOME['\"\]]*\}?|os\.homedir\(\)|Dir\.home)\}?")


@cache
def _scanner(language: str, patterns: bool) -> re.Pattern[str]:
    joiner = _JOINERS.get(language, _DOTTED)
    parts = [r"(?P<skipped>\s++)"]
    if language in ("node", "php", "awk"):
        parts.append(r"(?P<comment>//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z))" if language != "awk" else r"(?!)")
    if language in _MARKED:
        parts.append(r"(?P<hash>(?<![$\w])#[^\n]*+)")
    elif language in ("lua", "osascript"):
        parts.append(r"(?P<hash>--[^\n]*+)")
    if language in ("python", "julia", "elixir"):
        parts.append(_LONG)
    if language in ("ruby", "perl"):
        parts.append(_QUOTED)
    if language == "perl":
        parts.append(r"(?P<files><(?=[^<>\s=;]*[*?~/])[^<>\s=;]++>)")
    if patterns:
        parts.append(_PATTERN)
    parts.append(_SHORT)
    parts.append(rf"(?P<name>[$@%&]?\$?[A-Za-z_](?:[\w$]|{joiner}(?=[A-Za-z_$]))*+[!?]?)")
    parts.append(r"(?P<number>[0-9](?:\w|\.[0-9])*+)")
    parts.append(r"(?P<mark>=>|->|==|<<|>>|\*\*|.)")
    return re.compile("|".join(parts), re.DOTALL)


def tokens_of(language: str, code: str, *, patterns: bool = True) -> Iterator[Token]:
    """Yield the parts of code; without ``patterns``, a slash begins no regular expression."""
    yield from _tokens(language, code, patterns and language in ("node", "ruby", "perl", "awk"), 0)


def _tokens(language: str, code: str, patterned: bool, depth: int) -> Iterator[Token]:
    inserted: list[str] = []
    for found in _scanner(language, patterned).finditer(code):
        kind = found.lastgroup
        if kind in ("long", "short", "prefix", "quoted", "b1", "b2", "b3", "b4", "b5"):
            yield _literal(language, found)
            if "{" in found.group() and depth < _DEEPEST:
                inserted += _inserted_code(language, found.group())
        elif kind == "files":  # <*.c>
            yield Token("text", _filled(language, found.group()[1:-1]))
        elif kind in ("name", "number", "mark"):
            yield Token("mark" if kind == "mark" else kind, found.group())
        elif kind == "skipped" and "\n" in found.group():
            yield Token("mark", "\n")

    for text in inserted:
        yield Token("mark", "\n")
        yield from _tokens(language, text, patterned, depth + 1)


def _inserted_code(language: str, literal: str) -> Iterator[str]:
    """Yield the code that a literal contains: ``${…}`` of a template, ``{…}`` of an f-string, ``#{…}``."""
    opener = _OPENERS.get(language, "")
    prefix = literal[:2].lower().partition('"')[0].partition("'")[0]
    if not opener or (language == "python" and "f" not in prefix):
        return
    at = literal.find(opener)
    while at >= 0:
        depth, end = 1, at + len(opener)
        while end < len(literal) and depth:
            depth += {"{": 1, "}": -1}.get(literal[end], 0)
            end += 1
        yield literal[at + len(opener) : end - 1]
        at = literal.find(opener, end)


def _literal(language: str, found: re.Match[str]) -> Token:
    groups = found.groupdict()
    if groups.get("quoted"):
        text = next((groups[key] for key in ("b1", "b2", "b3", "b5") if groups[key] is not None), "")
        letters = groups["quoted"].lstrip("%")[:2]
        if letters.startswith(("qx", "x")):
            return Token("command", _filled(language, text))
        if letters.startswith(("qw", "w", "W", "i", "I")):
            return Token("words", text)
        return Token("text", _filled(language, text) if letters.startswith(("qq", "Q")) else text)
    if groups.get("long"):
        prefix, _, rest = _split(groups["long"])
        return Token("text", _decoded(language, rest[3:].removesuffix(rest[:3]), prefix, rest[0]))
    text = groups["short"]
    inner = text[1:-1] if len(text) > 1 and text[-1] == text[0] else text[1:]
    value = _decoded(language, inner, groups.get("prefix") or "", text[0])
    return Token("command" if text[0] == "`" and language in ("ruby", "perl", "php", "julia") else "text", value)


def _split(text: str) -> tuple[str, str, str]:
    at = min(place for place in (text.find('"'), text.find("'")) if place >= 0)
    return text[:at], "", text[at:]


def _decoded(language: str, text: str, prefix: str, quote: str) -> str:
    letters = prefix.lower()
    if "f" in letters or (language != "python" and (quote != "'" or language == "node")):
        text = _filled(language, text)
    if "r" in letters:
        return text
    if quote == "'" and language in ("perl", "ruby", "php"):
        return text.replace("\\'", "'").replace("\\\\", "\\")
    return _ESCAPE.sub(_unescaped, text)


def _filled(language: str, text: str) -> str:
    """Return a text with marks for what is inserted into it; the home is a tilde."""
    pattern = _INSERTED.get(language)
    if pattern is None:
        return text
    return pattern.sub(lambda found: "~" if _HOME.fullmatch(found.group()) else ONE, text)


def _unescaped(found: re.Match[str]) -> str:
    text = found[1]
    if text[0] == "x" and len(text) == 3:
        return chr(int(text[1:], 16))
    if text[0] == "u" and len(text) > 1:
        number = int(text[1:].strip("{}"), 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else ONE
    if text[0] in "01234567" and len(text) > 1:
        return chr(int(text, 8) % 256)
    return _PLAIN_ESCAPES.get(text, text)
