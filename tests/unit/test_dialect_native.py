"""The native dialect: answers of three systems, read into one."""

from typing import Any

import pytest

from interpose import Reply, deny
from interpose.dialects.native import read
from interpose.events import TABLE
from interpose.model import Injection
from interpose.replies import Failure

PRE = TABLE["PreToolUse"]
POST = TABLE["PostToolUse"]
PERMISSION = TABLE["PermissionRequest"]


def reply(answer: object, row: Any = PRE) -> Reply:
    found = read(row, answer)
    assert isinstance(found, Reply), found
    return found


def failure(answer: object, row: Any = PRE) -> Failure:
    found = read(row, answer)
    assert isinstance(found, Failure), found
    return found


def specific(**said: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}


@pytest.mark.parametrize(
    ("answer", "decision", "grants"),
    [
        ({}, None, False),
        ({"decision": "allow"}, "allow", False),
        ({"decision": "approve"}, "allow", True),
        ({"decision": "deny"}, "deny", False),
        ({"decision": "block"}, "deny", False),
        ({"decision": "ask"}, "ask", False),
        ({"decision": None}, None, False),
        ({"abort": True}, "deny", False),
        ({"abort": False}, None, False),
        ({"allowed": True}, "allow", False),
        ({"allowed": False}, "deny", False),
        (specific(permissionDecision="allow"), "allow", True),
        (specific(permissionDecision="deny"), "deny", False),
        (specific(permissionDecision="ask"), "ask", False),
        (specific(decision={"behavior": "allow"}), "allow", True),
        (specific(decision={"behavior": "deny"}), "deny", False),
        (specific(behavior="deny"), "deny", False),
    ],
)
def test_every_spelling_of_a_decision_is_understood(answer: object, decision: str | None, grants: bool) -> None:
    found = reply(answer)

    assert (found.decision, found.grants) == (decision, grants)


@pytest.mark.parametrize(
    "answer", [{"permissionDecision": "allow"}, {"behavior": "allow"}, {"decision": {"behavior": "allow"}}]
)
def test_an_allow_in_the_wrong_place_does_not_count_and_is_reported(answer: object) -> None:
    found = reply(answer)

    assert (found.decision, found.grants) == (None, False)
    assert len(found.ignored) == 1


@pytest.mark.parametrize("word", ["deny", "block", "ask"])
@pytest.mark.parametrize(
    "wrap", [lambda w: {"permissionDecision": w}, lambda w: {"behavior": w}, lambda w: {"decision": {"behavior": w}}]
)
def test_a_deny_or_an_ask_in_the_wrong_place_counts(word: str, wrap: Any) -> None:
    assert reply(wrap(word)).decision in ("deny", "ask")


def test_the_stricter_of_two_decisions_counts_with_its_reason() -> None:
    found = reply(
        {"decision": "allow", "reason": "top", **specific(permissionDecision="deny", permissionDecisionReason="inner")}
    )

    assert (found.decision, found.reason, found.grants) == ("deny", "inner", False)


def test_defer_is_an_ask_with_a_note() -> None:
    found = reply(specific(permissionDecision="defer"))

    assert (found.decision, found.extra) == ("ask", {"defer": True})


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "Deny"}, {"decision": "abort"}, {"decision": ""}, {"hookSpecificOutput": []}, {"decision": True}, {"decision": 0}, {"decision": []},
        {"abort": "true"}, {"abort": 1}, {"allowed": "false"}, {"allowed": 0}, {"continue": "false"}, {"continue": 0},
        specific(permissionDecision="yes"), specific(decision="no"), specific(decision={"behavior": "maybe"}),
        {"permissionDecision": 5}, {"behavior": "DENY"},
    ],
    ids=str,
)  # fmt: skip
def test_a_decision_that_cannot_be_understood_is_misstated(answer: object) -> None:
    found = failure(answer)

    assert (found.code, found.kind) == ("bad_decision", "misstated")


def test_a_deny_beside_something_that_cannot_be_understood_is_still_a_deny() -> None:
    found = reply({"decision": "deny", "reason": "no", "allowed": "perhaps"})

    assert (found.decision, found.reason) == ("deny", "no")
    assert found.problem is not None


@pytest.mark.parametrize("answer", [5, "deny", True, [], (), b"{}", object, {5: 1}], ids=repr)
def test_what_is_no_mapping_of_words_is_no_answer(answer: object) -> None:
    assert (failure(answer).code, failure(answer).kind) == ("bad_reply", "misstated")


