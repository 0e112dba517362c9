"""MassGen's hooks over the engine: what its design and its own tests say of them."""

import asyncio
import json
import logging
import os
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, get_type_hints

import pytest

from interpose import BadHook, ConfigError, UnknownEvent, ask, deny, inject, modify
from interpose.compat.massgen import (
    FunctionHook,
    FunctionHookManager,
    GeneralHookManager,
    HookEvent,
    HookResult,
    HookType,
    PatternHook,
    PythonCallableHook,
)

PRE, POST = HookType.PRE_TOOL_USE, HookType.POST_TOOL_USE
HERE = __name__


def execute(hook: FunctionHook, name: str = "tool", arguments: str = "{}", context: Any = None) -> HookResult:
    return asyncio.run(hook.execute(name, arguments, context))


def execute_hooks(
    manager: GeneralHookManager,
    kind: HookType = PRE,
    name: str = "tool",
    arguments: str = "{}",
    context: Any = None,
    **more: Any,
) -> HookResult:
    return asyncio.run(manager.execute_hooks(kind, name, arguments, context or {}, **more))


def manager_of(*handlers: Any, kind: HookType = PRE, **options: Any) -> GeneralHookManager:
    """A manager with a hook for each handler, named first, second, third."""
    manager = GeneralHookManager()
    for name, handler in zip(("first", "second", "third"), handlers, strict=False):
        manager.register_global_hook(kind, PythonCallableHook(name, handler, **options))
    return manager


def breaks(_):
    raise RuntimeError("hook crashed")


async def hangs(_):
    await asyncio.Event().wait()


def handler_found_by_its_path(event):
    return HookResult.deny(f"{event.tool_name} seen")


# The nouns.

AN_EVENT = HookEvent(
    hook_type="PreToolUse",
    session_id="s1",
    orchestrator_id="o1",
    agent_id=None,
    timestamp=datetime(2024, 1, 1, 12, 0, 0, 5, tzinfo=UTC),
    tool_name="Write",
    tool_input={"path": "a.txt"},
)


def test_the_names_of_the_older_framework_are_there():
    """S4-13: with the types of hook that older code registers for."""
    assert [kind.value for kind in HookType] == ["pre_call", "post_call", "PreToolUse", "PostToolUse"]
    assert issubclass(PythonCallableHook, PatternHook)
    assert issubclass(PatternHook, FunctionHook)


def test_an_event_has_the_fields_of_the_design():
    """S4-14 S4-15 S4-16 S4-17 S4-18 S4-19 S4-20 S4-21: in this order, with these types."""
    assert get_type_hints(HookEvent) == {
        "hook_type": str,
        "session_id": str,
        "orchestrator_id": str,
        "agent_id": str | None,
        "timestamp": datetime,
        "tool_name": str,
        "tool_input": dict[str, Any],
        "tool_output": str | None,
    }
    assert AN_EVENT.tool_output is None


def test_an_event_is_written_with_the_time_in_iso_8601():
    """X-7."""
    assert AN_EVENT.to_dict() == {
        "hook_type": "PreToolUse",
        "session_id": "s1",
        "orchestrator_id": "o1",
        "agent_id": None,
        "timestamp": "2024-01-01T12:00:00.000005+00:00",
        "tool_name": "Write",
        "tool_input": {"path": "a.txt"},
        "tool_output": None,
    }


def test_an_event_comes_back_from_json_as_it_was():
    """S4-28."""
    assert HookEvent.from_dict(json.loads(AN_EVENT.to_json())) == AN_EVENT


def test_a_result_has_the_fields_of_the_design_and_allows_by_default():
    """S4-23 S4-24 S4-25 S4-26 S4-27: allowed, allow, and nothing else said."""
    result = HookResult()

    assert (result.allowed, result.decision, result.reason, result.updated_input, result.inject) == (
        True, "allow", None, None, None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("made", "allowed", "decision", "reason"),
    [
        (HookResult(allowed=False), False, "deny", None),
        (HookResult(decision="deny"), False, "deny", None),
        (HookResult(allowed=False, decision="ask"), False, "deny", None),
        (HookResult(decision="ask"), True, "ask", None),
        (HookResult.allow(), True, "allow", None),
        (HookResult.deny("no"), False, "deny", "no"),
        (HookResult.ask("sure?"), True, "ask", "sure?"),
        (HookResult.from_dict({"allowed": False}), False, "deny", None),
        (HookResult.from_dict({}), True, "allow", None),
    ],
)
def test_allowed_and_decision_do_not_disagree(made, allowed, decision, reason):
    """S4-23 S4-24 X-1 X-2: a deny in one is a deny in both; an ask leaves it allowed."""
    assert (made.allowed, made.decision, made.reason) == (allowed, decision, reason)


