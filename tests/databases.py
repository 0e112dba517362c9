"""SQLite files as any program with sqlite3 can write them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def database(path: Path | str, *, unnoticed: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection that commits and closes at the end: the one of sqlite3 only commits.

    ``unnoticed``: what the last process wrote about the file when it closed it is gone, so only the records can tell.
    """
    base = sqlite3.connect(path)
    try:
        with base:
            yield base
    finally:
        base.close()
    if unnoticed:
        Path(f"{path}-sum").unlink(missing_ok=True)
