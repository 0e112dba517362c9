"""The hooks that a command is about: of the files that were named, or of those that are found."""

from __future__ import annotations

import os

from ..errors import UsageError
from ..hooks import Hooks

__all__ = ["enter", "here", "hooks_of"]


def hooks_of(config: list[str], dialect: str | None, cwd: str | None, *, lines: bool = True) -> Hooks:
    """Return the hooks of the named files, else of those found from a directory on; ``lines`` has them know theirs."""
    if dialect not in (None, "native", "claude"):
        raise UsageError(f"--dialect: there is no dialect {dialect}", hint="native or claude")
    # A file is named from where the person stands, wherever its hooks run.
    named = [os.path.abspath(path) for path in config]
    if cwd is not None:
        enter(cwd)
    if named:
        return Hooks.load(*named, dialect=dialect, lines=lines)
    return Hooks.discover(here(), dialect=dialect, lines=lines)


def enter(cwd: str) -> None:
    """Change into the directory that ``--cwd`` names."""
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
