"""Which hooks exist, for whom, switched on or off.

A snapshot is immutable and swapped whole: a firing keeps the one it began with, so nothing in a firing locks. Changes
go through one lock, from any thread.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from .errors import BadHook, TooManyHooks, UnknownHook, nearest
from .forks import after_fork
from .model import Hook
from .records import Record, made_by, replace

__all__ = ["LAYERS", "Registry", "Scope", "Snapshot"]

LAYERS = ("local", "project", "user", "code")
"""Where a hook can be written, low to high: a lower layer cannot touch a higher one's hooks."""

_RANK = {layer: rank for rank, layer in enumerate(LAYERS)}


class Scope(Record, kw_only=False):
    """An agent for which hooks of its own hold."""

    parent: str | None = None
    overrides: Mapping[str, str] = made_by(factory=dict)
    """Events whose shared hooks it drops, each with the layer that says so."""
    like: str | None = None
    """The agent that it is one of: what holds for that one holds for it too."""


class Snapshot:
    """The hooks of one moment, by event, in the order of their registration."""

    __slots__ = ("hooks", "scopes")

    def __init__(self, hooks: dict[str, tuple[Hook, ...]], scopes: dict[str, Scope]) -> None:
        self.hooks = hooks
        self.scopes = scopes

    def __iter__(self) -> Iterator[Hook]:
        return itertools.chain.from_iterable(self.hooks.values())

    def for_firing(self, event: str, scope: str | None) -> list[Hook]:
        """Return the enabled hooks that hold for a scope; without one, those of all scopes."""
        hooks = self.hooks.get(event, ())
        if scope is None:
            return [hook for hook in hooks if hook.enabled]
        ancestors = self._ancestors(scope)
        own = self.scopes.get(scope, _NO_SCOPE)
        # What one agent drops, others of its kind do not: a model may choose the name of whom it spawns.
        override = own.overrides.get(event)
        scopes = (scope,) if own.like is None else (scope, own.like)
        return [hook for hook in hooks if hook.enabled and _holds(hook, scopes, ancestors, override)]

    def _ancestors(self, scope: str) -> frozenset[str]:
        found: set[str] = set()
        current = self.scopes.get(scope)
        while current is not None and current.parent is not None and current.parent not in found:
            found.add(current.parent)
            current = self.scopes.get(current.parent)
            if current is not None and current.like is not None:
                found.add(current.like)  # what holds for agents of its kind holds for it
        return frozenset(found)


_NO_SCOPE = Scope()


def _holds(hook: Hook, scopes: tuple[str, ...], ancestors: frozenset[str], override: str | None) -> bool:
    if hook.scope is None:
        return override is None or hook.locked or _RANK[hook.layer] > _RANK[override]
    return hook.scope in scopes or (hook.locked and hook.scope in ancestors)


