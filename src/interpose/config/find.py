"""Find the configuration files for a directory: the user's, and those of the projects that it is in.

Trusted files of every directory above hold, also those that were removed since. Files that are not trusted are looked
for up to the directory of the repository; they never hide others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..errors import ConfigError, Problem
from .fleet_rules import fleet_sources
from .read import Source
from .state import user_directory
from .trust import TrustStore, granted_words

__all__ = ["find_sources", "is_trusted", "recorded_path"]

_ENDINGS = (".yaml", ".yml", ".json")
_NAMES = {
    "project": tuple("hooks" + ending for ending in _ENDINGS),
    "local": tuple("hooks.local" + ending for ending in _ENDINGS),
}
_CLAUDE_NAMES = {"project": ("settings.json",), "local": ("settings.local.json",)}


def find_sources(cwd: str, dialect: str | None = None, *, fleet: bool = True) -> list[Source]:
    """Return the files for a directory: the fleet's, the user's, the projects' from the outermost, the local ones.

    Without ``fleet``, rules of the fleet that are damaged are no error: for what repairs them, and for trusting.
    """
    claude = dialect == "claude"
    home = os.path.expanduser("~")
    folder = ".claude" if claude else ".interpose"
    own = (
        os.path.join(home, folder)
        if claude
        else os.path.join(user_directory("XDG_CONFIG_HOME", ".config"), "interpose")
    )
    names = _CLAUDE_NAMES if claude else _NAMES
    store, spoken = TrustStore(), dialect if claude else None
    folders = [(own, True), *((os.path.join(above, folder), here) for above, here in _directories(cwd, home))]
    _check_access(path for path, here in folders if here)
    found = [Source(os.path.join(own, name), "user", spoken, True) for name in names["project"]]
    found = [source for source in found if _exists(source.path, store, True)]
    for layer in ("project", "local"):
        for path, here in reversed([one for one in folders[1:] if one[0] != own]):
            found += [
                Source(file, layer, spoken, True)
                for file in (os.path.join(path, name) for name in names[layer])
                if _exists(file, store, here)
            ]
    return [*fleet_sources(), *found] if fleet else found


def _directories(cwd: str, home: str) -> Iterator[tuple[str, bool]]:
    """Return the directories from here up to the home, each with whether it belongs to the repository.

    A home is no project, unless it is the directory that is asked for.
    """
    directory, here = os.path.abspath(cwd), True
    first = directory
    while directory != home or directory == first:
        yield directory, here
        here = here and not os.path.lexists(os.path.join(directory, ".git"))
        if directory == home or os.path.dirname(directory) == directory:
            return
        directory = os.path.dirname(directory)


def _exists(path: str, store: TrustStore, here: bool) -> bool:
    """Return whether a file counts: it was trusted, or it exists in the repository."""
    exists = os.path.lexists(path)
    if here and exists:
        return True
    try:
        may_be_recorded = exists or store.has_name(os.path.basename(path))  # the quick answer for most names
        return may_be_recorded and recorded_path(path, store) in store.recorded()
    except ConfigError:  # the record cannot be read: the file says so if it exists
        return exists


def is_trusted(source: Source) -> bool:
    """Return whether a found file is trusted, with any content, or may be by the environment."""
    if granted_words() and os.path.lexists(source.path):
        return True
    store = TrustStore()
    try:
        return store.entry(recorded_path(source.path, store)) is not None
    except ConfigError:
        return False


def recorded_path(path: str, store: TrustStore) -> str:
    """Return the path under which a file is recorded: its own, if it was trusted there; else where links lead to.

    A link that is put in the place of a trusted folder does not hide it. A file that is a link itself is not followed.
    """
    if path in store.recorded():  # also if a directory above was moved, and a link is there now
        return path
    if (given := store.given(path)) is not None:
        return given
    folder, name = os.path.split(path)
    around, last = os.path.split(folder)
    placed = os.path.join(os.path.realpath(around), last, name)
    return placed if placed in store.recorded() or os.path.islink(path) else os.path.realpath(path)


def _check_access(folders: Iterator[str]) -> None:
    """Raise ConfigError if a folder cannot be opened: it may contain hooks."""
    problems = [
        Problem("cannot be opened, so its hooks are unknown", where=folder, hint=f"chmod u+rx {folder}")
        for folder in folders
        if os.path.isdir(folder) and not os.access(folder, os.X_OK)
    ]
    if problems:
        raise ConfigError(problems)
