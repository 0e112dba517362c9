"""Work out the arguments of calls in code, as far as they are literals, names of literals, and joins of these."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable

from ...matching.shell.words import ONE, is_known
from .code_functions import DECODES, ENVIRONMENTS, HOMES, JOINS, LISTS, LISTS_BY_PATH, SAME_TEXT
from .code_tokens import Token

__all__ = ["MOST_STEPS", "MOST_TOKENS", "CodeReader", "Value", "flat", "last_part"]

Value = str | list[str]
"""A text, or a list of texts; ``ONE`` stands for what is unknown."""

MOST_STEPS = 100_000
"""How many parts are looked at for one code; then it counts as computed."""
MOST_TOKENS = 400
"""How many parts of a call are looked at."""
_LONGEST = 10_000
_DEEPEST = 15


class CodeReader:
    """The parts of code, and what is known of the names in it."""

    def __init__(self, language: str, tokens: tuple[Token, ...]) -> None:
        self.language = language
        self.tokens = tokens
        self.values: dict[str, Value] = {}
        """The value that each name was given last."""
        self.earlier: dict[str, list[Value]] = {}
        """The values that a name was given before."""
        self.loops: dict[str, Value] = {}
        """The values of names in loops, which may be used before: ``[f(x) for x in …]``."""
        self.steps = 0
        self._depth = 0

    def assign(self, at: int) -> None:
        """Note what the name at a place is given, if it is given something: ``x = …``, ``x += …``, ``for x in …``."""
        name, following = self.text(at), self.text(at + 1)
        if following in ("+", ".", ":") and self.text(at + 2) == "=":
            more, _ = self.expression(at + 3, at + MOST_TOKENS)
            self.give(name, _joined(self.values.get(name, ONE), more, "") if following != ":" else more)
        elif following == "=" and self.text(at + 2) != "=":
            self._assign_plainly(at)
        elif following == ")" and self.text(at + 2) == "=" and self.text(at + 3) != "=":
            self.give(name, ONE)
        elif following == "in" and self.text(at - 1) in ("for", ","):
            for one in self._looped(at) if self.text(at - 1) == "for" else [ONE]:
                self.give(name, one)
            self.loops[name] = self.values.get(name, ONE)
        elif following == "[" and name in self.values and self._is_item_set(at + 2):
            self.give(name, ONE)
        base, _, method = name.rpartition(".")
        if base in self.values and method in _CHANGES and following == "(":
            self.give(base, ONE)
        if name in ("def", "function", "sub", "lambda"):
            self._take_parameters(at + 1)

    def _looped(self, at: int) -> list[str]:
        """Return the values that the name of a loop has: the items of a list, or the files of a directory."""
        end = at + MOST_TOKENS
        value, after = self.term(at + 2, end)
        last = self.text(at + 2)
        while self.text(after) == "." and self.kind(after + 1) == "name":
            last = self.text(after + 1)
            value, after = self._method(value, after + 1, end)
        if isinstance(value, list):
            return value
        return [value if last_part(last) in LISTS else ONE]

    def _assign_plainly(self, at: int) -> None:
        """Note ``x = …`` and ``x, y = …``; the keyword of an argument is no name."""
        first = at
        while self.text(first - 1) == "," and self.kind(first - 2) == "name":
            first -= 2
        if self.text(first - 1) in ("(", ","):
            return
        value, end = self.expression(at + 2, at + MOST_TOKENS)
        self.give(self.text(at), value if first == at and end > at + 2 else ONE)
        for place in range(first, at, 2):
            self.give(self.text(place), ONE)

    def give(self, name: str, value: Value) -> None:
        """Note a value of a name, beside those that it had."""
        if name in self.values and self.values[name] != value:
            self.earlier.setdefault(name, []).append(self.values[name])
        self.values[name] = value

    def take_arrow(self, at: int) -> None:
        """Forget what the names are before ``=>``: they are parameters."""
        place = at - 1
        while at - place < 20 and (self.kind(place) == "name" or self.text(place) in (",", ")", "(")):
            if self.text(place) in self.values:
                self.give(self.text(place), ONE)
            place -= 1

    def _is_item_set(self, at: int) -> bool:
        """Return whether the subscript at a place is followed by an assignment."""
        for place in range(at, at + 12):
            if self.text(place) == "]":
                return self.text(place + 1) == "=" and self.text(place + 2) != "="
        return False

    def _take_parameters(self, at: int) -> None:
        """Forget what the names are that a function has as parameters."""
        for place in range(at, at + 40):
            if self.text(place) in (")", "{", "\n", ":"):
                break
            if self.kind(place) == "name" and self.text(place) in self.values:
                self.give(self.text(place), ONE)

    def text(self, at: int) -> str:
        """Return the name or mark at a place; empty if there is none."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) and self.tokens[at].kind in ("mark", "name") else ""

    def kind(self, at: int) -> str:
        """Return the kind of the part at a place."""
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else ""

    def starts_value(self, at: int) -> bool:
        """Return whether a value begins at a place: a literal, or a name of one."""
        names = (*self.values, "glob")
        return self.kind(at) in ("text", "words") or (self.kind(at) == "name" and self.text(at) in names)

    def arguments(self, at: int, end: int) -> tuple[list[Value], int]:
        """Return the values between brackets, and where the part after them is."""
        return self.items(at + 1, end)

    def items(self, at: int, end: int) -> tuple[list[Value], int]:
        """Return the values up to a closing bracket, and where the part after it is."""
        values: list[Value] = []
        end = min(end, len(self.tokens))
        self._depth += 1
        while at < end and self.steps <= MOST_STEPS:
            self.steps += 1
            text = self.text(at)
            if text in (")", "]", "}"):
                at += 1
                break
            if text == ";" or (text == "\n" and self._depth == 1 and self.language in ("ruby", "perl", "lua")):
                break
            if text in (",", "\n"):
                at += 1
                continue
            if self.kind(at) == "name" and self.text(at + 1) in ("=", ":", "=>"):
                keyword = text
                value, at = self.expression(at + 2, end)
                if keyword in ("args", "argv", "path", "file"):
                    values.append(value)
                continue
            value, at = self.expression(at, end)
            values.append(value)
        self._depth -= 1
        return values, at

    def expression(self, at: int, end: int) -> tuple[Value, int]:
        """Return the value of the parts up to a comma or a bracket, and where the next part is."""
        value, at = self.term(at, end)
        end = min(end, len(self.tokens))
        while at < end:
            text = self.text(at)
            self.steps += 1
            if text in (",", ")", "]", "}", ";", "\n", "=>") or self._depth > _DEEPEST:
                break
            if text in ("+", "/") or (text == "." and self.language in ("perl", "php")):
                more, at = self.term(at + 1, end)
                value = _joined(value, more, "/" if text == "/" else "")
            elif text == "%":
                _, at = self.term(at + 1, end)
                value = re.sub(r"%[-\w.]*[sdrif]", ONE, value) if isinstance(value, str) else value
            elif text == "." and self.kind(at + 1) == "name":
                value, at = self._method(value, at + 1, end)
            elif self.kind(at) == "text" and isinstance(value, str):
                value, at = _joined(value, self.tokens[at].text, ""), at + 1
            else:
                at += 1
                if text not in ("as", "||", "??"):
                    value = ONE if isinstance(value, str) else value
        return value, at

    def term(self, at: int, end: int) -> tuple[Value, int]:
        """Return the value of one literal, name, list or call, and where the next part is."""
        self.steps += 1
        if at >= min(end, len(self.tokens)) or self._depth > _DEEPEST or self.steps > MOST_STEPS:
            return ONE, at + 1
        token = self.tokens[at]
        if token.kind == "text":
            return token.text, at + 1
        if token.kind == "words":
            return list[str](token.text.split()), at + 1
        if token.text in ("[", "(", "{"):
            values, after = self.items(at + 1, end)
            if token.text == "(" and len(values) == 1:
                return values[0], after
            nested = [one for one in values if isinstance(one, list)]
            if token.text == "{":  # { args: [...] }
                return (nested[0] if nested else []), after
            return flat(values), after
        if token.kind == "name":
            return self._named(at, token.text, end)
        if token.text in ("!", "*", "-", "@", "&", "\n", "new"):
            return self.term(at + 1, end)
        return (ONE, at) if token.text in (",", ")", "]", "}", ";") else (ONE, at + 1)

    def _named(self, at: int, name: str, end: int) -> tuple[Value, int]:
        following = self.text(at + 1)
        if following == "(":
            values, after = self.arguments(at + 1, end)
            return self.result_of(name, values), after
        if name in ("new", "await", "return", "my", "local", "lambda", "glob"):
            return self.term(at + 1, end)
        if following in ("[", "{") and name in (*ENVIRONMENTS, "$ENV"):
            inside = "".join(token.text for token in self.tokens[at + 2 : at + 3])
            return ("~" if inside == "HOME" else ONE), min(at + 4, end)
        if name in ("process.env.HOME", "Deno.env.HOME"):
            return "~", at + 1
        base, _, method = name.rpartition(".")
        if base in self.values and method in ("encode", "decode", "strip", "trim", "path", "name"):
            return self.values[base], at + 1
        return self.values.get(name, ONE), at + 1

    def _method(self, value: Value, at: int, end: int) -> tuple[Value, int]:
        name = self.tokens[at].text
        values: list[Value] = []
        after = at + 1
        if self.text(at + 1) == "(":
            values, after = self.arguments(at + 1, end)
        if name == "join":
            if isinstance(value, list):
                separator = values[0] if values and isinstance(values[0], str) else ","
                return _short(separator.join(value)), after
            if values and isinstance(values[0], list):
                return _short(value.join(values[0])), after
        if name in LISTS and isinstance(value, str):
            return _files_of(value, values), after
        if name == "format" and isinstance(value, str):
            return re.sub(r"\{\w*\}", ONE, value), after
        if name == "split" and isinstance(value, str):
            return value.split(), after
        return (value if name in SAME_TEXT else ONE), after

    def result_of(self, name: str, values: list[Value]) -> Value:
        """Return what a call of a function gives, as far as that is known."""
        last = last_part(name)
        if name in HOMES:
            return "~"
        base = self.values.get(name.rpartition(".")[0])
        if last in LISTS and isinstance(base, str):
            return _files_of(base, values)
        if name in LISTS_BY_PATH and values and isinstance(values[0], str):
            return _files_of(values[0], [])
        if name in JOINS or (last in JOINS and len(values) > 1):
            return _short("/".join(one for one in flat(values) if one)) or ONE
        if last in DECODES or last == "from":
            return _decoded(last, values)
        if name in SAME_TEXT or last in SAME_TEXT:
            text = self.same_text(name, values)
            return text.split() if last == "split" and is_known(text) else text
        return ONE

    def same_text(self, name: str, values: list[Value]) -> str:
        """Return the text of a function that leaves its argument as it is."""
        if name in HOMES:
            return "~"
        texts = [one for one in values if isinstance(one, str)]
        return _short("/".join(texts)) if texts else ONE


