"""Hooks that do not end, and answers that come too late."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, PROMISE, WAYS, Way, eventually, kept_now, program, run, until, within

from interpose import Hooks, Outcome, allow, context, deny, modify
from interpose.executors.base import MOST_KEPT

DEADLINE = 0.05


@contextmanager
def stuck() -> Iterator[threading.Event]:
    """Something that blocking hooks wait for; released at the end, so that nothing is left."""
    release = threading.Event()
    try:
        yield release
    finally:
        release.set()


def statuses(outcome: Outcome) -> list[str]:
    return [result.status for result in outcome.results]


def fire(hooks: Hooks, loop: bool) -> Outcome:
    return run(hooks.fire("PreToolUse", **CALL)) if loop else hooks.fire_sync("PreToolUse", **CALL)


with_and_without_a_loop = pytest.mark.parametrize("loop", [True, False], ids=["with a loop", "without"])


# Functions that block.


@with_and_without_a_loop
def test_a_function_that_blocks_for_ever_is_left_behind_at_its_deadline(loop: bool) -> None:
    """Fault 130: it keeps its thread, and the next hook runs in another."""
    with stuck() as release:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: release.wait(), name="stuck", timeout=DEADLINE)
        hooks.register("PreToolUse", lambda event: context("still here"))

        with within(DEADLINE + BUSY):
            outcome = fire(hooks, loop)

        assert statuses(outcome) == ["timeout", "ok"]
        assert (outcome.decision, outcome.context) == ("none", ["still here"])
        assert outcome.results[0].error is not None
        assert outcome.results[0].error.code == "timeout"
        assert kept_now() == 1


@with_and_without_a_loop
def test_a_guard_that_blocks_for_ever_denies_at_its_deadline(loop: bool) -> None:
    """Fault 130."""
    with stuck() as release:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: release.wait(), name="guard", timeout=DEADLINE, on_error="abort")

        with within(DEADLINE + BUSY):
            outcome = fire(hooks, loop)

        assert outcome.denied
        assert outcome.reason == "guard failed: no answer within 0.05 s"


@with_and_without_a_loop
def test_a_thread_that_ends_after_all_is_used_again(loop: bool) -> None:
    """Fault 130: what was kept is given back."""
    with stuck() as release:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: release.wait(), timeout=DEADLINE)
        fire(hooks, loop)
        assert kept_now() == 1

    assert eventually(lambda: kept_now() == 0)


@with_and_without_a_loop
def test_a_short_deadline_after_a_long_one_is_kept(loop: bool) -> None:
    """Fault 130: hooks that follow each other share a thread, and each has a deadline of its own."""
    with stuck() as release:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: None, timeout=30)
        hooks.register("PreToolUse", lambda event: release.wait(), timeout=DEADLINE)

        with within(DEADLINE + BUSY):
            outcome = fire(hooks, loop)

        assert statuses(outcome) == ["ok", "timeout"]


@with_and_without_a_loop
def test_a_deadline_holds_at_the_first_firing_and_at_every_other(loop: bool) -> None:
    """Fault 130: with a fresh thread and with one that was used before; nobody may look too early at the clock."""
    with stuck() as release:
        for _ in range(5):
            hooks = Hooks()
            hooks.register("PreToolUse", lambda event: release.wait(), timeout=DEADLINE)

            with within(DEADLINE + BUSY):
                assert statuses(fire(hooks, loop)) == ["timeout"]


@pytest.mark.parametrize("way", [way for way in WAYS if not way.inline], ids=str)
def test_the_promise_of_a_quarter_second_is_kept(way: Way) -> None:
    """Faults 130, 132: on a machine that is busy with other things, in one of five attempts."""
    took: list[float] = []

    async def swallows(event: Any) -> None:
        for _ in range(3):
            try:
                await asyncio.sleep(0.5)  # longer than the promise; it is kept until then
            except asyncio.CancelledError:
                continue

    for _ in range(5):
        with stuck() as release:
            hooks = Hooks()
            hooks.register("PreToolUse", swallows if way.awaits else (lambda event: release.wait()), timeout=DEADLINE)
            began = time.monotonic()
            outcome = run(hooks.fire("PreToolUse", **CALL)) if way.loop else hooks.fire_sync("PreToolUse", **CALL)
            took.append(time.monotonic() - began - DEADLINE)
            assert statuses(outcome) == ["timeout"]
        if took[-1] < PROMISE:
            return

    pytest.fail(f"beyond its deadline the firing took {took}")


def test_side_by_side_the_slowest_deadline_counts_and_not_the_sum() -> None:
    """Fault 130: ten that hang take as long as one."""
    with stuck() as release:
        hooks = Hooks()
        for number in range(10):
            hooks.register("PreToolUse", lambda event: release.wait(), name=f"{number}", timeout=0.2, parallel=True)
        hooks.register("PreToolUse", lambda event: deny("seen"), name="last", parallel=True)

        with within(0.2 + BUSY):
            outcome = run(hooks.fire("PreToolUse", **CALL))

        assert statuses(outcome) == ["timeout"] * 10 + ["ok"]
        assert outcome.denied


def test_the_whole_firing_has_a_deadline_too() -> None:
    """Fault 130: what is left when the total is used up fails as a timeout, and a guard among it denies."""
    with stuck() as release:
        hooks = Hooks(total_timeout=0.2)
        for number in range(3):
            hooks.register("PreToolUse", lambda event: release.wait(), name=f"{number}", timeout=0.15)
        hooks.register("PreToolUse", lambda event: None, name="guard", on_error="abort")

        with within(0.2 + BUSY):
            outcome = run(hooks.fire("PreToolUse", **CALL))

        assert statuses(outcome) == ["timeout", "timeout", "timeout", "timeout"]
        assert outcome.denied
        assert kept_now() == 2


# Coroutines that will not be cancelled.


async def swallows_cancellation(event: Any) -> Any:
    """Waits for ever, whatever is thrown at it."""
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue


async def swallows_until(release: asyncio.Event) -> Any:
    """Waits for an event and answers then, whatever is thrown at it."""
    while not release.is_set():
        try:
            await release.wait()
        except asyncio.CancelledError:
            continue
    return allow("far too late")


def test_a_hook_that_swallows_its_cancellation_is_left_behind() -> None:
    """Fault 132: ``wait_for`` would wait for it, and take its answer."""

    async def host() -> Outcome:
        release = asyncio.Event()
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: swallows_until(release), name="deaf", timeout=DEADLINE)
        hooks.register("PreToolUse", lambda event: context("still here"))
        try:
            with within(DEADLINE + BUSY):
                return await hooks.fire("PreToolUse", **CALL)
        finally:
            assert kept_now() == 1
            release.set()
            await until(lambda: kept_now() == 0)

    outcome = run(host())

    assert statuses(outcome) == ["timeout", "ok"]
    assert (outcome.decision, outcome.granted) == ("none", False)


def test_asyncio_run_ends_although_a_hook_swallows_every_cancellation() -> None:
    """Fault 132: the end of a loop cancels all its tasks and waits for them; a kept one is not among them."""
    ended = program(
        """
        import asyncio
        from interpose import Hooks

        async def deaf(event):
            while True:
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    pass

        hooks = Hooks()
        hooks.register("PreToolUse", deaf, timeout=0.05, on_error="abort")
        print(asyncio.run(hooks.fire("PreToolUse", tool_name="Bash")).decision)
        """,
    )

    assert (ended.returncode, ended.stdout) == (0, "deny\n")
    assert "Traceback" not in ended.stderr.replace("ignored GeneratorExit", "")


def test_a_task_that_died_with_its_loop_is_kept_no_longer() -> None:
    """Fault 132: otherwise a hundred short-lived loops would close the engine for good."""

    async def deaf(event: Any) -> Any:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            await asyncio.get_running_loop().create_future()

    hooks = Hooks()
    hooks.register("PreToolUse", deaf, timeout=DEADLINE)

    outcome = run(hooks.fire("PreToolUse", **CALL))

    assert statuses(outcome) == ["timeout"]
    assert eventually(lambda: kept_now() == 0)


@with_and_without_a_loop
def test_a_hook_that_is_slow_to_clean_up_has_a_moment_for_it(loop: bool) -> None:
    """Fault 132: told to end, it ends, and the time it took is not an answer."""
    cleaned: list[int] = []

    async def tidy(event: Any) -> Any:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0)
            cleaned.append(1)

    hooks = Hooks()
    hooks.register("PreToolUse", tidy, timeout=DEADLINE)
    hooks.register("PreToolUse", lambda event: context("next"))

    outcome = fire(hooks, loop)

    assert statuses(outcome) == ["timeout", "ok"]
    assert cleaned == [1]
    assert kept_now() == 0


@with_and_without_a_loop
def test_an_answer_to_the_cancellation_is_too_late(loop: bool) -> None:
    """Fault 133: caught, and answered within the grace: discarded all the same."""

    async def late(event: Any) -> Any:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            return allow("late")

    hooks = Hooks()
    hooks.register("PreToolUse", late, timeout=DEADLINE, on_error="abort")

    outcome = fire(hooks, loop)

    assert (outcome.decision, outcome.granted) == ("deny", False)
    assert statuses(outcome) == ["timeout"]


def test_a_hooks_own_timeout_does_not_reach_the_host_afterwards() -> None:
    """Fault 132: an ``asyncio.timeout`` inside a hook that was left behind cancels its own task and no other."""

    async def host() -> str:
        release = asyncio.Event()

        async def deaf(event: Any) -> Any:
            try:
                async with asyncio.timeout(0.4):
                    await swallows_until(release)
            except TimeoutError:
                pass

        hooks = Hooks()
        hooks.register("PreToolUse", deaf, timeout=DEADLINE)
        await hooks.fire("PreToolUse", **CALL)
        await asyncio.sleep(0.5)  # the subject itself: the hook's own time-out falls into this
        release.set()
        await until(lambda: kept_now() == 0)
        return "unharmed"

    assert run(host()) == "unharmed"


@with_and_without_a_loop
def test_an_inline_coroutine_is_ended_by_cancellation_and_the_host_is_not(loop: bool) -> None:
    """Fault 132: a deadline by cancellation only, in the caller's own task."""

    async def slow(event: Any) -> None:
        await asyncio.sleep(3600)

    async def host() -> tuple[Outcome, int]:
        hooks = Hooks()
        hooks.register("PreToolUse", slow, timeout=DEADLINE, inline=True)
        outcome = await hooks.fire("PreToolUse", **CALL) if loop else hooks.fire_sync("PreToolUse", **CALL)
        await asyncio.sleep(0)
        task = asyncio.current_task()
        return outcome, task.cancelling() if task else 0

    with within(DEADLINE + BUSY):
        outcome, cancelling = run(host())

    assert statuses(outcome) == ["timeout"]
    assert cancelling == 0


