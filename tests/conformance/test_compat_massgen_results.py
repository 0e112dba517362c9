"""What several hooks of MassGen come to: decisions, changed inputs, injections, and the record of each."""

import asyncio
from typing import Any

import pytest
from tests.conformance.massgen_hooks import (
    POST,
    PRE,
    breaks,
    execute,
    execute_hooks,
    injects,
    manager_of,
    specific,
)

from interpose import ask
from interpose.compat.massgen import (
    GeneralHookManager,
    HookEvent,
    HookResult,
    PatternHook,
    PythonCallableHook,
)

# Decisions.


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


# Changed inputs.


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


# Injections.


@pytest.mark.parametrize(
    "answer", [HookResult(inject={}), HookResult(inject={"content": ""}), {"inject": {"content": None}}]
)
def test_an_injection_without_content_is_none(answer):
    """S4-27: nothing is wrong with it either."""
    result = execute_hooks(manager_of(lambda _: answer, kind=POST), POST)

    assert (result.inject, result.hook_errors) == (None, [])


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


# The record.


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