@pytest.mark.parametrize(
    "answer",
    [
        {"reason": 5}, {"systemMessage": []}, {"stopReason": 5}, {"suppressOutput": "yes"}, {"modify": "x"},
        {"modify": ["tool_input"]}, {"updated_input": "ls"}, {"updatedInput": []}, {"inject": "text"},
        {"inject": {"content": 5}}, {"inject": {"content": "x", "strategy": "telepathy"}},
        {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "x"}}, {"async": "yes"},
        {"async": True, "asyncTimeout": -1}, {"async": True, "asyncTimeout": "5s"},
        {"async": True, "asyncTimeout": float("nan")}, specific(additionalContext=5),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_types_elsewhere_are_a_broken_answer(answer: object) -> None:
    found = failure(answer)

    assert (found.code, found.kind) == ("bad_output", "broken")


@pytest.mark.parametrize("decision", ["deny", "ask"])
def test_a_deny_or_ask_with_something_wrong_beside_it_counts_without_its_changes(decision: str) -> None:
    found = reply({"decision": decision, "modify": {"tool_input": {}}, "suppressOutput": 5})

    assert found.decision == decision
    assert found.changes == {}
    assert found.problem is not None
    assert "suppressOutput" in found.problem.text


def test_changes_are_spelled_in_four_ways() -> None:
    assert reply({"modify": {"tool_input": {"a": 1}}}).changes == {"tool_input": {"a": 1}}
    assert reply({"updated_input": {"a": 1}}).changes == {"tool_input": {"a": 1}}
    assert reply({"updatedInput": {"a": 1}}).changes == {"tool_input": {"a": 1}}
    assert reply(specific(updatedInput={"a": 1})).changes == {"tool_input": {"a": 1}}
    assert reply({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "x"}}, POST).changes == {
        "tool_response": "x"
    }


def test_system_messages_stand_before_additional_context() -> None:
    found = reply({**specific(additionalContext="second"), "systemMessage": "first"})

    assert found.context == ("first", "second")


def test_injections_are_one_or_several() -> None:
    assert reply({"inject": {"content": "a"}}).inject == (Injection("a", "tool_result"),)
    assert reply({"inject": [{"content": "a"}, {"content": "b", "strategy": "user_message"}]}).inject == (
        Injection("a", "tool_result"),
        Injection("b", "user_message"),
    )


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        ({"async": True}, 30),
        ({"async_": True}, 30),
        ({"async": True, "asyncTimeout": 5}, 5),
        ({"async": True, "asyncTimeout": 0}, 30),
    ],
)
def test_a_second_phase_is_asked_for_with_its_time(answer: object, seconds: float) -> None:
    assert reply(answer).again == seconds


def test_a_deny_needs_no_second_phase() -> None:
    assert reply({"async": True, "decision": "deny"}).again is None


def test_python_spellings_of_reserved_words_are_read() -> None:
    assert reply({"continue_": False, "stopReason": "x"}).continue_ is False


def test_the_behavior_object_carries_message_interrupt_and_input() -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {
        "behavior": "deny", "message": "no", "interrupt": True, "updatedPermissions": [1]}}}  # fmt: skip

    found = reply(answer, PERMISSION)

    assert (found.decision, found.reason, found.interrupt) == ("deny", "no", True)
    assert found.extra == {"updatedPermissions": [1]}


def test_the_event_may_be_named_by_its_alias() -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "pre:tool", "permissionDecision": "allow"}}

    assert reply(answer).grants is True


def test_an_allow_for_another_event_does_not_count_and_a_deny_does() -> None:
    wrong = {"hookEventName": "Stop"}

    assert failure({"hookSpecificOutput": {**wrong, "permissionDecision": "allow"}}).code == "bad_output"
    assert reply({"hookSpecificOutput": {**wrong, "permissionDecision": "deny"}}).decision == "deny"


def test_what_the_dialect_has_no_word_for_is_kept() -> None:
    found = reply({"feedback": 5, **specific(watchPaths=["a"])})

    assert found.extra == {"feedback": 5, "watchPaths": ["a"]}
    assert found.ignored == ("feedback: not known here", "watchPaths: not known here")


def test_a_reply_is_read_as_itself() -> None:
    said = deny("no")

    assert read(PRE, said) is said
