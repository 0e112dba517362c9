"""The hooks that a command works on: those of the files that were named, or of the files that are found."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from ..dialects import NAMES as DIALECTS
from ..errors import ConfigError, Problem, UsageError
from ..hooks import Hooks
from .render import paint

__all__ = ["change_directory", "current_directory", "load_hooks", "load_hooks_of_event", "refuse_changed_files",
           "trace_from_environment"]  # fmt: skip


def load_hooks(config: list[str], dialect: str | None, cwd: str | None, *, lines: bool = True) -> Hooks:
    """Load the named files, or those found from ``cwd`` upwards; ``lines`` records the line of each hook."""
    if dialect not in (None, *DIALECTS):
        raise UsageError(f"--dialect: there is no dialect {dialect}", hint=" or ".join(DIALECTS))
    # Paths on the command line are relative to the directory of the caller, not to --cwd.
    named = [os.path.abspath(path) for path in config]
    change_directory(cwd)
    if named:
        return Hooks.load(*named, dialect=dialect, lines=lines)
    return Hooks.discover(current_directory(), dialect=dialect, lines=lines)


def load_hooks_of_event(dialect: str | None, event_cwd: object) -> Hooks:
    """Load the files that are found for an event, and refuse changed ones.

    The project of the host (``CLAUDE_PROJECT_DIR``) comes first, then the event's directory, then the current one: an
    agent can change to a directory in which nothing is found.
    """
    from ..config.load import find_sources
    from ..handlers.projects import VARIABLE, can_be_directory

    if dialect not in (None, *DIALECTS):
        raise UsageError(f"--dialect: there is no dialect {dialect}", hint=" or ".join(DIALECTS))
    looked: list[str] = []
    for directory in (os.environ.get(VARIABLE, ""), event_cwd, None):
        if directory is None or (can_be_directory(directory) and os.path.isabs(str(directory))):
            looked.append(str(directory or current_directory()))
            if any(source.layer != "user" for source in find_sources(looked[-1], dialect)):
                break
    hooks = Hooks.discover(looked[-1], dialect=dialect, lines=False)
    for directory in looked:
        refuse_changed_files(hooks, dialect, directory)
    return hooks


def refuse_changed_files(hooks: Hooks, dialect: str | None, cwd: str | None = None) -> None:
    """Raise ConfigError if a trusted file has changed or is gone.

    Otherwise an agent could disable its guards by changing or removing the configuration.
    """
    from ..config.trust import TrustStore

    store = TrustStore()
    found = [origin.real_path for origin in hooks.origins]
    changed = {origin.source.path for origin in hooks.origins if not origin.trusted and store.knows(origin.real_path)}
    problems = [problem for problem in hooks.warnings if problem.where in changed]
    problems += [
        Problem("was trusted, and is gone", where=path, hint=f"put it back, or: interpose trust --forget {path}")
        for path in store.gone(cwd or current_directory(), found, ".claude" if dialect == "claude" else ".interpose")
    ]
    if problems:
        raise ConfigError(problems)


def change_directory(cwd: str | None) -> None:
    """Change into the directory of ``--cwd``, if it was given."""
    if cwd is None:
        return
    try:
        os.chdir(cwd)
    except OSError as error:
        raise UsageError(f"--cwd {cwd}: {error.strerror}", hint="check the path") from None


def current_directory() -> str:
    """Return the current directory, or raise UsageError if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        raise UsageError("the current directory is gone", hint="cd to another, or use --cwd") from None


def trace_from_environment(hooks: Hooks, *, closing: float = 3.0) -> Callable[[], None]:
    """Trace firings if OTEL_EXPORTER_OTLP_* variables ask for it; return a function that ends the tracing.

    If tracing cannot start, a warning is printed and the firing goes on.
    """
    if not any(name.startswith("OTEL_EXPORTER_OTLP_") for name in os.environ):
        return _do_nothing
    from ..telemetry.configure import configure_from_environment

    try:
        return configure_from_environment(hooks, closing=closing)
    except UsageError as error:
        print(f"{paint('warning', 'yellow', stream=sys.stderr)}: nothing is traced: {error}", file=sys.stderr)
        return _do_nothing


def _do_nothing() -> None:
    pass
