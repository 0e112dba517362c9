"""The hash chain of a store's records, and the seal of its head. Pure, except for reading a key.

All processes that write to a store append to one chain. Each record's hash covers the hash before it and the whole
record; the first record of a process covers the description of the process too. So a record or a process that is
changed, removed, added or moved breaks the chain after it. A chain whose end was cut off is still valid: the seal of
the head, made with a key, detects a cut that was covered up, and an anchor detects an older copy of the whole store.
"""

from __future__ import annotations

import os
from hashlib import sha256

from ..errors import UsageError

__all__ = ["begin", "genesis", "key_name", "link", "load_key", "seal", "seal_head"]

_SHORTEST_KEY = 16


def genesis(store: str) -> bytes:
    """Return the hash that precedes the first record of a store."""
    return sha256(f"interpose audit 2\n{store}".encode()).digest()


def begin(before: bytes, uuid: str, about: str) -> bytes:
    """Return the hash that precedes the first record of a process: it covers the process's description."""
    return sha256(b"%b\n%b\n%b" % (before, uuid.encode(), about.encode("utf-8", "surrogateescape"))).digest()


def link(before: bytes, id: int, process: int, kind: int, time: int, mono: int, body: bytes) -> bytes:
    """Return the hash of a record, given that of the one before it."""
    # Not `%d`, which cuts a fraction off: SQLite stores one in a column of integers too.
    return sha256(b"%b%a %a %a %a %a\n%b" % (before, id, process, kind, time, mono, body)).digest()


def seal(key: bytes | None, *parts: object) -> bytes | None:
    """Return the HMAC of these parts; None without a key."""
    if key is None:
        return None
    import hmac

    text = "\n".join(part.hex() if isinstance(part, bytes) else str(part) for part in parts)
    return hmac.digest(key, text.encode(), "sha256")


def seal_head(key: bytes | None, store: str, record: int, hash: bytes) -> bytes | None:
    """Return the seal of a store's last record; None without a key."""
    return seal(key, "head", store, record, hash)


def key_name(key: bytes | None) -> str:
    """Return a name that identifies a key without revealing it; empty without a key."""
    made = seal(key, "name of this key")
    return "" if made is None else made.hex()[:16]


def load_key(place: str | None) -> bytes | None:
    """Read a key from a file, or with ``env:NAME`` from a variable."""
    if place is None:
        return None
    if place.startswith("env:"):
        key = os.environ.get(place[4:], "").encode("utf-8", "surrogateescape").strip()
        hint = "set the variable, or name a file"
    else:
        hint = "name a file with a key, such as one made by `openssl rand -hex 32`, or env:VARIABLE"
        try:
            with open(os.path.expanduser(place), "rb") as opened:
                key = opened.read(64 * 1024).strip()
        except OSError as error:
            raise UsageError(f"the key cannot be read: {error.strerror or error}", where=place, hint=hint) from None
    if len(key) < _SHORTEST_KEY:
        what = f"a key of {len(key)} bytes is too short" if key else "there is no key"
        raise UsageError(what, where=place, hint=f"at least {_SHORTEST_KEY} bytes; {hint}")
    return key
