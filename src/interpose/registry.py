"""Which hooks exist, for whom, switched on or off.

A snapshot is immutable and swapped whole: a firing keeps the one it began with, so nothing in a firing locks. Changes
go through one lock, from any thread.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

from .errors import BadHook, TooManyHooks, UnknownHook, nearest
from .model import Hook
from .records import Record, made_by, replace
from .runtime.forks import after_fork

__all__ = ["LAYERS", "Registry", "RegistrySnapshot", "Scope"]

LAYERS = ("local", "project", "user", "fleet", "code")
"""Where a hook can be written, low to high: a lower layer cannot touch a higher one's hooks."""
_RANK = {layer: rank for rank, layer in enumerate(LAYERS)}


class Scope(Record, kw_only=False):
    """An agent for which hooks of its own hold."""

    parent: str | None = None
    overrides: Mapping[str, str] = made_by(factory=dict)  # events whose shared hooks it drops, and which layer says so
    like: str | None = None  # the kind of the agent, a name under agents: the hooks of that kind hold for it too


_NO_SCOPE = Scope()


class RegistrySnapshot:
    """The hooks of one moment, by event, in the order of their registration."""

    def __init__(self, hooks: Mapping[str, tuple[Hook, ...]], scopes: Mapping[str, Scope]) -> None:
        self.hooks = hooks
        self.scopes = scopes

    def __iter__(self) -> Iterator[Hook]:
        return itertools.chain.from_iterable(self.hooks.values())

    def for_firing(self, event: str, scope: str | None) -> list[Hook]:
        """Return the enabled hooks that hold for a scope; without one, those of all scopes."""
        hooks = [hook for hook in self.hooks.get(event, ()) if hook.enabled]
        if scope is None:
            return hooks
        own, ancestors = self.scopes.get(scope, _NO_SCOPE), self._ancestors(scope)
        # What one agent drops, others of its kind do not: a model may choose the name of the agent that it spawns.
        override = own.overrides.get(event)

        def holds(hook: Hook) -> bool:
            if hook.scope is None:
                return override is None or hook.locked or _RANK[hook.layer] > _RANK[override]
            return hook.scope in (scope, own.like) or (hook.locked and hook.scope in ancestors)

        return list(filter(holds, hooks))

    def _ancestors(self, scope: str) -> set[str | None]:
        """Return the agents above a scope, and their kinds."""
        found: set[str | None] = set()
        current = self.scopes.get(scope)
        while current is not None and current.parent is not None and current.parent not in found:
            found.add(current.parent)
            current = self.scopes.get(current.parent)
            if current is not None:
                found.add(current.like)
        return found


