"""Why each hook would run or not for one event. Runs nothing; asks the engine's own parts, so it says the truth."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import BadEvent
from ..event import Template
from ..events import Row
from ..handlers.command import command_of
from ..hooks import Hooks
from ..model import Hook
from ..records import replace
from ..registry import Snapshot
from ..routes import DEFAULT_TIMEOUT, deadline, error_policy, in_order, is_guard, total_time

__all__ = ["Explanation", "HookFacts", "Predicate", "explain", "isolation_of"]


@dataclass(frozen=True, slots=True)
class Predicate:
    """One thing that a hook has to pass."""

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
    """The place in which it would run, from 1; hooks that run side by side share one."""
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


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one event would meet, in the order of its hooks; those that would not run come last."""

    event: str
    subject: str
    agent: str | None
    total_deadline: float
    off: str
    hooks: tuple[HookFacts, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)


def explain(hooks: Hooks, row: Row, fields: Mapping[str, Any]) -> Explanation:
    """Return why each hook of an event would run or not."""
    snapshot = hooks.engine.registry.snapshot
    scope = fields.get("agent_id") or None
    subject = _subject(row, fields)
    everything = snapshot.hooks.get(row.name, ())
    holding = _holding(snapshot, row.name, scope)
    whole = Template(row, hooks.engine.session_id).complete(fields)
    looked_at = [
        (hook, _predicates(hook, row, subject, whole, _scope_says(hook, scope, snapshot, hook.sequence in holding)))
        for hook in everything
    ]
    running = [hook for hook, predicates in looked_at if all(predicate.holds for predicate in predicates)]
    order = {hook.sequence: at for at, group in enumerate(in_order(running, subject), 1) for hook in group}
    # The total is that of all who are called, also of those whose `if` turns out not to hold.
    called = snapshot.for_firing(row.name, scope)
    facts = [_facts(hooks, hook, predicates, order.get(hook.sequence)) for hook, predicates in looked_at]
    return Explanation(
        event=row.name,
        subject=subject,
        agent=scope,
        total_deadline=total_time((hook for group in in_order(called, subject) for hook in group), hooks.settings),
        off=hooks.engine.off,
        hooks=tuple(sorted(facts, key=lambda fact: (fact.order is None, fact.order or 0, fact.priority))),
    )


def _subject(row: Row, fields: Mapping[str, Any]) -> str:
    """Return what a matcher is compared with; a firing would refuse what is not text."""
    value = fields.get(row.subject) if row.subject else None
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadEvent(f"{row.name}: {row.subject} is {type(value).__name__}, not text",
                       hint="a matcher is compared with it")  # fmt: skip
    return os.path.basename(value) if row.subject_is_path_end else value


def _holding(snapshot: Snapshot, event: str, scope: str | None) -> set[int]:
    """Return which hooks hold for a scope, whether they are switched on or off."""
    switched_on = tuple(replace(hook, enabled=True) for hook in snapshot.hooks.get(event, ()))
    return {hook.sequence for hook in Snapshot({event: switched_on}, snapshot.scopes).for_firing(event, scope)}


def _scope_says(hook: Hook, scope: str | None, snapshot: Snapshot, holds: bool) -> Predicate:
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
    hook: Hook, row: Row, subject: str, fields: Mapping[str, Any], scope: Predicate
) -> tuple[Predicate, ...]:
    found = [Predicate("enabled", hook.enabled, "switched on" if hook.enabled else "switched off"), scope]
    if hook.matcher and row.subject:
        found.append(_matcher(hook, row, subject))
    if hook.condition:
        found.append(_condition(hook, fields))
    if hook.once:
        fresh = bool(hook.health.once)
        found.append(Predicate("once", fresh, "has not run yet in this process" if fresh else "has run already"))
    return tuple(found)


def _matcher(hook: Hook, row: Row, subject: str) -> Predicate:
    if not subject:
        return Predicate("matcher", True, f"{row.subject} is empty, which every matcher matches")
    holds = hook.matches is None or hook.matches(subject)
    return Predicate("matcher", holds, f"{hook.matcher} {'matches' if holds else 'does not match'} {subject}")


def _condition(hook: Hook, fields: Mapping[str, Any]) -> Predicate:
    try:
        holds = hook.judge is None or bool(hook.judge(fields))
    except Exception as error:  # as in a firing: what cannot be judged counts as true
        return Predicate(
            "if", True, f"{hook.condition} cannot be judged ({type(error).__name__}), so it counts as true"
        )
    if holds and getattr(hook.judge, "pattern", None) is not None and not fields.get("tool_input"):
        return Predicate("if", True, f"{hook.condition} cannot be judged without a tool_input, so it counts as true")
    return Predicate("if", holds, f"{hook.condition} {'holds' if holds else 'does not hold'} for this input")


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


def _deadline_from(hooks: Hooks, hook: Hook) -> str:
    settings = hooks.settings
    wanted = hook.timeout or settings.default_timeout or DEFAULT_TIMEOUT
    if deadline(hook, settings) < wanted:
        return "the ceiling hooks.timeout"
    if hook.timeout:
        return "its own or its group's timeout"
    return "defaultTimeout" if settings.default_timeout else "the default"


def isolation_of(hook: Hook) -> str:
    """Say where a hook runs."""
    command = command_of(hook)
    if command is not None:
        kept = ", its background processes are kept" if command.keep else ""
        return f"a process, {command.isolation or 'tree'}{', warm' if command.warm else ''}{kept}"
    if hook.inline:
        return "the caller's task or thread"
    if hook.binding.handler is not None:
        return "a kept process"
    return "a script line" if hook.type == "script" else "a task or thread of the engine"
