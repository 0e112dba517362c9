"""Opening a store to read it.

with open_store("audit.db") as store:
    for firing in store.firings(Selection(decisions=("deny",)), limit=20):
        print(firing.id, firing.event, firing.subject, firing.reason)
"""

from __future__ import annotations

import os

from .protocol import NotAStore, Selection, StoreReader

__all__ = ["NotAStore", "Selection", "StoreReader", "open_store"]


def open_store(path: str | os.PathLike[str]) -> StoreReader:
    """Return a reader of the store at this path; raise NotAStore if there is none."""
    from .sqlite.reader import open_sqlite

    return open_sqlite(path)
