"""Hooks that are silent are run without much ado; nobody must be able to tell by their tasks and threads."""

import asyncio
import gc
import logging
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, cast

import pytest
from tests.faults.hosts import CALL, eventually, program, until
from tests.faults.silent_firings import fired, statuses

from interpose import Hooks, Outcome, context, deny
from interpose.runtime.workers import workers

# A task of its own, whichever firing it is.


def test_a_hook_never_runs_in_the_hosts_task() -> None:
    hooks, seen = Hooks(), []

    async def hook(event: Any) -> None:
        seen.append(asyncio.current_task())
        await asyncio.sleep(0)
        seen.append(asyncio.current_task())

    async def main() -> asyncio.Task[Any] | None:
        for _ in range(3):
            await hooks.fire("PreToolUse", **CALL)
            await asyncio.sleep(0)
        return asyncio.current_task()

    hooks.register("PreToolUse", hook)

    host = asyncio.run(main())

    assert host not in seen
    assert None not in seen
    assert [seen[0] is seen[1], seen[2] is seen[3], seen[4] is seen[5]] == [True, True, True]


def test_the_host_is_the_current_task_again_after_a_firing() -> None:
    hooks, kept = Hooks(), []

    async def hook(event: Any) -> None:
        return None

    async def main() -> None:
        host = asyncio.current_task()
        for _ in range(3):
            await hooks.fire("PreToolUse", **CALL)
            kept.append(asyncio.current_task() is host)
            await asyncio.sleep(0)

    hooks.register("PreToolUse", hook)

    asyncio.run(main())

    assert kept == [True, True, True]


@pytest.mark.parametrize("keep", [list[Any], weakref.WeakSet[Any]], ids=["strongly", "weakly"])
def test_a_task_that_a_hook_has_kept_is_no_other_firings_task(keep: Callable[[], Any]) -> None:
    kept, met = keep(), []

    async def hook(event: Any) -> None:
        task = asyncio.current_task()
        met.append(task in kept)
        (kept.append if isinstance(kept, list) else kept.add)(task)

    fired(hook, times=5)

    assert met == [False] * 5


