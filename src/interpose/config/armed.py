"""What configurations have brought into an engine: hooks, settings, permissions, an audit store, script commands.

A configuration is taken over whole or not at all; a changed file that cannot be taken over leaves the old one armed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..engine import Engine, Recorder
from ..errors import ConfigError, InterposeError, Problem
from ..model import Hook
from .kinds import JUDGES
from .mapping import Configuration, settings_from
from .questions import needs_audit
from .switches import switched

if TYPE_CHECKING:
    from ..audit.store import AuditStore
    from ..matching.declared_tools import DeclaredTool
    from ..models.configured import ConfiguredModel
    from ..scripts import Commands
    from ..session.configured_rules import ConfiguredRules
    from .fleet import FleetSettings
    from .load import Loaded, Origin
    from .options import SettingOptions
    from .reload import ConfigFiles

__all__ = ["Armed"]


class Armed:
    """The configurations of one engine."""

    def __init__(self, engine: Engine, show: Callable[[str], None], hooks: Any = None) -> None:
        """``hooks`` is the host's ``Hooks``, which hold for what the agent of a hook does."""
        self.engine = engine
        self._host = hooks
        self.permissions: dict[str, str] = {}
        self.harmless: tuple[str, ...] = ()
        self.places: dict[str, str] = {}
        """Where the rules are written."""
        self.store: AuditStore | None = None
        self.wait: float | None = None
        """Seconds that a question waits in the record; None if questions do not."""
        self.origins: tuple[Origin, ...] = ()
        self.warnings: tuple[Problem, ...] = ()
        self._commands: Commands | None = None
        self._records = True
        self._show = show
        self._audit: Mapping[str, Any] | None = None
        self._given: SettingOptions = {}
        self._files: ConfigFiles | None = None
        self._hooks: list[Hook] = []
        self._tools: list[Sequence[DeclaredTool]] = []  # of configurations
        self._default_tools: list[DeclaredTool] = []
        self.models: list[ConfiguredModel] = []
        """The models that hooks may ask."""
        self.fleet: FleetSettings | None = None
        """The fleet whose workers hooks may ask."""

    def take_mapping(self, found: Configuration) -> None:
        """Arm a configuration that was given as a mapping."""
        self.permissions, self.places = dict(found.permissions), dict(found.places)
        self.warnings = tuple(found.warnings)
        if any(hook.type == "script" for hook in found.hooks):
            self._add_scripts(found.permissions)
        self.models, self.fleet = found.models, found.fleet
        self.engine.registry.add(self.with_models(found.hooks), found.scopes)
        self._declare([found.tools])
        if found.questions is not None and found.audit is None:
            raise ConfigError([needs_audit(found.questions)])
        self._record_to(self._store_of(found.audit), found.audit)
        self._let_wait(found.questions)

    def rules(self, more: Mapping[str, str] | None, harmless: Iterable[str]) -> ConfiguredRules:
        """Return the permission rules of files, which follow a reload, with ``more`` rules."""
        from ..session.configured_rules import ConfiguredRules

        return ConfiguredRules(lambda: (self.permissions, self.harmless, self.places), more, harmless)

    def take_files(
        self,
        files: ConfigFiles,
        loaded: Loaded,
        given: SettingOptions,
        *,
        commands: Commands | None = None,
        records: bool = True,
    ) -> None:
        """Arm what was read from files; ``given`` are settings of the host, which win.

        Without ``records`` nothing is recorded, whatever a configuration says.
        """
        self._files, self._given, self._commands, self._records = files, given, commands, records
        self._take_over(loaded)

    def _take_over(self, loaded: Loaded) -> None:
        """Put what files say in the place of what they said before, all of it or nothing."""
        settings = settings_from(**{**loaded.settings, **self._given})
        store = self._store_of(loaded.audit)
        engine, files = self.engine, self._files
        gone, hooks = self._without_replaced(switched(loaded.hooks, loaded.switches), loaded)
        before, scopes_before = engine.handlers, files.loaded.scopes if files is not None else {}
        if any(hook.type == "script" for hook in hooks):
            self._add_scripts(loaded.permissions)
        self._add_judges(hooks)
        try:
            self._hooks = engine.registry.exchange(
                gone, hooks, scopes_before, loaded.scopes, settings.max_hooks_per_point
            )
        except InterposeError:
            engine.handlers = before
            raise
        engine.settings, self.models, self.fleet = settings, loaded.models, loaded.fleet
        self.permissions, self.harmless = dict(loaded.permissions), tuple(loaded.harmless)
        self.places = dict(loaded.places)
        self._declare(loaded.tools)
        if files is not None:
            files.loaded = loaded
        self.warnings, self.origins = tuple(loaded.warnings), tuple(loaded.origins)
        engine.notes = {"changed": "; ".join(map(str, loaded.changed))} if loaded.changed else {}
        self._record_to(store, loaded.audit)
        self._let_wait(loaded.questions)

    def _let_wait(self, questions: Mapping[str, Any] | None) -> None:
        self.wait = None if questions is None or self.store is None else questions["wait"]

    def with_models(self, hooks: list[Hook]) -> list[Hook]:
        """Return hooks with the models and workers that they ask; raise ConfigError if there is no such model."""
        if any(hook.type == "nats" for hook in hooks):
            from .nats_hooks import with_connections

            hooks = with_connections(hooks, self.fleet)
        if not any(hook.type in JUDGES for hook in hooks):
            return hooks
        from .models import find_models

        problems: list[Problem] = []
        found = find_models(hooks, self.models, problems.append, lambda problem: None)
        if problems:
            raise ConfigError(problems)
        self._add_judges(found)
        return found

    def _add_judges(self, hooks: list[Hook]) -> None:
        """Add the handlers of hooks that ask a model; what a host has added for them stays."""
        for kind in {hook.type for hook in hooks}.intersection(JUDGES).difference(self.engine.handlers):
            from ..handlers.prompt import JudgeHandler, ask_once, lazy_agent

            ask = ask_once if kind == JUDGES[0] else lazy_agent()
            handler = JudgeHandler(ask, self._host, lambda: (self._audit or {}).get("redact", {}))
            self.engine.handlers = {**self.engine.handlers, kind: handler}

    def declare_tools(self, tools: Sequence[DeclaredTool]) -> None:
        """Add tools that code declares; what is declared again is replaced."""
        again = {tool.pattern for tool in tools}
        self._default_tools = [*(tool for tool in self._default_tools if tool.pattern not in again), *tools]
        self._declare(self._tools)

    def _declare(self, tools: Sequence[Sequence[DeclaredTool]]) -> None:
        """Put the declared tools of configurations in the place of those before."""
        if not any(tools) and not any(self._tools) and not self._default_tools:
            return
        from .tools import declared_tools

        self._tools = list(tools)
        self.engine.tools = declared_tools(self._tools, self._default_tools)
        self.engine.forget_routes()

    def _without_replaced(self, hooks: list[Hook], loaded: Loaded) -> tuple[list[Hook], list[Hook]]:
        """Return which hooks of files are armed now, and the new ones; those that code has replaced are in neither."""
        now = list(self.engine.registry.snapshot)
        armed = {id(hook.health) for hook in self._hooks}  # what switching a hook leaves as it is
        gone = [hook for hook in now if id(hook.health) in armed]
        by_code = {_place(hook) for hook in now if hook.name and id(hook.health) not in armed}
        replaced = [hook for hook in hooks if _place(hook) in by_code and not hook.locked]
        loaded.warnings += [
            Problem(f"{hook.label}: replaced by a hook of the same name that code has registered", where=hook.source,
                    hint="give one of them another name")
            for hook in replaced
        ]  # fmt: skip
        return gone, [hook for hook in hooks if hook not in replaced]

    def _store_of(self, audit: Mapping[str, Any] | None) -> AuditStore | None:
        """Return the store that a configuration asks for: the one that is open, if it asks for nothing new."""
        if audit is None or not self._records:
            return None
        if audit == self._audit:
            return self.store
        from ..audit.store import configured_store

        return configured_store(audit)

    def _record_to(self, store: AuditStore | None, audit: Mapping[str, Any] | None) -> None:
        before, self.store, self._audit = self.store, store, audit
        if store is not None:
            store.configured(self.origins)
        if store is not before:
            recorder: Recorder | None = store
            self.engine.recorder = recorder
            self.engine.forget_routes()
            if before is not None:
                before.close()

    def _add_scripts(self, permissions: Mapping[str, str]) -> None:
        from ..scripts import Commands, ScriptHandler, ScriptHost

        host = ScriptHost(permissions=permissions, fire=self.engine.fire_event, show=self._show)
        handler = ScriptHandler(self._commands or Commands(), host)
        self.engine.handlers = {**self.engine.handlers, "script": handler}

    def reload(self) -> bool:
        """Read the files again and take them over; if that cannot be, keep what is armed and let outcomes say so."""
        engine = self.engine
        engine.off = os.environ.get("INTERPOSE_OFF", "")
        try:
            if self._files is not None:
                self._take_over(self._files.read_again(engine.table))
        except InterposeError as error:
            engine.notes = {"reload": f"a changed configuration was not taken over: {error}"}
        engine.forget_routes()
        return "reload" not in engine.notes


def _place(hook: Hook) -> tuple[object, ...]:
    return hook.event, hook.layer, hook.scope, hook.name
