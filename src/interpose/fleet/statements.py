"""Statements: which bundle a ring of a team runs, signed by a person or a CI that may say so.

It names its team and its ring: a statement of another one is none here.
"""

from __future__ import annotations

from ..config.fleet import PUBLIC_KEY, TOKEN, FleetSettings
from ..errors import UsageError
from ..records import Record
from ..runtime.regex import regex
from .keys import PrivateKey, public_of
from .signed import SignedForm

__all__ = ["MOST_VERSION", "BadStatement", "Statement", "read_statement", "signed_statement", "signer_named"]

MOST_VERSION = 2**53 - 1
"""The largest version: the largest whole number that every reader of JSON keeps as it is."""
_LONGEST_NOTE = 500
_DIGEST = regex(r"[0-9a-f]{64}")


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


_FORM = SignedForm(
    name="a statement", domain="rules", longest=32 * 1024, error=BadStatement,
    types={
        "team": str, "ring": str, "version": int, "digest": str, "created": int, "expires": int, "observe": bool,
        "note": str, "signer": str,
    },
)  # fmt: skip


def signed_statement(statement: Statement, key: PrivateKey) -> bytes:
    """Return a statement with its signature, as it is stored."""
    if statement.signer != public_of(key):
        raise ValueError("a statement names the key that signs it")
    return _FORM.sign(_FORM.write(statement), key)[0]


def read_statement(stored: bytes, settings: FleetSettings, *, ring: str = "") -> Statement:
    """Return a stored statement that one of ``signers`` has signed for this team and ring.

    Raise BadStatement with the reason otherwise. Its age is not looked at.
    """
    text, signature = _FORM.open(stored)
    statement = _parsed(text)
    ring = ring or settings.ring
    if statement.signer not in {key for _, key in settings.signers}:
        raise BadStatement(f"is signed by a key that is not one of the signers: {statement.signer}",
                           hint="signers: of your own configuration names the keys")  # fmt: skip
    _FORM.verify(statement.signer, text, signature)
    if statement.team != settings.team:
        raise BadStatement(f"is for the team {statement.team}, not for {settings.team}")
    if statement.ring != ring:
        raise BadStatement(f"is for the ring {statement.ring}, not for {ring}")
    return statement


def signer_named(statement: Statement, settings: FleetSettings) -> str:
    """Return the name that the configuration gives to who has signed."""
    return next((name for name, key in settings.signers if key == statement.signer), statement.signer)


def _parsed(text: str) -> Statement:
    statement = Statement(**_FORM.parse(text))
    _FORM.require(statement, text, {
        "version": 1 <= statement.version <= MOST_VERSION,
        "digest": _DIGEST.fullmatch(statement.digest),
        "created": 0 <= statement.created <= MOST_VERSION,
        "expires": statement.created < statement.expires <= MOST_VERSION,
        "note": len(statement.note) <= _LONGEST_NOTE,
        "signer": PUBLIC_KEY.fullmatch(statement.signer),
        "team": TOKEN.fullmatch(statement.team),
        "ring": TOKEN.fullmatch(statement.ring),
    })  # fmt: skip
    return statement
