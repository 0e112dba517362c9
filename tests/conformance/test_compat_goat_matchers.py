"""Goat's matchers and callbacks: what they take, what they are told, what they may answer."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.conformance.goat_runners import EMPTY, fire, runner_of, says, sync

from interpose import BadHook, Hooks, allow, context, deny
from interpose.compat.goat import (
    AsyncHookJSONOutput,
    HookCallbackMatcher,
    HookJSONOutput,
    Results,
    Runner,
    SyncHookJSONOutput,
)


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
