"""The contract on answers that mean no: what a hook says so that a person would read a deny never lets the action run."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from interpose import Hooks, Outcome, Reply
from interpose.dialects import native
from interpose.events import TABLE
from interpose.replies import Ended

CALL = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def specific(**said: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}


REFUSALS: list[dict[str, Any]] = [
    # A deciding key that is nearly one.
    {"decison": "deny"}, {"desicion": "deny"}, {"decission": "block"}, {"decisions": "deny"}, {"decisio": "deny"},
    {"Decision": "deny"}, {"DECISION": "deny"}, {"deCision": "deny"}, {"decision ": "deny"}, {" decision": "deny"},
    {"decision\n": "deny"}, {"de-cision": "deny"}, {"decision:": "deny"}, {"decision\u200b": "deny"},
    {"d\u0435cision": "deny"}, {"decisi\u00f3n": "deny"}, {"\uff44ecision": "deny"}, {"dec1sion": "deny"},
    {"permission_decision": "deny"}, {"permission-decision": "deny"}, {"permissiondecision": "deny"},
    {"PermissionDecision": "deny"}, {"permissionDecison": "deny"}, {"permisionDecision": "deny"},
    {"permission decision": "deny"}, {"permissionsDecision": "deny"}, {"permissionDecisions": "deny"},
    {"behaviour": "deny"}, {"Behavior": "deny"}, {"behavoir": "deny"}, {"behaviors": "deny"},
    {"Abort": True}, {"aborts": True}, {"abrot": True}, {"ABORT": True}, {"aborted": True},
    {"Allowed": False}, {"alowed": False}, {"allowd": False}, {"is_allowed": False}, {"isAllowed": False},
    {"Continue": False}, {"contine": False}, {"continues": False}, {"CONTINUE": False},
    {"hook_specific_output": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}},
    {"HookSpecificOutput": {"permissionDecision": "deny"}}, {"hookSpecificOuput": {"permissionDecision": "deny"}},
    {"hookspecificoutput": {"permissionDecision": "deny"}}, {"hookSpecificOutputs": [{"permissionDecision": "deny"}]},
    specific(permission_decision="deny"), specific(permissionDecison="deny"), specific(PermissionDecision="deny"),
    specific(Decision={"behavior": "deny"}), specific(decison="block"), specific(behaviour="deny"),
    {"decision": "allow", "Decision": "deny"}, {**specific(permissionDecision="allow"), "decison": "deny"},
    specific(permissionDecision="allow", permission_decision="deny"),
    # Words that are no key of an answer, with a value that refuses.
    {"deny": True}, {"denied": True}, {"block": True}, {"blocked": True}, {"reject": True}, {"rejected": True},
    {"Deny": True}, {"BLOCKED": True}, {"is_blocked": True}, {"should_block": True}, {"deny": "true"},
    {"denied": "true"}, {"denied": 1}, {"deny": "it is dangerous"}, {"block": "reason text"}, {"block": {"reason": "x"}},
    {"ok": False}, {"ok": "no"}, {"ok": "false"}, {"ok": 0}, {"approved": False}, {"approved": 0}, {"approved": "no"},
    {"approved": "denied"}, {"action": "deny"}, {"action": "block"}, {"action": "Block"}, {"action": "reject"},
    {"status": "denied"}, {"status": "blocked"}, {"status": "DENIED"}, {"status": "blocked by policy"},
    {"result": "deny"}, {"result": False}, {"result": "rejected"}, {"result": {"decision": "deny"}},
    {"verdict": "deny"}, {"verdict": "block"}, {"verdict": "refused"}, {"verdict": False}, {"verdict": "deny "},
    {"stop": True}, {"halt": True}, {"proceed": False}, {"shouldProceed": False}, {"canContinue": False},
    {"outcome": "deny"}, {"response": "denied"}, {"hook_decision": "deny"}, {"should_deny": True},
    {"allow": False}, {"allow": "false"}, {"allow": 0}, {"permitted": False}, {"permission": "deny"},
    specific(deny=True), specific(allow=False), specific(status="denied"),
    {"permission": "ask"}, {"action": "ask"}, {"verdict": "ask"}, {"ask": True}, {"ask": "sure?"}, {"confirm": True},
    {"requires_approval": True}, {"needs_confirmation": True}, {"askUser": True}, {"effect": "Deny"}, {"policy": "deny"},
    {"access": "denied"}, {"approval": False}, {"authorized": False}, {"granted": False}, {"accepted": False},
    {"is_safe": False}, {"valid": False}, {"passed": False}, {"can_run": False}, {"interrupt": True}, {"veto": True},
    {"terminate": True}, {"unsafe": True}, {"malicious": True}, {"violations": ["rm"]}, {"deny_reason": "x"},
    {"blockedBy": "policy"}, {"denial": "x"}, {"action": "deny_call"}, {"action": "block_tool"}, {"verdict": "unsafe"},
    {"result": {"allow": False}}, {"result": {"deny": ["no"]}}, {"output": {"blocked": True}}, {"data": {"ok": False}},
    specific(result={"allow": False}), {"data": {"permission_decision": "deny"}},
    # A deciding key with a value that is no decision.
    {"decision": "Deny"}, {"decision": "DENY"}, {"decision": "deny "}, {"decision": "denied"}, {"decision": "no"},
    {"decision": "reject"}, {"decision": ""}, {"decision": " "}, {"decision": ["deny"]}, {"decision": False},
    {"decision": {"decision": "deny"}}, {"decision": {"behavior": "Deny"}}, {"decision": {"Behavior": "deny"}},
    {"decision": {"behavior": "allow", "behaviour": "deny"}}, {"decision": {}}, {"decision": 5},
    {"permissionDecision": "Deny"}, {"permissionDecision": ""}, {"behavior": "Deny"}, {"behavior": ""},
    {"abort": "true"}, {"abort": 1}, {"abort": "yes"}, {"abort": ""}, {"allowed": "false"}, {"allowed": 0},
    {"allowed": "no"}, {"allowed": ""}, {"continue": "false"}, {"continue": 0}, {"continue": ""},
    specific(permissionDecision="Deny"), specific(permissionDecision=""), specific(permissionDecision=["deny"]),
    specific(permissionDecision={"behavior": "deny"}), specific(decision="Block"), specific(decision={}),
    {"decision": "approve", "allowed": "false"}, {**specific(permissionDecision="allow"), "decision": "Deny"},
    # A decision in another place.
    {"permissionDecision": "deny"}, {"behavior": "deny"}, {"decision": {"behavior": "deny"}},
    specific(decision="block"), specific(decision="deny"), specific(behavior="deny"), specific(allowed=False),
    specific(abort=True), specific(**{"continue": False}), specific(hookSpecificOutput={"permissionDecision": "deny"}),
    {"hookSpecificOutput": {"permissionDecision": "deny"}}, {"hookSpecificOutput": [{"permissionDecision": "deny"}]},
    {"hookSpecificOutput": "deny"}, {"hookSpecificOutput": '{"permissionDecision": "deny"}'},
    {"output": {"decision": "deny"}}, {"response": {"decision": "block"}}, {"hook": {"permissionDecision": "deny"}},
    {"answer": {"hookSpecificOutput": {"permissionDecision": "deny"}}}, {"results": [{"allowed": False}]},
    {"data": {"abort": True}}, {"reply": {"continue": False}},
    {"async": True, "continue": False}, {"async": True, "abort": True},
    # Two that disagree.
    {"decision": "allow", "abort": True}, {"decision": "approve", "allowed": False}, {"allowed": True, "decision": "deny"},
    {**specific(permissionDecision="allow"), "decision": "block"}, {"decision": "approve", "continue": False},
    {"decision": "allow", "denied": True}, {**specific(permissionDecision="allow"), "ok": False},
]  # fmt: skip

BROKEN: list[str] = [
    '{"decision": "deny"', '{"decision": "de', '{"decision": "deny"} done', '{"decision": "allow"}\n{"decision": "deny"}',
    "{}{}", '{"decision": "deny", "decision": "allow"}', '{"decision": "deny", "score": NaN}', "{'decision': 'deny'}",
    '{"decision": "deny",}', '{decision: "deny"}', '\ufeff\ufeff{"decision": "deny"}', '  \n{"decision": "deny"',
    '{"decision": "deny", "size": 1e999}', '{"decision": "deny"} // no', '{"decision": "deny", "x": "a\tb"}',
    '{"decision": "deny", "x": ' + "[" * 200 + "]" * 200 + "}", '{"decision": True}', "{deny}",
    '{"decision": "deny", "x": ' + "1" * 5000 + "}", '{"decision": "deny"}\0', '\x1b[0m{"decision": "deny"}',
]  # fmt: skip
"""Standard output that begins as an answer and is not one."""

OnError = Literal["log", "skip", "abort"] | None


def by_callable(answer: object, folder: Path, on_error: OnError, event: str = "PreToolUse") -> Outcome:
    hooks = Hooks()
    hooks.register(event, lambda event: answer, on_error=on_error, inline=True, name="hook")
    return hooks.fire_sync(event, **(CALL if "tool_name" in TABLE[event].fields else {}))


def by_command(answer: object, folder: Path, on_error: OnError, event: str = "PreToolUse") -> Outcome:
    (folder / "answer").write_text(answer if isinstance(answer, str) else json.dumps(answer), encoding="utf-8")
    return by_line(f"exec cat '{folder / 'answer'}'", on_error, event)


def by_line(line: str, on_error: OnError = None, event: str = "PreToolUse") -> Outcome:
    hooks = Hooks()
    hooks.register(event, command=line, isolation="group", on_error=on_error, name="hook")
    return hooks.fire_sync(event, **(CALL if "tool_name" in TABLE[event].fields else {}))


Say = Callable[..., Outcome]
EVERY_WAY = pytest.mark.parametrize("say", [by_callable, by_command])
GUARD_OR_NOT = pytest.mark.parametrize("on_error", [None, "log", "skip", "abort"])


@EVERY_WAY
@pytest.mark.parametrize("on_error", [None, "skip", "abort"])
def test_an_answer_that_means_no_denies(say: Say, on_error: OnError, tmp_path: Path) -> None:
    let_through = [answer for answer in REFUSALS if not say(answer, tmp_path, on_error).denied]

    assert let_through == []
    assert len(REFUSALS) >= 80


@pytest.mark.parametrize("on_error", [None, "skip", "abort"])
def test_standard_output_that_begins_an_object_and_is_not_one_denies(on_error: OnError, tmp_path: Path) -> None:
    let_through = [text for text in BROKEN if not by_command(text, tmp_path, on_error).denied]

    assert let_through == []


def test_a_lone_mark_of_the_byte_order_hides_no_deny(tmp_path: Path) -> None:
    outcome = by_command('\ufeff{"decision": "deny", "reason": "no"}', tmp_path, None)

    assert (outcome.decision, outcome.reason) == ("deny", "no")


@EVERY_WAY
def test_a_misspelt_key_is_named_with_what_was_meant(say: Say, tmp_path: Path) -> None:
    outcome = say({"decison": "deny"}, tmp_path, None)

    [result] = outcome.results
    assert (result.status, result.error and result.error.code) == ("failed", "bad_decision")
    assert outcome.reason == "hook failed: decison: there is no such key; did you mean decision?"


def test_a_misspelt_key_denies_whatever_it_says(tmp_path: Path) -> None:
    assert by_callable({"Decision": "allow"}, tmp_path, None).denied
    assert by_callable({"permission_decision": "allow"}, tmp_path, None).denied


@EVERY_WAY
def test_a_misspelt_key_with_nothing_in_it_says_nothing(say: Say, tmp_path: Path) -> None:
    outcome = say({"decison": None}, tmp_path, None)

    assert (outcome.decision, outcome.results[0].status) == ("none", "ok")


# Keys that are not known.

OTHERS: list[dict[str, Any]] = [
    {"feedback": 1}, {"metadata": {"a": 1}}, {"score": 0.5}, {"confidence": "high"}, {"message": "all is well"},
    {"denied": False}, {"blocked": 0}, {"block": "no"}, {"ok": True}, {"approved": True}, {"allow": True},
    {"action": "allow"}, {"status": "fine"}, {"status": 0}, {"result": "no issues found"}, {"verdict": "pass"},
    {"counts": {"denied": 2, "allowed": 3}}, {"precision": 0.9}, {"about": "this hook"}, {"tool_input": {"command": "x"}},
    {"violations": []}, {"deny_reason": ""}, {"blocked_by": "none"}, {"safe": True}, {"valid": True}, {"passed": 3},
    {"result": {"blocked": 0, "passed": 4}}, {"stats": {"blocked": True}}, {"policy": "default"}, {"ask": False},
    {"status": "no_findings"}, {"allowedTools": ["Bash"]}, {"additionalContext": "not here"}, {"решение": "deny"}, {"decision_id": 5},
    specific(feedback=1), specific(systemMessage="not here"), {"inject": {"content": "x", "more": 1}},
]  # fmt: skip


@EVERY_WAY
def test_any_other_key_goes_on_and_is_reported(say: Say, tmp_path: Path) -> None:
    for answer in OTHERS:
        outcome = say(answer, tmp_path, None)

        assert (outcome.decision, outcome.results[0].status) == ("none", "ok"), answer
        assert any("not known here" in wish.wish for wish in outcome.ignored), answer


@EVERY_WAY
def test_any_other_key_in_a_guards_answer_denies(say: Say, tmp_path: Path) -> None:
    let_through = [answer for answer in OTHERS if not say(answer, tmp_path, "abort").denied]

    assert let_through == []


@EVERY_WAY
@pytest.mark.parametrize("decision", [{"decision": "allow"}, {"allowed": True}, {"abort": False}, {"continue": True},
                                      specific(permissionDecision="allow")], ids=str)  # fmt: skip
def test_any_other_key_beside_a_guards_decision_is_reported_only(say: Say, decision: Any, tmp_path: Path) -> None:
    outcome = say({**decision, "feedback": 1}, tmp_path, "abort")

    assert (outcome.allowed, outcome.results[0].status) == (True, "ok")
    assert [wish.wish for wish in outcome.ignored] == ["feedback: not known here"]


REASONS: list[dict[str, Any]] = [
    {"reason": "rm -rf"}, {"decision": None, "reason": "rm -rf"}, {"stopReason": "rm -rf"},
    specific(permissionDecisionReason="rm -rf"), {"permissionDecisionReason": "rm -rf"},
    specific(permissionDecision=None, permissionDecisionReason="rm -rf"),
]  # fmt: skip


@EVERY_WAY
def test_a_guards_reason_without_a_decision_denies(say: Say, tmp_path: Path) -> None:
    let_through = [answer for answer in REASONS if not say(answer, tmp_path, "abort").denied]

    assert let_through == []
    assert [say(answer, tmp_path, None).decision for answer in REASONS] == ["none"] * len(REASONS)


@EVERY_WAY
@pytest.mark.parametrize("more", [{"updated_input": {"command": "ls"}}, {"decision": "allow"}, {"allowed": True},
                                  {"systemMessage": "x"}, {"permissionDecision": "allow"}, {"x-rule": 1}], ids=str)  # fmt: skip
def test_a_guards_reason_beside_something_else_goes_on(say: Say, more: dict[str, Any], tmp_path: Path) -> None:
    assert say({"reason": "it is fine", **more}, tmp_path, "abort").allowed
    assert say({"reason": ""}, tmp_path, "abort").allowed


@EVERY_WAY
def test_an_allow_in_the_wrong_place_is_no_decision_of_a_guard(say: Say, tmp_path: Path) -> None:
    assert say({"permissionDecision": "allow", "feedback": 1}, tmp_path, "abort").denied
    assert say(specific(allowed=True, feedback=1), tmp_path, "abort").denied


@EVERY_WAY
@pytest.mark.parametrize("answer", [{"x-mine": {"decision": "deny"}}, {"x-denied": True}, {"extra": {"denied": True}},
                                    {"extra": {"a": {"decision": "deny"}}}, specific(**{"x-mine": 1})], ids=str)  # fmt: skip
def test_what_stands_under_extra_or_x_is_free(say: Say, answer: Any, tmp_path: Path) -> None:
    outcome = say(answer, tmp_path, "abort")

    assert (outcome.allowed, outcome.ignored, len(outcome.extra)) == (True, [], 1)


def test_the_keys_under_extra_are_those_of_the_outcome(tmp_path: Path) -> None:
    assert by_callable({"extra": {"tickets": [7]}}, tmp_path, "abort").extra == {"tickets": [7]}


@pytest.mark.parametrize(("event", "key", "value"), [
    ("SessionStart", "sessionTitle", "x"), ("PermissionDenied", "retry", True), ("FileChanged", "watchPaths", ["a"]),
])  # fmt: skip
def test_a_special_output_of_an_event_is_known_there_and_only_there(
    event: str, key: str, value: Any, tmp_path: Path
) -> None:
    known = by_callable({key: value}, tmp_path, None, event)
    unknown = by_callable({key: value}, tmp_path, None, "PreToolUse")

    assert (known.extra, known.ignored) == ({key: value}, [])
    assert [wish.wish for wish in unknown.ignored] == [f"{key}: not known here"]


def test_many_unknown_keys_are_reported_in_one_line_beyond_twenty(tmp_path: Path) -> None:
    outcome = by_callable({f"key{number}": number for number in range(50)}, tmp_path, None)

    assert len(outcome.ignored) == 21
    assert outcome.ignored[-1].wish == "30 more keys: not known here"


def test_an_answer_with_ten_thousand_unknown_keys_denies_in_time(tmp_path: Path) -> None:
    """Each is compared with those that decide, which takes time; no one means so many."""
    began = time.process_time()

    outcome = by_callable({f"decide{number}": number for number in range(10_000)}, tmp_path, None)

    assert outcome.reason == "hook failed: more than 1000 keys are not known here"
    assert time.process_time() - began < 1


# Other statuses, and text.


@pytest.mark.parametrize("status", [0, 1, 3, 143])
@pytest.mark.parametrize("answer", ['{"decison": "deny"}', '{"denied": true}', '{"decision": "de'])
def test_an_answer_that_means_no_denies_with_any_status(status: int, answer: str, tmp_path: Path) -> None:
    (tmp_path / "answer").write_text(answer)

    assert by_line(f"cat '{tmp_path / 'answer'}'; exit {status}").denied


def test_an_answer_that_is_cut_off_because_it_is_too_long_denies() -> None:
    """The reason may be what the model wrote."""
    line = """printf '{"decision": "deny", "reason": "'; head -c 2000000 /dev/zero | tr '\\0' x; printf '"}'"""

    assert [by_line(line, on_error).denied for on_error in (None, "skip", "abort")] == [True] * 3


@pytest.mark.parametrize("text", ["all is well", "deny", '"deny"', "[]", '[{"decision": "deny"}]', "5", "true"])
def test_text_that_is_no_answer_goes_on_and_denies_for_a_guard(text: str, tmp_path: Path) -> None:
    assert (by_command(text, tmp_path, None).allowed, by_command(text, tmp_path, "abort").denied) == (True, True)


def test_text_before_an_answer_that_refuses_is_pointed_at(tmp_path: Path) -> None:
    for refusal in ('{"decision": "deny"}', '{"denied": true}'):
        outcome = by_command(f"loading rules\n{refusal}\n", tmp_path, None)

        [result] = outcome.results
        assert result.error is not None
        assert "line 2 refuses, and is not read" in str(result.error)
        assert refusal in result.evidence["stdout"]
    pretty = by_command('loading rules\n{\n  "decision": "deny"\n}\ndone\n', tmp_path, None)
    assert "line 2 refuses, and is not read" in str(pretty.results[0].error)
    harmless = by_command('loading rules\n{"decision": "allow"}\n', tmp_path, None)
    assert "refuses" not in str(harmless.results[0].error)


LAUNCH_ERRORS = [
    "python3: can't open file '/x.py': [Errno 2] No such file or directory", "can't open file", "Cannot find module 'x'",
    'Can\'t open perl script "x": No such file or directory', "sh: 0: cannot open x: No such file", "(LoadError)",
]  # fmt: skip


@pytest.mark.parametrize("written", LAUNCH_ERRORS)
@pytest.mark.parametrize("reason", ["blocked: {}", "{} is blocked", "no\n{}", "{}\nno"])
def test_what_a_model_writes_does_not_turn_a_deny_into_a_hook_that_was_not_started(reason: str, written: str) -> None:
    """A hook with onError log would then be passed over."""
    ended = Ended(status=2, stderr=reason.format(written))

    found = native.read(TABLE["PreToolUse"], ended)

    assert isinstance(found, Reply)
    assert (found.decision, found.reason) == ("deny", reason.format(written))


# Other rows.

CAN_DENY = [name for name, row in TABLE.items() if "deny" in row.can and name == row.name]
CANNOT = [name for name, row in TABLE.items() if "deny" not in row.can and name == row.name]
UNCLEAR: list[dict[str, Any]] = [{"decison": "deny"}, {"denied": True}, {"decision": "Deny"}, {"allow": False}]


@pytest.mark.parametrize("event", CAN_DENY)
def test_every_event_that_can_be_denied_is(event: str, tmp_path: Path) -> None:
    for answer in (*UNCLEAR, {"hookSpecificOutput": {"hookEventName": event, "decision": {"behaviour": "deny"}}}):
        assert by_callable(answer, tmp_path, None, event).denied, answer
    assert by_callable({"feedback": 1}, tmp_path, "abort", event).denied


@pytest.mark.parametrize("event", CANNOT)
def test_where_the_row_cannot_deny_it_is_logged(event: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """At Stop neither: what cannot be read keeps no agent going."""
    for answer in UNCLEAR:
        outcome = by_callable(answer, tmp_path, None, event)

        assert (outcome.decision, outcome.keep_going, outcome.results[0].status) == ("none", False, "failed"), answer
    assert len(caplog.records) == len(UNCLEAR)


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "TeammateIdle"])
def test_a_readable_block_keeps_the_agent_going_beside_an_unknown_key(event: str, tmp_path: Path) -> None:
    outcome = by_callable({"decision": "block", "reason": "not yet", "feedback": 1}, tmp_path, "abort", event)

    assert (outcome.keep_going, outcome.reason) == (True, "not yet")


def test_a_client_that_declines_an_elicitation_denies(tmp_path: Path) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "decline"}}

    assert by_callable(answer, tmp_path, "abort", "Elicitation").denied


# Guards.


@pytest.mark.parametrize(
    "guard", [{"on_error": "abort"}, {"locked": True}, {"locked": True, "on_error": "log"}], ids=str
)
@pytest.mark.parametrize("answer", [{"feedback": 1}, ValueError("bug")], ids=repr)
def test_a_locked_hook_is_a_guard(guard: dict[str, Any], answer: Any) -> None:
    def says(event: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    hooks = Hooks()
    hooks.register("PreToolUse", says, **guard)

    assert hooks.fire_sync("PreToolUse", **CALL).denied


def test_a_guard_by_the_settings_of_its_engine_is_one(tmp_path: Path) -> None:
    hooks = Hooks(error_behavior="abort")
    hooks.register("PreToolUse", lambda event: {"feedback": 1})

    assert hooks.fire_sync("PreToolUse", **CALL).denied


# The Claude dialect is its client's.


def test_in_the_claude_dialect_the_client_decides_and_the_outcome_shows_what_it_dropped(tmp_path: Path) -> None:
    for answer in ({"decison": "block"}, {"denied": True}, {"permission_decision": "deny"}):
        hooks = Hooks()
        (tmp_path / "answer").write_text(json.dumps(answer))
        hooks.register("PreToolUse", command=f"cat '{tmp_path / 'answer'}'", dialect="claude", name="hook")

        outcome = hooks.fire_sync("PreToolUse", **CALL)

        assert outcome.allowed
        assert [wish.wish for wish in outcome.ignored] == [f"{next(iter(answer))}: not known here"]
