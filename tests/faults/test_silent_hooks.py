"""Hooks that are silent are run without much ado; nobody must be able to tell."""

import asyncio
import gc
import logging
import os
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from pathlib import Path
from typing import Any, cast

import pytest
from tests.faults.hosts import CALL, eventually, until

from interpose import AuditStore, Hooks, Outcome, context, deny, modify
from interpose.audit.reader import open_store
from interpose.runtime.workers import workers

Hook = Callable[[Any], Coroutine[Any, Any, Any]]


def fired(hook: Hook, times: int = 3, **options: Any) -> list[Outcome]:
    """Fire several times on one loop, with a turn of the loop in between: the first firing is not like the others."""
    hooks = Hooks()
    hooks.register("PreToolUse", hook, name="hook", **options)

    async def main() -> list[Outcome]:
        outcomes = []
        for _ in range(times):
            outcomes.append(await hooks.fire("PreToolUse", **CALL))
            await asyncio.sleep(0)
        return outcomes

    return asyncio.run(main())


def statuses(outcomes: list[Outcome]) -> list[str]:
    return [result.status for outcome in outcomes for result in outcome.results]


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


# The same outcome, whoever has run through the hooks.


@pytest.mark.parametrize("inline", [False, True])
def test_a_silent_firing_tells_of_every_hook(inline: bool) -> None:
    hooks = Hooks()

    async def hook(event: Any) -> None:
        return None

    for name in ("a", "b", "c"):
        hooks.register("PreToolUse", hook, name=name, inline=inline, on_error="abort" if name == "b" else None)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert [(result.hook, result.status, result.decision) for result in outcome.results] == [
        ("a", "ok", "none"), ("b", "ok", "none"), ("c", "ok", "none"),
    ]  # fmt: skip
    assert all(0 <= result.duration < 5 for result in outcome.results)
    assert outcome.results == outcome.results


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("speaks", [False, True])
def test_all_hooks_and_the_outcome_have_the_same_call_id(speaks: bool, inline: bool) -> None:
    hooks, seen = Hooks(), []

    async def hook(event: Any) -> None:
        seen.append(event.tool_use_id)

    async def last(event: Any) -> Any:
        seen.append(event["tool_use_id"])
        return context("said") if speaks else None

    for one in (hook, hook, last):
        hooks.register("PreToolUse", one, inline=inline)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert seen == [outcome.tool_use_id] * 3
    assert outcome.input["tool_use_id"] == outcome.input["tool_use_id"] == seen[0]


@pytest.mark.parametrize("inline", [False, True])
def test_an_event_that_a_hook_keeps_is_whole_whoever_has_read_the_outcome_before(inline: bool) -> None:
    hooks, kept = Hooks(), []

    async def hook(event: Any) -> None:
        kept.append(event)

    hooks.register("PreToolUse", hook, inline=inline)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))
    whole = dict(outcome.input)

    assert (kept[0].cwd, dict(kept[0])) == (os.getcwd(), whole)
    assert outcome.input == whole


@pytest.mark.parametrize("inline", [False, True])
def test_a_field_of_any_name_reads_as_an_attribute_of_a_silent_outcome(inline: bool) -> None:
    hooks = Hooks()
    words = {"task": "t", "route": "r", "times": "x", "firing": "f", "depth": "d", "copiers": "c", "token": "k"}

    async def hook(event: Any) -> None:
        return None

    hooks.register("PreToolUse", hook, inline=inline)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL, **words))

    assert {word: getattr(outcome, word) for word in words} == words


def test_a_guard_that_was_run_through_looks_again_at_what_changed_afterwards() -> None:
    hooks = Hooks()

    async def guard(event: Any) -> Any:
        return deny("no") if event.tool_input["command"] == "rm" else None

    async def changes(event: Any) -> Any:
        return modify(tool_input={"command": "rm"})

    hooks.register("PreToolUse", guard, name="guard", on_error="abort")
    hooks.register("PreToolUse", changes, name="changes")

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert outcome.denied
    assert [(result.hook, result.round) for result in outcome.results] == [
        ("guard", 1), ("changes", 1), ("guard", 2),
    ]  # fmt: skip


def test_a_hook_that_waits_in_the_middle_is_timed_from_its_own_beginning() -> None:
    hooks = Hooks()

    async def silent(event: Any) -> None:
        return None

    async def waits(event: Any) -> None:
        await asyncio.sleep(30)

    for name, hook in {"a": silent, "b": waits, "c": silent}.items():
        hooks.register("PreToolUse", hook, name=name, timeout=0.6)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert [(result.hook, result.status) for result in outcome.results] == [
        ("a", "ok"), ("b", "timeout"), ("c", "ok"),
    ]  # fmt: skip


