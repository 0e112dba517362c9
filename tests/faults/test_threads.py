"""Many threads that fire at once, and hosts without a thread or a descriptor to spare."""

import asyncio
import os
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, WAYS, Way, eventually, in_threads, program, run, within

from interpose import Hooks, context, deny, modify
from interpose.runtime.workers import workers

every_way = pytest.mark.parametrize("way", WAYS, ids=str)


# Many at once.


@pytest.mark.parametrize("kind", ["functions", "coroutines", "both, side by side"])
def test_sixteen_threads_fire_through_one_engine_and_do_not_meet(kind: str) -> None:
    """Fault 144: every firing sees its own input, no record is lost, nothing locks up."""
    hooks, told = Hooks(), Counter[str]()
    subscription = hooks.observe(lambda message: told.update([message["subtype"]]))
    turns = 60 if kind == "functions" else 20

    def function(event: Any) -> Any:
        return context(event.tool_use_id)

    async def coroutine(event: Any) -> Any:
        await asyncio.sleep(0)
        return context(event.tool_use_id)

    parallel = "side" in kind
    for number in range(3):
        as_function = kind == "functions" or (parallel and number % 2)
        hooks.register("PreToolUse", function if as_function else coroutine, name=f"{number}", parallel=parallel)

    def work(thread: int) -> None:
        for turn in range(turns):
            mark = f"{thread}-{turn}"
            outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_use_id=mark)
            assert outcome.context == [mark] * 3

    in_threads(16, work)

    assert subscription.flush()
    subscription.close()
    assert told == {"hook_started": 16 * turns * 3, "hook_response": 16 * turns * 3}


def test_changes_of_many_firings_at_once_stay_with_their_firing() -> None:
    """Fault 144: in threads and in tasks of one loop, chained changes do not mix."""
    hooks = Hooks()

    @hooks.on("PreToolUse")
    def first(event: Any) -> Any:
        return modify(tool_input={**event.tool_input, "first": event.tool_name})

    @hooks.on("PreToolUse")
    async def second(event: Any) -> Any:
        await asyncio.sleep(0)
        return modify(tool_input={**event.tool_input, "second": event.tool_input["first"]})

    async def host(thread: int) -> None:
        names = [f"{thread}-{turn}" for turn in range(25)]
        outcomes = await asyncio.gather(*(hooks.fire("PreToolUse", tool_name=name, tool_input={}) for name in names))
        assert [outcome.tool_input for outcome in outcomes] == [{"first": name, "second": name} for name in names]

    in_threads(4, lambda thread: run(host(thread)))


def test_a_thousand_firings_at_once_on_one_loop_all_come_back() -> None:
    """Fault 144: the threads are bounded by what hangs, not by what waits its turn."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: context(event.tool_name))

    async def host() -> list[str]:
        fired = [hooks.fire("PreToolUse", tool_name=f"{number}") for number in range(1000)]
        return [outcome.context[0] for outcome in await asyncio.gather(*fired)]

    assert run(host()) == [f"{number}" for number in range(1000)]


def test_threads_are_used_again() -> None:
    """Fault 144: hooks that end leave their thread to the next."""
    idents: set[int] = set()
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: idents.add(threading.get_ident()))

    for _ in range(50):
        hooks.fire_sync("PreToolUse", **CALL)

    assert len(idents) <= 8


@pytest.mark.parametrize("fails", [False, True], ids=["", "failing at first"])
def test_a_hook_that_runs_once_runs_once_whoever_fires_first(fails: bool) -> None:
    """Fault 144: sixteen threads want it at the same moment; a run that failed does not count."""
    runs: list[int] = []
    hooks = Hooks()

    def only_once(event: Any) -> None:
        runs.append(1)
        if fails and len(runs) == 1:
            raise ValueError("again")

    hooks.register("PreToolUse", only_once, once=True)

    def work(number: int) -> None:
        for _ in range(5):
            hooks.fire_sync("PreToolUse", **CALL)

    in_threads(16, work)

    assert len(runs) == 1 + fails


def test_all_hooks_of_a_firing_are_told_the_same_whatever_lane_they_run_in() -> None:
    """Fault 144: also of what is made up when it is read, such as the id of the call."""
    hooks, seen = Hooks(), []

    def function(event: Any) -> None:
        seen.append((event.tool_use_id, event.cwd, event.session_id))

    async def coroutine(event: Any) -> None:
        seen.append((event.tool_use_id, event.cwd, event.session_id))

    for handler in (function, coroutine):
        hooks.register("PreToolUse", handler, name=f"{handler.__name__} alone")
        hooks.register("PreToolUse", handler, name=f"{handler.__name__} inline", inline=True)
        hooks.register("PreToolUse", handler, name=f"{handler.__name__} beside", parallel=True)

    outcome = run(hooks.fire("PreToolUse", **CALL))

    assert len(seen) == 6
    assert set(seen) == {(outcome.tool_use_id, outcome.cwd, outcome.session_id)}


# No thread to be had.


@contextmanager
def no_thread_to_be_had() -> Iterator[None]:
    """The limit of threads is reached: none can be started, none is idle."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(workers, "_idle", [])
        patched.setattr(threading.Thread, "start", refuse)
        yield


@every_way
def test_without_a_thread_a_guard_denies_and_nothing_is_raised(way: Way) -> None:
    """Fault 233: coroutines on the host's loop and inline functions need none; the rest fails as spawn_resource."""
    with no_thread_to_be_had():
        outcome = way.outcome(lambda event: deny("ran"), on_error="abort", name="guard")

    needs_a_thread = not way.inline and not way.awaits
    assert outcome.denied
    if needs_a_thread:
        assert outcome.results[0].error is not None
        assert outcome.results[0].error.code == "spawn_resource"