def test_a_result_comes_back_from_json_as_it_was():
    """S4-28: with everything that was written into it."""
    result = HookResult.ask("sure?")
    result.updated_input, result.inject, result.metadata = (
        {"a": 1},
        {"content": "x", "strategy": "tool_result"},
        {"b": 2},
    )
    result.add_error("one")
    result.add_executed_hook("h", "pre", "ask", "sure?", 1.5)

    assert HookResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    assert {item.name for item in fields(result)} - set(result.to_dict()) == {"outcome"}


def test_what_a_mapping_says_beyond_a_result_is_left_out():
    """S4-28: as the original reads it."""
    read = HookResult.from_dict({"reason": "r", "outcome": 5, "hookSpecificOutput": {}})

    assert (read, read.outcome) == (HookResult(reason="r"), None)


def test_errors_are_kept_beside_an_allow():
    """X-4: add_error and has_errors."""
    result = HookResult.allow()
    before = result.has_errors()

    result.add_error("first")
    result.add_error("second")

    assert (before, result.has_errors(), result.hook_errors) == (False, True, ["first", "second"])


# The older manager.


class Older(FunctionHook):
    """A permission hook as it was written before the framework: no matcher, old-style results."""

    async def execute(self, function_name, arguments, context=None, **kwargs):
        if "secret" in arguments:
            return HookResult(allowed=False, metadata={"reason": f"{function_name} may not"})
        return HookResult(modified_args=json.dumps({"seen": json.loads(arguments)}))


def test_the_older_manager_knows_hooks_for_one_function_and_for_all():
    """S4-13: those for all come first; clearing forgets both."""
    manager, one, all_ = FunctionHookManager(), Older("one"), Older("all")
    manager.register_hook("write", HookType.PRE_CALL, one)
    manager.register_global_hook(HookType.PRE_CALL, all_)
    nothing: dict[HookType, list[FunctionHook]] = {kind: [] for kind in HookType}

    assert manager.get_hooks_for_function("write") == {**nothing, HookType.PRE_CALL: [all_, one]}
    assert manager.get_hooks_for_function("read") == {**nothing, HookType.PRE_CALL: [all_]}
    manager.clear_hooks()
    assert manager.get_hooks_for_function("write") == nothing


def test_a_function_hook_cannot_be_made_without_execute():
    """S4-13: it is a base class."""
    with pytest.raises(TypeError):
        FunctionHook("nothing")  # type: ignore[abstract]


@pytest.mark.parametrize("kind", [PRE, HookType.PRE_CALL])
def test_an_old_permission_hook_with_an_old_style_result_still_works(kind):
    """S4-13 S4-44: allowed, metadata and modified_args, also in the new manager and for an older type."""
    manager = GeneralHookManager()
    manager.register_global_hook(kind, Older("permission"))

    changed = execute_hooks(manager, kind, "write", '{"a": 1}')
    denied = execute_hooks(manager, kind, "write", '{"a": "secret"}')

    assert (changed.allowed, changed.modified_args) == (True, '{"seen": {"a": 1}}')
    assert (denied.allowed, denied.decision, denied.reason) == (False, "deny", "write may not")


def test_hooks_of_an_older_type_do_not_run_for_the_new_one():
    """S4-13: the managers keep the types apart."""
    manager = GeneralHookManager()
    manager.register_global_hook(HookType.PRE_CALL, PythonCallableHook("h", lambda _: HookResult.deny("no")))

    assert (execute_hooks(manager, PRE).allowed, execute_hooks(manager, HookType.PRE_CALL).allowed) == (True, False)


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


# A callable as a hook.


def specific(**said: str) -> dict[str, Any]:
    """An answer in the words of the Claude Agent SDK."""
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}


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


# Failure.


