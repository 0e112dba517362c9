"""Questions about an engine that ``Hooks`` does not answer itself: order, deadlines, why a hook would run or not.

This is the only module of the command line that uses the engine's registry and plan. It runs no hook.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from dataclasses import replace as replace_fact
from typing import Any

from ..errors import BadEvent
from ..events import EventSpec
from ..hooks import Hooks
from ..lint.executables import isolation_of
from ..matching.declared_tools import DeclaredCall, DeclaredTool
from ..model import Health, Hook, Template
from ..policies import PolicyHook
from ..records import replace
from ..registry import RegistrySnapshot
from ..routes import DEFAULT_TIMEOUT, deadline, error_policy, in_order, is_guard, total_time

__all__ = [
    "Explanation", "HookFacts", "Predicate", "deadline", "error_policy", "explain", "is_guard", "isolate",
    "order_of",
]  # fmt: skip


def order_of(hooks: Iterable[Hook], subject: str, tool: DeclaredTool | None = None) -> dict[int, int]:
    """Return the place in which each hook runs, from 1, by its sequence number; parallel hooks share a place."""
    groups = in_order(hooks, subject, tool)
    return {hook.sequence: place for place, group in enumerate(groups, 1) for hook in group}


def isolate(hooks: Hooks, hook: Hook, *, timeout: float) -> Hooks:
    """Return an engine with one hook of another, which runs whatever its matcher, its condition and its switch say."""
    engine = Hooks(error_behavior=hooks.settings.error_behavior, events=hooks.events)
    engine.engine.handlers = hooks.engine.handlers
    alone = replace(
        hook, timeout=min(deadline(hook, hooks.settings), timeout), matches=None, judge=None, enabled=True,
        enforce=True, once=False, background=False, parallel=False, scope=None, health=Health(),
    )  # fmt: skip
    engine.engine.registry.add([alone])
    return engine


@dataclass(frozen=True, slots=True)
class Predicate:
    """One condition for a hook to run, and whether it holds."""

    name: str
    holds: bool
    text: str


@dataclass(frozen=True, slots=True)
class HookFacts:
    """One hook at one event: whether it would run, why, and how."""

    hook: str
    type: str
    would_run: bool
    order: int | None
    """The place in which it would run, from 1; parallel hooks share a place."""
    predicates: tuple[Predicate, ...]
    priority: int
    deadline: float
    deadline_from: str
    on_error: str
    guard: bool
    enforced: bool
    isolation: str
    layer: str
    scope: str | None
    source: str
    description: str
    answer: str = ""
    """What a policy that judges calls would answer: it is asked, since that changes nothing."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All hooks of one event in the order in which they would run; those that would not run come last."""

    event: str
    subject: str
    declared: str
    """The name that the tool is declared as; empty if it is not."""
    agent: str | None
    total_deadline: float
    off: str
    hooks: tuple[HookFacts, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON."""
        return asdict(self)


def explain(hooks: Hooks, row: EventSpec, fields: Mapping[str, Any]) -> Explanation:
    """Return why each hook of an event would run or not."""
    snapshot = hooks.engine.registry.snapshot
    scope = fields.get("agent_id") or None
    subject = _subject(row, fields)
    everything = snapshot.hooks.get(row.name, ())
    holding = _holding(snapshot, row.name, scope)
    whole = Template(row, hooks.engine.session_id).complete(fields)
    tool = hooks.engine.tools.find(subject) if hooks.engine.tools and row.subject == "tool_name" else None
    call = DeclaredCall(tool, whole) if tool is not None else None
    judged = whole if call is None else call.for_rules(call.fields)
    looked_at = [
        (hook, _predicates(hook, row, _names(subject, tool), judged,
                           _scope_says(hook, scope, snapshot, hook.sequence in holding)))
        for hook in everything
    ]  # fmt: skip
    running = [hook for hook, predicates in looked_at if all(predicate.holds for predicate in predicates)]
    order = order_of(running, subject, tool)
    # The total deadline counts all hooks whose matcher matches, also those whose `if` does not hold.
    called = snapshot.for_firing(row.name, scope)
    facts = [
        replace_fact(
            _facts(hooks, hook, predicates, order.get(hook.sequence)),
            answer=_answer(hook, whole if tool is not None and tool.keeps_host_names(hook) else judged),
        )
        for hook, predicates in looked_at
    ]
    return Explanation(
        event=row.name,
        subject=subject,
        declared=tool.name if tool is not None else "",
        agent=scope,
        total_deadline=total_time(
            (hook for group in in_order(called, subject, tool) for hook in group), hooks.settings
        ),
        off=hooks.engine.off,
        hooks=tuple(sorted(facts, key=lambda fact: (fact.order is None, fact.order or 0, fact.priority))),
    )


def _names(subject: str, tool: DeclaredTool | None) -> tuple[str, ...]:
    """Return the names that matchers are compared with."""
    return (subject,) if tool is None or tool.name == subject else (subject, tool.name)


def _subject(row: EventSpec, fields: Mapping[str, Any]) -> str:
    """Return the subject that matchers are compared with, or raise BadEvent as a firing would."""
    value = fields.get(row.subject) if row.subject else None
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadEvent(f"{row.name}: {row.subject} is {type(value).__name__}, not text",
                       hint="a matcher is compared with it")  # fmt: skip
    return os.path.basename(value) if row.subject_is_path_end else value


def _holding(snapshot: RegistrySnapshot, event: str, scope: str | None) -> set[int]:
    """Return the hooks that apply to a scope, enabled or not."""
    switched_on = tuple(replace(hook, enabled=True) for hook in snapshot.hooks.get(event, ()))
    return {hook.sequence for hook in RegistrySnapshot({event: switched_on}, snapshot.scopes).for_firing(event, scope)}


def _scope_says(hook: Hook, scope: str | None, snapshot: RegistrySnapshot, holds: bool) -> Predicate:
    if hook.scope is None:
        if holds:
            return Predicate("scope", True, "for every agent")
        layer = snapshot.scopes[scope or ""].overrides.get(hook.event, "")
        return Predicate("scope", False, f"{scope} overrides the shared hooks of this event (in the {layer} layer)")
    if scope is None:
        return Predicate("scope", holds, f"for agent {hook.scope}; fired for no agent, so those of all agents hold")
    if holds and hook.scope != scope:
        return Predicate("scope", True, f"locked by {hook.scope}, an ancestor of {scope}")
    return Predicate("scope", holds, f"for agent {hook.scope}" + ("" if holds else f", fired for {scope}"))


def _predicates(
    hook: Hook, row: EventSpec, names: tuple[str, ...], fields: Mapping[str, Any], scope: Predicate
) -> tuple[Predicate, ...]:
    found = [Predicate("enabled", hook.enabled, "switched on" if hook.enabled else "switched off"), scope]
    if hook.matcher and row.subject:
        found.append(_matcher(hook, row, names))
    if hook.condition:
        found.append(_condition(hook, fields))
    if hook.once:
        fresh = not hook.health.once
        found.append(Predicate("once", fresh, "has not run yet in this process" if fresh else "has run already"))
    return tuple(found)


def _matcher(hook: Hook, row: EventSpec, names: tuple[str, ...]) -> Predicate:
    if names == ("",):
        return Predicate("matcher", True, f"{row.subject} is empty, which every matcher matches")
    matched = [name for name in names if hook.matches is None or hook.matches(name)]
    if matched:
        return Predicate("matcher", True, f"{hook.matcher} matches {' and '.join(matched)}")
    return Predicate("matcher", False, f"{hook.matcher} does not match {' or '.join(names)}")


def _condition(hook: Hook, fields: Mapping[str, Any]) -> Predicate:
    grade = hook.judge(fields) if hook.judge is not None else None
    if grade is None:
        return Predicate("if", False, f"{hook.condition} does not hold for this input")
    if grade == "opaque" and not fields.get("tool_input"):
        return Predicate("if", True, f"{hook.condition} cannot be judged without a tool_input, so it counts as true")
    return Predicate("if", True, f"{hook.condition} {_GRADES[grade]}")


_GRADES = {
    "certain": "holds for this input",
    "possible": "may hold for this input (match: possible)",
    "opaque": "cannot be judged from this input, so it counts as true (match: opaque)",
}


def _facts(hooks: Hooks, hook: Hook, predicates: tuple[Predicate, ...], order: int | None) -> HookFacts:
    settings = hooks.settings
    return HookFacts(
        hook=hook.label,
        type=hook.type,
        would_run=order is not None,
        order=order,
        predicates=predicates,
        priority=hook.priority,
        deadline=deadline(hook, settings),
        deadline_from=_deadline_from(hooks, hook),
        on_error=error_policy(hook, settings),
        guard=is_guard(hook, settings),
        enforced=hook.enforce and settings.enforce and not hooks.engine.off,
        isolation=isolation_of(hook),
        layer=hook.layer,
        scope=hook.scope,
        source=hook.source,
        description=hook.description,
    )


def _answer(hook: Hook, fields: Mapping[str, Any]) -> str:
    """Return the decision and the reason of a policy; nothing for other hooks, which are not run."""
    if not isinstance(hook.handler, PolicyHook) or hook.handler.function is not None:
        return ""
    reply = hook.handler(fields)
    if reply is None:
        return "nothing: it does not object"
    return f"{reply.decision}: {reply.reason}" if reply.decision else "a change of the input"


def _deadline_from(hooks: Hooks, hook: Hook) -> str:
    settings = hooks.settings
    wanted = hook.timeout or settings.default_timeout or DEFAULT_TIMEOUT
    if deadline(hook, settings) < wanted:
        return "the ceiling hooks.timeout"
    if hook.timeout:
        return "its own or its group's timeout"
    return "defaultTimeout" if settings.default_timeout else "the default"
