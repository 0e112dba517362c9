"""Keep standard output for the command's own words: what hooks print there goes elsewhere, or is collected."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

__all__ = ["collected", "on_stderr", "without_log"]


def without_log() -> None:
    """Keep the log of failed hooks off the screen: the command tells of them itself, in its own place."""
    import logging

    logging.getLogger("interpose").addHandler(logging.NullHandler())


@contextmanager
def on_stderr() -> Iterator[None]:
    """Let whatever is written on standard output, also by a child that inherits it, come out on standard error."""
    with redirect_stdout(sys.stderr), _into(2):
        yield


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect what is written on standard output meanwhile; it is in the list afterwards."""
    printed: list[str] = []
    with tempfile.TemporaryFile() as theirs:
        try:
            with (
                open(theirs.fileno(), "w", encoding="utf-8", errors="replace", closefd=False) as stream,
                redirect_stdout(stream),
                _into(theirs.fileno()),
            ):
                yield printed
        finally:
            theirs.seek(0)
            printed.append(theirs.read(10_000).decode("utf-8", "replace"))


@contextmanager
def _into(descriptor: int) -> Iterator[None]:
    """Have the descriptor of standard output lead elsewhere."""
    if sys.__stdout__ is not None:
        sys.__stdout__.flush()
    ours = os.dup(1)
    os.dup2(descriptor, 1)
    try:
        yield
    finally:
        os.dup2(ours, 1)
        os.close(ours)
