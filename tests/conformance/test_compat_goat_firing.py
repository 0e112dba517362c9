"""Goat's hooks as they are fired: their order, messages, scopes, and what the host makes of the results."""

import asyncio
import logging
from typing import Any

import pytest
from tests.conformance.goat_runners import EMPTY, breaks, fire, runner_of, says, sync

from interpose import BadEvent, ConfigError, UnknownEvent, allow, ask
from interpose.compat.goat import (
    AsyncHookJSONOutput,
    HookJSONOutput,
    Runner,
    collect_additional_context,
    process_pre_tool_use_results,
    process_stop_results,
)

# Firing.


def test_without_hooks_there_are_no_results():
    """S2-85 X-18: neither without a map nor for an event that it does not name."""
    assert (fire(Runner()), fire(runner_of(breaks, event="Stop"))) == ([], [])


def test_an_event_that_does_not_exist_cannot_be_fired():
    """S2-84: that is the host's mistake, and no event without hooks."""
    with pytest.raises(UnknownEvent):
        fire(Runner(), "PreToolUze")


def test_a_tool_s_name_that_is_no_text_cannot_be_fired():
    """S2-84: nothing could be compared with it."""
    with pytest.raises(BadEvent):
        fire(Runner(), "PreToolUse", {"tool_name": 5})


def test_a_map_that_cannot_be_understood_is_refused():
    """S2-83: as a whole."""
    with pytest.raises(ConfigError):
        Runner({"PreToolUze": [{"hooks": [breaks]}]})


def test_matchers_are_processed_in_their_order_and_hooks_in_theirs():
    """S2-86 S2-91 S2-94: and so are the results."""
    runner = Runner(
        {
            "PreToolUse": [
                {"matcher": "B*", "hooks": [says({"reason": "1"}), says({"reason": "2"})]},
                {"matcher": "Grep", "hooks": [says({"reason": "never"})]},
                {"hooks": [says({"reason": "3"})]},
            ]
        }
    )

    assert fire(runner, "PreToolUse", {"tool_name": "Bash"}) == [sync(reason="1"), sync(reason="2"), sync(reason="3")]


def test_all_hooks_run_whatever_one_of_them_decides():
    """S2-91: only continue: false ends the firing; what a decision means is for the host to say."""
    runner = runner_of(says({"decision": "block"}), says({"decision": "approve"}))

    assert [result.decision for result in fire(runner)] == ["deny", "allow"]


def test_a_hook_past_the_timeout_of_its_matcher_is_ended_and_the_next_one_runs():
    """S2-80 S2-89: each hook of the matcher has that time."""
    ended = []

    async def forever(_input, _id, _context):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    results = fire(runner_of(forever, says({"reason": "next"}), timeout=0.8))

    assert (results, ended) == ([sync(reason="next")], [True])
    assert [(r.status, r.error and r.error.code) for r in results.outcome.results] == [
        ("timeout", "timeout"),
        ("ok", None),
    ]


def test_a_timeout_of_zero_is_none_of_the_matcher_s():
    """S2-90: the engine's own holds."""

    async def a_moment(_input, _id, _context):
        await asyncio.sleep(0.05)

    assert fire(runner_of(a_moment, timeout=0)) == [EMPTY]


def test_a_hook_that_fails_is_logged_and_dropped_and_the_next_one_runs(caplog):
    """S2-92 S2-93: the firing has no error; its outcome knows of it."""
    with caplog.at_level(logging.ERROR, logger="interpose"):
        results = fire(runner_of(breaks, says({"decision": "approve"})))

    assert results == [sync(decision="approve")]
    assert ["RuntimeError: hook error" in record.getMessage() for record in caplog.records] == [True]
    assert [str(result.error) for result in results.outcome.results if result.error] == [
        "raised RuntimeError: hook error"
    ]


