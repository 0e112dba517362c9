"""Find configuration files and load their hooks, each with its file and line. A file is taken whole or refused whole.

Files have layers: the user's file is above the project's, which is above the local one. A lower file can add to a
higher one and never loosen it. The hooks of a file that was found, not named, are used only if the file is trusted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import ConfigError, Problem
from ..events import Table
from ..handlers.projects import own_project
from ..model import Hook, Settings, strictest
from ..records import Record, made_by, replace
from ..registry import LAYERS, Scope
from ..routes import deadline
from . import parse_cache
from .claude import read_settings, with_unique_names, without_copies
from .files import FileRead, check_owner, sha256
from .files import read as read_file
from .integrity import sealed
from .mapping import Configuration, read_mapping
from .references import references_of
from .replaced import find_refused, find_replaced
from .state import user_directory
from .trust import TrustStore

__all__ = ["Loaded", "Origin", "Source", "find_sources", "load_sources"]

_CLAUDE_FILE = re.compile(r"(^|/)\.claude/settings[^/]*\.json$")
_ENDINGS = (".yaml", ".yml", ".json")
_STEMS = {
    ".interpose": tuple(stem + ending for stem in ("hooks", "hooks.local") for ending in _ENDINGS),
    ".claude": ("settings.json", "settings.local.json"),
}
_TIMES = ("default_timeout", "timeout_ceiling", "total_timeout")


class Source(Record, kw_only=False):
    """A file to read: its layer, its dialect, and whether it was found or named."""

    path: str
    layer: str = "code"
    dialect: str | None = None
    found: bool = False


class Origin(Record, kw_only=False):
    """A file that was read, and the files that its hooks run."""

    source: Source
    real_path: str
    sha256: str
    references: Mapping[str, str] = made_by(factory=dict)
    """The local scripts and modules that it names, with their hashes."""
    trusted: bool = True

    @property
    def digest(self) -> str:
        """One hash of the file and all files that it names."""
        parts = [self.sha256, *(f"{digest} {path!r}" for path, digest in sorted(self.references.items()))]
        return sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hex()


class Loaded:
    """The content of a set of files."""

    def __init__(self, hooks: Iterable[Hook] = (), origins: Iterable[Origin] = ()) -> None:
        self.hooks: list[Hook] = list(hooks)
        self.scopes: dict[str, Scope] = {}
        self.settings: dict[str, Any] = {}
        self.permissions: dict[str, str] = {}
        self.harmless: list[str] = []
        self.warnings: list[Problem] = []
        self.origins: list[Origin] = list(origins)
        self.switches: dict[str, bool] = {}
        """The user's switches, by the name of a hook."""
        self.audit: dict[str, Any] | None = None
        """The options of the audit store, from the first file that has any."""
        self.parts: list[tuple[str, Configuration]] = []
        """The content of each armed file, by its path."""


def find_sources(cwd: str, dialect: str | None = None) -> list[Source]:
    """Return the files for a directory that exist: the user's, the project's, the local one."""
    home = os.path.expanduser("~")
    if dialect == "claude":
        project = _above(cwd, ".claude", home) or cwd
        _check_access(os.path.join(home, ".claude"), os.path.join(project, ".claude"))
        candidates = [
            (os.path.join(home, ".claude", "settings.json"), "user"),
            (os.path.join(project, ".claude", "settings.json"), "project"),
            (os.path.join(project, ".claude", "settings.local.json"), "local"),
        ]
        return [Source(path, layer, "claude", True) for path, layer in candidates if os.path.lexists(path)]
    configured = user_directory("XDG_CONFIG_HOME", ".config")
    project = _above(cwd, ".interpose", home) or cwd
    _check_access(os.path.join(configured, "interpose"), os.path.join(project, ".interpose"))
    stems = [
        (os.path.join(configured, "interpose", "hooks"), "user"),
        (os.path.join(project, ".interpose", "hooks"), "project"),
        (os.path.join(project, ".interpose", "hooks.local"), "local"),
    ]
    return [
        Source(stem + ending, layer, None, True)
        for stem, layer in stems
        for ending in _ENDINGS
        if os.path.lexists(stem + ending)
    ]


