"""How long a client waits for its answer, as far as it says so."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

__all__ = ["before_deadline", "deadline_in", "seconds_of"]


def seconds_of(text: str) -> float:
    """Return a number of seconds; infinity if it is none: ``interpose fire`` says what is wrong with it."""
    try:
        seconds = float(text)
    except ValueError:
        return inf
    return seconds if seconds > 0 else inf


def deadline_in(arguments: Sequence[str]) -> float:
    """Return the seconds that ``--deadline`` gives in the arguments of ``interpose fire``; infinity without it."""
    found = inf
    for word, after in zip(arguments, [*arguments[1:], ""], strict=True):
        if word == "--deadline":
            found = seconds_of(after)
        elif word.startswith("--deadline="):
            found = seconds_of(word.partition("=")[2])
    return found


def before_deadline(seconds: float) -> float:
    """Return the time in which an event must be answered or refused, so that the client still gets it."""
    return seconds if seconds == inf else seconds - max(0.05 * seconds, min(1.0, 0.25 * seconds))
