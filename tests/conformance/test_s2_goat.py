"""Goat's specification of hooks, row by row: fifteen events, their inputs and outputs, matchers, firing, processing.

Its runner's own names are tested elsewhere; here its rules are those of the engine. Where the contract says otherwise
the row names the ruling.
"""

import asyncio
import logging
import os
from typing import Any

import pytest
from tests.conformance.scenarios import ASYNC, HANGS, NO_LOOP, STYLES, SYNC, at, fired, hook, play, scenario, table

from interpose import Hooks, allow, context, deny, modify

# ----------------------------------------------------------------------------------------------------------------
# 2. Hook events, and 3. their inputs

BASE = {"session_id": "a session", "transcript_path": "", "cwd": os.getcwd()}
TOOL = {"tool_name": "", "tool_input": {}}

# Each event: the rows, what a hook is told when the host gives nothing, and an example of what a host may give.
# fmt: off
EVENTS: list[tuple[str, str, str, dict[str, Any], dict[str, Any]]] = [
    ("S2-6", "S2-26", "PreToolUse", TOOL,
     {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}),
    ("S2-7", "S2-27", "PostToolUse", TOOL | {"tool_response": None},
     {"tool_name": "Bash", "tool_input": ["any"], "tool_response": {"any": 1}, "tool_use_id": "t1"}),
    ("S2-8", "S2-28 S2-29", "PostToolUseFailure", TOOL | {"error": ""},
     {"tool_name": "Bash", "tool_input": 7, "tool_use_id": "t1", "error": "no such file", "is_interrupt": True}),
    ("S2-11", "S2-30 S2-31 S2-32 S2-33", "SessionStart", {"source": ""},
     {"source": "startup", "agent_type": "scout", "model": "m"}),
    ("S2-12", "S2-34", "SessionEnd", {"reason": ""}, {"reason": "logout"}),
    ("S2-13", "S2-35", "Stop", {"stop_hook_active": False}, {"stop_hook_active": True}),
    ("S2-14", "S2-36", "SubagentStart", {"agent_id": "", "agent_type": ""},
     {"agent_id": "a1", "agent_type": "scout"}),
    ("S2-15", "S2-37", "SubagentStop",
     {"stop_hook_active": False, "agent_id": "", "agent_transcript_path": "", "agent_type": ""},
     {"stop_hook_active": True, "agent_id": "a1", "agent_transcript_path": "/t/a1", "agent_type": "scout"}),
    ("S2-16", "S2-38 S2-39", "PreCompact", {"trigger": "", "custom_instructions": None},
     {"trigger": "manual", "custom_instructions": "keep the plan"}),
    ("S2-9", "S2-40 S2-41", "Notification", {"message": "", "notification_type": ""},
     {"message": "done", "title": "Agent", "notification_type": "idle_prompt"}),
    ("S2-10", "S2-42", "UserPromptSubmit", {"prompt": ""}, {"prompt": "fix it"}),
    ("S2-18", "S2-43 S2-44", "Setup", {"trigger": ""}, {"trigger": "init"}),
    ("S2-20", "S2-45 S2-46 S2-47 S2-48", "TaskCompleted", {"task_id": "", "task_subject": ""},
     {"task_id": "7", "task_subject": "fix", "task_description": "all of it", "teammate_name": "ann", "team_name": "t"}),
    ("S2-19", "S2-49", "TeammateIdle", {"teammate_name": "", "team_name": ""},
     {"teammate_name": "ann", "team_name": "t"}),
    ("S2-17", "S2-50", "PermissionRequest", TOOL,
     {"tool_name": "Bash", "tool_input": {"command": "ls"}, "permission_suggestions": [{"type": "addRules"}]}),
]
# fmt: on
NAMES = [event for _, _, event, _, _ in EVENTS]
WITH_A_CALL_ID = {"PreToolUse", "PostToolUse", "PostToolUseFailure"}


def heard_at(event: str, /, **fields: Any) -> dict[str, Any]:
    """Return what a hook is told."""
    (heard,) = play(at(event, **fields), [None], ASYNC).heard
    return heard


def test_there_are_fifteen_events():
    """S2-5, beside Armament's points and what Claude Code has added since (C-1)."""
    assert len(NAMES) == 15
    assert set(NAMES) <= set(Hooks().events)


