"""The command line: ``interpose COMMAND``. Each command is a file or a folder; only the one that is called is loaded.

Other programs call ``interpose fire`` at every event, so it has a path of its own: it loads the standard library and
what a firing needs, and neither typer nor rich.
"""

from __future__ import annotations

import codecs
import gc
import io
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

__all__ = ["INTERRUPTED", "end_process", "fire_event", "is_hook", "main"]

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        from .render.streams import prepare_streams

        prepare_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="interpose")  # a character that the terminal's encoding lacks is replaced
    try:
        if given[:1] == ["fire"] and not _asks_for_help(given[1:]):
            if arguments is not None:
                return fire_event(given[1:])
            gc.disable()  # the process ends soon, and keeps everything that it loads until then
            end_process(fire_event(given[1:]))
        return _run(given)
    except KeyboardInterrupt:
        return INTERRUPTED


def _asks_for_help(given: Sequence[str]) -> bool:
    """Return whether ``fire`` is asked for its help; the value of an option may be ``-h`` too: a model chooses it."""
    if not {"-h", "--help"} & set(given):
        return False
    from .fire import OPTIONS

    words = iter(given)
    for word in words:
        if word in ("-h", "--help"):
            return True
        if word in OPTIONS:
            next(words, None)
    return False


def _run(given: list[str]) -> int:
    """Run a command other than ``fire``; if its output cannot be written, print why and return 1.

    If the reader of its output goes away, a command that is done keeps its status; another ends with 1, silently.
    """
    from .render.streams import discard_stdout, report_lost_output, stdout_error, watch_stdout

    watch_stdout()
    if (error := stdout_error()) is not None:
        report_lost_output(error)
        return 1
    status = 1
    try:
        from .app import run

        status = run(given)
        print(end="", flush=True)  # raises here if the output cannot be written, not when Python exits
    except BrokenPipeError:
        discard_stdout()
        return status
    except OSError:
        if (error := stdout_error()) is None:
            raise
        report_lost_output(error)
        return 1
    return status


_REPLACEMENTS = {"✓": "+", "✗": "x", "●": "*", "›": ">", "↳": ">", "·": "-", "…": "...", "→": "->"}
"""ASCII for our marks, so that yes and no differ in every encoding."""


def _replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_REPLACEMENTS.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


codecs.register_error("interpose", _replace_unencodable)


def end_process(status: int) -> NoReturn:
    """End the process as Python does, without the time that it spends on freeing memory."""
    import atexit
    import os
    import threading

    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # None if its descriptor was closed
                stream.flush()
    except OSError:
        pass  # the output is lost, the decision stands
    os._exit(status)


def is_hook(given: Sequence[str]) -> bool:
    """Return whether ``fire`` is called as a hook; then a mistake in the rest of the command line denies."""
    return any(word == "--reply" or word.startswith("--reply=") for word in given)


def fire_event(given: list[str], source: Any = None) -> int:
    """Fire an event. As a hook it fails closed: an internal error and Ctrl-C deny.

    ``source`` gives the hooks, as ``loading.HooksSource`` says; without one they are loaded.
    """
    try:
        from .fire import run

        return run(given) if source is None else run(given, source)
    except BaseException as error:
        if not is_hook(given) or (source is not None and isinstance(error, source.elsewhere)):
            raise
        print(f"interpose fire: {type(error).__name__}: {error} (nothing was decided, so this denies)", file=sys.stderr)
        from .render.streams import discard_stdout

        discard_stdout()  # half a reply must not be read as one
        return 2
