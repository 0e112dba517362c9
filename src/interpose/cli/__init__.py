"""The command line: ``interpose COMMAND``. A file per command; only the one that is called is loaded.

``fire`` is what other programs call at every event, so it goes its own way: it loads the standard library and what a
firing needs, and none of what makes help, colour and tables.
"""

from __future__ import annotations

import codecs
import gc
import io
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["INTERRUPTED", "is_hook", "main"]

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="interpose")  # a terminal that lacks a letter is no reason to fail
    try:
        if given[:1] == ["fire"] and not {"-h", "--help"} & set(given):
            if arguments is not None:
                return _fire(given[1:])
            gc.disable()  # what is loaded now stays until the end, which is soon
            _leave(_fire(given[1:]))
        from .app import run

        status = run(given)
        print(end="", flush=True)  # a reader who has gone is noticed here, not when Python ends
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        from .words import hush

        hush()
        return 0
    return status


_PLAIN = {"✓": "+", "✗": "x", "●": "*", "›": ">", "↳": ">", "·": "-", "…": "...", "→": "->"}
"""Letters for a terminal that lacks ours: what was done and what was refused must not look the same."""


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Return letters for those that a stream cannot write."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


codecs.register_error("interpose", _plainly)


def _leave(status: int) -> NoReturn:
    """End this process as Python would, but for taking apart what the system takes back anyway."""
    import atexit
    import os
    import threading

    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # as it is where the descriptor was closed
                stream.flush()
    except BrokenPipeError:
        status = status or 0  # the reader has gone; what was decided stands
    os._exit(status)


def is_hook(given: Sequence[str]) -> bool:
    """Say whether ``fire`` is called as a hook, which decides what a mistake means, also one in reading the rest."""
    return any(word == "--reply" or word.startswith("--reply=") for word in given)


def _fire(given: list[str]) -> int:
    """Fire an event. As a hook it fails closed: what breaks in here, and Ctrl-C, has not allowed anything."""
    try:
        from .fire import run

        return run(given)
    except BaseException as error:
        if not is_hook(given):
            raise
        print(f"interpose fire: {type(error).__name__}: {error} (nothing was decided, so this denies)", file=sys.stderr)
        from .words import hush

        hush()  # half a reply is none
        return 2