@pytest.mark.parametrize("event", [pytest.param(event, id=f"{ids} S2-124 {event}") for ids, _, event, _, _ in EVENTS])
def test_each_event_exists_by_exactly_this_name_and_can_be_registered_for_and_fired(event):
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register(event, calls.append)

    outcome = hooks.fire_sync(event)

    assert (outcome.event, len(calls), calls[0].hook_event_name) == (event, 1, event)


INPUTS = [pytest.param(event, bare, full, id=f"{ids} S2-21 S2-125 {event}") for _, ids, event, bare, full in EVENTS]


@pytest.mark.parametrize(("event", "bare", "full"), INPUTS)
def test_the_input_of_an_event_with_nothing_given(event, bare, full):
    """S2-22, S2-23, S2-24, S2-25: what is always present is there, what may be empty is not."""
    heard = heard_at(event)

    call_id = {"tool_use_id": heard["tool_use_id"]} if event in WITH_A_CALL_ID else {}
    assert heard == BASE | {"hook_event_name": event} | bare | call_id
    assert all(isinstance(value, str) and value for value in call_id.values())


@pytest.mark.parametrize(("event", "bare", "full"), INPUTS)
def test_the_input_of_an_event_with_everything_given(event, bare, full):
    """S2-22, S2-23, S2-24, S2-25"""
    base = {"session_id": "s", "transcript_path": "/t/s.jsonl", "cwd": "/project", "permission_mode": "plan"}

    assert heard_at(event, **base, **full) == base | {"hook_event_name": event} | full


@pytest.mark.parametrize(("event", "bare", "full"), INPUTS)
def test_every_field_reads_as_an_attribute(event, bare, full):
    played = play(at(event, **full), [lambda event: context(str([getattr(event, name) for name in full]))], ASYNC)

    said = played.outcome.context or [result.reply.context[0] for result in played.outcome.results]
    assert said == [str(list(full.values()))]


OMITTED = [
    ("S2-25", "PreToolUse", "permission_mode"),
    ("S2-29", "PostToolUseFailure", "is_interrupt"),
    ("S2-32", "SessionStart", "agent_type"),
    ("S2-33", "SessionStart", "model"),
    ("S2-41", "Notification", "title"),
    ("S2-46", "TaskCompleted", "task_description"),
    ("S2-47", "TaskCompleted", "teammate_name"),
    ("S2-48", "TaskCompleted", "team_name"),
    ("S2-50", "PermissionRequest", "permission_suggestions"),
]


@pytest.mark.parametrize(
    ("event", "name"),
    [pytest.param(event, name, id=f"{ids} {name} of {event}") for ids, event, name in OMITTED],
)
def test_what_there_is_none_of_is_omitted_and_reads_as_nothing(event, name):
    told = []
    hooks = Hooks()
    hooks.register(event, lambda event: told.append((name in event, getattr(event, name))))

    hooks.fire_sync(event)

    assert told == [(False, None)]


VALUES = [
    pytest.param("SessionStart", "source", ["startup", "resume", "clear", "compact"], id="S2-31 SessionStart source"),
    pytest.param("PreCompact", "trigger", ["manual", "auto"], id="S2-39 PreCompact trigger"),
    pytest.param("Setup", "trigger", ["init", "maintenance"], id="S2-44 Setup trigger"),
]


@pytest.mark.parametrize(("event", "name", "values"), VALUES)
def test_a_matcher_tells_the_values_of_a_field_apart(event, name, values):
    hooks = Hooks()
    calls: list[Any] = []
    for value in values:
        hooks.register(event, lambda event, value=value: calls.append((value, event[name])), matcher=value)

    for value in values:
        hooks.fire_sync(event, **{name: value})

    assert calls == [(value, value) for value in values]


def test_a_session_says_how_it_began_and_that_it_was_compacted():
    """S2-31"""
    sources: list[str] = []
    hooks = Hooks()
    hooks.register("SessionStart", lambda event: sources.append(event.source))

    for session in (hooks.session_sync(), hooks.session_sync(source="resume"), hooks.session_sync(source="clear")):
        with session:
            session.compact(lambda instructions: "in short")

    assert sources == ["startup", "compact", "resume", "compact", "clear", "compact"]


