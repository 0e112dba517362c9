"""Registering, switching, scoping and firing in any order, against a model that a child could have written."""

import fnmatch
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.properties.examples import tries

from interpose import BadHook, Hooks, TooManyHooks, UnknownHook

EVENTS = ("PreToolUse", "PostToolUse")
LAYERS = ("code", "user", "project", "local")  # high to low
LIMIT = 6

names = st.sampled_from(["a", "b", None])
known_names = st.sampled_from(["a", "b", "a", "b", "nobody"])
scopes = st.sampled_from([None, "agent", "child", "stranger"])
matchers = st.sampled_from(["", "*", "Bash", "Ba*", "Bash|Edit", "[!B]*"])
priorities = st.sampled_from([10, 100, 100, 200])
layers = st.sampled_from(LAYERS)
events = st.sampled_from([*EVENTS[:1] * 3, *EVENTS])
registrations = st.fixed_dictionaries(
    {
        "event": events,
        "name": names,
        "scope": scopes,
        "layer": layers,
        "matcher": matchers,
        "priority": priorities,
        "locked": st.booleans(),
    }
)
subjects = st.sampled_from(["Bash", "Edit", "Bath", ""])


@dataclass
class Entry:
    """One hook, as the model knows it."""

    event: str
    name: str | None
    scope: str | None
    layer: str
    matcher: str
    priority: int
    locked: bool
    number: int
    mark: int
    enabled: bool = True

    def same_place(self, other: "Entry") -> bool:
        """Whether registering one replaces the other."""
        mine, others = (
            (self.event, self.name, self.scope, self.layer),
            (other.event, other.name, other.scope, other.layer),
        )
        return self.name is not None and mine == others


@dataclass
class Model:
    """All hooks in a list, and every question answered by looking at each of them."""

    entries: list[Entry] = field(default_factory=list)
    parents: dict[str, str | None] = field(default_factory=dict)
    count: int = 0

    def fits(self, new: Entry) -> bool:
        if any(new.same_place(entry) for entry in self.entries):
            return True
        place = (new.event, new.scope, new.layer)
        return sum((e.event, e.scope, e.layer) == place for e in self.entries) < LIMIT

    def is_locked(self, new: Entry) -> bool:
        return any(new.same_place(entry) and entry.locked for entry in self.entries)

    def add(self, new: Entry) -> None:
        for place, entry in enumerate(self.entries):
            if new.same_place(entry):
                new.number = entry.number
                self.entries[place] = new
                return
        self.count += 1
        new.number = self.count
        self.entries.append(new)

    def touchable(self, name: str, layer: str, *, locks: bool = True) -> list[Entry]:
        """Hooks of lower layers, and of this one those that are not locked."""
        of_name = [e for e in self.entries if e.name == name]
        below = [e for e in of_name if LAYERS.index(layer) < LAYERS.index(e.layer)]
        return below + [e for e in of_name if e.layer == layer and not (locks and e.locked)]

    def ancestors(self, scope: str) -> set[str]:
        found: set[str] = set()
        parent = self.parents.get(scope)
        while parent is not None and parent not in found:
            found.add(parent)
            parent = self.parents.get(parent)
        return found

    def holds(self, entry: Entry, scope: str | None) -> bool:
        if scope is None or entry.scope is None or entry.scope == scope:
            return True
        return entry.locked and entry.scope in self.ancestors(scope)

    def runs(self, event: str, subject: str, scope: str | None) -> list[int]:
        def matches(entry: Entry) -> bool:
            globs = entry.matcher.split("|")
            return (
                not subject or entry.matcher in ("", "*") or any(fnmatch.fnmatchcase(subject, glob) for glob in globs)
            )

        chosen = [e for e in self.entries if e.event == event and e.enabled and self.holds(e, scope) and matches(e)]
        return [e.mark for e in sorted(chosen, key=lambda e: (e.priority, e.scope is not None, e.number))]


