"""The contract on events: the table, its names, its fields, and what a hook may do at each row."""

import json
import os
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from tests.conformance.scenarios import ASYNC, NO_LOOP, SILENCE, SYNC, at, fired, play, scenario, table
from tests.conformance.wishes import WISHES, effect

from interpose import BadEvent, EventSpec, Hooks, UnknownEvent, allow, deny, modify

# As it stands in the contract; PermissionRequest's change has a test of its own, since it counts only with an allow.
TABLE = """
PreToolUse          | tool_name         | deny, ask, allow, modify tool_input, context
PostToolUse         | tool_name         | modify tool_response, inject, suppress, context
PostToolUseFailure  | tool_name         | modify error, context
PermissionRequest   | tool_name         | deny, allow, interrupt
UserPromptSubmit    | –                 | deny, context
Stop                | –                 | keep going, context
SubagentStop        | agent_type        | keep going, context
SubagentStart       | agent_type        | context
SessionStart        | source            | context
SessionEnd          | reason            | –
Setup               | trigger           | context
PreCompact          | trigger           | deny, modify custom_instructions, context
Notification        | notification_type | context
TeammateIdle        | –                 | keep going, context
TaskCompleted       | –                 | deny, context
pre:message         | –                 | deny, modify prompt, modify tools
post:message        | –                 | modify output
pre:agent:spawn     | agent             | deny, modify config
pre:agent:handoff   | to_agent          | deny, modify config
post:agent:complete | agent             | –
pre:session:phase   | to_phase          | deny
post:session:phase  | to_phase          | –
pre:git:write       | path              | deny, modify content
post:git:write      | path              | –
pre:view:render     | view              | modify data
"""