def test_a_session_can_be_told_how_it_began_when_it_starts():
    """S2-31: what start() is told holds, not what the session was made with."""
    sources: list[str] = []
    hooks = Hooks()
    hooks.register("SessionStart", lambda event: sources.append(event.source))
    session = hooks.session_sync(source="clear")

    session.start("resume")
    session.end()

    assert (sources, session.source) == (["resume"], "resume")


def test_a_session_tells_all_of_the_input_when_a_subagent_wants_to_stop():
    """S2-37: each time it wants to, and also if it broke."""
    heard: list[dict[str, Any]] = []

    def go_on_once(event):
        heard.append(dict(event))
        return deny("go on") if not event.stop_hook_active else None

    hooks = Hooks()
    hooks.register("SubagentStop", go_on_once)

    def broken(child, config):
        raise OSError("disk full")

    with hooks.session_sync(session_id="s", cwd="/", transcript_path="/t/s") as session:
        for run in (lambda child, config: None, broken):
            session.spawn("scout", run, agent_id="a1", transcript_path="/t/a1")

    base = {"session_id": "s", "transcript_path": "/t/a1", "cwd": "/", "permission_mode": "default"}
    about = {
        "hook_event_name": "SubagentStop",
        "agent_id": "a1",
        "agent_transcript_path": "/t/a1",
        "agent_type": "scout",
    }
    assert heard == [base | about | {"stop_hook_active": active} for active in (False, True, False)]


# ----------------------------------------------------------------------------------------------------------------
# 4. Outputs