class Machine(RuleBasedStateMachine):
    """Does the same to the engine and to the model, and compares what runs."""

    def __init__(self) -> None:
        super().__init__()
        self.hooks = Hooks(max_hooks_per_point=LIMIT)
        self.model = Model()
        self.marks = 0
        self.ran: list[int] = []
        self.handles: list[tuple[Any, Entry]] = []

    @initialize(some=st.lists(registrations, min_size=4, max_size=10))
    def a_family(self, some: list[dict[str, Any]]) -> None:
        """Scopes with parents: the child's is the agent's; and hooks of every kind."""
        self.hooks.register_scoped("agent", {})
        self.hooks.register_scoped("child", {}, parent="agent")
        self.model.parents = {"agent": None, "child": "agent"}
        for options in some:
            self.register(**options)

    def body(self) -> tuple[int, Callable[[Any], None]]:
        """A hook that leaves a mark of its own."""
        self.marks += 1
        mark = self.marks
        return mark, lambda event: self.ran.append(mark)

    @rule(options=registrations)
    def register_one(self, options: dict[str, Any]) -> None:
        self.register(**options)

    def register(
        self, event: str, name: str | None, scope: str | None, layer: str, matcher: str, priority: int, locked: bool
    ) -> None:
        mark, body = self.body()
        entry = Entry(event, name, scope, layer, matcher, priority, locked, 0, mark)
        options: dict[str, Any] = {
            "name": name, "scope": scope, "layer": layer, "matcher": matcher, "priority": priority, "locked": locked,
            "inline": True,
        }  # fmt: skip
        refused = BadHook if self.model.is_locked(entry) else None if self.model.fits(entry) else TooManyHooks
        if refused is not None:
            with pytest.raises(refused):
                self.hooks.register(event, body, **options)
            return
        handle = self.hooks.register(event, body, **options)
        self.model.add(entry)
        self.handles.append((handle, entry))

    @rule(name=known_names, layer=layers)
    def unregister(self, name: str, layer: str) -> None:
        touched = self.model.touchable(name, layer)
        if not touched:
            with pytest.raises(UnknownHook):
                self.hooks.unregister(name, layer=layer)
            return
        self.hooks.unregister(name, layer=layer)
        self.model.entries = [entry for entry in self.model.entries if entry not in touched]

    @rule(data=st.data())
    def unregister_by_handle(self, data: st.DataObject) -> None:
        if not self.handles:
            return
        handle, entry = self.handles.pop(data.draw(st.integers(0, len(self.handles) - 1)))
        there = [other for other in self.model.entries if other.number == entry.number and other.event == entry.event]
        if not there:
            with pytest.raises(UnknownHook):
                self.hooks.unregister(handle)
            return
        self.hooks.unregister(handle)
        self.model.entries.remove(there[0])

    @rule(name=known_names, layer=layers, on=st.booleans())
    def switch(self, name: str, layer: str, on: bool) -> None:
        touched = self.model.touchable(name, layer, locks=not on)
        act = self.hooks.enable if on else self.hooks.disable
        if not touched:
            with pytest.raises(UnknownHook):
                act(name, layer=layer)
            return
        act(name, layer=layer)
        for entry in touched:
            entry.enabled = on

    @rule(scope=st.sampled_from(["agent", "child", "stranger"]), event=events, priority=priorities)
    def register_scoped(self, scope: str, event: str, priority: int) -> None:
        mark, body = self.body()
        entry = Entry(event, None, scope, "code", "", priority, False, 0, mark)
        hooks = {event: [{"handler": body, "priority": priority, "inline": True}]}
        if not self.model.fits(entry):
            with pytest.raises(TooManyHooks):
                self.hooks.register_scoped(scope, hooks)
            return
        self.hooks.register_scoped(scope, hooks)
        self.model.parents.setdefault(scope, None)  # one that is known stays below its parent
        self.model.add(entry)

    @rule(scope=st.sampled_from(["agent", "child", "stranger", "nobody"]))
    def unregister_scoped(self, scope: str) -> None:
        self.hooks.unregister_scoped(scope)
        self.model.entries = [entry for entry in self.model.entries if entry.scope != scope]
        self.model.parents.pop(scope, None)

    @rule(parent=st.sampled_from([None, "agent", "child"]), event=events, subject=subjects)
    def inside_a_scope(self, parent: str | None, event: str, subject: str) -> None:
        """A scope as a block: there inside, gone afterwards."""
        mark, body = self.body()
        with self.hooks.scope("guest", {event: [{"handler": body, "inline": True}]}, parent=parent):
            self.model.parents["guest"] = parent
            self.model.add(Entry(event, None, "guest", "code", "", 100, False, 0, mark))
            self.fire(event, subject, "guest")
        self.model.entries = [entry for entry in self.model.entries if entry.scope != "guest"]
        self.model.parents.pop("guest", None)

    @rule(scope=st.sampled_from(["agent", "child", "stranger"]), event=events, subject=subjects)
    def inside_a_scope_that_others_use(self, scope: str, event: str, subject: str) -> None:
        """A block takes away only what it brought."""
        mark, body = self.body()
        entry = Entry(event, None, scope, "code", "", 100, False, 0, mark)
        if not self.model.fits(entry):
            return
        with self.hooks.scope(scope, {event: [{"handler": body, "inline": True}]}):
            self.model.add(entry)
            self.fire(event, subject, scope)
        self.model.entries.remove(entry)

    @rule(event=events, subject=subjects, scope=st.sampled_from([None, "agent", "child", "stranger", "nobody"]))
    def fire(self, event: str, subject: str, scope: str | None) -> None:
        self.ran.clear()
        fields: dict[str, Any] = {"tool_name": subject} if scope is None else {"tool_name": subject, "agent_id": scope}
        expected = self.model.runs(event, subject, scope)

        outcome = self.hooks.fire_sync(event, **fields)

        assert self.ran == expected
        assert len(outcome.results) == len(expected)
        if subject:
            assert self.hooks.wants(event, subject, scope) is bool(expected)

    @invariant()
    def the_same_hooks_are_registered(self) -> None:
        registered = sorted((hook.event, hook.name or "", hook.scope or "", hook.enabled) for hook in self.hooks)
        expected = sorted((e.event, e.name or "", e.scope or "", e.enabled) for e in self.model.entries)
        assert registered == expected

    @invariant()
    def a_name_is_enabled_if_any_of_its_hooks_is(self) -> None:
        for name in ("a", "b"):
            found = [entry.enabled for entry in self.model.entries if entry.name == name]
            if found:
                assert self.hooks.is_enabled(name) is any(found)


TestMachine = Machine.TestCase
TestMachine.settings = tries(30, stateful_step_count=20)
