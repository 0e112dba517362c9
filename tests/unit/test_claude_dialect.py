"""The Claude dialect: exit status and standard output, read as Claude Code reads them."""

import json
from collections import UserDict
from typing import Any

from tests.tables import rows

from interpose import Reply, deny
from interpose.decide import on_failure, weigh
from interpose.dialects import claude
from interpose.dialects.claude import LONGEST_TEXT, answers, variables, write
from interpose.event import Event
from interpose.event import event_of as make_event
from interpose.events import TABLE, EventSpec
from interpose.model import Hook, HookEffect, Template
from interpose.replies import Ended, Failure

PRE = "PreToolUse"
CLIENTS = [name for name in TABLE if ":" not in name]


def row_of(event: str) -> EventSpec:
    return TABLE[event]


def ended(stdout: Any = b"", status: int = 0, stderr: str = "", **more: Any) -> Ended:
    if isinstance(stdout, dict):
        stdout = json.dumps(stdout)
    return Ended(stdout=stdout.encode() if isinstance(stdout, str) else stdout, status=status, stderr=stderr, **more)


def read(event: str, stdout: Any = b"", status: int = 0, stderr: str = "", **more: Any) -> Reply | Failure:
    blocks = more.pop("blocks", False)
    return claude.read(row_of(event), ended(stdout, status, stderr, **more), blocks=blocks)


def reply(event: str, stdout: Any = b"", status: int = 0, stderr: str = "", **more: Any) -> Reply:
    found = read(event, stdout, status, stderr, **more)
    assert isinstance(found, Reply), found
    return found


def failure(event: str, stdout: Any = b"", status: int = 0, stderr: str = "", **more: Any) -> Failure:
    found = read(event, stdout, status, stderr, **more)
    assert isinstance(found, Failure), found
    return found


def specific(event: str = PRE, **said: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **said}}


def permission(decision: str, reason: str = "") -> dict[str, Any]:
    return specific(permissionDecision=decision, permissionDecisionReason=reason)


def what_happens(event: str, found: Reply | Failure) -> HookEffect:
    """What the engine makes of it for a hook that was declared in this dialect."""
    row = row_of(event)
    if isinstance(found, Reply):
        return weigh(row, found)
    return on_failure(row, Hook(row=row, handler="x", on_error="log"), found, "log") or HookEffect()


# Exit status and standard output, for an event that can be denied.

ALLOWING, DENYING = permission("allow"), permission("deny", "own")
BROKEN, MISFIT = '{"decision": nope}', {"decision": "deny"}


@rows(
    ("stdout", "status", "decision", "failed"),
    [
        (ALLOWING, 0, "allow", None),
        (DENYING, 0, "deny", None),
        ({}, 0, None, None),
        ("", 0, None, None),
        ("some text", 0, None, None),
        (BROKEN, 0, None, "bad_output"),
        (MISFIT, 0, None, "bad_output"),
        (ALLOWING, 2, "deny", None),
        (DENYING, 2, "deny", None),
        ({}, 2, "deny", None),
        ("", 2, "deny", None),
        ("some text", 2, "deny", None),
        (BROKEN, 2, "deny", "bad_output"),
        (MISFIT, 2, "deny", "bad_output"),
        (ALLOWING, 1, "allow", None),
        (DENYING, 1, "deny", None),
        ({}, 1, None, None),
        ("", 1, None, "hook_crash"),
        ("some text", 1, None, "hook_crash"),
        (BROKEN, 1, None, "bad_output"),
        (MISFIT, 1, None, "bad_output"),
        ("", 126, None, "spawn_permission"),
        ("", 127, None, "spawn_not_found"),
        ("", -9, None, "signal:KILL"),
    ],
)
def test_exit_status_and_standard_output_decide_together(stdout, status, decision, failed):
    found = read(PRE, stdout, status, "complaint")

    problem = found if isinstance(found, Failure) else found.problem
    assert (problem.code if problem else None) == failed
    assert what_happens(PRE, found).decision == (decision or "none")


def test_the_reason_of_a_block_is_the_answers_own_and_else_standard_error():
    assert reply(PRE, DENYING, 2, "complaint").reason == "own"
    assert reply(PRE, {"decision": "block", "reason": "own"}, 2, "complaint").reason == "own"
    assert reply(PRE, permission("allow", "fine"), 2, "complaint\n").reason == "complaint"
    assert reply(PRE, "", 2, evidence={"hook": "guard.sh"}).reason == "guard.sh exited with status 2"


def test_an_allow_beside_exit_status_2_grants_nothing_and_is_reported():
    found = reply(PRE, ALLOWING, 2, "complaint")

    assert (found.decision, found.grants) == ("deny", False)
    assert found.ignored == ("allow: the same hook blocks",)


