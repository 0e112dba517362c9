"""Hashes of contents. What ``hashlib`` brings along is worth its loading only for large ones."""

from __future__ import annotations

__all__ = ["sha256"]

_LARGE = 1024 * 1024


def sha256(data: bytes) -> bytes:
    """Return the SHA-256 of some bytes."""
    if len(data) < _LARGE:
        for name in ("_sha2", "_sha256"):  # what hashlib itself falls back to; its name depends on the version
            try:
                module = __import__(name)
            except ImportError:
                continue
            digest: bytes = module.sha256(data).digest()
            return digest
    import hashlib

    return hashlib.sha256(data).digest()
