"""The route of an event: its hooks in order, each as a step with everything that a run needs to know about it.

A route is made once for an event, a subject and a scope, and kept until the registry changes: during a firing nothing
about a hook is looked up again. Pure; the engine brings hooks, settings and handlers together.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal

from .matching.declared_tools import DeclaredTool
from .model import Hook, Result, Settings, Template
from .records import Record, replace
from .replies import Failure, Reply
from .runtime.coroutines import is_coroutine_function

__all__ = ["DEFAULT_TIMEOUT", "DEFAULT_TOTAL", "Place", "Read", "Route", "RouteInputs", "Step", "deadline",
           "error_policy", "in_order", "is_guard", "make_route", "total_time", "under_ceiling"]  # fmt: skip

DEFAULT_TIMEOUT, DEFAULT_TOTAL = 30.0, 120.0
"""Seconds that a hook has, and a firing as a whole, if nothing else is said."""

ENDING = 0.25
"""Seconds that a handler has, after the deadline, to end what it runs, before it counts as hung itself."""

Read = Callable[..., Reply | Failure]  # takes the row and the answer; of the native dialect also ``guard``
Place = Literal["task", "thread", "inline", "group"]
"""Where a step runs: a task of the run, a daemon thread, the caller's own task or thread; or several side by side."""


def deadline(hook: Hook, settings: Settings) -> float:
    """Return how many seconds a hook has: its own, its engine's or 30, never above the ceiling."""
    return under_ceiling(hook.timeout or settings.default_timeout or DEFAULT_TIMEOUT, settings)


def total_time(hooks: Iterable[Hook], settings: Settings) -> float:
    """Return how many seconds a firing of these hooks has: the engine's, or 120, or the longest single deadline."""
    longest = max((deadline(hook, settings) for hook in hooks), default=0.0)
    return settings.total_timeout or max(DEFAULT_TOTAL, longest)


def under_ceiling(seconds: float, settings: Settings) -> float:
    return min(seconds, settings.timeout_ceiling) if settings.timeout_ceiling else seconds


def error_policy(hook: Hook, settings: Settings) -> str:
    """Return ``abort``, ``log`` or ``skip``: the hook's own word, else the engine's; a locked hook always denies."""
    return "abort" if hook.locked else hook.on_error or settings.error_behavior


def is_guard(hook: Hook, settings: Settings) -> bool:
    """Say whether a hook is a guard: its failure denies, and it must see the final input."""
    return error_policy(hook, settings) == "abort"


def in_order(hooks: Iterable[Hook], subject: str, tool: DeclaredTool | None = None) -> list[tuple[Hook, ...]]:
    """Keep the hooks whose matcher matches, in order: priority, shared before scoped, registration.

    The matcher is compared with the subject and, if that is a declared tool, with its declared name too.
    Hooks that run side by side are a group of several; every other hook is a group of its own.
    """
    chosen = sorted(
        (h for h in hooks if not h.matches or not subject or h.matches(subject) or (tool and h.matches(tool.name))),
        key=lambda hook: (hook.priority, hook.rewrites_in_group, hook.scope is not None, hook.sequence),
    )
    groups: list[tuple[Hook, ...]] = []
    for (parallel, *_), run in itertools.groupby(chosen, key=lambda h: (h.parallel, h.priority, h.rewrites_in_group)):
        members = tuple(run)
        groups.extend([members] if parallel else [(hook,) for hook in members])
    return groups


class RouteInputs(Record):
    """What an engine makes its routes with."""

    settings: Settings
    handlers: Mapping[str, Any]
    read: Read  # of the native dialect
    enforced: bool
    finish_background: Callable[[Any], None]  # is given the run of a hook in the background when that has ended
    tool: DeclaredTool | None = None  # what is declared about the subject