@pytest.mark.parametrize("inline", [False, True])
def test_a_hook_that_holds_the_loop_past_its_deadline_is_late_although_it_is_silent(inline: bool) -> None:
    hooks = Hooks()

    async def holds(event: Any) -> None:
        time.sleep(0.05)  # noqa: ASYNC251 - that is its fault

    async def silent(event: Any) -> None:
        return None

    hooks.register("PreToolUse", holds, name="holds", timeout=0.02, inline=inline)
    hooks.register("PreToolUse", silent, name="silent", timeout=5, inline=inline)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert [(result.hook, result.status) for result in outcome.results] == [("holds", "timeout"), ("silent", "ok")]


def test_a_hook_that_had_failed_is_forgiven_when_it_is_silent() -> None:
    fails = [True, False, True]
    hooks = Hooks()

    async def hook(event: Any) -> None:
        if fails.pop(0):
            raise ValueError("boom")

    registered = hooks.register("PreToolUse", hook)

    async def main() -> list[int]:
        counts = []
        for _ in range(3):
            await hooks.fire("PreToolUse", **CALL)
            counts.append(registered.health.failures)
        return counts

    assert asyncio.run(main()) == [1, 0, 1]


def test_hooks_of_several_lanes_are_run_in_their_order() -> None:
    hooks, seen = Hooks(), []

    def marks(name: str) -> Hook:
        async def hook(event: Any) -> None:
            seen.append(name)

        return hook

    for number in range(8):
        hooks.register("PreToolUse", marks(f"{number}"), name=f"{number}", inline=number // 2 % 2 == 0)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert seen == [result.hook for result in outcome.results] == [f"{number}" for number in range(8)]


def test_observers_that_come_later_are_told_of_every_hook() -> None:
    hooks, told = Hooks(), []

    async def hook(event: Any) -> None:
        return None

    hooks.register("PreToolUse", hook)

    asyncio.run(hooks.fire("PreToolUse", **CALL))
    subscription = hooks.observe(lambda message: told.append(message["subtype"]))
    asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert eventually(lambda: told == ["hook_started", "hook_response"])
    subscription.close()


def test_a_loop_that_is_over_is_let_go_when_the_next_one_comes() -> None:
    hooks, loops = Hooks(), []

    async def hook(event: Any) -> None:
        return None

    async def main() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        for _ in range(3):
            await hooks.fire("PreToolUse", **CALL)
            await asyncio.sleep(0)

    hooks.register("PreToolUse", hook)

    for _ in range(5):
        asyncio.run(main())
    gc.collect()

    assert [loop() is not None for loop in loops[:-1]] == [False] * 4


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("late", [False, True], ids=["from the start", "later"])
def test_a_recorder_hears_of_every_firing_in_which_nobody_speaks(inline: bool, late: bool) -> None:
    hooks = Hooks()
    heard: list[str] = []

    async def silent(event: Any) -> None:
        pass

    hooks.register("PreToolUse", silent, inline=inline)

    async def main() -> None:
        if late:
            for _ in range(3):
                await hooks.fire("PreToolUse", tool_name="Bash", tool_input={})
        hooks.record(lambda outcome: heard.append(outcome.tool_name))
        for _ in range(3):
            await hooks.fire("PreToolUse", tool_name="Bash", tool_input={})

    asyncio.run(main())

    assert heard == ["Bash"] * 3


def test_a_required_record_that_cannot_be_made_denies_what_nobody_speaks_about() -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, inline=True)

    class Broken:
        required = True

        def __call__(self, outcome: Outcome) -> None:
            raise OSError("no disk")

    async def main() -> list[bool]:
        hooks.record(Broken())
        return [(await hooks.fire("PreToolUse", tool_name="Bash", tool_input={})).allowed for _ in range(3)]

    assert asyncio.run(main()) == [False] * 3


def test_a_recorded_firing_inside_of_another_runs_its_hooks_once() -> None:
    hooks = Hooks()
    ran: list[str] = []
    heard: list[tuple[str, int]] = []

    async def outer(event: Any) -> None:
        for _ in range(2):
            await hooks.fire("PostToolUse", tool_name="Bash", tool_response="")

    async def inner(event: Any) -> None:
        ran.append("inner")

    hooks.register("PreToolUse", outer)
    hooks.register("PostToolUse", inner)
    hooks.record(lambda outcome: heard.append((outcome.event, len(outcome.results))))

    asyncio.run(hooks.fire("PreToolUse", tool_name="Bash", tool_input={}))

    assert ran == ["inner"] * 2
    assert heard == [("PostToolUse", 1), ("PostToolUse", 1), ("PreToolUse", 1)]


def test_the_store_has_the_runs_of_hooks_that_keep_silent(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.record(store := AuditStore(tmp_path / "audit.db"))
    hooks.register("PreToolUse", lambda event: None, name="silent", inline=True)

    async def main() -> None:
        for _ in range(3):
            await hooks.fire("PreToolUse", tool_name="Bash", tool_input={})

    asyncio.run(main())
    store.close()

    with open_store(str(tmp_path / "audit.db")) as reader:
        assert [[run["hook"] for run in firing.runs] for firing in reader.firings()] == [["silent"]] * 3


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
