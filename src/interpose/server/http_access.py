"""Who may use the engine over HTTP: the addresses that it listens on, and the token of the user."""

from __future__ import annotations

import os
import secrets

from ..errors import UsageError
from .places import folder

__all__ = ["LOOPBACK", "parse_address", "read_token"]

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def parse_address(text: str, *, is_public: bool) -> tuple[str, int]:
    """Return the host and the port of ``[HOST:]PORT``; raise UsageError unless the host is a loopback address."""
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--http {text}: not [HOST:]PORT", hint="such as --http 8765")
    if host not in LOOPBACK and not is_public:
        raise UsageError(f"--http {text}: {host} is no loopback address",
                         hint="other machines could fire events; --http-public allows it")  # fmt: skip
    return host, int(port)


def read_token() -> str:
    """Return the token of the user, from a private file; it is made at the first call."""
    path = os.path.join(folder(), "token")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "r+b") as opened:
            found = os.fstat(descriptor)
            if found.st_uid != os.geteuid() or found.st_mode & 0o077:
                raise UsageError(f"{path}: others can read it", hint="remove it; another is made")
            token = opened.read(1000).decode("ascii", "replace").strip()
            if len(token) < 20:
                token = secrets.token_urlsafe(32)
                opened.seek(0)
                opened.truncate()
                opened.write(token.encode() + b"\n")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", hint="remove it") from None
    return token
