"""Hooks that lay hands on what they are told, and inputs that cannot be told."""

import asyncio
import threading
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from tests.faults.hosts import BUSY, WAYS, Way, run, within
from tests.tables import rows

from interpose import EventSpec, Hooks, deny, modify

every_way = rows("way", WAYS)

INPUT: dict[str, Any] = {
    "command": "ls",
    "list": [1, [2, {"three": 3}]],
    "nested": {"deep": {"deeper": ["x"]}},
    "set": {1, 2},
    "pair": ([1], {"a": 1}),
}


def vandalise(value: Any) -> None:
    """Change everything that can be changed, from the inside out."""
    if isinstance(value, dict):
        for item in list(value.values()):
            vandalise(item)
        dict.clear(value)
        dict.__setitem__(value, "command", "rm -rf /")
    elif isinstance(value, (list, tuple)):
        for item in value:
            vandalise(item)
        if isinstance(value, list):
            value.clear()
    elif isinstance(value, set):
        value.clear()


@every_way
def test_a_hook_that_changes_its_event_in_place_changes_nothing(way: Way) -> None:
    """Fault 139: the caller's object, the outcome and the other hooks' view stay as they were."""
    given, seen = deepcopy(INPUT), []
    hooks = Hooks()
    way.register(hooks, vandalise)
    way.register(hooks, lambda event: seen.append(deepcopy(event.tool_input)))

    outcome = way.fire(hooks, tool_name="Bash", tool_input=given)

    assert given == INPUT
    assert outcome.tool_input == INPUT
    assert outcome.tool_name == "Bash"
    assert seen == [INPUT]


@every_way
def test_a_change_by_reply_is_not_shared_with_later_hooks(way: Way) -> None:
    """Fault 139: a rewritten input is copied for every hook just as the first one was."""
    seen: list[Any] = []
    hooks = Hooks()
    way.register(hooks, lambda event: modify(tool_input=INPUT))
    way.register(hooks, vandalise)
    way.register(hooks, lambda event: seen.append(deepcopy(event.tool_input)))
    before = deepcopy(INPUT)

    outcome = way.fire(hooks, tool_name="Bash", tool_input={})

    assert seen == [before]
    assert outcome.tool_input == before
    assert before == INPUT


def test_an_attribute_of_the_event_cannot_be_set() -> None:
    """Fault 139: assigning looks as if it had an effect, so it says that it has none."""

    def assigns(event: Any) -> None:
        event.tool_input = {"command": "rm"}

    outcome = WAYS[1].outcome(assigns, on_error="abort")

    assert outcome.denied
    assert "AttributeError" in outcome.reason


@every_way
def test_a_hook_that_keeps_its_event_cannot_change_anything_with_it_later(way: Way) -> None:
    """Fault 140: the firing goes on, and has ended, while somebody still holds the copy."""
    kept: list[Any] = []
    given = deepcopy(INPUT)
    hooks = Hooks()
    way.register(hooks, kept.append)
    way.register(hooks, lambda event: vandalise(kept[0]))
    way.register(hooks, lambda event: None if event.tool_input == INPUT else deny("changed"))

    outcome = way.fire(hooks, tool_name="Bash", tool_input=given)
    vandalise(kept[0])

    assert outcome.allowed
    assert outcome.tool_input == INPUT
    assert given == INPUT


def test_a_thread_that_a_hook_leaves_behind_cannot_change_the_outcome() -> None:
    """Fault 140: the change comes from a thread of the hook's own, after the hook has answered."""
    go, done = threading.Event(), threading.Event()

    def later(event: Any) -> None:
        go.wait(5)
        vandalise(event)
        done.set()

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: threading.Thread(target=later, args=(event,)).start())

    outcome = run(hooks.fire("PreToolUse", tool_name="Bash", tool_input=deepcopy(INPUT)))
    go.set()

    assert done.wait(30)
    assert outcome.tool_input == INPUT


def test_hooks_side_by_side_have_copies_of_their_own() -> None:
    """Fault 139: while one changes its event, the other reads its own."""
    both_there = threading.Barrier(2, timeout=30)
    seen: list[Any] = []
    hooks = Hooks()

    @hooks.on("PreToolUse", parallel=True)
    def writer(event: Any) -> None:
        vandalise(event)
        both_there.wait()

    @hooks.on("PreToolUse", parallel=True)
    def reader(event: Any) -> None:
        both_there.wait()
        seen.append(event.tool_input)

    run(hooks.fire("PreToolUse", tool_name="Bash", tool_input=deepcopy(INPUT)))

    assert seen == [INPUT]


