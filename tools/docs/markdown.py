"""Markdown from data: tables and code spans whose text cannot break them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["code", "listed", "plain", "table"]


def code(text: object) -> str:
    """Return text as a code span."""
    return f"`{text}`"


def plain(text: str) -> str:
    """Return text in which nothing but code spans has a meaning."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[\]])", r"\\\1", part) for part in parts)


def listed(words: Sequence[str], last: str = "or") -> str:
    """Return words as a person lists them: one, two or three."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a column that is empty in every row is left out."""
    body = [list(row) for row in rows]
    kept = [at for at in range(len(head)) if any(row[at] for row in body)]
    lines = [[head[at] for at in kept], ["---"] * len(kept), *([_cell(row[at]) for at in kept] for row in body)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(text: str) -> str:
    """Return text that stays in its cell; some readers of Markdown keep a backslash that stands in a code span."""
    text = re.sub(r"`([^`]*\|[^`]*)`", lambda found: f"<code>{escape(found[1], quote=False)}</code>", text)
    parts = re.split(r"(<code>.*?</code>)", " ".join(text.split()))
    return "".join(part.replace("|", "&#124;" if part.startswith("<code>") else "\\|") for part in parts)
