"""From an event to its hooks: find the way once, keep it until the registry changes, and send firings along it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from .decide import Ran
from .dialects import native
from .elsewhere import blocking_lanes
from .engine import DEEPEST, conduct, record_sprint
from .errors import BadEvent, UnknownEvent
from .event import Template
from .events import Row, Table
from .firing import Firing
from .handlers import Handler, depth
from .handlers.command import CommandHandler
from .ids import new_id
from .lanes import BlockingLanes, Lanes, kept
from .ledger import Ledger
from .model import Hook, Outcome, Settings
from .plan import make_plan
from .registry import Registry
from .sprint import Sprint, begin_sprint
from .step import Engine, Read, Route
from .telemetry.lifecycle import Observers, message

if TYPE_CHECKING:
    from .telemetry.tracing import Tracing

__all__ = ["Recorder", "Switchboard"]

_MOST_ROUTES = 4096
Recorder = Callable[[Outcome], Awaitable[None] | None]


class Switchboard(Engine):
    """The firing half of Hooks: what an engine needs to know, and the ways of events through their hooks."""

    settings: Settings

    def __init__(self, events: Table, session_id: str | None) -> None:
        self.session_id = session_id or new_id()
        self.off = os.environ.get("INTERPOSE_OFF", "")
        self.tell: Callable[[str, Hook, Ledger, dict[str, Any]], None] | None = None
        self.late: dict[str, list[Ran]] = {}
        self.notes: dict[str, str] = {}
        self.recorder: Recorder | None = None
        self.tracing: Tracing | None = None
        self.handlers: dict[str, Handler] = {"command": CommandHandler()}
        self._table = events
        self._observers = Observers()
        self._blocking: BlockingLanes | None = None
        self._registry = Registry(self.settings.max_hooks_per_point, self._forget)
        self._forget()

    async def fire(self, event: str, /, **fields: Any) -> Outcome:
        """Run the hooks that an event calls for and say what the host must do."""
        try:
            subject, routes = self._quick[event]
            route = routes[fields[subject]]
        except (KeyError, TypeError):  # not seen before, or a mistake that is found now
            route = self._route(event, fields)
            if self.off or self.late or self.recorder or self.notes or self.tracing:
                return await self._conduct(route, fields, self._loop_lanes())
        if route.steps:
            level = depth.get() + 1
            if route.stretch is None or kept.crowded or level > DEEPEST:
                return await conduct(Firing(route, fields), self._loop_lanes())
            sprint = begin_sprint(route, fields, level)
            waiting = self._loop_sprint(sprint)
            if waiting is None and sprint._firing is None:
                if self.recorder is None:
                    return sprint
                if level == 1:
                    return await record_sprint(sprint, self._loop_lanes())
                # A firing inside of another says so in the record.
                return await conduct(sprint._as_firing(), self._loop_lanes())
            return await conduct(sprint._taken_over(), self._loop_lanes(), waiting)
        outcome = Outcome()
        outcome._template = route.template
        outcome._given = fields
        return outcome

    def fire_sync(self, event: str, /, **fields: Any) -> Outcome:
        """Fire from code without an event loop. Inside a running loop it works, and stalls that loop meanwhile."""
        return _without_loop(self._conduct(self._route(event, fields), fields, self._blocking_lanes()))

    async def fire_guards(self, event: str, /, **fields: Any) -> Outcome:
        """Ask the guards only, about an input that was changed after their turn; what they change is void."""
        return await self._conduct(self._route(event, fields).for_guards(), fields, self._loop_lanes(), round=2)

    def fire_guards_sync(self, event: str, /, **fields: Any) -> Outcome:
        """Ask the guards only, from code without an event loop."""
        guards = self._route(event, fields).for_guards()
        return _without_loop(self._conduct(guards, fields, self._blocking_lanes(), round=2))

    def _conduct(
        self, route: Route, fields: dict[str, Any], lanes: Lanes, *, round: int = 1
    ) -> Coroutine[Any, Any, Outcome]:
        """Return a firing that is to be waited for, within a span if somebody traces."""
        if self.tracing is not None:
            return self.tracing.conduct(route, fields, lanes, round)
        firing = Firing(route, fields)
        if round != 1:
            firing.round = round
        return conduct(firing, lanes)

    @property
    def hook_set(self) -> object:
        """The hooks as they are now: another object after every change."""
        return self._registry.snapshot

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
        # The quick way gives a firing without hooks to nobody, so a recorder would not hear of it.
        unheard = self.recorder and not route.steps
        if subject and plain and not (self.off or self.late or unheard or self.notes or self.tracing):
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
        self.tell = self._tell if self._observers else None  # first: routes know whether somebody is told
        self._routes: dict[tuple[str, str, str | None], Route] = {}
        # The same for firings without a scope, so that most need no more than two look-ups.
        self._quick: dict[str, tuple[str, dict[str, Route]]] = {}
        self._wanted: dict[str, dict[str, bool]] = {}
        self._templates: dict[str, Template] = {}

    def trace_with(self, tracing: Tracing | None) -> None:
        """Have every further firing traced, or none."""
        self.tracing = tracing
        self._forget()

    def take_over(self, sprint: Sprint) -> Firing:
        """Return the firing that goes on where a sprint stands."""
        return Firing.after(sprint)

    def keep_late(self, session_id: str, said: list[Ran]) -> None:
        """Keep what a background hook said for the session's next firing."""
        self.late.setdefault(session_id, []).extend(said)
        self._quick = {}  # the quick way does not look at this

    def take_late(self, session_id: str) -> tuple[list[str], list[str]]:
        """Return what hooks in the background have said since: for the model, and for the person."""
        effects = [ran.effect for ran in self.late.pop(session_id, ()) if ran.effect is not None]
        context = [text for effect in effects for text in effect.context]
        return context, [text for effect in effects for text in effect.messages]

    def binding(self, hook: Hook) -> tuple[str, Callable[[Any], Any], Read]:
        """Return the lane a hook runs in, how it is called, and how its answer is read."""
        bound = hook.binding
        awaits = hook.type in self.handlers or bound.handler is not None or bound.awaits
        lane = "inline" if hook.inline else "task" if awaits else "thread"
        return lane, bound.call, bound.read or native.read  # type: ignore[return-value]

    def _loop_lanes(self) -> Lanes:
        """Load asyncio's lanes at the first firing that needs them, and stand aside for them."""
        from .loop import CancelledError, lanes_of_this_loop

        Firing.cancelled_error = (CancelledError,)
        self._loop_lanes = lanes_of_this_loop  # type: ignore[method-assign]
        return lanes_of_this_loop()

    def _loop_sprint(self, sprint: Sprint) -> Awaitable[None] | None:
        self._loop_lanes()
        from .loop import run_sprint

        self._loop_sprint = run_sprint  # type: ignore[method-assign]
        return run_sprint(sprint)

    def _blocking_lanes(self) -> BlockingLanes:
        if self._blocking is None:
            self._blocking = blocking_lanes(self._lanes_of_the_loop)
        return self._blocking

    def _lanes_of_the_loop(self) -> Lanes:
        return self._loop_lanes()

    def _tell(self, subtype: str, hook: Hook, firing: Ledger, more: dict[str, Any]) -> None:
        self._observers.tell(message(
            subtype, hook_id=firing.run_id, hook_name=hook.label, event=firing.row.name,
            session_id=firing.session_id, **more,
        ))  # fmt: skip


def _without_loop(chain: Coroutine[Any, Any, Outcome]) -> Outcome:
    """Run a chain that never waits for an event loop."""
    try:
        chain.send(None)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    chain.close()
    raise RuntimeError("a firing without an event loop waited for one")


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