CALL = at("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
DONE = at("PostToolUse", tool_name="Bash", tool_response="a b")
STOP = at("Stop")


def specific(event: str, **said: Any) -> dict[str, Any]:
    """Return an answer with an event-specific output."""
    return {"hookSpecificOutput": {"hookEventName": event, **said}}


@table(
    scenario("S2-51 S2-97", "an absent continue means nothing", STOP, [{}]),
    scenario("S2-51", "continue: false stops, with its reason, and is not the same as absent", STOP,
             [{"continue": False, "stopReason": "enough"}], continue_=False, stop_reason="enough"),
    scenario("S2-51", "continue: true on Stop keeps the agent going", STOP, [{"continue": True}], keep_going=True),
    scenario("S2-51", "continue_ is the same word in Python", STOP, [{"continue_": False}], continue_=False),
    scenario("S2-52", "suppressOutput hides the tool's output", DONE, [{"suppressOutput": True}],
             suppress_output=True),
    scenario("S2-52", "suppressOutput: false hides nothing", DONE, [{"suppressOutput": False}]),
    scenario("S2-53", "stopReason is the reason of a stop", CALL, [{"continue": False, "stopReason": "out of time"}],
             decision="deny", reason="out of time", continue_=False, stop_reason="out of time"),
    scenario("S2-54", "decision approve is an allow, in words that grant (C-6)", CALL, [{"decision": "approve"}],
             decision="allow", granted=True),
    scenario("S2-54 S2-115", "decision block is a deny", CALL, [{"decision": "block"}], decision="deny"),
    scenario("S2-55", "systemMessage is context", CALL, [{"systemMessage": "be brief"}], context=["be brief"]),
    scenario("S2-55", "an empty systemMessage is none", CALL, [{"systemMessage": ""}]),
    scenario("S2-56", "reason explains a decision", CALL, [{"decision": "block", "reason": "not now"}],
             decision="deny", reason="not now"),
    scenario("S2-57 S2-61 S2-62", "an event-specific output is read beside the rest", CALL,
             [specific("PreToolUse", permissionDecision="deny") | {"systemMessage": "a note"}],
             decision="deny", context=["a note"]),
    scenario("S2-126", "what belongs to no output is kept", CALL, [{"fromTheFuture": 1}], extra={"fromTheFuture": 1},
             ignored=[("first", "fromTheFuture: not known here")]),
)  # fmt: skip
def test_the_fields_of_a_sync_output(scenario, style):
    assert scenario.play(style) == scenario.effect


@table(
    scenario("S2-62 S2-114", "permissionDecision allow grants the call", CALL,
             [specific("PreToolUse", permissionDecision="allow")], decision="allow", granted=True),
    scenario("S2-62 S2-113", "permissionDecision deny denies it", CALL,
             [specific("PreToolUse", permissionDecision="deny")], decision="deny"),
    scenario("S2-62", "permissionDecision ask asks", CALL, [specific("PreToolUse", permissionDecision="ask")],
             decision="ask"),
    scenario("S2-62", "without permissionDecision nothing is decided", CALL, [specific("PreToolUse")]),
    scenario("S2-63", "permissionDecisionReason is its reason", CALL,
             [specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="read only")],
             decision="deny", reason="read only"),
    scenario("S2-64", "updatedInput replaces the tool's input", CALL,
             [specific("PreToolUse", updatedInput={"command": "pwd"})], changed={"tool_input": {"command": "pwd"}}),
    scenario("S2-65", "additionalContext is context, after a systemMessage", CALL,
             [specific("PreToolUse", additionalContext="second") | {"systemMessage": "first"}],
             context=["first", "second"]),
    scenario("S2-66", "PostToolUse: additionalContext", DONE, [specific("PostToolUse", additionalContext="note")],
             context=["note"]),
    scenario("S2-67", "PostToolUse: updatedMCPToolOutput replaces the tool's output", DONE,
             [specific("PostToolUse", updatedMCPToolOutput={"any": ["json"]})],
             changed={"tool_response": {"any": ["json"]}}),
    scenario("S2-68", "PostToolUseFailure: additionalContext", at("PostToolUseFailure"),
             [specific("PostToolUseFailure", additionalContext="note")], context=["note"]),
    scenario("S2-69", "SessionStart: additionalContext", at("SessionStart", source="startup"),
             [specific("SessionStart", additionalContext="note")], context=["note"]),
    scenario("S2-70", "SubagentStart: additionalContext", at("SubagentStart"),
             [specific("SubagentStart", additionalContext="note")], context=["note"]),
    scenario("S2-71", "Setup: additionalContext", at("Setup"), [specific("Setup", additionalContext="note")],
             context=["note"]),
    scenario("S2-72", "Notification: additionalContext", at("Notification"),
             [specific("Notification", additionalContext="note")], context=["note"]),
    scenario("S2-73", "UserPromptSubmit: additionalContext, as the contract's table has it", at("UserPromptSubmit"),
             [specific("UserPromptSubmit", additionalContext="note")], context=["note"]),
    scenario("S2-74", "UserPromptSubmit: decision block blocks the prompt", at("UserPromptSubmit", prompt="hi"),
             [{"decision": "block", "reason": "not today"}], decision="deny", reason="not today"),
    scenario("S2-75", "PermissionRequest: behavior allow grants", at("PermissionRequest", tool_name="Bash"),
             [specific("PermissionRequest", decision={"behavior": "allow"})], decision="allow", granted=True),
    scenario("S2-75", "PermissionRequest: behavior allow with an updatedInput",
             at("PermissionRequest", tool_name="Bash", tool_input={"command": "rm x"}),
             [specific("PermissionRequest", decision={"behavior": "allow", "updatedInput": {"command": "ls"}})],
             decision="allow", granted=True, changed={"tool_input": {"command": "ls"}}),
    scenario("S2-75", "PermissionRequest: behavior deny with a message and an interrupt", at("PermissionRequest"),
             [specific("PermissionRequest", decision={"behavior": "deny", "message": "stop", "interrupt": True})],
             decision="deny", reason="stop", interrupt=True),
    scenario("S2-75", "PermissionRequest: an interrupt together with an allow has no effect", at("PermissionRequest"),
             [specific("PermissionRequest", decision={"behavior": "allow", "interrupt": True})],
             decision="allow", granted=True, ignored=[("first", "interrupt")]),
    scenario("S2-75", "PermissionRequest: updatedPermissions pass through", at("PermissionRequest"),
             [specific("PermissionRequest", decision={"behavior": "allow", "updatedPermissions": ["p"]})],
             decision="allow", granted=True, extra={"updatedPermissions": ["p"]}),
)  # fmt: skip
def test_event_specific_outputs(scenario, style):
    assert scenario.play(style) == scenario.effect


# ----------------------------------------------------------------------------------------------------------------
# 4.2 Async output: the hook is called a second time (C-23)


def in_two_phases(answer: Any = None, **first: Any):
    """Return what a hook says that first answers async, and then for good."""
    return lambda event: answer if event.get("async_phase") == 2 else {"async": True, **first}


