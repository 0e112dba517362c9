"""Keep standard output for the command's own words: what hooks print there goes elsewhere, or is collected."""

from __future__ import annotations

import fcntl
import os
import sys
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
    import tempfile

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
    try:
        ours = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)  # above standard error, whose number is free if it is closed
    except OSError:  # it is closed, and what is written there gets nowhere as it is
        yield
        return
    try:
        _lead_to(descriptor)
        yield
    finally:
        os.dup2(ours, 1)
        os.close(ours)


def _lead_to(descriptor: int) -> None:
    try:
        os.dup2(descriptor, 1)
    except OSError:  # that one is closed: nobody wants to see it
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
