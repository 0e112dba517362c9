"""Load the hooks of configuration files, each with its file and line. A file is taken whole or refused whole.

Files have layers: the user's file is above the project's, which is above the local one. A lower file can add to a
higher one and never loosen it. A file that was found, not named, is loaded from the snapshot that was trusted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ConfigError, Problem
from ..events import Table
from ..handlers.python import LazyFunction
from ..model import Hook, Settings, strictest
from ..records import Record, made_by, replace
from ..registry import LAYERS, Scope
from ..routes import deadline
from .claude import with_unique_names, without_copies
from .commands import Trusted
from .files import read as read_file
from .find import find_sources, recorded_path
from .fleet_rules import fleet_snapshot
from .kinds import JUDGES
from .mapping import Configuration
from .questions import needs_audit
from .read import Source, read_configuration
from .replaced import find_refused, find_replaced
from .snapshots import Snapshot
from .trust import TrustStore, granted, granted_words

if TYPE_CHECKING:
    from ..matching.declared_tools import DeclaredTool
    from ..models.configured import ConfiguredModel
    from .fleet import FleetSettings

__all__ = ["Loaded", "Origin", "Source", "find_sources", "load_sources"]

_TIMES = ("default_timeout", "timeout_ceiling", "total_timeout")


class Origin(Record, kw_only=False):
    """A file that was read, and the files that its hooks run."""

    source: Source
    real_path: str
    sha256: str
    references: Mapping[str, str] = made_by(factory=dict)
    """The other files that it runs, with the hashes of the content that is run."""
    trusted: bool = True
    snapshot: str = ""
    """The directory of the snapshot that it is run from; nothing for a file that was named."""
    digest: str = ""
    """One hash of all files of the snapshot."""
    changes: tuple[tuple[str, str], ...] = ()
    """The originals that are not as they were trusted, each with ``changed`` or ``gone``."""
    live: tuple[Mapping[str, str], ...] = ()
    """What is run or read and is no part of the snapshot: ``hook``, ``what`` and ``why``."""
    resident: bool = False
    """Whether it asks for the resident engine."""


class Loaded:
    """The content of a set of files."""

    def __init__(self, hooks: Iterable[Hook] = (), origins: Iterable[Origin] = ()) -> None:
        self.hooks: list[Hook] = list(hooks)
        self.scopes: dict[str, Scope] = {}
        self.settings: dict[str, Any] = {}
        self.permissions: dict[str, str] = {}
        self.harmless: list[str] = []
        self.places: dict[str, str] = {}
        self.tools: list[Sequence[DeclaredTool]] = []
        """The declared tools of each file."""
        self.models: list[ConfiguredModel] = []
        self.warnings: list[Problem] = []
        self.changed: list[Problem] = []
        """The trusted files that have changed since; what was trusted is loaded."""
        self.origins: list[Origin] = list(origins)
        self.switches: dict[str, bool | Literal["observe", "enforce"]] = {}
        """The user's switches, by the name of a hook."""
        self.audit: dict[str, Any] | None = None
        """The options of the audit store, from the first file that has any."""
        self.questions: dict[str, Any] | None = None
        """The options of questions that wait in the record, from the first file that has any."""
        self.fleet: FleetSettings | None = None
        """The fleet that this machine is a node of, from the first file that says so."""
        self.parts: list[tuple[str, Configuration]] = []
        """The content of each armed file, by its path."""