# Answers that come too late.


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

    hooks = Hooks()
    hooks.register("PreToolUse", late, timeout=DEADLINE)
    hooks.register("PreToolUse", next_hook)

    outcome = fire(hooks, loop)

    assert statuses(outcome) == ["timeout", "ok"]
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

    hooks = Hooks()
    hooks.register("PreToolUse", late, timeout=DEADLINE)
    hooks.register("PreToolUse", next_hook, inline=inline, timeout=5)

    outcome = fire(hooks, loop)

    assert statuses(outcome) == ["timeout", "ok"]
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

    hooks = Hooks()
    hooks.register("PreToolUse", late, timeout=DEADLINE)
    hooks.register("PreToolUse", next_hook)

    outcome = fire(hooks, loop)

    assert statuses(outcome) == ["timeout", "ok"]
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

    hooks = Hooks()
    hooks.register("PreToolUse", late, timeout=DEADLINE)
    hooks.register("PreToolUse", next_hook)

    outcome = fire(hooks, loop)

    assert statuses(outcome) == ["timeout", "ok"]
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


# The bound, and the breaker.


@pytest.mark.slow
def test_a_hundred_hung_hooks_are_the_most_that_are_kept() -> None:
    """Fault 130: beyond the bound a hook fails at once, and a guard denies; released, everything runs again."""
    with stuck() as release:
        hooks = Hooks()
        begun: list[None] = []

        def hangs(event: Any) -> None:
            begun.append(None)
            release.wait()

        # All have to begin before ten are late, or the breaker keeps the rest from running.
        hooks.register("PreToolUse", hangs, matcher="Stuck", timeout=6)
        hooks.register("PreToolUse", lambda event: None, matcher="Fine", name="guard", on_error="abort")

        async def host() -> Outcome:
            await asyncio.gather(*(hooks.fire("PreToolUse", tool_name="Stuck") for _ in range(MOST_KEPT)))
            assert (len(begun), kept_now()) == (MOST_KEPT, MOST_KEPT)
            with within(BUSY):
                return await hooks.fire("PreToolUse", tool_name="Fine")

        outcome = run(host())

        assert outcome.denied
        assert outcome.results[0].error is not None
        assert outcome.results[0].error.code == "kept_limit"

    assert eventually(lambda: kept_now() == 0)
    assert run(hooks.fire("PreToolUse", tool_name="Fine")).allowed


@with_and_without_a_loop
def test_a_hook_that_fails_ten_times_in_a_row_is_not_waited_for_again(loop: bool) -> None:
    """Fault 130: a guard keeps denying, at once; another hook is skipped."""
    with stuck() as release:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: release.wait(), name="stuck", timeout=0.01)
        hooks.register("PreToolUse", lambda event: release.wait(), name="guard", timeout=0.01, on_error="abort")
        for _ in range(10):
            fire(hooks, loop)

        outcome = fire(hooks, loop)

        assert statuses(outcome) == ["skipped", "failed"]
        assert outcome.denied
        assert [result.error.code for result in outcome.results if result.error] == ["breaker_open"] * 2
        assert kept_now() == 20


def test_a_readable_answer_closes_the_breaker() -> None:
    """Fault 130: ten in a row, and not ten in all."""
    numbers = iter(range(100))
    hooks = Hooks()

    @hooks.on("PreToolUse")
    def flaky(event: Any) -> None:
        if next(numbers) % 10:
            raise ValueError("again")

    outcomes = [hooks.fire_sync("PreToolUse", **CALL) for _ in range(40)]

    assert [statuses(outcome) for outcome in outcomes].count(["skipped"]) == 0
