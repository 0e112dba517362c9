"""The hooks that an engine process has loaded, kept as long as nothing that decides about them has changed.

What decides: the files that are found, everything that was read to load them, the snapshots that they are run from, the
user's records of trust and switches, the rules of the fleet, the modules that hooks have imported, and the environment.
Each is looked at again at every event, by its stat.
"""

from __future__ import annotations

import os
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..config.find import find_sources
from ..config.fleet_rules import FLEET_RULES
from ..config.read import Source
from ..handlers.projects import OF_NO_PROJECT
from ..hooks import Hooks
from ..person.environment import POWERS
from ..runtime.set_aside import variables_set_aside
from ..state.directories import state_path, user_directory
from .environments import environment_digest
from .modules import Modules
from .projects import found_in, named_files, process_name
from .stamps import Facts, Looks, facts_of, is_settled

__all__ = ["Elsewhere", "KeptHooks"]

_MOST = 8
"""How many sets of hooks a process keeps."""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Elsewhere(Exception):
    """The event belongs to another process than this one; nothing was fired."""

    def __init__(self, name: str, *, is_stale: bool = False) -> None:
        super().__init__(name)
        self.name = name
        """The name of the processes that it belongs to."""
        self.is_stale = is_stale
        """Whether it belongs to another process of the same name: this one has imported what has changed since."""


class _Kept:
    def __init__(self, hooks: Hooks, found: object, stamps: dict[str, Facts], read_at: float) -> None:
        self.hooks = hooks
        self._found = found
        self.stamps = stamps
        self._settled = is_settled(stamps.values(), read_at)

        self._healths = [hook.health for hook in hooks]

    def forget_events(self) -> None:
        """Forget what earlier events have left: the next one is of another caller, and is fired as by a new process."""
        self.hooks.engine.late.clear()
        for health in self._healths:
            if health.failures or health.denied_last or health.once:
                health.failures, health.open_until, health.denied_last, health.once = 0, 0.0, False, {}

    def holds(self, found: object, looks: Looks) -> bool:
        """Return whether loading again would give the same hooks."""
        for path, known in self.stamps.items():
            if looks[path] != known:
                return False
        return self._settled and found == self._found


class KeptHooks:
    """Gives hooks as the class ``Hooks`` does: of the same files and for the same environment, as the first time."""

    elsewhere = Elsewhere

    def __init__(self) -> None:
        self.name: str | None = None
        """The name of this process, see ``projects``; None before its first event."""
        self.used: Hooks | None = None
        """The hooks of the last event."""
        self.loaded = 0
        """How often hooks were loaded."""
        self._digest = ""
        self._has_powers = False
        self._modules = Modules()
        self._found: dict[tuple[Any, ...], tuple[_Places, list[Source], str]] = {}
        self._kept: OrderedDict[tuple[Any, ...], _Kept] = OrderedDict()

    def use(self, environment: Mapping[bytes, bytes]) -> None:
        """Load hooks with this environment from now on, without variables that are dropped later."""
        self._digest = environment_digest(environment)
        self._has_powers = any(name.encode() in environment for name in POWERS)

    def load(self, *paths: str, dialect: str | None, lines: bool) -> Hooks:
        """Return the hooks of named files."""
        self._belong(named_files(paths))
        key = ("named", paths, dialect, lines)
        return self._current(key, paths, Looks(), lambda: Hooks.load(*paths, dialect=dialect, lines=lines))

    def discover(self, cwd: str, *, dialect: str | None, lines: bool, changed: Any, required: bool) -> Hooks:
        """Return the hooks of the files that are found for a directory."""
        looks = Looks()
        found, project = self._find(cwd, dialect, looks)
        self._belong(found_in(project))
        key = ("found", cwd, dialect, lines, changed, required)
        return self._current(key, found, looks, lambda: Hooks.discover(
            cwd, dialect=dialect, lines=lines, changed=changed, required=required
        ))  # fmt: skip

    def close(self) -> None:
        """Close all hooks."""
        while self._kept:
            self._kept.popitem()[1].hooks.close()

    def fired(self, began: float) -> None:
        """Note what an event has imported, which began at this time."""
        looked_at = [kept.stamps for kept in self._kept.values()] if self._modules.have_grown() else []
        if looked_at:
            self._modules.note(began, set().union(*looked_at))

    def _find(self, cwd: str, dialect: str | None, looks: Looks) -> tuple[list[Source], str]:
        """Find files and the project that they are of.

        What was found before is still right if every place that was looked at is as it was.
        """
        key = (cwd, dialect, self._environment())
        kept = self._found.get(key)
        if kept is not None and kept[0].are_as_before(looks):
            return kept[1], kept[2]
        places = _Places(cwd, ".claude" if dialect == "claude" else ".interpose")
        found = find_sources(cwd, dialect)
        if len(self._found) > 1000:
            self._found.clear()
        own = [source.path for source in found if source.layer not in OF_NO_PROJECT]
        project = os.path.dirname(os.path.dirname(own[-1])) if own else ""
        self._found[key] = (places, found, project)
        return found, project

    def _environment(self) -> str:
        """Return what tells environments apart: variables may have been dropped, or have got another value back."""
        aside = variables_set_aside()
        if not (self._has_powers or aside):
            return self._digest
        powers = (os.environ.get(name, "") for name in POWERS)
        return "\0".join((self._digest, *powers, *(f"{name!r}={os.environb.get(name)!r}" for name in aside)))

    def _belong(self, files: str) -> None:
        """Raise Elsewhere if another process has to load these files for this environment."""
        name = process_name(files, self._environment())
        if self.name is None:
            self.name = name
        elif self.name != name:
            raise Elsewhere(name)
        if self._modules.have_changed():
            raise Elsewhere(name, is_stale=True)

    def _current(self, key: tuple[Any, ...], found: object, looks: Looks, make: Callable[[], Hooks]) -> Hooks:
        """Return the kept hooks if loading them again would give the same; else load them."""
        key = (*key, self._environment())
        kept = self._kept.get(key)
        if kept is not None and kept.holds(found, looks):
            self._kept.move_to_end(key)
            kept.forget_events()
            self.used = kept.hooks
            return kept.hooks
        if kept is not None:
            del self._kept[key]
            kept.hooks.close()
        began = time.time()
        records = ("trust.json", "switches.json", FLEET_RULES)
        stamps = {path: facts_of(path) for path in map(state_path, records)}
        with_reads = _Reads(stamps)
        hooks = with_reads.during(make)
        for origin in hooks.origins:
            for path in (origin.source.path, origin.real_path, *origin.references, *_files_of(origin.snapshot)):
                if path not in stamps:
                    stamps[path] = facts_of(path)
        self.loaded += 1
        self.used = hooks
        self._kept[key] = _Kept(hooks, found, stamps, began)
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)[1].hooks.close()
        return hooks