def load_sources(table: Table, sources: Iterable[Source], *, commands: Any = None, lines: bool = True) -> Loaded:
    """Read files in order; raise ConfigError with the problems of all of them.

    Problems of files that are not trusted are warnings if others are: such a file must not disarm them. ``lines``
    gives every hook its line, for which a cached file has to be parsed again.
    """
    loaded = Loaded()
    problems: list[Problem] = []
    doubtful: list[Problem] = []
    store = TrustStore()
    reader = _SourceReader(table, store, commands, lines)
    for source in sources:
        try:
            snapshot = reader.snapshot(source) if source.found else None
        except ConfigError as error:
            problems.extend(error.problems)
            continue
        try:
            if source.found and snapshot is None:
                loaded.origins.append(reader.untrusted(source, loaded))
                continue
            origin, found = reader.named(source) if snapshot is None else reader.trusted(source, snapshot)
        except ConfigError as error:
            (doubtful if source.found and snapshot is None else problems).extend(error.problems)
            continue
        loaded.origins.append(origin)
        if origin.changes:
            loaded.changed.append(_changed(origin))
        loaded.parts.append((source.path, found))
        if source.found:
            found.hooks = _with_names_of_their_own(loaded.hooks, found.hooks, os.path.dirname(source.path))
        _add(loaded, source, found)
    if any(origin.trusted for origin in loaded.origins):
        loaded.warnings += doubtful
    else:
        problems += doubtful
    loaded.hooks = with_unique_names(without_copies(loaded.hooks))
    if any(hook.type in JUDGES for hook in loaded.hooks):
        from .models import find_models

        loaded.hooks = find_models(loaded.hooks, loaded.models, problems.append, loaded.warnings.append)
    if any(hook.type == "nats" for hook in loaded.hooks):
        from .nats_hooks import with_connections

        has_own = any(origin.source.layer == "user" for origin in loaded.origins)
        loaded.hooks = with_connections(loaded.hooks, loaded.fleet, searched=has_own)
    problems += find_refused(loaded.hooks)
    if loaded.questions is not None and loaded.audit is None:
        problems.append(needs_audit(loaded.questions))
    if problems:
        raise ConfigError(problems)
    loaded.warnings += [*find_replaced(loaded.hooks), *loaded.changed]
    if loaded.tools:
        from .tools import find_overruled

        loaded.warnings += find_overruled(loaded.tools)
    return loaded


class _SourceReader:
    """Reads files that were named in place, and files that were found from their snapshots."""

    def __init__(self, table: Table, store: TrustStore, commands: Any, lines: bool) -> None:
        self._table = table
        self._store = store
        self._commands = commands
        self._lines = lines
        self._distrust = ""

    def snapshot(self, source: Source) -> Snapshot | None:
        """Return the snapshot to run a found file from; None if the file is not trusted."""
        if source.snapshot:
            return fleet_snapshot(source)
        words, self._distrust = granted_words(), ""
        if words and os.path.lexists(source.path):
            from .review import review_and_store

            made = review_and_store(self._table, source, self._commands, granted)
            if made is not None:
                return made
        try:
            path = recorded_path(source.path, self._store)
        except ConfigError as error:
            self._distrust = f"; the record of what is trusted, {error.problem.where}, {error.problem.what}"
            return None
        return self._store.snapshot(path)

    def untrusted(self, source: Source, loaded: Loaded) -> Origin:
        """Report a file that is not trusted; raise ConfigError if it could not be."""
        file = read_file(source.path, found=True)
        read_configuration(self._table, source, file, commands=self._commands, lines=False)
        loaded.warnings.append(Problem(
            f"found, but not trusted, so none of its hooks is armed{self._distrust}", where=source.path,
            hint=f"look at it, then: interpose trust {source.path}",
        ))  # fmt: skip
        return Origin(source, file.real_path, file.sha256, trusted=False)

    def named(self, source: Source) -> tuple[Origin, Configuration]:
        """Read a file in place, which is trusted by being named."""
        file = read_file(source.path, found=False)
        found = read_configuration(self._table, source, file, commands=self._commands, lines=self._lines)
        references: dict[str, str] = {}
        if self._lines or found.audit is not None:  # to fire one event, the files that hooks run are not needed
            from .review import references_in_place

            references = references_in_place(source, file, found)
        return Origin(source, file.real_path, file.sha256, references, resident=found.resident), found

    def trusted(self, source: Source, snapshot: Snapshot) -> tuple[Origin, Configuration]:
        """Read a file and all that it runs from its snapshot."""
        snapshot.keep()
        about, file = snapshot.about, snapshot.config(source.path)
        found = read_configuration(
            self._table, source, file, commands=self._commands, lines=self._lines, cache=snapshot.directory,
            read=lambda path: _content(snapshot, path),
            trusted=Trusted(snapshot.directory, snapshot.linked, os.path.dirname(about["config"]), about["commands"],
                            about["path"], about["guards"]),
        )  # fmt: skip
        for hook in found.hooks:
            if isinstance(hook.binding.call, LazyFunction):
                hook.binding.call.seal = snapshot
        found.hooks = [replace(hook, binding=replace(hook.binding, seal=snapshot)) for hook in found.hooks]
        references = {path: digest for path, digest in snapshot.originals().items() if path != file.real_path}
        origin = Origin(
            source, file.real_path, file.sha256, references, True, snapshot.directory, snapshot.digest,
            () if source.snapshot else tuple(snapshot.changes()), tuple(snapshot.live), found.resident,
        )  # fmt: skip
        return origin, found