@table(
    scenario("S2-59 S2-82 S2-126", "an output with async: true is completed by a second call", CALL,
             [in_two_phases(deny("checked"))], decision="deny", reason="checked", called=["first", "first"]),
    scenario("S2-59", "async: false is a sync output", CALL, [{"async": False, "decision": "block"}], decision="deny"),
    scenario("S2-60 S2-131", "a second call that takes longer than asyncTimeout seconds is ended", CALL,
             [in_two_phases(HANGS, asyncTimeout=0.05), None], results=["timeout timeout", "ok"],
             called=["first", "first", "second"]),
    scenario("S2-112", "a second call that says nothing decides nothing", CALL, [in_two_phases()],
             called=["first", "first"]),
    styles=(ASYNC, SYNC, NO_LOOP),
)  # fmt: skip
def test_async_outputs(scenario, style):
    assert scenario.play(style) == scenario.effect


@pytest.mark.parametrize(
    ("first", "takes", "status"),
    [
        pytest.param({"asyncTimeout": 60}, 59.9, "ok", id="S2-60 within asyncTimeout seconds"),
        pytest.param({"asyncTimeout": 60}, 60.1, "timeout", id="S2-60 S2-131 later than asyncTimeout seconds"),
    ],
)
@pytest.mark.parametrize("style", STYLES)
def test_how_long_the_second_call_has(first, takes, status, style, clock):
    late = clock.takes(takes, deny("checked"))

    played = play(CALL, [lambda event: late(event) if "async_phase" in event else {"async": True, **first}], style)

    assert ([result.status for result in played.outcome.results], played.outcome.denied) == ([status], status == "ok")


# ----------------------------------------------------------------------------------------------------------------
# 5. Matchers and callbacks


def groups(calls: list[str], *matchers: dict[str, Any]) -> Hooks:
    """Return an engine made from a map of events to matchers, each with two hooks that note their call."""
    listed = []
    for number, matcher in enumerate(matchers):
        names = [f"{number}a", f"{number}b"]
        listed.append(matcher | {"hooks": [lambda event, name=name: calls.append(name) for name in names]})
    return Hooks.from_mapping({"hooks": {"PreToolUse": listed}})


# fmt: off
MATCHERS = [
    pytest.param([{}], "Bash", ["0a", "0b"], id="S2-76 S2-77 a matcher groups hooks, and may be left out"),
    pytest.param([{"matcher": ""}], "Bash", ["0a", "0b"], id="S2-87 an empty matcher matches"),
    pytest.param([{"matcher": "Bash"}], "Bash", ["0a", "0b"], id="S2-78 an exact name matches itself"),
    pytest.param([{"matcher": "Bash"}], "BashOutput", [], id="S2-78 an exact name matches nothing longer"),
    pytest.param([{"matcher": "mcp__*"}], "mcp__git__log", ["0a", "0b"], id="S2-79 a glob matches"),
    pytest.param([{"matcher": "mcp__*"}], "Bash", [], id="S2-79 a glob does not match what it does not fit"),
    pytest.param([{"matcher": "Read"}, {"matcher": "Bash"}], "Bash", ["1a", "1b"],
                 id="S2-88 S2-132 a matcher that does not match skips all of its hooks"),
    pytest.param([{}, {"matcher": "Bash"}, {"matcher": "B*"}], "Bash", ["0a", "0b", "1a", "1b", "2a", "2b"],
                 id="S2-86 S2-91 S2-135 matchers in list order, hooks of each in array order"),
]
# fmt: on


@pytest.mark.parametrize(("matchers", "tool", "expected"), MATCHERS)
def test_matchers(matchers, tool, expected):
    calls: list[str] = []
    hooks = groups(calls, *matchers)

    hooks.fire_sync("PreToolUse", tool_name=tool)

    assert calls == expected


# fmt: off
GROUP_TIMES = [
    pytest.param({"timeout": 2}, 1.9, ["ok", "ok"], id="S2-80 S2-89 within the matcher's seconds"),
    pytest.param({"timeout": 2}, 2.1, ["timeout", "timeout"],
                 id="S2-80 S2-89 S2-127 the matcher's timeout holds for each of its hooks (C-10)"),
    pytest.param({"timeout": 2}, 1.5, ["ok", "ok"], id="S2-80 each hook has the time for itself (C-10)"),
    pytest.param({"timeout": 0}, 29.9, ["ok", "ok"], id="S2-90 0 is no deadline from the matcher"),
    pytest.param({"timeout": 0}, 30.1, ["timeout", "timeout"], id="S2-90 but nothing is unlimited (C-8)"),
]
# fmt: on


