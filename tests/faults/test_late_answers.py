"""Answers that come too late: after the deadline, in a second phase, in the background."""

import asyncio
import threading
import time
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, WAYS, Way, eventually, kept_now, run, until, within
from tests.faults.late_hooks import (
    DEADLINE,
    fire,
    statuses,
    stuck,
    with_and_without_a_loop,
)

from interpose import Hooks, Outcome, allow, context, deny, modify

# Answers that come too late.


def outcome_of(late: Any, next_hook: Any, loop: bool, **options: Any) -> Outcome:
    """Fire at a hook that answers after its deadline, and at one after it, which alone is heard."""
    hooks = Hooks()
    hooks.register("PreToolUse", late, timeout=DEADLINE)
    hooks.register("PreToolUse", next_hook, **options)
    outcome = fire(hooks, loop)
    assert statuses(outcome) == ["timeout", "ok"]
    return outcome


@with_and_without_a_loop
def test_an_answer_after_the_deadline_is_discarded(loop: bool) -> None:
    """Fault 133: the thread answers while the firing waits for the next hook; nobody hears it."""
    answered, release = threading.Event(), threading.Event()

    def late(event: Any) -> Any:
        release.wait(5)
        answered.set()
        return deny("too late")

    def next_hook(event: Any) -> Any:
        release.set()
        assert answered.wait(30)
        return context("on time")

    outcome = outcome_of(late, next_hook, loop)

    assert (outcome.decision, outcome.context) == ("none", ["on time"])


@with_and_without_a_loop
@pytest.mark.parametrize("inline", [False, True], ids=["", "inline"])
def test_a_thread_that_ends_while_a_coroutine_runs_disturbs_nobody(loop: bool, inline: bool) -> None:
    """Fault 133: the firing has gone on in another thread; the late thread must not touch that, and gives itself back."""
    release, left = threading.Event(), threading.Event()

    def late(event: Any) -> Any:
        release.wait(5)
        left.set()
        return deny("too late")

    async def next_hook(event: Any) -> Any:
        release.set()
        await until(lambda: kept_now() == 0)
        return context("on time")

    outcome = outcome_of(late, next_hook, loop, inline=inline, timeout=5)

    assert (outcome.decision, outcome.context) == ("none", ["on time"])
    assert left.is_set()
    assert kept_now() == 0


@with_and_without_a_loop
def test_a_task_that_ends_while_a_thread_runs_disturbs_nobody(loop: bool) -> None:
    """Fault 133: the other way round."""
    release = threading.Event()

    async def late(event: Any) -> Any:
        while not release.is_set():
            try:
                await asyncio.sleep(0.005)
            except asyncio.CancelledError:
                continue
        return deny("too late")

    def next_hook(event: Any) -> Any:
        release.set()
        assert eventually(lambda: kept_now() == 0)
        return context("on time")

    outcome = outcome_of(late, next_hook, loop)

    assert (outcome.decision, outcome.context) == ("none", ["on time"])
    assert kept_now() == 0


@with_and_without_a_loop
def test_a_coroutine_that_comes_too_late_is_closed(loop: bool) -> None:
    """Faults 133, 135: the late answer is a coroutine; nobody awaits it and nobody warns of it."""
    answered, release = threading.Event(), threading.Event()

    async def coroutine() -> Any:
        return deny("never")

    def late(event: Any) -> Any:
        release.wait(5)
        answered.set()
        return coroutine()

    def next_hook(event: Any) -> None:
        release.set()
        assert answered.wait(30)

    hooks = Hooks()
    hooks.register("PreToolUse", late, timeout=DEADLINE)
    hooks.register("PreToolUse", next_hook)

    assert statuses(fire(hooks, loop)) == ["timeout", "ok"]


@with_and_without_a_loop
def test_an_awaitable_that_comes_too_late_and_cannot_be_closed_is_let_go(loop: bool) -> None:
    """Faults 133, 135: not everything that can be awaited can be closed."""
    answered, release = threading.Event(), threading.Event()

    class Awaitable:
        def __await__(self) -> Any:
            yield

    def late(event: Any) -> Any:
        release.wait(5)
        return Awaitable()

    def next_hook(event: Any) -> Any:
        release.set()
        answered.wait(0.1)  # nobody sets it: time for the late answer to do harm
        return context("unharmed")

    outcome = outcome_of(late, next_hook, loop)

    assert outcome.context == ["unharmed"]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_hook_that_blocks_past_its_deadline_and_then_answers_has_timed_out(way: Way) -> None:
    """Fault 133: where it could not be interrupted, its answer still does not count."""

    def late(event: Any) -> Any:
        time.sleep(0.15)  # the subject itself
        return allow("too late")

    with within(0.15 + BUSY):
        outcome = way.outcome(late, timeout=DEADLINE, on_error="abort")

    assert (outcome.decision, outcome.granted) == ("deny", False)
    assert statuses(outcome) == ["timeout"]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_hook_that_raises_after_its_deadline_has_timed_out(way: Way) -> None:
    """Fault 133: once, and not twice."""

    def late(event: Any) -> Any:
        time.sleep(0.15)  # the subject itself
        raise ValueError("late")

    outcome = way.outcome(late, timeout=DEADLINE)

    assert statuses(outcome) == ["timeout"]