def _content(snapshot: Snapshot, path: str) -> bytes:
    content = snapshot.text_of(os.path.normpath(path))
    if content is None:
        raise ConfigError([Problem("was not there when the configuration was trusted", where=path)])
    return content


def _changed(origin: Origin) -> Problem:
    """Return the report about a file that is not as it was trusted."""
    path = origin.source.path
    files = ", ".join(
        f"{os.path.relpath(file, os.path.dirname(origin.real_path))} is {how}" for file, how in origin.changes
    )
    return Problem(f"not as it was trusted: {files}", where=path,
                   hint=f"look at it, then: interpose trust {path}")  # fmt: skip


def _add(loaded: Loaded, source: Source, found: Configuration) -> None:
    """Add the content of a file; what files of higher layers say wins."""
    enforced = found.settings.pop("enforce", True) and not source.observe
    if source.observe:
        found.permissions, found.harmless = {}, []  # a rule cannot be watched: it decides or it does not
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
    if found.questions is not None and loaded.questions is not None:
        loaded.warnings.append(Problem(
            "questions has no effect: a file before this one has questions too", where=found.questions["place"],
            hint="leave it out here",
        ))  # fmt: skip
    loaded.questions = loaded.questions or found.questions
    if found.fleet is not None and loaded.fleet is not None:
        loaded.warnings.append(Problem(
            "fleet has no effect: a file before this one has fleet too", where=found.fleet.place,
            hint="leave it out here",
        ))  # fmt: skip
    loaded.fleet = loaded.fleet or found.fleet
    loaded.warnings.extend(found.warnings)
    if found.tools:
        loaded.tools.append(found.tools)
    loaded.models.extend(found.models)
    loaded.harmless.extend(found.harmless)
    for name, answer in found.permissions.items():
        before = loaded.permissions.get(name, "none")
        loaded.permissions[name] = strictest((answer, before))
        if loaded.permissions[name] != before:
            loaded.places[name] = found.places.get(name, "")
    for name in found.harmless:
        loaded.places.setdefault(name, found.places.get(name, ""))


def _with_names_of_their_own(known: Iterable[Hook], hooks: list[Hook], folder: str) -> list[Hook]:
    """Return the hooks of a file in a folder; one that has the name of a hook of another folder gets another name.

    The files of every directory above hold: a hook of an inner project does not replace one of an outer project.
    """
    taken = {(hook.event, hook.layer, hook.scope, hook.name) for hook in known if _folder_of(hook) != folder}
    made = []
    for hook in hooks:
        name, number = hook.name, 1
        while name and (hook.event, hook.layer, hook.scope, name) in taken:
            number += 1
            name = f"{hook.name}-{number}"
        made.append(hook if name == hook.name else replace(hook, name=name, label=name))
    return made


def _folder_of(hook: Hook) -> str:
    return os.path.dirname(hook.source.rpartition(":")[0] or hook.source)


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
