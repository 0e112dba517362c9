"""Cancellation that is meant for the host, and cancellation that a hook makes up."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.faults.hosts import (
    BUSY,
    CALL,
    WAYS,
    Way,
    eventually,
    kept_now,
    run,
    unharmed,
    until,
    within,
)  # fmt: skip

from interpose import Hooks, Outcome, context

# Cancellation of the host's own task.


async def cancelled_while(hooks: Hooks, running: Callable[[], bool]) -> bool:
    """Fire in a task, cancel that as soon as a hook runs; say whether the cancellation came back."""
    firing = asyncio.create_task(hooks.fire("PreToolUse", **CALL))
    await until(running)
    firing.cancel()
    try:
        await firing
    except asyncio.CancelledError:
        return True
    return False


@pytest.mark.parametrize(
    ("inline", "parallel"), [(False, False), (True, False), (False, True)], ids=["in a task", "inline", "side by side"]
)
def test_cancelling_the_host_cancels_the_coroutine_and_comes_back(inline: bool, parallel: bool) -> None:
    """Fault 149: the hook may clean up, nothing after it runs, and the host gets its CancelledError."""
    log: list[str] = []

    async def hook(event: Any) -> None:
        log.append("began")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise
        finally:
            await asyncio.sleep(0)
            log.append("cleaned")

    hooks = Hooks()
    hooks.register("PreToolUse", hook, inline=inline, parallel=parallel)
    if parallel:
        hooks.register("PreToolUse", hook, name="twin", parallel=True)
    hooks.register("PreToolUse", lambda event: log.append("next"), priority=200)

    with within(BUSY):
        assert run(cancelled_while(hooks, lambda: log.count("began") == 1 + parallel))

    times = 1 + parallel
    assert sorted(log) == sorted(["began", "cancelled", "cleaned"] * times)


def test_no_hook_begins_after_one_that_takes_the_cancellation_of_the_host_for_its_own() -> None:
    """Fault 149: it returns as if nothing were, and the firing is over all the same."""
    log: list[str] = []

    async def takes_it(event: Any) -> None:
        log.append("began")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            log.append("went on")

    async def next_one(event: Any) -> None:
        log.append("next")

    hooks = Hooks()
    hooks.register("PreToolUse", takes_it)
    hooks.register("PreToolUse", next_one)

    with within(BUSY):
        assert run(cancelled_while(hooks, lambda: "began" in log))

    assert log == ["began", "went on"]


def test_cancelling_the_host_leaves_a_thread_behind_and_comes_back() -> None:
    """Fault 149: a thread cannot be cancelled; the host does not wait for it."""
    release, began = threading.Event(), threading.Event()
    ran: list[Any] = []
    hooks = Hooks()

    @hooks.on("PreToolUse")
    def stuck(event: Any) -> None:
        began.set()
        release.wait(5)

    hooks.register("PreToolUse", ran.append, name="next")

    with within(BUSY):
        assert run(cancelled_while(hooks, began.is_set))
    release.set()

    assert eventually(lambda: kept_now() == 0)
    assert ran == []


def test_a_thread_that_ends_after_its_host_was_cancelled_disturbs_no_loop() -> None:
    """Fault 149: nothing waits for its end any more."""
    release, began = threading.Event(), threading.Event()
    complaints: list[Any] = []
    hooks = Hooks()

    @hooks.on("PreToolUse", matcher="Bash")
    def stuck(event: Any) -> None:
        began.set()
        release.wait(30)

    hooks.register("PreToolUse", lambda event: None, matcher="Edit")

    async def host() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
        assert await cancelled_while(hooks, began.is_set)
        release.set()
        await until(lambda: kept_now() == 0)
        for _ in range(20):  # in the same thread, if that is free again
            await hooks.fire("PreToolUse", tool_name="Edit")
            await asyncio.sleep(0)

    with within(2 * BUSY):
        run(host())

    assert complaints == []


async def deaf(event: Any) -> None:
    """Waits for ever, whatever is thrown at it."""
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


@pytest.mark.parametrize("parallel", [False, True], ids=["", "side by side"])
@pytest.mark.parametrize("impatience", [1, 2, 5])
def test_cancelling_the_host_while_a_hook_swallows_cancellation_comes_back(impatience: int, parallel: bool) -> None:
    """Fault 149: and the loop can end afterwards, however often the host was cancelled."""
    began: list[int] = []

    async def hook(event: Any) -> None:
        began.append(1)
        await deaf(event)

    hooks = Hooks()
    hooks.register("PreToolUse", hook, parallel=parallel)
    if parallel:
        hooks.register("PreToolUse", hook, name="twin", parallel=True)

    async def host() -> bool:
        firing = asyncio.create_task(hooks.fire("PreToolUse", **CALL))
        await until(lambda: len(began) == 1 + parallel)
        for _ in range(impatience):
            firing.cancel()
            await asyncio.sleep(0)
        try:
            await firing
        except asyncio.CancelledError:
            return True
        return False

    with within(2 * BUSY):
        assert asyncio.run(host())

    assert eventually(lambda: kept_now() == 0)


def test_a_firing_inside_a_time_limit_of_the_host_ends_with_it() -> None:
    """Fault 149: ``asyncio.timeout`` around a firing gives TimeoutError, and the task is as good as new."""

    async def slow(event: Any) -> None:
        await asyncio.sleep(60)

    async def host() -> int:
        hooks = Hooks()
        hooks.register("PreToolUse", slow)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await hooks.fire("PreToolUse", **CALL)
        task = asyncio.current_task()
        return task.cancelling() if task else 0

    with within(0.05 + BUSY):
        assert run(host()) == 0


def test_cancelling_the_host_after_a_deadline_passed_still_comes_back() -> None:
    """Fault 149: the hook was cancelled for its deadline already; this one is the host's."""
    cancelled: list[int] = []

    async def slow_to_end(event: Any) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(1)
            await asyncio.sleep(60)

    hooks = Hooks()
    hooks.register("PreToolUse", slow_to_end, timeout=0.05)

    with within(BUSY):
        assert run(cancelled_while(hooks, lambda: bool(cancelled)))