# Inputs that no hook can be told.


class Unyielding:
    def __deepcopy__(self, memo: object) -> Any:
        raise ValueError("no copies")


class Exiting:
    def __deepcopy__(self, memo: object) -> Any:
        raise SystemExit(0)


def nested(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"in": value}
    return value


def with_itself() -> Any:
    value: dict[str, Any] = {}
    value["self"] = [value]
    return value


UNCOPYABLE: dict[str, Callable[[], Any]] = {
    "a lock": lambda: {"lock": threading.Lock()},
    "an object that refuses": lambda: {"object": Unyielding()},
    "100,000 levels": lambda: nested(100_000),
}


@every_way
@pytest.mark.parametrize("make", UNCOPYABLE.values(), ids=UNCOPYABLE.keys())
def test_an_input_that_cannot_be_copied_is_a_failed_hook(way: Way, make: Callable[[], Any]) -> None:
    """Fault 139: rather no copy than a shared one; a guard that cannot look denies."""
    ran: list[int] = []
    hooks = Hooks()
    way.register(hooks, lambda event: ran.append(1), name="guard", on_error="abort")

    with within(BUSY):
        outcome = way.fire(hooks, tool_name="Bash", tool_input=make())

    assert outcome.denied
    assert outcome.results[0].error is not None
    assert outcome.results[0].error.code == "payload"
    assert ran == []


@every_way
def test_an_input_that_exits_when_it_is_copied_does_not_end_the_host(way: Way) -> None:
    """Fault 139: the input is the host's, and the failure is still the hook's: it could not look."""
    hooks = Hooks()
    way.register(hooks, lambda event: None, on_error="abort")

    assert way.fire(hooks, tool_name="Bash", tool_input={"object": Exiting()}).denied


@every_way
def test_an_input_that_contains_itself_is_no_exception(way: Way) -> None:
    """Fault 139: copied as it is, or a failure that a guard turns into a deny."""
    hooks = Hooks()
    way.register(hooks, lambda event: deny("seen"), on_error="abort")

    with within(BUSY):
        outcome = way.fire(hooks, tool_name="Bash", tool_input=with_itself())

    assert outcome.denied


def test_an_input_that_cannot_be_copied_matters_only_where_a_hook_looks() -> None:
    """Fault 139: nobody asked for it, so nothing fails."""
    outcome = run(Hooks().fire("PreToolUse", tool_name="Bash", tool_input={"lock": threading.Lock()}))

    assert outcome.allowed
    assert outcome.results == ()


def test_two_firings_of_one_input_at_once_do_not_meet() -> None:
    """Fault 139: a host may fire the same object twice at the same time."""
    given = deepcopy(INPUT)
    hooks = Hooks()

    @hooks.on("PreToolUse")
    async def slow(event: Any) -> Any:
        own = event.tool_input
        own["by"] = event.tool_name
        await asyncio.sleep(0)
        return modify(tool_input=own)

    async def host() -> list[Any]:
        fired = [hooks.fire("PreToolUse", tool_name=name, tool_input=given) for name in ("One", "Two", "Three")]
        return [outcome.tool_input["by"] for outcome in await asyncio.gather(*fired)]

    assert run(host()) == ["One", "Two", "Three"]
    assert given == INPUT


@pytest.mark.parametrize("name", ["completed_by", "encodings", "row", "match"])
def test_a_field_may_have_a_name_that_an_event_has_for_itself(name: str) -> None:
    """Fault 135: hooks of every kind are asked about it, as about any other."""
    hooks = Hooks()
    hooks.add_event(EventSpec("pre:own", "of the host's own", can="deny", fields=name))
    given: list[object] = []
    hooks.register("pre:own", lambda event: given.append((event[name], event.get(name))))
    hooks.register("pre:own", command="grep -q '\"given\"' && exit 2")

    outcome = hooks.fire_sync("pre:own", **{name: "given"})

    assert given == [("given", "given")]
    assert [result.error for result in outcome.results] == [None, None]
    assert outcome.denied
