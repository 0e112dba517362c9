"""Goat's Runner over the engine: what its specification and its own tests say of it."""

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any

import pytest

from interpose import BadEvent, BadHook, ConfigError, Hooks, UnknownEvent, allow, ask, context, deny
from interpose.compat.goat import (
    AsyncHookJSONOutput,
    HookCallbackMatcher,
    HookJSONOutput,
    Results,
    Runner,
    SyncHookJSONOutput,
    collect_additional_context,
    process_pre_tool_use_results,
    process_stop_results,
)

EMPTY = HookJSONOutput()


def says(answer: Any, ran: list[Any] | None = None, mark: Any = None):
    """A callback that answers always the same, and writes down that it ran."""

    def callback(_input, _tool_use_id, _context):
        if ran is not None:
            ran.append(mark)
        return answer

    return callback


def breaks(_input, _tool_use_id, _context):
    raise RuntimeError("hook error")


def runner_of(*callbacks, event: str = "PreToolUse", **options: Any) -> Runner:
    """A runner with the callbacks in one matcher."""
    return Runner({event: [{"hooks": callbacks, **options}]})


def fire(runner: Runner, event: str = "PreToolUse", *arguments: Any, **keywords: Any):
    return asyncio.run(runner.fire(event, *arguments, **keywords))


def sync(**said: Any) -> HookJSONOutput:
    return HookJSONOutput(sync=SyncHookJSONOutput(**said))


# Matchers and callbacks.


@dataclass
class PreToolUseInput:
    tool_name: str = ""
    tool_input: dict[str, Any] = field(default_factory=dict)
    tool_use_id: str = ""


@pytest.mark.parametrize("as_class", [True, False])
def test_a_matcher_groups_a_pattern_hooks_and_a_timeout(as_class):
    """S2-76 S2-83: given as an object or as a mapping."""
    group: dict[str, Any] = {"matcher": "Bash", "hooks": [says({"reason": "yes"})], "timeout": 5}
    runner = Runner({"PreToolUse": [HookCallbackMatcher(**group) if as_class else group]})

    assert fire(runner, "PreToolUse", {"tool_name": "Bash"}) == [sync(reason="yes")]
    assert fire(runner, "PreToolUse", {"tool_name": "Grep"}) == []


@pytest.mark.parametrize(
    ("matcher", "tool", "matches"),
    [
        (None, "Bash", True),
        ("", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("Bash", "bash", False),
        ("mcp__*", "mcp__github__push", True),
        ("mcp__*", "Bash", False),
        ("Bash", "", True),
        ("Bash", None, True),
    ],
)
def test_a_matcher_is_compared_with_the_tool_s_name(matcher, tool, matches):
    """S2-77 S2-78 S2-79 S2-87 S2-88 X-19: exact or glob; none, and no tool's name, match everything."""
    runner = runner_of(says({"reason": "yes"}), **({} if matcher is None else {"matcher": matcher}))

    results = fire(runner, "PreToolUse", {} if tool is None else {"tool_name": tool})

    assert results == ([sync(reason="yes")] if matches else [])


@pytest.mark.parametrize("event", ["Stop", "SessionStart", "Notification"])
def test_at_an_event_without_a_tool_every_matcher_matches(event):
    """X-19: there is nothing to compare it with."""
    runner = runner_of(says({"reason": "yes"}), event=event, matcher="Bash")

    assert fire(runner, event, {"source": "startup", "notification_type": "idle"}) == [sync(reason="yes")]


@pytest.mark.parametrize("tool", ["Bash", "Grep"])
@pytest.mark.parametrize("make", [lambda tool: {"tool_name": tool}, lambda tool: PreToolUseInput(tool_name=tool)])
def test_a_mapping_and_a_typed_input_are_both_matched(make, tool):
    """X-20."""
    runner = runner_of(says({"reason": "yes"}), matcher="Bash")

    assert len(fire(runner, "PreToolUse", make(tool))) == (tool == "Bash")


@pytest.mark.parametrize("given", [None, {"tool_name": "Bash", "tool_input": {"a": [1]}}, PreToolUseInput("Bash")])
def test_the_callback_gets_the_very_object_that_was_fired(given):
    """X-23: its type is preserved, and nothing is copied."""
    got = []
    runner = runner_of(lambda given, _id, _context: got.append(given))

    fire(runner, "PreToolUse", given)

    assert [one is given for one in got] == [True]


def test_hooks_that_fire_events_themselves_see_each_their_own_input():
    """X-23: also side by side in one loop."""
    got = []

    async def inner(input, _id, _context):
        got.append(input)

    runner = runner_of(inner, event="Notification")

    async def outer(input, _id, _context):
        await runner.fire("Notification", {"message": f"inside {input['tool_name']}"})
        got.append(input)

    async def after(input, _id, _context):
        got.append(input)

    outer_runner = runner_of(outer, after)

    async def host():
        await asyncio.gather(*(outer_runner.fire("PreToolUse", {"tool_name": name}) for name in "ab"))

    asyncio.run(host())

    assert sorted(map(str, got)) == [
        "{'message': 'inside a'}", "{'message': 'inside b'}",
        *["{'tool_name': 'a'}"] * 2, *["{'tool_name': 'b'}"] * 2,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (({"tool_use_id": "t1"},), "t1"),
        (({}, "t2"), "t2"),
        (({"tool_use_id": "t1"}, "t2"), "t2"),
        ((PreToolUseInput(tool_use_id="t3"),), "t3"),
    ],
)
def test_the_callback_gets_the_real_tool_use_id(arguments, expected):
    """S2-81 S2-84: as it was fired, or as the input has it."""
    got = []
    runner = runner_of(lambda _input, tool_use_id, _context: got.append(tool_use_id))

    fire(runner, "PreToolUse", *arguments)

    assert got == [expected]