ROWS = [
    (event, None if subject == "–" else subject, {right.strip() for right in rights.split(",")} - {"–"})
    for event, subject, rights in ([cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines())
]

# What Claude Code has added since: a host can fire them, a configuration that names them loads.
ADDED = (
    "PostToolBatch", "UserPromptExpansion", "StopFailure", "PostCompact", "PreModelSwitch", "PostModelSwitch",
    "PermissionDenied", "TaskCreated", "Elicitation", "ElicitationResult", "ConfigChange", "WorktreeCreate",
    "WorktreeRemove", "InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded", "MessageDisplay",
)  # fmt: skip


def expected(event: str, rights: set[str], wish: str) -> dict[str, Any]:
    """Return the whole effect of one wish at one row."""
    if event == "TeammateIdle" and wish == "stop":
        return {"keep_going": True, "reason": "enough"}  # not to be idle
    return effect(wish, rights, continue_counts=event in ("Stop", "SubagentStop"))


@pytest.mark.parametrize(("event", "rights"), [pytest.param(event, rights, id=event) for event, _, rights in ROWS])
def test_a_wish_has_its_effect_where_the_row_grants_it_and_is_reported_where_it_does_not(event, rights):
    cases = [(wish, style) for wish in WISHES for style in (ASYNC, NO_LOOP)]

    played = {case: play(at(event), [WISHES[case[0]]], case[1]).effect for case in cases}

    assert {case: {name: effect[name] for name in SILENCE} for case, effect in played.items()} == {
        case: SILENCE | expected(event, rights, case[0]) for case in cases
    }


@table(
    scenario("", "PermissionRequest: a change counts together with an allow", at("PermissionRequest"),
             [allow("fine") + modify(tool_input={"a": 1})], decision="allow", granted=True, reason="fine",
             changed={"tool_input": {"a": 1}}),
    scenario("", "PermissionRequest: an interrupt counts together with a deny", at("PermissionRequest"),
             [{"decision": {"behavior": "deny", "interrupt": True}}], decision="deny", interrupt=True),
    scenario("", "elsewhere an interrupt has no effect and is reported", at("PreToolUse"),
             [{"decision": {"behavior": "deny", "interrupt": True}}], decision="deny",
             ignored=[("first", "interrupt")]),
    scenario("", "an unknown field cannot be modified", at("PreToolUse"), [modify(nonsense=1)],
             ignored=[("first", "modify nonsense")]),
    scenario("", "PreCompact: custom_instructions of an event-specific output (X-31)", at("PreCompact"),
             [{"hookSpecificOutput": {"hookEventName": "PreCompact", "custom_instructions": "keep the plan"}}],
             changed={"custom_instructions": "keep the plan"}),
    scenario("", "the special outputs of newer events pass through extra", at("WorktreeCreate", name="w"),
             [{"worktreePath": "/w"}], extra={"worktreePath": "/w"}),
)  # fmt: skip
def test_wishes_that_depend_on_another(scenario, style):
    assert scenario.play(style) == scenario.effect


# ----------------------------------------------------------------------------------------------------------------
# Names and matchers


def test_every_row_of_the_contract_is_in_the_table_and_nothing_else_is():
    table = Hooks().events

    assert set(table) == {event for event, _, _ in ROWS} | set(ADDED)
    assert {event for event, row in table.items() if row.claude_only} == set(ADDED)


def test_the_only_aliases_are_those_of_the_tool_points():
    table = Hooks().events

    aliases = {spelling: table[spelling].name for spelling in table.spellings() if table[spelling].name != spelling}

    assert aliases == {"pre:tool": "PreToolUse", "post:tool": "PostToolUse"}


@pytest.mark.parametrize(("registered", "fired"), [("pre:tool", "PreToolUse"), ("PreToolUse", "pre:tool")])
def test_an_alias_is_the_same_event(registered, fired):
    hooks = Hooks()
    events: list[Any] = []
    hooks.register(registered, events.append)

    outcome = hooks.fire_sync(fired, tool="shell")

    assert [event.hook_event_name for event in events] == ["PreToolUse"]
    assert outcome.event == "PreToolUse"


@pytest.mark.parametrize(("event", "subject"), [(event, subject) for event, subject, _ in ROWS if subject])
def test_a_matcher_is_compared_with_the_subject_of_its_row(event, subject):
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register(event, lambda event: calls.append("option"), matcher="this")
    hooks.register(f"{event}:this", lambda event: calls.append("suffix"))
    hooks.register(event, lambda event: calls.append("another"), matcher="that")

    hooks.fire_sync(event, **{subject: "this"})

    assert calls == ["option", "suffix"]


@pytest.mark.parametrize("event", [event for event, subject, _ in ROWS if not subject])
def test_where_there_is_no_subject_a_matcher_is_refused(event):
    with pytest.raises(ValueError, match="nothing that a matcher could be compared with"):
        Hooks().register(event, lambda event: None, matcher="this")
    with pytest.raises(UnknownEvent):
        Hooks().register(f"{event}:this", lambda event: None)


def test_the_points_suffix_works_on_the_alias():
    """C-16"""
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register("pre:tool:shell", lambda event: calls.append(event.tool))

    hooks.fire_sync("pre:tool", tool="shell")
    hooks.fire_sync("pre:tool", tool="editor")

    assert calls == ["shell"]


@pytest.mark.parametrize("event", ADDED)
def test_newer_events_can_be_configured_and_fired(event):
    calls: list[Any] = []
    hooks = Hooks.from_mapping({"hooks": {event: [{"handler": calls.append}]}})

    assert hooks.fire_sync(event).event == event
    assert len(calls) == 1


def test_a_host_adds_a_row():
    hooks = Hooks()
    hooks.add_event(EventSpec("pre:deploy", "before a deployment", subject="target", can="deny", modifies="version",
                        fields="target version"))  # fmt: skip
    hooks.register("pre:deploy:production", lambda event: deny(f"not {event.version}"))

    assert hooks.fire_sync("pre:deploy", target="production", version="1.2").reason == "not 1.2"
    assert hooks.fire_sync("pre:deploy", target="staging", version="1.2").allowed
    with pytest.raises(UnknownEvent):
        Hooks().fire_sync("pre:deploy")


def test_a_row_cannot_be_added_twice_or_with_rights_that_there_are_not():
    with pytest.raises(BadEvent):
        Hooks().add_event(EventSpec("Stop", "again"))
    with pytest.raises(BadEvent):
        EventSpec("pre:deploy", "before a deployment", can="veto")


# ----------------------------------------------------------------------------------------------------------------
# Fields


def test_the_point_words_work_on_the_event_in_modify_and_on_the_outcome():
    read: list[Any] = []

    def before(event):
        read.append((event.tool, event["tool"], event.get("tool"), event.args, event["args"]))
        return {"modify": {"args": {"changed": True}}}

    def after(event):
        read.append((event.tool, event.args, event.result, event["result"]))
        return {"modify": {"result": "changed"}}

    hooks = Hooks()
    hooks.register("pre:tool", before)
    hooks.register("post:tool", after)
    first = hooks.fire_sync("pre:tool", tool="shell", args={"a": 1})
    second = hooks.fire_sync("post:tool", tool="shell", args={}, result="r")

    assert read == [("shell", "shell", "shell", {"a": 1}, {"a": 1}), ("shell", {}, "r", "r")]
    assert (first.args, first.tool_input, first.tool) == ({"changed": True}, {"changed": True}, "shell")
    assert (second.result, second.tool_response) == ("changed", "changed")


# What is read must not depend on how: some fields are found out only when somebody looks.
READINGS: dict[str, Callable[[Any], Any]] = {
    "dict()": dict,
    "unpacked": lambda event: {**event},
    "as keywords": lambda event: dict(**event),
    "key by key": lambda event: {key: event[key] for key in event},
    "by get": lambda event: {key: event.get(key) for key in event.keys()},  # noqa: SIM118
    "by items": lambda event: dict(event.items()),
    "by values": lambda event: dict(zip(event, event.values(), strict=True)),
    "by attributes": lambda event: {key: getattr(event, key) for key in event},
    "joined": lambda event: {} | event,
    "copied": lambda event: event.copy(),
    "copied deeply": lambda event: dict(deepcopy(event)),
    "as JSON": lambda event: json.loads(json.dumps(event)),
}


@pytest.mark.parametrize("read", READINGS.values(), ids=READINGS)
@pytest.mark.parametrize("style", [ASYNC, NO_LOOP])
def test_an_event_reads_as_a_mapping_and_as_attributes(read, style):
    seen = []
    hooks = Hooks(session_id="s")
    hooks.register("PreToolUse", lambda event: seen.append(read(event)))

    fired(hooks, at("PreToolUse", tool_name="Bash", tool_use_id="t1"), style)

    assert seen == [{"session_id": "s", "transcript_path": "", "cwd": os.getcwd(), "hook_event_name": "PreToolUse",
                     "tool_name": "Bash", "tool_input": {}, "tool_use_id": "t1"}]  # fmt: skip


@pytest.mark.parametrize("name", ["session_id", "cwd", "tool_input", "tool_use_id"])
def test_an_event_has_a_field_that_nobody_has_read_yet(name):
    seen = []
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: seen.append((name in event, len(event), event == dict(event))))

    hooks.fire_sync("PreToolUse")

    assert seen == [(True, 7, True)]


