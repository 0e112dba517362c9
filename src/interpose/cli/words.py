"""How every command speaks: complaints on standard error, text that is safe to show, colours where somebody looks.

Standard library only.
"""

from __future__ import annotations

import os
import sys
from typing import IO

from ..errors import ConfigError, InterposeError, Problem
from ..replies import clean

__all__ = ["complain", "complain_of", "cut", "flat", "hush", "is_coloured", "mistakes_of", "nearby", "paint", "visible"]

_CODES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "bold": "1", "dim": "2"}


def is_coloured(stream: IO[str] | None) -> bool:
    """Say whether colours make sense: on a terminal, unless the person has said otherwise."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream is not None and stream.isatty()  # there is none where its descriptor was closed


def paint(text: str, *colours: str, stream: IO[str] | None = None) -> str:
    """Return the text in colours, or as it is where nobody would see them."""
    if not colours or not text or not is_coloured(stream or sys.stdout):
        return text
    return f"\x1b[{';'.join(_CODES[colour] for colour in colours)}m{text}\x1b[0m"


def flat(text: str) -> str:
    """Return text on one line, without what a terminal would obey."""
    return " ".join(clean(text).split())


def visible(text: str) -> str:
    """Return text in which what a terminal would obey can be seen: for what is run, of which no part may be hidden.

    Line ends and tabs stay as they are.
    """
    if text.isprintable():
        return text
    letters = text.replace("\r\n", "\n")
    return "".join(one if one.isprintable() or one in "\n\t" else ascii(one)[1:-1] for one in letters)


def cut(text: str, most: int) -> str:
    """Return at most so many letters of a text; what was cut off leaves a mark."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def mistakes_of(error: InterposeError) -> tuple[Problem, ...]:
    """Return every problem that an error is about."""
    return error.problems if isinstance(error, ConfigError) else (error.problem,)


def complain(error: InterposeError, command: str) -> None:
    """Write an error to standard error as ``where: what (what to do)``."""
    for problem in mistakes_of(error):
        complain_of(problem, command)


def complain_of(problem: Problem, command: str) -> None:
    """Write one problem; where it has no place of its own, the command is the place."""
    place = problem.where or f"interpose {command}".strip()
    advice = f" ({problem.hint})" if problem.hint else ""
    # Names and values from files and events are shown without what a terminal would obey.
    print(f"{paint(clean(place), 'bold', stream=sys.stderr)}: {clean(problem.what + advice)}", file=sys.stderr)


def hush() -> None:
    """Let nothing more be written: a reader has gone, and Python would complain of that once more when it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        pass  # no file stands behind it, so nothing can be written there anyway


def nearby(path: str) -> str:
    """Return a path, or a place in a file, as seen from here, where that is shorter."""
    try:
        near = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return near if os.path.isabs(path) and not near.startswith("..") else path
