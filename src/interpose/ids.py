"""Identifiers in the shape of a random UUID; the module for them takes milliseconds to import."""

from __future__ import annotations

import os

__all__ = ["new_id"]


def new_id() -> str:
    """Return a new random identifier."""
    digits = bytearray(os.urandom(16))
    digits[6] = digits[6] & 0x0F | 0x40  # version 4
    digits[8] = digits[8] & 0x3F | 0x80
    text = digits.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
