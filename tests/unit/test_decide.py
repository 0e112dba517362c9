"""What the hooks said, folded into what the host does."""

from typing import Any

import pytest

from interpose import Hooks, Outcome, Reply, allow, ask, context, deny, inject, modify
from interpose.decide import on_failure, weigh
from interpose.events import TABLE
from interpose.model import Hook, Ignored, Injection
from interpose.replies import Failure


def outcome(event: str, *replies: Any, **fields: Any) -> Outcome:
    """What comes out if hooks a, b, c … say this."""
    hooks = Hooks()
    for name, reply in zip("abcdefgh", replies, strict=False):
        hooks.register(event, lambda event, reply=reply: reply, name=name, inline=True)
    return hooks.fire_sync(event, **fields)


def wishes(outcome: Outcome) -> list[tuple[str, str]]:
    return [(item.hook, item.wish) for item in outcome.ignored]


# Decisions.


@pytest.mark.parametrize(
    ("replies", "decision", "reason"),
    [
        ([], "none", ""),
        ([None], "none", ""),
        ([allow("a")], "allow", "a"),
        ([ask("b")], "ask", "b"),
        ([deny("c")], "deny", "c"),
        ([allow("a"), ask("b")], "ask", "b"),
        ([ask("b"), allow("a")], "ask", "b"),
        ([allow("a"), deny("c")], "deny", "c"),
        ([ask("b"), deny("c")], "deny", "c"),
        ([deny("c"), allow("a")], "deny", "c"),
        ([allow("a"), None, allow("b")], "allow", "a\nb"),
        ([ask("same"), ask("same")], "ask", "same"),
        ([ask("one"), ask("two")], "ask", "one\ntwo"),
        ([ask(), ask("two")], "ask", "two"),
    ],
)
def test_the_strictest_decision_wins_with_the_reasons_of_those_who_made_it(
    replies: list[Any], decision: str, reason: str
) -> None:
    result = outcome("PreToolUse", *replies)

    assert (result.decision, result.reason) == (decision, reason)
    assert result.allowed is (decision in ("none", "allow"))
    assert result.denied is (decision == "deny")


def test_a_deny_skips_the_rest() -> None:
    result = outcome("PreToolUse", None, deny("no"), allow())

    assert [item.status for item in result.results] == ["ok", "ok", "skipped"]


@pytest.mark.parametrize(
    ("reply", "granted"),
    [
        (allow(), True),
        ({"decision": "approve"}, True),
        ({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}, True),
        ({"decision": "allow"}, False),
        ({"allowed": True}, False),
        (None, False),
    ],
)
def test_only_words_that_grant_grant(reply: Any, granted: bool) -> None:
    result = outcome("PreToolUse", reply)

    assert (result.allowed, result.granted) == (True, granted)


def test_a_grant_is_void_if_anybody_asks_or_denies() -> None:
    assert outcome("PreToolUse", allow(), ask()).granted is False
    assert outcome("PreToolUse", allow(), deny()).granted is False


@pytest.mark.parametrize(
    ("event", "reply", "expected"),
    [
        ("Stop", deny("go on"), {"keep_going": True, "reason": "go on", "decision": "none", "ignored": []}),
        ("SubagentStop", deny("go on"), {"keep_going": True, "reason": "go on"}),
        (
            "PostToolUse",
            deny("told you"),
            {"context": ["told you"], "decision": "none", "ignored": [Ignored("a", "deny")]},
        ),
        ("PostToolUse", deny(), {"context": [], "decision": "none", "ignored": [Ignored("a", "deny")]}),
        ("SessionEnd", deny("no"), {"decision": "none", "ignored": [Ignored("a", "deny")], "context": []}),
        ("post:message", deny("no"), {"decision": "none", "ignored": [Ignored("a", "deny")]}),
        ("SessionEnd", ask(), {"decision": "none", "ignored": [Ignored("a", "ask")]}),
        ("UserPromptSubmit", ask("sure?"), {"decision": "ask", "allowed": False, "ignored": [Ignored("a", "ask")]}),
        ("UserPromptSubmit", allow(), {"decision": "none", "ignored": [Ignored("a", "allow")]}),
        ("UserPromptSubmit", {"decision": "allow"}, {"decision": "none", "ignored": []}),
        ("PermissionRequest", allow(), {"decision": "allow", "granted": True}),
    ],
)
def test_a_decision_that_a_row_does_not_grant_does_what_it_can_and_is_reported(
    event: str, reply: Any, expected: dict[str, Any]
) -> None:
    result = outcome(event, reply)

    assert {name: getattr(result, name) for name in expected} == expected


# Continue.


