"""What no hook changed comes back to the host as it was, whatever a tool is given and however it is declared."""

import copy
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from interpose import Hooks, modify
from interpose.matching.declared_tools import DeclaredTool, contains, overlap, same_value

keys = st.sampled_from(["cmd", "command", "path", "file_path", "x", "y", ""])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.lists(st.text(), max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
inputs = st.dictionaries(keys, values, max_size=5)
FIELDS = {"cmd": "command", "path": "file_path"}
patterns = st.text(alphabet="ab*", min_size=1, max_size=6)


def hooks_that(change: Any, matcher: str) -> Hooks:
    hooks = Hooks.from_mapping({"tools": {"shell": {"as": "Bash", "fields": FIELDS}}})
    hooks.register("PreToolUse", change, matcher=matcher, inline=True)
    return hooks


def has_both(input: dict[str, Any]) -> bool:
    return any(own in input and declared in input for own, declared in FIELDS.items())


@given(inputs, st.sampled_from(["shell", "Bash"]))
def test_a_hook_that_changes_nothing_leaves_the_input_as_it_is(input: dict[str, Any], matcher: str) -> None:
    before = copy.deepcopy(input)

    for answer in (None, "same"):
        hooks = hooks_that(lambda event, a=answer: a and modify(tool_input=event.tool_input), matcher)
        outcome = hooks.fire_sync("PreToolUse", tool_name="shell", tool_input=input)

        assert same_value(outcome.tool_input, before)
        assert same_value(input, before)
        assert outcome.denied == has_both(input)


@given(inputs, st.sampled_from(["shell", "Bash"]), keys, values)
def test_of_a_changed_input_every_other_field_comes_back_as_it_was(
    input: dict[str, Any], matcher: str, key: str, value: Any
) -> None:
    assume(not has_both(input))
    own_of = {declared: own for own, declared in FIELDS.items()}
    # As the hook sees it: the host's names, or the declared ones.
    assume(key not in (FIELDS if matcher == "Bash" else own_of))
    hooks = hooks_that(lambda event: modify(tool_input={**event.tool_input, key: value}), matcher)

    outcome = hooks.fire_sync("PreToolUse", tool_name="shell", tool_input=input)

    changed = {key, own_of.get(key, key), FIELDS.get(key, key)}
    assume(not outcome.denied)
    assert {name: one for name, one in outcome.tool_input.items() if name not in changed} == {
        name: one for name, one in input.items() if name not in changed
    }
    assert set(outcome.tool_input) - set(input) <= changed


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_words_are_a_line_from_which_the_same_words_are_read(words: list[str]) -> None:
    import shlex

    shown = DeclaredTool(pattern="shell", name="Bash", fields=FIELDS).to_declared({"cmd": words})

    assert shlex.split(shown["command"]) == words


@given(patterns, patterns, st.text(alphabet="ab", max_size=6))
def test_patterns_are_ordered_as_the_names_that_they_match(one: str, other: str, name: str) -> None:
    both = contains(one, name) and contains(other, name)

    if contains(one, other) and contains(other, name):
        assert contains(one, name)
    if both:
        assert overlap(one, other)
