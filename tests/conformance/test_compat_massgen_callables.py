"""One hook of MassGen: which tools it is for, what it is told, and what it may answer."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.conformance.massgen_hooks import POST, PRE, Older, breaks, execute, execute_hooks, manager_of, specific

from interpose import ask, deny, inject, modify
from interpose.compat.massgen import (
    GeneralHookManager,
    HookEvent,
    HookResult,
    HookType,
    PatternHook,
    PythonCallableHook,
)

# Patterns.


@pytest.mark.parametrize(
    ("matcher", "matching", "other"),
    [
        ("*", ["Write", "", "mcp__x"], []),
        ("", ["Write"], []),
        ("Write", ["Write"], ["Writer", "write"]),
        ("Write | Edit", ["Write", "Edit"], ["MultiEdit"]),
        ("mcp__*", ["mcp__read"], ["custom_mcp__"]),
        ("mcp__?|[ab]*", ["mcp__1", "alpha"], ["mcp__12", "gamma"]),
    ],
)
def test_a_pattern_hook_says_which_tools_it_is_for(matcher, matching, other):
    """X-6: globs, several separated by a bar."""
    hook = PythonCallableHook("h", lambda _: None, matcher=matcher)

    assert [hook.matches(name) for name in [*matching, *other]] == [True] * len(matching) + [False] * len(other)


def test_a_pattern_hook_keeps_its_name_matcher_and_timeout():
    """S4-13: under the names that adapters read."""
    given = PythonCallableHook("n", breaks, "Write", 5, fail_closed=True)
    default = PythonCallableHook("n", breaks)

    class Own(PatternHook):
        execute = Older.execute

    assert (Own("n").matcher, Own("n").timeout) == ("*", 30)
    assert (given.name, given.matcher, given.timeout, given.fail_closed) == ("n", "Write", 5, True)
    assert (default.matcher, default.timeout, default.fail_closed) == ("*", 30, False)


def test_a_hook_that_does_not_match_allows_without_being_called():
    """X-6."""
    called: list[HookEvent] = []
    hook = PythonCallableHook("h", called.append, matcher="Write")

    assert (execute(hook, "Read"), called) == (HookResult(), [])


# Answers.


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (None, HookResult()),
        (HookResult.deny("no"), HookResult.deny("no")),
        (HookResult.ask("sure?"), HookResult.ask("sure?")),
        (HookResult(updated_input={"b": 2}), HookResult(updated_input={"b": 2})),
        (HookResult(metadata={"m": 1}, hook_errors=["e"]), HookResult(metadata={"m": 1}, hook_errors=["e"])),
        ({"allowed": True, "inject": {"content": "x"}}, HookResult(inject={"content": "x"})),
        ({"decision": "deny", "reason": "no"}, HookResult.deny("no")),
        ({"abort": True, "reason": "no"}, HookResult.deny("no")),
        (specific(permissionDecision="deny", permissionDecisionReason="no"), HookResult.deny("no")),
        (specific(permissionDecision="deny"), HookResult.deny()),
        (specific(permissionDecision="ask", permissionDecisionReason="sure?"), HookResult.ask("sure?")),
        ({}, HookResult()),
        (modify(tool_input={"b": 2}), HookResult(updated_input={"b": 2})),
        (modify(args={"b": 2}), HookResult(updated_input={"b": 2})),
        (deny("no"), HookResult.deny("no")),
        (ask("sure?"), HookResult.ask("sure?")),
        (inject("x"), HookResult(inject={"content": "x", "strategy": "tool_result"})),
    ],
)
@pytest.mark.parametrize("asynchronous", [True, False])
def test_a_callable_answers_with_a_result_a_mapping_a_reply_or_nothing(answer, result, asynchronous):
    """X-5: nothing is an allow; a mapping may speak any of the engine's dialects."""

    async def later(_):
        return answer

    hook = PythonCallableHook("h", later if asynchronous else lambda _: answer)

    assert execute(hook) == result


@pytest.mark.parametrize(
    "answer", [{"decision": "Deny"}, {"allowed": "no"}, HookResult.from_dict({"decision": "maybe"}), 5, "deny", True]
)
def test_an_answer_that_cannot_be_understood_is_a_deny(answer):
    """X-5 X-1: never taken for an allow."""
    assert execute(PythonCallableHook("h", lambda _: answer)).decision == "deny"


@pytest.mark.parametrize("answer", [HookResult.deny("no"), deny("no"), {"decision": "deny", "reason": "no"}])
def test_alone_a_hook_says_what_it_says_also_after_the_tool(answer):
    """X-5: that a deny comes too late there is seen where all hooks are put together."""
    hook = PythonCallableHook("h", lambda _: answer)
    manager = manager_of(lambda _: answer, kind=POST)

    together = execute_hooks(manager, POST)

    assert execute(hook, context={"hook_type": "PostToolUse"}) == HookResult.deny("no")
    assert (together.allowed, [(run["decision"], run["reason"]) for run in together.executed_hooks]) == (
        True, [("deny", "no")],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rest", "wrong"),
    [
        ({"inject": 5}, "inject: int where content and strategy are expected"),
        ({"inject": {"content": 5}, "hook_errors": 5}, "inject.content: int where text is expected"),
    ],
)
def test_a_deny_counts_although_the_rest_of_the_answer_cannot_be_read(rest, wrong):
    """X-4 X-5: with its own reason; what was wrong is kept beside it."""
    answer = {"decision": "deny", "reason": "no", **rest}

    alone = execute(PythonCallableHook("first", lambda _: answer))
    together = execute_hooks(manager_of(lambda _: answer))

    for result in (alone, together):
        assert (result.decision, result.reason, result.hook_errors) == ("deny", "no", [f"Hook first failed: {wrong}"])


