"""Which requests share an engine process: those that load the same files, with the same environment.

Hooks in Python run inside of an engine process, and could change everything in it. A program of the same user can ask
for any file and with any environment, also one that leads to another record of trust. So what it has loaded by that is
never in a process that answers for others. The server guesses the name of a request's processes; a process knows for
sure, since it looks for the files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from .environments import Digests
from .frames import FireRequest

__all__ = ["Guesses", "found_in", "named_files", "process_name", "project_of"]

_FOLDERS = (".interpose", ".claude")


_MOST = 1000


def found_in(project: str) -> str:
    """Return the name of what is found for a project."""
    return f"found {project}"


def named_files(paths: Iterable[str]) -> str:
    """Return the name of what files are that a request names."""
    return "\0".join(("named", *paths))


def process_name(files: str, environment: str) -> str:
    """Return the name of the processes that load these files with this environment."""
    return f"{environment} {files}"


class Guesses:
    """The process names of earlier requests: one that says the same loads the same files."""

    def __init__(self) -> None:
        self._known: dict[object, str] = {}
        self._digests = Digests()

    def of(self, request: FireRequest) -> str:
        """Return the name of the processes for a request."""
        known = self._known.get(self._key(request))
        if known is None:
            known = self.learn(request, process_name(project_of(request), self._digests.of(request.environment)))
        return known

    def learn(self, request: FireRequest, name: str) -> str:
        """Note the process name of a request, and return it."""
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[self._key(request)] = name
        return name

    def _key(self, request: FireRequest) -> object:
        return (request.directory, *request.arguments, self._digests.of(request.environment))


def project_of(request: FireRequest) -> str:
    """Return what a request is about, as far as its arguments tell: named files, or what is found for a directory."""
    named, cwd = list[str](), ""
    for word, after in zip(request.arguments, [*request.arguments[1:], ""], strict=True):
        option, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if option in ("--config", "-c"):
            named.append(value if equals else after)
        elif option == "--cwd":
            cwd = value if equals else after
    if named:
        return named_files(os.path.abspath(os.path.join(request.directory, path)) for path in named)
    place = os.fsdecode(request.environment.get(b"CLAUDE_PROJECT_DIR", b"")) if not cwd else ""
    if not os.path.isabs(place):
        place = os.path.join(request.directory, cwd)
    home = os.fsdecode(request.environment.get(b"HOME", b""))
    directory = os.path.abspath(place)
    while directory != home or directory == place:
        if any(os.path.lexists(os.path.join(directory, name)) for name in _FOLDERS):
            return found_in(directory)
        if os.path.dirname(directory) == directory:
            break
        directory = os.path.dirname(directory)
    return found_in("")