def _files_of(folder: str, values: list[Value]) -> str:
    """Return the files in a directory as a pattern: of those that are asked for, or of all."""
    pattern = values[0] if values and isinstance(values[0], str) else "*"
    return _short(f"{folder}/{pattern}")


def _decoded(name: str, values: list[Value]) -> str:
    """Return what a function decodes from a literal: Base64 or hexadecimal digits; else ``ONE``."""
    text = values[0] if values and isinstance(values[0], str) else ONE
    kind = values[1] if len(values) > 1 and isinstance(values[1], str) else ""
    if not is_known(text) or len(text) > _LONGEST:
        return ONE
    try:
        if name in ("fromhex", "unhexlify") or kind == "hex":
            return bytes.fromhex(text).decode()
        if name in _BASE64 or kind in ("base64", "base64url"):
            plain = text.strip().replace("-", "+").replace("_", "/").rstrip("=")
            return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode()
    except ValueError:
        return ONE
    return ONE


_CHANGES = frozenset("append extend insert push unshift splice concat add remove pop shift reverse".split())
"""Methods that change a list."""
_BASE64 = frozenset({
    "b64decode", "decodebytes", "urlsafe_b64decode", "atob", "base64_decode", "decode64", "decode_base64",
    "strict_decode64", "urlsafe_decode64",
})  # fmt: skip


def last_part(name: str) -> str:
    """Return the part of a name after its last dot."""
    return re.split(r"\.|::|->", name)[-1]


def flat(values: Iterable[Value]) -> list[str]:
    """Return the texts of values and of lists among them."""
    return [text for one in values for text in ([one] if isinstance(one, str) else one)]


def _joined(value: Value, more: Value, between: str) -> Value:
    if isinstance(value, list):
        return [*value, *([more] if isinstance(more, str) else more)]
    if isinstance(more, list):
        return [value, *more]
    return _short(f"{value}{between}{more}")


def _short(text: str) -> str:
    """Return a text, or ``ONE`` if it is so long that it is not read."""
    return text if len(text) <= _LONGEST else ONE
