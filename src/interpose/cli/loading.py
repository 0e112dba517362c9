"""The hooks that a command is about: of the files that were named, or of those that are found."""

from __future__ import annotations

import os

from ..errors import ConfigError, Problem, UsageError
from ..hooks import Hooks

__all__ = ["enter", "here", "hooks_of", "refuse_disarmed"]


def hooks_of(config: list[str], dialect: str | None, cwd: str | None, *, lines: bool = True) -> Hooks:
    """Return the hooks of the named files, else of those found from a directory on; ``lines`` has them know theirs."""
    if dialect not in (None, "native", "claude"):
        raise UsageError(f"--dialect: there is no dialect {dialect}", hint="native or claude")
    # A file is named from where the person stands, wherever its hooks run.
    named = [os.path.abspath(path) for path in config]
    enter(cwd)
    if named:
        return Hooks.load(*named, dialect=dialect, lines=lines)
    return Hooks.discover(here(), dialect=dialect, lines=lines)


def refuse_disarmed(hooks: Hooks, dialect: str | None) -> None:
    """Raise ConfigError if a file that was trusted has changed since, or is gone.

    Otherwise an agent that changes or removes the configuration would be rid of its guards.
    """
    from ..config.trust import TrustStore

    store = TrustStore()
    found = [origin.real_path for origin in hooks.origins]
    strange = {origin.source.path for origin in hooks.origins if not origin.trusted and store.knows(origin.real_path)}
    problems = [problem for problem in hooks.warnings if problem.where in strange]
    problems += [
        Problem("was trusted, and is gone", where=path, hint=f"put it back, or: interpose trust --forget {path}")
        for path in store.gone(here(), found, ".claude" if dialect == "claude" else ".interpose")
    ]
    if problems:
        raise ConfigError(problems)


def enter(cwd: str | None) -> None:
    """Change into the directory that ``--cwd`` names, if it names one."""
    if cwd is None:
        return
    try:
        os.chdir(cwd)
    except OSError as error:
        raise UsageError(f"--cwd {cwd}: {error.strerror}", hint="check the path") from None


def here() -> str:
    """Return the current directory, or say that it is gone."""
    try:
        return os.getcwd()
    except OSError:
        raise UsageError("the current directory is gone", hint="cd to another, or use --cwd") from None
