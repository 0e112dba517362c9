"""Hooks, the public face: register, fire, observe. It has no rules of its own; it brings the parts together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from .config.declare import declare
from .config.mapping import read_mapping, read_scope, settings_from
from .errors import BadHook, InterposeError, Problem
from .events import TABLE, Row, Table
from .handlers import Handler
from .model import Hook, Settings
from .records import replace
from .switchboard import Recorder, Switchboard
from .telemetry.lifecycle import Observer, Subscription

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from .audit.store import AuditStore
    from .config.load import Loaded, Origin
    from .config.reload import ConfigFiles
    from .scripts import Commands
    from .session import Session, SyncSession
    from .telemetry.tracing import Tracing

__all__ = ["Hooks"]

_F = TypeVar("_F", bound=Callable[..., Any])


class Hooks(Switchboard):
    """The hooks of one host: register them, fire events through them.

    Firing is safe from many tasks and threads at once; registering too, and takes effect at the next firing.
    """

    def __init__(
        self,
        *,
        error_behavior: str = "log",
        default_timeout: float = 0.0,
        timeout_ceiling: float = 0.0,
        total_timeout: float = 0.0,
        max_hooks_per_point: int = 50,
        enforce: bool = True,
        redirect_output: bool = False,
        session_id: str | None = None,
        events: Table = TABLE,
    ) -> None:
        self.settings: Settings = settings_from(
            error_behavior=error_behavior,
            default_timeout=default_timeout,
            timeout_ceiling=timeout_ceiling,
            total_timeout=total_timeout,
            max_hooks_per_point=max_hooks_per_point,
            enforce=enforce,
            redirect_output=redirect_output,
        )
        super().__init__(events, session_id)
        self.show: Callable[[str], None] = _show
        """Shows a text to the person: what ``/notify`` in a script says."""
        self._files: ConfigFiles | None = None
        self._from_files: list[Hook] = []
        self._given: dict[str, Any] = {}
        self._commands: Commands | None = None
        self.permissions: dict[str, str] = {}
        """What the configuration allows, denies and has asked about: for sessions, and for ``/perms check``."""
        self.audit: AuditStore | None = None
        """Where firings are recorded, if a configuration says so."""
        self._audited: tuple[bool, Mapping[str, Any] | None] = (True, None)
        self.origins: tuple[Origin, ...] = ()
        """The files that hooks come from."""
        self.warnings: tuple[Problem, ...] = ()
        """What a configuration says that will have no effect, or another than it seems."""
        if redirect_output:
            from .telemetry.prints import redirect_prints

            redirect_prints()

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], *, events: Table = TABLE, **settings: Any) -> Hooks:
        """Return hooks from a configuration as it stands in a file."""
        found = read_mapping(events, mapping)
        hooks = cls(events=events, **{**found.settings, **settings})
        hooks.permissions = dict(found.permissions)
        if any(hook.type == "script" for hook in found.hooks):
            hooks._add_scripts(found.permissions)
        hooks._registry.add(found.hooks, found.scopes)
        hooks._audit_with(hooks._store_of(found.audit), found.audit)
        return hooks

    @classmethod
    def load(
        cls,
        *paths: str | os.PathLike[str],
        dialect: str | None = None,
        commands: Commands | None = None,
        watch: bool = False,
        lines: bool = True,
        audit: bool = True,
        events: Table = TABLE,
        **settings: Any,
    ) -> Hooks:
        """Return the hooks of configuration files, which are trusted by being named here.

        A ``.claude/settings*.json``, or any file with ``dialect="claude"``, means what it means in Claude Code.
        ``commands`` are those that script lines may use; ``watch`` takes changed files over as they change; without
        ``audit`` nothing is recorded, whatever the files say.
        """
        from .config.reload import ConfigFiles

        return cls._armed(ConfigFiles.named(paths, dialect, commands, lines), commands, watch, audit, events, settings)

    @classmethod
    def discover(
        cls,
        cwd: str | os.PathLike[str] = ".",
        *,
        dialect: str | None = None,
        commands: Commands | None = None,
        watch: bool = False,
        lines: bool = True,
        audit: bool = True,
        events: Table = TABLE,
        **settings: Any,
    ) -> Hooks:
        """Return the hooks that are found for a directory: the person's, the project's, the local ones.

        Files that nobody has trusted (``interpose trust``) arm nothing; ``warnings`` names them.
        """
        from .config.reload import ConfigFiles

        return cls._armed(
            ConfigFiles.around(os.fspath(cwd), dialect, commands, lines), commands, watch, audit, events, settings
        )

    @classmethod
    def _armed(
        cls,
        files: ConfigFiles,
        commands: Commands | None,
        watch: bool,
        audit: bool,
        events: Table,
        given: dict[str, Any],
    ) -> Hooks:
        loaded = files.read(events)
        hooks = cls(events=events, **{**loaded.settings, **given})
        hooks._files, hooks._given, hooks._commands = files, given, commands
        hooks._audited = (audit, None)
        hooks._arm(loaded)
        if watch:
            files.watch(hooks.reload)
        return hooks

    def _arm(self, loaded: Loaded) -> None:
        """Put what files say in the place of what they said before, all of it or nothing."""
        settings = settings_from(**{**loaded.settings, **self._given})
        store = self._store_of(loaded.audit)
        files = self._files
        switches = loaded.switches
        hooks = [
            replace(hook, enabled=switches[hook.name])
            if hook.name in switches and hook.layer != "code"  # a person at a terminal is above all files
            else hook
            for hook in loaded.hooks
        ]
        before, scopes_before = self.handlers, files.loaded.scopes if files is not None else {}
        if any(hook.type == "script" for hook in hooks):
            self._add_scripts(loaded.permissions)
        try:
            self._from_files = self._registry.exchange(
                self._from_files, hooks, scopes_before, loaded.scopes, settings.max_hooks_per_point
            )
        except InterposeError:
            self.handlers = before
            raise
        self.settings = settings
        self.permissions = dict(loaded.permissions)
        if files is not None:
            files.loaded = loaded
        self.warnings, self.origins = tuple(loaded.warnings), tuple(loaded.origins)
        self._audit_with(store, loaded.audit)

    def _store_of(self, audit: Mapping[str, Any] | None) -> AuditStore | None:
        """Return the store that a configuration asks for: the one that is there, if it asks for nothing new."""
        wanted, before = self._audited
        if audit is None or not wanted:
            return None
        if audit == before:
            return self.audit
        from .audit.store import configured_store

        return configured_store(audit)

    def _audit_with(self, store: AuditStore | None, audit: Mapping[str, Any] | None) -> None:
        before, self.audit = self.audit, store
        self._audited = (self._audited[0], audit)
        if store is not None:
            store.configured(self.origins)
        if store is not before:
            self.recorder = store
            self._forget()
            if before is not None:
                before.close()

    def _add_scripts(self, permissions: Mapping[str, str]) -> None:
        from .scripts import Commands, ScriptHandler, ScriptHost

        # A host may set what shows texts later.
        host = ScriptHost(permissions=permissions, fire=self.fire, show=self._show_later)
        self.handlers = {**self.handlers, "script": ScriptHandler(self._commands or Commands(), host)}

    def _show_later(self, text: str) -> None:
        self.show(text)

    def reload(self) -> bool:
        """Read the files again and take them over whole; if that cannot be, keep what is armed and say so.

        Every outcome says so too, in ``extra["reload"]``, until a reload succeeds.
        """
        self.off = os.environ.get("INTERPOSE_OFF", "")
        try:
            if self._files is not None:
                self._arm(self._files.read_again(self._table))
        except InterposeError as error:
            self.notes = {"reload": f"a changed configuration was not taken over: {error}"}
        else:
            self.notes = {}
        self._forget()
        return not self.notes

    # Registering.

    def register(self, event: str, handler: Any = None, **options: Any) -> Hook:
        """Add a hook and return it.

        Options: ``name``, ``matcher``, ``if_``, ``priority`` (lower first, 100), ``timeout`` (seconds), ``on_error``
        (``log``, ``skip``, ``abort``), ``enabled``, ``enforce``, ``locked``, ``parallel``, ``async_``, ``once``,
        ``inline``, ``scope``, ``layer``, ``description``. With ``type="command"`` the handler is a program and its
        arguments; ``command=`` is a line for the shell instead. Commands also take ``args``, ``env``, ``pass_env``,
        ``inherit_env``, ``cwd``, ``isolation``, ``background`` and ``warm``. A hook of the same name, layer, scope
        and event is replaced.
        """
        hook = declare(self._table, event, handler, types=tuple(self.handlers), **options)
        return self._registry.add([hook])[0]

    def on(self, event: str, **options: Any) -> Callable[[_F], _F]:
        """Register the decorated function; takes what ``register`` takes."""

        def add(function: _F) -> _F:
            self.register(event, function, **options)
            return function

        return add

    def unregister(self, hook: str | Hook, *, layer: str = "code") -> None:
        """Remove a hook, or every hook of a name that the layer may touch."""
        self._registry.remove(hook, layer)

    def enable(self, name: str, *, layer: str = "code") -> None:
        """Switch every hook of a name on."""
        self._registry.switch(name, True, layer)

    def disable(self, name: str, *, layer: str = "code") -> None:
        """Switch every hook of a name off; it stays registered and keeps its place."""
        self._registry.switch(name, False, layer)

    def is_enabled(self, name: str) -> bool:
        """Say whether a hook of that name is switched on."""
        return any(hook.enabled for hook in self._registry.named(name))

    def __iter__(self) -> Iterator[Hook]:
        """Go through everything that is registered, event by event, in the order of registration."""
        return iter(self._registry.snapshot)

    def register_scoped(
        self, scope: str, hooks: Mapping[str, Any], parent: str | None = None, like: str | None = None
    ) -> list[Hook]:
        """Add hooks that hold for one agent: event to a list of callables, hook mappings or groups.

        ``parent`` is the agent that spawned it: its locked hooks hold too. ``like`` is the agent that it is one of, as
        a configuration names it: all hooks of that one hold too.
        """
        if not isinstance(scope, str) or not scope:
            raise BadHook("a scope is named by text", hint="usually the agent's id")
        found = read_scope(self._table, scope, hooks, parent, like)
        return self._registry.add(found.hooks, found.scopes)

    def unregister_scoped(self, scope: str) -> None:
        """Remove a scope with its hooks; a scope that is not there is no error."""
        self._registry.remove_scope(scope)

    @contextmanager
    def scope(
        self, scope: str, hooks: Mapping[str, Any], parent: str | None = None, like: str | None = None
    ) -> Iterator[list[Hook]]:
        """Hold hooks for one agent as long as the block runs; what others registered for it stays."""
        known = scope in self._registry.snapshot.scopes
        added = self.register_scoped(scope, hooks, parent, like)
        try:
            yield added
        finally:
            if known:
                self._registry.discard(added)
            else:
                self.unregister_scoped(scope)

    def add_event(self, row: Row) -> None:
        """Add a row to this engine's table of events."""
        self._table = self._table.with_row(row)
        self._forget()

    @property
    def events(self) -> Table:
        """The table of events."""
        return self._table

    def add_handler(self, type: str, handler: Handler) -> None:
        """Add a kind of handler: a coroutine function of the hook, its event and its deadline; it returns the reply."""
        if not isinstance(type, str) or not type or type == "python":
            raise BadHook(f"type: {type!r} cannot be added", hint="choose another name")
        self.handlers = {**self.handlers, type: handler}
        self._forget()

    def session(self, **options: Any) -> Session:
        """Return a session: it fires the events of an agent's life in their order. Use it with ``async with``.

        Options: ``session_id``, ``cwd``, ``agent_id``, ``agent_type``, ``model``, ``transcript_path``, ``source``
        (``startup``, ``resume``), ``default`` (what happens to a call that no hook decides: ``allow`` or ``ask``),
        ``mode`` (``default``, ``acceptEdits``, ``plan``, ``bypass``), ``rules`` (``{"Bash(git push *)": "ask"}``; the
        configuration's permissions if not given), ``asker`` (is given a Question and says yes or no), ``show`` (tells
        the person something), ``env_file``, ``most_keep_goings``, ``on_outcome`` (is told of every outcome).
        """
        from .session import Session

        return Session(self, **{"rules": self.permissions, "show": self._show_later, **options})

    def session_sync(self, **options: Any) -> SyncSession:
        """Return a session for a host without an event loop; takes what ``session`` takes. Use it with ``with``."""
        from .session import SyncSession

        return SyncSession(self, **{"rules": self.permissions, "show": self._show_later, **options})

    def observe(self, observer: Observer) -> Subscription:
        """Tell a callable of every hook that starts, reports progress and answers."""
        return self._observers.add(observer, self._forget)

    def record(self, recorder: Recorder | None) -> None:
        """Give every outcome to one recorder before the host gets it; what it returns is waited for.

        Unlike an observer it may make a firing wait. If it raises, the outcome says so; with a true attribute
        ``required`` it denies. An ``AuditStore`` is one; that of a configuration (``audit:``) gives way to another.
        """
        self.recorder = recorder
        self._forget()

    def close(self) -> None:
        """Write what is left for the audit store, and let go of it; a later firing opens it again."""
        if self.audit is not None:
            self.audit.close()

    def trace(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        redact: Callable[[str], str] | None = None,
    ) -> Tracing:
        """Report every firing and every hook to OpenTelemetry (``interpose[otel]``): spans, counts and durations.

        They go to these providers, or to those that the host has set for its process. ``close()`` of what is returned
        ends it. ``redact`` takes secrets out of reasons and errors, instead of the rules of the audit store.
        """
        from .audit.redact import Redactor
        from .telemetry import start_tracing

        return start_tracing(
            self, tracer_provider=tracer_provider, meter_provider=meter_provider, redact=redact or Redactor()
        )


def _show(text: str) -> None:
    import sys

    print(text, file=sys.stderr)  # noqa: T201 - this is how a person is told without a host
