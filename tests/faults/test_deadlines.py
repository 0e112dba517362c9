"""Hooks that do not end: functions that block, coroutines that will not be cancelled, and how many are kept."""

import asyncio
import time
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, PROMISE, WAYS, Way, eventually, kept_now, program, run, until, within
from tests.faults.late_hooks import (
    DEADLINE,
    fire,
    statuses,
    stuck,
    swallows_until,
    with_and_without_a_loop,
)

from interpose import Hooks, Outcome, allow, context, deny
from interpose.executors.base import MOST_KEPT

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
        hooks = Hooks(total_timeout=0.8)
        for number in range(3):
            hooks.register("PreToolUse", lambda event: release.wait(), name=f"{number}", timeout=0.45)
        hooks.register("PreToolUse", lambda event: None, name="guard", on_error="abort")

        with within(0.8 + BUSY):
            outcome = run(hooks.fire("PreToolUse", **CALL))

        assert statuses(outcome) == ["timeout", "timeout", "timeout", "timeout"]
        assert outcome.denied
        assert kept_now() == 2


# Coroutines that will not be cancelled.


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
