"""The Claude dialect: texts that are too long or not strict JSON, and what a callable returns."""

from collections import UserDict
from typing import Any

from tests.tables import rows
from tests.unit.claude_answers import DENYING, FAILED, PRE, failure, reply, row_of, specific, what_happens

from interpose import Reply, deny
from interpose.dialects import claude
from interpose.dialects.claude import LONGEST_TEXT
from interpose.replies import Failure

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
