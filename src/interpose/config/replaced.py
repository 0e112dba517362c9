"""Hooks of files that have the name of another: the later one replaces the earlier one, unless that one is locked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import Problem
from ..model import Hook

__all__ = ["find_refused", "find_replaced"]


def find_replaced(hooks: Iterable[Hook]) -> list[Problem]:
    """Return a warning for each hook that a later one of the same name replaces."""
    return [
        Problem(
            f"{first.label}: replaced by the hook of the same name at {second.source}", where=first.source,
            hint="give one of them another name",
        )
        for first, second in _repeated(hooks)
        if not first.locked
    ]  # fmt: skip


def find_refused(hooks: Iterable[Hook]) -> list[Problem]:
    """Return a problem for each hook that would replace a locked one, also one of another file of its layer."""
    return [
        Problem(
            f"{second.label}: the hook of this name at {first.source} is locked, and cannot be replaced",
            where=second.source, hint="give this one another name",
        )
        for first, second in _repeated(hooks)
        if first.locked
    ]  # fmt: skip


def _repeated(hooks: Iterable[Hook]) -> Iterator[tuple[Hook, Hook]]:
    """Return each hook with the later one that has its name, layer, scope and event."""
    seen: dict[tuple[str, str, str | None, str], Hook] = {}
    for hook in hooks:
        if hook.name:
            key = (hook.event, hook.layer, hook.scope, hook.name)
            if key in seen:
                yield seen[key], hook
            if key not in seen or not seen[key].locked:
                seen[key] = hook