def test_without_a_thread_for_the_loop_of_hosts_without_one_a_guard_denies() -> None:
    """Fault 233: the first coroutine that a host without a loop fires, and no thread for a loop to run in."""
    ended = program("""
        import threading
        from interpose import Hooks

        async def coroutine(event):
            return None

        def refuse(thread):
            raise RuntimeError("can't start new thread")

        threading.Thread.start = refuse
        hooks = Hooks()
        hooks.register("PreToolUse", coroutine, on_error="abort", name="guard")
        hooks.register("PreToolUse", coroutine, parallel=True)
        hooks.register("PreToolUse", coroutine, parallel=True)
        outcome = hooks.fire_sync("PreToolUse", tool_name="Bash")
        print(outcome.decision, outcome.results[0].error.code)
    """)

    assert (ended.stdout, ended.stderr.count("Traceback")) == ("deny spawn_resource\n", 0)


def test_a_moment_without_threads_does_no_lasting_harm() -> None:
    """Fault 233: the same hook runs as soon as there is a thread again."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: context("ran"))
    with no_thread_to_be_had():
        refused = hooks.fire_sync("PreToolUse", **CALL)

    outcome = hooks.fire_sync("PreToolUse", **CALL)

    assert [result.status for result in refused.results] == ["failed"]
    assert outcome.context == ["ran"]


def test_a_parallel_group_of_functions_and_coroutines_meets() -> None:
    """Fault 144: side by side means at the same time."""
    meeting = threading.Barrier(3, timeout=30)
    hooks = Hooks()

    @hooks.on("PreToolUse", parallel=True)
    def one(event: Any) -> None:
        meeting.wait()

    @hooks.on("PreToolUse", parallel=True)
    def two(event: Any) -> None:
        meeting.wait()

    @hooks.on("PreToolUse", parallel=True)
    async def three(event: Any) -> None:
        await asyncio.to_thread(meeting.wait)

    with within(BUSY):
        outcome = run(hooks.fire("PreToolUse", **CALL))

    assert [result.status for result in outcome.results] == ["ok"] * 3
    assert eventually(lambda: meeting.n_waiting == 0)


# Descriptors of the threads for hooks.

PLAIN_HOOK = """
    import os, resource, threading
    from interpose import Hooks, deny

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("ran"), on_error="abort", name="guard")

    def fired():
        outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={})
        return outcome.reason.splitlines()[0]
"""


def test_a_function_needs_no_descriptor() -> None:
    """Fault 233: its thread is told of it without one, so a host may have none to spare, or close all that there are."""
    ended = program(
        PLAIN_HOOK
        + """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # 0, 1 and 2 are open
    print(fired())
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    os.closerange(3, 256)
    print(fired())
    """
    )
    assert ended.stdout.splitlines() == ["ran", "ran"]


def test_a_coroutine_of_a_host_without_a_loop_fails_if_there_is_no_descriptor_for_one() -> None:
    """Fault 233: the host gets an outcome and no error; later the same hook runs."""
    ended = program("""
        import resource
        from interpose import Hooks, deny

        async def guard(event):
            return deny("ran")

        hooks = Hooks()
        hooks.register("PreToolUse", guard, on_error="abort")
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        import interpose.executors.asyncio
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        [first] = hooks.fire_sync("PreToolUse").results
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        [second] = hooks.fire_sync("PreToolUse").results
        print(first.error.code, first.decision, second.reason)
    """)
    assert ended.stdout == "spawn_resource deny ran\n", ended.stderr


def test_a_hook_in_the_background_that_gets_no_thread_has_failed_and_is_in_the_record() -> None:
    """Fault 145: the host has its outcome already when the hook would begin."""
    ended = program("""
        import threading
        from interpose import Hooks

        class Recorder:
            def __call__(self, outcome):
                print(*(result.status for result in outcome.results))

            def record_background(self, outcome):
                print(*(result.error.code for result in outcome.results))

        def start(thread):
            raise RuntimeError("can't start new thread")

        async def hook(event):
            print("runs")

        hooks = Hooks()
        hooks.register("PreToolUse", hook, async_=True)
        hooks.record(Recorder())
        threading.Thread.start = start
        print(hooks.fire_sync("PreToolUse").allowed)
    """)
    assert ended.stdout == "spawn_resource\nok\nTrue\n", ended.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_thread_that_waits_for_its_next_job_keeps_nothing_of_the_last_one() -> None:
    class Job:
        def __call__(self) -> None:
            return

    job, ended = Job(), threading.Event()
    left = weakref.ref(job)

    workers.run(job, ended.set)
    del job

    assert ended.wait(BUSY)
    assert eventually(lambda: left() is None)


def test_a_job_of_a_forked_child_is_not_run_by_its_parent() -> None:
    """Threads of parent and child share no jobs: each runs its own hooks, in turn and at once."""
    ended = program("""
        import os
        from interpose import Hooks, context

        hooks = Hooks()
        hooks.register("UserPromptSubmit", lambda event: context(str(os.getpid())))

        def fired():
            return {hooks.fire_sync("UserPromptSubmit", prompt="x").context[0] for _ in range(200)}

        mine = fired()
        child = os.fork()
        seen = fired()
        assert seen == {str(os.getpid())}, seen
        if child:
            _, status = os.waitpid(child, 0)
            print(mine == seen, os.waitstatus_to_exitcode(status))
        else:
            os._exit(0)
    """)
    assert ended.stdout.split() == ["True", "0"]