@pytest.mark.parametrize(
    ("handler", "words"), [(breaks, "Hook h failed: raised RuntimeError: hook crashed"), (hangs, "Hook h timed out")]
)
def test_by_default_an_error_or_a_timeout_allows_and_is_kept(handler, words):
    """X-3 X-4: alone and in a manager."""
    hook = PythonCallableHook("h", handler, timeout=0.05 if handler is hangs else 30)
    manager = GeneralHookManager()
    manager.register_global_hook(PRE, hook)

    for result in (execute(hook), execute_hooks(manager)):
        assert (result.allowed, result.decision, len(result.hook_errors)) == (True, "allow", 1)
        assert result.hook_errors[0].startswith(words)


@pytest.mark.parametrize(
    ("handler", "words"), [(breaks, "Hook h failed: raised RuntimeError: hook crashed"), (hangs, "Hook h timed out")]
)
def test_with_fail_closed_an_error_or_a_timeout_denies(handler, words):
    """X-3: the reason says what happened."""
    hook = PythonCallableHook("h", handler, timeout=0.05 if handler is hangs else 30, fail_closed=True)
    manager = GeneralHookManager()
    manager.register_global_hook(PRE, hook)

    for result in (execute(hook), execute_hooks(manager)):
        assert (result.allowed, result.decision) == (False, "deny")
        assert result.reason is not None
        assert result.reason.startswith(words)


def test_a_hook_class_of_the_host_that_raises_fails_like_a_callable():
    """X-3 X-4: open by default, closed if it says so."""

    class Breaks(PatternHook):
        async def execute(self, *args, **kwargs):
            raise RuntimeError("hook crashed")

    opened, closed = Breaks("opened"), Breaks("closed")
    closed.fail_closed = True  # type: ignore[attr-defined]
    manager = GeneralHookManager()
    manager.register_global_hook(PRE, opened)
    open_result = execute_hooks(manager)
    manager.register_global_hook(PRE, closed)
    closed_result = execute_hooks(manager)

    assert (open_result.allowed, open_result.hook_errors) == (
        True, ["Hook opened failed: raised RuntimeError: hook crashed"],
    )  # fmt: skip
    assert (closed_result.allowed, closed_result.reason) == (
        False, "Hook closed failed: raised RuntimeError: hook crashed",
    )  # fmt: skip


def test_a_failure_is_logged(caplog):
    """X-3: open does not mean silent."""
    with caplog.at_level(logging.ERROR, logger="interpose"):
        execute(PythonCallableHook("h", breaks))

    assert ["hook h at PreToolUse failed" in record.getMessage() for record in caplog.records] == [True]


def test_a_hook_that_is_no_longer_waited_for_is_an_error_too():
    """X-4: the engine gives up on one that failed ten times in a row, and says so."""
    manager = manager_of(breaks)

    results = [execute_hooks(manager) for _ in range(11)]

    assert results[-1].hook_errors == ["Hook first failed: failed 10 times in a row; not waited for"]
    assert [run["decision"] for run in results[-1].executed_hooks] == ["error"]


def test_errors_of_single_hooks_reach_the_whole():
    """X-4: what a result brings along, and what went wrong in running one, in their order."""
    manager = manager_of(lambda _: HookResult(hook_errors=["from a child"]), breaks, lambda _: {"hook_errors": 5})

    assert execute_hooks(manager).hook_errors == [
        "from a child", "Hook second failed: raised RuntimeError: hook crashed",
    ]  # fmt: skip


# Handlers by path.


@pytest.mark.parametrize("path", ["no_such_module.function", f"{HERE}.no_such_function", f"{HERE}.HERE"])
def test_a_wrong_path_is_registered_without_complaint_and_denies_when_it_is_called(path):
    """X-8: it is imported at the first call; what cannot be imported is not an allow."""
    hook = PythonCallableHook("h", path)
    manager = GeneralHookManager()
    manager.register_global_hook(PRE, hook)

    for result in (execute(hook), execute_hooks(manager)):
        assert result.decision == "deny"
        assert result.reason is not None
        assert result.reason.startswith("Hook h failed: ")


