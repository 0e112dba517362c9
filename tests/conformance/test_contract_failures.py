"""The contract on failing hooks: the table of what fails open and what fails closed, deadlines, the breaker."""

import asyncio
import logging
import threading
import time
from typing import Any

import pytest
from tests.conformance.scenarios import (
    ASYNC,
    HANGS,
    INLINE,
    NO_LOOP,
    STYLES,
    SYNC,
    Imported,
    at,
    fate,
    fired,
    hook,
    play,
    scenario,
    table,
)

from interpose import ConfigError, Hooks, Outcome, context, deny, modify

CALL = at("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})

# ----------------------------------------------------------------------------------------------------------------
# The table: what happened, and whether the action is denied with each onError

FAILURES: list[tuple[str, Any, str, dict[str, bool]]] = [
    ("cannot be imported", Imported("no_such_module.hook"), "failed import_failed",
     {"": True, "log": False, "skip": False, "abort": True}),
    ("is nothing that can be called", Imported("sys.maxsize"), "failed bad_handler",
     {"": True, "log": False, "skip": False, "abort": True}),
    ("takes two arguments", Imported("operator.add"), "failed bad_handler",
     {"": True, "log": False, "skip": False, "abort": True}),
    ("returns what is no answer", True, "failed bad_reply",
     {"": True, "log": True, "skip": True, "abort": True}),
    ("states no decision that can be understood", {"decision": "Deny"}, "failed bad_decision",
     {"": True, "log": True, "skip": True, "abort": True}),
    ("raises", RuntimeError("bug"), "failed hook_crash",
     {"": False, "log": False, "skip": False, "abort": True}),
    ("answers what cannot be read", {"modify": 5}, "failed bad_output",
     {"": False, "log": False, "skip": False, "abort": True}),
    ("runs past its deadline", HANGS, "timeout timeout",
     {"": False, "log": False, "skip": False, "abort": True}),
]  # fmt: skip

CASES = [
    pytest.param(what, result, on_error or None, denies, id=f"{sentence}, onError {on_error or 'not set'}")
    for sentence, what, result, line in FAILURES
    for on_error, denies in line.items()
]


@pytest.mark.parametrize(("what", "result", "on_error", "denies"), CASES)
@pytest.mark.parametrize("style", STYLES)
def test_when_a_hook_fails(what, result, on_error, denies, style):
    played = play(CALL, [hook(what, on_error=on_error, timeout=0.05), context("later")], style)

    then: dict[str, Any] = {"decision": "deny", "context": []} if denies else {"decision": "none", "context": ["later"]}
    assert {name: played.effect[name] for name in then} == then
    assert played.effect["results"] == [result, "skipped" if denies else "ok"]
    assert played.outcome.reason.startswith("first failed: " if denies else "")
    assert played.effect["in_time"]


@pytest.mark.parametrize(("what", "result", "on_error", "denies"), CASES)
def test_where_the_row_cannot_deny_deny_means_logged(what, result, on_error, denies, caplog):
    played = play(at("PostToolUse"), [hook(what, on_error=on_error, timeout=0.05), context("later")], SYNC)

    assert (played.outcome.decision, played.outcome.context) == ("none", ["later"])
    assert played.effect["results"] == [result, "ok"]
    assert [record.levelno for record in caplog.records] == ([] if on_error == "skip" else [logging.ERROR])


@pytest.mark.parametrize("behavior", ["log", "skip"])
def test_only_its_own_word_opens_what_cannot_be_loaded(behavior):
    """errorBehavior says it for all hooks, and so for none in particular."""
    outcome = play(CALL, [Imported("no_such_module.hook")], SYNC, error_behavior=behavior).outcome

    assert outcome.denied


# ----------------------------------------------------------------------------------------------------------------
# What states no decision that can be understood

WRONG: dict[str, list[Any]] = {
    "decision": ["Deny", "DENY", "abort", "yes", " deny", True, False, 5, 0, ["deny"], {"behavior": "no"}],
    "permissionDecision": ["Allow", 5, True],
    "behavior": ["Allow", 5],
    "abort": ["true", "false", 1, 0, []],
    "allowed": ["true", "false", 1, 0],
    "continue": ["true", "false", 1, 0],
    "continue_": ["false", 0],
}
MISSTATED = [{key: value} for key, values in WRONG.items() for value in values] + [
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "no"}},
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": 5}},
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "decision": {"behavior": "no"}}},
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "decision": {"behavior": 5}}},
]