def test_other_fields_are_read_beside_exit_status_2():
    found = reply(PRE, {"systemMessage": "note", "continue": False, "stopReason": "done"}, 2, "complaint")

    assert (found.messages, found.halt, found.stop_reason) == (("note",), True, "done")


@rows(
    ("stdout", "is_text"),
    [
        ("[1]", True),
        ('"deny"', True),
        ('{"level": 1}\n{"level": 2}', True),
        ('{"level": 1}\n\n{"level": 2}\n', True),
        ('{"level": 1}\n{"reason": "x"}', False),
        ('{"level": 1}{"level": 2}', False),
        ('{"decision": "bl', True),
        ('note\n{"decision": "block"}', True),
        ('{"decision": "block"}\ndone', True),
        ("{nothing}", False),
    ],
)
def test_what_does_not_look_like_one_object_is_plain_text(stdout, is_text):
    found = read("UserPromptSubmit", stdout)

    assert isinstance(found, Reply) is is_text
    if isinstance(found, Reply):
        assert (found.context, found.decision) == ((stdout.strip(),), None)


def test_space_and_a_byte_order_mark_around_an_answer_do_not_matter():
    answer = json.dumps(DENYING).encode()

    assert reply(PRE, b"\xef\xbb\xbf \n" + answer + b"\n\n").decision == "deny"


@rows("event", CLIENTS)
def test_plain_text_is_context_only_where_the_table_says_so(event):
    found = reply(event, "note")

    assert found.context == (("note",) if row_of(event).claude.stdout_is_context else ())
    assert found.context or found.ignored or found.extra


def test_plain_text_counts_with_exit_status_0_only():
    assert failure("UserPromptSubmit", "note", 1).code == "hook_crash"
    assert reply("UserPromptSubmit", "note", 2, "no").context == ()


@rows("event", CLIENTS)
def test_exit_status_2_does_what_the_table_says(event):
    row = row_of(event)
    effect = what_happens(event, read(event, "", 2, "complaint"))

    expected = {
        "deny": ("deny", False, [], []),
        "keep going": ("none", True, [], []),
        "context": ("none", False, ["complaint"], []),
        "user": ("none", False, [], ["complaint"]),
        "ignored": ("none", False, [], []),
    }[row.claude.exit2]
    assert (effect.decision, effect.keep_going, effect.context, effect.messages) == expected
    if row.claude.exit2 in ("deny", "keep going"):
        assert effect.reason == "complaint"
    assert bool(effect.ignored) is (row.claude.exit2 == "ignored")


@rows("event", CLIENTS)
def test_a_block_in_words_does_what_exit_status_2_does(event):
    row = row_of(event)
    effect = what_happens(event, read(event, {"decision": "block", "reason": "why"}))

    blocked = effect.decision == "deny" or effect.keep_going or effect.context == ["why"] or effect.messages == ["why"]
    assert blocked is (row.claude.exit2 != "ignored" and "all" not in row.claude.discards)
    assert blocked or effect.ignored


def test_an_event_that_the_client_does_not_have_is_denied_by_exit_status_2():
    assert what_happens("pre:message", read("pre:message", "", 2, "no")).decision == "deny"
    assert reply("post:message", "", 2, "no").ignored


def test_every_event_of_the_client_has_its_outputs():
    assert set(answers.OUTPUTS) == set(CLIENTS)


@rows("event", ["Stop", "SubagentStop", "TaskCompleted"])
@rows(
    "stderr",
    ["python3: can't open file '/x.py': [Errno 2] No such file or directory", "sh: 0: cannot open x: No such file"],
)
def test_a_missing_script_does_not_keep_an_agent_going(event, stderr):
    found = failure(event, "", 2, stderr)

    assert found.code == "launch_error"
    assert what_happens(event, found).decision == "none"
    assert isinstance(read(event, "{}", 2, stderr), Reply)
    assert isinstance(read("TeammateIdle", "", 2, stderr), Reply)
    assert what_happens(PRE, read(PRE, "", 2, stderr)).decision == "deny"


# Failures.

CANNOT_START = Failure("spawn_not_found", "there is no such program")
LATE = Failure("timeout", "no answer in time")


@rows("event", CLIENTS)
@rows("cause", [CANNOT_START, LATE, Failure("stdout_limit", "too much"), Failure("bad_reply", "?")])
def test_a_failure_lets_the_action_go_on_unless_the_table_says_otherwise(event, cause):
    facts = row_of(event).claude
    found = read(event, failure=cause)

    closes = facts.any_failure_denies or (facts.timeout_denies and cause is LATE)
    assert (what_happens(event, found).decision == "deny") is closes
    problem = found if isinstance(found, Failure) else found.problem
    assert problem is not None
    assert problem.kind != "misstated"


