"""The Claude dialect: what the fields of an answer do, event by event."""

from tests.tables import rows
from tests.unit.claude_answers import CLIENTS, PRE, failure, permission, read, reply, row_of, specific, what_happens


def test_continue_false_ends_the_turn_and_denies_nothing():
    effect = what_happens(PRE, read(PRE, {"continue": False, "stopReason": "enough"}))

    assert (effect.decision, effect.continue_, effect.stop_reason) == ("none", False, "enough")


@rows("event", CLIENTS)
def test_continue_true_means_nothing(event):
    found = reply(event, {"continue": True, "stopReason": "x"})

    assert (found.halt, found.continue_, found.keep_going, found.stop_reason) == (False, None, False, "")


@rows("event", CLIENTS)
def test_what_an_event_discards_has_no_effect_and_is_reported(event):
    discards = row_of(event).claude.discards.split()
    found = reply(event, {"continue": False, "systemMessage": "note"})

    for name, took_effect in (("continue", found.halt), ("systemMessage", bool(found.messages))):
        assert took_effect is not (name in discards or "all" in discards)
        assert took_effect or f"{name}: {event} discards it" in found.ignored


def test_a_discarded_reason_is_not_that_of_the_block():
    found = reply("Elicitation", {"decision": "block", "reason": "why"})

    assert (found.decision, found.reason) == ("deny", "")


def test_a_message_goes_to_the_person():
    assert what_happens(PRE, read(PRE, {"systemMessage": "note"})).messages == ["note"]


def test_suppress_output_is_taken_without_effect():
    found = reply("PostToolUse", {"suppressOutput": True})

    assert (found.suppress, found.ignored) == (False, ("suppressOutput: without effect",))


@rows("sequence", ["\x07", "\x1b]0;title\x07", "\x1b]9;done\x07\x07", "\x1b]777;notify;a;b\x1b\\"])
def test_titles_notifications_and_the_bell_may_be_sent(sequence):
    assert reply("Notification", {"terminalSequence": sequence}).extra == {"terminalSequence": sequence}
    assert reply("StopFailure", {"terminalSequence": sequence}).extra == {"terminalSequence": sequence}


@rows("sequence", ["text", "\x1b[2J", "\x1b]52;c;aGk=\x07", "\x1b]0;a\x1b[2J\x07", "\x1b]0;a", "\x07x"])
def test_no_other_sequence_is_sent(sequence):
    found = reply("Notification", {"terminalSequence": sequence})

    assert found.extra == {}
    assert len(found.ignored) == 1


@rows(
    ("answer", "decision", "grants"),
    [
        ({"decision": "block", "reason": "r"}, "deny", False),
        ({"decision": "approve"}, "allow", True),
        (permission("allow"), "allow", True),
        (permission("ask"), "ask", False),
        (permission("deny"), "deny", False),
        ({"decision": "block", **permission("allow")}, "deny", False),
        ({"decision": "approve", **permission("deny")}, "deny", False),
        ({"decision": "approve", **permission("ask")}, "ask", False),
    ],
)
def test_decisions_before_a_tool_runs(answer, decision, grants):
    effect = what_happens(PRE, read(PRE, answer))

    assert (effect.decision, effect.granted) == (decision or "none", grants)


def test_the_reason_of_a_decision_stands_beside_it():
    assert reply(PRE, permission("ask", "sure?")).reason == "sure?"
    assert reply(PRE, {"reason": "top", **specific(permissionDecision="deny")}).reason == "top"
    assert reply(PRE, {"decision": "block", **permission("deny", "inner")}).reason == "inner"


def test_approve_is_for_tools_that_are_about_to_run():
    found = reply("UserPromptSubmit", {"decision": "approve"})

    assert found.decision is None
    assert len(found.ignored) == 1


def test_defer_is_an_ask_and_nothing_is_read_beside_it():
    found = reply(PRE, specific(permissionDecision="defer", updatedInput={"a": 1}, additionalContext="c"))

    assert (found.decision, found.extra, dict(found.changes), found.context) == ("ask", {"defer": True}, {}, ())
    assert len(found.ignored) == 2


