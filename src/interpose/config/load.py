"""Configuration files to hooks: found or named, read whole or refused whole, each hook knowing its file and line.

Files stand in layers. A person's own file is above the project's, and that above the local one; what a lower file says
can add to a higher one and never loosen it. A file that was found by itself arms nothing until it is trusted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import ConfigError, Problem
from ..events import Table
from ..model import Hook, Settings, strictest
from ..plan import deadline
from ..records import Record, made_by, replace
from ..registry import LAYERS, Scope
from . import parse_cache
from .claude import read_settings, without_copies
from .files import FileRead, check_owner, sha256
from .files import read as read_file
from .integrity import sealed
from .mapping import Configuration, read_mapping
from .references import references_of
from .state import persons_directory
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
    """A file to be read: who wrote it, how it speaks, and whether it was found or named by a person."""

    path: str
    layer: str = "code"
    dialect: str | None = None
    found: bool = False


class Origin(Record, kw_only=False):
    """A file that was read, and everything that it makes run."""

    source: Source
    real_path: str
    sha256: str
    references: Mapping[str, str] = made_by(factory=dict)
    """The local scripts and modules that it names, each with the hash of its content."""
    trusted: bool = True

    @property
    def digest(self) -> str:
        """One hash over the file and all that it names."""
        parts = [self.sha256, *(f"{digest} {path!r}" for path, digest in sorted(self.references.items()))]
        return sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hex()


class Loaded:
    """What a set of files says."""

    def __init__(self, hooks: Iterable[Hook] = (), origins: Iterable[Origin] = ()) -> None:
        self.hooks: list[Hook] = list(hooks)
        self.scopes: dict[str, Scope] = {}
        self.settings: dict[str, Any] = {}
        self.permissions: dict[str, str] = {}
        self.warnings: list[Problem] = []
        self.origins: list[Origin] = list(origins)
        self.switches: dict[str, bool] = {}
        """What the person has switched on or off, by the name of a hook."""
        self.audit: dict[str, Any] | None = None
        """Where firings are recorded, and how: as the first file says that says anything of it."""


def find_sources(cwd: str, dialect: str | None = None) -> list[Source]:
    """Return the files that hold for a directory: the person's, the project's, the local one, as far as they exist."""
    home = os.path.expanduser("~")
    if dialect == "claude":
        project = _above(cwd, ".claude", home) or cwd
        _look_into(os.path.join(home, ".claude"), os.path.join(project, ".claude"))
        candidates = [
            (os.path.join(home, ".claude", "settings.json"), "user"),
            (os.path.join(project, ".claude", "settings.json"), "project"),
            (os.path.join(project, ".claude", "settings.local.json"), "local"),
        ]
        return [Source(path, layer, "claude", True) for path, layer in candidates if os.path.lexists(path)]
    configured = persons_directory("XDG_CONFIG_HOME", ".config")
    project = _above(cwd, ".interpose", home) or cwd
    _look_into(os.path.join(configured, "interpose"), os.path.join(project, ".interpose"))
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
    """Return the nearest directory, from here upwards, that has such a file; a person's home is no project.

    A folder without any does not count: whoever can make one would take a project's hooks away. One that is shut does.
    """
    directory = os.path.abspath(cwd)
    stems = _STEMS[name]
    while directory != home:
        folder = os.path.join(directory, name)
        if any(os.path.lexists(os.path.join(folder, stem)) for stem in stems) or _is_shut(folder):
            return directory
        if os.path.dirname(directory) == directory:
            return None
        directory = os.path.dirname(directory)
    return None


def _look_into(*folders: str) -> None:
    """Raise ConfigError if a folder is shut: what cannot be seen in it is not the same as no hooks."""
    problems = [
        Problem("may not be looked into, so nobody knows which hooks hold", where=folder, hint=f"chmod u+rx {folder}")
        for folder in folders
        if _is_shut(folder)
    ]
    if problems:
        raise ConfigError(problems)


def _is_shut(folder: str) -> bool:
    return os.path.isdir(folder) and not os.access(folder, os.X_OK)


def load_sources(table: Table, sources: Iterable[Source], *, commands: Any = None, lines: bool = True) -> Loaded:
    """Read files in their order; raise ConfigError with everything that is wrong in any of them.

    ``lines`` has every hook know its line, for which a compiled file has to be parsed after all.
    """
    loaded = Loaded()
    problems: list[Problem] = []
    store = TrustStore()
    for source in sources:
        try:
            file = read_file(source.path, found=source.found)
            found, permissions = _read(table, source, file, commands, lines)
        except ConfigError as error:
            problems.extend(error.problems)
            continue
        # Who fires one event with files that they have named does not ask what else those name.
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
        _add(loaded, source, found, permissions)
    if problems:
        raise ConfigError(problems)
    loaded.hooks = without_copies(loaded.hooks)
    return loaded


def _unsafe(origin: Origin) -> list[Problem]:
    """Name the scripts and modules that others can write to: they are hashed now, and run later."""
    problems: list[Problem] = []
    for path in origin.references:
        try:
            check_owner(os.stat(path), path, path, "is run, and ")
            check_owner(os.stat(os.path.dirname(path)), path, os.path.dirname(path), "is run, and its directory ")
        except OSError:
            continue  # not there: nothing can be run
        except ConfigError as error:
            problems.extend(error.problems)
    return problems


def _distrust(store: TrustStore, origin: Origin) -> str:
    """Return why a file is not trusted; nothing if it is. A record that cannot be believed has not said anything."""
    try:
        return "" if store.is_trusted(origin) else "nobody has trusted it as it is"
    except ConfigError as error:
        return f"the record of what is trusted, {error.problem.where}, {error.problem.what}"


def _add(loaded: Loaded, source: Source, found: Configuration, permissions: Mapping[str, str]) -> None:
    """Add a file's part; those before it are of higher layers, and what they say holds."""
    enforced = found.settings.pop("enforce", True)
    hooks = found.hooks
    if any(LAYERS.index(hook.layer) > LAYERS.index(source.layer) for hook in loaded.hooks):
        hooks = _in_its_own_time(loaded, found, source)
    # A file that is only tried out is tried out for itself; it cannot switch off the hooks of others.
    loaded.hooks.extend(hooks if enforced else [replace(hook, enforce=False) for hook in hooks])
    for name, scope in found.scopes.items():
        above = loaded.scopes.get(name, Scope())
        loaded.scopes[name] = Scope(above.parent or scope.parent, {**scope.overrides, **above.overrides})
    loaded.settings = {**found.settings, **loaded.settings}
    if found.audit is not None and loaded.audit not in (None, found.audit):
        loaded.warnings.append(Problem(
            "audit has no effect: another file before this one says where firings are recorded", where=source.path,
            hint="leave it out here",
        ))  # fmt: skip
    loaded.audit = loaded.audit or found.audit
    loaded.warnings.extend(found.warnings)
    for name, answer in permissions.items():
        loaded.permissions[name] = strictest((answer, loaded.permissions.get(name, "none")))