def test_at_an_event_without_a_tool_the_tool_use_id_is_empty():
    """S2-81: text, as always."""
    got = []
    runner = runner_of(lambda _input, tool_use_id, _context: got.append(tool_use_id), event="Stop")

    fire(runner, "Stop")

    assert got == [""]


def test_the_third_argument_says_which_call_this_is():
    """S2-81: the context."""
    got = []
    runner = runner_of(lambda _input, _id, context: got.append(context))

    fire(runner)

    assert got == [{"signal": None, "async_phase": 1}]


@pytest.mark.parametrize("callback", ["not callable", lambda a: None, lambda a, b, c, d: None])
def test_what_cannot_be_called_with_three_arguments_is_refused(callback):
    """S2-81: a callback takes input, tool-use id and context."""
    with pytest.raises(BadHook):
        runner_of(callback)


def test_a_coroutine_function_and_a_function_that_returns_a_coroutine_are_both_awaited():
    """S2-81: Python's two ways of waiting."""

    async def later(_input, _id, _context):
        await asyncio.sleep(0)
        return {"reason": "later"}

    def sooner(*given):
        return later(*given)

    runner = runner_of(later, sooner)

    assert fire(runner) == [sync(reason="later"), sync(reason="later")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (sync(decision="approve"), sync(decision="approve")),
        (SyncHookJSONOutput(decision="approve"), sync(decision="approve")),
        ({"decision": "approve"}, sync(decision="approve")),
        (
            {"continue": True, "suppressOutput": False, "stopReason": "s", "systemMessage": "m", "reason": "r"},
            sync(continue_=True, suppress_output=False, stop_reason="s", system_message="m", reason="r"),
        ),
        ({"continue_": True}, sync(continue_=True)),
        (
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}},
            sync(hook_specific_output={"hookEventName": "PreToolUse", "permissionDecision": "ask"}),
        ),
        ({}, sync()),
        (HookJSONOutput(async_=AsyncHookJSONOutput(async_=False)), HookJSONOutput(async_=AsyncHookJSONOutput(False))),
        (HookJSONOutput(), EMPTY),
        (None, EMPTY),
        (deny("no"), sync(decision="deny", reason="no")),
        (allow("yes"), sync(decision="approve", reason="yes")),
        (context("note"), sync(system_message="note")),
    ],
)
def test_an_output_is_a_union_of_a_sync_and_an_async_part(answer, expected):
    """S2-82 X-21: given as objects, as JSON has it, or as a reply; with neither part it counts as one empty result."""
    assert fire(runner_of(says(answer))) == [expected]


@pytest.mark.parametrize("answer", [{"decision": "approve", "x-mine": [1]}, sync(decision="approve"), deny("no")])
def test_a_result_has_the_answer_as_it_was_given(answer):
    """S2-84: nothing of it is lost."""
    [result] = fire(runner_of(says(answer)))

    assert result.raw == answer


@pytest.mark.parametrize(
    ("said", "decision"), [("approve", "allow"), ("block", "deny"), ("allow", "allow"), ("deny", "deny"), ("", "")]
)
def test_the_older_words_of_a_decision_are_mapped(said, decision):
    """X-22: an empty one stays empty."""
    [result] = fire(runner_of(says({"decision": said})))

    assert (result.decision, EMPTY.decision) == (decision, "")


def test_an_output_is_written_without_what_was_not_said():
    """S2-58 S2-82: what is false is said, what is empty is not."""
    said = SyncHookJSONOutput(continue_=False, reason="r")

    assert said.to_dict() == {"continue": False, "reason": "r"}
    assert EMPTY.to_dict() == {}
    assert HookJSONOutput(async_=AsyncHookJSONOutput()).to_dict() == {"async": True, "asyncTimeout": 0}
    assert HookJSONOutput(said, AsyncHookJSONOutput(async_=False)).to_dict() == said.to_dict()


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [({"async": True}, 0), ({"async_": True, "asyncTimeout": 5}, 5), (AsyncHookJSONOutput(True, 7), 7)],
)
def test_an_async_answer_has_an_async_part_only(answer, seconds):
    """S2-82: whatever else stands beside it."""
    output = HookJSONOutput.of({**answer, "reason": "later"} if isinstance(answer, dict) else answer)

    assert output == HookJSONOutput(async_=AsyncHookJSONOutput(async_=True, async_timeout=seconds))


def test_a_matcher_without_anything_said_is_for_every_tool_and_has_no_timeout():
    """S2-77 S2-90: and no hooks."""
    assert HookCallbackMatcher() == HookCallbackMatcher(matcher="", hooks=(), timeout=0, commands=())


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, {}),
        ({"decision": "deny", "reason": "no"}, {"decision": "deny", "reason": "no"}),
        ({"continue": False, "stopReason": "s"}, {"continue": False, "stopReason": "s"}),
        ({"systemMessage": "a", "suppressOutput": True}, {"systemMessage": "a", "suppressOutput": True}),
        (context("a", "b"), {"systemMessage": "a\nb"}),
    ],
)
def test_what_was_said_to_the_engine_itself_is_a_result_like_any_other(answer, expected):
    """S2-84 X-21: as commands do; one that says nothing is one empty result."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda _: answer)

    [result] = Results(hooks.fire_sync("PreToolUse"))

    assert (result.sync is not None, result.to_dict()) == (True, expected)


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
