"""What a hook gets is its own: copies share nothing that can be changed."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import json_objects, scalars, words

from interpose import Hooks, modify
from interpose.runtime.copies import copied

hashable = st.integers() | words | st.tuples(st.integers(), words)
values = st.recursive(
    scalars | st.binary(max_size=4) | st.sets(hashable, max_size=3) | st.frozensets(hashable, max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.tuples(inner, inner)
        | st.builds(bytearray, st.binary(max_size=3))
    ),
    max_leaves=12,
)
"""What a host may put into an event, and more than JSON can hold."""


def changeable(value: Any) -> Iterator[int]:
    """The identity of everything in a value that can be changed in place."""
    if isinstance(value, dict):
        yield id(value)
        for item in value.values():
            yield from changeable(item)
    elif isinstance(value, (list, tuple)):
        if isinstance(value, list):
            yield id(value)
        for item in value:
            yield from changeable(item)
    elif isinstance(value, (set, bytearray)):
        yield id(value)


def spoil(value: Any) -> None:
    """Change everything that can be changed in place."""
    if isinstance(value, dict):
        for item in list(value.values()):
            spoil(item)
        dict.clear(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            spoil(item)
        if isinstance(value, list):
            value.clear()
    elif isinstance(value, (set, bytearray)):
        value.clear()


@given(values)
def test_a_copy_is_equal_and_shares_nothing_changeable(value: Any) -> None:
    copy = copied(value)

    assert copy == value
    assert type(copy) is type(value)
    assert not set(changeable(copy)) & set(changeable(value))


@given(st.dictionaries(words, values, max_size=3), st.booleans())
def test_no_hook_can_change_what_the_host_gave(given_: dict[str, Any], inline: bool) -> None:
    before, seen = deepcopy(given_), []
    hooks = Hooks()
    hooks.register("PreToolUse", spoil, inline=inline)
    hooks.register("PreToolUse", lambda event: seen.append(deepcopy(event.tool_input)), inline=inline)

    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input=given_)

    assert given_ == before
    assert outcome.tool_input == before
    assert seen == [before]


@given(json_objects, json_objects)
def test_no_hook_can_change_what_it_has_handed_over(given_: dict[str, Any], new: dict[str, Any]) -> None:
    before = deepcopy(new)
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: modify(tool_input=new), inline=True)
    hooks.register("PreToolUse", lambda event: spoil([event, new]), inline=True)

    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input=given_)

    assert outcome.tool_input == before


@given(json_objects)
def test_an_event_reads_the_same_as_attributes_and_as_a_mapping(given_: dict[str, Any]) -> None:
    seen: list[Any] = []
    hooks = Hooks()
    hooks.register("PreToolUse", seen.append, inline=True)

    hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input=given_, extra_field=given_)

    [event] = seen
    for name in event:
        assert event[name] == getattr(event, name) == event.get(name)
    assert dict(event)["tool_input"] == event.args == event["args"] == given_
    assert event.extra_field == given_
