"""Events as hooks see them: their own copy, readable in two ways."""

import copy
import os
import pickle
import signal
from pathlib import Path
from typing import Any

import pytest

from interpose import Event, Hooks
from interpose.event import event_type
from interpose.events import TABLE, EventSpec
from interpose.model import Template
from interpose.runtime.copies import copied, differ, plain_copy


def event(name: str = "PreToolUse", **fields: Any) -> Event:
    """The event that a hook is told of."""
    seen: list[Event] = []
    hooks = Hooks(session_id="s1")
    hooks.register(name, seen.append, inline=True)
    hooks.fire_sync(name, **fields)
    return seen[0]


@pytest.mark.parametrize(
    "value",
    [None, True, 5, 1.5, "a", b"a", [], {}, [1, [2, {"a": [3]}]], {"a": {"b": [1]}}, (1, [2]), {1, 2}, {"a": (1, {2})}],
    ids=repr,
)
def test_a_copy_is_equal(value: Any) -> None:
    assert copied(value) == value
    assert type(copied(value)) is type(value)


def test_a_copy_shares_no_list_dict_or_set_with_the_original() -> None:
    original = {"list": [[1]], "dict": {"in": {}}, "set": {1}, "tuple": ([1],)}

    made = copied(original)
    made["list"][0].append(2)
    made["dict"]["in"]["x"] = 1
    made["set"].add(2)
    made["tuple"][0].append(2)

    assert original == {"list": [[1]], "dict": {"in": {}}, "set": {1}, "tuple": ([1],)}


def test_a_ctrl_c_while_values_are_compared_reaches_the_host() -> None:
    class Interrupted:
        def __ne__(self, other: object) -> bool:
            signal.raise_signal(signal.SIGINT)
            return False

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            differ(Interrupted(), 1)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_plain_copy_has_none_of_the_methods_of_a_subclass() -> None:
    class Text(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "another"

    class Many(list[Any]):
        def __iter__(self) -> Any:
            return iter(["another"])

    class Named(dict[Any, Any]):
        def items(self) -> Any:
            return {"another": 1}.items()

    made = plain_copy(Named({Text("a"): Many([Text("b"), {1}, None])}))

    [(key, [text, numbers, nothing])] = made.items()
    assert (made, key, text, numbers, nothing) == ({"a": ["b", {1}, None]}, "a", "b", {1}, None)
    assert [type(one) for one in (made, key, made["a"], text)] == [dict, str, list, str]


def test_a_field_reads_as_an_attribute_and_as_an_item() -> None:
    told = event(tool_name="Bash", tool_input={"command": "ls"}, mine=5)

    assert told.tool_name == told["tool_name"] == told.get("tool_name") == "Bash"
    assert told.mine == told["mine"] == 5


def test_the_point_words_read_as_the_fields_they_stand_for() -> None:
    told = event("PostToolUse", tool_name="Bash", tool_input={"a": 1}, tool_response="out")

    assert (told.tool, told.args, told.result) == ("Bash", {"a": 1}, "out")
    assert (told["tool"], told["args"], told["result"]) == ("Bash", {"a": 1}, "out")
    assert told.get("tool") == "Bash"


def test_a_field_that_may_be_absent_reads_as_nothing() -> None:
    told = event()

    assert told.permission_mode is None
    assert told.get("permission_mode", "default") == "default"
    assert "permission_mode" not in told
    with pytest.raises(KeyError):
        told["permission_mode"]


def test_a_field_that_no_row_knows_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(AttributeError, match=r"PreToolUse has no field 'tol_name'; it has .*tool_name"):
        _ = event().tol_name
    with pytest.raises(KeyError):
        event()["tol_name"]
    assert event().get("tol_name") is None


def test_always_present_fields_are_there_although_the_host_gave_none() -> None:
    told = event()

    assert told.session_id == "s1"
    assert told.hook_event_name == "PreToolUse"
    assert told.cwd == os.getcwd()
    assert told.tool_name == ""
    assert told.tool_input == {}
    assert told.tool_use_id.startswith("toolu_")


def test_a_fresh_tool_use_id_is_the_same_for_all_hooks_of_a_firing_and_for_the_outcome() -> None:
    ids: list[str] = []
    hooks = Hooks()
    for _ in range(3):
        hooks.register("PreToolUse", lambda told: ids.append(told.tool_use_id), inline=True)

    outcome = hooks.fire_sync("PreToolUse")
    hooks.fire_sync("PreToolUse")

    assert set(ids[:3]) == {outcome.tool_use_id}
    assert len(set(ids)) == 2


def test_what_the_host_gives_is_kept_and_the_events_name_is_not_for_the_host_to_say() -> None:
    told = event(session_id="mine", cwd="/elsewhere", tool_use_id="t1", hook_event_name="Other")

    assert (told.session_id, told.cwd, told.tool_use_id) == ("mine", "/elsewhere", "t1")
    assert told.hook_event_name == "PreToolUse"


def test_a_directory_that_was_removed_reads_as_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert event().cwd == ""


def test_an_event_is_a_dict_in_every_way_in_which_one_is_read() -> None:
    told = event(tool_name="Bash", tool_use_id="t1", cwd="/x")
    plain = {name: told[name] for name in told}

    assert isinstance(told, dict)
    assert dict(told) == plain == {**told} == told.copy() == dict(told.items())
    assert told == plain
    assert len(told) == len(plain)
    assert list(told.keys()) == list(plain)
    assert list(told.values()) == list(plain.values())
    assert ("cwd" in told, "nothing" in told) == (True, False)
    assert copy.deepcopy(told) == plain
    assert pickle.loads(pickle.dumps(told)) == plain


@pytest.mark.parametrize("read", [dict, list, len, lambda told: {**told}, lambda told: dict(told.items()), repr])
def test_what_is_filled_in_when_read_is_there_in_whatever_way_the_event_is_read_first(read: Any) -> None:
    told = event(tool_name="Bash")

    shown = read(told)

    assert set(told) >= {"cwd", "tool_use_id"}
    if isinstance(shown, dict):
        assert {"cwd", "tool_use_id"} <= set(shown)
    elif isinstance(shown, str):
        assert "cwd=" in shown


def test_a_field_that_is_called_like_a_method_of_dict_reads_as_an_item_and_leaves_the_method() -> None:
    told: list[Event] = []
    hooks = Hooks()
    hooks.add_event(EventSpec("basket", "when it is full", fields="items"))
    hooks.register("basket", told.append)

    hooks.fire_sync("basket", items="two apples")

    assert (told[0]["items"], dict(told[0].items())["items"]) == ("two apples", "two apples")


def test_events_of_a_row_have_one_class_and_no_attributes_but_their_fields() -> None:
    told = event()

    assert type(told) is type(event()) is event_type(TABLE["PreToolUse"])
    for name in ("tool_name", "nonsense"):
        with pytest.raises(AttributeError):
            setattr(told, name, "Bash")


def test_an_event_shows_itself_by_its_row_and_fields() -> None:
    assert repr(event(tool_name="Bash")).startswith("PreToolUse(")


def test_a_template_completes_what_is_given() -> None:
    template = Template(TABLE["pre:agent:spawn"], "s1")

    one, other = template.complete({"agent": "a"}), template.complete({})

    assert one["agent"] == "a"
    assert one["config"] == {}
    assert one["config"] is not other["config"]
    assert one["session_id"] == "s1"
    assert one["hook_event_name"] == "pre:agent:spawn"
