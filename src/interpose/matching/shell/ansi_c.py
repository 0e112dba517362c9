r"""The escapes of ``$'…'``: ``\n``, ``\x41``, ``\u00e9`` and the like."""

from __future__ import annotations

import re

from .words import Unsure

__all__ = ["decode_ansi_c"]

# These are compiled on first use, which takes long.
_ESCAPE = r"(?s)\\(?:([abeEfnrtv\\\"?])|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))"
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]"
_ESCAPES = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def decode_ansi_c(text: str) -> str:
    """Return what stands for the text between the quotes; raise Unsure if it has a control character or a byte."""
    decoded = re.sub(_ESCAPE, _unescape, text)
    if re.search(_CONTROL, decoded):
        raise Unsure("a control character in $'…'")
    return decoded


def _unescape(escape: re.Match[str]) -> str:
    letter, x, u, large, octal, other = escape.groups()
    if letter:
        return _ESCAPES.get(letter, letter)
    if octal:
        return chr(int(octal, 8) & 0xFF)
    if other is not None:
        if other == "c":
            raise Unsure("a control character in $'…'")
        return "\\" + other
    code = int(x or u or large, 16)
    if code > 0x10FFFF or (x and code > 0x7F):
        raise Unsure("a byte in $'…'")
    return chr(code)