def test_a_switch_of_the_model_is_allowed_asked_or_denied_and_not_deferred():
    event = "PreModelSwitch"

    assert what_happens(event, read(event, specific(event, permissionDecision="ask"))).decision == "ask"
    assert failure(event, specific(event, permissionDecision="defer")).code == "bad_output"


def test_input_is_replaced_whole_with_or_without_a_decision():
    assert what_happens(PRE, read(PRE, specific(updatedInput={"a": 1}))).changes == {"tool_input": {"a": 1}}
    found = what_happens(PRE, read(PRE, specific(updatedInput={"a": 1}, permissionDecision="allow")))
    assert (found.decision, found.changes) == ("allow", {"tool_input": {"a": 1}})


def test_the_output_of_a_tool_is_replaced():
    event = "PostToolUse"

    assert reply(event, specific(event, updatedToolOutput=[1])).changes == {"tool_response": [1]}


@rows(("tool", "counts"), [("mcp__files__read", True), ("Bash", False), ("", False)])
def test_the_output_of_an_mcp_tool_is_replaced_in_its_own_words(tool, counts):
    event = "PostToolUse"
    found = reply(event, specific(event, updatedMCPToolOutput="new"), evidence={"tool_name": tool} if tool else {})

    assert found.changes == ({"tool_response": "new"} if counts else {})
    assert bool(found.ignored) is not counts


@rows(
    "event", ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit",
              "UserPromptExpansion", "SessionStart", "SubagentStart", "PostModelSwitch"],
)  # fmt: skip
def test_context_reaches_the_model(event):
    assert what_happens(event, read(event, specific(event, additionalContext="note"))).context == ["note"]


@rows("event", ["PreCompact", "TeammateIdle", "TaskCompleted", "SessionEnd", "Setup"])
def test_context_elsewhere_is_reported(event):
    found = reply(event, specific(event, additionalContext="note"))

    assert found.context == ()
    assert found.ignored


@rows("event", ["Stop", "SubagentStop"])
def test_context_at_the_end_of_a_turn_keeps_it_going(event):
    answer = specific(event, additionalContext="note")
    found = reply(event, answer)
    blocking = reply(event, {"decision": "block", "reason": "why", **answer})
    ending = reply(event, {"continue": False, **answer})

    assert (found.keep_going, found.reason, found.context) == (True, "note", ())
    assert (blocking.keep_going, blocking.reason, blocking.context) == (True, "why", ("note",))
    assert (ending.keep_going, ending.halt) == (False, True)


def test_continue_false_beats_a_block_in_words_and_not_exit_status_2():
    answer = {"continue": False, "decision": "block", "reason": "why"}

    assert reply("Stop", answer).keep_going is False
    assert reply("Stop", answer, 2).keep_going is True


def test_a_request_for_permission_is_answered_by_a_behavior():
    event = "PermissionRequest"
    rules = [{"type": "setMode", "mode": "plan", "destination": "session"}]
    allowed = {"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": rules}
    denied = {"behavior": "deny", "message": "no", "interrupt": True}

    effect = what_happens(event, read(event, specific(event, decision=allowed)))
    assert (effect.granted, effect.changes, effect.extra) == (
        True,
        {"tool_input": {"a": 1}},
        {"updatedPermissions": rules},
    )
    effect = what_happens(event, read(event, specific(event, decision=denied)))
    assert (effect.decision, effect.reason, effect.interrupt) == ("deny", "no", True)


def test_what_belongs_to_the_other_behavior_has_no_effect():
    event = "PermissionRequest"
    found = reply(event, specific(event, decision={"behavior": "deny", "updatedInput": {}, "updatedPermissions": []}))

    assert (found.decision, dict(found.changes), found.extra) == ("deny", {}, {})
    assert len(found.ignored) == 2


