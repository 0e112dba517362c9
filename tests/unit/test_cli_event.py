"""An event as it is given on a command line."""

import io

import pytest

from interpose import BadEvent, UnknownEvent
from interpose.cli.fire.event import EventOptions, read_event, unknown_fields
from interpose.events import TABLE


def event(**options):
    row, fields = read_event(EventOptions(**options))
    return row.name, fields


def test_single_options_fill_fields_of_the_input():
    given = event(
        event="pre:tool", input='{"tool_name": "Read", "session_id": "s"}', tool="Bash",
        tool_input='{"command": "ls"}', agent="main", fields=["permission_mode=plan"],
    )  # fmt: skip

    assert given == ("PreToolUse", {
        "tool_name": "Bash", "session_id": "s", "tool_input": {"command": "ls"}, "agent_id": "main",
        "permission_mode": "plan",
    })  # fmt: skip


@pytest.mark.parametrize("key", ["hook_event_name", "hook_type"])
def test_the_event_may_be_named_by_its_input(key):
    assert event(input=f'{{"{key}": "Stop"}}')[0] == "Stop"


def test_a_recorded_event_can_be_fired_again_without_what_is_made_anew():
    recorded = (
        '{"hook_event_name": "PreToolUse", "hook_type": "PreToolUse", "tool_name": "Bash", "timestamp": "now",'
        ' "protocol": 1, "tool_output": null, "agent_id": null, "orchestrator_id": ""}'
    )

    assert event(input=recorded) == ("PreToolUse", {"tool_name": "Bash", "orchestrator_id": ""})


def test_a_suffix_is_the_subject():
    assert event(event="pre:tool:shell") == ("PreToolUse", {"tool_name": "shell"})


@pytest.mark.parametrize(
    ("name", "pair", "field"),
    [
        ("UserPromptSubmit", "prompt=3", ("prompt", "3")),
        ("UserPromptSubmit", "prompt=a=b", ("prompt", "a=b")),
        ("Stop", "stop_hook_active=true", ("stop_hook_active", True)),
        ("PostToolUse", 'result={"a": 1}', ("tool_response", {"a": 1})),
        ("PostToolUse", "result=plain text", ("tool_response", "plain text")),
        ("Stop", "my_own=[1]", ("my_own", [1])),
    ],
)
def test_a_field_is_text_where_text_belongs_and_json_elsewhere(name, pair, field):
    assert event(event=name, fields=[pair]) == (name, dict([field]))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"event": "Stop", "fields": ["stop_hook_active=perhaps"]}, "--field stop_hook_active: 'perhaps' where true or false is expected"),
        ({"event": "Stop", "fields": ["nonsense"]}, "--field nonsense: not KEY=VALUE (such as --field prompt='good morning')"),
        ({"event": "Stop", "input": "[]"}, "--input: a list where an object with the event's fields is expected"),
        ({"event": "Stop", "input": "@/no/such"}, "--input @/no/such: No such file or directory (check the path)"),
        ({"event": "PreToolUse", "tool_input": "@/no/such"}, "--tool-input: not JSON: line 1, column 1: it does not begin with a JSON document (only --input reads a file; it holds the whole event)"),
        ({"event": "Stop", "input": ""}, "--input is empty (one JSON object is expected)"),
        ({"event": "Stop", "input": '{"a": 1, "a": 2}'}, "--input: not JSON: the key 'a' stands there twice"),
    ],
)  # fmt: skip
def test_a_mistake_says_what_to_do(options, said):
    with pytest.raises(BadEvent) as caught:
        event(**options)

    assert str(caught.value).startswith(said)


def test_without_a_name_the_event_is_asked_for():
    with pytest.raises(UnknownEvent, match="which event"):
        event(input="{}")


def test_an_input_on_standard_input_that_nobody_pipes_in_is_a_mistake(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal())

    with pytest.raises(BadEvent, match="nothing is piped in"):
        event(input="-")


def test_a_field_that_is_nearly_one_of_the_event_is_doubtful_and_one_of_the_hosts_own_is_not():
    given = EventOptions(event="PreToolUse", fields=["tool_nam=Bash", "tool=Bash", "ticket=7"])

    assert list(map(str, unknown_fields(given, TABLE["PreToolUse"]))) == [
        "--field tool_nam is passed on, but PreToolUse has no such field (did you mean tool_name?)"
    ]