@pytest.mark.parametrize(("group", "takes", "statuses"), GROUP_TIMES)
def test_the_timeout_of_a_matcher(group, takes, statuses, clock):
    one, other = clock.takes(takes), clock.takes(takes)
    hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [group | {"hooks": [one, other]}]}})

    outcome = fired(hooks, CALL)

    assert [result.status for result in outcome.results] == statuses


def test_a_hook_past_its_timeout_is_cancelled():
    """S2-127"""
    ended = []

    async def slow(event):
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [{"timeout": 0.05, "hooks": [slow]}]}})
    outcome = fired(hooks, CALL)

    assert (ended, outcome.results[0].status, outcome.results[0].duration < 2) == (["cancelled"], "timeout", True)


@pytest.mark.parametrize("style", [ASYNC, SYNC])
def test_a_callback_takes_the_input_the_tool_use_id_and_a_context(style):
    """S2-81, S2-84: and gets the real id (C-30)."""
    calls: list[Any] = []

    def function(input, tool_use_id, context):
        calls.append((input["tool_name"], tool_use_id, sorted(context)))
        return {"decision": "block", "reason": "seen"}

    async def coroutine(input, tool_use_id, context):
        return function(input, tool_use_id, context)

    hooks = Hooks()
    hooks.register("PreToolUse", coroutine if style == ASYNC else function)
    outcome = fired(hooks, at("PreToolUse", tool_name="Bash", tool_use_id="toolu_7"))

    assert calls == [("Bash", "toolu_7", ["signal"])]
    assert (outcome.denied, outcome.reason) == (True, "seen")


# ----------------------------------------------------------------------------------------------------------------
# 6. Firing

BUG = RuntimeError("hook bug")


def test_an_engine_is_built_from_a_map_of_events_to_matchers():
    """S2-83, S2-136"""
    said = {
        "PreToolUse": [{"matcher": "Bash", "hooks": [lambda event: deny("no")], "timeout": 5}],
        "Stop": [{"hooks": [lambda event: {"continue": True}]}],
    }
    hooks = Hooks.from_mapping({"hooks": said})

    assert hooks.fire_sync("PreToolUse", tool_name="Bash").denied
    assert hooks.fire_sync("PreToolUse", tool_name="Read").allowed
    assert hooks.fire_sync("Stop").keep_going


@pytest.mark.parametrize("event", NAMES)
@pytest.mark.parametrize("style", STYLES)
def test_an_event_without_hooks_has_no_results_and_no_error(event, style):
    """S2-85, X-18"""
    played = play(at(event), [], style)

    assert (list(played.outcome.results), played.outcome.allowed, played.called) == ([], True, [])


@table(
    scenario("S2-84 S2-94", "the results of all matching hooks are returned, in the order they ran", CALL,
             [hook({"systemMessage": "1"}, priority=9), hook(matcher="Read"), hook({"systemMessage": "3"}, priority=1)],
             context=["3", "1"], results=["ok", "ok"], called=["third", "first"]),
    scenario("S2-92 S2-93 S2-130", "a hook's error is no result and no error of the firing; the next hook runs", CALL,
             [BUG, {"systemMessage": "next"}], context=["next"], results=["failed hook_crash", "ok"]),
    scenario("S2-95 S2-96 S2-133", "continue: false stops all further hooks, and is itself a result", STOP,
             [{"systemMessage": "1"}, {"continue": False, "stopReason": "enough"}, {"systemMessage": "3"}, None],
             context=["1"], continue_=False, stop_reason="enough", results=["ok", "ok", "skipped", "skipped"],
             called=["first", "second"]),
    scenario("S2-95", "where the event can be denied continue: false is a deny", CALL,
             [{"continue": False, "stopReason": "enough"}, None], decision="deny", reason="enough", continue_=False,
             stop_reason="enough", results=["ok", "skipped"], called=["first"]),
    scenario("S2-97", "continue: true and an absent continue stop nothing", CALL,
             [{"continue": True}, {}, {"systemMessage": "3"}], context=["3"]),
)  # fmt: skip
def test_firing(scenario, style):
    assert scenario.play(style) == scenario.effect