FAILED = 'failed; blocking because onFailure is "block"'


@rows(
    ("how", "reason"),
    [
        ({"status": 1, "stderr": "complaint\n"}, f"{FAILED}\ncomplaint"),
        ({"status": 1, "stdout": ALLOWING}, FAILED),
        ({"stdout": BROKEN}, FAILED),
        ({"stdout": MISFIT}, FAILED),
        ({"status": 127}, FAILED),
        ({"failure": CANNOT_START}, FAILED),
        ({"failure": LATE}, 'timed out; blocking because onFailure is "block"'),
    ],
)
def test_a_failure_of_a_hook_that_asked_for_it_blocks(how, reason):
    found = reply(PRE, blocks=True, **how)

    assert (found.decision, found.grants, found.reason) == ("deny", False, reason)
    assert found.problem is not None


@rows("event", CLIENTS)
def test_a_failure_that_blocks_does_what_exit_status_2_does(event):
    row = row_of(event)
    effect = what_happens(event, read(event, "", 1, "complaint", blocks=True))

    said = [effect.reason if effect.decision != "none" or effect.keep_going else "", *effect.context, *effect.messages]
    if not row.claude.failure_blocks:
        assert (effect.decision, effect.keep_going, said) == ("none", False, [""])
    elif "deny" in row.can:
        assert (effect.decision, effect.reason) == ("deny", f"{FAILED}\ncomplaint")
    else:
        assert (f"{FAILED}\ncomplaint" in said) is (row.claude.exit2 != "ignored")


def test_a_hook_that_asked_for_it_may_still_say_nothing_or_block():
    assert reply(PRE, blocks=True) == Reply()
    assert reply(PRE, "", 2, "no", blocks=True).reason == "no"


@rows("status", [1, 2, 127, -15])
@rows("event", ["WorktreeCreate", "WorktreeRemove"])
def test_any_status_but_0_fails_a_worktree_whatever_the_answer(event, status):
    assert what_happens(event, read(event, specific(event, worktreePath="/w"), status, "no")).decision == "deny"


def test_a_worktree_is_named_on_the_last_line_or_in_an_answer():
    assert reply("WorktreeCreate", "making it\n/w/one\n\n").extra == {"worktreePath": "/w/one"}
    assert reply("WorktreeCreate", specific("WorktreeCreate", worktreePath="/w")).extra == {"worktreePath": "/w"}


def test_exit_status_2_blocks_although_something_failed_beside_it():
    found = reply(PRE, "", 2, "no", failure=Failure("stdout_limit", "too much"))

    assert (found.decision, found.reason) == ("deny", "no")
    assert failure(PRE, "", 2, "no", failure=LATE).code == "timeout"


# Fields of an answer.


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


# Lengths, and text that is not strict JSON.


@rows(
    ("event", "stdout", "part"),
    [
        (PRE, specific(additionalContext="x" * 12_000), lambda found: found.context[0]),
        (PRE, {"systemMessage": "x" * 12_000}, lambda found: found.messages[0]),
        ("Stop", specific("Stop", additionalContext="x" * 12_000), lambda found: found.reason),
        ("SessionStart", specific("SessionStart", initialUserMessage="x" * 12_000), lambda found: found.extra["initialUserMessage"]),
        ("SessionStart", "x" * 12_000, lambda found: found.context[0]),
    ],
)  # fmt: skip
def test_a_long_text_is_cut_and_says_how_much_is_missing(event, stdout, part):
    text = part(reply(event, stdout))

    kept = text.count("x")
    assert len(text) <= LONGEST_TEXT
    assert text.endswith(f"\n[cut off here: {12_000 - kept} more characters]")


def test_a_text_that_just_fits_is_not_cut():
    assert reply(PRE, {"systemMessage": "x" * LONGEST_TEXT}).messages == ("x" * LONGEST_TEXT,)


@rows(
    "stdout",
    [
        b'{"decision": "block", "reason": "a", "reason": "b"}',
        b'{"decision": "block", "reason": "\xff"}',
        b'{"decision": "block", "x": 1e999}',
        b'{"continue": false, "continue": false}',
        b'{"decision": "block", "x": ' + b"[" * 200 + b"]" * 200 + b"}",
        b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "x": 1, "x": 2}}',
    ],
)
def test_what_the_client_would_read_as_a_block_is_one_although_it_is_not_strict_json(stdout):
    found = reply(PRE, stdout)

    assert found.problem is not None
    assert what_happens(PRE, found).decision in ("deny", "ask") or found.halt


