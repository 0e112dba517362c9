"""What is true of every answer, be it an answer or not."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import ALPHABET, fire, json_values, replies, rows, things, words

from interpose import EventSpec, Reply
from interpose.dialects import native
from interpose.dialects.native.near_misses import doubt
from interpose.dialects.reply import write_reply
from interpose.events import TABLE
from interpose.replies import Failure, clean

PRE = TABLE["PreToolUse"]

KEYS = [
    "decision", "permissionDecision", "behavior", "abort", "allowed", "continue", "continue_", "suppressOutput",
    "stopReason", "systemMessage", "modify", "updated_input", "updatedInput", "inject", "async", "async_",
    "asyncTimeout", "hookSpecificOutput", "permissionDecisionReason", "reason", "hookEventName", "interrupt",
    "additionalContext", "updatedToolOutput", "message", "content", "strategy", "tool_input",
]  # fmt: skip

answers = st.recursive(
    things | st.sampled_from(["allow", "deny", "ask", "approve", "block", "defer", "Deny", "PreToolUse", True, False]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS) | words, inner, max_size=4),
    max_leaves=10,
)
"""Anything, and often something that looks like an answer."""

mappings = st.dictionaries(st.sampled_from(KEYS), answers, max_size=5)


def says_allow(value: object) -> bool:
    """Whether there is anything in an answer that an allow could have been read from."""
    if isinstance(value, Mapping):
        return value.get("allowed") is True or any(says_allow(item) for item in value.values())
    return isinstance(value, str) and value in ("allow", "approve")


def specific(**said: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}


DENIES: list[dict[str, Any]] = [
    *({key: word} for key in ("decision", "permissionDecision", "behavior") for word in ("deny", "block")),
    {"decision": {"behavior": "deny"}},
    {"abort": True},
    {"allowed": False},
    specific(permissionDecision="deny"),
    specific(decision={"behavior": "deny"}),
]
ASKS: list[dict[str, Any]] = [
    *({key: word} for key in ("decision", "permissionDecision", "behavior") for word in ("ask", "defer")),
    specific(permissionDecision="ask"),
]


@given(rows, answers)
def test_reading_never_raises(row: EventSpec, answer: object) -> None:
    assert isinstance(native.read(row, answer), (Reply, Failure))


@given(rows, answers)
def test_reading_never_changes_the_answer(row: EventSpec, answer: object) -> None:
    shown = repr(answer)

    native.read(row, answer)

    assert repr(answer) == shown


@given(rows, answers)
def test_an_allow_is_never_read_from_an_answer_that_has_none(row: EventSpec, answer: object) -> None:
    reply = native.read(row, answer)

    if isinstance(reply, Reply) and reply.decision == "allow":
        assert says_allow(answer)
    if isinstance(reply, Reply) and reply.grants:
        assert reply.decision == "allow"


@given(answers)
def test_what_is_no_answer_denies(answer: object) -> None:
    outcome = fire(PRE, [{"handler": lambda event: answer, "on_error": "skip"}])

    if answer is None:
        assert outcome.decision == "none"
    elif not isinstance(answer, Mapping):
        assert outcome.denied
    elif not says_allow(answer):
        assert not outcome.granted
        assert outcome.decision != "allow"


@given(mappings, st.sampled_from(DENIES))
def test_a_deny_is_not_lost_through_rubbish_beside_it(rubbish: dict[str, Any], deny: dict[str, Any]) -> None:
    outcome = fire(PRE, [{"handler": lambda event: {**rubbish, **deny}, "on_error": "skip"}])

    assert outcome.denied


@given(mappings, st.sampled_from(ASKS))
def test_an_ask_is_not_lost_through_rubbish_beside_it(rubbish: dict[str, Any], ask: dict[str, Any]) -> None:
    outcome = fire(PRE, [{"handler": lambda event: {**rubbish, **ask}, "on_error": "skip"}])

    assert outcome.decision in ("ask", "deny")


@given(mappings, st.sampled_from(["continue", "continue_"]))
def test_a_stop_is_not_lost_or_it_has_failed(rubbish: dict[str, Any], key: str) -> None:
    outcome = fire(PRE, [{"handler": lambda event: {**rubbish, key: False}, "on_error": "skip"}])

    assert outcome.denied or outcome.results[0].status == "failed"


@given(mappings)
def test_a_guards_answer_that_cannot_be_read_denies(answer: dict[str, Any]) -> None:
    outcome = fire(PRE, [{"handler": lambda event: answer, "on_error": "abort"}])

    if outcome.results[0].status == "failed":
        assert not outcome.allowed
        assert outcome.results[0].error is not None
    else:
        assert outcome.results[0].status == "ok"


@given(rows, st.data())
def test_a_reply_is_read_as_itself(row: EventSpec, data: st.DataObject) -> None:
    reply = data.draw(replies(row))

    assert native.read(row, reply) is reply


@given(st.data())
def test_saying_both_is_as_strict_as_the_stricter_and_loses_nothing(data: st.DataObject) -> None:
    one, other = data.draw(replies(PRE)), data.draw(replies(PRE))

    both = one + other

    order = [None, "allow", "ask", "deny"]
    assert order.index(both.decision) == max(order.index(one.decision), order.index(other.decision))
    assert both.context == one.context + other.context
    assert both.inject == one.inject + other.inject
    assert both.messages == one.messages + other.messages
    assert set(both.changes) == set(one.changes) | set(other.changes)
    assert both.suppress == (one.suppress or other.suppress)
    assert (both.continue_ is False) == (one.continue_ is False or other.continue_ is False)


@given(st.data())
def test_saying_both_grants_only_if_nobody_is_stricter(data: st.DataObject) -> None:
    one, other = data.draw(replies(PRE)), data.draw(replies(PRE))

    outcome = fire(PRE, [{"handler": lambda event: one + other}])

    if "deny" in (one.decision, other.decision) or "ask" in (one.decision, other.decision):
        assert not outcome.granted


# Text that is safe to show.

any_text = st.text(ALPHABET, max_size=30) | st.text("\x1b[]0;m\x07\\\r\n\t\u202e\ud800a", max_size=30)


@given(any_text)
def test_clean_text_has_no_control_characters_and_can_be_encoded(text: str) -> None:
    shown = clean(text)

    shown.encode("utf-8")
    assert not [mark for mark in shown if (mark < " " and mark not in "\n\t") or "\x7f" <= mark <= "\x9f"]
    assert clean(shown) == shown


@given(st.text("abc äöü\n\t.,", max_size=30))
def test_clean_leaves_ordinary_text_alone(text: str) -> None:
    assert clean(text) == text


@given(json_values)
def test_whatever_stands_in_extra_reaches_the_host(value: Any) -> None:
    outcome = fire(PRE, [{"handler": lambda event: {"x-mine": value}}])

    assert outcome.extra == {"x-mine": value}


# Keys that are nearly those that decide.

REFUSING: dict[str, Any] = {
    "decision": "deny",
    "permissionDecision": "deny",
    "behavior": "deny",
    "abort": True,
    "allowed": False,
    "continue": False,
    "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"},
}
LETTERS = st.sampled_from(
    "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_- .:\u00e9\u00df\ufb01\u0435\u03bf\u200b\u4e2d"
) | st.characters(exclude_categories=["Cs"])


@st.composite
def misspelt(draw: st.DrawFn, key: str) -> str:
    """A key with one letter inserted, left out, replaced or swapped, in any case, with separators anywhere."""
    at = draw(st.integers(0, len(key) - 1))
    match draw(st.sampled_from(["insert", "leave out", "replace", "swap", "spell"])):
        case "insert":
            key = key[:at] + draw(LETTERS) + key[at:]
        case "leave out":
            key = key[:at] + key[at + 1 :]
        case "replace":
            key = key[:at] + draw(LETTERS) + key[at + 1 :]
        case "swap":
            key = key[:at] + key[at : at + 2][::-1] + key[at + 2 :]
        case _:
            pass
    key = draw(st.sampled_from([key, key.upper(), key.lower(), key.capitalize(), key.swapcase()]))
    letters = [draw(st.sampled_from(["", "", "", "_", "-", " ", "\u200b"])) + letter for letter in key]
    return "".join(letters)


@given(st.sampled_from(sorted(REFUSING)), st.booleans(), st.data())
def test_no_misspelling_of_a_deciding_key_lets_a_refusal_through(key: str, inside: bool, data: st.DataObject) -> None:
    answer = {data.draw(misspelt(key).filter(lambda key: not key.startswith("x-"))): REFUSING[key]}
    said = specific(**answer) if inside else answer

    assert fire(PRE, [{"handler": lambda event: said, "on_error": "skip"}]).denied


WORDS_FOR_NO = ["deny", "denied", "block", "blocked", "reject", "rejected"]
WORDS_THAT_ASK = ["ok", "approved", "action", "status", "result", "verdict"]
spelt = st.sampled_from([str, str.upper, str.capitalize])


@given(st.sampled_from(WORDS_FOR_NO) | st.sampled_from(WORDS_THAT_ASK), spelt, st.booleans(), mappings, st.data())
def test_a_word_that_refuses_is_not_lost_through_rubbish_beside_it(
    word: str, spell: Any, inside: bool, rubbish: dict[str, Any], data: st.DataObject
) -> None:
    no = True if word in WORDS_FOR_NO else data.draw(st.sampled_from([False, "deny", "block", "denied", "rejected"]))
    answer = {spell(word): no}
    said = {**rubbish, **(specific(**answer) if inside else answer)}

    assert fire(PRE, [{"handler": lambda event: said, "on_error": "skip"}]).denied


@given(st.dictionaries(words, json_values, min_size=1, max_size=3))
def test_a_guard_that_says_only_what_is_not_known_denies(answer: dict[str, Any]) -> None:
    outcome = fire(PRE, [{"handler": lambda event: answer, "on_error": "abort"}])

    unknown = [
        key for key in answer if key not in KEYS and not key.startswith("x-") and key not in ("extra", "messages")
    ]
    assert outcome.denied or not unknown


@given(rows, st.data())
def test_a_native_reply_of_any_outcome_is_known_to_a_guard_that_reads_it(row: EventSpec, data: st.DataObject) -> None:
    said = data.draw(replies(row))
    outcome = fire(row, [{"handler": lambda event: said}])

    body = write_reply("native", outcome, outcome.input).body
    read = native.read(row, body, guard=True)

    assert isinstance(read, Reply), (body, read)
    assert not [wish for wish in read.ignored if "not known" in wish]


@given(st.text(max_size=40), answers)
def test_what_is_said_about_a_key_is_text_and_never_raises(key: str, value: object) -> None:
    assert isinstance(doubt(key, value), str)