def test_a_hook_s_own_result_is_not_changed_by_reading_it():
    """X-5: a handler may answer with one object again and again."""
    answer = HookResult(updated_input={"a": 1})
    hook = PythonCallableHook("h", lambda _: answer)

    result = execute(hook)

    assert (result is answer, answer, answer.outcome) == (False, HookResult(updated_input={"a": 1}), None)
    assert result.outcome is not None


# What it is told.


def test_the_event_that_a_callable_gets_says_all_about_the_call():
    """S4-14 S4-15 S4-16 S4-17 S4-18 S4-19 S4-20 S4-21 S4-22: before the tool there is no output."""
    got: list[HookEvent] = []
    context = {"session_id": "s", "orchestrator_id": "o", "agent_id": "a", "tool_output": "out"}
    began = datetime.now(UTC)

    execute(PythonCallableHook("h", got.append), "Write", '{"path": "a"}', context)
    execute(PythonCallableHook("h", got.append), "Write", '{"path": "a"}', {**context, "hook_type": "PostToolUse"})
    execute(PythonCallableHook("h", got.append), "Write", "{}", {"hook_type": POST})
    execute(PythonCallableHook("h", got.append), "Write", "", None)

    assert [began <= event.timestamp <= datetime.now(UTC) for event in got] == [True] * 4
    for event in got:
        event.timestamp = began
    assert got == [
        HookEvent("PreToolUse", "s", "o", "a", began, "Write", {"path": "a"}, None),
        HookEvent("PostToolUse", "s", "o", "a", began, "Write", {"path": "a"}, "out"),
        HookEvent("PostToolUse", "", "", None, began, "Write", {}, None),
        HookEvent("PreToolUse", "", "", None, began, "Write", {}, None),
    ]


@pytest.mark.parametrize(
    ("arguments", "tool_input"), [("not json", {"raw": "not json"}), ("[1, 2]", {"raw": [1, 2]}), ("", {}), ("{}", {})]
)
def test_arguments_that_are_no_object_are_wrapped(arguments, tool_input):
    """S4-20 C-42: the input is always a mapping."""
    got: list[HookEvent] = []

    execute(PythonCallableHook("h", got.append), "tool", arguments)

    assert [event.tool_input for event in got] == [tool_input]


@pytest.mark.parametrize(("output", "text"), [("out", "out"), ({"a": [1]}, '{"a": [1]}'), (None, None)])
def test_the_tool_s_output_is_text_or_nothing(output, text):
    """S4-21 C-42."""
    got: list[HookEvent] = []

    execute_hooks(manager_of(got.append, kind=POST), POST, tool_output=output)

    assert [event.tool_output for event in got] == [text]


def test_what_cannot_be_copied_may_stand_in_the_context():
    """S4-13: hosts put their own objects there; each hook gets its own mapping of them."""
    got = []

    class Looks(PatternHook):
        async def execute(self, function_name, arguments, context=None, **kwargs):
            got.append(context)
            context["mine"] = True
            return HookResult.allow()

    backend = (number for number in range(3))
    manager, context = GeneralHookManager(), {"agent_id": "a", "backend": backend}
    manager.register_global_hook(PRE, Looks("looks"))

    execute_hooks(manager, context=context)

    assert got == [{"agent_id": "a", "backend": backend, "hook_type": "PreToolUse", "mine": True}]
    assert context == {"agent_id": "a", "backend": backend}


def test_what_a_hook_fires_itself_does_not_show_in_the_hooks_after_it():
    """S4-13: each is told of its own call."""
    got: list[tuple[str, Any]] = []

    class Looks(PatternHook):
        async def execute(self, function_name, arguments, context=None, **kwargs):
            got.append((arguments, context["who"]))
            return HookResult.allow()

    class Fires(PatternHook):
        async def execute(self, function_name, arguments, context=None, **kwargs):
            inner = GeneralHookManager()
            inner.register_global_hook(PRE, Looks("inside"))
            return await inner.execute_hooks(PRE, "inner", '{"n": 2}', {"who": "inner"})

    manager = GeneralHookManager()
    manager.register_global_hook(PRE, Fires("fires"))
    manager.register_global_hook(PRE, Looks("after"))

    execute_hooks(manager, arguments='{"n": 1}', context={"who": "outer"})

    assert got == [('{"n": 2}', "inner"), ('{"n": 1}', "outer")]


def test_the_manager_says_which_type_of_hook_it_is():
    """S4-14: whatever the context says; an older type is told by the name of today."""
    got: list[HookEvent] = []
    manager = manager_of(got.append)
    manager.register_global_hook(HookType.POST_CALL, PythonCallableHook("older", got.append))

    execute_hooks(manager, context={"hook_type": "PostToolUse"})
    execute_hooks(manager, HookType.POST_CALL, tool_output="out")

    assert [(event.hook_type, event.tool_output) for event in got] == [("PreToolUse", None), ("PostToolUse", "out")]
