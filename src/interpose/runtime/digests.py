"""SHA-256 without ``hashlib``, which loads OpenSSL."""

from __future__ import annotations

import sys

__all__ = ["sha256"]

_LARGE = 1024 * 1024


def sha256(data: bytes) -> bytes:
    """Return the SHA-256 of some bytes. ``hashlib`` is slow to load, and faster only for large ones."""
    if len(data) < _LARGE:
        try:  # what hashlib falls back to; the name depends on the version
            module = __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256")
        except ImportError:
            pass
        else:
            digest: bytes = module.sha256(data).digest()
            return digest
    import hashlib

    return hashlib.sha256(data).digest()
