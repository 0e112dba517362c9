"""The hooks that an engine process has loaded, kept as long as nothing that decides about them has changed.

What decides: the files that are found, everything that was read to load them, the snapshots that they are run from, the
user's records of trust and switches, and the environment. Each is looked at again at every event, by its stat.
"""

from __future__ import annotations

import os
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Any

from ..config.find import find_sources
from ..config.read import Source
from ..hooks import Hooks
from ..state.directories import state_path, user_directory

__all__ = ["Elsewhere", "KeptHooks", "environment_key"]

_MOST = 8
"""How many sets of hooks a process keeps."""
_SETTLED = 0.1
"""Seconds after which a further change of a file has another time stamp for sure."""
_VOLATILE = frozenset((b"TRACEPARENT", b"TRACESTATE", b"PWD", b"OLDPWD", b"SHLVL", b"_", b"INTERPOSE_DEPTH"))
"""Variables that differ from event to event, and that no hook is loaded by."""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

Facts = tuple[int, ...] | None


class Elsewhere(Exception):
    """The event belongs to another project than this process; nothing was fired."""

    def __init__(self, project: str) -> None:
        super().__init__(project)
        self.project = project


def environment_key(environment: Mapping[bytes, bytes]) -> object:
    """Return what differs between two environments with which hooks may be loaded in another way."""
    return frozenset(item for item in environment.items() if item[0] not in _VOLATILE)


class _Kept:
    def __init__(self, hooks: Hooks, found: object, stamps: dict[str, Facts], read_at: float) -> None:
        self.hooks = hooks
        self._found = found
        self._stamps = stamps
        changed = max((facts[3] for facts in stamps.values() if facts is not None), default=0) / 1e9
        self._settled = read_at - changed > _SETTLED

    def holds(self, found: object) -> bool:
        """Return whether loading again would give the same hooks."""
        return self._settled and found == self._found and all(_facts(path) == at for path, at in self._stamps.items())


class KeptHooks:
    """Gives hooks as the class ``Hooks`` does, for one project."""

    elsewhere = Elsewhere

    def __init__(self) -> None:
        self.project: str | None = None
        """The project of this process; None before its first event."""
        self.used: Hooks | None = None
        """The hooks of the last event."""
        self.loaded = 0
        """How often hooks were loaded."""
        self.environment: object = None
        """The key of the environment of this process."""
        self._found: dict[tuple[Any, ...], tuple[_Places, object, list[Source]]] = {}
        self._kept: OrderedDict[tuple[Any, ...], _Kept] = OrderedDict()

    def load(self, *paths: str, dialect: str | None, lines: bool) -> Hooks:
        """Return the hooks of named files."""
        self._belong(os.path.dirname(paths[0]))
        key = ("named", paths, dialect, lines)
        return self._current(key, paths, lambda: Hooks.load(*paths, dialect=dialect, lines=lines))

    def discover(self, cwd: str, *, dialect: str | None, lines: bool, changed: Any, required: bool) -> Hooks:
        """Return the hooks of the files that are found for a directory."""
        found = self._find(cwd, dialect)
        own = [source.path for source in found if source.layer != "user"]
        self._belong(os.path.dirname(os.path.dirname(own[-1])) if own else "")
        key = ("found", cwd, dialect, lines, changed, required)
        return self._current(key, found, lambda: Hooks.discover(
            cwd, dialect=dialect, lines=lines, changed=changed, required=required
        ))  # fmt: skip

    def close(self) -> None:
        """Close all hooks."""
        while self._kept:
            self._kept.popitem()[1].hooks.close()

    def _find(self, cwd: str, dialect: str | None) -> list[Source]:
        """Find files; what was found before is still right if every place that was looked at is as it was."""
        key = (cwd, dialect, self.environment)
        kept = self._found.get(key)
        places = kept[0] if kept is not None else _Places(cwd, ".claude" if dialect == "claude" else ".interpose")
        stamp = places.stamp()
        if kept is not None and stamp is not None and kept[1] == stamp:
            return kept[2]
        found = find_sources(cwd, dialect)
        if len(self._found) > 1000:
            self._found.clear()
        self._found[key] = (places, stamp, found)
        return found

    def _belong(self, project: str) -> None:
        if self.project is None:
            self.project = project
        elif self.project != project:
            raise Elsewhere(project)

    def _current(self, key: tuple[Any, ...], found: object, make: Callable[[], Hooks]) -> Hooks:
        """Return the kept hooks if loading them again would give the same; else load them."""
        key = (*key, self.environment)
        kept = self._kept.get(key)
        if kept is not None and kept.holds(found):
            self._kept.move_to_end(key)
            _forget_events(kept.hooks)
            self.used = kept.hooks
            return kept.hooks
        if kept is not None:
            del self._kept[key]
            kept.hooks.close()
        began = time.time()
        stamps = {path: _facts(path) for path in (state_path("trust.json"), state_path("switches.json"))}
        with_reads = _Reads(stamps)
        hooks = with_reads.during(make)
        for origin in hooks.origins:
            for path in (origin.source.path, origin.real_path, *origin.references, *_files_of(origin.snapshot)):
                if path not in stamps:
                    stamps[path] = _facts(path)
        self.loaded += 1
        self.used = hooks
        self._kept[key] = _Kept(hooks, found, stamps, began)
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)[1].hooks.close()
        return hooks


