"""What of a planted secret is left after redaction, in any decoding."""

import base64
import html
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from benchmarks.secrets.planted import Planted
from interpose.audit.entries import encode
from interpose.redaction import Redactor

__all__ = ["recorded", "survives"]

_PIECE = 6
"""So many characters of a secret in a row are a part of it that is left."""
_DEEPEST = 4
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_STANDARD = str.maketrans("-_", "+/")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){6,}")


def recorded(value: Any, redactor: Redactor) -> str:
    """Return what the record says of a value: nothing is redacted that is not suspected first."""
    text = encode({"input": value})
    if not redactor.suspects(text.encode("ascii")):
        return text
    return encode(redactor.value(json.loads(text)))


def survives(one: Planted, redactor: Redactor) -> bool:
    """Say whether a part of a secret is left in the record; the redactor knows the environment of the secret."""
    text = recorded(one.value, redactor)
    pieces = [one.secret[at : at + _PIECE] for at in range(max(1, len(one.secret) - _PIECE + 1))]
    return any(piece in decoded for decoded in _decodings(text) for piece in pieces)


def _decodings(text: str, depth: int = 0) -> Iterator[str]:
    yield text
    if depth == _DEEPEST:
        return
    for decoded in {_unescaped(text), unquote(text), html.unescape(text)} - {text}:
        yield from _decodings(decoded, depth + 1)
    for found in _BASE64.findall(text):
        digits = found.rstrip("=").translate(_STANDARD)
        for whole in (digits[at : at + (len(digits) - at) // 4 * 4] for at in range(4)):
            yield base64.b64decode(whole).decode("utf-8", "replace")
        yield base64.b64decode(digits[: len(digits) // 4 * 4 + len(digits) % 4 // 2 * 2] + "==").decode(
            "utf-8", "replace"
        )
    for found in _HEX.findall(text):
        yield bytes.fromhex(found).decode("utf-8", "replace")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text, flags=re.DOTALL)
