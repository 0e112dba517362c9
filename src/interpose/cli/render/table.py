"""The one table renderer: a row per line, fitted to the width of a terminal, unlimited elsewhere.

Widths are counted in terminal columns, of which some characters take two and others none.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence

from ...replies import clean
from ...runtime.named_tuples import NamedTuple
from . import paint

__all__ = ["Column", "PrintedTable", "display_width", "fit_text", "pad_text", "print_table", "terminal_width",
           "wrap_text"]  # fmt: skip

_GAP = "  "
_LEAST = 16
"""The smallest width of a column that fills the rest of the line."""

Row = Sequence[str]


class Column(NamedTuple):
    """One column of a table."""

    heading: str
    colour: str | Callable[[str], str] = ""
    """The colour of all cells, or a function that returns the colour of a cell."""
    right: bool = False
    """Whether cells are aligned to the right."""
    most: int = 0
    """The width at which cells are cut; 0 means no limit."""
    drop: int = 0
    """A terminal that is too narrow leaves out the column with the highest number first; 0 stays."""
    fills: bool = False
    """Whether the column takes the rest of a terminal's line, and its cells are cut there."""


def print_table(columns: Sequence[Column], rows: Sequence[Row], *, lead: int = 2, heading: bool = True) -> None:
    """Print a whole table, without the columns that are empty in every row."""
    table = PrintedTable(columns, lead=lead)
    table.fit(rows)
    if heading:
        table.print_heading()
    table.print_rows(rows)


class PrintedTable:
    """A table that is printed piece by piece: ``fit`` it to rows, then print the heading and the rows.

    On a terminal that is too narrow, columns with ``drop`` are left out, then cells are wrapped between words. Where a
    word would have to be split, each row becomes a block: its first ``lead`` cells on a line, the other cells below,
    each behind its heading.
    """

    def __init__(self, columns: Sequence[Column], *, lead: int = 2, keep_empty: bool = False) -> None:
        self._columns = columns
        self._lead = lead
        self._keep_empty = keep_empty
        self._space = terminal_width()
        self._widths = [0] * len(columns)
        self._shown: list[int] | None = None
        self._as_blocks = False

    def fit(self, rows: Sequence[Row]) -> None:
        """Make every column wide enough for these rows; the first call also chooses the columns that are shown."""
        cells = [_cleaned(row) for row in rows]
        for at, column in enumerate(self._columns):
            widest = max(display_width(text) for text in (column.heading, *(row[at] for row in cells)))
            self._widths[at] = max(self._widths[at], min(widest, column.most) if column.most else widest)
        if self._shown is None:
            used = [at for at in range(len(self._columns)) if self._keep_empty or any(row[at] for row in cells)]
            self._shown = self._choose(used)
            self._shrink(cells)

    def print_heading(self) -> None:
        """Print the headings, unless rows are printed as blocks."""
        if not self._as_blocks:
            texts = [column.heading for column in self._columns]
            print(paint("\n".join(self._lines(texts, coloured=False)), "bold"))

    def print_rows(self, rows: Sequence[Row]) -> None:
        """Print rows that the table was fitted to."""
        for row in rows:
            cells = _cleaned(row)
            for line in self._block(cells) if self._as_blocks else self._lines(cells):
                print(line)

    def _choose(self, used: list[int]) -> list[int]:
        """Return the columns that are shown, without those that a narrow terminal leaves out."""
        shown = list(used)
        while self._space is not None and self._total(shown) > self._space:
            last = max(shown, key=lambda at: self._columns[at].drop)
            if not self._columns[last].drop:
                break
            shown.remove(last)
        return shown

    def _total(self, shown: Sequence[int]) -> int:
        widths = (min(self._widths[at], _LEAST) if self._columns[at].fills else self._widths[at] for at in shown)
        return sum(widths) + len(_GAP) * (len(shown) - 1)

    def _shrink(self, rows: Sequence[Row]) -> None:
        """Narrow columns down to their longest word until the table fits, or switch to blocks."""
        shown = self._shown or []
        excess = self._total(shown) - (self._space or 0)
        if self._space is None or excess <= 0 or any(self._columns[at].fills for at in shown):
            return
        widths = {at: self._widths[at] for at in shown}
        least = {at: self._least(at, rows) for at in shown}
        for at in sorted(shown, key=lambda at: least[at] - widths[at]):  # the widest margin first
            taken = max(0, min(excess, widths[at] - least[at]))
            widths[at] -= taken
            excess -= taken
        self._as_blocks = excess > 0
        if not self._as_blocks:
            for at, width in widths.items():
                self._widths[at] = width

    def _least(self, at: int, rows: Sequence[Row]) -> int:
        column = self._columns[at]
        words = (word for text in (column.heading, *(row[at] for row in rows)) for word in text.split())
        longest = max(map(display_width, words), default=0)
        return min(longest, _LEAST) if column.most else longest

    def _lines(self, row: Row, *, coloured: bool = True) -> Iterator[str]:
        """Return a row as one line, or as several where a cell is wrapped."""
        shown = self._shown or []
        cells = [self._cell(row[at], at) for at in shown]
        for number in range(max((len(lines) for lines in cells), default=0)):
            parts = []
            for at, lines in zip(shown, cells, strict=True):
                text = lines[number] if number < len(lines) else ""
                blank = " " * max(0, self._widths[at] - display_width(text))
                painted = self._paint(text, row[at], at) if coloured else text
                parts.append(blank + painted if self._columns[at].right else painted + blank)
            yield _GAP.join(parts).rstrip()

    def _cell(self, text: str, at: int) -> list[str]:
        column = self._columns[at]
        if column.fills:
            if self._space is None:
                return [text]
            before = [other for other in self._shown or () if other < at]
            used = sum(self._widths[other] + len(_GAP) for other in before)
            return [fit_text(text, max(0, self._space - used))]
        if column.most:
            return [fit_text(text, self._widths[at])]
        return [text] if display_width(text) <= self._widths[at] else wrap_text(text, self._widths[at])

    def _paint(self, text: str, cell: str, at: int) -> str:
        colour = self._columns[at].colour
        name = colour if isinstance(colour, str) else colour(cell)
        return paint(text, name) if name else text

    def _block(self, row: Row) -> Iterator[str]:
        shown = self._shown or []
        first = [at for at in shown if at < self._lead]
        yield _GAP.join(self._paint(row[at], row[at], at) for at in first if row[at])
        rest = ", ".join(
            f"{self._columns[at].heading.lower()} {row[at]}".strip() for at in shown if at >= self._lead and row[at]
        )
        if rest:
            yield from (f"    {line}" for line in wrap_text(rest, max((self._space or 0) - 4, 20)))


def _cleaned(row: Row) -> list[str]:
    return [clean(cell).replace("\n", " ") for cell in row]


def terminal_width() -> int | None:
    """Return the width of the terminal that standard output is, or None if it is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fit_text(text: str, width: int) -> str:
    """Return text in at most so many columns; an ellipsis marks the cut."""
    if display_width(text) <= width:
        return text
    kept, room = "", width - 1
    for character in text:
        room -= display_width(character)
        if room < 0:
            break
        kept += character
    return f"{kept}…" if width > 0 else ""


def pad_text(text: str, width: int) -> str:
    """Return text in exactly so many columns, padded with spaces or cut."""
    fitted = fit_text(text, width)
    return fitted + " " * (width - display_width(fitted))


def wrap_text(text: str, width: int) -> list[str]:
    """Return text in lines of so many columns; a longer word is not split."""
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and display_width(joined) > width:
            lines.append(word)
        else:
            lines[-1] = joined
    return lines