def _forget_events(hooks: Hooks) -> None:
    """Forget what earlier events have left: the next one is of another caller, and is fired as by a new process."""
    hooks.engine.late.clear()
    for hook in hooks:
        health = hook.health
        if health.failures or health.once.locked() or health.denied_last:
            health.failures, health.open_until, health.denied_last, health.once = 0, 0.0, False, Lock()


class _Reads:
    """Stamps every file and folder that is read while hooks are loaded, before it is read."""

    _now: _Reads | None = None
    _is_watching = False

    def __init__(self, stamps: dict[str, Facts]) -> None:
        self._stamps = stamps

    def during(self, make: Callable[[], Hooks]) -> Hooks:
        if not _Reads._is_watching:
            sys.addaudithook(_watch)
            _Reads._is_watching = True
        _Reads._now = self
        try:
            return make()
        finally:
            _Reads._now = None

    @classmethod
    def note(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if not isinstance(flags, int) or flags & os.O_ACCMODE != os.O_RDONLY:
                return
        elif event in ("os.listdir", "os.scandir"):
            path = arguments[0]
        else:
            return
        now = cls._now
        if now is None or not isinstance(path, str | bytes):
            return
        path = os.path.abspath(os.fsdecode(path))
        if not path.startswith((_PACKAGE, "/proc/", "/dev/")) and not path.endswith(".pyc"):
            now._stamps.setdefault(path, _facts(path))


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _Reads._now is not None:
        _Reads.note(event, arguments)


def _files_of(snapshot: str) -> Iterator[str]:
    """Return the files and folders of a snapshot: one that is changed or added there is noticed too."""
    if not snapshot:
        return
    for folder, _, names in os.walk(snapshot):
        yield folder
        for name in names:
            yield os.path.join(folder, name)


class _Places:
    """The places that are looked at to find the files for a directory."""

    def __init__(self, cwd: str, folder: str) -> None:
        user = os.path.expanduser("~/.claude") if folder == ".claude" else ""
        own = user or os.path.join(user_directory("XDG_CONFIG_HOME", ".config"), "interpose")
        self._directories: list[str] = []
        directory = os.path.abspath(cwd)
        while directory not in self._directories:
            self._directories.append(directory)
            directory = os.path.dirname(directory)
        self._marks = [os.path.join(one, ".git") for one in self._directories]
        self._folders = [own, state_path("trust.json"), *(os.path.join(one, folder) for one in self._directories)]

    def stamp(self) -> object:
        """Return what changes if other files would be found; None if that cannot be told yet."""
        folders = [_facts(path) for path in self._folders]
        changed = max((facts[3] for facts in folders if facts is not None), default=0) / 1e9
        if time.time() - changed <= _SETTLED:
            return None
        return folders, [os.path.lexists(path) for path in self._marks], [_identity(path) for path in self._directories]


def _identity(path: str) -> Facts:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_dev, found.st_mode


def _facts(path: str) -> Facts:
    try:
        found = os.lstat(path)
        if found.st_mode & 0o170000 == 0o120000:  # a link, and what it leads to
            target = os.stat(path)
            return (found.st_ino, found.st_dev, found.st_mtime_ns, max(found.st_ctime_ns, target.st_ctime_ns),
                    target.st_ino, target.st_dev, target.st_mtime_ns, target.st_size, target.st_mode)  # fmt: skip
    except OSError:
        return None
    return found.st_ino, found.st_dev, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_mode, found.st_uid