def _above(cwd: str, name: str, home: str) -> str | None:
    """Return the nearest directory, from here upwards, that has such a file; the user's home is not a project.

    An empty folder does not count, or creating one would hide the project's hooks. One that cannot be opened does.
    """
    directory = os.path.abspath(cwd)
    stems = _STEMS[name]
    while directory != home:
        folder = os.path.join(directory, name)
        if any(os.path.lexists(os.path.join(folder, stem)) for stem in stems) or _is_closed(folder):
            return directory
        if os.path.dirname(directory) == directory:
            return None
        directory = os.path.dirname(directory)
    return None


def _check_access(*folders: str) -> None:
    """Raise ConfigError if a folder cannot be opened: it may contain hooks."""
    problems = [
        Problem("cannot be opened, so its hooks are unknown", where=folder, hint=f"chmod u+rx {folder}")
        for folder in folders
        if _is_closed(folder)
    ]
    if problems:
        raise ConfigError(problems)


def _is_closed(folder: str) -> bool:
    return os.path.isdir(folder) and not os.access(folder, os.X_OK)


def load_sources(table: Table, sources: Iterable[Source], *, commands: Any = None, lines: bool = True) -> Loaded:
    """Read files in order; raise ConfigError with the problems of all of them.

    ``lines`` gives every hook its line, for which a cached file has to be parsed again.
    """
    loaded = Loaded()
    problems: list[Problem] = []
    store = TrustStore()
    for source in sources:
        try:
            file = read_file(source.path, found=source.found)
            found = _read(table, source, file, commands, lines)
        except ConfigError as error:
            problems.extend(error.problems)
            continue
        # To fire one event with named files, the references are not needed.
        asked = source.found or lines or found.audit is not None or loaded.audit is not None
        references = references_of(found.hooks, file.real_path, found.scripts) if asked else {}
        origin = Origin(source, file.real_path, file.sha256, references)
        if source.found and (unsafe := _unsafe(origin)):
            problems.extend(unsafe)
            continue
        if source.found and (reason := _distrust(store, origin)):
            loaded.origins.append(replace(origin, trusted=False))
            loaded.warnings.append(Problem(
                f"found, but not trusted: none of its hooks is armed; {reason}", where=source.path,
                hint=f"look at it, then: interpose trust {source.path}",
            ))  # fmt: skip
            continue
        loaded.origins.append(origin)
        if source.found and references:
            found.hooks = sealed(found.hooks, references)
        loaded.parts.append((source.path, found))
        _add(loaded, source, found)
    loaded.hooks = with_unique_names(without_copies(loaded.hooks))
    problems += find_refused(loaded.hooks)
    if problems:
        raise ConfigError(problems)
    loaded.warnings += find_replaced(loaded.hooks)
    return loaded


def _unsafe(origin: Origin) -> list[Problem]:
    """Return a problem for each script and module that other users can write to: it is hashed now, and run later."""
    problems: list[Problem] = []
    for path in origin.references:
        try:
            check_owner(os.stat(path), path, path, "is run, and ")
            check_owner(os.stat(os.path.dirname(path)), path, os.path.dirname(path), "is run, and its directory ")
        except OSError:
            continue  # it does not exist: nothing can be run
        except ConfigError as error:
            problems.extend(error.problems)
    return problems


def _distrust(store: TrustStore, origin: Origin) -> str:
    """Return why a file is not trusted; nothing if it is."""
    try:
        return "" if store.is_trusted(origin) else "it is not trusted as it is now"
    except ConfigError as error:
        return f"the record of what is trusted, {error.problem.where}, {error.problem.what}"


