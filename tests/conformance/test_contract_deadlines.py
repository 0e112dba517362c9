"""The contract on time: deadlines, hooks that will not end, the breaker, hooks that run once, hooks in the caller's task."""

import asyncio
import threading
import time
from typing import Any

import pytest
from tests.conformance.scenarios import (
    ASYNC,
    HANGS,
    INLINE,
    NO_LOOP,
    SYNC,
    at,
    fate,
    fired,
    hook,
    play,
)

from interpose import ConfigError, Hooks, Outcome, context, deny, modify
from interpose.executors.base import GRACE

CALL = at("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})

# ----------------------------------------------------------------------------------------------------------------
# Deadlines

# fmt: off
DEADLINES = [
    ("a hook's own timeout comes first", {"timeout": 1}, {"timeout": 2}, {"defaultTimeout": "4s"}, 1),
    ("else its group's", {}, {"timeout": 2}, {"defaultTimeout": "4s"}, 2),
    ("else defaultTimeout", {}, {}, {"defaultTimeout": "4s"}, 4),
    ("else 30 s", {}, {}, {}, 30),
    ("0 means not set: the group's", {"timeout": 0}, {"timeout": 2}, {"defaultTimeout": "4s"}, 2),
    ("0 means not set: defaultTimeout", {"timeout": 0}, {"timeout": 0}, {"defaultTimeout": "4s"}, 4),
    ("0 means not set: 30 s", {"timeout": 0}, {"timeout": 0}, {"defaultTimeout": 0}, 30),
    ("the ceiling is over a hook's own", {"timeout": 9}, {}, {"timeout": 500}, 0.5),
    ("the ceiling is over the group's", {}, {"timeout": 9}, {"timeout": 500}, 0.5),
    ("the ceiling is over defaultTimeout", {}, {}, {"defaultTimeout": "9s", "timeout": 500}, 0.5),
    ("the ceiling is over 30 s", {}, {}, {"timeout": 500}, 0.5),
    ("the ceiling lengthens nothing", {"timeout": 1}, {}, {"timeout": 60000}, 1),
    ("defaultTimeout in milliseconds", {}, {}, {"defaultTimeout": "250ms"}, 0.25),
    ("defaultTimeout in minutes", {}, {}, {"defaultTimeout": "1m"}, 60),
    ("defaultTimeout as a number of seconds", {}, {}, {"defaultTimeout": 7}, 7),
]
# fmt: on


@pytest.mark.parametrize(
    ("own", "group", "settings", "seconds"), [pytest.param(*row, id=sentence) for sentence, *row in DEADLINES]
)
@pytest.mark.parametrize(("share", "status"), [(0.99, "ok"), (1.01, "timeout")])
def test_the_deadline_of_a_hook(own, group, settings, seconds, share, status, clock):
    one = own | {"handler": clock.takes(seconds * share)}
    hooks = Hooks.from_mapping({"hooks": settings | {"PreToolUse": [group | {"hooks": [one]}]}})

    assert [result.status for result in fired(hooks, CALL).results] == [status]


@pytest.mark.parametrize("value", [99, 50, 0, -1, True, "5s", "5000"])
def test_a_ceiling_below_100_ms_is_a_configuration_error(value):
    with pytest.raises(ConfigError, match="not a ceiling in milliseconds"):
        Hooks.from_mapping({"hooks": {"timeout": value}})


def test_a_ceiling_of_100_ms_is_none():
    assert Hooks.from_mapping({"hooks": {"timeout": 100}}).settings.timeout_ceiling == 0.1


@pytest.mark.parametrize("value", [-1, "soon", True, float("nan"), float("inf"), "5 minutes"])
@pytest.mark.parametrize("setting", ["defaultTimeout", "totalTimeout"])
def test_a_duration_that_is_none_is_a_configuration_error(setting, value):
    with pytest.raises(ConfigError, match=setting):
        Hooks.from_mapping({"hooks": {setting: value}})


# Each line: the settings, each hook's timeout and how long it takes, and what becomes of them.
# fmt: off
TOTALS: list[tuple[str, dict[str, Any], list[tuple[float, float]], list[str]]] = [
    ("a firing as a whole has 120 s", {}, [(50, 45), (50, 45), (50, 29)], ["ok", "ok", "ok"]),
    ("and no more", {}, [(50, 45), (50, 45), (50, 31), (50, 1)], ["ok", "ok", "timeout", "timeout"]),
    ("or the longest single deadline in it", {}, [(300, 290), (300, 5)], ["ok", "ok"]),
    ("and no more than that", {}, [(300, 290), (300, 20), (300, 1)], ["ok", "timeout", "timeout"]),
    ("totalTimeout sets it", {"totalTimeout": "10s"}, [(30, 6), (30, 6), (30, 1)], ["ok", "timeout", "timeout"]),
    ("totalTimeout can be longer", {"totalTimeout": "200s"}, [(50, 45)] * 4, ["ok"] * 4),
]
# fmt: on


@pytest.mark.parametrize(
    ("settings", "hooks", "statuses"), [pytest.param(*row, id=sentence) for sentence, *row in TOTALS]
)
def test_the_time_of_a_firing_as_a_whole(settings, hooks, statuses, clock):
    listed = [{"timeout": timeout, "handler": clock.takes(takes)} for timeout, takes in hooks]

    outcome = fired(Hooks.from_mapping({"hooks": settings | {"PreToolUse": listed}}), CALL)

    assert [result.status for result in outcome.results] == statuses


def test_what_is_left_when_the_total_time_runs_out_is_not_called_and_a_guard_among_it_denies(clock):
    calls: list[Any] = []
    hooks = Hooks.from_mapping({"hooks": {"totalTimeout": 10, "PreToolUse": [
        {"handler": clock.takes(11)},
        {"handler": calls.append},
        {"handler": calls.append, "onError": "abort"},
    ]}})  # fmt: skip

    outcome = fired(hooks, CALL)

    assert ([fate(result) for result in outcome.results], calls) == (["timeout timeout"] * 3, [])
    assert outcome.denied


def test_the_total_time_runs_out_in_fact():
    played = play(CALL, [hook(HANGS), context("later")], ASYNC, total_timeout=0.1)

    assert (played.effect["results"], played.effect["in_time"]) == (["timeout timeout", "timeout timeout"], True)


@pytest.mark.parametrize("ways", [{}, {"inline": True}], ids=["in a place of their own", "inline"])
def test_a_result_says_how_long_its_own_hook_took_whoever_says_something_between(ways, clock):
    hooks = Hooks()
    for seconds, answer in ((1, None), (2, None), (4, context("said")), (8, None), (16, None)):
        hooks.register("PreToolUse", clock.takes(seconds, answer), timeout=60, **ways)

    outcome = fired(hooks, CALL)

    assert [result.duration for result in outcome.results] == [1, 2, 4, 8, 16]


def test_a_hook_in_the_background_has_the_time_of_a_whole_firing_for_itself(clock):
    class Recorder:
        def __call__(self, outcome: Outcome) -> None:
            """Record nothing: the firing itself is not looked at."""

        def record_background(self, outcome: Outcome) -> None:
            statuses.extend(result.status for result in outcome.results)
            ended.set()

    ended, statuses = threading.Event(), list[str]()
    hooks = Hooks(total_timeout=10)
    hooks.record(Recorder())
    hooks.register("PreToolUse", clock.takes(9), timeout=60)
    hooks.register("PreToolUse", clock.takes(6), timeout=60, async_=True)

    fired(hooks, CALL, NO_LOOP)  # a loop that ends would end it too

    assert ended.wait(30)
    assert statuses == ["ok"]


@pytest.mark.parametrize(("timeout", "status"), [(10, "timeout"), (13, "ok")])
def test_what_a_function_returns_to_be_awaited_has_what_is_left_of_its_time(timeout, status, clock):
    async def rest():
        clock.now += 6

    def begin(event):
        clock.now += 6
        return rest()

    hooks = Hooks()
    hooks.register("PreToolUse", begin, timeout=timeout)

    assert [result.status for result in fired(hooks, CALL).results] == [status]


def test_the_second_call_of_an_async_hook_is_under_the_ceiling_and_the_total(clock):
    def say(event):
        return slow(event) if "async_phase" in event else {"async": True, "asyncTimeout": 60}

    slow = clock.takes(6)
    within_the_ceiling = play(CALL, [say], SYNC, timeout_ceiling=5).effect["results"]
    within_the_total = play(CALL, [say], SYNC, total_timeout=5).effect["results"]

    assert (within_the_ceiling, within_the_total) == (["timeout timeout"], ["timeout timeout"])


# ----------------------------------------------------------------------------------------------------------------
# Hooks that will not end


def test_a_hook_after_one_that_was_called_twice_is_called_for_the_first_time():
    phases: list[Any] = []

    def twice(event):
        phases.append(event.get("async_phase"))
        return None if event.get("async_phase") else {"async": True}

    hooks = Hooks()
    hooks.register("PreToolUse", twice)
    hooks.register("PreToolUse", lambda event: phases.append(event.get("async_phase")))
    hooks.register("PreToolUse", twice, name="again")

    fired(hooks, CALL)

    assert phases == [None, 2, None, None, 2]


def test_an_async_hook_that_will_not_end_is_left_behind_and_the_rest_goes_on():
    release = threading.Event()

    async def stubborn(event):
        while not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    async def host() -> Outcome:
        try:
            return await hooks.fire("PreToolUse")
        finally:
            release.set()
            await asyncio.sleep(0.05)

    hooks = Hooks()
    hooks.register("PreToolUse", stubborn, timeout=0.05)
    hooks.register("PreToolUse", lambda event: context("later"))
    outcome = asyncio.run(host())

    assert ([fate(result) for result in outcome.results], outcome.context) == (["timeout timeout", "ok"], ["later"])


@pytest.mark.parametrize("style", [SYNC, NO_LOOP])
def test_the_late_answer_of_a_hook_counts_for_nothing(style):
    answered, release = threading.Event(), threading.Event()

    def late(event):
        release.wait(5)
        answered.set()
        return deny("too late")

    hooks = Hooks()
    hooks.register("PreToolUse", late, timeout=0.05)
    outcome = fired(hooks, CALL, style)
    release.set()
    answered.wait(5)

    assert (outcome.decision, [fate(result) for result in outcome.results]) == ("none", ["timeout timeout"])


def test_beyond_100_tasks_and_threads_that_hang_a_hook_fails_at_once():
    release = threading.Event()
    hanging = Hooks(max_hooks_per_point=0)
    for _ in range(100):
        hanging.register("Stop", lambda event: release.wait(60), timeout=0.05, parallel=True)
    others = Hooks()
    calls: list[Any] = []
    only_calls: list[Any] = []
    others.register("PreToolUse", calls.append)
    others.register("PreToolUse", only_calls.append, once=True)
    try:
        hung = [result.status for result in fired(hanging, at("Stop")).results]
        began = time.monotonic()
        outcome = fired(others, CALL)
        took = time.monotonic() - began
    finally:
        release.set()
    recovered = any(fired(others, CALL).results[0].status == "ok" for _ in range(10_000))

    assert hung == ["timeout"] * 100
    assert ([fate(result) for result in outcome.results], took < 30) == (["failed kept_limit"] * 2, True)
    assert (recovered, len(calls), len(only_calls)) == (True, 1, 1)


# ----------------------------------------------------------------------------------------------------------------
# The breaker


class Flaky:
    """A hook that fails as often as it is told to, and counts its calls."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls = 0

    def __call__(self, event):
        self.calls += 1
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer


BUG = RuntimeError("bug")


@pytest.mark.parametrize(("on_error", "eleventh", "denied"), [(None, "skipped", False), ("abort", "failed", True)])
def test_a_hook_that_fails_ten_times_in_a_row_is_not_waited_for_again_for_30_s(on_error, eleventh, denied, clock):
    flaky = Flaky(*[BUG] * 10)
    hooks = Hooks()
    hooks.register("PreToolUse", flaky, on_error=on_error)

    for _ in range(10):
        fired(hooks, CALL)
    tenth = flaky.calls
    clock.now += 29.9
    outcome = fired(hooks, CALL)
    meanwhile = flaky.calls
    clock.now += 0.2
    after = fired(hooks, CALL)

    assert (tenth, meanwhile, flaky.calls) == (10, 10, 11)
    assert [fate(result) for result in outcome.results] == [f"{eleventh} breaker_open"]
    assert (outcome.denied, after.denied) == (denied, False)


def test_a_readable_answer_resets_the_breaker(clock):
    flaky = Flaky(*[BUG] * 9, None, *[BUG] * 9, {"systemMessage": "hello"}, *[BUG] * 9)
    hooks = Hooks()
    hooks.register("PreToolUse", flaky)

    for _ in range(30):
        fired(hooks, CALL)

    assert flaky.calls == 30


def test_a_hook_that_cannot_be_loaded_goes_on_denying(clock):
    """A guarded action never gets through by accident, not even when the breaker is open."""
    hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [{"handler": "no_such_module.hook"}]}})

    assert [fired(hooks, CALL).denied for _ in range(15)] == [True] * 15


# ----------------------------------------------------------------------------------------------------------------
# Once


def test_once_is_claimed_at_the_hooks_turn_and_given_back_if_it_fails():
    flaky = Flaky(BUG, BUG, deny("first answer"), deny("never said"))
    hooks = Hooks()
    hooks.register("PreToolUse", flaky, once=True)

    outcomes = [fired(hooks, CALL) for _ in range(5)]

    assert [[fate(result) for result in outcome.results] for outcome in outcomes] == [
        ["failed hook_crash"],
        ["failed hook_crash"],
        ["ok"],
        ["skipped"],
        ["skipped"],
    ]
    assert [outcome.reason for outcome in outcomes] == ["", "", "first answer", "", ""]


def test_once_is_not_claimed_by_a_firing_that_never_reaches_the_hook():
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register("PreToolUse", lambda event: deny("no") if event.tool_name == "Bash" else None)
    hooks.register("PreToolUse", lambda event: calls.append("once"), once=True)

    hooks.fire_sync("PreToolUse", tool_name="Bash")
    hooks.fire_sync("PreToolUse", tool_name="Read")
    hooks.fire_sync("PreToolUse", tool_name="Read")

    assert calls == ["once"]


@pytest.mark.parametrize("parallel", [False, True])
def test_once_is_not_given_back_by_a_firing_whose_time_is_up_before_the_hooks_turn(parallel):
    async def hangs(event):
        await asyncio.sleep(60)

    hooks = Hooks(total_timeout=0.7)
    calls: list[str] = []
    hooks.register("PreToolUse", hangs, matcher="Bash")
    hooks.register("PreToolUse", lambda event: calls.append("once"), once=True, parallel=parallel)
    hooks.register("PreToolUse", lambda event: None, parallel=parallel)

    outcomes = [hooks.fire_sync("PreToolUse", tool_name=tool) for tool in ("Read", "Bash", "Read")]

    assert [[fate(result) for result in outcome.results] for outcome in outcomes] == [
        ["ok", "ok"],
        ["timeout timeout"] * 3,
        ["skipped", "ok"],
    ]
    assert calls == ["once"]


@pytest.mark.parametrize("parallel", [False, True])
def test_once_holds_for_a_hook_in_the_background_and_is_given_back_if_that_fails(parallel):
    calls: list[str] = []

    async def flaky(event):
        calls.append("called")
        if len(calls) == 1:
            raise BUG

    async def host():
        for _ in range(4):
            await hooks.fire("PreToolUse")
            for _ in range(10):  # for the background
                await asyncio.sleep(0)

    hooks = Hooks()
    hooks.register("PreToolUse", flaky, once=True, async_=True, parallel=parallel)
    hooks.register("PreToolUse", lambda event: None, parallel=parallel)
    asyncio.run(host())

    assert calls == ["called", "called"]


def test_once_is_claimed_by_one_of_many_firings():
    calls: list[str] = []

    async def slow(event):
        calls.append("called")
        await asyncio.sleep(0)

    async def host():
        await asyncio.gather(*(hooks.fire("PreToolUse") for _ in range(20)))

    hooks = Hooks()
    hooks.register("PreToolUse", slow, once=True)
    asyncio.run(host())

    assert calls == ["called"]


# ----------------------------------------------------------------------------------------------------------------
# Inline


def test_an_inline_hook_has_a_deadline_by_cancellation():
    played = play(CALL, [hook(HANGS, timeout=0.05), modify(tool_input={})], INLINE)

    assert (played.effect["results"], played.effect["changed"]) == (["timeout timeout", "ok"], {"tool_input": {}})


def test_an_inline_hook_that_cleans_up_for_long_after_its_deadline_is_waited_for():
    """It is in the host's own task, which cannot be left behind."""
    ended: list[str] = []

    async def cleans_up(event):
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(2 * GRACE)
            ended.append("the hook")

    async def host():
        outcome = await hooks.fire("PreToolUse")
        ended.append("the firing")
        return [fate(result) for result in outcome.results], asyncio.current_task() in asyncio.all_tasks()

    hooks = Hooks()
    hooks.register("PreToolUse", cleans_up, inline=True, timeout=0.02)

    assert asyncio.run(host()) == (["timeout timeout"], True)
    assert ended == ["the hook", "the firing"]


def test_an_inline_hook_runs_in_the_callers_task_and_thread():
    seen = []

    async def inline(event):
        seen.append((asyncio.current_task(), threading.current_thread()))

    async def host():
        await hooks.fire("PreToolUse")
        return asyncio.current_task(), threading.current_thread()

    hooks = Hooks()
    hooks.register("PreToolUse", inline, inline=True)

    assert [asyncio.run(host())] == seen


def test_other_hooks_run_in_neither():
    seen = []

    async def coroutine(event):
        seen.append(asyncio.current_task() in host_tasks)

    def function(event):
        seen.append(threading.current_thread() is threading.main_thread())

    async def host():
        host_tasks.append(asyncio.current_task())
        await hooks.fire("PreToolUse")

    host_tasks: list[Any] = []
    hooks = Hooks()
    hooks.register("PreToolUse", coroutine)
    hooks.register("PreToolUse", function)
    asyncio.run(host())

    assert seen == [False, False]