class _Reads:
    """Stamps every file and folder that is read while hooks are loaded, before it is read."""

    _now: _Reads | None = None
    _is_watching = False

    def __init__(self, stamps: dict[str, Facts]) -> None:
        self._stamps = stamps
        self._directory = ""

    def during(self, make: Callable[[], Hooks]) -> Hooks:
        if not _Reads._is_watching:
            sys.addaudithook(_watch)
            _Reads._is_watching = True
        _Reads._now = self
        try:
            return make()
        finally:
            _Reads._now = None

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Stamp what is opened to be read; a name without a directory is one in the directory that was opened last."""
        path = arguments[0]
        if not isinstance(path, str | bytes):
            return
        path = os.fsdecode(path)
        if event == "open":
            flags = arguments[2]
            if not isinstance(flags, int) or flags & os.O_ACCMODE != os.O_RDONLY:
                return
            if flags & os.O_DIRECTORY:
                self._directory = os.path.abspath(path)
                return
            if os.sep not in path and arguments[1] is None:
                path = os.path.join(self._directory, path)
        path = os.path.abspath(path)
        if not path.startswith((_PACKAGE, "/proc/", "/dev/")) and not path.endswith(".pyc"):
            self._stamps.setdefault(path, facts_of(path))


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _Reads._now is not None and event in ("open", "os.listdir", "os.scandir"):
        _Reads._now.note(event, arguments)


def _files_of(snapshot: str) -> Iterator[str]:
    """Return the files and folders of a snapshot: one that is changed or added there is noticed too."""
    if not snapshot:
        return
    for folder, _, names in os.walk(snapshot):
        yield folder
        for name in names:
            yield os.path.join(folder, name)


class _Places:
    """The places that are looked at to find the files for a directory, as they were when this was made."""

    def __init__(self, cwd: str, folder: str) -> None:
        user = os.path.expanduser("~/.claude") if folder == ".claude" else ""
        own = user or os.path.join(user_directory("XDG_CONFIG_HOME", ".config"), "interpose")
        self._levels: list[_Level] = []
        directory, above = os.path.abspath(cwd), ""
        while directory != above:
            self._levels.append(_Level(directory, folder))
            directory, above = os.path.dirname(directory), directory
        folders = [own, *map(state_path, ("trust.json", FLEET_RULES))]
        folders += [level.folder for level in self._levels if level.has_folder]
        self._folders = {path: facts_of(path) for path in folders}
        self._settled = is_settled(self._folders.values())

    def are_as_before(self, looks: Looks) -> bool:
        """Return whether the same files would be found."""
        for path, known in self._folders.items():
            if looks[path] != known:
                return False
        for level in self._levels:
            if not level.is_as_before(looks):
                return False
        return self._settled


class _Level:
    """One directory: whether it is a repository, and whether it has a folder with a configuration.

    Nothing can come to be there or go without a new time stamp of the directory; only then is it looked at again.
    """

    def __init__(self, directory: str, folder: str) -> None:
        self._directory = directory
        self.folder = os.path.join(directory, folder)
        self._git = os.path.join(directory, ".git")
        facts = facts_of(directory)
        self._found = self._look(facts)
        self.has_folder = self._found[0]
        self._facts = facts if is_settled([facts]) else None

    def is_as_before(self, looks: Looks) -> bool:
        facts = looks[self._directory]
        if facts == self._facts and facts is not None:
            return True
        is_same = self._look(facts) == self._found
        self._facts = facts if is_settled([facts]) else None
        return is_same

    def _look(self, facts: Facts) -> tuple[bool, bool, object]:
        identity = (facts[0], facts[1], facts[5]) if facts is not None else None
        return os.path.lexists(self.folder), os.path.lexists(self._git), identity