@pytest.mark.parametrize("answer", [{"continue": False}, sync(continue_=False)])
def test_continue_false_ends_the_firing_and_is_itself_a_result(answer):
    """S2-95 S2-96: no further hook of this or of any later matcher runs."""
    ran: list[str] = []
    runner = Runner(
        {
            "PreToolUse": [
                {"hooks": [says(None, ran, "before"), says(answer, ran, "stop"), says(None, ran, "same")]},
                {"hooks": [says(None, ran, "later")]},
            ]
        }
    )

    assert fire(runner) == [EMPTY, sync(continue_=False)]
    assert ran == ["before", "stop"]


@pytest.mark.parametrize("said", [{"continue": True}, {}])
@pytest.mark.parametrize("event", ["PreToolUse", "Stop"])
def test_continue_true_and_no_continue_do_not_end_the_firing(event, said):
    """S2-97."""
    runner = runner_of(says(said), says({"reason": "next"}), event=event)

    assert [result.to_dict() for result in fire(runner, event)] == [said, {"reason": "next"}]


@pytest.mark.parametrize("answer", [{"decision": "Deny"}, {"continue": "false"}, "deny", 5])
def test_an_answer_that_cannot_be_understood_is_a_block(answer):
    """S2-115: it ends the firing, as it does in the engine, and is never taken for no opinion."""
    ran: list[str] = []
    runner = runner_of(says(answer), says(None, ran, "next"))

    results = fire(runner)

    assert ([result.decision for result in results], ran) == (["deny"], [])
    assert process_pre_tool_use_results(results) == "deny"


def test_an_allow_for_another_event_is_a_failure():
    """S2-92: an allow counts in its place only; a part that names no event is for this one."""
    elsewhere = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "allow"}}
    unnamed = {"hookEventName": "", "permissionDecision": "allow"}

    results = fire(runner_of(says(elsewhere), says({"hookSpecificOutput": unnamed})))

    assert results == [sync(hook_specific_output=unnamed)]
    assert process_pre_tool_use_results(results) == "allow"


@pytest.mark.parametrize("answer", [{"decision": "block"}, {"decision": "Deny"}])
def test_where_enforcement_is_switched_off_no_answer_counts(monkeypatch, answer):
    """S2-84: all hooks run, the outcome has what they said."""
    monkeypatch.setenv("INTERPOSE_OFF", "locked out")

    results = fire(runner_of(says({"continue": False}), says(answer)))

    assert (results, len(results.outcome.results), results.outcome.extra) == ([], 2, {"off": "locked out"})


# A second call.


def test_an_async_hook_is_called_exactly_twice_and_its_second_answer_is_the_result():
    """X-26: it is told which call it is."""
    phases = []

    def callback(_input, _id, context):
        phases.append(context["async_phase"])
        return {"async": True, "asyncTimeout": 5} if len(phases) == 1 else {"decision": "approve", "reason": "done"}

    assert fire(runner_of(callback)) == [sync(decision="approve", reason="done")]
    assert phases == [1, 2]


@pytest.mark.parametrize("second", [RuntimeError("async failed"), {"async": True}])
def test_an_async_hook_that_fails_or_is_async_again_gives_no_result(second):
    """X-26."""
    calls = []

    def callback(_input, _id, _context):
        calls.append(True)
        if len(calls) == 1:
            return AsyncHookJSONOutput(async_timeout=1)
        if isinstance(second, Exception):
            raise second
        return second

    assert (fire(runner_of(callback, says({"reason": "next"}))), len(calls)) == ([sync(reason="next")], 2)


def test_the_second_call_has_the_time_that_the_hook_asked_for():
    """X-26 S2-89: not that of its matcher."""
    calls = []

    async def callback(_input, _id, _context):
        calls.append(True)
        if len(calls) == 1:
            return {"async": True, "asyncTimeout": 30}
        await asyncio.sleep(0.8)
        return {"reason": "done"}

    assert fire(runner_of(callback, timeout=0.6)) == [sync(reason="done")]


# Messages.


