"""Ask the person at the terminal; where there is none, nobody has said yes."""

from __future__ import annotations

import sys

__all__ = ["confirm", "somebody_is_there"]


def somebody_is_there() -> bool:
    """Say whether a question would be seen and could be answered."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> bool:
    """Ask, and return whether the answer was a clear yes."""
    # On standard error, so that a question never ends up in a file that was meant for the answer of the command.
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
