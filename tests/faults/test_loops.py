"""Several event loops, hooks that lay hands on the loop they run on, and firings without a loop inside one."""

import asyncio
import gc
import threading
import weakref
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, in_threads, program, run, unharmed, within

from interpose import Hooks, Outcome, context, deny
from interpose.run import BREAKER_FAILURES

# Event loops.

EAGER: Any = getattr(asyncio, "eager_task_factory", None)


@pytest.mark.skipif(EAGER is None, reason="this Python has no eager tasks")
def test_a_host_whose_tasks_all_start_eagerly_is_served_like_any_other() -> None:
    """Fault 145: a task may be done before anybody has its name."""
    hooks = Hooks()

    async def quick(event: Any) -> Any:
        return context("quick")

    async def slow(event: Any) -> Any:
        await asyncio.sleep(0)
        return context("slow")

    async def cancelled(event: Any) -> Any:
        raise asyncio.CancelledError

    for name, handler in {"quick": quick, "slow": slow, "cancelled": cancelled}.items():
        hooks.register("PreToolUse", handler, name=name)
        hooks.register("PreToolUse", handler, name=f"{name} beside", parallel=True)

    async def host() -> Outcome:
        asyncio.get_running_loop().set_task_factory(EAGER)
        return await hooks.fire("PreToolUse", **CALL)

    outcome = run(host())

    assert outcome.context == ["quick", "quick", "slow", "slow"]
    assert [result.status for result in outcome.results] == ["ok"] * 4 + ["failed"] * 2


def test_one_engine_serves_two_loops_at_the_same_time() -> None:
    """Fault 145: a hook on one loop waits for a hook on the other."""
    meeting = threading.Barrier(2, timeout=30)
    loops: set[int] = set()
    hooks = Hooks()

    @hooks.on("PreToolUse")
    async def hook(event: Any) -> Any:
        loops.add(id(asyncio.get_running_loop()))
        await asyncio.to_thread(meeting.wait)
        return context("met")

    def host(number: int) -> None:
        assert run(hooks.fire("PreToolUse", **CALL)).context == ["met"]

    in_threads(2, host)

    assert len(loops) == 2


def test_one_engine_serves_one_loop_after_another() -> None:
    """Fault 145: nothing of a closed loop is used again."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: context("thread"))

    @hooks.on("PreToolUse")
    async def coroutine(event: Any) -> Any:
        await asyncio.sleep(0)
        return context("task")

    outcomes = [run(hooks.fire("PreToolUse", **CALL)).context for _ in range(20)]

    assert outcomes == [["thread", "task"]] * 20


def test_closed_loops_are_not_kept_in_memory() -> None:
    """Fault 145: a host that makes a loop for every call does not grow."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None)
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def host() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await hooks.fire("PreToolUse", **CALL)

    for _ in range(10):
        run(host())
    gc.collect()

    assert sum(loop() is not None for loop in loops) <= 2


def test_importing_the_engine_and_making_hooks_binds_no_loop() -> None:
    """Fault 145: made where there is no loop, used where there is one."""
    made: list[Hooks] = []

    def make(number: int) -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: context("fine"))
        made.append(hooks)

    in_threads(1, make)

    assert run(made[0].fire("PreToolUse", **CALL)).context == ["fine"]


@pytest.mark.parametrize("kind", ["function", "coroutine", "deaf coroutine"])
def test_a_loop_that_is_closed_while_a_hook_runs_makes_no_noise(kind: str) -> None:
    """Fault 146: the answer finds nobody, and nobody complains that the loop is closed."""
    ended = program(f"""
        import asyncio, gc, threading, time
        from interpose import Hooks

        began, release, ended = threading.Event(), threading.Event(), threading.Event()
        hooks = Hooks()

        def function(event):
            began.set()
            release.wait(10)
            ended.set()

        async def coroutine(event):
            began.set()
            await asyncio.sleep(60)

        async def deaf(event):
            began.set()
            try:
                await asyncio.sleep(60)
            except BaseException:
                pass

        hooks.register("PreToolUse", {{"function": function, "coroutine": coroutine}}.get({kind!r}, deaf))
        loop = asyncio.new_event_loop()
        firing = loop.create_task(hooks.fire("PreToolUse", tool_name="Bash"))
        firing._log_destroy_pending = False  # that the host gave up its own task is the host's affair

        async def until_it_runs():
            while not began.is_set():
                await asyncio.sleep(0.001)

        loop.run_until_complete(until_it_runs())
        loop.close()
        release.set()
        if {kind!r} == "function":
            ended.wait(10)
        del firing
        gc.collect()
        print(hooks.fire_sync("PostToolUse", tool_name="Bash").allowed)
    """)

    assert (ended.returncode, ended.stdout) == (0, "True\n")
    assert "Event loop is closed" not in ended.stderr
    assert "Traceback" not in ended.stderr


# A firing without an event loop, started inside one.


