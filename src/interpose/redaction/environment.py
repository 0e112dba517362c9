"""The environment: which values of variables are secrets, and how they may be written in a text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from .names import is_secret_name, is_secret_variable

__all__ = ["SHORTEST", "secrets_of", "spellings"]

SHORTEST = 8
"""The minimum length of a secret from the environment: shorter values occur in texts by accident."""
_MOST_ENCODED = 50_000
"""Characters of values that are looked for in base64 and hex, the shortest values first: patterns must stay small."""


def secrets_of(environ: Mapping[str, str]) -> set[str]:
    """Return the values of variables whose names mean secrets or keys, except paths of existing files."""
    found = set()
    for name, value in environ.items():
        if len(value) < SHORTEST or not (is_secret_name(name) or is_secret_variable(name)):
            continue
        if not (os.path.isabs(value) and os.path.exists(value)):
            found.add(value)
    return found


def spellings(values: Iterable[str]) -> set[bytes]:
    """Return how values may be written: plain, escaped in JSON or a URL, in base64 at any place of it, in hex."""
    from .decoding import base64_parts

    found, left = set[bytes](), _MOST_ENCODED
    for value in sorted(values, key=len):
        found |= _escaped(value)
        left -= len(value)
        if left > 0:
            data = value.encode("utf-8", "surrogateescape")
            found |= base64_parts(data) | {data.hex().encode(), data.hex().upper().encode()}
    return found


def _escaped(value: str) -> set[bytes]:
    import json
    from urllib.parse import quote

    escaped = json.dumps(value)[1:-1]
    found = {escaped, json.dumps(escaped)[1:-1]}
    try:
        found |= {value, quote(value, safe=""), quote(value), json.dumps(value, ensure_ascii=False)[1:-1]}
        return {text.encode() for text in found}
    except UnicodeEncodeError:  # bytes of the environment that are not UTF-8
        return {text.encode("utf-8", "surrogatepass") for text in found}