def test_an_emitter_is_told_that_a_hook_starts_and_how_it_ended():
    """X-25: also of one that fails."""
    told: list[dict[str, Any]] = []
    runner = Runner(
        {"PreToolUse": [{"hooks": [says(None), breaks]}]}, emitter=told.append, session_id="test-session"
    )  # fmt: skip

    fire(runner, "PreToolUse", {"tool_name": "Bash"})

    assert runner.emission is not None
    assert runner.emission.flush()
    assert [(m["subtype"], m["hook_event"], m["session_id"], m.get("outcome")) for m in told] == [
        ("hook_started", "PreToolUse", "test-session", None),
        ("hook_response", "PreToolUse", "test-session", "success"),
        ("hook_started", "PreToolUse", "test-session", None),
        ("hook_response", "PreToolUse", "test-session", "error"),
    ]


def test_an_emitter_is_not_needed():
    """X-24."""
    assert fire(Runner({"PreToolUse": [{"hooks": [says(None)]}]}, emitter=None)) == [EMPTY]


# Scopes.


def test_hooks_of_all_scopes_run_after_those_for_everyone():
    """X-27 S2-86: in the order in which the scopes were registered; also for an event that only scopes know."""
    runner = runner_of(says({"reason": "base"}))
    for scope in ("agent-2", "agent-1"):
        hooks = [{"hooks": [says({"reason": scope})]}]
        runner.register_scoped(scope, {"PreToolUse": hooks, "SubagentStart": hooks})

    assert [result.to_dict()["reason"] for result in fire(runner)] == ["base", "agent-2", "agent-1"]
    assert [result.to_dict()["reason"] for result in fire(runner, "SubagentStart")] == ["agent-2", "agent-1"]


def test_fired_for_a_scope_only_its_own_hooks_join():
    """X-27: one agent's hooks do not look at another's calls."""
    runner = runner_of(says({"reason": "base"}))
    for scope in ("agent-1", "agent-2"):
        runner.register_scoped(scope, {"PreToolUse": [{"hooks": [says({"reason": scope})]}]})

    assert fire(runner, "PreToolUse", None, scope="agent-2") == [sync(reason="base"), sync(reason="agent-2")]


def test_after_unregister_scoped_only_the_others_are_left():
    """X-27: a scope that is not there is no error."""
    runner = runner_of(says({"reason": "base"}))
    runner.register_scoped("agent-1", {"PreToolUse": [{"hooks": [says({"reason": "scoped"})]}]})

    runner.unregister_scoped("agent-1")
    runner.unregister_scoped("never there")

    assert fire(runner) == [sync(reason="base")]


def test_registering_a_scope_again_replaces_its_hooks_and_a_mistake_replaces_nothing():
    """X-27: as the map of scopes does it."""
    runner = Runner()
    runner.register_scoped("agent-1", {"PreToolUse": [{"hooks": [says({"reason": "old"})]}]})
    runner.register_scoped("agent-1", {"PreToolUse": [{"hooks": [says({"reason": "new"})]}]})

    with pytest.raises(ConfigError):
        runner.register_scoped("agent-1", {"PreToolUze": []})

    assert fire(runner) == [sync(reason="new")]


def test_a_matcher_may_have_more_hooks_than_the_engine_s_usual_limit():
    """S2-83: the original knows none."""
    assert len(fire(runner_of(*[says(None)] * 60))) == 60


# What the host makes of the results.

DENY = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}
ALLOW = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
ASK = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}


