"""Texts for pages. Agents write most of what is shown: nothing in it may hide, move or hide behind other text."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape

from ...runtime.regex import regex

__all__ = ["LONGEST_TEXT", "ago", "as_json", "brief", "call_of", "clock", "day", "duration", "marked", "part",
           "path_of", "query", "session_path", "telling", "visible", "when", "zone"]  # fmt: skip

LONGEST_TEXT = 60_000
"""How many characters of one text a page shows; the document behind it has all of them."""

# Control characters, bidirectional marks, zero-width and other characters that show nothing, and lone surrogates.
_HIDDEN = regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
# Blanks and empty lines that push the rest out of sight, and marks that cover the lines above and below.
_BLANKS = regex("[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]{40,}")
_LINES = regex("(?:[ \t\r]*\n){8,}")
_STACKED = regex(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0e31-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4,}"
)
_TELLING = ("command", "file_path", "notebook_path", "path", "url", "pattern", "query", "description", "prompt")
"""The fields of a tool's input of which the first one stands for the call."""


def _escape(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def visible(text: str) -> str:
    """Return text with every character that shows nothing as an escape; line ends and tabs stay."""
    return _HIDDEN.sub(_escape, text) if not text.isascii() or not text.isprintable() else text


def marked(text: object, most: int = LONGEST_TEXT) -> Markup:
    """Return text as HTML, in which hidden characters and long blanks are marked, and what is cut is counted."""
    whole = text if isinstance(text, str) else as_json(text)
    shown, left = whole[:most], len(whole) - most
    pieces, at = [], 0
    for found in _MARKED.finditer(shown):
        pieces.append(escape(shown[at : found.start()]))
        one = found[0]
        if found.lastgroup == "lines":
            said = f"[{one.count(chr(10)):,} empty lines]"
        else:
            said = f"[{len(one):,} blanks]" if found.lastgroup == "blanks" else _escape(found)
        pieces.append(Markup('<span class="hidden-character">{}</span>').format(said))
        at = found.end()
    pieces.append(escape(shown[at:]))
    if left > 0:
        pieces.append(Markup(' <span class="cut">… {:,} more characters</span>').format(left))
    return Markup("").join(pieces)


_MARKED = regex(f"(?P<lines>{_LINES.pattern})|(?P<blanks>{_BLANKS.pattern})|{_HIDDEN.pattern}|{_STACKED.pattern}")


def as_json(value: Any) -> str:
    """Return a value as readable JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=repr)


def brief(text: object, most: int = 160) -> str:
    """Return the beginning of a text on one line."""
    whole = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=repr)
    line = " ".join(visible(whole[: most * 4]).split())
    return f"{line[: most - 1]}…" if len(line) > most or len(whole) > most * 4 else line


def telling(given: object) -> str:
    """Return the part of a tool's input that says most about the call, such as its command."""
    if not isinstance(given, Mapping):
        return given if isinstance(given, str) else ""
    for name in _TELLING:
        if isinstance(text := given.get(name), str) and text:
            return text
    return next((value for value in given.values() if isinstance(value, str) and value), "")


def call_of(fields: Mapping[str, Any]) -> str:
    """Return what an event is about in one line: its call, its prompt or its message."""
    if text := telling(fields.get("tool_input")):
        return brief(text)
    for name in ("prompt", "message", "output", "reason", "error"):
        if isinstance(found := fields.get(name), str) and found:
            return brief(found)
    return ""


def path_of(text: str) -> str:
    """Return text as the path of an address."""
    return quote(text.encode("utf-8", "replace"), safe="/")


def part(text: str) -> str:
    """Return text as a part of an address; a lone surrogate, which no address has, becomes a question mark."""
    return quote(text.encode("utf-8", "replace"), safe="")


def query(fields: Mapping[str, Any]) -> str:
    """Return fields as the query of an address."""
    return urlencode({name: str(value).encode("utf-8", "replace") for name, value in fields.items()})


def session_path(id: str) -> str:
    """Return where a session is shown; browsers take a path that ends in dots for another one."""
    is_path = id not in (".", "..") and not id.endswith(".json")
    return f"/sessions/{part(id)}" if is_path else f"/sessions?id={part(id)}"


_UNITS = (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))


def ago(moment: float | None, now: float | None = None) -> str:
    """Return how long ago a moment was: ``3m ago``."""
    if moment is None:
        return "never"
    seconds = (time.time() if now is None else now) - moment
    if seconds < 1:
        return "now"
    unit, size = next((unit, size) for unit, size in _UNITS if seconds >= size)
    return f"{seconds // size:.0f}{unit} ago"


def _local(moment: float) -> time.struct_time | None:
    """Return a moment in local time; None if it is too far away."""
    try:
        return time.localtime(moment)
    except (ValueError, OverflowError, OSError):
        return None


def clock(moment: float | None, *, full: bool = False) -> str:
    """Return a moment in local time."""
    if moment is None:
        return ""
    local = _local(moment)
    if local is None:
        return "?"
    if not full:
        return time.strftime("%H:%M:%S", local)
    minutes = local.tm_gmtoff // 60
    offset = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', local)}.{int(moment % 1 * 1000 + 0.001):03}{offset}"


def day(moment: float) -> str:
    """Return a moment with its day, in local time."""
    return clock(moment, full=True)[:19].replace(" ", ", ", 1)


def zone(moment: float) -> str:
    """Return the time zone of this machine at a moment: ``UTC+01:00``."""
    return f"UTC{clock(moment, full=True)[23:]}"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def when(moment: float, now: float | None = None) -> str:
    """Return a moment for a list: the time if it is today, else the day and the time."""
    local, today = _local(moment), time.localtime(now)
    if local is None:
        return "?"
    if (local.tm_year, local.tm_yday) == (today.tm_year, today.tm_yday):
        return time.strftime("%H:%M:%S", local)
    year = f" {local.tm_year}" if local.tm_year != today.tm_year else ""
    return f"{local.tm_mday} {_MONTHS[local.tm_mon - 1]}{year} {time.strftime('%H:%M', local)}"


def duration(seconds: float) -> str:
    """Return a duration with two or three digits."""
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    if seconds >= 99.95:
        return f"{seconds / 60:.1f} min"
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    milliseconds = seconds * 1000
    return f"{milliseconds:.0f} ms" if milliseconds >= 9.95 else f"{milliseconds:.2g} ms" if milliseconds else "0"
