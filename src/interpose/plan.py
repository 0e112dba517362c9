"""Hooks and an event to the ordered calls of one firing. Pure; the engine keeps a plan until the registry changes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from .model import Hook, Settings

__all__ = ["DEFAULT_TIMEOUT", "Plan", "deadline", "error_policy", "is_guard", "make_plan"]

DEFAULT_TIMEOUT = 30.0
DEFAULT_TOTAL = 120.0


class Plan:
    """Who runs in one firing: groups in order, side by side within a group of several."""

    __slots__ = ("groups", "total")

    def __init__(self, groups: tuple[tuple[Hook, ...], ...], total: float) -> None:
        self.groups = groups
        self.total = total


def make_plan(hooks: Iterable[Hook], subject: str, settings: Settings) -> Plan:
    """Keep the hooks whose matcher matches and put them in order: priority, shared before scoped, registration."""
    chosen = sorted(
        (hook for hook in hooks if hook.matches is None or not subject or hook.matches(subject)),
        key=lambda hook: (hook.priority, hook.rewrites_in_group, hook.scope is not None, hook.sequence),
    )
    groups: list[tuple[Hook, ...]] = []
    for (side_by_side, *_), run in groupby(chosen, key=_beside):
        members = tuple(run)
        groups.extend([members] if side_by_side else [(hook,) for hook in members])
    longest = max((deadline(hook, settings) for hook in chosen), default=0.0)
    return Plan(tuple(groups), settings.total_timeout or max(DEFAULT_TOTAL, longest))


def _beside(hook: Hook) -> tuple[bool, int, bool]:
    """Hooks that run side by side have this in common."""
    return hook.parallel, hook.priority, hook.rewrites_in_group


def deadline(hook: Hook, settings: Settings) -> float:
    """Return how many seconds a hook has: its own, its engine's or 30, never above the ceiling."""
    return under_ceiling(hook.timeout or settings.default_timeout or DEFAULT_TIMEOUT, settings)


def under_ceiling(seconds: float, settings: Settings) -> float:
    """Return the time, cut to the ceiling if there is one."""
    return min(seconds, settings.timeout_ceiling) if settings.timeout_ceiling else seconds


def error_policy(hook: Hook, settings: Settings) -> str:
    """Return ``abort``, ``log`` or ``skip``: the hook's own word, else the engine's."""
    return hook.on_error or settings.error_behavior


def is_guard(hook: Hook, settings: Settings) -> bool:
    """Say whether a hook is one that must see the final input."""
    return hook.locked or error_policy(hook, settings) == "abort"