class Registry:
    """The one place where hooks are added, replaced, switched and removed."""

    def __init__(self, limit: int, changed: Callable[[], None]) -> None:
        self._reset_lock()
        after_fork(self._reset_lock)
        self._numbers = itertools.count(1)
        self._limit = limit
        self._changed = changed
        self.snapshot = Snapshot({}, {})

    def _reset_lock(self) -> None:
        """Make a new lock: after a fork a thread of the parent may have held the old one."""
        self._lock = threading.RLock()

    def add(self, hooks: Iterable[Hook], scopes: Mapping[str, Scope] | None = None) -> list[Hook]:
        """Add hooks and scopes, all or none; a hook of the same name, layer, scope and event is replaced."""
        with self._lock:
            table: dict[str, list[Hook]] = {}
            places: dict[str, dict[tuple[str, str | None, str], int]] = {}
            counted: dict[str, Counter[str | None]] = {}
            added: list[Hook] = []
            for hook in hooks:
                listed = table.get(hook.event)
                if listed is None:
                    listed = table[hook.event] = list(self.snapshot.hooks.get(hook.event, ()))
                    counted[hook.event] = Counter(other.scope for other in listed)
                    places[hook.event] = {
                        (other.layer, other.scope, other.name): at for at, other in enumerate(listed) if other.name
                    }
                key = (hook.layer, hook.scope, hook.name or "")
                at = places[hook.event].get(key) if hook.name else None
                if at is None:
                    self._check_limit(hook, counted[hook.event])
                    counted[hook.event][hook.scope] += 1
                    at = places[hook.event][key] = len(listed)
                    listed.append(replace(hook, sequence=next(self._numbers)))
                elif listed[at].locked:
                    raise BadHook(f"{hook.label}: the hook of this name is locked, and cannot be replaced",
                                  where=hook.source, hint="give this one another name")  # fmt: skip
                else:
                    listed[at] = replace(hook, sequence=listed[at].sequence)
                added.append(listed[at])
            named = {hook.scope: Scope() for hook in added if hook.scope is not None}
            self._swap(table, _with_scopes(self.snapshot.scopes, {**named, **(scopes or {})}))
            return added

    def _check_limit(self, hook: Hook, counted: Counter[str | None]) -> None:
        if self._limit and counted[hook.scope] >= self._limit:
            raise TooManyHooks(
                f"{hook.event} has {self._limit} hooks already",
                where=hook.source if hook.layer != "code" or hook.source.count(":") == 1 else "",
                hint="raise maxHooksPerPoint, or set it to 0 for no limit",
            )

    def remove(self, target: str | Hook, layer: str = "code") -> list[Hook]:
        """Remove every hook of a name that the layer may touch, or one hook."""
        with self._lock:
            gone = self._touchable(target, layer)
            keep = set(map(id, gone))
            self._swap({event: [hook for hook in listed if id(hook) not in keep]
                        for event, listed in self.snapshot.hooks.items()}, self.snapshot.scopes)  # fmt: skip
            return gone

    def discard(self, hooks: Iterable[Hook]) -> None:
        """Remove these hooks, as far as they are still there."""
        with self._lock:
            gone = {hook.sequence for hook in hooks}
            self._swap({event: [hook for hook in listed if hook.sequence not in gone]
                        for event, listed in self.snapshot.hooks.items()}, self.snapshot.scopes)  # fmt: skip

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
            left = {hook.sequence for hook in gone}
            kept = {event: tuple(hook for hook in listed if hook.sequence not in left)
                    for event, listed in self.snapshot.hooks.items()}  # fmt: skip
            trial = Registry(limit, lambda: None)
            trial._numbers = self._numbers
            known = _without_overrides(self.snapshot.scopes, scopes_gone)
            trial.snapshot = Snapshot({event: listed for event, listed in kept.items() if listed}, known)
            added = trial.add(hooks, scopes)
            self.snapshot, self._limit = trial.snapshot, limit
            self._changed()
            return added

    def switch(self, name: str, on: bool, layer: str = "code") -> list[Hook]:
        """Enable or disable every hook of a name that the layer may touch."""
        with self._lock:
            touched = {hook.sequence for hook in self._touchable(name, layer, held=not on)}
            self._swap({event: [replace(hook, enabled=on) if hook.sequence in touched else hook for hook in listed]
                        for event, listed in self.snapshot.hooks.items()}, self.snapshot.scopes)  # fmt: skip
            return [hook for hook in self.named(name) if hook.sequence in touched]

    def remove_scope(self, scope: str) -> bool:
        """Remove a scope with its hooks; say whether there was one."""
        with self._lock:
            known = scope in self.snapshot.scopes
            self._swap({event: [hook for hook in listed if hook.scope != scope]
                        for event, listed in self.snapshot.hooks.items()},
                       {name: kept for name, kept in self.snapshot.scopes.items() if name != scope})  # fmt: skip
            return known

    def named(self, name: str) -> list[Hook]:
        """Return every hook of a name."""
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

    def _swap(self, hooks: Mapping[str, Iterable[Hook]], scopes: Mapping[str, Scope]) -> None:
        merged = {**self.snapshot.hooks, **{event: tuple(listed) for event, listed in hooks.items()}}
        self.snapshot = Snapshot({event: listed for event, listed in merged.items() if listed}, dict(scopes))
        self._changed()


def _with_scopes(known: Mapping[str, Scope], added: Mapping[str, Scope]) -> dict[str, Scope]:
    """Add scopes; one that is known stays below its parent and keeps its overrides."""
    merged = dict(known)
    for name, scope in added.items():
        before = merged.get(name, Scope())
        overrides = {**before.overrides, **scope.overrides}
        merged[name] = Scope(scope.parent or before.parent, overrides, scope.like or before.like)
    return merged


def _without_overrides(known: Mapping[str, Scope], gone: Mapping[str, Scope]) -> dict[str, Scope]:
    """Take back what scopes override because of a file that does not say so any more."""
    left = dict(known)
    for name, scope in gone.items():
        if name in left:
            kept = {event: layer for event, layer in left[name].overrides.items() if event not in scope.overrides}
            left[name] = Scope(left[name].parent, kept, left[name].like)
    return left