class Step:
    """A hook, or a group of hooks side by side, as a run goes through it."""

    __slots__ = ("blocking", "call", "ceiling", "detached", "ending", "enforced", "guard", "handler", "health", "hook",
                 "host_names", "is_coroutine", "members", "place", "place_without_loop", "policy", "quick", "read",
                 "short", "timeout")  # fmt: skip

    def __init__(self, hook: Hook, inputs: RouteInputs, members: tuple[Step, ...] = ()) -> None:
        binding, settings = hook.binding, inputs.settings
        self.hook = hook
        self.health = hook.health
        self.members = members
        self.host_names = inputs.tool is not None and inputs.tool.keeps_host_names(hook)  # of a declared tool
        self.handler = binding.handler or inputs.handlers.get(hook.type)
        self.call: Callable[..., Any] = binding.call or _cannot_be_called
        self.is_coroutine = is_coroutine_function(self.call)
        self.policy = error_policy(hook, settings)
        self.guard = is_guard(hook, settings)
        self.read: Read = binding.read or (partial(inputs.read, guard=True) if self.guard else inputs.read)
        # The handler as a plain function, for hosts without an event loop.
        self.blocking = None if members else getattr(self.handler, "blocking", None)
        # The step that runs in the background, if the hook does: this one only sends it there.
        alone = replace(hook, background=False, judge=None, parallel=True) if hook.background else None
        self.detached = None if alone is None else Step(alone, inputs)
        self._settle(self.handler is not None or binding.awaits, binding.awaits)
        self.timeout = deadline(hook, settings)
        self.ceiling = settings.timeout_ceiling
        self.ending = ENDING if getattr(self.handler, "ends_itself", False) else 0.0  # beyond the deadline
        self.enforced = hook.enforce and inputs.enforced
        self.short = True  # whether it took only a moment when it last ran in a thread

    def _settle(self, awaits: bool, call_awaits: bool) -> None:
        """Set the places where it runs, and the place in which it need only be called."""
        hook = self.hook
        place: Place = "task" if awaits else "thread"
        self.place, self.place_without_loop = place, "inline" if self.blocking is not None else place
        if self.members:
            self.place = self.place_without_loop = "group"
        elif self.detached is not None:
            self.place = self.place_without_loop = "inline"
        elif hook.inline:
            self.place, self.place_without_loop = "inline", "task" if call_awaits else "inline"
        special = hook.judge is not None or hook.once or hook.background or self.handler is not None or self.host_names
        # There it is done with if it returns None in time.
        self.quick = "none" if special or self.members else self.place

    def must_be_awaited(self) -> None:
        """Run it on an event loop from now on: a function that looked synchronous turned out to be async."""
        self._settle(awaits=True, call_awaits=True)

    def result(self, duration: float) -> Result:
        hook = self.hook
        return Result(hook.label, hook.type, "ok", duration=duration, enforced=self.enforced, source=hook.source)


def _cannot_be_called(event: object) -> None:
    raise TypeError("a hook without a callable has no handler either")


class Route:
    """The hooks that one event and subject passes through, as steps in order."""

    __slots__ = ("inputs", "round", "row", "steps", "sure", "template", "total")

    def __init__(
        self, template: Template, steps: tuple[Step, ...], total: float, inputs: RouteInputs, round: int = 1
    ) -> None:
        self.template = template
        self.row = template.row
        self.steps = steps
        self.total = total
        self.inputs = inputs
        self.round = round  # 2 if it leads to the guards only, which look again
        self.sure = min([total, *(step.timeout for step in steps)])  # for so many seconds no step can be late

    def for_guards(self) -> Route:
        """Return the same route with the guards only, one after another."""
        members = [member for step in self.steps for member in step.members or (step,)]
        guards = tuple(step for step in members if step.guard)
        return Route(self.template, guards, self.total, self.inputs, round=2)


def make_route(template: Template, hooks: Iterable[Hook], subject: str, inputs: RouteInputs) -> Route:
    groups = in_order(hooks, subject, inputs.tool)
    steps: list[Step] = []
    for group in groups:
        members = tuple(Step(hook, inputs) for hook in group)
        steps.append(members[0] if len(members) == 1 else Step(group[0], inputs, members))
    return Route(template, tuple(steps), total_time(itertools.chain(*groups), inputs.settings), inputs)
