"""A run as a picture: for every limit a bar that says how much of it was used, and a line where it ends.

SVG of the plainest kind. It brings its own background, light or dark as the reader's system is set, so that it can
be read on any page.
"""

from collections.abc import Iterator
from html import escape

from benchmarks.measure import Verdict
from benchmarks.results import Run
from benchmarks.telling import figure

WIDTH = 900
_LEFT = 360
"""Where the bars begin; names stand before it."""
_RIGHT = 680
"""Where the longest bar ends; figures stand behind it."""
_MARGIN = 20
_TOP, _SLOT, _CHECK, _HEADING, _BAR, _FOOT = 78, 36, 24, 34, 14, 34
_LONGEST = 3.0
"""Bars are cut off at this many times the limit: one that is far over must not make the others too short to read."""
_LETTERS, _LETTERS_OF_A_HEADING = 51, 120
"""As many as there is room for, in a font that is wide."""

_LEGEND = (
    "A bar is the measured ratio as a part of its limit: met if it ends left of the line."
    " The thin mark on it is the middle half of the rounds."
)
_STYLE = """
svg { font: 13px system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif;
  --paper: #ffffff; --ink: #1f2328; --soft: #59636e; --grid: #d9dee4; --met: #2f6fb7; --missed: #c2410c; }
@media (prefers-color-scheme: dark) { svg {
  --paper: #14181f; --ink: #e6e9ee; --soft: #9aa4b0; --grid: #333b46; --met: #6aa9ee; --missed: #f59e62; } }
text { fill: var(--ink); } .title { font-size: 17px; font-weight: 600; } .soft { fill: var(--soft); font-size: 12px; }
.heading { font-weight: 600; paint-order: stroke; stroke: var(--paper); stroke-width: 6px; }
.end { text-anchor: end; } .middle { text-anchor: middle; } .paper { fill: var(--paper); }
.grid { stroke: var(--grid); } .spread { stroke: var(--ink); } .limit { stroke: var(--ink); stroke-width: 2; }
.met { fill: var(--met); } .missed { fill: var(--missed); } text.missed { font-weight: 600; }
"""


def drawn(run: Run) -> str:
    """The text of an SVG file."""
    scale = _Scale(max((_used(verdict) for _, verdict in run.judged if verdict.ratio is not None), default=1.0))
    body, bottom = _body(run, scale)
    height = bottom + _FOOT
    met, judged = len(run.judged) - len(run.missed), len(run.judged)
    title = f"{run.table}, Python {run.about['Python']}: {met} of {judged} limits are met"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}" rx="8"/>',
        _text(_MARGIN, 34, title, "title"),
        _text(_MARGIN, 55, _LEGEND, "soft"),
        *_grid(scale, bottom),
        *body,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Scale:
    """From a part of a limit to a place in the picture."""

    def __init__(self, most: float) -> None:
        self.end = min(_LONGEST, max(1.25, most * 1.05))

    def at(self, used: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * min(max(used, 0.0), self.end) / self.end, 1)


def _used(verdict: Verdict, ratio: float | None = None) -> float:
    """A ratio, the measured one if none is given, as a part of the limit."""
    return ((verdict.ratio if ratio is None else ratio) or 0.0) / (verdict.at_most or 1.0)


def _grid(scale: _Scale, bottom: int) -> Iterator[str]:
    """Lines at the halves; the limit's own is drawn over the bars."""
    halves = 0
    while (part := halves / 2) <= scale.end:
        if part != 1:
            x = scale.at(part)
            yield f'<path class="grid" d="M{x} {_TOP}V{bottom}"/>'
            yield _text(x, bottom + 20, f"{part:g} ×" if part else "0", "soft middle")
        halves += 1
    yield _text(scale.at(1), bottom + 20, "limit", "middle")


def _body(run: Run, scale: _Scale) -> tuple[list[str], int]:
    """The rows from top to bottom, and where they end. Headings come last: lines pass behind them."""
    headings: list[str] = []
    bars: list[str] = []
    y = _TOP
    for row in run.rows:
        judged = [verdict for verdict in row.verdicts if verdict.met is not None]
        if not judged:
            continue
        headings.append(_text(_MARGIN, y + 21, _short(row.title, _LETTERS_OF_A_HEADING), "heading"))
        y += _HEADING
        for verdict in judged:
            bars += _limit(verdict, y, scale) if verdict.against else _check(verdict, y)
            y += _SLOT if verdict.against else _CHECK
    return [*bars, f'<path class="limit" d="M{scale.at(1)} {_TOP}V{y}"/>', *headings], y


def _limit(verdict: Verdict, y: int, scale: _Scale) -> Iterator[str]:
    """One limit: who against whom, the bar with its spread, and the figures."""
    yield _text(_LEFT - 12, y + 14, _short(verdict.what, _LETTERS), "end")
    yield _text(_LEFT - 12, y + 29, _short(f"against {verdict.against}", _LETTERS), "soft end")
    if verdict.ratio is not None and verdict.quartiles is not None:
        kind, end = "met" if verdict.met else "missed", scale.at(_used(verdict))
        yield f'<rect class="{kind}" x="{_LEFT}" y="{y + 9}" width="{end - _LEFT:g}" height="{_BAR}" rx="2"/>'
        low, high = (scale.at(_used(verdict, ratio)) for ratio in verdict.quartiles)
        yield f'<path class="spread" d="M{low:g} {y + 16}H{high:g}M{low:g} {y + 12}v8M{high:g} {y + 12}v8"/>'
    yield _text(_RIGHT + 12, y + 21, _figures(verdict, scale), "" if verdict.met else "missed")


def _figures(verdict: Verdict, scale: _Scale) -> str:
    """What stands behind a bar; a mark says that it is longer than there was room for."""
    if verdict.ratio is None:
        return "not measured"
    beyond = "» " if _used(verdict) > scale.end else ""
    return f"{beyond}{figure(verdict.ratio)} × of {verdict.at_most or 0:g} ×{'' if verdict.met else ', missed'}"


def _check(verdict: Verdict, y: int) -> Iterator[str]:
    """Something that holds or does not: no bar."""
    yield _text(_LEFT - 12, y + 15, _short(verdict.what, _LETTERS), "end")
    yield _text(_RIGHT + 12, y + 15, "met" if verdict.met else "missed", "" if verdict.met else "missed")


def _short(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "…"


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'
