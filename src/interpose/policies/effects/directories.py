"""The directories in which commands run, and the paths of their files."""

from __future__ import annotations

import os

from ...matching.shell import Command
from ...matching.shell.words import ONE, is_known

__all__ = ["absolute", "directories_of"]


def directories_of(command: Command, cwd: str, home: str) -> tuple[str | None, ...]:
    """Return the directories in which a command may run; None stands for an unknown one."""
    places = [absolute(place, cwd, home) if is_known(place) else None for place in command.directories]
    return tuple(dict.fromkeys(places)) or (None,)


def absolute(path: str, directory: str | None, home: str) -> str:
    """Return a path with the directory that it is relative to; one that is not known is marked."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    if os.path.isabs(path) or path.startswith("~"):
        return path
    return f"{ONE}/{path}" if directory is None else os.path.join(directory, path)