def test_what_a_hook_hangs_on_its_task_is_called_when_the_firing_is_over() -> None:
    called: list[int] = []

    async def hook(event: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        number = len(called)
        task.add_done_callback(lambda _: called.append(number))

    outcomes = fired(hook)

    assert statuses(outcomes) == ["ok"] * 3
    assert called == [0, 1, 2]


def test_a_name_that_a_hook_gives_its_task_is_not_the_next_ones() -> None:
    names: list[str] = []

    async def hook(event: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        names.append(task.get_name())
        task.set_name("mine")

    fired(hook, times=4)

    assert "mine" not in names


def test_a_hooks_own_timeout_ends_what_it_waits_for_and_nothing_else() -> None:
    async def hook(event: Any) -> Any:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(30)
        except TimeoutError:
            return context("in time")

    outcomes = fired(hook)

    assert [outcome.context for outcome in outcomes] == [["in time"]] * 3


def test_a_hook_that_cancels_its_task_and_then_waits_has_failed_and_the_next_firing_is_as_ever() -> None:
    async def hook(event: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(30)

    outcomes = fired(hook)

    assert statuses(outcomes) == ["failed"] * 3


def test_a_hook_that_cancels_its_task_and_lets_that_pass_answers() -> None:
    async def hook(event: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            task.uncancel()
            await asyncio.sleep(0)
            return context("still here")

    outcomes = fired(hook)

    assert [outcome.context for outcome in outcomes] == [["still here"]] * 3


@pytest.mark.parametrize("parallel", [False, True], ids=["one after another", "side by side"])
def test_a_hook_that_cancels_its_task_and_returns_does_not_cancel_the_host(parallel: bool) -> None:
    hooks = Hooks()

    async def hook(event: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    async def main() -> list[Outcome]:
        return [await hooks.fire("PreToolUse", **CALL) for _ in range(3)]

    for name in ("a", "b"):
        hooks.register("PreToolUse", hook, name=name, parallel=parallel)

    assert statuses(asyncio.run(main())) == ["ok"] * 6


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="no task stands by")
def test_a_hook_that_cancels_its_task_and_returns_leaves_the_next_firing_a_task_that_can_wait() -> None:
    calls = iter(["returns", "cancels", "waits"])

    async def hook(event: Any) -> Any:
        call = next(calls)
        if call == "waits":
            await asyncio.sleep(0)
            return context("has waited")
        task = asyncio.current_task()
        assert task is not None
        if call == "cancels":
            task.cancel()
        return None

    outcomes = fired(hook, timeout=1)

    assert statuses(outcomes) == ["ok"] * 3
    assert outcomes[2].context == ["has waited"]


def test_a_host_that_is_cancelled_during_an_inline_hook_counts_one_cancellation() -> None:
    hooks = Hooks()

    async def main() -> tuple[bool, int]:
        begun = asyncio.Event()

        async def hook(event: Any) -> None:
            begun.set()
            await asyncio.sleep(30)

        hooks.register("PreToolUse", hook, inline=True)
        firing = asyncio.ensure_future(hooks.fire("PreToolUse", **CALL))
        await begun.wait()
        firing.cancel()
        await asyncio.wait([firing])
        return firing.cancelled(), firing.cancelling()

    assert asyncio.run(main()) == (True, 1)


def test_a_hook_past_its_deadline_is_ended_in_every_firing() -> None:
    async def hook(event: Any) -> None:
        await asyncio.sleep(30)

    outcomes = fired(hook, timeout=0.02)

    assert statuses(outcomes) == ["timeout"] * 3


def test_nothing_that_stands_by_is_among_the_loops_tasks() -> None:
    hooks, others = Hooks(), []

    async def hook(event: Any) -> None:
        return None

    async def main() -> None:
        for _ in range(3):
            await hooks.fire("PreToolUse", **CALL)
            others.append(asyncio.all_tasks() - {asyncio.current_task()})
            await asyncio.sleep(0)

    hooks.register("PreToolUse", hook)

    asyncio.run(main())

    assert others == [set(), set(), set()]


def test_a_loop_that_is_closed_leaves_no_complaint_behind() -> None:
    said: list[Any] = []

    async def hook(event: Any) -> None:
        return None

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda _, what: said.append(what))
        hooks = Hooks()
        hooks.register("PreToolUse", hook)
        for _ in range(3):
            loop.run_until_complete(hooks.fire("PreToolUse", **CALL))
        loop.close()
        del loop
        asyncio.run(hooks.fire("PreToolUse", **CALL))  # lets go of what the closed loop had
        gc.collect()

    assert (said, [str(warning.message) for warning in caught]) == ([], [])


def test_firings_inside_firings_that_never_wait_have_tasks_of_their_own() -> None:
    hooks, seen = Hooks(), []

    async def outer(event: Any) -> None:
        seen.append(asyncio.current_task())
        await hooks.fire("PostToolUse", tool_name="Bash", tool_response={})
        seen.append(asyncio.current_task())

    async def inner(event: Any) -> None:
        seen.append(asyncio.current_task())

    async def main() -> None:
        for _ in range(3):
            await hooks.fire("PreToolUse", **CALL)
            await asyncio.sleep(0)
            assert seen[0] is seen[2]
            assert seen[1] is not seen[0]
            seen.clear()

    hooks.register("PreToolUse", outer)
    hooks.register("PostToolUse", inner)

    asyncio.run(main())


@pytest.mark.parametrize("inline", [False, True])
def test_what_a_hook_sets_in_its_context_reaches_neither_the_host_nor_the_next_firing(inline: bool) -> None:
    mark: ContextVar[str] = ContextVar("mark", default="unset")
    seen: list[str] = []

    async def hook(event: Any) -> None:
        seen.append(mark.get())
        mark.set("the hook's")

    fired(hook, inline=inline)

    assert seen == ["unset"] * 3
    assert mark.get() == "unset"


# Threads and the background loop, when something else breaks off.


def test_no_hook_begins_in_a_thread_after_the_host_was_cancelled_between_two_hooks() -> None:
    hooks, ran = Hooks(), []
    between, go_on = threading.Event(), threading.Event()
    idle = len(workers._idle)

    class Blocks(logging.Handler):
        """Blocks the thread when the first hook has ended."""

        def emit(self, record: logging.LogRecord) -> None:
            between.set()
            go_on.wait(5)

    def fails(event: Any) -> None:
        raise ValueError

    def second(event: Any) -> None:
        ran.append("second")

    async def main() -> bool:
        firing = asyncio.ensure_future(hooks.fire("PreToolUse", **CALL))
        await until(between.is_set)
        firing.cancel()
        await asyncio.wait([firing])
        return firing.cancelled()

    hooks.register("PreToolUse", fails)
    hooks.register("PreToolUse", second)
    logger, handler = logging.getLogger("interpose"), Blocks()
    logger.addHandler(handler)
    try:
        assert asyncio.run(main())
    finally:
        go_on.set()
        logger.removeHandler(handler)

    assert eventually(lambda: len(workers._idle) >= max(idle, 1))
    assert ran == []


@pytest.mark.parametrize("loop", [False, True], ids=["without a loop", "with a loop"])
def test_what_breaks_the_chain_of_a_thread_is_raised_in_the_host(loop: bool) -> None:
    hooks = Hooks()

    class Breaks:
        def run_begins(self, run: Any) -> Any:
            return self

        def hook_begins(self, step: Any) -> None:
            return None

        def hook_ends(self, step: Any, run: Any, ended: Any) -> None:
            raise ZeroDivisionError

        def run_breaks_off(self) -> None:
            return None

        def run_ends(self, outcome: Any) -> None:
            return None

    hooks.register("PreToolUse", lambda event: None)
    hooks.engine.listen(cast("Any", Breaks()), True)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(hooks.fire("PreToolUse", **CALL)) if loop else hooks.fire_sync("PreToolUse", **CALL)


def test_hooks_after_one_that_cancels_everything_on_the_background_loop_still_run() -> None:
    hooks = Hooks()

    async def cancels_everything(event: Any) -> None:
        for task in asyncio.all_tasks():
            task.cancel()
        await asyncio.sleep(30)

    async def second(event: Any) -> Any:
        return context("second")

    hooks.register("PreToolUse", cancels_everything)
    hooks.register("PreToolUse", second)

    assert hooks.fire_sync("PreToolUse", **CALL).context == ["second"]


@pytest.mark.parametrize("does", ["raise ZeroDivisionError", "return Never()"])
def test_a_factory_of_tasks_that_a_hook_gives_to_the_background_loop_makes_no_task_of_a_hook(does: str) -> None:
    ended = program(f"""
        import asyncio
        from interpose import Hooks, deny

        class Never:
            def __getattr__(self, name):
                return lambda *_, **__: None

        def factory(loop, flow, **options):
            flow.close()
            {does}

        async def replaces_the_factory(event):
            asyncio.get_running_loop().set_task_factory(factory)

        async def denies(event):
            await asyncio.sleep(0)
            return deny("no")

        hooks = Hooks()
        hooks.register("PreToolUse", replaces_the_factory, priority=1)
        hooks.register("PreToolUse", denies)
        hooks.register("PreCompact", denies, name="one", parallel=True)
        hooks.register("PreCompact", denies, name="other", parallel=True)
        for event in ("PreToolUse", "PreToolUse", "PreCompact"):
            print(hooks.fire_sync(event).reason)
    """)

    assert (ended.stdout, ended.stderr) == ("no\nno\nno\n", "")


def test_a_signal_that_strikes_while_a_thread_is_started_leaves_no_thread_without_a_job() -> None:
    ended = program("""
        import signal, sys, threading
        from interpose import Hooks

        def alarm(*_):
            raise TimeoutError

        def strike(frame, happened, argument):
            if frame.f_code is threading.Event.wait.__code__ and frame.f_back.f_code is threading.Thread.start.__code__:
                signal.raise_signal(signal.SIGALRM)

        signal.signal(signal.SIGALRM, alarm)
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: None)
        struck = 0
        for _ in range(20):
            sys.settrace(strike)
            try:
                hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={})
            except TimeoutError:
                struck += 1
            sys.settrace(None)
        print(struck > 0, sum(thread.name == "interpose-hook" for thread in threading.enumerate()) < 10)
    """)

    assert ended.stdout == "True True\n", ended.stderr


def test_a_signal_handler_may_fire_while_the_background_loop_is_started() -> None:
    ended = program("""
        import asyncio, signal
        from interpose import Hooks, deny

        async def denies(event):
            return deny("no")

        def fires(*_):
            print("handler:", hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={}).reason)

        def strikes():
            asyncio.new_event_loop = made
            signal.raise_signal(signal.SIGTERM)
            return made()

        hooks = Hooks()
        hooks.register("PreToolUse", denies)
        signal.signal(signal.SIGTERM, fires)
        made, asyncio.new_event_loop = asyncio.new_event_loop, strikes
        print("host:", hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={}).reason)
    """)

    assert (ended.stdout, ended.stderr) == ("handler: no\nhost: no\n", "")


def test_a_hook_that_cancels_everything_has_taken_no_less_than_no_time() -> None:
    """Its failure is found on another way than a hook's own, with what the one before it left."""
    hooks = Hooks()

    async def silent(event: Any) -> None:
        return None

    async def cancels_everything(event: Any) -> None:
        for task in asyncio.all_tasks():
            task.cancel()
        await asyncio.sleep(30)

    hooks.register("PreToolUse", silent)
    hooks.register("PreToolUse", cancels_everything)

    _, cancelled = hooks.fire_sync("PreToolUse", **CALL).results

    assert cancelled.status == "failed"
    assert cancelled.duration >= 0


# Firings without hooks, and with guards only.


def test_a_firing_without_hooks_reads_the_same_when_it_comes_again() -> None:
    hooks = Hooks()

    async def main() -> list[Outcome]:
        return [await hooks.fire("PreToolUse", **CALL, tool_use_id="one") for _ in range(3)]

    first, *others = asyncio.run(main())

    for outcome in others:
        assert (outcome.event, outcome.allowed, outcome.results) == (first.event, True, ())
        assert dict(outcome.input) == dict(first.input)


def test_a_listener_is_told_of_every_firing_without_hooks() -> None:
    hooks, told = Hooks(), []

    class Listens:
        def run_begins(self, run: Any) -> Any:
            return self

        def run_ends(self, outcome: Outcome) -> None:
            told.append(outcome.event)

    async def main() -> None:
        for _ in range(3):
            await hooks.fire("PreToolUse", **CALL)

    hooks.engine.listen(cast("Any", Listens()), True)

    asyncio.run(main())

    assert told == ["PreToolUse"] * 3


def test_a_guard_in_a_group_is_asked_where_only_guards_are() -> None:
    hooks = Hooks()

    async def plain(event: Any) -> Any:
        return deny("not asked")

    async def guard(event: Any) -> Any:
        return deny("no")

    hooks.register("PreToolUse", plain, name="plain", parallel=True)
    hooks.register("PreToolUse", guard, name="guard", parallel=True, on_error="abort")

    outcome = asyncio.run(hooks.engine.fire_guards("PreToolUse", **CALL))

    assert outcome.denied
    assert [result.hook for result in outcome.results] == ["guard"]


def test_an_outcome_says_why_enforcement_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERPOSE_OFF", "an incident")

    outcome = asyncio.run(Hooks().fire("PreToolUse", **CALL))

    assert outcome.extra["off"] == "an incident"
