"""Firings inside firings: they are counted, and the ninth is denied."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, WAYS, Way, run, within

from interpose import Hooks, Outcome

every_way = pytest.mark.parametrize("way", WAYS, ids=str)

DEEPEST = 8


def nest(hooks: Hooks, way: Way, log: list[Outcome | None]) -> None:
    """Register a hook that fires its own event again, and writes down what came back."""

    def function(event: Any) -> None:
        log.append(None)
        log.append(hooks.fire_sync("PreToolUse", **CALL))

    async def coroutine(event: Any) -> None:
        log.append(None)
        log.append(await hooks.fire("PreToolUse", **CALL))

    handler = coroutine if way.awaits else function
    hooks.register("PreToolUse", handler, name="again", inline=way.inline)


@every_way
def test_the_ninth_firing_inside_the_others_is_denied(way: Way) -> None:
    """Fault 143: eight deep is allowed, in tasks, in threads and inline."""
    log: list[Outcome | None] = []
    hooks = Hooks()
    nest(hooks, way, log)

    with within(BUSY):
        outermost = way.fire(hooks)

    outcomes = [outcome for outcome in log if outcome is not None]
    assert log.count(None) == DEEPEST
    assert [outcome.denied for outcome in outcomes] == [True] + [False] * (DEEPEST - 1)
    assert outermost.allowed
    assert outcomes[0].results[0].error is not None
    assert outcomes[0].results[0].error.code == "too_deep"


def test_depth_is_counted_from_lane_to_lane() -> None:
    """Fault 143: a function fires a coroutine that fires a function: threads and tasks in turn."""
    log: list[str] = []
    inner: list[Outcome] = []
    hooks = Hooks()

    @hooks.on("PreToolUse")
    def function(event: Any) -> None:
        log.append("function")
        inner.append(hooks.fire_sync("pre:message", prompt="x"))

    @hooks.on("pre:message")
    async def coroutine(event: Any) -> None:
        log.append("coroutine")
        inner.append(await asyncio.create_task(hooks.fire("PreToolUse", **CALL)))

    with within(BUSY):
        run(hooks.fire("PreToolUse", **CALL))

    assert log == ["function", "coroutine"] * (DEEPEST // 2)
    assert [outcome.denied for outcome in inner] == [True] + [False] * (DEEPEST - 1)


def test_depth_is_counted_side_by_side_and_in_the_background() -> None:
    """Fault 143: a group of two would otherwise double at every level."""
    count = Counter[str]()
    hooks = Hooks()

    async def again(event: Any) -> None:
        count["ran"] += 1
        if count["ran"] > 2000:
            raise RuntimeError("no end")
        await hooks.fire("PreToolUse", **CALL)

    hooks.register("PreToolUse", again, name="one", parallel=True)
    hooks.register("PreToolUse", again, name="two", parallel=True)

    with within(BUSY):
        run(hooks.fire("PreToolUse", **CALL))

    assert count["ran"] == sum(2**level for level in range(1, DEEPEST + 1))


def test_firings_one_after_another_are_not_deep() -> None:
    """Fault 143: depth is given back, also by the host's own task and thread."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, inline=True)
    hooks.register("PreToolUse", lambda event: None)

    async def host() -> list[bool]:
        return [(await hooks.fire("PreToolUse", **CALL)).allowed for _ in range(3 * DEEPEST)]

    assert run(host()) == [True] * 3 * DEEPEST
    assert all(hooks.fire_sync("PreToolUse", **CALL).allowed for _ in range(3 * DEEPEST))


def test_on_a_row_that_cannot_deny_the_ninth_firing_goes_on_and_is_reported() -> None:
    """Fault 143: nothing is dropped in silence."""
    deepest: list[Outcome] = []
    hooks = Hooks()

    @hooks.on("post:message", name="again")
    def again(event: Any) -> None:
        outcome = hooks.fire_sync("post:message", output="x")
        if outcome.results and outcome.results[0].error:
            deepest.append(outcome)

    hooks.fire_sync("post:message", output="x")

    assert len(deepest) == 1
    assert deepest[0].allowed
    assert [(result.hook, result.status) for result in deepest[0].results] == [("again", "failed")]