def _in_its_own_time(loaded: Loaded, found: Configuration, source: Source) -> list[Hook]:
    """Hold what a file says of time to its own hooks: a guard above it that is cut short would let things through."""
    times = {name: found.settings.pop(name) for name in _TIMES if name in found.settings}
    times |= {name: value for name, value in loaded.settings.items() if name in _TIMES}
    if times.pop("total_timeout", None) and "total_timeout" not in loaded.settings:
        loaded.warnings.append(Problem(
            "totalTimeout has no effect: there are hooks of a higher layer, whose time it would cut", where=source.path,
            hint="set it in the file above",
        ))  # fmt: skip
    settings = Settings(**times)
    return [replace(hook, timeout=deadline(hook, settings)) for hook in found.hooks] if times else found.hooks


def _read(
    table: Table, source: Source, file: FileRead, commands: Any, lines: bool
) -> tuple[Configuration, dict[str, str]]:
    parsed = parse_cache.parse(file, source.path, found=source.found)
    given = parsed.value
    directory = os.path.dirname(file.real_path)
    spoken = source.dialect or (given.get("dialect") if isinstance(given, dict) else None)
    if spoken is None:
        spoken = "claude" if _CLAUDE_FILE.search(source.path.replace(os.sep, "/")) else "native"
    if spoken not in ("native", "claude"):
        raise ConfigError([Problem(f"there is no dialect {spoken!r}", where=parsed.where("dialect", value=True),
                                   hint="native or claude")])  # fmt: skip
    try:
        if spoken == "claude":
            return _claude(table, given, source, directory), {}
        locate = (lambda path: f"{source.path}:{parsed.place(path)[0]}") if lines else None
        found = read_mapping(table, given, layer=source.layer, source=source.path, directory=directory,
                             locate=locate, commands=commands, found=source.found)  # fmt: skip
    except ConfigError as error:
        raise ConfigError([_located(problem, parsed.where) for problem in error.problems]) from None
    found.warnings = [_located(problem, parsed.where) for problem in found.warnings]
    return found, found.permissions


def _claude(table: Table, given: Any, source: Source, directory: str) -> Configuration:
    project = os.path.dirname(directory) if os.path.basename(directory) == ".claude" else directory
    return read_settings(table, given, layer=source.layer, source=source.path, directory=project, project_dir=project)


def _located(problem: Problem, where: Callable[..., str]) -> Problem:
    """Turn the path of a problem into a line and a column: of the key, or of the value that it speaks of."""
    if re.match(r".+:\d+:\d+$", problem.where):
        return problem  # of another file, such as a script
    path, option = problem.where, problem.what.partition(":")[0]
    if re.fullmatch(r"[A-Za-z]+", option):
        path = f"{path}.{option}"  # it says itself which option of the hook is meant
    return Problem(problem.what, where=where(path), hint=problem.hint)