def test_a_request_for_permission_is_not_denied_by_exit_status_2_nor_allowed_beside_it():
    event = "PermissionRequest"
    allowing = specific(event, decision={"behavior": "allow"})

    assert what_happens(event, read(event, "", 2, "no")).decision == "none"
    assert what_happens(event, read(event, allowing, 2)).decision == "none"
    assert what_happens(event, read(event, allowing, 1)).granted is True


@rows(
    ("event", "said"),
    [
        ("UserPromptSubmit", {"sessionTitle": "t", "suppressOriginalPrompt": True}),
        ("SessionStart", {"initialUserMessage": "m", "watchPaths": ["/a"], "reloadSkills": True}),
        ("PostToolUse", {"classifierContext": "c"}),
        ("PermissionDenied", {"retry": True}),
        ("Elicitation", {"action": "accept", "content": {"a": 1}}),
        ("CwdChanged", {"watchPaths": []}),
        ("MessageDisplay", {"displayContent": "d"}),
    ],
)
def test_outputs_of_single_events_pass_through(event, said):
    assert reply(event, specific(event, **said)).extra == said


@rows("event", ["Elicitation", "ElicitationResult"])
def test_an_elicitation_is_answered_with_exit_status_0_only(event):
    declined = reply(event, specific(event, action="decline"))
    late = reply(event, specific(event, action="decline"), 1)

    assert (declined.decision, declined.extra) == ("deny", {"action": "decline"})
    assert (late.decision, late.extra) == (None, {})
    assert late.ignored


def test_unknown_keys_are_ignored_and_reported():
    found = reply(PRE, {"decision": "block", "reason": "r", "colour": "red", **specific(retry="x")})

    assert found.decision == "deny"
    assert found.ignored == ("colour: not known here", "retry: not known here")


@rows(
    "answer",
    [
        {"decision": "deny"}, {"decision": "allow"}, {"decision": 5}, {"decision": {"behavior": "deny"}},
        {"continue": "false"}, {"continue": 0}, {"suppressOutput": "yes"}, {"systemMessage": 5}, {"reason": []},
        {"stopReason": {}}, {"terminalSequence": 7}, {"hookSpecificOutput": "x"}, {"hookSpecificOutput": []},
        {"hookSpecificOutput": {"permissionDecision": "deny"}}, specific("PostToolUse", additionalContext="c"),
        specific(permissionDecision="block"), specific(permissionDecision=1), specific(permissionDecisionReason=1),
        specific(updatedInput="x"), specific(additionalContext=["c"]),
    ],
    ids=str,
)  # fmt: skip
def test_an_answer_with_anything_of_a_wrong_type_is_a_failure_that_lets_go_on(answer):
    found = failure(PRE, answer)

    assert found.code == "bad_output"
    assert what_happens(PRE, found).decision == "none"
    assert reply(PRE, answer, 2, "no").reason == "no"


@rows(
    ("event", "said"),
    [
        ("PermissionRequest", {"decision": "deny"}),
        ("PermissionRequest", {"decision": {}}),
        ("PermissionRequest", {"decision": {"behavior": "ask"}}),
        ("PermissionRequest", {"decision": {"behavior": "deny", "interrupt": 1}}),
        ("PermissionRequest", {"decision": {"behavior": []}}),
        ("SessionStart", {"watchPaths": [1]}),
        ("Elicitation", {"action": "maybe"}),
        ("PermissionDenied", {"retry": "true"}),
    ],
)
def test_outputs_of_single_events_have_their_types_too(event, said):
    assert failure(event, specific(event, **said)).code == "bad_output"


def test_nothing_at_all_stands_for_a_field_that_was_not_given():
    answer = {"decision": "block", "reason": None, "systemMessage": None, "continue": None, "hookSpecificOutput": None}

    assert reply(PRE, answer).decision == "deny"


def test_an_async_answer_decides_nothing_and_is_reported():
    found = reply(PRE, {"async": True, "asyncTimeout": 5000, "decision": "block"})

    assert (found.decision, found.again) == (None, None)
    assert len(found.ignored) == 1
    assert reply(PRE, {"async": True}, 2, "no").decision == "deny"
