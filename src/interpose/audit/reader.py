"""Opening a store to read it.

with open_store("audit.db") as store:
    for firing in store.firings(Selection(decisions=("deny",)), limit=20):
        print(firing.id, firing.event, firing.subject, firing.reason)
"""

from __future__ import annotations

import os

from .places import is_url
from .protocol import NotAStore, Selection, StoreReader

__all__ = ["NotAStore", "Selection", "StoreReader", "open_store"]


def open_store(path: str | os.PathLike[str]) -> StoreReader:
    """Return a reader of the store at a path, or in a database of PostgreSQL; raise NotAStore if there is none."""
    place = os.fspath(path)
    if is_url(place):
        from .postgres.reader import open_postgres

        return open_postgres(place)
    from .sqlite.reader import open_sqlite

    return open_sqlite(place)
