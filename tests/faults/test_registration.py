"""Hooks that come, go and change places while a firing is under way."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, WAYS, Way, run, within

from interpose import Hooks, UnknownHook, deny

every_way = pytest.mark.parametrize("way", WAYS, ids=str)


@every_way
def test_a_hook_registered_during_a_firing_runs_from_the_next_one_on(way: Way) -> None:
    """Fault 141: a firing keeps the set of hooks that it began with."""
    ran: list[str] = []
    hooks = Hooks()

    def registers(event: Any) -> None:
        ran.append("first")
        way.register(hooks, lambda event: ran.append("late"), name="late", priority=500)

    way.register(hooks, registers, name="first")

    results = [result.hook for result in way.fire(hooks).results]
    after_one = ran.copy()
    way.fire(hooks)

    assert results == ["first"]
    assert after_one == ["first"]
    assert ran == ["first", "first", "late"]


@every_way
def test_a_hook_that_unregisters_itself_and_others_ends_nothing_that_has_begun(way: Way) -> None:
    """Fault 142: the set of this firing still completes; the next one is without them."""
    ran: list[str] = []
    hooks = Hooks()

    def unregisters(event: Any) -> None:
        ran.append("first")
        hooks.unregister("first")
        hooks.unregister("second")

    way.register(hooks, unregisters, name="first")
    way.register(hooks, lambda event: ran.append("second"), name="second")
    way.register(hooks, lambda event: ran.append("third"), name="third")

    way.fire(hooks)
    assert ran == ["first", "second", "third"]
    way.fire(hooks)

    assert ran == ["first", "second", "third", "third"]


@every_way
def test_disabling_during_a_firing_holds_from_the_next_one_on(way: Way) -> None:
    """Fault 142."""
    ran: list[str] = []
    hooks = Hooks()
    way.register(hooks, lambda event: hooks.disable("second"), name="first")
    way.register(hooks, lambda event: ran.append("second"), name="second")

    way.fire(hooks)
    way.fire(hooks)

    assert ran == ["second"]


@every_way
def test_a_hook_replaced_during_a_firing_is_the_old_one_until_its_end(way: Way) -> None:
    """Fault 141."""
    ran: list[str] = []
    hooks = Hooks()
    way.register(hooks, lambda event: way.register(hooks, lambda event: ran.append("new"), name="second"), name="first")
    way.register(hooks, lambda event: ran.append("old"), name="second")

    way.fire(hooks)
    way.fire(hooks)

    assert ran == ["old", "new"]


def test_a_lower_layer_cannot_unregister_a_guard_from_inside_a_hook() -> None:
    """Fault 142: who is managed from above stays, whoever asks."""
    hooks = Hooks()

    def meddles(event: Any) -> None:
        hooks.unregister("guard", layer="project")

    hooks.register("PreToolUse", meddles, layer="project")
    hooks.register("PreToolUse", lambda event: deny("no"), name="guard", layer="user", priority=200)

    first, second = hooks.fire_sync("PreToolUse", **CALL), hooks.fire_sync("PreToolUse", **CALL)

    assert (first.decision, second.decision) == ("deny", "deny")
    assert "UnknownHook" in str(first.results[0].error)


class Tripwire(str):  # noqa: SLOT000 - it has more to remember than its letters
    """A tool's name that runs code when it is looked at for the n-th time: a race that happens every time."""

    spring: Callable[[], None] | None = None
    looks = 0

    def _looked_at(self) -> None:
        self.looks -= 1
        if self.looks == 0 and self.spring is not None:
            self.spring()

    def __hash__(self) -> int:
        self._looked_at()
        return str.__hash__(self)

    def __len__(self) -> int:
        self._looked_at()
        return str.__len__(self)

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)


@pytest.mark.parametrize("rival", ["Other", "Other*"])
@pytest.mark.parametrize("fired", ["fire", "fire_sync", "wants"])
@pytest.mark.parametrize("event", ["PreToolUse", "pre:tool"])
def test_a_guard_registered_while_nothing_matched_is_seen_at_the_next_firing(
    fired: str, event: str, rival: str
) -> None:
    """Fault 141: what was found out about the old set of hooks is not written down for the new one."""
    sprung = 0
    for look in range(1, 30):
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: None, matcher=rival)
        name = Tripwire("Bash")
        registered: list[Any] = []

        def spring(hooks: Hooks = hooks, registered: list[Any] = registered) -> None:
            registered.append(hooks.register("PreToolUse", lambda event: deny("no"), matcher="Bash"))

        name.spring, name.looks = spring, look
        if fired == "fire":
            run(hooks.fire(event, tool_name=name, tool_input={}))
        elif fired == "fire_sync":
            hooks.fire_sync(event, tool_name=name, tool_input={})
        else:
            hooks.wants(event, name)

        if registered:
            sprung += 1
            assert hooks.wants(event, "Bash"), f"registered at look {look}"
            assert run(hooks.fire(event, tool_name="Bash", tool_input={})).denied, f"registered at look {look}"
            assert hooks.fire_sync(event, tool_name="Bash", tool_input={}).denied, f"registered at look {look}"
    assert sprung > 2, "the race did not take place"


def test_registering_and_firing_from_many_threads_loses_nothing() -> None:
    """Faults 141, 144: whoever registers finds the hook at work in the very next firing."""
    hooks = Hooks(max_hooks_per_point=0)
    failures: list[str] = []

    def work(number: int) -> None:
        for turn in range(25):
            name = f"{number}-{turn}"
            hooks.register("PreToolUse", lambda event: deny("mine"), name=name, matcher=name, inline=True)
            if not hooks.fire_sync("PreToolUse", tool_name=name).denied:
                failures.append(f"{name} was not seen")
            hooks.unregister(name)
            if hooks.fire_sync("PreToolUse", tool_name=name).denied:
                failures.append(f"{name} was still there")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert failures == []
    assert list(hooks) == []


def test_a_scope_that_ends_during_a_firing_is_gone_at_the_next() -> None:
    """Fault 142."""
    ran: list[str] = []
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: hooks.unregister_scoped("agent"))
    hooks.register_scoped("agent", {"PreToolUse": [lambda event: ran.append("scoped")]})

    for _ in range(2):
        run(hooks.fire("PreToolUse", agent_id="agent", **CALL))

    assert ran == ["scoped"]


def test_a_hundred_registrations_in_one_firing_stop_at_the_limit() -> None:
    """Fault 141: a hook that registers without end hits the limit, and has failed."""
    hooks = Hooks(max_hooks_per_point=10)

    def breeds(event: Any) -> None:
        for number in range(100):
            hooks.register("PreToolUse", lambda event: None, name=f"child {number}")

    hooks.register("PreToolUse", breeds, name="parent")

    with within(BUSY):
        outcome = run(hooks.fire("PreToolUse", **CALL))

    assert outcome.results[0].status == "failed"
    assert "TooManyHooks" in str(outcome.results[0].error)
    assert len(list(hooks)) == 10


def test_unregistering_twice_says_so_and_changes_nothing() -> None:
    """Fault 142."""
    hooks = Hooks()
    hook = hooks.register("PreToolUse", lambda event: None)
    hooks.unregister(hook)

    with pytest.raises(UnknownHook):
        hooks.unregister(hook)

    assert asyncio.run(hooks.fire("PreToolUse", **CALL)).results == ()
