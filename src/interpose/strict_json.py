"""Strict JSON: what goes to a command, what comes back from one, and what stands in a file.

The standard library is lenient where a guard must not be: it takes NaN, lets the last of two equal keys win, guesses
encodings and dies of deep nesting. Here each of these is an error with a reason.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from .runtime.faults import said
from .runtime.regex import regex

__all__ = ["DEEPEST", "LONGEST", "BadJson", "Unencodable", "decode", "encode"]

DEEPEST = 100  # how many levels an event or an answer may be nested
LONGEST = 50 * 1024 * 1024  # how many bytes of an event go to a command

_BOM, _UTF16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
_STRINGS = regex(r'(?s)"[^"\\]*(?:\\.[^"\\]*)*"')
_ROUND, _NO_BRACKETS = bytes.maketrans(b"{[]}", b"(())"), bytes(set(range(256)) - set(b"{[]}"))


class BadJson(ValueError):
    """Text that is not one strict JSON document; says where and why."""


class Unencodable(ValueError):
    """An event that cannot be written as JSON; ``code`` is what a failed hook shows."""

    def __init__(self, text: str, code: str = "payload") -> None:
        super().__init__(text)
        self.code = code


def encode(value: Any) -> bytes:
    """Return one line of JSON, in ASCII, or raise Unencodable."""
    try:
        text = _encoder.encode(value)
    except RecursionError:
        raise Unencodable(f"the input is nested deeper than {DEEPEST} levels") from None
    except Exception as error:  # not JSON, or an object that fights being looked at
        raise Unencodable(f"the input cannot be written as JSON: {said(error, 200)}") from None
    if len(text) > LONGEST:
        raise Unencodable(f"the input has {len(text)} bytes, more than {LONGEST}", "payload_too_big")
    if _is_too_deep(text):
        raise Unencodable(f"the input is nested deeper than {DEEPEST} levels")
    return text.encode("ascii") + b"\n"


_encoder = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def _is_too_deep(text: str) -> bool:
    """Measure nesting in text that is JSON, without recursion and without a look at each character."""
    if text.count("{") + text.count("[") <= DEEPEST:
        return False  # every level opens a bracket
    brackets = _STRINGS.sub("", text).encode("ascii", "replace").translate(_ROUND, _NO_BRACKETS)
    for _ in range(DEEPEST):
        brackets = brackets.replace(b"()", b"")  # the innermost level goes
    return bool(brackets)


def decode(data: bytes) -> Any:
    """Read one JSON document, or raise BadJson."""
    data = data.removeprefix(_BOM)
    if data.startswith(_UTF16) or b"\x00" in data[:4]:
        raise BadJson("it is UTF-16 or UTF-32 text; write UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadJson(f"byte {error.start} is not UTF-8") from None
    if _is_too_deep(text):
        raise BadJson(f"it is nested deeper than {DEEPEST} levels")
    try:
        return _decoder.decode(text)
    except BadJson:
        raise
    except json.JSONDecodeError as error:
        raise BadJson(f"line {error.lineno}, column {error.colno}: {_why(error)}") from None
    except RecursionError:
        raise BadJson("it is nested too deep") from None
    except ValueError as error:  # an integer of thousands of digits
        raise BadJson(str(error)[:200]) from None


def _why(error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data":
        return "there is more text after the JSON document"
    if error.pos == 0 and error.doc[:1] not in ("{", "["):
        return "it does not begin with a JSON document"
    return error.msg


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise BadJson(f"the key {key[:60]!r} stands there twice")
            seen.add(key)
    return made


def _no_constant(name: str) -> NoReturn:
    raise BadJson(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise BadJson(f"{text[:20]} is too large a number")
    return number


_decoder = json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=_no_constant, parse_float=_finite)
