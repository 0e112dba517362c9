"""The class ``Hooks``: register hooks, fire events, observe. Its engine decides; it has no rules of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from .config.armed import Armed
from .config.declare import declare, warn_of_doubt
from .config.mapping import read_mapping, read_scope, settings_from
from .engine import Engine, Recorder
from .errors import BadHook, Problem, UsageError
from .events import TABLE, EventSpec, Table
from .executors.blocking import blocking_executor
from .handlers import Handler
from .handlers.loading import close_handlers
from .model import Hook, Outcome, Settings, fire_without_hooks
from .runtime.coroutines import drive

if TYPE_CHECKING:
    from .audit.store import AuditStore
    from .config.load import Origin
    from .config.options import DiscoverOptions, HookOptions, LoadOptions, SettingOptions
    from .config.reload import ConfigFiles
    from .questions import Questions
    from .session import Session, SessionOptions, SyncSession
    from .session.configured_rules import ConfiguredRules
    from .session.sessions import Sessions
    from .telemetry import TracingOptions
    from .telemetry.lifecycle import Observer, Observers, Subscription
    from .telemetry.tracing import Tracing

__all__ = ["Hooks"]

_F = TypeVar("_F", bound=Callable[..., Any])


class Hooks:
    """The hooks of one host: register hooks, and fire events through them.

    Firing is safe from many tasks and threads at once; registering too, and takes effect at the next firing.
    """

    def __init__(
        self, *, events: Table = TABLE, session_id: str | None = None, **settings: Unpack[SettingOptions]
    ) -> None:
        self.engine = Engine(settings_from(**settings), events, session_id)  # its registry has the hooks
        self.show: Callable[[str], None] = _show  # shows a text to the person: what ``/notify`` in a script says
        self._show_later = lambda text: self.show(text)  # noqa: PLW0108 - a host may set it later
        self._armed = Armed(self.engine, self._show_later, self)
        self._observers: Observers | None = None
        if self.settings.redirect_output:
            from .telemetry.prints import redirect_prints

            redirect_prints()

    def __repr__(self) -> str:
        events = [hook.event for hook in self]
        at = f" at {', '.join(dict.fromkeys(events))}" if events else ""
        files = f", from {', '.join(origin.source.path for origin in self.origins)}" if self.origins else ""
        return f"<Hooks: {len(events)} hook{'' if len(events) == 1 else 's'}{at}{files}>"

    @property
    def settings(self) -> Settings:
        """What holds for all hooks: deadlines, limits, what a failure means."""
        return self.engine.settings

    @property
    def events(self) -> Table:
        """The table of events."""
        return self.engine.table

    @property
    def permissions(self) -> dict[str, str]:
        """What the configuration allows, denies and asks about: for sessions, and for ``/perms check``."""
        return self._armed.permissions

    @property
    def audit(self) -> AuditStore | None:
        """The store in which firings are recorded, if a configuration names one."""
        return self._armed.store

    @property
    def questions(self) -> Questions | None:
        """The approver whose questions wait in the record, if a configuration says so; sessions use it by default."""
        from .questions import Questions

        store, wait = self._armed.store, self._armed.wait
        return Questions(store, wait=wait, show=self._show_later) if store is not None and wait is not None else None

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The files that hooks come from."""
        return self._armed.origins

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What a configuration says that has no effect, or another effect than it seems to have."""
        return self._armed.warnings

    # From configurations.

    @classmethod
    def from_mapping(
        cls, mapping: Mapping[str, Any], *, events: Table = TABLE, session_id: str | None = None,
        **settings: Unpack[SettingOptions],
    ) -> Hooks:  # fmt: skip
        """Return the hooks of a configuration that is a mapping, with the keys that a file has."""
        found = read_mapping(events, mapping)
        hooks = cls(events=events, session_id=session_id, **{**found.settings, **settings})
        hooks._armed.take_mapping(found)
        return hooks

    @classmethod
    def load(cls, *paths: str | os.PathLike[str], **options: Unpack[LoadOptions]) -> Hooks:
        """Return the hooks of configuration files, which are trusted by being named here.

        A ``.claude/settings*.json``, or any file with ``dialect="claude"``, means what it means in Claude Code.
        """
        return cls._from(lambda files: partial(files.named, paths), options)

    @classmethod
    def discover(cls, cwd: str | os.PathLike[str] = ".", **options: Unpack[DiscoverOptions]) -> Hooks:
        """Return the hooks of the trusted files that are found for a directory; ``warnings`` names the others."""
        changed, required = options.pop("changed", "refuse"), options.pop("required", False)
        return cls._from(lambda files: partial(files.around, os.fspath(cwd), changed, required), options)

    @classmethod
    def _from(cls, find: Callable[[type[ConfigFiles]], Any], options: LoadOptions | DiscoverOptions) -> Hooks:
        from .config.reload import ConfigFiles

        commands, events = options.pop("commands", None), options.pop("events", TABLE)
        watch, audit = options.pop("watch", False), options.pop("audit", True)
        files = find(ConfigFiles)(options.pop("dialect", None), commands, options.pop("lines", True))
        loaded, settings = files.read(events), cast("SettingOptions", options)
        hooks = cls(events=events, **{**loaded.settings, **settings})
        hooks._armed.take_files(files, loaded, settings, commands=commands, records=audit)
        if watch:
            files.watch(hooks.reload)
        return hooks

    def reload(self) -> bool:
        """Read the files again and arm all of them; if that fails, keep what is armed and return False.

        Until a reload succeeds, ``extra["reload"]`` of every outcome says why.
        """
        return self._armed.reload()

    # Firing.

    def fire(self, event: str, /, **fields: Any) -> Coroutine[Any, Any, Outcome]:
        """Run the hooks that match an event, and return what the host must do. Await it."""
        try:
            subject, template, routes = self.engine.quick[event]
            route = routes[fields[subject]]
        except (KeyError, TypeError):
            return self.engine.fire_event(event, **fields)  # not seen before, or a mistake, which is raised there
        return fire_without_hooks(template, fields) if route is None else self.engine.fire(route, fields, None)

    def fire_sync(self, event: str, /, **fields: Any) -> Outcome:
        """Fire from code without an event loop. Inside a running loop it works, and blocks that loop meanwhile."""
        return drive(self.engine.fire(self.engine.route(event, fields), fields, blocking_executor))

    def wants(self, event: str, subject: str = "", agent_id: str | None = None) -> bool:
        """Say whether any hook may run for this event and subject."""
        try:
            return self.engine.quick[event][2][subject] is not None  # for every agent: no scope has hooks of its own
        except KeyError:
            pass  # not seen before
        return self.engine.wants(event, subject, agent_id)

    # Registering.

    def register(self, event: str, handler: Any = None, **options: Unpack[HookOptions]) -> Hook:
        """Add a hook and return it. A hook of the same name, layer, scope and event is replaced.

        The handler is a callable, or the name of one (``module.function``). With ``type="command"`` it is a program
        and its arguments; ``command=``, ``url=`` and ``tool=`` take its place. ``HookOptions`` says what they mean.
        """
        hook = declare(self.engine.table, event, handler, types=tuple(self.engine.handlers), **options)
        warn_of_doubt(hook)
        return self.engine.registry.add(self._armed.with_models([hook]))[0]

    def on(self, event: str, **options: Unpack[HookOptions]) -> Callable[[_F], _F]:
        """Register the decorated function; takes what ``register`` takes."""
        if callable(event):
            raise BadHook("@hooks.on needs an event", hint='write @hooks.on("PreToolUse")')

        def add(function: _F) -> _F:
            self.register(event, function, **options)
            return function

        return add

    def use(self, policy: str, **options: Any) -> list[Hook]:
        """Switch on a policy, or the set ``recommended``, with its parameters; return its hooks.

        Takes what an entry of ``policies:`` takes, in the same spelling: ``hooks.use("secrets", where=["prompts"])``.
        """
        from .policies import read_policy

        uses = read_policy(policy, options)
        return self.engine.registry.add(declare(self.engine.table, use.event, use.hook, **use.options) for use in uses)

    def unregister(self, hook: str | Hook, *, layer: str = "code") -> None:
        """Remove a hook, or every hook of a name that the layer may touch."""
        self.engine.registry.remove(hook, layer)

    def enable(self, name: str, *, layer: str = "code") -> None:
        """Switch every hook of a name on."""
        self.engine.registry.switch(name, True, layer)

    def disable(self, name: str, *, layer: str = "code") -> None:
        """Switch every hook of a name off; it stays registered and keeps its place."""
        self.engine.registry.switch(name, False, layer)

    def is_enabled(self, name: str) -> bool:
        """Say whether a hook of that name is switched on."""
        return any(hook.enabled for hook in self.engine.registry.named(name))

    def __iter__(self) -> Iterator[Hook]:
        """Go through everything that is registered, event by event, in the order of registration."""
        return iter(self.engine.registry.snapshot)

    def register_scoped(
        self, scope: str, hooks: Mapping[str, Any], parent: str | None = None, like: str | None = None
    ) -> list[Hook]:
        """Add hooks that hold for one agent: event to a list of callables, hook mappings or groups.

        ``parent`` is the agent that spawned it: its locked hooks hold too. ``like`` is the kind of the agent,
        by its name under ``agents:`` of a configuration: the hooks of that kind hold too.
        """
        found = read_scope(self.engine.table, scope, hooks, parent, like)
        return self.engine.registry.add(self._armed.with_models(found.hooks), found.scopes)

    def unregister_scoped(self, scope: str) -> None:
        """Remove a scope with its hooks; a scope that is not there is no error."""
        self.engine.registry.remove_scope(scope)

    @contextmanager
    def scope(
        self, scope: str, hooks: Mapping[str, Any], parent: str | None = None, like: str | None = None
    ) -> Iterator[list[Hook]]:
        """Add hooks for one agent until the block ends; hooks that other code has registered for it stay."""
        known = scope in self.engine.registry.snapshot.scopes
        added = self.register_scoped(scope, hooks, parent, like)
        try:
            yield added
        finally:
            if known:
                self.engine.registry.discard(added)
            else:
                self.unregister_scoped(scope)

    def declare_tools(self, tools: Mapping[str, Any]) -> None:
        """Give the host's tools the names that rules know, as ``tools:`` does; a configuration takes precedence."""
        from .config.tools import read_given_tools

        self._armed.declare_tools(read_given_tools(tools))

    def add_event(self, row: EventSpec) -> None:
        """Add a row to this engine's table of events."""
        if not isinstance(row, EventSpec):
            raise UsageError(f"add_event() takes an EventSpec, not {type(row).__name__}", hint="EventSpec(name, ...)")
        self.engine.table = self.engine.table.with_row(row)
        self.engine.forget_routes()

    def add_handler(self, type: str, handler: Handler) -> None:
        """Add a kind of handler: a coroutine function of the hook, its event and its deadline; it returns the reply."""
        if not isinstance(type, str) or not type or type == "python" or not callable(handler):
            raise BadHook(f"type: {type!r}: {handler!r} cannot be added", hint="give a name and a coroutine function")
        self.engine.handlers = {**self.engine.handlers, type: handler}
        self.engine.forget_routes()

    # Sessions.

    def session(self, **options: Unpack[SessionOptions]) -> Session:
        """Return a session: it fires the events of an agent's life in their order. Use it with ``async with``."""
        from .session import Session

        return Session(self, **self._session_options(options))

    def session_sync(self, **options: Unpack[SessionOptions]) -> SyncSession:
        """Return a session for a host without an event loop; takes what ``session`` takes. Use it with ``with``."""
        from .session import SyncSession

        return SyncSession(self, **self._session_options(options))

    def sessions(self, *, keep: int = 1000, idle: float = 3600, **options: Unpack[SessionOptions]) -> Sessions:
        """Return the sessions of many conversations, which are found by id, begun once, and ended when they are idle.

        ``keep`` is how many are kept, ``idle`` after how many seconds one is ended; the rest is for ``session``.
        """
        from .session.sessions import Sessions

        return Sessions(self.session, keep=keep, idle=idle, options=dict(options))

    def rules(self, more: Mapping[str, str] | None = None, harmless: Iterable[str] = ()) -> ConfiguredRules:
        """Return permission rules for a session: those of the configuration, also after a reload, and ``more`` rules.

        ``harmless`` are rules for calls that are not asked about, unless a hook or another rule asks.
        """
        return self._armed.rules(more, harmless)

    def _session_options(self, options: SessionOptions) -> Any:
        given = {"rules": self.rules(), "show": self._show_later, **options}
        if given.get("approver") is None and "asker" not in given:
            given["approver"] = self.questions
        return given

    # Observing and recording.

    def observe(self, observer: Observer) -> Subscription:
        """Call a function with a message for every hook that starts, reports progress or answers."""
        if self._observers is None:
            from .telemetry.lifecycle import Observers

            self._observers = Observers(self.engine)
        return self._observers.add(observer)

    def record(self, recorder: Recorder | None) -> None:
        """Give every outcome to one recorder before the host gets it; what it returns is waited for.

        Unlike an observer it may make a firing wait. If it raises, the outcome says so; with a true attribute
        ``required`` it denies. An ``AuditStore`` is one; this recorder replaces that of a configuration (``audit:``).
        """
        if recorder is not None and not callable(recorder):
            raise UsageError(f"a recorder is called with every outcome, and {recorder!r} cannot be called")
        self.engine.recorder = recorder
        self.engine.forget_routes()

    def close(self) -> None:
        """Write what is left for the audit store, end MCP servers and connections; a later firing opens them again."""
        close_handlers(self.engine.handlers)
        if self.audit is not None:
            self.audit.close()

    def trace(self, **options: Unpack[TracingOptions]) -> Tracing:
        """Report every firing and every hook to OpenTelemetry (``interpose[otel]``): spans, counts and durations.

        They go to these providers, or to those of the process. ``close()`` of what is returned ends it.
        """
        from .telemetry import start_tracing

        return start_tracing(self.engine, **options)


def _show(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201 - this is how a person is told without a host