@pytest.mark.parametrize(
    ("event", "reply", "expected"),
    [
        ("PreToolUse", {"continue": False, "stopReason": "halt"},
         {"decision": "deny", "reason": "halt", "continue_": False, "stop_reason": "halt"}),
        ("PreToolUse", {"continue": True}, {"decision": "none", "continue_": True, "keep_going": False}),
        ("PreToolUse", {"continue": False, "decision": "allow", "stopReason": "halt"}, {"decision": "deny", "granted": False}),
        ("PreToolUse", {"continue": False, "stopReason": "halt", "decision": "deny", "reason": "no"},
         {"decision": "deny", "reason": "no", "stop_reason": "halt"}),
        ("PreToolUse", {"continue": False, "stopReason": "halt", "decision": "deny"},
         {"decision": "deny", "reason": "halt", "stop_reason": "halt"}),
        ("PreToolUse", {"continue": False, "stopReason": "halt", "decision": "allow", "reason": "fine"},
         {"decision": "deny", "reason": "halt", "stop_reason": "halt"}),
        ("PostToolUse", {"continue": False, "stopReason": "halt"},
         {"decision": "none", "continue_": False, "stop_reason": "halt"}),
        ("Stop", {"continue": True}, {"keep_going": True}),
        ("Stop", {"continue": False, "stopReason": "enough"}, {"keep_going": False, "continue_": False}),
        ("TeammateIdle", {"continue": False, "stopReason": "more to do"}, {"keep_going": True, "reason": "more to do"}),
        ("TeammateIdle", {"continue": False}, {"keep_going": False}),
        ("TeammateIdle", {"continue": True, "decision": "block", "reason": "go on"},
         {"keep_going": True, "reason": "go on"}),
        ("TaskCompleted", {"continue": False, "stopReason": "not yet"}, {"decision": "deny", "reason": "not yet"}),
        ("PermissionRequest", {"continue": False}, {"decision": "deny", "interrupt": True, "reason": "interrupted by hook"}),
    ],
)  # fmt: skip
def test_continue_means_what_the_row_makes_of_it(event: str, reply: Any, expected: dict[str, Any]) -> None:
    result = outcome(event, reply)

    assert {name: getattr(result, name) for name in expected} == expected


def test_an_allow_that_also_stops_grants_nothing() -> None:
    effect = weigh(TABLE["PreToolUse"], allow() + Reply(continue_=False))

    assert (effect.decision, effect.granted) == ("deny", False)


def test_of_two_that_end_the_turn_the_first_says_why() -> None:
    one, two, nothing = (Reply(halt=True, stop_reason=reason) for reason in ("one", "two", ""))

    assert outcome("PostToolUse", one, two).stop_reason == "one"
    assert outcome("PostToolUse", nothing, two).stop_reason == "two"


def test_to_stop_skips_the_rest_also_where_nothing_can_be_denied() -> None:
    result = outcome("PostToolUse", {"continue": False}, context("never"))

    assert [item.status for item in result.results] == ["ok", "skipped"]
    assert result.context == []


# Changes.


def test_changes_chain_and_replace_whole_fields() -> None:
    result = outcome("PreToolUse", modify(tool_input={"a": 1}), modify(args={"b": 2}), tool_input={"c": 3})

    assert result.tool_input == {"b": 2}


@pytest.mark.parametrize(
    ("event", "reply", "ignored"),
    [
        ("PreToolUse", modify(tool_name="Other"), "modify tool_name"),
        ("PreToolUse", modify(nonsense=1), "modify nonsense"),
        ("PreToolUse", deny() + modify(tool_input={}), "modify tool_input"),
        ("PostToolUse", modify(tool_input={"x": 1}), "modify tool_input"),
        ("Stop", modify(session_id="other"), "modify session_id"),
        ("PermissionRequest", modify(tool_input={"x": 1}), "modify tool_input"),
        ("PermissionRequest", {"decision": "allow", "updatedInput": {"x": 1}}, "modify tool_input"),
    ],
)
def test_a_change_that_a_row_does_not_grant_is_reported(event: str, reply: Any, ignored: str) -> None:
    result = outcome(event, reply, tool_name="Bash", tool_input={"c": 3})

    assert ignored in [wish for _, wish in wishes(result)]
    assert result.input["tool_input"] == {"c": 3}
    assert result.input["tool_name"] == "Bash"


def test_a_change_at_a_permission_request_needs_a_grant() -> None:
    reply = {"hookSpecificOutput": {"hookEventName": "PermissionRequest",
                                    "decision": {"behavior": "allow", "updatedInput": {"x": 1}}}}  # fmt: skip

    result = outcome("PermissionRequest", reply)

    assert (result.granted, result.tool_input) == (True, {"x": 1})


