"""The Claude dialect: exit status, standard output and failures decide as they do in Claude Code."""

import json

from tests.tables import rows
from tests.unit.claude_answers import (
    ALLOWING,
    CLIENTS,
    DENYING,
    FAILED,
    PRE,
    failure,
    permission,
    read,
    reply,
    row_of,
    specific,
    what_happens,
)

from interpose import Reply
from interpose.dialects.claude import answers
from interpose.replies import Failure

# Exit status and standard output, for an event that can be denied.

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
