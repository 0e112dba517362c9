"""Verification of a store, whatever database it is in."""

from __future__ import annotations

from .places import is_url
from .protocol import Flaw, Verification

__all__ = ["Flaw", "Verification", "verify_store"]


def verify_store(path: str, *, key: bytes | None = None, anchor: str | None = None) -> Verification:
    """Verify a whole store; raise NotAStore if there is none. The record of a fleet has neither key nor anchor."""
    if is_url(path):
        from .postgres.verify import verify_postgres

        return verify_postgres(path)
    from .sqlite.verify import verify_sqlite

    return verify_sqlite(path, key=key, anchor=anchor)