@pytest.mark.parametrize(
    ("event", "changes"),
    [
        ("pre:message", {"prompt": 5}),
        ("pre:agent:spawn", {"config": "text"}),
        ("PreCompact", {"custom_instructions": 5}),
    ],
)
def test_a_value_that_does_not_fit_its_field_is_a_failure_and_changes_nothing(
    event: str, changes: dict[str, Any]
) -> None:
    result = outcome(event, modify(changes))

    assert [item.status for item in result.results] == ["failed"]
    assert all(result.input[name] != value for name, value in changes.items())


# The rest.


def test_context_messages_and_injections_are_collected_in_order() -> None:
    result = outcome("PostToolUse", context("a") + inject("x"), context("b", "c"), inject("y", "user_message"))

    assert result.context == ["a", "b", "c"]
    assert result.inject == [Injection("x", "tool_result"), Injection("y", "user_message")]


def test_context_where_the_row_has_none_is_reported() -> None:
    assert wishes(outcome("SessionEnd", context("a"))) == [("a", "context")]


def test_suppressing_and_injecting_belong_to_rows_that_grant_them() -> None:
    assert outcome("PostToolUse", Reply(suppress=True)).suppress_output is True
    assert wishes(outcome("PreToolUse", Reply(suppress=True) + inject("x"))) == [("a", "inject"), ("a", "suppress")]


def test_an_interruption_needs_a_deny_at_a_row_that_can() -> None:
    reply = {"decision": {"behavior": "deny", "message": "no", "interrupt": True}}

    assert outcome("PermissionRequest", reply).interrupt is True
    assert wishes(outcome("PermissionRequest", Reply(interrupt=True))) == [("a", "interrupt")]
    assert wishes(outcome("PreToolUse", Reply(decision="deny", interrupt=True))) == [("a", "interrupt")]


def test_what_the_engine_has_no_word_for_passes_through() -> None:
    assert outcome("PreToolUse", {"feedback": 5}).extra == {"feedback": 5}


def test_of_two_that_pass_the_same_thing_through_the_last_counts_and_the_other_is_reported() -> None:
    result = outcome("PreToolUse", {"x-feedback": [1], "x-useful": True}, {"x-feedback": [2]}, {"x-useful": True})

    assert (result.extra, wishes(result)) == (
        {"x-feedback": [2], "x-useful": True},
        [("a", "x-feedback: a later hook said something else")],
    )


def test_a_hook_that_is_not_enforced_shows_only_in_the_shadow() -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("would have"), name="trial", enforce=False)
    hooks.register("PreToolUse", lambda event: allow("fine"), name="real")

    result = hooks.fire_sync("PreToolUse")

    assert (result.decision, result.reason) == ("allow", "fine")
    assert result.shadow is not None
    assert (result.shadow.decision, result.shadow.reason) == ("deny", "would have")
    assert [(item.hook, item.status, item.decision, item.enforced) for item in result.results] == [
        ("trial", "ok", "deny", False),
        ("real", "ok", "allow", True),
    ]


# Failures.


@pytest.mark.parametrize(
    ("code", "own", "policy", "denies"),
    [
        ("import_failed", None, "log", True),
        ("import_failed", None, "abort", True),
        ("import_failed", "log", "log", False),
        ("import_failed", "skip", "skip", False),
        ("import_failed", "abort", "abort", True),
        ("bad_reply", None, "log", True),
        ("bad_reply", "skip", "skip", True),
        ("bad_decision", "log", "log", True),
        ("hook_crash", None, "log", False),
        ("hook_crash", None, "skip", False),
        ("hook_crash", None, "abort", True),
        ("bad_output", None, "log", False),
        ("timeout", None, "log", False),
        ("timeout", "abort", "abort", True),
    ],
)
def test_a_failure_denies_by_its_line_of_the_table(code: str, own: str | None, policy: str, denies: bool) -> None:
    row = TABLE["PreToolUse"]
    hook = Hook(row=row, handler=None, label="guard", on_error=own)

    effect = on_failure(row, hook, Failure(code, "why"), policy)

    assert (effect is not None) is denies
    if effect is not None:
        assert (effect.decision, effect.reason, effect.ends) == ("deny", "guard failed: why", True)


def test_where_a_row_cannot_deny_no_failure_does() -> None:
    row = TABLE["PostToolUse"]
    hook = Hook(row=row, handler=None, label="guard", on_error="abort")

    assert on_failure(row, hook, Failure("bad_reply", "why"), "abort") is None


def test_weighing_a_reply_does_not_change_it() -> None:
    reply = modify(tool_input={"a": [1]}) + context("x") + deny("no")
    before = repr(reply)

    weigh(TABLE["PreToolUse"], reply)

    assert repr(reply) == before


def test_an_outcome_says_of_itself_what_happened() -> None:
    assert repr(outcome("PreToolUse", deny("no"), None)) == "<Outcome of PreToolUse: deny, reason='no', 2 hooks>"
    assert repr(outcome("Stop")) == "<Outcome of Stop: none, 0 hooks>"
