"""The audit store: every firing, the result of every hook, and every permission; redacted and chained by hashes.

with open_store("audit.db") as store:
    for firing in store.firings(Selection(decisions=("deny",))):
        print(firing.time, firing.event, firing.reason)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .protocol import Selection
    from .reader import open_store
    from .store import AuditStore

__all__ = ["AuditStore", "Selection", "open_store"]


def __getattr__(name: str) -> Any:
    """Import the store or the reader when it is first used: redaction needs neither."""
    if name == "AuditStore":
        from .store import AuditStore

        return AuditStore
    if name == "open_store":
        from .reader import open_store

        return open_store
    if name == "Selection":
        from .protocol import Selection

        return Selection
    raise AttributeError(name)
