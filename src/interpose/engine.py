"""How an event is fired: the whole flow, on one screen. Every firing with hooks passes through ``Engine.fire``.

A route is found once per event, subject and scope. A run goes through its steps, from place to place, until none is
left; guards look again at an input that changed after their turn; what the hooks answered is merged into one outcome;
the recorder gets the outcome before the host does.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable
from typing import Any, Protocol

from .decide import HookRun
from .dialects import native
from .errors import BadEvent, UnknownEvent
from .events import TABLE, EventSpec, Table
from .executors.base import Executor
from .handlers import Handler
from .handlers.loading import with_handlers
from .ids import new_id
from .matching.declared_tools import DeclaredCall, DeclaredTools
from .model import NOTHING_SAID, Outcome, Settings, Template, fire_without_hooks, make_outcome, with_fields
from .registry import Registry
from .replies import Failure, describe
from .routes import Route, RouteInputs, make_route
from .run import Listener, Run
from .runtime.faults import log, type_name
from .runtime.signals import not_by_signal

__all__ = ["DEEPEST", "Engine", "Recorder"]

DEEPEST = 8
"""How deep firings may be nested; a deeper one is denied."""

_MOST_ROUTES = 4096


class Recorder(Protocol):
    """Gets every outcome before the host does.

    What it returns is awaited; if that has a method ``block()``, a host without an event loop calls it instead. If it
    raises, the outcome says so; with a true attribute ``required`` the firing is denied. Two methods are optional: the
    engine calls ``record_background(outcome)`` for every hook that ran in the background, and a session calls
    ``record_permission(permission)`` for every call of a tool that was not simply allowed.
    """

    def __call__(self, outcome: Outcome, /) -> Awaitable[None] | None:
        """Record an outcome."""


class Engine:
    """Fires events: finds the route, runs its steps, merges what the hooks answered."""

    def __init__(self, settings: Settings, table: Table = TABLE, session_id: str | None = None) -> None:
        self.settings = settings
        self.table = table
        self.session_id = session_id or new_id()
        self.handlers: dict[str, Handler] = {}  # of hooks that are no callables, by type; loaded when one is on a route
        self.off = os.environ.get("INTERPOSE_OFF", "")  # why enforcement is switched off, or nothing
        self.notes: dict[str, str] = {}  # what every outcome says of the engine, such as a file that was not taken over
        self.tools: DeclaredTools | None = None  # those that the host calls by names of its own
        self.recorder: Recorder | None = None
        self.listeners: tuple[Listener, ...] = ()
        self.registry = Registry(settings.max_hooks_per_point, self.forget_routes)
        self.late: dict[str, list[HookRun]] = {}  # what hooks in the background have said since, by session
        self._loop_executor: Executor | None = None
        self.forget_routes()

    async def fire(self, route: Route, fields: dict[str, Any], executor: Executor | None) -> Outcome:
        """Run the hooks of a route and say what the host must do; without an executor, on the running event loop."""
        executor = executor or self._loop_executor or self._load_executor()
        call = DeclaredCall(route.inputs.tool, fields) if route.inputs.tool else None
        run = Run().begin(route, fields if call is None else call.fields, executor)
        if self.listeners:
            run.listen(self.listeners)
        if run.depth > DEEPEST:
            run.refuse(Failure("too_deep", f"hooks have fired hooks {DEEPEST} deep"))
        if call is not None:
            run.call = call
            if call.problem and "deny" in route.row.can:
                run.refuse(Failure("payload", call.problem))
        try:
            while not run.silent and (place := run.next_place(executor.has_loop)):
                waiting = executor.enter(run, place)
                if waiting is not None:
                    await waiting
            extra = {"off": self.off, **self.notes} if self.off else self.notes
            late = self._late_for(run) if self.late else ()
            if run.silent and not extra and not late:
                outcome = make_outcome(route.template, run.fields, (run, run.ran, NOTHING_SAID))
            else:
                outcome = run.outcome(extra, late)
            if self.recorder is not None and await self._is_lost(self.recorder, run, outcome):
                outcome = run.outcome(extra, late)
        except BaseException:  # the host is cancelled or interrupted
            run.end(None)
            raise
        if self.listeners:
            run.end(outcome)
        return outcome if call is None else with_fields(outcome, call.restore_own)

    async def fire_event(self, event: str, /, **fields: Any) -> Outcome:
        """Find the route of an event and fire it; without hooks and observers, only make the outcome."""
        route = self.route(event, fields)
        if route.steps or self.observed:
            return await self.fire(route, fields, None)
        return await fire_without_hooks(route.template, fields)

    async def fire_guards(self, event: str, /, executor: Executor | None = None, **fields: Any) -> Outcome:
        """Ask the guards only, about an input that was changed after their turn; what they change is void."""
        return await self.fire(self.route(event, fields).for_guards(), fields, executor)

    async def _is_lost(self, recorder: Recorder, run: Run, outcome: Outcome) -> bool:
        """Give the outcome to the recorder before the host acts on it; a required record that is lost denies."""
        try:
            waiting = recorder(outcome)
            if waiting is not None:
                await run.executor.wait(waiting)
        except Exception as error:
            run.lose_record(describe(not_by_signal(error)), required=bool(getattr(recorder, "required", False)))
            return True
        return False

    # Hooks in the background.

    def _finish_background(self, run: Run) -> None:
        """Keep what a background hook said for the session's next firing, and record what became of it."""
        said = [one for one in run.spoken() if one.effect is not None]
        if said:
            self.late.setdefault(str(run.fields["session_id"]), []).extend(said)
            self.quick.clear()  # the quick way does not look at this
        record = getattr(self.recorder, "record_background", None)
        try:
            if record is not None:
                record(make_outcome(run.route.template, run.fields, (run, run.ran, NOTHING_SAID)))
        except Exception as error:
            log("error", "what a hook did in the background is not in the record: %s", type_name(error))

    def _late_for(self, run: Run) -> list[HookRun]:
        # Where nothing can be said to the model, what was said for it waits for the next firing.
        can_be_said = "context" in run.route.row.can
        return self.late.pop(str(run.fields["session_id"]), []) if can_be_said else []

    def take_late(self, session_id: str) -> tuple[list[str], list[str]]:
        """Return what hooks in the background have said since: for the model, and for the person."""
        effects = [run.effect for run in self.late.pop(session_id, ()) if run.effect is not None]
        context = [text for effect in effects for text in effect.context]
        return context, [text for effect in effects for text in effect.messages]

    # Listeners and executors.

    def listen(self, listener: Listener, on: bool) -> None:
        others = tuple(one for one in self.listeners if one is not listener)
        self.listeners = (*others, listener) if on else others
        self.forget_routes()

    def _load_executor(self) -> Executor:
        from .executors.asyncio import loop_executor  # loads asyncio, at the first firing that needs it

        self._loop_executor = loop_executor
        return loop_executor

    # Routes.

    def forget_routes(self) -> None:
        """Forget every route: what they were made from has changed."""
        self._routes: dict[tuple[str, str, str | None], Route] = {}
        # By event: the field that its matchers look at, and by its value the route; None if no hook is on it.
        self.quick: dict[str, tuple[str, Template, dict[str, Route | None]]] = {}

    @property
    def observed(self) -> bool:
        """Whether a firing without hooks is observed or recorded, or its outcome has facts about the engine."""
        return bool(self.recorder or self.listeners or self.off or self.notes or self.late)

    def route(self, event: str, fields: dict[str, Any]) -> Route:
        """Find an event's route, and remember it; the host's mistakes are raised here."""
        quick = self.quick  # taken first: if hooks are registered meanwhile, what is found here goes with the old
        row = self._row(event)
        for word, name in row.words.items():
            if word in fields and name not in fields:
                fields[name] = fields.pop(word)
        subject = _subject(row, fields.get(row.subject) if row.subject else None)
        scope = fields.get("agent_id")
        if scope is not None and not isinstance(scope, str):
            raise BadEvent(f"{row.name}: agent_id is {type(scope).__name__}, not text")
        route = self._find(row, subject, scope or None)
        plain = row.subject and not row.subject_is_path_end and not self.registry.snapshot.scopes
        if subject and plain and (route.steps or not self.observed):
            _, _, routes = quick.setdefault(event, (row.subject or "", route.template, {}))
            if len(routes) < _MOST_ROUTES:
                routes[subject] = route if route.steps else None
        return route

    def wants(self, event: str, subject: str, agent_id: str | None) -> bool:
        return bool(self.route(event, {self._row(event).subject or "": subject, "agent_id": agent_id}).steps)

    def _find(self, row: EventSpec, subject: str, scope: str | None) -> Route:
        routes, key = self._routes, (row.name, subject, scope)
        route = routes.get(key)
        if route is None:
            hooks = self.registry.snapshot.for_firing(row.name, scope)
            self.handlers = with_handlers(self.handlers, hooks)
            inputs = RouteInputs(
                settings=self.settings, handlers=self.handlers, read=native.read,
                enforced=self.settings.enforce and not self.off, finish_background=self._finish_background,
                tool=self.tools.find(subject) if self.tools and row.subject == "tool_name" else None,
            )  # fmt: skip
            route = make_route(Template(row, self.session_id), hooks, subject, inputs)
            if len(routes) >= _MOST_ROUTES:
                routes.clear()
            routes[key] = route
        return route

    def _row(self, event: str) -> EventSpec:
        row, suffix = self.table.find(event)
        if suffix is not None:
            raise UnknownEvent(f"{event} cannot be fired", hint=f"fire {row.name} with {row.subject}={suffix!r}")
        return row


def _subject(row: EventSpec, value: object) -> str:
    """Return what a matcher is compared with; nothing where the host gave nothing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        what = f"{row.name}: {row.subject} is {type(value).__name__}, not text"
        raise BadEvent(what, hint="a matcher is compared with it")
    return os.path.basename(value) if row.subject_is_path_end else value