class Registry:
    """The one place where hooks are added, replaced, switched and removed."""

    def __init__(self, limit: int, changed: Callable[[], None]) -> None:
        self._reset_lock()
        after_fork(self._reset_lock)
        self._numbers = itertools.count(1)
        self._limit = limit
        self._changed = changed
        self.snapshot = RegistrySnapshot({}, {})

    def _reset_lock(self) -> None:
        """Make a new lock: after a fork a thread of the parent may have held the old one."""
        self._lock = threading.RLock()

    def add(self, hooks: Iterable[Hook], scopes: Mapping[str, Scope] | None = None) -> list[Hook]:
        """Add hooks and scopes, all or none; a hook of the same name, layer, scope and event is replaced."""
        with self._lock:
            return self._swap(self.snapshot.hooks, self.snapshot.scopes, hooks, scopes or {}, self._limit)

    def exchange(
        self,
        gone: Iterable[Hook],
        hooks: Iterable[Hook],
        scopes_gone: Mapping[str, Scope],
        scopes: Mapping[str, Scope],
        limit: int,
    ) -> list[Hook]:
        """Put hooks and scopes in the place of others, so that no firing sees neither or both; all or nothing."""
        with self._lock:
            known = dict(self.snapshot.scopes)
            for name in scopes_gone.keys() & known.keys():  # takes back what the old ones override
                scope, dropped = known[name], scopes_gone[name].overrides
                kept = {event: layer for event, layer in scope.overrides.items() if event not in dropped}
                known[name] = replace(scope, overrides=kept)
            added = self._swap(self._without(gone), known, hooks, scopes, limit)
            self._limit = limit
            return added

    def remove(self, target: str | Hook, layer: str = "code") -> None:
        """Remove every hook of a name that the layer may touch, or one hook."""
        with self._lock:
            self.discard(self._touchable(target, layer))

    def discard(self, hooks: Iterable[Hook]) -> None:
        with self._lock:
            self._swap(self._without(hooks), self.snapshot.scopes)

    def switch(self, name: str, on: bool, layer: str = "code") -> None:
        """Enable or disable every hook of a name that the layer may touch."""
        with self._lock:
            touched = {hook: replace(hook, enabled=on) for hook in self._touchable(name, layer, held=not on)}
            table = {
                event: tuple(touched.get(hook, hook) for hook in listed)
                for event, listed in self.snapshot.hooks.items()
            }
            self._swap(table, self.snapshot.scopes)

    def remove_scope(self, scope: str) -> None:
        """Remove a scope with its hooks; one that is not there is no error."""
        with self._lock:
            scopes = {name: kept for name, kept in self.snapshot.scopes.items() if name != scope}
            self._swap(self._without(hook for hook in self.snapshot if hook.scope == scope), scopes)

    def named(self, name: str) -> list[Hook]:
        return [hook for hook in self.snapshot if hook.name == name]

    def _touchable(self, target: str | Hook, layer: str, *, held: bool = True) -> list[Hook]:
        """Return what a layer may change: lower layers' hooks, and its own; locked ones of its own not if ``held``."""
        if layer not in _RANK:
            raise BadHook(f"no layer {layer!r}", hint=f"layers are {', '.join(reversed(LAYERS))}")
        if isinstance(target, Hook):
            # Switching makes a new Hook of the same sequence: a handle stays good.
            found = [hook for hook in self.snapshot.hooks.get(target.event, ()) if hook.sequence == target.sequence]
            name, held = target.label, False
        else:
            found, name = self.named(target), target
        allowed = [hook for hook in found if _RANK[layer] >= _RANK[hook.layer] + (held and hook.locked)]
        if found and not allowed:
            why = "and is locked there" if found[0].layer == layer else f"which the {layer} layer may not touch"
            raise UnknownHook(f"{name} belongs to the {found[0].layer} layer, {why}",
                              hint="change it where it was written")  # fmt: skip
        if not found:
            names = {hook.name for hook in self.snapshot if hook.name}
            raise UnknownHook(f"no hook is named {name}", hint=nearest(str(name), names))
        return allowed

    def _without(self, gone: Iterable[Hook]) -> dict[str, tuple[Hook, ...]]:
        numbers = {hook.sequence for hook in gone}
        return {
            event: tuple(hook for hook in listed if hook.sequence not in numbers)
            for event, listed in self.snapshot.hooks.items()
        }

    def _swap(
        self,
        table: Mapping[str, tuple[Hook, ...]],
        known: Mapping[str, Scope],
        hooks: Iterable[Hook] = (),
        scopes: Mapping[str, Scope] | None = None,
        limit: int = 0,
    ) -> list[Hook]:
        """Make a snapshot of a table and known scopes, with hooks and scopes added; return the hooks as it has them."""
        changed: dict[str, dict[object, Hook]] = {}
        added: list[Hook] = []
        for hook in hooks:
            listed = changed.get(hook.event)
            if listed is None:
                listed = changed[hook.event] = {_key(other): other for other in table.get(hook.event, ())}
            before = listed.get(_key(hook)) if hook.name else None
            if before is not None and before.locked:
                raise BadHook(f"{hook.label}: the hook of this name is locked, and cannot be replaced",
                              where=hook.source, hint="give this one another name")  # fmt: skip
            if before is None and 0 < limit <= len(listed):
                _check_limit(hook, listed.values(), limit)
            made = replace(hook, sequence=next(self._numbers) if before is None else before.sequence)
            listed[_key(made)] = made
            added.append(made)
        merged = {**table, **{event: tuple(listed.values()) for event, listed in changed.items()}}
        all_scopes = {**{hook.scope: _NO_SCOPE for hook in added if hook.scope is not None}, **known}
        for name, scope in (scopes or {}).items():  # one that is known stays below its parent and keeps its overrides
            was = all_scopes.get(name, _NO_SCOPE)
            overrides = {**was.overrides, **scope.overrides}
            all_scopes[name] = Scope(scope.parent or was.parent, overrides, scope.like or was.like)
        self.snapshot = RegistrySnapshot({event: listed for event, listed in merged.items() if listed}, all_scopes)
        self._changed()
        return added


def _key(hook: Hook) -> object:
    """Return what makes a hook the same one at its event: layer, scope and name; without a name its number."""
    return (hook.layer, hook.scope, hook.name) if hook.name else hook.sequence


def _check_limit(hook: Hook, others: Iterable[Hook], limit: int) -> None:
    if sum((other.scope, other.layer) == (hook.scope, hook.layer) for other in others) >= limit:
        raise TooManyHooks(
            f"{hook.event} has {limit} hooks already",
            where=hook.source if hook.layer != "code" or hook.source.count(":") == 1 else "",
            hint="raise maxHooksPerPoint, or set it to 0 for no limit",
        )
