"""Where a store is: a path, or the URL of a database in PostgreSQL."""

from __future__ import annotations

import re

from ..runtime.regex import regex

__all__ = ["is_url", "shown_url"]

_URL = regex(r"postgres(?:ql)?://", re.IGNORECASE)


def is_url(place: str) -> bool:
    """Say whether a place is a database of PostgreSQL, and not a path."""
    return _URL.match(place) is not None


def shown_url(url: str) -> str:
    """Return a URL without its password and its options."""
    scheme, _, rest = url.partition("://")
    user, at, place = rest.rpartition("@")
    place = re.split(r"[?#]", place)[0]
    host, colon, port = place.partition("/")[0].rpartition(":")
    if colon and not port.isdigit() and not port.endswith("]"):
        place = f"{host}:***"  # a password that stands where the port belongs
    return f"{scheme}://{user.partition(':')[0]}{at}{place}"
