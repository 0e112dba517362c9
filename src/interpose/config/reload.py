"""The configuration files of an engine: read, read again on reload, and watched for changes."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import BadHook, ConfigError, Problem
from ..events import Table
from ..runtime.digests import sha256
from .claude_servers import file_of, is_part, read_part
from .files import read as read_file
from .fleet_rules import FLEET_RULES
from .load import Loaded, Source, find_sources, load_sources
from .state import state_path
from .switches import Switch, Switches, project_of

__all__ = ["ConfigFiles"]

_INTERVAL = 0.5
"""Seconds between two checks of watched files."""


class ConfigFiles:
    """The files that an engine's hooks come from. A changed file is taken over whole or not at all."""

    def __init__(self, find: Callable[[], Sequence[Source]], project: str | None, commands: Any, lines: bool) -> None:
        self._find = find
        self._project = project
        self._commands = commands
        self._lines = lines
        self.keeps = True
        """Whether the last trusted content of a changed file is loaded; else it is refused."""
        self.required = False
        """Whether finding no trusted file is an error."""
        self.loaded = Loaded()

    @classmethod
    def named(cls, paths: Sequence[Any], dialect: str | None, commands: Any = None, lines: bool = True) -> ConfigFiles:
        """Return files that were named explicitly, which makes them trusted."""
        sources = [Source(os.path.abspath(os.fspath(path)), "code", dialect) for path in paths]
        return cls(lambda: sources, None, commands, lines)

    @classmethod
    def around(
        cls, cwd: str, changed: str, required: bool, dialect: str | None, commands: Any = None, lines: bool = True
    ) -> ConfigFiles:
        """Return the files that are found for a directory; ``changed`` is ``refuse`` or ``keep``."""
        if changed not in ("refuse", "keep"):
            raise BadHook(f"changed: {changed!r} is not a choice", hint="refuse or keep")
        here = os.path.abspath(cwd)
        files = cls(lambda: find_sources(here, dialect), here, commands, lines)
        files.keeps, files.required = changed == "keep", required
        return files

    def read(self, table: Table) -> Loaded:
        """Read all files; the engine keeps its hooks until it takes these over."""
        loaded = load_sources(table, self._find(), commands=self._commands, lines=self._lines)
        if loaded.changed and not self.keeps:
            raise ConfigError(loaded.changed)
        if self.required and not any(origin.trusted for origin in loaded.origins):
            raise _nothing_trusted(self._project or "", loaded)
        loaded.switches = self._switches(loaded)
        return loaded

    def read_again(self, table: Table) -> Loaded:
        """Read all files for an engine that has hooks already.

        An armed file that is not trusted any more, or that is not found any more, is a problem here: otherwise a
        process could switch off its hooks.
        """
        loaded = self.read(table)
        armed = {origin.source.path for origin in self.loaded.origins if origin.trusted}
        strange = {origin.source.path for origin in loaded.origins if not origin.trusted} & armed
        problems = [problem for problem in loaded.warnings if problem.where in strange]
        gone = armed - {origin.source.path for origin in loaded.origins}
        if any(origin.source.layer == "fleet" for origin in loaded.origins):  # newer rules are in another directory
            gone -= {origin.source.path for origin in self.loaded.origins if origin.source.layer == "fleet"}
        problems += [
            Problem("has hooks in use and is not found any more", where=path, hint="put it back, or restart without it")
            for path in sorted(gone)
        ]
        if problems:
            raise ConfigError(problems)
        return loaded

    def _switches(self, loaded: Loaded) -> dict[str, Switch]:
        if self._project is None:
            return {}
        return Switches().of(project_of(self._project, loaded))

    def stamp(self) -> tuple[Any, ...]:
        """Return a value that changes with the files, the scripts and modules that they name, trust and switches."""
        paths = [source.path for source in self._find()]
        paths += [path for origin in self.loaded.origins for path in origin.references]
        if self._project is not None:
            paths += [state_path("trust.json"), state_path("switches.json"), state_path(FLEET_RULES)]
        return tuple((path, _facts(path)) for path in paths)

    def watch(self, reload: Callable[[], object]) -> None:
        """Call ``reload`` from a daemon thread after a change; the thread ends with the object of the method.

        A file that has changed is taken over when it is the same at two checks: one that is being written may be empty,
        which is a configuration without hooks.
        """
        # A weak reference: the thread must not keep the engine alive.
        target: Callable[[], Callable[[], object] | None] = (
            weakref.WeakMethod(reload) if hasattr(reload, "__self__") else lambda: reload
        )
        ending = threading.Event()
        first: tuple[Any, ...] | None = self.stamp()
        if not self._is_unchanged():
            first = None  # it has changed since it was read

        def check() -> None:
            seen = settled = first
            while not ending.wait(_INTERVAL):
                now = self.stamp()
                call = target()
                if call is None:
                    return
                if now == settled != seen:
                    seen = now
                    _call(call)
                settled = now
                del call

        threading.Thread(target=check, name="interpose-watch", daemon=True).start()

    def _is_unchanged(self) -> bool:
        origins = self.loaded.origins
        if [source.path for source in self._find()] != [origin.source.path for origin in origins]:
            return False
        read = [(origin.real_path, origin.sha256) for origin in origins]
        read += [named for origin in origins for named in origin.references.items()]
        return all(_hash(path) == digest for path, digest in read)


def _nothing_trusted(project: str, loaded: Loaded) -> ConfigError:
    """Return the error for a directory without a trusted file, which names the command that trusts one."""
    waiting = [origin.source.path for origin in loaded.origins]
    hint = f"look at it, then: interpose trust {waiting[0]}" if waiting else "interpose trust FILE, in the project"
    return ConfigError([Problem("no trusted configuration was found", where=project, hint=hint)])


def _hash(path: str) -> str:
    try:
        return sha256(read_part(path)).hex() if is_part(path) else read_file(path, found=False).sha256
    except ConfigError:
        return ""


def _call(reload: Callable[[], object]) -> None:
    try:
        reload()
    except Exception:
        import logging
        import traceback

        # The thread goes on, so that later changes are seen. Logged as text: a record that keeps the exception would
        # keep the engine alive.
        trace = traceback.format_exc()
        logging.getLogger("interpose").error("changed files could not be reloaded: %s", trace)  # noqa: TRY400


def _facts(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file_of(path))
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
