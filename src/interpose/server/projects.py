"""Guess the project of a request, so that it goes to a process that has its hooks; that process knows for sure."""

from __future__ import annotations

import os

from .frames import Request

__all__ = ["Guesses", "project_of"]

_FOLDERS = (".interpose", ".claude")


_MOST = 1000


class Guesses:
    """The projects of earlier requests: one with the same directory and arguments is about the same project."""

    def __init__(self) -> None:
        self._known: dict[object, str] = {}

    def of(self, request: Request) -> str:
        """Return the project that a request is about."""
        known = self._known.get(_key(request))
        return self.learn(request, project_of(request)) if known is None else known

    def learn(self, request: Request, project: str) -> str:
        """Note the project of a request, and return it."""
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[_key(request)] = project
        return project


def _key(request: Request) -> object:
    environment = request.environment
    return (request.directory, *request.arguments, environment.get(b"CLAUDE_PROJECT_DIR"), environment.get(b"HOME"))


def project_of(request: Request) -> str:
    """Return the directory of the project that a request is about, as far as its arguments tell."""
    named, cwd = "", ""
    for word, after in zip(request.arguments, [*request.arguments[1:], ""], strict=True):
        option, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if option in ("--config", "-c"):
            named = named or (value if equals else after)
        elif option == "--cwd":
            cwd = value if equals else after
    if named:
        return os.path.dirname(os.path.abspath(os.path.join(request.directory, named)))
    place = os.fsdecode(request.environment.get(b"CLAUDE_PROJECT_DIR", b"")) if not cwd else ""
    if not os.path.isabs(place):
        place = os.path.join(request.directory, cwd)
    home = os.fsdecode(request.environment.get(b"HOME", b""))
    directory = os.path.abspath(place)
    while directory != home or directory == place:
        if any(os.path.lexists(os.path.join(directory, name)) for name in _FOLDERS):
            return directory
        if os.path.dirname(directory) == directory:
            break
        directory = os.path.dirname(directory)
    return ""
