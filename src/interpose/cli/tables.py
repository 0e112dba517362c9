"""Tables: fitted to the width of a terminal, and one row per line anywhere else, so that they can be searched."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..replies import clean

__all__ = ["show_table"]


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, colours: Sequence[str] = ()) -> None:
    """Print rows under their headings; a column that is empty in every row is left out."""
    shown = [[clean(cell) for cell in row] for row in rows]
    kept = [at for at in range(len(headings)) if any(row[at] for row in shown)]
    headings = [headings[at] for at in kept]
    shown = [[row[at] for at in kept] for row in shown]
    if sys.stdout.isatty():
        _on_terminal(headings, shown, [colours[at] if at < len(colours) else "" for at in kept])
    else:
        _as_text(headings, shown)


def _on_terminal(headings: Sequence[str], rows: Sequence[Sequence[str]], colours: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, colour in zip(headings, colours, strict=True):
        table.add_column(heading, style=colour, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(highlight=False).print(table)


def _as_text(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for row in (headings, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
