"""The hash chain of a process's records, and the seal of its head. Pure, except for reading a key.

Each record's hash covers the hash before it and the whole record; the first covers the description of the process. So a
record that is changed, removed or moved breaks the chain after it. A chain whose end was cut off is still valid: a key
or an anchor detects that.
"""

from __future__ import annotations

import os
from hashlib import sha256

from ..errors import UsageError

__all__ = ["Chain", "genesis", "key_name", "link", "load_key", "seal"]

_SHORTEST_KEY = 16


def genesis(uuid: str, about: str) -> bytes:
    """Return the hash that precedes the first record of a process."""
    return sha256(f"interpose audit 1\n{uuid}\n{about}".encode()).digest()


def link(before: bytes, uuid: bytes, seq: int, kind: int, time: int, mono: int, body: bytes) -> bytes:
    """Return the hash of a record, given that of the one before it."""
    return sha256(b"%b%b %d %d %d %d\n%b" % (before, uuid, seq, kind, time, mono, body)).digest()


def seal(key: bytes | None, *parts: object) -> bytes | None:
    """Return the HMAC of these parts; None without a key."""
    if key is None:
        return None
    import hmac

    text = "\n".join(part.hex() if isinstance(part, bytes) else str(part) for part in parts)
    return hmac.digest(key, text.encode(), "sha256")


def key_name(key: bytes | None) -> str:
    """Return a name that identifies a key without revealing it; empty without a key."""
    made = seal(key, "name of this key")
    return "" if made is None else made.hex()[:16]


class Chain:
    """The records of one process in one store: the process, the number of records, and the hash of the last."""

    def __init__(self, uuid: str, about: str) -> None:
        self.uuid = uuid
        self.about = about
        self.process = 0
        """The number of the process in the store; 0 before its first record."""
        self.seq = 0
        self.hash = genesis(uuid, about)

    def position(self) -> tuple[int, int, bytes]:
        """Return what changes with every record."""
        return self.process, self.seq, self.hash

    def rewind(self, position: tuple[int, int, bytes]) -> None:
        """Forget records that were not committed."""
        self.process, self.seq, self.hash = position


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