@rows(
    "stdout",
    [
        b'{"decision": "approve", "reason": "a", "reason": "b"}',
        b'{"x": NaN}',
        b'{"x": ' + b"[" * 200 + b"]" * 200 + b"}",
        b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"x": ' + b"9" * 5_000 + b"}",
    ],
    ids=["a key twice", "not a number", "deep", "very deep", "a long number"],
)
def test_nothing_else_is_taken_from_text_that_is_not_strict_json(stdout):
    assert failure(PRE, stdout).code == "bad_output"


def test_evidence_of_the_command_is_kept():
    assert reply(PRE, evidence={"hook": "h"}).evidence == {"hook": "h"}
    assert failure(PRE, "", 1, evidence={"hook": "h"}).evidence["hook"] == "h"


# What a callable returns.


def test_a_callable_speaks_with_the_same_fields():
    row = row_of(PRE)

    assert claude.read(row, None) == Reply()
    assert claude.read(row, DENYING) == Reply(decision="deny", reason="own")
    assert claude.read(row, deny("no")) == deny("no")
    found = claude.read(row, {"continue_": False, "async_": False})
    assert isinstance(found, Reply)
    assert found.halt is True


class Hostile(UserDict[str, Any]):
    def __iter__(self) -> Any:
        raise SystemExit


MADE_WRONG: Any = {"decision": "no"}


@rows(
    "answer",
    [5, "deny", [], {"decision": object()}, {5: 1, "decision": "no"}, Reply(**MADE_WRONG), Hostile()],
    ids=["number", "text", "list", "object", "number as a key", "reply", "hostile"],
)
def test_what_a_callable_returns_never_denies_by_being_unreadable(answer):
    found = claude.read(row_of(PRE), answer)

    assert isinstance(found, Failure)
    assert found.code == "bad_output"
    blocking = claude.read(row_of(PRE), answer, blocks=True)
    assert isinstance(blocking, Reply)
    assert (blocking.decision, blocking.reason) == ("deny", FAILED)


# What the client was seen to do, each as: event, standard output, status, standard error, then what came of it.

TOOL_RAN, TOOL_DENIED = "ran", "denied"


@rows(
    ("event", "stdout", "status", "stderr", "fate", "model_sees"),
    [
        (PRE, "", 0, "", TOOL_RAN, []),
        (PRE, "", 2, "ERROR", TOOL_DENIED, ["ERROR"]),
        (PRE, "", 1, "ERROR", TOOL_RAN, []),
        (PRE, "", 127, "not found", TOOL_RAN, []),
        (PRE, permission("deny", "WHY"), 0, "", TOOL_DENIED, ["WHY"]),
        (PRE, permission("deny", "WHY"), 1, "", TOOL_DENIED, ["WHY"]),
        (PRE, permission("allow"), 2, "ERROR", TOOL_DENIED, ["ERROR"]),
        (PRE, {"decision": "block", "reason": "WHY"}, 0, "", TOOL_DENIED, ["WHY"]),
        (PRE, {"decision": "deny", "reason": "WHY"}, 0, "", TOOL_RAN, []),
        (PRE, specific(updatedInput={"command": "other"}), 0, "", TOOL_RAN, []),
        (PRE, specific(additionalContext="CONTEXT"), 0, "", TOOL_RAN, ["CONTEXT"]),
        (PRE, {"systemMessage": "MESSAGE"}, 0, "", TOOL_RAN, []),
        (PRE, {"continue": False, "stopReason": "WHY"}, 0, "", "ran, then the turn ended", []),
        (PRE, "TEXT", 0, "", TOOL_RAN, []),
        (PRE, '{"decision": nope}', 0, "", TOOL_RAN, []),
        (PRE, {"decision": "block", "reason": "WHY", "colour": "red"}, 0, "", TOOL_DENIED, ["WHY"]),
        (PRE, {"hookSpecificOutput": {"permissionDecision": "deny"}}, 0, "", TOOL_RAN, []),
        ("PostToolUse", "", 2, "ERROR", TOOL_RAN, ["ERROR"]),
        ("PostToolUse", specific("PostToolUse", additionalContext="CONTEXT"), 0, "", TOOL_RAN, ["CONTEXT"]),
        ("PostToolUse", specific("PostToolUse", updatedMCPToolOutput="other"), 0, "", TOOL_RAN, []),
        ("Stop", "", 2, "ERROR", "went on", ["ERROR"]),
        ("Stop", "", 0, "", "stopped", []),
        ("Stop", {"continue": True}, 0, "", "stopped", []),
        ("Stop", specific("Stop", additionalContext="CONTEXT"), 0, "", "went on", ["CONTEXT"]),
        ("UserPromptSubmit", {"decision": "block", "reason": "WHY"}, 0, "", TOOL_DENIED, []),
        ("UserPromptSubmit", "TEXT", 0, "", TOOL_RAN, ["TEXT"]),
        ("SessionStart", specific("SessionStart", additionalContext="CONTEXT"), 0, "", TOOL_RAN, ["CONTEXT"]),
    ],
)  # fmt: skip
def test_what_the_client_was_seen_to_do(event, stdout, status, stderr, fate, model_sees):
    effect = what_happens(event, read(event, stdout, status, stderr, evidence={"tool_name": "Bash"}))

    went = TOOL_DENIED if effect.decision == "deny" else TOOL_RAN
    if event == "Stop":
        went = "went on" if effect.keep_going else "stopped"
    if not effect.continue_:
        went += ", then the turn ended"
    # The reason of a prompt that was turned down goes to the person, the others to the model.
    to_model = effect.reason if (effect.decision == "deny" and event == PRE) or effect.keep_going else ""
    assert went == fate
    assert [text for text in (to_model, *effect.context) if text] == model_sees


