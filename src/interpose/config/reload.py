"""The files behind an engine's hooks: read at first, again when asked, and watched if that is wanted."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ConfigError, Problem
from ..events import Table
from .load import Loaded, Source, find_sources, load_sources
from .references import hash_of
from .state import state_path
from .switches import Switches, project_of

__all__ = ["ConfigFiles"]

_LOOKS = 0.5
"""Seconds between two looks at watched files."""


class ConfigFiles:
    """Where an engine's hooks come from. A changed file is taken over whole, or not at all."""

    def __init__(self, find: Callable[[], Sequence[Source]], project: str | None, commands: Any, lines: bool) -> None:
        self._find = find
        self._project = project
        self._commands = commands
        self._lines = lines
        self.loaded = Loaded()

    @classmethod
    def named(cls, paths: Sequence[Any], dialect: str | None, commands: Any = None, lines: bool = True) -> ConfigFiles:
        """Files that a person or a host has named: trusted by that."""
        sources = [Source(os.path.abspath(os.fspath(path)), "code", dialect) for path in paths]
        return cls(lambda: sources, None, commands, lines)

    @classmethod
    def around(cls, cwd: str, dialect: str | None, commands: Any = None, lines: bool = True) -> ConfigFiles:
        """Files that are found for a directory."""
        here = os.path.abspath(cwd)
        return cls(lambda: find_sources(here, dialect), here, commands, lines)

    def read(self, table: Table) -> Loaded:
        """Read all of them; what was taken over stays until somebody says otherwise."""
        loaded = load_sources(table, self._find(), commands=self._commands, lines=self._lines)
        loaded.switches = self._switches(loaded)
        return loaded

    def read_again(self, table: Table) -> Loaded:
        """Read them for an engine that is armed already.

        A file that was armed and now has content that nobody has trusted, or is gone, is a problem then: whoever can
        write to it or remove it could disarm its hooks otherwise.
        """
        loaded = self.read(table)
        armed = {origin.source.path for origin in self.loaded.origins if origin.trusted}
        strange = {origin.source.path for origin in loaded.origins if not origin.trusted} & armed
        problems = [problem for problem in loaded.warnings if problem.where in strange]
        gone = armed - {origin.source.path for origin in loaded.origins}
        problems += [
            Problem("is armed, and not found any more", where=path, hint="put it back, or start anew without it")
            for path in sorted(gone)
        ]
        if problems:
            raise ConfigError(problems)
        return loaded

    def _switches(self, loaded: Loaded) -> dict[str, bool]:
        if self._project is None:
            return {}
        return Switches().of(project_of(self._project, loaded))

    def stamp(self) -> tuple[Any, ...]:
        """Return what changes when one of the files does, or a script or module that they name, or what was trusted."""
        paths = [source.path for source in self._find()]
        paths += [path for origin in self.loaded.origins for path in origin.references]
        if self._project is not None:
            paths += [state_path("trust.json"), state_path("switches.json")]
        return tuple((path, _facts(path)) for path in paths)

    def watch(self, reload: Callable[[], object]) -> None:
        """Call back, from a thread of our own, when something has changed; end with whoever is called back."""
        # The thread must hold on to nothing but this: with the method itself it would keep its engine for ever.
        target: Callable[[], Callable[[], object] | None] = (
            weakref.WeakMethod(reload) if hasattr(reload, "__self__") else lambda: reload
        )
        ending = threading.Event()
        first: tuple[Any, ...] | None = self.stamp()
        if not self._is_as_it_was_read():
            first = None  # somebody was faster than we are

        def look() -> None:
            seen = first
            while not ending.wait(_LOOKS):
                now = self.stamp()
                call = target()
                if call is None:
                    return
                if now != seen:
                    seen = now
                    _call(call)
                del call

        threading.Thread(target=look, name="interpose-watch", daemon=True).start()

    def _is_as_it_was_read(self) -> bool:
        origins = self.loaded.origins
        if [source.path for source in self._find()] != [origin.source.path for origin in origins]:
            return False
        read = [(origin.real_path, origin.sha256) for origin in origins]
        read += [named for origin in origins for named in origin.references.items()]
        return all(hash_of(path) == digest for path, digest in read)


def _call(reload: Callable[[], object]) -> None:
    try:
        reload()
    except Exception:
        import logging
        import traceback

        # Without its thread later changes would go unseen, and nobody would be told. As text: a record that keeps the
        # exception would keep the engine.
        said = traceback.format_exc()
        logging.getLogger("interpose").error("changed files could not be looked at: %s", said)  # noqa: TRY400


def _facts(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