def test_a_handler_is_imported_at_its_first_call_and_not_before(tmp_path, monkeypatch):
    """X-8: registering runs nothing; an async one works too, again and again."""
    (tmp_path / "lazily_loaded.py").write_text(
        "import os\nos.environ['LAZILY_LOADED'] = 'yes'\n"
        "async def handler(event):\n    return {'decision': 'deny', 'reason': event.tool_name}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("LAZILY_LOADED", "no")
    manager = GeneralHookManager()
    manager.register_hooks_from_config({"PreToolUse": [{"handler": "lazily_loaded.handler"}]})
    before = os.environ["LAZILY_LOADED"]
    reasons = [execute_hooks(manager, name=name).reason for name in ("Write", "Write", "Edit")]

    assert (before, os.environ["LAZILY_LOADED"], reasons) == ("no", "yes", ["Write", "Write", "Edit"])


@pytest.mark.parametrize("handler", ["hooks/check.py", "no-dots-and-no-name", 5, None, lambda: None])
def test_a_handler_that_could_never_be_called_is_refused(handler):
    """X-8: a program needs another type, and a path must be one."""
    with pytest.raises(BadHook):
        PythonCallableHook("h", handler)


# For all agents and for one.


def named(name: str) -> PythonCallableHook:
    return PythonCallableHook(name, lambda _: None)


def names(manager: GeneralHookManager, agent: str | None, kind: HookType = PRE) -> list[str]:
    return [hook.name for hook in manager.get_hooks_for_agent(agent, kind)]


def ran(manager: GeneralHookManager, agent: str | None, kind: HookType = PRE) -> list[str]:
    """The names of the hooks that run for an agent, which must be those that hold for it."""
    return [run["hook_name"] for run in execute_hooks(manager, kind, context={"agent_id": agent}).executed_hooks]


def test_shared_hooks_hold_for_all_and_an_agent_s_own_for_it_alone():
    """X-9: without an agent the shared ones; what is listed is what runs."""
    manager = GeneralHookManager()
    manager.register_agent_hook("a", PRE, named("own of a"))
    manager.register_global_hook(PRE, named("shared"))

    expected = {None: ["shared"], "a": ["shared", "own of a"], "b": ["shared"], "": ["shared"]}

    assert {agent: names(manager, agent) for agent in expected} == expected
    assert {agent: ran(manager, agent) for agent in expected} == expected


def test_an_agent_that_overrides_has_its_own_hooks_only_and_for_that_type_only():
    """X-9: the others, and other types, keep the shared ones."""
    manager = GeneralHookManager()
    for kind in (PRE, POST):
        manager.register_global_hook(kind, named("shared"))
    manager.register_agent_hook("a", PRE, named("own"), override=True)

    for look in (names, ran):
        assert [look(manager, "a", PRE), look(manager, "a", POST), look(manager, "b", PRE)] == [
            ["own"], ["shared"], ["shared"],
        ]  # fmt: skip


def test_an_override_with_an_empty_list_leaves_no_hooks():
    """C-14 X-9: an agent can be freed of the shared ones."""
    manager = manager_of(lambda _: HookResult.deny("no"))
    manager.register_hooks_from_config({"PreToolUse": {"override": True, "hooks": []}}, agent_id="a")

    assert (names(manager, "a"), names(manager, "b")) == ([], ["first"])
    assert [execute_hooks(manager, context={"agent_id": agent}).allowed for agent in ("a", "b")] == [True, False]


def test_hooks_registered_after_a_call_hold_for_the_next():
    """X-9: shared ones, an agent's own, an override, and none after clearing."""
    manager = GeneralHookManager()
    manager.register_agent_hook("a", PRE, named("own"))
    seen = [ran(manager, "a")]

    manager.register_global_hook(PRE, named("shared"))
    seen.append(ran(manager, "a"))
    manager.register_agent_hook("a", PRE, named("own too"))
    seen.append(ran(manager, "a"))
    manager.register_hooks_from_config({"PreToolUse": {"override": True, "hooks": []}}, agent_id="a")
    seen.append(ran(manager, "a"))
    manager.clear_hooks()
    seen.append(ran(manager, "a"))

    assert seen == [["own"], ["shared", "own"], ["shared", "own", "own too"], ["own", "own too"], []]
    assert names(manager, "a") == []


def test_hooks_may_share_a_name_and_be_many():
    """S4-13: a name is what people call it, not what finds it."""
    manager = GeneralHookManager()
    for _ in range(60):
        manager.register_global_hook(PRE, named("same"))

    assert ran(manager, None) == ["same"] * 60


# From configuration.

CONFIGURED = f"{HERE}.handler_found_by_its_path"


def test_hooks_are_registered_from_configuration():
    """X-8 S4-13: a list for each type, with MassGen's keys."""
    manager = GeneralHookManager()
    manager.register_hooks_from_config({
        "PreToolUse": [
            {"handler": CONFIGURED, "matcher": "Write|Edit", "type": "python", "timeout": 5, "fail_closed": True},
            {"handler": CONFIGURED, "matcher": None},
        ],
        "PostToolUse": {"hooks": [{"handler": CONFIGURED}]},
    })  # fmt: skip

    shown = [
        [
            (hook.name, hook.matcher, hook.timeout, hook.fail_closed)
            for hook in manager.get_hooks_for_agent(None, kind)
            if isinstance(hook, PythonCallableHook)
        ]
        for kind in (PRE, POST)
    ]

    name = f"python_{CONFIGURED}"
    assert shown == [[(name, "Write|Edit", 5, True), (name, "*", 30, False)], [(name, "*", 30, False)]]
    assert execute_hooks(manager, name="Write").reason == "Write seen"


def test_hooks_of_one_agent_are_registered_from_configuration_beside_the_shared_ones():
    """X-9: a key override beside the types means nothing."""
    manager = manager_of(lambda _: None)
    manager.register_hooks_from_config({"override": True, "PreToolUse": [{"handler": CONFIGURED}]}, agent_id="a")

    assert (names(manager, "a"), names(manager, None)) == (["first", f"python_{CONFIGURED}"], ["first"])


@pytest.mark.parametrize(
    ("config", "error", "words"),
    [
        ({"PreTolUse": []}, UnknownEvent, r"PreTolUse is not a type of hook \(did you mean PreToolUse\?\)"),
        ({"Stop": []}, UnknownEvent, "Stop is not a type of hook"),
        ({"PreToolUse": "x"}, BadHook, "PreToolUse: str where a list of hooks is expected"),
        ({"PreToolUse": [{"matcher": "*"}]}, BadHook, r"PreToolUse\[0\]: a hook without handler"),
        ({"PreToolUse": ["x"]}, BadHook, r"PreToolUse\[0\]: a hook without handler"),
        ({"PreToolUse": [{"handler": CONFIGURED, "matchr": "x"}]}, BadHook, r"PreToolUse\[0\].matchr is not a key"),
        ({"PreToolUse": [{"handler": "a/b.py"}]}, BadHook, "is a path"),
        ({"PreToolUse": [{"handler": CONFIGURED, "timeout": -1}]}, ConfigError, "is not a time in seconds"),
        ({"PreToolUse": [{"handler": CONFIGURED, "type": "http"}]}, ConfigError, "type"),
        ({"PreToolUse": {"override": "yes"}}, BadHook, "where true or false is expected"),
        ({"PreToolUse": {"override": True}}, BadHook, "only an agent can override shared hooks"),
    ],
)
def test_a_configuration_with_a_mistake_is_refused_as_a_whole(config, error, words):
    """X-8: a guard that is misspelt is not a guard that is missing."""
    manager = GeneralHookManager()

    with pytest.raises(error, match=words):
        manager.register_hooks_from_config({"PostToolUse": [{"handler": CONFIGURED}], **config})

    assert names(manager, None, POST) == []


# What several hooks come to.


def test_without_hooks_and_without_a_match_a_call_is_allowed():
    """X-6: nothing was said, nothing is changed."""
    manager = GeneralHookManager()
    manager.register_global_hook(PRE, PythonCallableHook("h", breaks, matcher="Write"))

    assert (execute_hooks(GeneralHookManager()), execute_hooks(manager, name="Read")) == (HookResult(), HookResult())


def test_a_deny_ends_it_and_its_reason_is_the_result_s():
    """X-1 X-10: later hooks do not run."""
    called: list[HookEvent] = []
    manager = manager_of(lambda _: None, lambda _: HookResult.deny("no"), called.append)

    result = execute_hooks(manager)

    assert (result.allowed, result.decision, result.reason, called) == (False, "deny", "no", [])
    assert [(run["hook_name"], run["decision"]) for run in result.executed_hooks] == [
        ("first", "allow"),
        ("second", "deny"),
    ]


def test_a_deny_without_a_reason_names_the_hook():
    """X-1."""
    assert execute_hooks(manager_of(lambda _: HookResult(allowed=False))).reason == "Denied by hook first"


def test_an_ask_stays_an_ask_beside_allows():
    """X-2: and leaves it allowed."""
    result = execute_hooks(manager_of(lambda _: HookResult.ask("sure?"), lambda _: HookResult.allow()))

    assert (result.allowed, result.decision, result.reason) == (True, "ask", "sure?")
    assert execute_hooks(manager_of(lambda _: HookResult.ask())).reason is None


def test_changed_inputs_chain_and_the_last_is_the_result_s():
    """S4-26 S4-44: however a hook says it, the next one sees it."""
    got: list[Any] = []

    class Sees(PatternHook):
        async def execute(self, function_name, arguments, context=None, **kwargs):
            got.append(arguments)
            return HookResult(modified_args='{"n": 3}')

    manager = manager_of(lambda event: {"updated_input": {"n": event.tool_input["n"] + 1}})
    manager.register_global_hook(PRE, Sees("sees"))
    manager.register_global_hook(PRE, PythonCallableHook("last", lambda event: got.append(event.tool_input)))

    result = execute_hooks(manager, arguments='{"n":1}')

    assert got == ['{"n": 2}', {"n": 3}]
    assert (result.updated_input, result.modified_args) == ({"n": 3}, '{"n": 3}')


def test_an_unchanged_input_reaches_a_hook_as_it_was_written_and_is_no_change():
    """S4-44: to the letter."""
    got = []

    class Sees(PatternHook):
        async def execute(self, function_name, arguments, context=None, **kwargs):
            got.append((function_name, arguments))
            return HookResult.allow()

    manager = GeneralHookManager()
    manager.register_global_hook(PRE, Sees("sees"))

    results = [execute_hooks(manager, name="w", arguments=text) for text in ('{ "n" : 1 }', "not json")]

    assert got == [("w", '{ "n" : 1 }'), ("w", "not json")]
    assert [(result.updated_input, result.modified_args) for result in results] == [(None, None)] * 2


def test_a_denied_call_has_no_changed_input():
    """S4-26: there is nothing to run with it."""
    manager = manager_of(lambda _: HookResult(updated_input={"n": 2}), lambda _: HookResult.deny("no"))

    result = execute_hooks(manager)

    assert (result.updated_input, result.modified_args) == (None, None)


@pytest.mark.parametrize("modified", ["not json", "[1]", "null", 5])
def test_changed_arguments_that_are_no_json_object_are_a_failure(modified):
    """S4-44: and change nothing; a deny beside them stays a deny."""
    result = execute_hooks(manager_of(lambda _: HookResult(modified_args=modified)), arguments='{"n": 1}')
    denied = execute_hooks(manager_of(lambda _: HookResult(allowed=False, modified_args=modified)))

    wrong = f"Hook first failed: updated_input: {type(modified).__name__} where an object is expected"
    assert (result.modified_args, result.hook_errors) == (None, [wrong])
    assert (denied.decision, denied.hook_errors) == ("deny", [wrong])


@pytest.mark.parametrize(
    "answer", [HookResult(inject={}), HookResult(inject={"content": ""}), {"inject": {"content": None}}]
)
def test_an_injection_without_content_is_none(answer):
    """S4-27: nothing is wrong with it either."""
    result = execute_hooks(manager_of(lambda _: answer, kind=POST), POST)

    assert (result.inject, result.hook_errors) == (None, [])


def injects(content: str, strategy: str | None = None):
    said = {"content": content} if strategy is None else {"content": content, "strategy": strategy}
    return lambda _: HookResult(inject=said)


def test_injections_of_all_hooks_are_combined():
    """S4-27: in their order, one below the other."""
    result = execute_hooks(manager_of(injects("a"), injects("b", "tool_result"), kind=POST), POST)

    assert result.inject == {"content": "a\nb", "strategy": "tool_result"}


def test_injections_through_different_channels_are_also_there_one_by_one():
    """S4-27 C-34: each keeps its own strategy."""
    result = execute_hooks(manager_of(injects("a", "user_message"), injects("b"), kind=POST), POST)

    assert result.inject == {
        "content": "a\nb",
        "strategy": "tool_result",
        "injections": [{"content": "a", "strategy": "user_message"}, {"content": "b", "strategy": "tool_result"}],
    }


def test_every_hook_that_ran_is_recorded_for_people_to_look_at():
    """X-10: name, pre or post, decision, reason, milliseconds, and what was injected, shortened and whole."""
    long = "x" * 101
    manager = manager_of(injects("short"), injects(long), breaks, kind=POST)

    runs = execute_hooks(manager, POST).executed_hooks

    assert [run.pop("execution_time_ms") >= 0 for run in runs] == [True] * 3
    assert runs == [
        {"hook_name": "first", "hook_type": "post", "decision": "allow", "reason": None,
         "injection_preview": "short", "injection_content": "short"},
        {"hook_name": "second", "hook_type": "post", "decision": "allow", "reason": None,
         "injection_preview": "x" * 100 + "...", "injection_content": long},
        {"hook_name": "third", "hook_type": "post", "decision": "error",
         "reason": "Hook third failed: raised RuntimeError: hook crashed",
         "injection_preview": None, "injection_content": None},
    ]  # fmt: skip


NO_ANSWER = (
    "Hook first failed: returned int, which is not an answer; return nothing, a mapping or a reply such as deny()"
)


@pytest.mark.parametrize(
    ("handler", "decision", "reason"),
    [
        (lambda _: None, "allow", None),
        (lambda _: HookResult(reason="fine"), "allow", "fine"),
        (lambda _: HookResult.ask("sure?"), "ask", "sure?"),
        (lambda _: HookResult.deny("no"), "deny", "no"),
        (lambda _: {"abort": True, "reason": "no"}, "deny", "no"),
        (lambda _: ask("sure?"), "ask", "sure?"),
        (lambda _: specific(permissionDecision="ask", permissionDecisionReason="sure?"), "ask", "sure?"),
        (lambda _: 5, "deny", NO_ANSWER),
    ],
)  # fmt: skip
def test_a_record_says_what_the_hook_decided_and_why(handler, decision, reason):
    """X-10: before a tool it is of type pre."""
    [run] = execute_hooks(manager_of(handler)).executed_hooks

    assert (run["hook_type"], run["decision"], run["reason"]) == ("pre", decision, reason)


def test_milliseconds_are_milliseconds():
    """X-10."""

    async def a_moment(_):
        await asyncio.sleep(0.05)

    [run] = execute_hooks(manager_of(a_moment)).executed_hooks

    assert 40 < run["execution_time_ms"] < 10_000


def test_what_massgen_has_no_word_for_is_in_the_engine_s_account():
    """X-10: nothing that a hook wished is lost."""
    result = execute_hooks(manager_of(lambda _: {"systemMessage": "note"}, injects("before the tool")))

    assert result.outcome is not None
    assert result.outcome.context == ["note"]
    assert [(item.hook, item.wish) for item in result.outcome.ignored] == [("second", "inject")]


def test_where_enforcement_is_switched_off_every_call_is_allowed(monkeypatch):
    """X-10: the record says what was decided, the engine's account that it did not count."""
    monkeypatch.setenv("INTERPOSE_OFF", "locked out")
    hook = PythonCallableHook("h", lambda _: HookResult.deny("no"))
    manager = GeneralHookManager()
    manager.register_global_hook(PRE, hook)

    alone, together = execute(hook), execute_hooks(manager)

    assert (alone, together.decision, [run["decision"] for run in together.executed_hooks]) == (
        HookResult(), "allow", ["deny"],
    )  # fmt: skip
    assert [result.outcome and result.outcome.extra for result in (alone, together)] == [{"off": "locked out"}] * 2


def test_a_subclass_that_executes_in_its_own_way_is_asked_its_own_way():
    """S4-13: also one of the class for callables."""

    class Own(PythonCallableHook):
        async def execute(self, function_name, arguments, context=None, **kwargs):
            result = await super().execute(function_name, arguments, context)
            return HookResult.deny(f"checked: {result.reason}")

    manager = GeneralHookManager()
    manager.register_global_hook(PRE, Own("own", lambda _: HookResult(reason="fine")))

    assert execute_hooks(manager).reason == "checked: fine"


def test_both_managers_can_be_used_side_by_side():
    """S4-13: the old one in the same process, with the same hooks."""
    hook, old, new = named("shared"), FunctionHookManager(), GeneralHookManager()
    old.register_global_hook(PRE, hook)
    new.register_global_hook(PRE, hook)

    assert (old.get_hooks_for_function("w")[PRE], new.get_hooks_for_agent(None, PRE)) == ([hook], [hook])