# Second phases and the background.


@with_and_without_a_loop
@pytest.mark.parametrize("kind", ["function", "coroutine"])
def test_a_second_phase_that_hangs_has_a_deadline_too(loop: bool, kind: str) -> None:
    """Fault 130: the time that the first answer asked for, and no more."""
    with stuck() as release:

        def function(event: Any) -> Any:
            if event.get("async_phase") == 2:
                release.wait()
            return {"async": True, "asyncTimeout": 0.1}

        async def coroutine(event: Any) -> Any:
            if event.get("async_phase") == 2:
                await asyncio.sleep(60)
            return {"async": True, "asyncTimeout": 0.1}

        hooks = Hooks()
        hooks.register("PreToolUse", function if kind == "function" else coroutine, on_error="abort")

        with within(0.1 + BUSY):
            outcome = fire(hooks, loop)

        assert outcome.denied
        assert statuses(outcome) == ["timeout"]


@pytest.mark.parametrize("seconds", [1e308, 10**300, 1e-300])
def test_a_second_phase_of_any_length_ends_with_the_firing(seconds: float) -> None:
    """Fault 130: under the total, whatever the hook asks for."""

    async def patient(event: Any) -> Any:
        if event.get("async_phase") == 2:
            await asyncio.sleep(60)
        return {"async": True, "asyncTimeout": seconds}

    hooks = Hooks(total_timeout=0.2)
    hooks.register("PreToolUse", patient)

    with within(0.2 + BUSY):
        assert statuses(run(hooks.fire("PreToolUse", **CALL))) == ["timeout"]


def test_a_hook_that_always_asks_for_a_second_phase_is_called_twice() -> None:
    """Fault 130: twice async is a failure and not a loop."""
    calls: list[Any] = []

    def again(event: Any) -> Any:
        calls.append(event.get("async_phase"))
        return {"async": True}

    hooks = Hooks()
    hooks.register("PreToolUse", again, on_error="abort")

    outcome = run(hooks.fire("PreToolUse", **CALL))

    assert outcome.denied
    assert calls == [None, 2]


@with_and_without_a_loop
@pytest.mark.parametrize("trouble", ["hangs", "raises", "gives rubbish"])
def test_a_guard_that_breaks_when_it_looks_again_denies(loop: bool, trouble: str) -> None:
    """Fault 130: it was content with the first input; the second, which will run, it has not judged."""
    with stuck() as release:
        hooks, looks = Hooks(), []

        def guard(event: Any) -> Any:
            looks.append(event.tool_input)
            if len(looks) == 1:
                return None
            if trouble == "raises":
                raise ValueError("boom")
            return release.wait() if trouble == "hangs" else "rubbish"

        hooks.register("PreToolUse", guard, name="guard", on_error="abort", timeout=0.8)  # it answers the first time
        hooks.register("PreToolUse", lambda event: modify(tool_input={"command": "rm"}))

        with within(0.8 + BUSY):
            outcome = fire(hooks, loop)

        assert outcome.denied
        assert looks == [CALL["tool_input"], {"command": "rm"}]
        assert [(result.hook, result.round) for result in outcome.results if result.status != "ok"] == [("guard", 2)]


@with_and_without_a_loop
@pytest.mark.parametrize("kind", ["function", "coroutine", "deaf coroutine", "raises"])
def test_a_hook_in_the_background_that_misbehaves_is_not_waited_for(loop: bool, kind: str) -> None:
    """Fault 130: the host has its outcome at once, its loop ends, and nothing stays."""
    with stuck() as release:

        def function(event: Any) -> Any:
            release.wait(20)

        async def coroutine(event: Any) -> Any:
            await asyncio.sleep(60)

        async def deaf(event: Any) -> Any:
            while not release.is_set():
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    continue

        def raises(event: Any) -> Any:
            raise ValueError("boom")

        handlers = {"function": function, "coroutine": coroutine, "deaf coroutine": deaf, "raises": raises}
        hooks = Hooks()
        hooks.register("PreToolUse", handlers[kind], async_=True, timeout=DEADLINE)

        async def host() -> list[Outcome]:
            outcomes = [await hooks.fire("PreToolUse", **CALL) for _ in range(3)]
            await asyncio.sleep(0.3)  # the subject itself: its deadline passes meanwhile
            return outcomes

        with within(0.3 + BUSY):
            outcomes = asyncio.run(host()) if loop else [hooks.fire_sync("PreToolUse", **CALL) for _ in range(3)]

        assert [statuses(outcome) for outcome in outcomes] == [["ok"]] * 3
        assert all(outcome.allowed for outcome in outcomes)
