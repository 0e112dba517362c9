"""Many threads, several event loops, firings inside firings, and what must not travel between them."""

import asyncio
import gc
import os
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, WAYS, Way, eventually, program, run, unharmed, within

from interpose import Hooks, Outcome, context, deny, modify
from interpose.runtime.workers import workers

every_way = pytest.mark.parametrize("way", WAYS, ids=str)


def in_threads(count: int, work: Any) -> None:
    """Run something in many threads at once; raise what any of them raised."""
    start, errors = threading.Barrier(count, timeout=10), []

    def body(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    if errors:
        raise errors[0]


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


# Firings inside firings.

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


# Context variables.

word: ContextVar[str] = ContextVar("word", default="nobody's")


@every_way
def test_the_callers_context_variables_reach_the_hook(way: Way) -> None:
    """Fault 150."""
    seen: list[str] = []
    hooks = Hooks()
    way.register(hooks, lambda event: seen.append(word.get()))

    async def host() -> None:
        word.set("the host's")
        await hooks.fire("PreToolUse", **CALL)

    if way.loop:
        run(host())
    else:
        token = word.set("the host's")
        hooks.fire_sync("PreToolUse", **CALL)
        word.reset(token)

    assert seen == ["the host's"]


def sets_the_word(event: Any) -> None:
    word.set("the hook's")


@every_way
def test_what_a_hook_sets_is_not_seen_by_the_host(way: Way) -> None:
    """Fault 150: neither while the firing lasts nor afterwards."""
    hooks = Hooks()
    way.register(hooks, sets_the_word)

    async def host() -> str:
        word.set("the host's")
        await hooks.fire("PreToolUse", **CALL)
        return word.get()

    if way.loop:
        assert run(host()) == "the host's"
    else:
        token = word.set("the host's")
        hooks.fire_sync("PreToolUse", **CALL)
        after = word.get()
        word.reset(token)
        assert after == "the host's"


@pytest.mark.parametrize("way", [way for way in WAYS if not way.inline and not (way.loop and way.awaits)], ids=str)
def test_what_a_hook_stores_in_its_thread_is_not_seen_by_the_host(way: Way) -> None:
    """Fault 150: where a hook has a thread of its own."""
    local = threading.local()

    way.outcome(lambda event: setattr(local, "word", "the hook's"))

    assert not hasattr(local, "word")


def test_what_an_inline_coroutine_sets_after_a_pause_is_not_seen_by_the_host() -> None:
    """Fault 150: it goes on in the context that it began in."""
    seen: list[str] = []

    async def hook(event: Any) -> None:
        word.set("first")
        await asyncio.sleep(0)
        seen.append(word.get())
        word.set("second")
        await asyncio.sleep(0.001)
        seen.append(word.get())

    async def host() -> str:
        hooks = Hooks()
        hooks.register("PreToolUse", hook, inline=True)
        word.set("the host's")
        await hooks.fire("PreToolUse", **CALL)
        return word.get()

    assert run(host()) == "the host's"
    assert seen == ["first", "second"]


def test_context_variables_still_reach_hooks_after_one_was_left_behind() -> None:
    """Fault 150: the firing goes on in a new thread and a new task, in the caller's context."""
    release, seen = threading.Event(), []

    async def host() -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: release.wait(5), timeout=0.05)
        hooks.register("PreToolUse", lambda event: seen.append(word.get()))

        @hooks.on("PreToolUse")
        async def coroutine(event: Any) -> None:
            seen.append(word.get())

        word.set("the host's")
        await hooks.fire("PreToolUse", **CALL)
        release.set()

    run(host())

    assert seen == ["the host's"] * 2


def test_a_thread_keeps_nothing_of_the_last_callers_context() -> None:
    """Fault 150: the next job of the same thread runs in the context of its own caller."""
    seen: list[str] = []
    hooks = Hooks()

    @hooks.on("PreToolUse")
    def hook(event: Any) -> None:
        seen.append(word.get())
        word.set("left over")

    for _ in range(20):
        hooks.fire_sync("PreToolUse", **CALL)

    assert seen == ["nobody's"] * 20


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


def test_without_a_descriptor_for_the_threads_of_hooks_a_guard_denies_and_later_runs() -> None:
    """The first function that runs in a thread needs a pipe; afterwards none."""
    ended = program(
        PLAIN_HOOK
        + """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # 0, 1 and 2 are open
    print(fired())
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    print(fired())
    """
    )
    first, second = ended.stdout.splitlines()
    assert first.startswith("guard failed: no thread can be woken: ")
    assert second == "ran"


def test_a_host_that_closes_all_descriptors_loses_one_firing_at_most() -> None:
    """The guard denies the firing that finds the pipe closed; the next one opens another."""
    ended = program(
        PLAIN_HOOK
        + """
    print(fired())
    os.closerange(3, 256)
    print(fired())
    print(fired(), fired())
    """
    )
    before, closed, *after = ended.stdout.splitlines()
    assert before == "ran"
    assert closed.startswith("guard failed: no thread can be woken: ")
    assert after == ["ran ran"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_job_of_a_forked_child_is_not_run_by_its_parent() -> None:
    """Threads of parent and child do not read from one pipe: each runs its own hooks, in turn and at once."""
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
