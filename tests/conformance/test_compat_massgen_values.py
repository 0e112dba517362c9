"""MassGen's events and results: their fields, and how they are written and read."""

import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, get_type_hints

import pytest

from interpose.compat.massgen import (
    FunctionHook,
    HookEvent,
    HookResult,
    HookType,
    PatternHook,
    PythonCallableHook,
)

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
