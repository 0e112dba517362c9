"""The statistics of hooks as a table with small bars, which does without columns where a terminal is narrow."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..audit.reader import HookStats
from .audited import ago, short
from .columns import narrowed, sized, wide
from .words import flat, paint

__all__ = ["bar", "show_stats"]

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR = 8


class _Column(NamedTuple):
    heading: str
    cell: Callable[[HookStats], str]
    rank: int
    """Who goes first where there is no room: the highest; 0 stays."""
    right: bool = True
    colour: str = ""


def show_stats(found: Sequence[HookStats], now: float) -> None:
    """Print what each hook did, event by event, most runs first; columns without a number in them are left out."""
    longest = max((one.total for one in found), default=0.0)
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    columns = _fitting(_columns(longest, now, 28 if room is None else min(28, max(8, room // 3))), found, room)
    widths = [max(wide(column.heading), *(wide(column.cell(one)) for one in found)) for column in columns]
    heading = _line([(column.heading, column) for column in columns], widths, plain=True)
    print(paint(heading, "bold"))
    events = list(dict.fromkeys(one.event for one in found))
    for event in events:
        print(paint(flat(event), "cyan"))
        for one in found:
            if one.event == event:
                print(_line([(column.cell(one), column) for column in columns], widths))


def _columns(longest: float, now: float, name: int) -> list[_Column]:
    def count(number: int) -> str:
        return f"{number}" if number else ""

    return [
        _Column("  HOOK", lambda one: "  " + narrowed(flat(one.hook), name), 0, right=False),
        _Column("RUNS", lambda one: str(one.runs), 0),
        _Column("DENY", lambda one: count(one.denies), 0, colour="red"),
        _Column("ASK", lambda one: count(one.asks), 1, colour="yellow"),
        _Column("FAIL", lambda one: count(one.failures), 0, colour="red"),
        _Column("LATE", lambda one: count(one.timeouts), 0, colour="red"),
        _Column("P50", lambda one: short(one.p50), 4),
        _Column("P95", lambda one: short(one.p95), 0),
        _Column("P99", lambda one: short(one.p99), 3),
        _Column("SESSION", lambda one: short(one.per_session), 5),
        _Column("LAST", lambda one: ago(one.last_fired, now), 2),
        _Column("SHARE", lambda one: bar(one.total, longest), 6, right=False, colour="blue"),
    ]


def _fitting(columns: list[_Column], found: Sequence[HookStats], room: int | None) -> list[_Column]:
    """Leave out what is empty everywhere, then, on a terminal, what finds no room, the least needed first."""
    kept = [column for column in columns if any(column.cell(one) for one in found)]
    while room is not None and _width(kept, found) > room and (spare := max(kept, key=lambda column: column.rank)).rank:
        kept.remove(spare)
    return kept


def _width(columns: Sequence[_Column], found: Sequence[HookStats]) -> int:
    return sum(2 + max(wide(column.heading), *(wide(column.cell(one)) for one in found)) for column in columns) - 2


def _line(cells: Sequence[tuple[str, _Column]], widths: Sequence[int], *, plain: bool = False) -> str:
    made = []
    for (text, column), width in zip(cells, widths, strict=True):
        cell = sized(text, width, right=column.right)
        made.append(paint(cell, column.colour) if column.colour and not plain else cell)
    return "  ".join(made).rstrip()


def bar(value: float, most: float) -> str:
    """Return how much of the most a value is, as a bar of a few letters; something is never nothing."""
    if value <= 0 or most <= 0:
        return ""
    eighths = max(1, min(_BAR * 8, round(value / most * _BAR * 8)))
    if not _can_draw():
        return "#" * max(1, eighths // 8)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _can_draw() -> bool:
    try:
        _EIGHTHS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