def test_a_coroutine_may_fire_without_a_loop() -> None:
    """Fault 145: it works and stalls the loop meanwhile; async hooks run on a loop elsewhere."""
    hooks = Hooks()

    @hooks.on("pre:message")
    async def inner(event: Any) -> Any:
        await asyncio.sleep(0)
        return deny("inner")

    @hooks.on("PreToolUse")
    async def outer(event: Any) -> Any:
        return context(hooks.fire_sync("pre:message", prompt="x").reason)

    assert run(hooks.fire("PreToolUse", **CALL)).context == ["inner"]
    assert hooks.fire_sync("PreToolUse", **CALL).context == ["inner"]


# Hooks that lay hands on the loop they run on. Where that is the host's, it is the host's; elsewhere it is ours.


async def stops_its_loop(event: Any) -> None:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(30)


async def cancels_everything(event: Any) -> None:
    for task in asyncio.all_tasks():
        task.cancel()
    await asyncio.sleep(30)


async def waits(event: Any) -> None:
    await asyncio.sleep(30)


async def leaves_a_task_that_exits(event: Any) -> None:
    async def exits() -> None:
        raise SystemExit(3)

    task = asyncio.create_task(exits())
    await asyncio.sleep(30)
    await task


async def leaves_a_task_that_interrupts(event: Any) -> None:
    def interrupts() -> None:
        raise KeyboardInterrupt

    asyncio.get_running_loop().call_soon(interrupts)
    await asyncio.sleep(30)


SABOTAGE = [stops_its_loop, cancels_everything, leaves_a_task_that_exits, leaves_a_task_that_interrupts]


@pytest.mark.parametrize("guard_first", [True, False])
def test_a_guard_beside_a_hook_that_cancels_everything_on_the_loop_denies(guard_first: bool) -> None:
    """Fault 121: side by side, each hook fails by itself, and each has a result."""
    hooks = Hooks()
    names = ["guard", "saboteur"] if guard_first else ["saboteur", "guard"]
    beside_others: Any = {"guard": waits, "saboteur": cancels_everything}
    for name in names:
        hooks.register("PreToolUse", beside_others[name], name=name, parallel=True, locked=name == "guard")

    outcome = hooks.fire_sync("PreToolUse", **CALL)

    assert outcome.denied
    assert [(result.hook, result.status) for result in outcome.results] == [(name, "failed") for name in names]


def test_a_hook_beside_others_that_cancels_everything_each_time_is_not_waited_for_any_more() -> None:
    hooks = Hooks()
    for name in ("one", "other"):
        hooks.register("PreToolUse", cancels_everything, name=name, parallel=True)
    for _ in range(BREAKER_FAILURES):
        hooks.fire_sync("PreToolUse", **CALL)

    results = hooks.fire_sync("PreToolUse", **CALL).results

    assert [result.error.code for result in results if result.error] == ["breaker_open", "breaker_open"]


def test_a_deny_holds_although_a_hook_beside_it_cancels_everything_on_the_loop() -> None:
    """Fault 121: what was said before that counts."""
    hooks = Hooks()
    denied = asyncio.Event()

    async def denies(event: Any) -> Any:
        denied.set()
        return deny("no")

    async def cancels_later(event: Any) -> None:
        await denied.wait()
        await asyncio.sleep(0)
        await cancels_everything(event)

    for hook in (cancels_later, denies):
        hooks.register("PreToolUse", hook, name=hook.__name__, parallel=True)

    outcome = hooks.fire_sync("PreToolUse", **CALL)

    assert (outcome.decision, outcome.reason) == ("deny", "no")
    assert [(result.hook, result.status) for result in outcome.results] == [
        ("cancels_later", "failed"),
        ("denies", "ok"),
    ]


def test_a_hook_that_cancels_everything_on_the_loop_keeps_no_later_hook_from_running() -> None:
    """Fault 121"""
    hooks = Hooks()
    hooks.register("PreToolUse", cancels_everything, name="saboteur")
    hooks.register("PreToolUse", lambda event: deny("no"), name="guard")

    outcome = hooks.fire_sync("PreToolUse", **CALL)

    assert (outcome.decision, outcome.reason) == ("deny", "no")
    assert [(result.hook, result.status) for result in outcome.results] == [("saboteur", "failed"), ("guard", "ok")]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("sabotage", SABOTAGE, ids=lambda hook: hook.__name__)
def test_a_hook_that_ends_the_loop_of_hosts_without_one_hangs_nobody(sabotage: Any) -> None:
    """Fault 121: a guard that does so denies, in time, and the next firing finds a loop that runs."""
    hooks = Hooks()
    hooks.register("PreToolUse", sabotage, name="saboteur", matcher="Bash", timeout=0.2, on_error="abort")

    async def fine(event: Any) -> Any:
        await asyncio.sleep(0)
        return context("fine")

    hooks.register("PreToolUse", fine, matcher="Edit")

    with within(0.2 + 2 * BUSY):
        outcome = unharmed(lambda: hooks.fire_sync("PreToolUse", **CALL))

    assert outcome.denied
    assert hooks.fire_sync("PreToolUse", tool_name="Edit").context == ["fine"]
