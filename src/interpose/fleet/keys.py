"""Ed25519 keys: who signs rules, and who signs answers to questions.

A private key is a PEM file that only its owner can read. A public key is written as ``ed25519:`` and base64, as
``signers:`` and ``approvers:`` of a configuration name it. What is signed begins with its domain, so that a signature
of one kind of message is none of another.
"""

from __future__ import annotations

import base64
import binascii
import os
import stat
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["BadKey", "PrivateKey", "load_private", "make_key", "public_of", "sign", "verify"]

_PREFIX = "ed25519:"
_LONGEST = 16 * 1024


class BadKey(UsageError):
    """A key file that cannot be used."""

    code = "fleet_key"


class PrivateKey:
    """A key that signs. It is never shown."""

    __slots__ = ("_key", "place")

    def __init__(self, key: Ed25519PrivateKey, place: str) -> None:
        self._key = key
        self.place = place
        """The file that it was read from."""

    def __repr__(self) -> str:
        return f"PrivateKey({self.place!r})"

    def sign_bytes(self, signed: bytes) -> bytes:
        """Return the signature of some bytes."""
        return self._key.sign(signed)

    def public_bytes(self) -> bytes:
        """Return the 32 bytes of the public key."""
        return self._key.public_key().public_bytes_raw()


def make_key(path: str) -> str:
    """Make a key, write it to a file that only its owner can read, and return the public key; never overwrite one."""
    made = _ed25519().Ed25519PrivateKey.generate()
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    data = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise BadKey("there is a file already; a key is not overwritten", where=path,
                     hint="name another file with --out") from None  # fmt: skip
    except OSError as error:
        raise BadKey(f"cannot be written: {error.strerror or error}", where=path) from None
    with open(descriptor, "wb") as opened:
        opened.write(data)
    return public_of(PrivateKey(made, path))


def load_private(path: str) -> PrivateKey:
    """Return the key of a file; raise BadKey if it cannot be used, or if other users can read it."""
    module = _ed25519()
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
            found = os.fstat(opened.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise BadKey("is not a plain file", where=path)
            if found.st_mode & 0o077 and found.st_uid == os.geteuid():
                raise BadKey(f"other users can read this key (mode {stat.S_IMODE(found.st_mode):04o})", where=path,
                             hint=f"chmod 600 {path}")  # fmt: skip
            data = opened.read(_LONGEST)
    except OSError as error:
        raise BadKey(f"the key cannot be read: {error.strerror or error}", where=path,
                     hint="`interpose fleet key` makes one; --key names it") from None  # fmt: skip
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError) as error:
        raise BadKey(f"is not a private key: {error}", where=path, hint="`interpose fleet key` makes one") from None
    except Exception as error:  # an algorithm that the package does not have
        raise BadKey(f"is not a private key: {error}", where=path, hint="`interpose fleet key` makes one") from None
    if not isinstance(key, module.Ed25519PrivateKey):
        raise BadKey("is not an Ed25519 key", where=path, hint="`interpose fleet key` makes one")
    return PrivateKey(key, path)


def public_of(private: PrivateKey) -> str:
    """Return the public key as a configuration names it."""
    return _PREFIX + base64.b64encode(private.public_bytes()).decode()


def sign(private: PrivateKey, domain: str, body: bytes) -> str:
    """Return the signature of a body as base64; ``domain`` says what kind of message it is."""
    return base64.b64encode(private.sign_bytes(_signed(domain, body))).decode()


def verify(public: str, domain: str, body: bytes, signature: str) -> bool:
    """Return whether the signature of a body is that of a public key. What cannot be read is no signature."""
    module = _ed25519()
    from cryptography.exceptions import InvalidSignature

    try:
        if not public.startswith(_PREFIX):
            return False
        key = module.Ed25519PublicKey.from_public_bytes(base64.b64decode(public[len(_PREFIX) :], validate=True))
        key.verify(base64.b64decode(signature, validate=True), _signed(domain, body))
    except (InvalidSignature, binascii.Error, ValueError, TypeError, AttributeError):
        return False
    return True


def _signed(domain: str, body: bytes) -> bytes:
    if "\n" in domain or not domain:
        raise ValueError("a domain is one line")
    return b"interpose fleet: " + domain.encode() + b"\n" + body


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise BadKey("the package cryptography is not installed", hint="pip install 'interpose[fleet]'") from None
    return ed25519
