"""What is true of every matcher and every ``if`` rule: refused with a reason, or a predicate on everything."""

import fnmatch
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.properties.strategies import ALPHABET, json_values, texts

from interpose import BadHook, Hooks
from interpose.matching import compile_condition, compile_matcher

names = st.text(ALPHABET, max_size=20) | st.sampled_from(
    ["Bash", "mcp__server__tool", "Edit", "NotebookEdit", "", "*", "a|b", "\ud800", "\n"]
)
patterns = st.one_of(
    st.text(ALPHABET, max_size=20),
    st.text("ab*?[]!-|. ", max_size=12),
    st.text(ALPHABET, max_size=12).map("re:{}".format),
    st.text("ab.*+?()[]{}|^$\\123,", max_size=12).map("re:{}".format),
)
rules = st.one_of(
    st.text(ALPHABET, max_size=20),
    st.text("ab*?[]{}!(),/~.:\\ ", max_size=14).map("Write({})".format),
    st.text(ALPHABET, max_size=14).map("Write({})".format),
    st.sampled_from(
        [
            "Bash(git push *)",
            "Write(src/**)",
            "Edit",
            "*(x)",
            "WebFetch(domain:example.com)",
            "Write(//etc/**)",
            "Write({a..z}{1..99}{1..99})",
        ]
    ),
)
inputs = st.one_of(
    json_values,
    st.dictionaries(
        st.sampled_from(["command", "file_path", "notebook_path", "path", "url", "query", "pattern", "prompt"]),
        json_values
        | st.sampled_from(["/a/b.py", "src/x", "../x", "ls && rm -rf /", "https://example.com/x", "https://["]),
        max_size=3,
    ),
)


@given(patterns, st.lists(names, max_size=5))
def test_any_text_is_refused_as_a_matcher_or_judges_every_name(text: str, subjects: list[str]) -> None:
    try:
        matches = compile_matcher(text)
    except BadHook:
        return

    for subject in subjects:
        assert matches is None or isinstance(matches(subject), bool)


@given(st.text("ab*?[]!-|. ", max_size=12), names)
def test_a_matcher_is_names_and_globs_separated_by_bars(text: str, subject: str) -> None:
    parts = [part.strip() for part in text.split("|") if part.strip()]
    assume(parts and "re:" not in text)

    matches = compile_matcher(text)

    expected = any(fnmatch.fnmatchcase(subject, part) for part in parts)
    assert (matches is None or matches(subject)) is expected


@given(st.text([mark for mark in ALPHABET if mark not in "*?[|"], min_size=1, max_size=12), names)
def test_a_name_matches_itself_and_no_other(name: str, other: str) -> None:
    assume(name.strip() and not name.startswith("re:"))
    matches = compile_matcher(name)

    assert matches is not None
    assert matches(name.strip())
    assert matches(other) is (other == name.strip())


@given(rules, inputs, names, texts)
def test_any_text_is_refused_as_a_rule_or_judges_every_input(rule: str, given_: Any, tool: str, cwd: str) -> None:
    try:
        judge = compile_condition(rule)
    except BadHook:
        return

    if judge is not None:
        fields: Mapping[str, Any] = {"tool_name": tool, "tool_input": given_, "cwd": cwd}
        assert isinstance(judge(fields), bool)
        assert isinstance(judge({}), bool)


@given(rules, inputs, names)
def test_a_rule_at_a_guard_never_raises_and_a_guard_that_did_not_look_says_so(
    rule: str, given_: Any, tool: str
) -> None:
    hooks = Hooks()
    ran: list[int] = []
    try:
        hooks.register("PreToolUse", lambda event: ran.append(1), if_=rule, on_error="abort", inline=True)
    except BadHook:
        return

    [result] = hooks.fire_sync("PreToolUse", tool_name=tool, tool_input=given_).results

    assert result.status == ("ok" if ran else "skipped")


@given(inputs, names)
def test_a_rule_that_names_a_tool_alone_holds_for_every_input_of_it(given_: Any, tool: str) -> None:
    judge = compile_condition("Bash")

    assert judge is not None
    assert judge({"tool_name": "Bash", "tool_input": given_})
    assert judge({"tool_name": tool, "tool_input": given_}) is (tool in ("", "Bash"))


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.lists(texts), st.binary()))
def test_what_is_no_text_is_refused_as_a_matcher_and_as_a_rule(value: Any) -> None:
    assume(value is not None)
    hooks = Hooks()
    is_list_of_texts = isinstance(value, list) and value

    for option in ("matcher",) if is_list_of_texts else ("matcher", "if_"):
        with pytest.raises(BadHook):
            hooks.register("PreToolUse", lambda event: None, **{option: value})
