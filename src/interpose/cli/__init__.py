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

__all__ = ["INTERRUPTED", "end_process", "fire_event", "fire_resident", "is_hook", "main", "say_failure"]

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        if given[:1] == ["fire"] and is_hook(given):
            _forget_python_path()
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


def _forget_python_path() -> None:
    """Import nothing from the folders of PYTHONPATH: settings of a project may have set it for the hook.

    What Python itself has imported before is beyond this; ``python -I`` starts without the variable.
    """
    import os

    given = os.environ.pop("PYTHONPATH", "")
    folders = {os.path.abspath(folder) for folder in given.split(os.pathsep) if folder}
    if folders and not sys.flags.ignore_environment:
        sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) not in folders or not folder]


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


def say_failure(given: Sequence[str], error: BaseException, event: str = "", agent: str = "") -> int:
    """Answer as a hook that nothing could be decided, in the words of its host; return the exit status.

    It knows the command line alone, unless the event and the agent are given. What it says is on standard error.
    """
    words = list(given)
    agent = agent or _option(words, "--reply") or "claude"
    event = event or _event_in(words)
    try:
        from ..dialects.agents import AGENTS, agent_dialect

        answer = agent_dialect(agent if agent in AGENTS else "claude").write_failure(event, _text_of(error))
        if answer.stdout:
            sys.stdout.write(answer.stdout)
            sys.stdout.flush()
    except Exception:
        return 1 if event in ("Stop", "SubagentStop") else 2
    return answer.status


def _text_of(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if type(error).__module__.startswith("interpose") else f"{type(error).__name__}: {text}"


def _option(words: Sequence[str], name: str) -> str:
    """Return the last value of an option; empty without one."""
    value = ""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word == name or word.startswith(f"{name}="):
            value = after if word == name else word[len(name) + 1 :]
    return value


def _event_in(words: Sequence[str]) -> str:
    """Return the event that a command line names, which may be wrong in other ways; empty if it names none."""
    from .fire import OPTIONS

    rest = iter(words)
    for word in rest:
        if word in OPTIONS:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def fire_event(given: list[str]) -> int:
    """Fire an event. As a hook it fails closed: an internal error and Ctrl-C deny."""
    try:
        from .fire import run

        return run(given)
    except BaseException as error:
        if not is_hook(given):
            raise
        return _fail(given, error)


async def fire_resident(given: list[str], source: Any, executor: Any, redirected: Any) -> int:
    """Do what ``fire_event`` does, in the resident engine: with hooks that a ``loading.HooksSource`` keeps.

    Standard output is already the caller's, and ``redirected()`` is what sends it to standard error.
    """
    try:
        from .fire import fire

        return (await fire(given, source, executor, redirected))[0]
    except BaseException as error:
        if not is_hook(given) or isinstance(error, (source.elsewhere, GeneratorExit)):
            raise
        return _fail(given, error)


def _fail(given: list[str], error: BaseException) -> int:
    print(f"interpose fire: {type(error).__name__}: {error} (nothing was decided, so this denies)", file=sys.stderr)
    from .render.streams import discard_stdout, drop_unwritten

    drop_unwritten()
    status = say_failure(given, error)
    discard_stdout()  # what hooks print from now on is not part of the answer
    return status
