"""Tables: fitted to the width of a terminal, and one row per line anywhere else, so that they can be searched."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence

from ..replies import clean
from .columns import wide
from .words import is_coloured, paint

__all__ = ["show_table"]

_GAP = 2


def show_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, colours: Sequence[str] = (), lead: int = 2
) -> None:
    """Print rows under their headings; a column that is empty in every row is left out.

    Where a terminal is so narrow that words would be torn, each row is a block: its first ``lead`` cells, and below
    them the others, each behind its heading.
    """
    shown = [[clean(cell) for cell in row] for row in rows]
    kept = [at for at in range(len(headings)) if any(row[at] for row in shown)]
    lead = sum(at < lead for at in kept)
    headings = [headings[at] for at in kept]
    shown = [[row[at] for at in kept] for row in shown]
    if sys.stdout.isatty():
        _on_terminal(headings, shown, [colours[at] if at < len(colours) else "" for at in kept], lead)
    else:
        _as_text(headings, shown)


def _on_terminal(headings: Sequence[str], rows: Sequence[Sequence[str]], colours: Sequence[str], lead: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, color_system="auto" if is_coloured(sys.stdout) else None)
    widths = _fitted(list(zip(headings, *rows, strict=True)), console.width)
    if not widths:
        _as_blocks(headings, rows, colours, lead, console.width)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, colour, width in zip(headings, colours, widths, strict=True):
        table.add_column(heading, style=colour, overflow="fold", width=width)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _fitted(columns: Sequence[Sequence[str]], space: int) -> list[int]:
    """Return how wide each column is, so that all fit and no word is torn; nothing if that cannot be."""
    widths = [max(map(wide, column)) for column in columns]
    least = [max(wide(word) for cell in column for word in [*cell.split(), ""]) for column in columns]
    excess = sum(widths) + _GAP * (len(widths) - 1) - space
    for at in sorted(range(len(widths)), key=lambda at: least[at] - widths[at]):  # who has most to give is first
        given = max(0, min(excess, widths[at] - least[at]))
        widths[at] -= given
        excess -= given
    return widths if excess <= 0 else []


def _as_blocks(
    headings: Sequence[str], rows: Sequence[Sequence[str]], colours: Sequence[str], lead: int, width: int
) -> None:
    for row in rows:
        cells = zip(row[:lead], colours, strict=False)
        print("  ".join(paint(cell, *([colour] if colour else [])) for cell, colour in cells if cell))
        rest = ", ".join(f"{heading.lower()} {cell}" for heading, cell in zip(headings[lead:], row[lead:], strict=True)
                         if cell)  # fmt: skip
        for line in textwrap.wrap(rest, max(width - 4, 20), break_long_words=False, break_on_hyphens=False):
            print(f"    {line}")


def _as_text(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for row in (headings, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
