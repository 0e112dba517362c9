"""How every command prints: colours, safe text, paths, times, and errors on standard error. Standard library only."""

from __future__ import annotations

import os
import sys
from typing import IO

from ...errors import ConfigError, InterposeError, Problem
from ...replies import clean

__all__ = [
    "clock_time", "count_armed", "cut", "escape", "flat", "format_duration", "is_coloured", "on_one_line", "paint",
    "plural", "print_error", "print_problem", "problems_of", "short_path", "time_since",
]  # fmt: skip

_CODES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "bold": "1", "dim": "2"}


def is_coloured(stream: IO[str] | None) -> bool:
    """Return whether to print colours: on a terminal, unless NO_COLOR, FORCE_COLOR or TERM say otherwise."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream is not None and stream.isatty()  # it is None if its descriptor was closed


def paint(text: str, *colours: str, stream: IO[str] | None = None) -> str:
    """Return the text in colours if the stream shows them; the stream is standard output by default."""
    if not colours or not text or not is_coloured(stream or sys.stdout):
        return text
    return f"\x1b[{';'.join(_CODES[colour] for colour in colours)}m{text}\x1b[0m"


def flat(text: str) -> str:
    """Return text on one line, without control characters."""
    return " ".join(clean(text).split())


def escape(text: str) -> str:
    """Return text with control characters as escapes, so that nothing is hidden; line ends and tabs stay."""
    if text.isprintable():
        return text
    letters = text.replace("\r\n", "\n")
    return "".join(one if one.isprintable() or one in "\n\t" else ascii(one)[1:-1] for one in letters)


def on_one_line(text: str) -> str:
    """Return text on one line, with every control character and line end as an escape."""
    return escape(text).replace("\n", "\\n").replace("\t", "\\t")


def plural(count: int, noun: str, many: str = "") -> str:
    """Return a number with its noun: ``1 record``, ``2 records``; ``many`` is an irregular plural."""
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"


def cut(text: str, most: int) -> str:
    """Return at most so many characters of a text; an ellipsis marks the cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def count_armed(hooks: int, policies: int) -> str:
    """Return how many hooks there are, and how many policies, which may be several hooks each."""
    said = [f"{hooks} hook{'' if hooks == 1 else 's'}"] if hooks or not policies else []
    said += [f"{policies} polic{'y' if policies == 1 else 'ies'}"] if policies else []
    return " and ".join(said)


def problems_of(error: InterposeError) -> tuple[Problem, ...]:
    """Return all problems of an error."""
    return error.problems if isinstance(error, ConfigError) else (error.problem,)


def print_error(error: InterposeError, command: str) -> None:
    """Print an error to standard error, one line per problem: ``where: what (hint)``."""
    for problem in problems_of(error):
        print_problem(problem, command)


def print_problem(problem: Problem, command: str) -> None:
    """Print one problem to standard error; a problem without a place is the command's."""
    place = problem.where or f"interpose {command}".strip()
    advice = f" ({problem.hint})" if problem.hint else ""
    # Names and values from files and events may contain control characters.
    print(f"{paint(clean(place), 'bold', stream=sys.stderr)}: {clean(problem.what + advice)}", file=sys.stderr)


def short_path(path: str) -> str:
    """Return a path relative to the current directory if it lies below it; also a path with a line number."""
    try:
        near = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return near if os.path.isabs(path) and not near.startswith("..") else path


_UNITS = {"w": 604_800, "d": 86_400, "h": 3600, "m": 60}


def clock_time(moment: float, *, full: bool = False) -> str:
    """Return a moment in local time; ``full`` adds the year, milliseconds and the time zone."""
    from datetime import UTC, datetime

    try:
        local = datetime.fromtimestamp(moment, UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return "?"
    return local.isoformat(sep=" ", timespec="milliseconds") if full else local.strftime("%m-%d %H:%M:%S")


def time_since(moment: float | None, now: float) -> str:
    """Return how long ago a moment was, in one unit: ``3h ago``."""
    if moment is None:
        return "never"
    seconds = max(0.0, now - moment)
    for unit, size in _UNITS.items():
        if seconds >= size:
            return f"{seconds // size:.0f}{unit} ago"
    return f"{seconds:.0f}s ago"


def format_duration(seconds: float) -> str:
    """Return a duration with two or three digits: ``1.2 ms``, ``45 ms``, ``3.1 s``."""
    if seconds >= 99.95:
        return f"{seconds:.0f} s"
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    milliseconds = seconds * 1000
    return f"{milliseconds:.0f} ms" if milliseconds >= 9.95 else f"{milliseconds:.2g} ms" if milliseconds else "0 ms"
