"""The nouns: what can be read of a result and of an outcome."""

import json
import pickle

import pytest

from interpose import Hooks, ask, deny, inject
from interpose.model import HookError, Ignored, Injection, Result, with_decision


def test_an_error_reads_as_its_text_and_has_a_code() -> None:
    error = HookError("raised ValueError", "hook_crash", "trace")

    assert error == "raised ValueError"
    assert (error.code, error.trace) == ("hook_crash", "trace")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy, copy.code, copy.trace) == (error, "hook_crash", "trace")


def test_injections_and_ignored_wishes_are_compared_by_what_they_say() -> None:
    assert Injection("a", "tool_result") == Injection("a")
    assert Injection("a") != Injection("a", "user_message")
    assert len({Injection("a"), Injection("a")}) == 1
    assert Ignored("h", "deny") == Ignored("h", "deny")
    assert Ignored("h", "deny") != Ignored("h", "ask")
    assert len({Ignored("h", "deny"), Ignored("h", "deny")}) == 1


def test_a_result_is_written_with_its_time_in_milliseconds() -> None:
    result = Result(
        "h", "python", "failed", error=HookError("why", "hook_crash"), duration=0.0123456, evidence={"a": 1}
    )

    assert result.to_dict() == {
        "hook": "h", "type": "python", "status": "failed", "decision": "none", "reason": "",
        "error": {"code": "hook_crash", "text": "why"}, "duration_ms": 12.346, "round": 1, "enforced": True,
        "evidence": {"a": 1},
    }  # fmt: skip


def test_the_outcome_of_nothing_has_everything_an_outcome_has() -> None:
    outcome = Hooks(session_id="s").fire_sync("PreToolUse", tool_name="Bash", tool_input={"a": 1})

    assert (outcome.event, outcome.decision, outcome.allowed, outcome.denied, outcome.granted) == (
        "PreToolUse", "none", True, False, False,
    )  # fmt: skip
    assert outcome.context == outcome.messages == outcome.inject == outcome.ignored == []
    assert (outcome.results, outcome.extra, outcome.shadow) == ((), {}, None)
    assert (outcome.continue_, outcome.keep_going, outcome.interrupt, outcome.suppress_output) == (
        True,
        False,
        False,
        False,
    )
    assert (outcome.reason, outcome.stop_reason) == ("", "")
    assert outcome.input["tool_input"] == {"a": 1}
    assert outcome.input["session_id"] == "s"


@pytest.mark.parametrize("registered", [False, True], ids=["no hook", "a silent hook"])
def test_final_fields_read_as_attributes_of_the_outcome(registered: bool) -> None:
    hooks = Hooks()
    if registered:
        hooks.register("PreToolUse", lambda event: None, inline=True)

    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"a": 1}, mine=5)

    assert (outcome.tool_name, outcome.tool_input, outcome.mine) == ("Bash", {"a": 1}, 5)
    assert (outcome.tool, outcome.args) == ("Bash", {"a": 1})
    assert outcome.permission_mode is None
    assert outcome.cwd
    with pytest.raises(AttributeError, match="the outcome of PreToolUse has no 'prompt'"):
        _ = outcome.prompt


def test_an_outcome_is_written_as_the_command_line_prints_it() -> None:
    hooks = Hooks()
    hooks.register("PostToolUse", lambda event: inject("x") + deny("why"), name="h", inline=True)

    shown = json.loads(json.dumps(hooks.fire_sync("PostToolUse", tool_name="Bash").to_dict()))

    assert {key: shown[key] for key in ("event", "decision", "allowed", "denied", "granted", "reason")} == {
        "event": "PostToolUse", "decision": "none", "allowed": True, "denied": False, "granted": False, "reason": "",
    }  # fmt: skip
    assert shown["inject"] == [{"content": "x", "strategy": "tool_result"}]
    assert shown["ignored"] == [{"hook": "h", "wish": "deny"}]
    assert shown["context"] == ["why"]
    assert shown["continue"] is True
    assert [result["hook"] for result in shown["results"]] == ["h"]
    assert set(shown) >= {
        "input", "messages", "suppress_output", "keep_going", "stop_reason", "extra", "results", "interrupt",
    }  # fmt: skip


def test_an_outcome_with_the_decision_of_a_person_is_another_one_and_grants_what_that_allows() -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: ask("sure?"), inline=True)
    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash")

    allowed, denied = with_decision(outcome, "allow", "yes"), with_decision(outcome, "deny", "no")

    assert [(one.decision, one.reason, one.granted) for one in (outcome, allowed, denied)] == [
        ("ask", "sure?", False),
        ("allow", "yes", True),
        ("deny", "no", False),
    ]
    assert outcome != allowed != denied
    assert outcome == with_decision(outcome, "ask", "sure?")


def test_lists_of_an_outcome_belong_to_its_reader() -> None:
    outcome = Hooks().fire_sync("PreToolUse")

    outcome.context.append("mine")

    assert Hooks().fire_sync("PreToolUse").context == []


def test_an_outcome_shows_how_many_hooks_it_has_results_of() -> None:
    hooks = Hooks()
    none = hooks.fire_sync("Stop")
    hooks.register("Stop", lambda event: None)
    one = hooks.fire_sync("Stop")
    hooks.register("Stop", lambda event: None)

    assert [repr(none), repr(one), repr(hooks.fire_sync("Stop"))] == [
        "<Outcome of Stop: none, 0 hooks>", "<Outcome of Stop: none, 1 hook>", "<Outcome of Stop: none, 2 hooks>",
    ]  # fmt: skip


def test_python_can_suggest_the_attribute_of_an_outcome_that_was_meant() -> None:
    outcome = Hooks().fire_sync("Stop")

    with pytest.raises(AttributeError, match="the outcome of Stop has no 'alowed'") as raised:
        outcome.alowed  # noqa: B018

    assert (raised.value.name, raised.value.obj) == ("alowed", outcome)
