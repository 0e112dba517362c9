"""What there is to say about each policy: whether it is on, where, and what it has stopped. Prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...audit.protocol import HookStats, StoredFiring
from ...hooks import Hooks
from ...model import Hook
from ...policies import GROUPS, POLICIES, RECOMMENDED, Policy, PolicyHook, find_policy, read_policies

__all__ = ["PolicyCounts", "PolicyFacts", "facts_of", "policy_hooks", "would_stop"]

_CALL = "PreToolUse"


@dataclass(slots=True)
class PolicyCounts:
    """How often a policy denied and asked; ``observed`` of these were recorded and not enforced."""

    denied: int = 0
    asked: int = 0
    observed: int = 0


@dataclass(frozen=True, slots=True)
class PolicyFacts:
    """One policy, its hooks in the configuration, and what they did."""

    policy: Policy
    group: str
    hooks: tuple[Hook, ...] = ()
    enforced: bool = False
    counts: PolicyCounts | None = None
    """From the audit store; None without one."""
    would: PolicyCounts | None = field(default=None, compare=False)
    """What it would do about the recorded calls, if that was asked for."""

    @property
    def state(self) -> str:
        """``on``, ``observed`` (its decisions are only recorded) or ``off``."""
        if not any(hook.enabled for hook in self.hooks):
            return "off"
        return "on" if self.enforced else "observed"

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as JSON."""
        return {
            "name": self.policy.name,
            "group": self.group,
            "prevents": self.policy.prevents,
            "state": self.state,
            "recommended": None if self.policy.recommended is None else dict(self.policy.recommended),
            "hooks": [
                {"name": hook.label, "event": hook.event, "enabled": hook.enabled, "locked": hook.locked,
                 "layer": hook.layer, "source": hook.source} for hook in self.hooks
            ],
            "stopped": _as_dict(self.counts),
            "would_stop": _as_dict(self.would),
        }  # fmt: skip


def _as_dict(counts: PolicyCounts | None) -> dict[str, int] | None:
    if counts is None:
        return None
    return {"denied": counts.denied, "asked": counts.asked, "observed": counts.observed}


def policy_hooks(hooks: Iterable[Hook]) -> Iterator[tuple[Hook, PolicyHook]]:
    """Yield the hooks that are policies, each with the policy that it runs."""
    for hook in hooks:
        if isinstance(hook.handler, PolicyHook):
            yield hook, hook.handler


def facts_of(
    hooks: Hooks, stats: Iterable[HookStats] | None, would: Mapping[str, PolicyCounts] | None = None
) -> list[PolicyFacts]:
    """Return the facts of every policy, in the order of the table."""
    by_policy: dict[str, list[Hook]] = {}
    for hook, policy_hook in policy_hooks(hooks):
        by_policy.setdefault(policy_hook.policy.name, []).append(hook)
    found = None if stats is None else list(stats)
    return [
        PolicyFacts(
            find_policy(name),
            group,
            tuple(by_policy.get(name, ())),
            any(hook.enabled and hook.enforce and hooks.settings.enforce for hook in by_policy.get(name, ())),
            None if found is None else _counted(found, by_policy.get(name, ()), name),
            None if would is None else would.get(name),
        )
        for group, names in GROUPS.items()
        for name in names
    ]


def _counted(stats: Iterable[HookStats], hooks: Iterable[Hook], name: str) -> PolicyCounts:
    """Add up what the hooks of a policy did; the name of the policy counts although it is off now."""
    counts = PolicyCounts()
    labels = {name, *(hook.label for hook in hooks)}
    for one in stats:
        if one.hook in labels:
            counts.denied += one.denies
            counts.asked += one.asks
            counts.observed += one.observed
    return counts


def would_stop(hooks: Hooks, firings: Iterable[StoredFiring]) -> tuple[int, dict[str, PolicyCounts]]:
    """Judge recorded calls with every policy, as configured or as recommended; return how many, and the counts."""
    configured: dict[str, list[PolicyHook]] = {}
    for _, policy_hook in policy_hooks(hooks):
        configured.setdefault(policy_hook.policy.name, []).append(policy_hook)
    by_default: dict[str, list[PolicyHook]] = {}
    others = [name for name in POLICIES if find_policy(name).recommended is None]
    for use in read_policies([RECOMMENDED, *others], lambda *_: None):
        by_default.setdefault(use.hook.policy.name, []).append(use.hook)
    judges = {**by_default, **configured}
    able = {name: [one for one in given if one.event == _CALL and one.function is None]
            for name, given in judges.items()}  # fmt: skip
    counts = {name: PolicyCounts() for name, given in able.items() if given}
    number = 0
    for firing in firings:
        number += 1
        given = firing.given
        for name, count in counts.items():
            decided = {reply.decision for one in able[name] if (reply := one(given)) is not None}
            count.denied += "deny" in decided
            count.asked += "ask" in decided and "deny" not in decided
    return number, counts
