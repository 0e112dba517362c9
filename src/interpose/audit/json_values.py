"""Convert any value to JSON data, and shorten documents that are too long. Never raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..runtime.faults import type_name

__all__ = ["plain", "shortened"]

DEEPEST = 100
_STEPS = ((64 * 1024, 20_000), (4 * 1024, 1000), (256, 100), (32, 10))
"""Limits for texts and lists, tried in this order until the document is short enough."""

_MARGIN = 4 * 1024
"""Characters beyond a cut that are redacted too, so that a secret across the cut is still found."""

Redact = Callable[[str], str]


def plain(value: Any, cut: Callable[[str], str] | None = None, most: int | None = None) -> Any:
    """Return a value as JSON data. An unknown object becomes its type name; ``most`` limits the length of each list."""
    return _plain(value, cut or str.__str__, most, 0, set())


def _plain(value: Any, cut: Callable[[str], str], most: int | None, depth: int, above: set[int]) -> Any:
    try:
        if value is None or value is True or value is False:
            return value
        if isinstance(value, str):
            return cut(str.__str__(value))
        if isinstance(value, int):
            return _whole_number(value)
        if isinstance(value, float):
            number = float.__float__(value)
            return number if number - number == 0 else float.__repr__(number)
        if isinstance(value, (bytes, bytearray)):
            return cut(bytes(value).decode("utf-8", "backslashreplace"))
        if not isinstance(value, (dict, list, tuple, set, frozenset)):
            return f"<{type_name(value)}>"
        if id(value) in above:
            return "<itself>"
        if depth >= DEEPEST:
            return f"<nested deeper than {DEEPEST} levels>"
        above.add(id(value))
        try:
            return _container(value, cut, most, depth + 1, above)
        finally:
            above.discard(id(value))
    except BaseException as error:  # a value whose own methods raise, or that another thread changes
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"<{type_name(value)} that cannot be read: {type_name(error)}>"


def _container(value: Any, cut: Callable[[str], str], most: int | None, depth: int, above: set[int]) -> Any:
    if isinstance(value, dict):
        pairs = list(dict.items(value))
        made = {_key(key, cut): _plain(item, cut, most, depth, above) for key, item in pairs[:most]}
        if most is not None and len(pairs) > most:
            made["…"] = f"[truncated: {len(pairs) - most} more]"
        return made
    kind = next(kind for kind in (list, tuple, set, frozenset) if isinstance(value, kind))
    items = list(kind.__iter__(value))
    listed = [_plain(item, cut, most, depth, above) for item in items[:most]]
    return listed if most is None or len(items) <= most else [*listed, f"[truncated: {len(items) - most} more]"]


def _key(key: Any, cut: Callable[[str], str]) -> str:
    made = _plain(key, cut, 0, DEEPEST, set())
    return made if isinstance(made, str) else str(made)


def _whole_number(value: int) -> int | str:
    number = int.__int__(value)
    # Python does not write longer ones in decimal digits, and other programs do not read them.
    return number if number.bit_length() <= 4096 else hex(number)


def shortened(document: dict[str, Any], encode: Callable[[Any], str], redact: Redact, longest: int) -> dict[str, Any]:
    """Return the document with long texts and lists cut, each with a note of its length."""
    whole = encode(document)
    note = {"characters": len(whole), "sha256": _sha256(whole)}
    made = document
    for text, items in _STEPS:
        made = {**plain(document, _cutter(text, redact), items), "truncated": note}
        if len(encode(made)) <= longest:
            return made
    kept = {name: value for name, value in made.items() if len(encode(value)) <= longest // 16}
    return {**kept, "truncated": note}


def _cutter(longest: int, redact: Redact) -> Callable[[str], str]:
    def cut(text: str) -> str:
        if len(text) <= longest:
            return text
        start = redact(text[: longest + _MARGIN])[:longest]
        return f"{start}…[truncated: {len(text)} characters, sha256 {_sha256(text)}]"

    return cut


def _sha256(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
