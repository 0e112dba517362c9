"""Text in columns of a terminal, in which some letters take two and others none."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator

__all__ = ["folded", "narrowed", "sized", "wide"]


def wide(text: str) -> int:
    """Return how many columns a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def narrowed(text: str, most: int) -> str:
    """Return text in at most so many columns; what was cut off leaves a mark."""
    return text if wide(text) <= most else sized(text, most)


def sized(text: str, width: int, *, right: bool = False) -> str:
    """Return text in exactly so many columns; what was cut off leaves a mark."""
    missing = width - wide(text)
    if missing >= 0:
        return " " * missing + text if right else text + " " * missing
    return "".join(_beginning(text, width - 1)) + "…" if width > 0 else ""


def _beginning(text: str, width: int) -> Iterator[str]:
    for letter in text:
        width -= wide(letter)
        if width < 0:
            return
        yield letter


def folded(text: str, indent: int) -> list[str]:
    """Return text in lines that fit a terminal behind an indentation; anywhere else in one line."""
    if not sys.stdout.isatty():
        return [text]
    space = max(20, shutil.get_terminal_size().columns - indent)
    return textwrap.wrap(text, space, break_long_words=False, break_on_hyphens=False)
