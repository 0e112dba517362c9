"""One hook, ready to run: nothing about it is looked up again during a firing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

from .decide import Ran
from .event import Template
from .events import Row
from .handlers import Handler
from .model import Hook, Outcome, Settings
from .plan import Plan, deadline, error_policy, is_guard
from .replies import Failure, Reply

if TYPE_CHECKING:
    from .firing import Firing
    from .ledger import Ledger
    from .sprint import Sprint

__all__ = ["Engine", "Read", "Route", "Step", "Stretch"]

Read = Callable[[Row, object], Reply | Failure]


class Engine(Protocol):
    """What a firing needs to know of whoever fires it."""

    settings: Settings
    handlers: dict[str, Handler]
    """What runs hooks that are no Python callables, by their type."""
    off: str
    """Why enforcement is switched off, or nothing."""
    tell: Callable[[str, Hook, Ledger, dict[str, Any]], None] | None
    """Where lifecycle messages go, if anybody listens."""
    recorder: Callable[[Outcome], Awaitable[None] | None] | None
    """Is given every outcome before the host; what it returns is waited for."""
    notes: dict[str, str]
    """What every outcome has to say about the engine itself, such as a changed file that was not taken over."""
    late: dict[str, list[Ran]]
    """What hooks in the background said since, by session."""

    def take_over(self, sprint: Sprint) -> Firing:
        """Return the firing that goes on where a sprint stands."""

    def keep_late(self, session_id: str, said: list[Ran]) -> None:
        """Keep what a background hook said for the session's next firing."""

    def binding(self, hook: Hook) -> tuple[str, Callable[[Any], Any], Read]:
        """Return the lane a hook runs in, how it is called, and how its answer is read."""


class Step:
    """A hook, or a group that runs side by side, as a firing runs it."""

    __slots__ = ("blocking", "call", "enforced", "guard", "handler", "health", "hook", "lane", "members", "plain",
                 "policy", "read", "swift", "timeout")  # fmt: skip

    def __init__(self, engine: Engine, hook: Hook, members: tuple[Step, ...] = ()) -> None:
        settings = engine.settings
        self.hook = hook
        self.health = hook.health
        self.members = members
        self.lane, self.call, self.read = engine.binding(hook)
        self.handler = hook.binding.handler or engine.handlers.get(hook.type)
        self.blocking = getattr(self.handler, "blocking", None)
        """The handler as a plain function, for hosts without an event loop."""
        if members:
            self.lane, self.blocking = "group", None
        self.timeout = deadline(hook, settings)
        self.policy = error_policy(hook, settings)
        self.guard = is_guard(hook, settings)
        self.enforced = hook.enforce and settings.enforce and not engine.off
        special = hook.judge is not None or hook.once or hook.background or self.handler is not None
        self.plain = self.lane in ("inline", "task") and not special
        """Whether it need only be called, and means nothing by saying nothing."""
        self.swift = True
        """Whether it ended in a moment when it last ran in a thread."""


class Stretch:
    """Plain steps of one lane, one after another: a firing may sprint through them."""

    __slots__ = ("inline", "leeway", "longest", "shortest", "steps", "whole")

    def __init__(self, steps: tuple[Step, ...], total: float, *, whole: bool) -> None:
        self.steps = steps
        self.inline = steps[0].lane == "inline"
        self.whole = whole
        """Whether a firing has no other steps."""
        self.shortest = min(step.timeout for step in steps)
        self.longest = max(step.timeout for step in steps)
        self.leeway = min(self.shortest, total - self.longest)
        """For so many seconds from the firing's beginning no step is late, or begins with less time than its own."""


def _stretches(steps: tuple[Step, ...], total: float) -> dict[int, Stretch]:
    """Return the stretches of a route, by the position that they begin at."""
    found: dict[int, Stretch] = {}
    position = 0
    for (plain, _), run in groupby(steps, key=lambda step: (step.plain, step.lane)):
        members = tuple(run)
        if plain:
            found[position] = Stretch(members, total, whole=len(members) == len(steps))
        position += len(members)
    return found


class Route:
    """The way of one event and subject through its hooks, kept until the registry changes."""

    __slots__ = ("engine", "steps", "stretch", "stretches", "template", "total")

    def __init__(self, engine: Engine, template: Template, plan: Plan) -> None:
        self.engine = engine
        self.template = template
        self.steps = tuple(_step(engine, group) for group in plan.groups)
        self.total = plan.total
        # In a sprint nobody is told of each hook.
        self.stretches = _stretches(self.steps, self.total) if engine.tell is None else {}
        first = self.stretches.get(0)
        self.stretch = first if first is not None and first.leeway > 0 else None
        """What a firing may begin with in a sprint, if there is something."""

    def for_guards(self) -> Route:
        """Return the same way with the guards only, one after another."""
        route = object.__new__(Route)
        route.engine, route.template, route.total = self.engine, self.template, self.total
        route.steps = tuple(one for step in self.steps for one in step.members or (step,) if one.guard)
        route.stretch, route.stretches = None, {}
        return route


def _step(engine: Engine, group: tuple[Hook, ...]) -> Step:
    members = tuple(Step(engine, hook) for hook in group)
    return Step(engine, group[0], members) if len(members) > 1 else members[0]