def test_an_inline_hook_that_is_past_its_deadline_does_not_hide_the_hosts_cancellation() -> None:
    """Fault 149: both happen to one task; the host's is not taken for the deadline's."""
    began: list[int] = []

    async def hook(event: Any) -> None:
        began.append(1)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            began.append(2)
            await asyncio.sleep(60)

    hooks = Hooks()
    hooks.register("PreToolUse", hook, timeout=0.05, inline=True)

    with within(0.05 + BUSY):
        assert run(cancelled_while(hooks, lambda: 2 in began))


@pytest.mark.parametrize("way", [way for way in WAYS if way.loop], ids=str)
def test_a_hook_that_raises_cancelled_error_does_not_cancel_the_host(way: Way) -> None:
    """Fault 123: nobody has cancelled anything; it is a failure, and the task goes on."""

    def body(event: Any) -> None:
        raise asyncio.CancelledError("made up")

    async def host() -> tuple[Outcome, int]:
        hooks = Hooks()
        way.register(hooks, body)
        way.register(hooks, lambda event: context("next"))
        outcome = await hooks.fire("PreToolUse", **CALL)
        await asyncio.sleep(0)
        task = asyncio.current_task()
        return outcome, task.cancelling() if task else 0

    outcome, cancelling = run(host())

    assert [result.status for result in outcome.results] == ["failed", "ok"]
    assert cancelling == 0


def test_a_host_that_cleans_up_after_a_cancellation_is_not_cancelled_by_the_deadline_of_an_inline_hook() -> None:
    """Fault 149: its own cancellation is behind it; the second one is the hook's."""

    async def hook(event: Any) -> None:
        await asyncio.sleep(60)

    hooks = Hooks()
    hooks.register("PreToolUse", hook, inline=True, timeout=0.05)

    async def firing() -> list[str]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            outcome = await hooks.fire("PreToolUse", **CALL)
            return [result.status for result in outcome.results]
        return []

    async def host() -> list[str]:
        task = asyncio.create_task(firing())
        await asyncio.sleep(0)
        task.cancel()
        return await task

    assert run(host()) == ["timeout"]


