"""Firings as lines: one each, cut to the width of a terminal, whole anywhere else."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from itertools import islice

from ..audit.reader import StoredFiring
from .audited import short, when
from .columns import narrowed, sized, wide
from .words import flat, paint

__all__ = ["Lines", "verdict"]

_HEADINGS = ("TIME", "ID", "SESSION", "EVENT", "DECIDED", "TOOK", "HOOKS", "REASON")
_COLOURS = {"deny": "red", "ask": "yellow", "keep": "yellow", "allow": "green"}
_DECISION = _HEADINGS.index("DECIDED")
_RIGHT = (_HEADINGS.index("ID"), _HEADINGS.index("TOOK"))
_NEEDS = {"TIME": 60, "SESSION": 90, "TOOK": 90, "HOOKS": 60}
"""Columns that a terminal must have for what can be looked up by the id of a firing."""
_LONGEST = (14, 9, 8, 32, 7, 8, 30)
"""How wide a column may become; the reason has what is left."""
_PAGE = 200
_MOST_HOOKS = 3


class Lines:
    """Prints firings under one another; columns are as wide as the widest cell so far."""

    def __init__(self, *, headed: bool) -> None:
        self._width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        width = self._width or 1000
        self._kept = [at for at, heading in enumerate(_HEADINGS) if width >= _NEEDS.get(heading, 0)]
        self._most = [min(most, max(7, width // 5)) if most > 20 else most for most in _LONGEST]
        self._widths = [0] * len(_HEADINGS)
        self._headed = headed

    def show(self, firings: Iterable[StoredFiring], *, page: int = _PAGE) -> int:
        """Print firings, a page at a time, and return how many there were."""
        shown = 0
        firings = iter(firings)
        while rows := [_cells(firing) for firing in islice(firings, page)]:
            self._fit(rows if shown or not self._headed else [_HEADINGS, *rows])
            if self._headed and not shown:
                print(paint(self._line(_HEADINGS), "bold"))
            for row in rows:
                print(self._line(row, coloured=True))
            sys.stdout.flush()
            shown += len(rows)
        return shown

    def _fit(self, rows: list[tuple[str, ...]]) -> None:
        for at, most in enumerate(self._most):
            self._widths[at] = min(most, max(self._widths[at], *(wide(row[at]) for row in rows)))

    def _line(self, row: tuple[str, ...], *, coloured: bool = False) -> str:
        made, used = [], 0
        for at in self._kept:
            if at < len(_LONGEST):
                cell = sized(row[at], self._widths[at], right=at in _RIGHT)
            else:
                room = None if self._width is None else max(0, self._width - used)
                cell = row[at] if room is None else narrowed(row[at], room)
            used += wide(cell) + 2
            colour = _COLOURS.get(row[at].strip("()"), "dim") if coloured and at == _DECISION else ""
            made.append(paint(cell, colour) if colour else cell)
        return "  ".join(made).rstrip()


def _cells(firing: StoredFiring) -> tuple[str, ...]:
    subject = f" {firing.subject}" if firing.subject else ""
    return (
        when(firing.time), str(firing.id), flat(firing.session)[:8], flat(f"{firing.event}{subject}"),
        verdict(firing), short(firing.duration), _hooks(firing), flat(firing.reason),
    )  # fmt: skip


def verdict(firing: StoredFiring) -> str:
    """Return in one word what was decided; in brackets what was only recorded."""
    if firing.body.get("keep_going"):
        return "keep"
    shadow = firing.body.get("shadow")
    said = shadow.get("decision") if isinstance(shadow, dict) else None
    if firing.decision == "none" and isinstance(said, str) and said != "none":
        return f"({flat(said)})"
    return firing.decision


def _hooks(firing: StoredFiring) -> str:
    """Return the hooks that ran, those that decided first; one that failed has a mark."""
    ran = [run for run in firing.runs if run["status"] != "skipped"]
    ran.sort(key=lambda run: run["decision"] != firing.decision or run["decision"] == "none")
    names = dict.fromkeys(f"{flat(str(run['hook']))}{'' if run['status'] == 'ok' else '!'}" for run in ran)
    more = len(names) - _MOST_HOOKS
    return ", ".join(islice(names, _MOST_HOOKS)) + (f" +{more}" if more > 0 else "")
