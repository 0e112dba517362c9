"""deny() and its kin, and the text that may be shown of what hooks say."""

import time
from typing import Any, cast

import pytest

from interpose import Reply, allow, ask, context, deny, inject, modify
from interpose.model import Injection
from interpose.replies import Failure, HookFailed, clean


def test_deny_ask_and_allow_decide_with_a_reason() -> None:
    assert deny("no") == Reply(decision="deny", reason="no")
    assert ask("sure?") == Reply(decision="ask", reason="sure?")
    assert allow("fine") == Reply(decision="allow", grants=True, reason="fine")


def test_only_allow_grants() -> None:
    assert [reply.grants for reply in (deny(), ask(), allow(), modify(a=1), context("a"))] == [
        False, False, True, False, False,
    ]  # fmt: skip


def test_modify_takes_names_and_a_mapping() -> None:
    assert modify(prompt="a").changes == {"prompt": "a"}
    assert modify({"tool_input": {}}, prompt="a").changes == {"tool_input": {}, "prompt": "a"}


def test_context_takes_several_texts() -> None:
    assert context("a", "b").context == ("a", "b")


def test_inject_names_its_channel() -> None:
    assert inject("a").inject == (Injection("a", "tool_result"),)
    assert inject("a", "user_message").inject == (Injection("a", "user_message"),)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: deny(cast(Any, 5)), TypeError),
        (lambda: ask(cast(Any, None)), TypeError),
        (lambda: allow(cast(Any, b"yes")), TypeError),
        (lambda: context("a", cast(Any, 5)), TypeError),
        (lambda: inject(cast(Any, 5)), TypeError),
        (lambda: inject("a", "telepathy"), ValueError),
        (lambda: modify(cast(Any, ["tool_input"])), TypeError),
    ],
    ids=["deny", "ask", "allow", "context", "inject", "strategy", "modify"],
)
def test_a_reply_that_makes_no_sense_is_refused_where_it_is_made(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_a_reply_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        deny("no").decision = "allow"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("one", "other", "decision"),
    [
        (allow(), deny(), "deny"),
        (deny(), allow(), "deny"),
        (ask(), allow(), "ask"),
        (ask(), deny(), "deny"),
        (modify(a=1), allow(), "allow"),
        (modify(a=1), context("b"), None),
    ],
)
def test_of_two_replies_in_one_the_stricter_decision_holds(one: Reply, other: Reply, decision: str | None) -> None:
    assert (one + other).decision == decision


def test_the_reason_of_the_stricter_comes_with_it() -> None:
    assert (allow("fine") + deny("no")).reason == "no"
    assert (allow("fine") + deny()).reason == "fine"


def test_everything_else_is_said_too() -> None:
    both = modify(a=1, b=1) + modify(b=2) + context("x") + inject("y") + Reply(continue_=False, stop_reason="z")

    assert both.changes == {"a": 1, "b": 2}
    assert both.context == ("x",)
    assert both.inject == (Injection("y"),)
    assert (both.continue_, both.stop_reason) == (False, "z")


@pytest.mark.parametrize(
    "said",
    [
        deny("no"), allow(), modify(a=1), context("x"), inject("y"), Reply(messages=("m",)), Reply(suppress=True), Reply(continue_=True),
        Reply(halt=True, stop_reason="z"), Reply(interrupt=True), Reply(keep_going=True), Reply(extra={"a": 1}), Reply(ignored=("b",)),
    ],
    ids=repr,
)  # fmt: skip
def test_nothing_that_was_said_is_lost_beside_nothing(said: Reply) -> None:
    assert said + Reply() == said
    assert Reply() + said == said


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [(None, None, None), (None, True, True), (True, True, True), (True, False, False), (False, None, False)],
)
def test_to_stop_outweighs_to_go_on(one: bool | None, other: bool | None, both: bool | None) -> None:
    assert (Reply(continue_=one) + Reply(continue_=other)).continue_ is both


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import_failed", "unloadable"),
        ("bad_handler", "unloadable"),
        ("spawn_not_found", "unloadable"),
        ("bad_decision", "misstated"),
        ("bad_reply", "misstated"),
        ("timeout", "late"),
        ("hook_crash", "broken"),
        ("bad_output", "broken"),
        ("payload", "unasked"),
        ("cwd_missing", "unasked"),
        ("spawn_too_big", "unasked"),
        ("something else", "broken"),
    ],
)
def test_a_failure_belongs_to_one_line_of_the_table(code: str, kind: str) -> None:
    assert Failure(code, "…").kind == kind


def test_the_error_of_a_failure_is_its_text_bounded_and_safe_to_show() -> None:
    error = Failure("hook_crash", "a\x1b[2Jb" + "x" * 5000, trace="t\x00" * 10_000).error

    assert error.startswith("abxxx")
    assert error.code == "hook_crash"
    assert len(error) <= 2000
    assert len(error.trace) <= 8000
    assert "\x00" not in error.trace


def test_a_failure_can_be_raised_inside_the_engine() -> None:
    error = HookFailed("payload", "no copy", evidence={"a": 1})

    assert (error.failure.code, error.failure.text, error.failure.evidence) == ("payload", "no copy", {"a": 1})
    assert error.failure == Failure("payload", "no copy", evidence={"a": 1})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("dos\r\nlines", "dos\nlines"),
        ("nul\x00", "nul"),
        ("clear\x1b[2J\x1b[Hscreen", "clearscreen"),
        ("colour\x1b[1;31mred\x1b[0m", "colourred"),
        ("title\x1b]0;owned\x07end", "titleend"),
        ("clipboard\x1b]52;c;aGk=\x1b\\end", "clipboardend"),
        ("eight bits\x9b31mred", "eight bits31mred"),
        ("backwards\u202egnp", "backwardsgnp"),
        ("isolate\u2066x\u2069", "isolatex"),
        ("separator\u2028x", "separatorx"),
        ("surrogate\ud800", "surrogate?"),
        ("ümläut 你好 😀", "ümläut 你好 😀"),
        ("", ""),
    ],
)
def test_clean_leaves_only_what_is_safe_to_show(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_clean_takes_time_in_proportion_to_the_text() -> None:
    began = time.process_time()

    for nasty in ("\x1b]" * 200_000, "\x1b[0" * 200_000, "\x1b[" + "0" * 500_000, "\u202e" * 500_000):
        assert len(clean(nasty)) <= len(nasty)

    assert time.process_time() - began < 5