@pytest.mark.parametrize(
    ("results", "behaviour"),
    [
        pytest.param([], "ask", id="S2-117 no result"),
        pytest.param([{}, {"reason": "hm"}, None], "ask", id="S2-117 no decision"),
        pytest.param([DENY], "deny", id="S2-113"),
        pytest.param([ALLOW], "allow", id="S2-114"),
        pytest.param([ASK], "ask", id="S2-116 ask is a decision"),
        pytest.param([{"decision": "block"}], "deny", id="S2-115"),
        pytest.param([{"decision": "deny"}], "deny", id="S2-115 in today's word"),
        pytest.param([{"decision": "approve"}], "allow", id="S2-114 in the older word"),
        pytest.param([{"decision": "allow"}], "ask", id="S2-117 no objection is no permission"),
        pytest.param([{"decision": "allow"}, DENY], "deny", id="S2-116 no objection decides nothing"),
        pytest.param([ALLOW, DENY], "allow", id="S2-116 allow first"),
        pytest.param([DENY, ALLOW], "deny", id="S2-116 deny first"),
        pytest.param([ASK, ALLOW], "ask", id="S2-116 ask first"),
        pytest.param([{}, ALLOW, DENY], "allow", id="S2-116 after one without a decision"),
        pytest.param([HookJSONOutput(async_=AsyncHookJSONOutput()), ALLOW], "allow", id="S2-112 async part only"),
        pytest.param([EMPTY, ALLOW], "allow", id="S2-112 neither part"),
        pytest.param([{**ALLOW, "decision": "block"}], "deny", id="S2-116 the stricter of one result"),
        pytest.param([{**ALLOW, "continue": False}], "deny", id="S2-116 a result that stops allows nothing"),
        pytest.param([{"decision": "Deny"}, ALLOW], "deny", id="S2-116 what cannot be understood"),
        pytest.param([{"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "allow"}}], "ask",
                     id="S2-117 an allow for another event"),
        pytest.param([sync(hook_specific_output={"permissionDecision": "allow"})], "allow", id="S2-114 as an object"),
        pytest.param([ask("sure?"), allow()], "ask", id="S2-116 as replies"),
    ],
)  # fmt: skip
def test_the_first_result_with_a_decision_decides_about_the_tool(results, behaviour):
    assert process_pre_tool_use_results(results) == behaviour


@pytest.mark.parametrize("process", [process_pre_tool_use_results, process_stop_results, collect_additional_context])
def test_what_is_no_result_is_the_host_s_mistake(process):
    """S2-112: it is not taken for a result without a sync part."""
    with pytest.raises(TypeError, match="str is not what a hook answers"):
        process(["deny"])


@pytest.mark.parametrize(
    ("results", "goes_on"),
    [
        pytest.param([], False, id="S2-119 no result"),
        pytest.param([{}, {"continue": False}, None], False, id="S2-119"),
        pytest.param([{"continue": "true"}], False, id="S2-119 text is not true"),
        pytest.param([{"continue": False}, {"continue": True}], True, id="S2-118 any of them"),
        pytest.param([sync(continue_=True)], True, id="S2-118 as an object"),
    ],
)
def test_the_loop_goes_on_if_any_result_says_continue(results, goes_on):
    assert process_stop_results(results) is goes_on


def test_a_stop_hook_that_says_continue_reaches_the_host_through_the_runner():
    """S2-118 S2-119: fire, then process."""
    assert process_stop_results(fire(runner_of(says({"continue": True}), event="Stop"), "Stop")) is True
    assert process_stop_results(fire(runner_of(says({}), event="Stop"), "Stop")) is False


@pytest.mark.parametrize(
    ("results", "text"),
    [
        pytest.param([], "", id="S2-123 nothing"),
        pytest.param([{"systemMessage": "a"}, {"systemMessage": ""}, {"systemMessage": "b"}], "a\nb", id="S2-121"),
        pytest.param(
            [{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "c"}}], "c", id="S2-122"
        ),
        pytest.param(
            [{"hookSpecificOutput": {"additionalContext": "b"}, "systemMessage": "a"}, {"systemMessage": "c"}],
            "a\nb\nc",
            id="S2-123 each result's message before its context",
        ),
        pytest.param(
            [HookJSONOutput(async_=AsyncHookJSONOutput()), None, {"systemMessage": 5}], "", id="S2-121 no text"
        ),
        pytest.param([{"hookSpecificOutput": "text"}], "", id="S2-122 no mapping"),
    ],
)
def test_context_is_collected_in_order_one_text_below_the_other(results, text):
    assert collect_additional_context(results) == text


def test_the_working_directory_and_the_session_reach_the_engine():
    """S2-83: what the runner was made with is the default of every event."""
    runner = Runner({"Stop": [{"hooks": [says(None)]}]}, session_id="s", cwd="/project")

    told = fire(runner, "Stop").outcome.input
    own = fire(runner, "Stop", {"cwd": "/other"}).outcome.input

    assert (told["session_id"], told["cwd"], own["cwd"]) == ("s", "/project", "/other")