def test_a_command_that_was_late_was_let_through_and_one_that_asked_to_block_was_not():
    assert what_happens(PRE, read(PRE, failure=LATE)).decision == "none"
    effect = what_happens(PRE, read(PRE, "", 1, "ERROR", blocks=True))
    assert (effect.decision, effect.reason) == ("deny", f"{FAILED}\nERROR")


def test_a_rewritten_input_replaces_the_whole_input():
    effect = what_happens(PRE, read(PRE, specific(updatedInput={"command": "other"})))

    assert (effect.decision, effect.changes) == ("none", {"tool_input": {"command": "other"}})


# What a hook is told.


def event_of(name: str, **fields: Any) -> Event:
    template = Template(row_of(name), "session-1")
    return make_event(template.row, template.complete({"cwd": "/work", **fields}))


def test_a_hook_is_told_the_event_as_the_client_tells_it():
    told = write(event_of(PRE, tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1", transcript_path="/t"))

    assert told == {
        "session_id": "session-1", "transcript_path": "/t", "cwd": "/work", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1",
    }  # fmt: skip


def test_what_may_be_absent_is_left_out_when_it_is_empty():
    empty: dict[str, Any] = {"permission_mode": "", "agent_id": None, "agent_type": "", "effort": {}, "model": ""}

    assert write(event_of("SessionStart", source="startup", **empty)).keys().isdisjoint(empty)
    told = write(event_of("SessionStart", source="fork", permission_mode="plan", context_tokens=0))
    assert (told["permission_mode"], told["context_tokens"]) == ("plan", 0)


def test_what_is_always_there_stays():
    assert write(event_of("PreCompact", trigger="auto"))["custom_instructions"] is None
    assert write(event_of("Stop"))["stop_hook_active"] is False
    assert write(event_of("SubagentStop"))["agent_id"] == ""


def test_a_hook_is_told_what_the_host_adds_and_nothing_of_the_native_format():
    told = write(event_of(PRE, tool_name="Bash", ticket=7, env_file="/e", hook_type="x", timestamp="now", protocol=1))

    assert told["ticket"] == 7
    assert told.keys().isdisjoint({"env_file", "hook_type", "timestamp", "protocol", "orchestrator_id"})


def test_variables_tell_of_the_session_and_the_effort():
    told = variables(event_of(PRE, effort={"level": "high"}, env_file="/e"))

    assert told == {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "session-1", "CLAUDE_EFFORT": "high"}
    assert "CLAUDE_EFFORT" not in variables(event_of(PRE, effort="high"))


@rows("event", CLIENTS)
def test_the_file_for_variables_is_named_where_the_table_says_so(event):
    assert ("CLAUDE_ENV_FILE" in variables(event_of(event, env_file="/e"))) is row_of(event).claude.env_file


def test_variables_of_the_hosts_telemetry_are_withheld():
    assert claude.withheld_prefixes == ("OTEL_",)


def test_only_a_subagent_has_an_id() -> None:
    fields = {"tool_name": "Bash", "tool_input": {}, "tool_use_id": "1", "session_id": "s", "cwd": "/"}
    told = [
        claude.write(event_of("PreToolUse", **fields, agent_id="main")).get("agent_id"),
        claude.write(event_of("PreToolUse", **fields, agent_id="explorer-1", agent_type="explorer")).get("agent_id"),
    ]

    assert told == [None, "explorer-1"]
