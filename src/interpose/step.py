"""One hook, ready to run: nothing about it is looked up again during a firing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol

from .decide import Ran
from .events import Row
from .handlers import Handler
from .model import Hook, Outcome, Settings
from .payload import Template
from .plan import Plan, deadline, error_policy, is_guard
from .replies import Failure, Reply

if TYPE_CHECKING:
    from .ledger import Ledger

__all__ = ["Engine", "Read", "Route", "Step"]

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

    def keep_late(self, session_id: str, said: list[Ran]) -> None:
        """Keep what a background hook said for the session's next firing."""

    def binding(self, hook: Hook) -> tuple[str, Callable[[Any], Any], Read]:
        """Return the lane a hook runs in, how it is called, and how its answer is read."""


class Step:
    """A hook, or a group that runs side by side, as a firing runs it."""

    __slots__ = ("blocking", "call", "enforced", "guard", "handler", "health", "hook", "lane", "members", "plain",
                 "policy", "read", "timeout")  # fmt: skip

    def __init__(self, engine: Engine, hook: Hook, members: tuple[Step, ...] = ()) -> None:
        settings = engine.settings
        self.hook = hook
        self.health = hook.health
        self.members = members
        self.lane, self.call, self.read = engine.binding(hook)
        self.handler = hook.options.get("handler") or engine.handlers.get(hook.type)
        self.blocking = getattr(self.handler, "blocking", None)
        """The handler as a plain function, for hosts without an event loop."""
        if members:
            self.lane, self.blocking = "group", None
        self.timeout = deadline(hook, settings)
        self.policy = error_policy(hook, settings)
        self.guard = is_guard(hook, settings)
        self.enforced = hook.enforce and settings.enforce and not engine.off
        special = self.guard or hook.judge is not None or hook.once or hook.background or self.handler is not None
        self.plain = self.lane in ("inline", "task") and not special
        """Whether it need only be called, and means nothing by saying nothing."""


class Route:
    """The way of one event and subject through its hooks, kept until the registry changes."""

    __slots__ = ("steps", "template", "total")

    def __init__(self, engine: Engine, template: Template, plan: Plan) -> None:
        self.template = template
        self.steps = tuple(_step(engine, group) for group in plan.groups)
        self.total = plan.total

    def for_guards(self) -> Route:
        """Return the same way with the guards only, one after another."""
        route = object.__new__(Route)
        route.template, route.total = self.template, self.total
        route.steps = tuple(one for step in self.steps for one in step.members or (step,) if one.guard)
        return route


def _step(engine: Engine, group: tuple[Hook, ...]) -> Step:
    members = tuple(Step(engine, hook) for hook in group)
    return Step(engine, group[0], members) if len(members) > 1 else members[0]