def _add(loaded: Loaded, source: Source, found: Configuration) -> None:
    """Add the content of a file; what files of higher layers say wins."""
    enforced = found.settings.pop("enforce", True)
    hooks = found.hooks
    if any(LAYERS.index(hook.layer) > LAYERS.index(source.layer) for hook in loaded.hooks):
        hooks = _with_own_timeouts(loaded, found, source)
    # ``enforce: false`` of a file applies to its own hooks only.
    loaded.hooks.extend(hooks if enforced else [replace(hook, enforce=False) for hook in hooks])
    for name, scope in found.scopes.items():
        above = loaded.scopes.get(name, Scope())
        loaded.scopes[name] = Scope(above.parent or scope.parent, {**scope.overrides, **above.overrides})
    loaded.settings = {**found.settings, **loaded.settings}
    if found.audit is not None and loaded.audit not in (None, found.audit):
        loaded.warnings.append(Problem(
            "audit has no effect: a file before this one has audit too", where=source.path,
            hint="leave it out here",
        ))  # fmt: skip
    loaded.audit = loaded.audit or found.audit
    loaded.warnings.extend(found.warnings)
    loaded.harmless.extend(found.harmless)
    for name, answer in found.permissions.items():
        loaded.permissions[name] = strictest((answer, loaded.permissions.get(name, "none")))


def _with_own_timeouts(loaded: Loaded, found: Configuration, source: Source) -> list[Hook]:
    """Apply the timeouts of a file to its own hooks only: a guard of a higher layer must not be cut short."""
    times = {name: found.settings.pop(name) for name in _TIMES if name in found.settings}
    times |= {name: value for name, value in loaded.settings.items() if name in _TIMES}
    if times.pop("total_timeout", None) and "total_timeout" not in loaded.settings:
        loaded.warnings.append(Problem(
            "totalTimeout has no effect: it would cut the time of hooks of a higher layer", where=source.path,
            hint="set it in the file above",
        ))  # fmt: skip
    settings = Settings(**times)
    return [replace(hook, timeout=deadline(hook, settings)) for hook in found.hooks] if times else found.hooks


def _read(table: Table, source: Source, file: FileRead, commands: Any, lines: bool) -> Configuration:
    parsed = parse_cache.parse(file, source.path, found=source.found)
    given = parsed.value
    directory = os.path.dirname(file.real_path)
    spoken = source.dialect or (given.get("dialect") if isinstance(given, dict) else None)
    if spoken is None:
        spoken = "claude" if _CLAUDE_FILE.search(source.path.replace(os.sep, "/")) else "native"
    if spoken not in ("native", "claude"):
        raise ConfigError([Problem(f"there is no dialect {spoken!r}", where=parsed.where("dialect", value=True),
                                   hint="native or claude")])  # fmt: skip
    locate = (lambda path: f"{source.path}:{parsed.place(path)[0]}") if lines else None
    try:
        if spoken == "claude":
            around = os.path.dirname(directory) if os.path.basename(directory) == ".claude" else directory
            found = read_settings(table, given, layer=source.layer, source=source.path, directory=around,
                                  folder=directory, project_dir=own_project(directory, source.layer),
                                  locate=locate)  # fmt: skip
        else:
            found = read_mapping(table, given, layer=source.layer, source=source.path, directory=directory,
                                 locate=locate, commands=commands, found=source.found)  # fmt: skip
    except ConfigError as error:
        raise ConfigError([_located(problem, parsed.where) for problem in error.problems]) from None
    found.warnings = [_located(problem, parsed.where) for problem in found.warnings]
    if spoken == "claude":
        found.warnings.sort(key=_position)
    return found


def _position(problem: Problem) -> tuple[int, ...]:
    """Return the line and column of a problem, to sort by."""
    return tuple(int(part) for part in problem.where.rsplit(":", 2)[1:] if part.isdecimal())


def _located(problem: Problem, where: Callable[..., str]) -> Problem:
    """Turn the path of a problem into the line and column of the key."""
    if re.match(r".+:\d+:\d+$", problem.where):
        return problem  # it has a position already, in a script
    path, option = problem.where, problem.what.partition(":")[0]
    if re.fullmatch(r"[A-Za-z]+", option):
        path = f"{path}.{option}"  # the message names an option of the hook
    return Problem(problem.what, where=where(path), hint=problem.hint)