@pytest.mark.parametrize("answer", MISSTATED, ids=repr)
def test_a_wrong_value_or_type_where_a_decision_belongs_denies(answer):
    played = play(CALL, [answer], SYNC)

    assert (played.outcome.decision, played.effect["results"]) == ("deny", ["failed bad_decision"])


class Strange:
    """An object that breaks whatever is asked of it."""

    def __bool__(self) -> bool:
        raise RuntimeError("bug")

    __len__ = __iter__ = __str__ = __repr__ = __eq__ = __bool__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


RETURNED = [True, False, 0, 5, "", "deny", b"deny", [], ["deny"], {"deny"}, (), object, Strange(), iter([])]


@pytest.mark.parametrize("answer", RETURNED, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("style", [ASYNC, SYNC])
def test_neither_nothing_nor_a_mapping_nor_a_reply_denies(answer, style):
    played = play(CALL, [lambda event: answer], style)

    assert (played.outcome.decision, played.effect["results"]) == ("deny", ["failed bad_reply"])


@table(
    scenario("", "two decisions that disagree: the stricter, allow and abort", CALL,
             [{"decision": "allow", "abort": True, "reason": "no"}], decision="deny", reason="no"),
    scenario("", "two decisions that disagree: the stricter, allowed false and approve (C-28)", CALL,
             [{"decision": "approve", "allowed": False}], decision="deny"),
    scenario("", "two decisions that disagree: the stricter, ask and permissionDecision allow", CALL,
             [{"decision": "ask", "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}],
             decision="ask"),
    scenario("", "two decisions, one unreadable: a deny that was understood stands, and the failure shows", CALL,
             [{"decision": "deny", "reason": "no", "abort": "perhaps"}], decision="deny", reason="no",
             results=["failed bad_output"]),
    scenario("", "two decisions, one unreadable: an allow does not stand", CALL,
             [{"decision": "approve", "allowed": "perhaps"}], decision="deny",
             reason="first failed: allowed: 'perhaps' where true or false is expected",
             results=["failed bad_decision"]),
    scenario("", "a deny or ask counts although the rest cannot be read", CALL,
             [{"decision": "ask", "reason": "sure?", "modify": 5}], decision="ask", reason="sure?",
             results=["failed bad_output"]),
    scenario("", "a deny at the top level counts wherever it is spelled", CALL,
             [{"permissionDecision": "deny", "permissionDecisionReason": "no"}], decision="deny", reason="no"),
    scenario("", "an allow in the wrong place does not", CALL, [{"permissionDecision": "allow"}],
             ignored=[("first", "permissionDecision allow: not where an allow is read")]),
    scenario("", "a deny for another event counts", CALL,
             [{"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "deny"}}], decision="deny",
             results=["failed bad_output"]),
    scenario("", "an allow or a change for another event does not", CALL,
             [{"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "allow", "updatedInput": {}}}],
             results=["failed bad_output"]),
    scenario("", "no value is no opinion", CALL,
             [{"decision": None, "abort": None, "allowed": None, "continue": None, "reason": None, "modify": None,
               "updated_input": None, "inject": None, "hookSpecificOutput": None}]),
    scenario("", "an empty decision stays empty (X-22)", CALL, [{"decision": ""}]),
    scenario("", "defer is an ask, and is passed on", CALL, [{"decision": "defer"}], decision="ask",
             extra={"defer": True}),
)  # fmt: skip
def test_how_an_answer_is_read(scenario, style):
    assert scenario.play(style) == scenario.effect


UNREADABLE: list[Any] = [
    {"reason": 5},
    {"systemMessage": 5},
    {"stopReason": ["x"]},
    {"suppressOutput": "yes"},
    {"updated_input": "x"},
    {"updatedInput": ["x"]},
    {"inject": "x"},
    {"inject": {"content": 5}},
    {"inject": {"content": "x", "strategy": "telegram"}},
    {"hookSpecificOutput": "x"},
    {"hookSpecificOutput": {"additionalContext": "no event is named"}},
    {"async": "yes"},
    {"async": True, "asyncTimeout": "soon"},
]


@pytest.mark.parametrize("answer", UNREADABLE, ids=repr)
def test_an_answer_that_cannot_be_read_has_no_effect_at_all(answer):
    played = play(CALL, [answer | {"systemMessage": answer.get("systemMessage", "half of it")}, None], SYNC)

    assert (played.effect["results"], played.outcome.decision) == (["failed bad_output", "ok"], "none")
    assert (played.outcome.context, played.effect["changed"], played.outcome.inject) == ([], {}, [])


# ----------------------------------------------------------------------------------------------------------------
# The engine never raises for a hook's fault


class Unspeakable(Exception):
    """An exception that breaks when it is shown."""

    def __str__(self) -> str:
        raise RuntimeError("bug")

    __repr__ = __str__


class Own(BaseException):
    """Not even an Exception."""


RAISED = [
    ValueError("bug"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(), StopIteration(1),
    StopAsyncIteration(), RecursionError(), MemoryError(), TimeoutError(), Unspeakable(), Own("bug"),
    ExceptionGroup("several", [ValueError("a"), KeyError("b")]),
]  # fmt: skip


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("style", STYLES)
def test_the_engine_never_raises_for_a_hooks_fault(error, style):
    played = play(CALL, [error, context("later")], style)

    assert (played.effect["results"], played.outcome.context) == (["failed hook_crash", "ok"], ["later"])


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_whatever_a_guard_raises_denies(error):
    assert play(CALL, [hook(error, on_error="abort")], SYNC).outcome.denied


def test_a_host_that_is_cancelled_is_cancelled_and_its_hook_too():
    ended: list[str] = []

    async def waits(event):
        started.set()
        try:
            await asyncio.sleep(10)
        finally:
            ended.append("the hook")

    async def host():
        firing = asyncio.create_task(hooks.fire("PreToolUse"))
        await started.wait()
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing
        ended.append("the host")

    started = asyncio.Event()
    hooks = Hooks()
    hooks.register("PreToolUse", waits)
    asyncio.run(host())

    assert ended == ["the hook", "the host"]


def test_a_failure_names_its_code_and_reads_as_its_text():
    (result,) = play(CALL, [ValueError("bad luck")], SYNC).outcome.results

    assert result.error is not None
    assert (result.error.code, str(result.error)) == ("hook_crash", "raised ValueError: bad luck")


@pytest.mark.parametrize("on_error", [None, "abort"])
def test_input_that_cannot_be_copied_is_a_failed_hook(on_error):
    """A lock, for instance: ``payload``, never an exception."""
    event = at("PreToolUse", tool_name="Bash", tool_input={"lock": threading.Lock()})
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, on_error=on_error)

    outcome = fired(hooks, event)

    assert ([fate(result) for result in outcome.results], outcome.denied) == (["failed payload"], on_error == "abort")


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
    ("a firing as a whole has 120 s", {}, [(50, 45), (50, 45), (50, 45), (50, 1)], ["ok", "ok", "timeout", "timeout"]),
    ("or the longest single deadline in it", {}, [(300, 290), (300, 5)], ["ok", "ok"]),
    ("and no more", {}, [(300, 290), (300, 20), (300, 1)], ["ok", "timeout", "timeout"]),
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


def test_the_second_call_of_an_async_hook_is_under_the_ceiling_and_the_total(clock):
    def say(event):
        return slow(event) if "async_phase" in event else {"async": True, "asyncTimeout": 60}

    slow = clock.takes(6)
    within_the_ceiling = play(CALL, [say], SYNC, timeout_ceiling=5).effect["results"]
    within_the_total = play(CALL, [say], SYNC, total_timeout=5).effect["results"]

    assert (within_the_ceiling, within_the_total) == (["timeout timeout"], ["timeout timeout"])


# ----------------------------------------------------------------------------------------------------------------
# Hooks that will not end


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
        hanging.register("Stop", lambda event: release.wait(10), timeout=0.05, parallel=True)
    others = Hooks()
    calls: list[Any] = []
    others.register("PreToolUse", calls.append)
    try:
        hung = [result.status for result in fired(hanging, at("Stop")).results]
        began = time.monotonic()
        outcome = fired(others, CALL)
        took = time.monotonic() - began
    finally:
        release.set()
    recovered = any(fired(others, CALL).results[0].status == "ok" for _ in range(10_000))

    assert hung == ["timeout"] * 100
    assert ([fate(result) for result in outcome.results], took < 2) == (["failed kept_limit"], True)
    assert (recovered, len(calls)) == (True, 1)


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