def test_a_hook_that_cancels_its_own_task_harms_nobody_else() -> None:
    """Fault 123: the chain's task is not the host's, and the next hook runs."""

    async def cancels_itself(event: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(60)

    hooks = Hooks()
    hooks.register("PreToolUse", cancels_itself)
    hooks.register("PreToolUse", lambda event: context("next"))

    with within(BUSY):
        outcome = run(hooks.fire("PreToolUse", **CALL))

    assert [result.status for result in outcome.results] == ["failed", "ok"]


def test_a_hook_that_cancels_its_own_task_leaves_no_cancellation_for_the_next_one() -> None:
    """Fault 122: what waits for its own tasks or its own time asks how often its task was cancelled."""
    hooks = Hooks()
    counted: list[int] = []

    async def cancels_itself(event: Any) -> None:
        for _ in range(2):
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        await asyncio.sleep(60)

    async def looks(event: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        counted.append(task.cancelling())

    hooks.register("PreToolUse", cancels_itself, name="cancels itself", on_error="log")
    hooks.register("PreToolUse", looks, name="looks")

    outcome = run(hooks.fire("PreToolUse", **CALL))

    assert [result.status for result in outcome.results] == ["failed", "ok"]
    assert counted == [0]


# Cancellation of what the host waits for besides hooks: its recorder.


class Recorder:
    """A recorder whose record is required, and that waits until it is cancelled; or is cancelled at once."""

    required = True

    def __init__(self, seconds: float = 30) -> None:
        self.seconds = seconds
        self.waits = threading.Event()

    async def __call__(self, outcome: Outcome) -> None:
        self.waits.set()
        await asyncio.sleep(self.seconds)
        raise asyncio.CancelledError


@pytest.mark.parametrize("loop", [True, False])
def test_a_recorder_that_is_cancelled_has_lost_a_record_and_does_not_cancel_the_host(loop: bool) -> None:
    hooks = Hooks()
    hooks.record(Recorder(0))

    outcome = unharmed(lambda: run(hooks.fire("PreToolUse")) if loop else hooks.fire_sync("PreToolUse"))

    assert (outcome.denied, outcome.reason) == (
        True, "recorder failed: raised RuntimeError: what was waited for was cancelled"
    )  # fmt: skip


@pytest.mark.parametrize("early", [False, True])
def test_a_host_that_is_cancelled_while_its_recorder_waits_ends(early: bool) -> None:
    async def main() -> bool:
        firing = asyncio.create_task(hooks.fire("PreToolUse"))
        if early:
            hooks.register("PreToolUse", lambda event: firing.cancel() and None, inline=True)
        else:
            await until(recorder.waits.is_set)
            firing.cancel()
        await asyncio.wait([firing])
        return firing.cancelled()

    hooks, recorder = Hooks(), Recorder()
    hooks.record(recorder)

    with within(BUSY):
        assert run(main())


def test_a_hook_that_cancels_everything_on_the_background_loop_cancels_no_other_host_that_waits_there() -> None:
    async def cancels_everything(event: Any) -> None:
        for task in asyncio.all_tasks():
            task.cancel()

    def host() -> None:
        outcomes.append(unharmed(lambda: recorded.fire_sync("PreToolUse")))

    outcomes: list[Outcome] = []
    recorded, recorder, others = Hooks(), Recorder(), Hooks()
    recorded.record(recorder)
    others.register("PreToolUse", cancels_everything)
    other = threading.Thread(target=host)
    other.start()
    recorder.waits.wait(BUSY)

    others.fire_sync("PreToolUse")

    other.join(BUSY)
    assert [outcome.denied for outcome in outcomes] == [True]
