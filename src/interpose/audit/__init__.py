"""The audit store: every firing and what every hook said, in SQLite, redacted, chained, and never in silence lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .store import AuditStore

__all__ = ["AuditStore"]


def __getattr__(name: str) -> Any:
    """Load the store when it is asked for: whoever reads one, or only redacts, does without."""
    if name == "AuditStore":
        from .store import AuditStore

        return AuditStore
    raise AttributeError(name)