@pytest.mark.parametrize("style", STYLES)
def test_a_hooks_error_is_logged(style, caplog):
    """S2-92, S2-130"""
    play(CALL, [BUG], style)

    assert [(record.name, record.levelno) for record in caplog.records] == [("interpose", logging.ERROR)]


def test_continue_false_stops_the_hooks_of_later_matchers_too():
    """S2-95"""
    calls: list[str] = []

    def stop(event):
        calls.append("stop")
        return {"continue": False}

    hooks = groups(calls, {"matcher": "Bash"}, {})
    hooks.register("PreToolUse", stop, priority=1)
    hooks.fire_sync("PreToolUse", tool_name="Bash")

    assert calls == ["stop"]


# ----------------------------------------------------------------------------------------------------------------
# 1. Purpose, and 8. what becomes of the results

ALLOW = specific("PreToolUse", permissionDecision="allow")
DENY = specific("PreToolUse", permissionDecision="deny")


@table(
    scenario("S2-1", "a hook can observe and change nothing", CALL, [None]),
    scenario("S2-2", "a hook can modify the tool's input", CALL, [modify(tool_input={})], changed={"tool_input": {}}),
    scenario("S2-3", "a hook can inject context", CALL, [context("a", "b")], context=["a", "b"]),
    scenario("S2-4 S2-128", "a hook can grant", CALL, [allow("known")], decision="allow", granted=True, reason="known"),
    scenario("S2-4 S2-128", "a hook can deny", CALL, [deny("no")], decision="deny", reason="no"),
    scenario("S2-112", "results that say nothing are passed over", CALL, [None, {}, DENY], decision="deny"),
    scenario("S2-116", "allow, then deny: deny wins, where Goat's sample takes the first (C-4)", CALL, [ALLOW, DENY],
             decision="deny"),
    scenario("S2-116", "deny, then allow: deny wins (C-4)", CALL, [DENY, ALLOW], decision="deny",
             results=["ok", "skipped"], called=["first"]),
    scenario("S2-116", "allow, then ask: ask wins (C-4, C-29)", CALL,
             [ALLOW, specific("PreToolUse", permissionDecision="ask")], decision="ask"),
    scenario("S2-117", "no decision is none: whether that runs or asks is the host's default (C-5)", CALL, [{}, None]),
    scenario("S2-118 S2-129", "Stop: any continue: true keeps the loop going", STOP, [{}, {"continue": True}, None],
             keep_going=True),
    scenario("S2-119", "Stop: otherwise the agent stops", STOP, [{}, None, {"systemMessage": "bye"}], context=["bye"]),
    scenario("S2-121 S2-122", "context: each systemMessage, then each additionalContext, result by result", CALL,
             [{"systemMessage": "1"}, {"systemMessage": ""},
              specific("PreToolUse", additionalContext="4") | {"systemMessage": "3"},
              specific("PreToolUse", additionalContext="5")], context=["1", "3", "4", "5"]),
)  # fmt: skip
def test_what_becomes_of_the_results(scenario, style):
    assert scenario.play(style) == scenario.effect


def test_a_loop_goes_on_as_long_as_a_stop_hook_says_so():
    """S2-118, S2-119, S2-129"""
    hooks = Hooks()
    hooks.register("Stop", lambda event: {"continue": True} if not event.stop_hook_active else None)

    turns, active = 0, False
    while True:
        turns += 1
        if not hooks.fire_sync("Stop", stop_hook_active=active).keep_going:
            break
        active = True

    assert turns == 2


def test_hooks_observe_without_a_change_to_the_loop():
    """S2-1: the same loop, with and without a hook."""

    def loop(hooks: Hooks) -> list[str]:
        log = [f"run {hooks.fire_sync('PreToolUse', tool_name='Bash', tool_input={'n': n}).tool_input}" for n in (1, 2)]
        return [*log, hooks.fire_sync("Stop").decision]

    watched = Hooks()
    seen: list[Any] = []
    for event in NAMES:
        watched.register(event, lambda event: seen.append(event.hook_event_name))

    assert loop(watched) == loop(Hooks())
    assert seen == ["PreToolUse", "PreToolUse", "Stop"]