def test_a_field_that_there_is_not_is_an_error_of_the_hook_and_says_what_there_is():
    (result,) = play(at("Stop"), [lambda event: event.tool_name], SYNC).outcome.results

    assert result.error is not None
    assert ("Stop has no field 'tool_name'" in result.error, "stop_hook_active" in result.error) == (True, True)


def test_missing_fields_get_their_default_and_then_match_every_matcher():
    """X-19"""
    hooks = Hooks(session_id="s")
    calls: list[Any] = []
    hooks.register("PreToolUse", lambda event: calls.append((event.tool_name, event.session_id)), matcher="Bash")

    hooks.fire_sync("PreToolUse")

    assert calls == [("", "s")]


def test_extra_fields_pass_through():
    (heard,) = play(at("Stop", host_version=3, tags=["a"]), [None], SYNC).heard

    assert (heard["host_version"], heard["tags"]) == (3, ["a"])


def test_a_tool_use_id_that_the_host_does_not_give_is_fresh_each_time():
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None)

    ids = [hooks.fire_sync("PreToolUse").tool_use_id for _ in range(3)]

    assert len(set(ids)) == 3


MISFITS = [
    ("PreCompact", "custom_instructions", 7),
    ("pre:message", "prompt", None),
    ("post:message", "output", ["text"]),
    ("pre:agent:spawn", "config", "text"),
    ("pre:git:write", "content", 7),
]


@pytest.mark.parametrize(("event", "field", "value"), MISFITS)
def test_a_field_is_changed_only_to_what_fits_it(event, field, value):
    """Such an answer cannot be read, and is never half applied."""
    played = play(at(event), [{"modify": {field: value}}], SYNC)

    assert (played.effect["results"], played.effect["changed"]) == (["failed bad_output"], {})


def test_a_matcher_of_a_changed_file_is_compared_with_the_last_part_of_its_path():
    hooks = Hooks()
    changed: list[str] = []
    hooks.register("FileChanged", lambda event: changed.append(event.file_path), matcher=".env")

    for path in ("/project/.env", "/project/.env/notes", ".env"):
        hooks.fire_sync("FileChanged", file_path=path, event="change")

    assert changed == ["/project/.env", ".env"]
    assert (hooks.wants("FileChanged", "/a/.env"), hooks.wants("FileChanged", "/.env/a")) == (True, False)
