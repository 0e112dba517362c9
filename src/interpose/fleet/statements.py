"""Statements: which bundle a ring of a team runs, signed by a person or a CI that may say so.

A statement is written as canonical JSON, and travels as that text with its signature, so that what is checked is what
was signed, byte by byte. It names its team and its ring: a statement of another one is none here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..config.fleet import FleetSettings
from ..errors import UsageError
from ..records import Record
from ..strict_json import BadJson, decode
from .keys import PrivateKey, public_of, sign, verify

__all__ = ["MOST_VERSION", "BadStatement", "Statement", "read_statement", "signed_statement", "signer_named"]

_DOMAIN = "rules"
MOST_VERSION = 2**53 - 1
"""The largest version: the largest whole number that every reader of JSON keeps as it is."""
_LONGEST = 32 * 1024
_LONGEST_NOTE = 500
_DIGEST = re.compile(r"[0-9a-f]{64}")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PUBLIC = re.compile(r"ed25519:[A-Za-z0-9+/]{43}=")


class BadStatement(UsageError):
    """A statement that is refused, with the reason."""

    code = "fleet_statement"


class Statement(Record):
    """What a ring runs from now on."""

    team: str
    ring: str
    version: int
    """It grows with every statement of a ring; an older one is refused."""
    digest: str
    """The SHA-256 of the bundle."""
    created: int
    """Seconds since 1970."""
    expires: int
    observe: bool
    """Whether decisions are recorded only, and not enforced."""
    note: str
    signer: str
    """The public key of the one who has signed it."""


def _written(statement: Statement) -> str:
    parts = {name: getattr(statement, name) for name in _TYPES}
    return json.dumps(parts, sort_keys=True, separators=(",", ":"))


def signed_statement(statement: Statement, key: PrivateKey) -> bytes:
    """Return a statement with its signature, as it is stored."""
    if statement.signer != public_of(key):
        raise ValueError("a statement names the key that signs it")
    text = _written(statement)
    return json.dumps({"statement": text, "signature": sign(key, _DOMAIN, text.encode())}).encode()


_TYPES: Mapping[str, type] = {
    "team": str, "ring": str, "version": int, "digest": str, "created": int, "expires": int, "observe": bool,
    "note": str, "signer": str,
}  # fmt: skip


def read_statement(stored: bytes, settings: FleetSettings, *, ring: str = "") -> Statement:
    """Return a stored statement that one of ``signers`` has signed for this team and ring.

    Raise BadStatement with the reason otherwise. Its age is not looked at.
    """
    text, signature = _envelope(stored)
    statement = _parsed(text)
    ring = ring or settings.ring
    if statement.signer not in {key for _, key in settings.signers}:
        raise BadStatement(f"is signed by a key that is not one of the signers: {statement.signer}",
                           hint="signers: of your own configuration names the keys")  # fmt: skip
    if not verify(statement.signer, _DOMAIN, text.encode(), signature):
        raise BadStatement("has a signature that does not fit")
    if statement.team != settings.team:
        raise BadStatement(f"is for the team {statement.team}, not for {settings.team}")
    if statement.ring != ring:
        raise BadStatement(f"is for the ring {statement.ring}, not for {ring}")
    return statement


def signer_named(statement: Statement, settings: FleetSettings) -> str:
    """Return the name that the configuration gives to who has signed."""
    return next((name for name, key in settings.signers if key == statement.signer), statement.signer)


def _envelope(stored: bytes) -> tuple[str, str]:
    if len(stored) > _LONGEST:
        raise BadStatement(f"has more than {_LONGEST:,} bytes")
    try:
        found = decode(stored)
    except BadJson as error:
        raise BadStatement(f"cannot be read: {error}") from None
    if not isinstance(found, dict) or set(found) != {"statement", "signature"}:
        raise BadStatement("is no statement with a signature")
    text, signature = found["statement"], found["signature"]
    if not isinstance(text, str) or not isinstance(signature, str) or not text.isascii():
        raise BadStatement("is no statement with a signature")
    return text, signature


def _parsed(text: str) -> Statement:
    try:
        found: Any = decode(text.encode())
    except BadJson as error:
        raise BadStatement(f"cannot be read: {error}") from None
    if not isinstance(found, dict) or set(found) != set(_TYPES):
        raise BadStatement("does not have the parts of a statement; another version of Interpose may have written it")
    for name, kind in _TYPES.items():
        if type(found[name]) is not kind:
            raise BadStatement(f"its {name} is not {kind.__name__}")
    statement = Statement(**found)
    good = {
        "version": 1 <= statement.version <= MOST_VERSION,
        "digest": _DIGEST.fullmatch(statement.digest) is not None,
        "created": 0 <= statement.created <= MOST_VERSION,
        "expires": statement.created < statement.expires <= MOST_VERSION,
        "note": len(statement.note) <= _LONGEST_NOTE,
        "signer": _PUBLIC.fullmatch(statement.signer) is not None,
        "team": _TOKEN.fullmatch(statement.team) is not None,
        "ring": _TOKEN.fullmatch(statement.ring) is not None,
    }
    if wrong := [name for name, is_good in good.items() if not is_good]:
        raise BadStatement(f"its {' and '.join(wrong)} cannot be")
    if _written(statement) != text:
        raise BadStatement("is not written as statements are")
    return statement
