"""What persons have changed about hooks, as a table."""

from __future__ import annotations

from ...audit.protocol import StoredChange
from ..render import clock_time, flat, short_path
from ..render.table import Column, print_table

__all__ = ["print_changes"]

_COLUMNS = (Column("TIME"), Column("WHO", "bold"), Column("WHERE", "dim"), Column("HOOK", "cyan"), Column("TO"),
            Column("PROJECT", "dim"))  # fmt: skip


def print_changes(changes: list[StoredChange]) -> None:
    """Print a table of changes."""
    print_table(_COLUMNS, [
        (clock_time(one.time), *(flat(one.text(name)) for name in ("user", "terminal", "hook", "to")),
         flat(short_path(one.text("project"))))
        for one in changes
    ])  # fmt: skip
