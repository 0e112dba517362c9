"""The hooks that a command works on: those of the files that were named, or of the files that are found."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from ..dialects import NAMES as DIALECTS
from ..errors import UsageError
from ..hooks import Hooks
from .render import paint, print_problem

if TYPE_CHECKING:
    from ..config.load import Origin

__all__ = ["HooksSource", "change_directory", "current_directory", "files_of", "load_hooks", "load_hooks_of_event",
           "report_files", "trace_from_environment"]  # fmt: skip


class HooksSource(Protocol):
    """Gives hooks as the class ``Hooks`` does; the resident engine has one that keeps them."""

    elsewhere: type[Exception]
    """Raised if another process has to fire the event; nothing was fired."""

    def load(self, *paths: str, dialect: str | None, lines: bool) -> Hooks:
        """Return the hooks of named files."""

    def discover(self, cwd: str, *, dialect: str | None, lines: bool, changed: str, required: bool) -> Hooks:
        """Return the hooks of the files that are found for a directory."""


def load_hooks(
    config: list[str],
    dialect: str | None,
    cwd: str | None,
    *,
    lines: bool = True,
    require: bool = False,
    source: HooksSource | type[Hooks] = Hooks,
) -> Hooks:
    """Load the named files, or those found from ``cwd`` upwards; ``lines`` records the line of each hook.

    A found file that has changed is loaded as it was trusted. ``require`` raises ConfigError if nothing is trusted.
    """
    if dialect not in (None, *DIALECTS):
        raise UsageError(f"--dialect: there is no dialect {dialect}", hint=" or ".join(DIALECTS))
    # Paths on the command line are relative to the directory of the caller, not to --cwd.
    named = [os.path.abspath(path) for path in config]
    change_directory(cwd)
    if named:
        return source.load(*named, dialect=dialect, lines=lines)
    return source.discover(current_directory(), dialect=dialect, lines=lines, changed="keep", required=require)


def load_hooks_of_event(
    dialect: str | None, event: Mapping[str, Any], *, require: bool, source: HooksSource | type[Hooks] = Hooks
) -> Hooks:
    """Load the files that are found for an event. A changed file is loaded as it was trusted.

    The project of the session comes first, which its first event has set; then that of the host
    (``CLAUDE_PROJECT_DIR``), then the event's directory, then the current one: an agent can change to a directory in
    which nothing is found. ``require`` raises ConfigError if nothing is trusted.
    """
    from ..config.session_projects import keep_project, project_of_session
    from ..handlers.projects import VARIABLE, can_be_directory

    if dialect not in (None, *DIALECTS):
        raise UsageError(f"--dialect: there is no dialect {dialect}", hint=" or ".join(DIALECTS))
    session = event.get("session_id")
    project = project_of_session(session)
    if not project:
        given = [os.environ.get(VARIABLE, ""), event.get("cwd")]
        places = [str(place) for place in given if can_be_directory(place) and os.path.isabs(str(place))]
        project, is_trusted = _first_project([*places, current_directory()], dialect)
        if is_trusted:
            # A link could lead elsewhere later, unless it leads out of the project already.
            if (real := os.path.realpath(project)) != project:
                project, _ = _first_project([real, project], dialect)
            keep_project(session, project)
    return source.discover(project, dialect=dialect, lines=False, changed="keep", required=require)


def _first_project(directories: list[str], dialect: str | None) -> tuple[str, bool]:
    """Return the first directory with a trusted file of a project, else the first with any, else the last one."""
    from ..config.find import find_sources, is_trusted
    from ..handlers.projects import OF_NO_PROJECT

    any_found = ""
    for directory in dict.fromkeys(directories):
        found = [source for source in find_sources(directory, dialect) if source.layer not in OF_NO_PROJECT]
        if any(is_trusted(source) for source in found):
            return directory, True
        any_found = any_found or (directory if found else "")
    return any_found or directories[-1], False


def report_files(hooks: Hooks, command: str) -> None:
    """Print which files that were found are not armed, and which are armed as they were trusted."""
    doubtful = {origin.source.path for origin in hooks.origins if not origin.trusted or origin.changes}
    for problem in hooks.warnings:
        if problem.where in doubtful:
            print_problem(problem, command)


def files_of(origins: Iterable[Origin]) -> list[dict[str, Any]]:
    """Return the files that hooks come from as JSON."""
    return [
        {"path": origin.source.path, "layer": origin.source.layer, "trusted": origin.trusted,
         "snapshot": origin.snapshot or None, "live": [dict(entry) for entry in origin.live],
         "changes": [{"path": path, "change": how} for path, how in origin.changes]}
        for origin in origins
    ]  # fmt: skip


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


_ENDPOINTS = tuple(f"OTEL_EXPORTER_OTLP_{signal}ENDPOINT" for signal in ("", "TRACES_", "METRICS_"))


def trace_from_environment(hooks: Hooks, *, closing: float = 3.0) -> Callable[[], None]:
    """Trace firings if OTEL_EXPORTER_OTLP_…ENDPOINT variables ask for it; return a function that ends the tracing.

    If tracing cannot start, a warning is printed and the firing goes on.
    """
    if not any(name in os.environ for name in _ENDPOINTS):
        return _do_nothing
    from ..telemetry.configure import configure_from_environment

    try:
        return configure_from_environment(hooks, closing=closing)
    except UsageError as error:
        print(f"{paint('warning', 'yellow', stream=sys.stderr)}: nothing is traced: {error}", file=sys.stderr)
        return _do_nothing


def _do_nothing() -> None:
    pass
