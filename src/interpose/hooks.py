"""Hooks, the public face: register, fire, observe. It has no rules of its own; it brings the parts together."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, TypeVar
from uuid import uuid4

from .config.declare import declare
from .config.mapping import read_mapping, read_scope, settings_from
from .decide import Ran
from .dialects import native
from .engine import conduct
from .errors import BadEvent, BadHook, Problem, UnknownEvent
from .events import TABLE, Row, Table
from .firing import Firing
from .handlers import Handler
from .handlers.command import CommandHandler
from .lanes import BlockingLanes, Lanes
from .ledger import Ledger
from .model import Hook, Outcome, Settings
from .observe.lifecycle import Observer, Observers, Subscription, message
from .payload import Template
from .plan import make_plan
from .registry import Registry
from .replies import Failure, HookFailed
from .step import Engine, Read, Route

__all__ = ["Hooks"]

_MOST_ROUTES = 4096
Recorder = Callable[[Outcome], Awaitable[None] | None]
_F = TypeVar("_F", bound=Callable[..., Any])


class Hooks(Engine):
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
        self.session_id = session_id or str(uuid4())
        self.off = os.environ.get("INTERPOSE_OFF", "")
        self.tell: Callable[[str, Hook, Ledger, dict[str, Any]], None] | None = None
        self.late: dict[str, list[Ran]] = {}
        self.recorder: Recorder | None = None
        self.handlers: dict[str, Handler] = {"command": CommandHandler()}
        self._table = events
        self.warnings: tuple[Problem, ...] = ()
        """What a configuration says that will have no effect, or another than it seems."""
        self._observers = Observers()
        self._blocking: BlockingLanes | None = None
        self._registry = Registry(self.settings.max_hooks_per_point, self._forget)
        self._forget()
        if redirect_output:
            from .observe.prints import redirect_prints

            redirect_prints()

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], *, events: Table = TABLE, **settings: Any) -> Hooks:
        """Return hooks from a configuration as it stands in a file."""
        found = read_mapping(events, mapping)
        hooks = cls(events=events, **{**found.settings, **settings})
        hooks._registry.add(found.hooks, found.scopes)
        return hooks

    @classmethod
    def load(
        cls, *paths: str | os.PathLike[str], dialect: str | None = None, events: Table = TABLE, **settings: Any
    ) -> Hooks:
        """Return the hooks of configuration files, which are trusted by being named here.

        A ``.claude/settings*.json``, or any file with ``dialect="claude"``, means what it means in Claude Code.
        """
        from .config.load import load_files

        found = load_files(events, paths, dialect)
        hooks = cls(events=events, **{**found.settings, **settings})
        hooks._registry.add(found.hooks, found.scopes)
        hooks.warnings = tuple(found.warnings)
        return hooks

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

    def register_scoped(self, scope: str, hooks: Mapping[str, Any], parent: str | None = None) -> list[Hook]:
        """Add hooks that hold for one agent: event to a list of callables, hook mappings or groups."""
        if not isinstance(scope, str) or not scope:
            raise BadHook("a scope is named by text", hint="usually the agent's id")
        found = read_scope(self._table, scope, hooks, parent)
        return self._registry.add(found.hooks, found.scopes)

    def unregister_scoped(self, scope: str) -> None:
        """Remove a scope with its hooks; a scope that is not there is no error."""
        self._registry.remove_scope(scope)

    @contextmanager
    def scope(self, scope: str, hooks: Mapping[str, Any], parent: str | None = None) -> Iterator[list[Hook]]:
        """Hold hooks for one agent as long as the block runs; what others registered for it stays."""
        known = scope in self._registry.snapshot.scopes
        added = self.register_scoped(scope, hooks, parent)
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

    def observe(self, observer: Observer) -> Subscription:
        """Tell a callable of every hook that starts, reports progress and answers."""
        return self._observers.add(observer, self._forget)

    def record(self, recorder: Recorder | None) -> None:
        """Give every outcome to one recorder before the host gets it; what it returns is waited for.

        Unlike an observer it may make a firing wait. If it raises, the outcome says so; with a true attribute
        ``required`` it denies.
        """
        self.recorder = recorder
        self._forget()

    # Firing.

    async def fire(self, event: str, /, **fields: Any) -> Outcome:
        """Run the hooks that an event calls for and say what the host must do."""
        try:
            subject, routes = self._quick[event]
            route = routes[fields[subject]]
        except (KeyError, TypeError):  # not seen before, or a mistake that is found now
            route = self._route(event, fields)
            if self.off or self.late or self.recorder:
                return await conduct(Firing(self, route, fields), self._loop_lanes())
        if route.steps:
            return await conduct(Firing(self, route, fields), self._loop_lanes())
        outcome = Outcome()
        outcome._template = route.template
        outcome._given = fields
        return outcome

    def fire_sync(self, event: str, /, **fields: Any) -> Outcome:
        """Fire from code without an event loop. Inside a running loop it works, and stalls that loop meanwhile."""
        firing = Firing(self, self._route(event, fields), fields)
        chain = conduct(firing, self._blocking_lanes())
        try:
            chain.send(None)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        chain.close()
        raise RuntimeError("a firing without an event loop waited for one")

    def wants(self, event: str, subject: str = "", agent_id: str | None = None) -> bool:
        """Say whether any hook would be looked at for this event and subject."""
        if agent_id is None:
            try:
                return self._wanted[event][subject]
            except KeyError:
                pass
        wanted = self._wanted  # taken first, as in _route
        row = self._row(event)
        found = bool(self._find(row, _checked_subject(row, subject), agent_id).steps)
        known = wanted.setdefault(event, {})
        if agent_id is None and len(known) < _MOST_ROUTES:
            known[subject] = found
        return found

    # Behind the scenes.

    def _route(self, event: str, fields: dict[str, Any]) -> Route:
        """Find an event's way through its hooks, and remember it; the host's mistakes are raised here."""
        quick = self._quick  # taken first: if hooks are registered meanwhile, what is found here goes with the old
        row = self._row(event)
        for word, name in row.words.items():
            if word in fields and name not in fields:
                fields[name] = fields.pop(word)
        subject = _subject(row, fields)
        scope = fields.get("agent_id")
        if scope is not None and not isinstance(scope, str):
            raise BadEvent(f"{row.name}: agent_id is {type(scope).__name__}, not text")
        route = self._find(row, subject, scope or None)
        plain = row.subject and not row.subject_is_path_end and not self._registry.snapshot.scopes
        if subject and plain and not (self.off or self.late or self.recorder):
            routes = quick.setdefault(event, (row.subject or "", {}))[1]
            if len(routes) < _MOST_ROUTES:
                routes[subject] = route
        return route

    def _find(self, row: Row, subject: str, scope: str | None) -> Route:
        routes = self._routes
        route = routes.get((row.name, subject, scope))
        if route is None:
            hooks = self._registry.snapshot.for_firing(row.name, scope)
            route = Route(self, self._template(row), make_plan(hooks, subject, self.settings))
            if len(routes) >= _MOST_ROUTES:
                routes.clear()
            routes[row.name, subject, scope] = route
        return route

    def _row(self, event: str) -> Row:
        try:
            return self._table[event]
        except (KeyError, TypeError):
            row, suffix = self._table.find(event)
        raise UnknownEvent(f"{event} cannot be fired", hint=f"fire {row.name} with {row.subject}={suffix!r}")

    def _template(self, row: Row) -> Template:
        found = self._templates.get(row.name)
        if found is None:
            found = self._templates[row.name] = Template(row, self.session_id)
        return found

    def _forget(self) -> None:
        """Forget every route: what they were made from has changed."""
        self._routes: dict[tuple[str, str, str | None], Route] = {}
        # The same for firings without a scope, so that most need no more than two look-ups.
        self._quick: dict[str, tuple[str, dict[str, Route]]] = {}
        self._wanted: dict[str, dict[str, bool]] = {}
        self._templates: dict[str, Template] = {}
        self.tell = self._tell if self._observers else None

    def keep_late(self, session_id: str, said: list[Ran]) -> None:
        """Keep what a background hook said for the session's next firing."""
        self.late.setdefault(session_id, []).extend(said)
        self._quick = {}  # the quick way does not look at this

    def binding(self, hook: Hook) -> tuple[str, Callable[[Any], Any], Read]:
        """Return the lane a hook runs in, how it is called, and how its answer is read."""
        awaits = hook.type in self.handlers or "handler" in hook.options or hook.options.get("awaits")
        lane = "inline" if hook.inline else "task" if awaits else "thread"
        return lane, hook.options["call"], hook.options.get("read", native.read)

    def _loop_lanes(self) -> Lanes:
        """Load asyncio's lanes at the first firing that needs them, and stand aside for them."""
        from .loop import CancelledError, lanes_of_this_loop

        Firing.cancelled_error = (CancelledError,)
        self._loop_lanes = lanes_of_this_loop  # type: ignore[method-assign]
        return lanes_of_this_loop()

    def _blocking_lanes(self) -> BlockingLanes:
        if self._blocking is None:
            self._blocking = BlockingLanes(
                self._on_background_loop, self._detach_on_background_loop, self._wait_on_background_loop
            )
        return self._blocking

    def _on_background_loop(self, firing: Firing) -> None:
        from .loop import CancelledError, background

        async def enter() -> None:
            await self._loop_lanes().enter(firing)

        try:
            background.run(enter())
        except HookFailed as error:
            firing.refuse(error.failure)
        except CancelledError:
            # Not by this host, which has no task: a hook has cancelled everything on the loop.
            firing.go_on_after(Failure("hook_crash", "cancelled the loop that it runs on"))

    def _detach_on_background_loop(self, firing: Firing) -> None:
        from .loop import background

        background.start(lambda: self._loop_lanes().detach(firing), copy_context())

    def _wait_on_background_loop(self, awaitable: Awaitable[None]) -> None:
        from .loop import background

        async def wait() -> None:
            await awaitable

        background.run(wait())

    def _tell(self, subtype: str, hook: Hook, firing: Ledger, more: dict[str, Any]) -> None:
        self._observers.tell(message(
            subtype, hook_id=firing.run_id, hook_name=hook.label, event=firing.row.name,
            session_id=firing.session_id, **more,
        ))  # fmt: skip


def _subject(row: Row, fields: Mapping[str, Any]) -> str:
    return _checked_subject(row, fields.get(row.subject)) if row.subject else ""


def _checked_subject(row: Row, value: object) -> str:
    """Return what a matcher is compared with; nothing where the host gave nothing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadEvent(
            f"{row.name}: {row.subject} is {type(value).__name__}, not text", hint="a matcher is compared with it"
        )
    return os.path.basename(value) if row.subject_is_path_end else value
