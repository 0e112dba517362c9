"""Find the project that a hook works for: what ``CLAUDE_PROJECT_DIR`` says in its environment."""

from __future__ import annotations

import os

from .declared_command import can_be_passed

__all__ = ["OF_NO_PROJECT", "VARIABLE", "can_be_directory", "own_project", "project_directory"]

VARIABLE = "CLAUDE_PROJECT_DIR"

_MARKS = (".claude", ".interpose", ".git")
_FOLDERS = (".claude", ".interpose")
OF_NO_PROJECT = ("user", "fleet")
"""Layers whose configurations belong to a person or to a fleet: they hold in every project."""
_LONGEST_PATH = 4096
"""Characters. To look for marks in every directory of a path takes time that grows with the square of its length."""


def own_project(directory: str, layer: str = "code") -> str:
    """Return the project that a configuration in this directory belongs to; nothing if it belongs to none.

    A project's files are in its ``.claude`` or ``.interpose``. The home of a person is not a project.
    """
    project, folder = os.path.split(directory)
    if folder not in _FOLDERS or layer in OF_NO_PROJECT or _is_home(project):
        return ""
    return project


def project_directory(own: str, cwd: object) -> str:
    """Return the project: the host's variable, the configuration's own project, else what is found from ``cwd``.

    A project's own configuration keeps its project in every directory: otherwise an agent could change to a directory
    with another script of the same name.
    """
    given = os.environ.get(VARIABLE, "")
    if os.path.isabs(given):
        return given
    return own or _find(cwd)


def can_be_directory(cwd: object) -> bool:
    """Return whether the ``cwd`` of an event can name a directory: text that is no longer than a path can be."""
    return isinstance(cwd, str) and 0 < len(cwd) <= _LONGEST_PATH and can_be_passed(cwd)


def _find(cwd: object) -> str:
    """Return the nearest directory with a mark of a project, from here upwards; this directory if there is none."""
    try:
        here = directory = os.path.abspath(str(cwd) if can_be_directory(cwd) else os.getcwd())
        home = _identity(os.path.expanduser("~"))
        while home is None or _identity(directory) != home:
            if any(os.path.lexists(os.path.join(directory, mark)) for mark in _MARKS):
                return directory
            if os.path.dirname(directory) == directory:
                break
            directory = os.path.dirname(directory)
    except OSError:  # the current directory was removed
        return os.sep
    return here


def _is_home(directory: str) -> bool:
    found = _identity(directory)
    return found is not None and found == _identity(os.path.expanduser("~"))


def _identity(directory: str) -> tuple[int, int] | None:
    try:
        found = os.stat(directory)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
