"""Goat's diagrams, row by row: architecture, the flow of a firing, what each event grants, scopes, messages.

Commands are tested elsewhere. Where the contract says otherwise the row names the ruling.
"""

import asyncio
import threading
from functools import partial
from typing import Any

import pytest
from tests.conformance.host import Host
from tests.conformance.scenarios import (
    ASYNC,
    HANGS,
    NO_LOOP,
    STYLES,
    SYNC,
    at,
    fired,
    hook,
    play,
    scenario,
    table,
)
from tests.conformance.wishes import WISHES, effect

from interpose import Hooks, allow, deny

CALL = at("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})


def noting(calls: list[str], name: str, answer: Any = None):
    """Return a hook that notes its call and then answers."""

    def handler(event):
        calls.append(name)
        return answer

    return handler


# ----------------------------------------------------------------------------------------------------------------
# Capabilities matrix

# Rows and ticks as in the diagram. "Deny" says what becomes of a deny; what the contract adds is marked in the notes.
MATRIX = """
rows        | event              | deny        | suppress | context | input | continue | note
S3-55 S3-56 | PreToolUse         | denies      | –        | ✓       | ✓     | –        |
S3-57 S3-58 | PostToolUse        | context     | ✓        | ✓       | –     | –        | C-20
S3-59       | PostToolUseFailure | context     | –        | ✓       | –     | –        | the contract's table
S3-60       | Stop               | keeps going | –        | ✓       | –     | ✓        |
S3-61 S3-62 | PermissionRequest  | denies      | –        | –       | –     | –        | C-18
S3-64       | SessionStart       | context     | –        | ✓       | –     | –        |
S3-65       | SessionEnd         | –           | –        | –       | –     | –        |
S3-66       | Notification       | context     | –        | ✓       | –     | –        |
S3-66       | UserPromptSubmit   | denies      | –        | ✓       | –     | –        | C-21
S3-66       | SubagentStart      | context     | –        | ✓       | –     | –        |
S3-66       | SubagentStop       | keeps going | –        | ✓       | –     | ✓        | the contract's table
S3-66       | PreCompact         | denies      | –        | ✓       | –     | –        | the contract's table
S3-66       | Setup              | context     | –        | ✓       | –     | –        |
S3-66       | TeammateIdle       | keeps going | –        | ✓       | –     | –        | X-28
S3-66       | TaskCompleted      | denies      | –        | ✓       | –     | –        | X-28
"""

# What the contract's table grants beside the ticks.
BESIDES = {
    "PreToolUse": {"ask", "allow"},
    "PostToolUse": {"inject", "modify tool_response"},
    "PostToolUseFailure": {"modify error"},
    "PermissionRequest": {"allow", "interrupt", "modify tool_input"},
    "PreCompact": {"modify custom_instructions"},
}

COLUMNS = {"deny": "deny", "suppress": "suppress", "context": "context", "input": "modify tool_input",
           "continue": "continue"}  # fmt: skip


def rows() -> list[tuple[dict[str, str], set[str]]]:
    """Return the lines of the matrix, each with the rights that its ticks stand for."""
    header, *lines = [[cell.strip() for cell in line.split("|")] for line in MATRIX.strip().splitlines()]
    found = []
    for line in lines:
        row = dict(zip(header, line, strict=True))
        rights = {COLUMNS[column] for column in ("suppress", "context", "input") if row[column] == "✓"}
        rights |= {{"denies": "deny", "keeps going": "keep going"}.get(row["deny"], "")} - {""}
        found.append((row, rights))
    return found


def matrix() -> list[Any]:
    """Return one case for each tick and each gap of the matrix."""
    cases = []
    for row, rights in rows():
        ruling = f" ({row['note']})" if row["note"] else ""
        for column, wish in COLUMNS.items():
            tick = {"✓": "yes", "–": "no"}.get(row[column], row[column])
            name = f"{row['rows']} {row['event']}: {column} {tick}{ruling}"
            cases.append(pytest.param(row["event"], rights, row["continue"] == "✓", wish, id=name))
    return cases


@pytest.mark.parametrize(
    ("row", "rights"), [pytest.param(row, rights, id=f"{row['rows']} {row['event']}") for row, rights in rows()]
)
def test_an_event_grants_what_is_ticked_and_what_the_contract_adds_and_nothing_else(row, rights):
    event = Hooks().events[row["event"]]

    granted = event.can | {f"modify {name}" for name in event.modifies}

    assert granted == rights | BESIDES.get(row["event"], set())
    assert (event.continue_keeps_going is True) == (row["continue"] == "✓")


@pytest.mark.parametrize(("event", "rights", "continue_counts", "wish"), matrix())
def test_what_is_ticked_has_its_effect_and_what_is_not_has_none_and_is_reported(event, rights, continue_counts, wish):
    row = scenario("", "", at(event), [WISHES[wish]], **effect(wish, rights, continue_counts=continue_counts)).values[0]

    assert {style: row.play(style) for style in STYLES} == dict.fromkeys(STYLES, row.effect)


@table(
    scenario("S3-40", "a PreToolUse hook can deny", CALL, [{"decision": "deny", "reason": "no"}],
             decision="deny", reason="no"),
    scenario("S3-41", "a PreToolUse hook can modify the input", CALL, [{"updatedInput": {}}],
             changed={"tool_input": {}}),
    scenario("S3-42", "a PreToolUse hook can add context", CALL, [{"systemMessage": "note"}], context=["note"]),
    scenario("S3-44 S3-45", "a PostToolUse hook can suppress the output and add context", at("PostToolUse"),
             [{"suppressOutput": True, "systemMessage": "note"}], suppress_output=True, context=["note"]),
    scenario("S3-48", "a Stop hook can force continuation", at("Stop"), [{"continue": True}], keep_going=True),
    scenario("S3-48", "a Stop hook can force continuation with a reason", at("Stop"),
             [{"decision": "block", "reason": "the tests fail"}], keep_going=True, reason="the tests fail"),
    scenario("S3-61 S3-63", "PermissionRequest: continue false denies and interrupts the loop", at("PermissionRequest"),
             [{"continue": False}], decision="deny", reason="interrupted by hook", continue_=False, interrupt=True),
    scenario("S3-63", "PermissionRequest: continue false with a reason", at("PermissionRequest"),
             [{"continue": False, "stopReason": "enough"}], decision="deny", reason="enough", stop_reason="enough",
             continue_=False, interrupt=True),
    scenario("S3-61", "PermissionRequest: continue true overrides nothing", at("PermissionRequest"),
             [{"continue": True}]),
    scenario("S3-62", "PermissionRequest: an input change counts only together with an allow that grants (C-18)",
             at("PermissionRequest", tool_input={"command": "rm"}),
             [{"hookSpecificOutput": {"hookEventName": "PermissionRequest",
                                      "decision": {"behavior": "allow", "updatedInput": {"command": "ls"}}}}],
             decision="allow", granted=True, changed={"tool_input": {"command": "ls"}}),
    scenario("S3-62", "PermissionRequest: with a deny it does not (C-18)", at("PermissionRequest"),
             [{"decision": "deny", "updatedInput": {"command": "ls"}}], decision="deny",
             ignored=[("first", "modify tool_input")]),
    scenario("S3-56", "PreToolUse: continue false stops further hooks and is a deny, as the contract says", CALL,
             [{"continue": False, "stopReason": "enough"}, None], decision="deny", reason="enough",
             stop_reason="enough", continue_=False, results=["ok", "skipped"], called=["first"]),
)  # fmt: skip
def test_capabilities(scenario, style):
    assert scenario.play(style) == scenario.effect


# ----------------------------------------------------------------------------------------------------------------
# Architecture and flow of a firing

LIFECYCLE = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "Notification", "UserPromptSubmit", "SessionStart",
    "SessionEnd", "Stop", "SubagentStart", "SubagentStop", "PreCompact", "PermissionRequest", "Setup", "TeammateIdle",
    "TaskCompleted",
)  # fmt: skip


@pytest.mark.parametrize("event", LIFECYCLE)
@pytest.mark.parametrize("style", STYLES)
def test_a_callback_can_be_a_hook_at_each_event(event, style):
    """S3-1, S3-97"""
    assert play(at(event), [None], style).called == ["first"]


@table(
    scenario("S3-2", "intervention before a tool", CALL, [deny("no")], decision="deny", reason="no"),
    scenario("S3-2", "intervention after a tool", at("PostToolUse", tool_response="a"),
             [{"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedMCPToolOutput": "b"}}],
             changed={"tool_response": "b"}),
    scenario("S3-2", "context injection", at("SessionStart"), [{"systemMessage": "note"}], context=["note"]),
    scenario("S3-2", "output suppression", at("PostToolUse"), [{"suppressOutput": True}], suppress_output=True),
    scenario("S3-12", "matcher empty matches all", CALL, [hook(matcher="")]),
    scenario("S3-13", "matcher Bash matches Bash", CALL, [hook(matcher="Bash")]),
    scenario("S3-13", "matcher Bas does not match Bash", CALL, [hook(matcher="Bas")], results=[], called=[]),
    scenario("S3-14", "matcher mcp__* matches", at("PreToolUse", tool_name="mcp__git__log"), [hook(matcher="mcp__*")]),
    scenario("S3-14", "matcher mcp__* does not match Bash", CALL, [hook(matcher="mcp__*")], results=[], called=[]),
    scenario("S3-99", "exact and glob side by side", CALL, [hook(matcher="Read|B*h"), hook(matcher="Read|Bash")]),
    scenario("S3-99", "a regular expression is written with re: (C-16)", CALL,
             [hook(matcher="re:Ba(sh|t)"), hook(matcher="re:as")], results=["ok"], called=["first"]),
    scenario("S3-15", "a hook past its timeout is ended", CALL, [hook(HANGS, timeout=0.05), None],
             results=["timeout timeout", "ok"]),
    scenario("S3-16", "callbacks run in order", CALL, [None, None, None]),
    scenario("S3-22", "a result with continue false stops all further processing", at("SessionStart"),
             [None, {"continue": False}, None], continue_=False, results=["ok", "ok", "skipped"],
             called=["first", "second"]),
    scenario("S3-18", "a callback is given the input with the tool-use id",
             at("PreToolUse", tool_use_id="toolu_1"), [lambda event: deny(event.tool_use_id)],
             decision="deny", reason="toolu_1"),
)  # fmt: skip
def test_the_flow_of_a_firing(scenario, style):
    assert scenario.play(style) == scenario.effect


@pytest.mark.parametrize("style", STYLES)
def test_a_firing_returns_one_result_for_each_hook_in_order(style):
    """S3-7, S3-21, S3-32: converted, with what was said beside it (C-31)."""
    answers = [{"decision": "allow"}, RuntimeError("bug"), deny("no"), None]

    results = play(CALL, answers, style).outcome.results

    assert [(result.hook, result.status, result.decision, result.reason) for result in results] == [
        ("first", "ok", "allow", ""),
        ("second", "failed", "none", ""),
        ("third", "ok", "deny", "no"),
        ("fourth", "skipped", "none", ""),
    ]
    assert results[2].reply == deny("no")


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        pytest.param(lambda tool_input: "done", ["PreToolUse", "the tool", "PostToolUse"],
                     id="S3-39 S3-43 PreToolUse before the tool, PostToolUse after its success"),
        pytest.param(lambda tool_input: 1 / 0, ["PreToolUse", "the tool", "PostToolUseFailure"],
                     id="S3-39 S3-46 PostToolUseFailure after its error"),
    ],
)  # fmt: skip
def test_the_events_around_a_tool(tool, expected):
    calls: list[str] = []
    hooks = Hooks()
    for event in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
        hooks.register(event, noting(calls, event))

    def run(tool_input):
        calls.append("the tool")
        return tool(tool_input)

    asyncio.run(Host(hooks).tool("Bash", {}, run))

    assert calls == expected


class Policy:
    """A callable object, with a method."""

    def __call__(self, event):
        return deny("object")

    def check(self, event):
        return deny("method")


class AsyncPolicy:
    async def __call__(self, event):
        return deny("async object")


def configured(reason, event):
    return deny(reason)


CALLABLES = {
    "a lambda": (lambda event: deny("lambda"), "lambda"),
    "an object": (Policy(), "object"),
    "an async object": (AsyncPolicy(), "async object"),
    "a method": (Policy().check, "method"),
    "a partial": (partial(configured, "partial"), "partial"),
}


@pytest.mark.parametrize(("handler", "reason"), CALLABLES.values(), ids=[f"S3-97 {name}" for name in CALLABLES])
@pytest.mark.parametrize("style", [SYNC, NO_LOOP])
def test_anything_that_can_be_called_can_be_a_hook(handler, reason, style):
    hooks = Hooks()
    hooks.register("PreToolUse", handler)

    assert fired(hooks, CALL, style).reason == reason


# ----------------------------------------------------------------------------------------------------------------
# Answers: sync, async, none


@table(
    scenario("S3-73", "the sample answer of the diagram", CALL,
             [{"continue": True, "decision": "allow", "reason": "...", "suppressOutput": False,
               "systemMessage": "Remember: always use --verbose"}],
             decision="allow", reason="...", context=["Remember: always use --verbose"]),
    scenario("S3-74 S3-104", "decision allow", CALL, [{"decision": "allow"}], decision="allow"),
    scenario("S3-74 S3-104", "decision deny", CALL, [{"decision": "deny"}], decision="deny"),
    scenario("S3-74 S3-105", "decision block is a deny", CALL, [{"decision": "block"}], decision="deny"),
    scenario("S3-105", "decision approve is an allow", CALL, [{"decision": "approve"}], decision="allow", granted=True),
    scenario("S3-74", "another decision is no answer, and never an allow (C-6)", CALL, [{"decision": "Allow"}],
             decision="deny", results=["failed bad_decision"],
             reason="first failed: decision: 'Allow' is no decision; say allow, ask or deny"),
    scenario("S3-79", "no answer: processing continues", CALL, [None, {}, {"systemMessage": "note"}], context=["note"]),
    scenario("S3-19 S3-75 S3-77 S3-78 S3-101",
             "after an async answer the hook is called again, and its second answer is its result", CALL,
             [lambda event: deny("2") if event.get("async_phase") == 2 else {"async": True, "asyncTimeout": 60}, None],
             decision="deny", reason="2", results=["ok", "skipped"], called=["first", "first"]),
    scenario("S3-78", "the second answer stands alone: what the first said beside async does not count", CALL,
             [lambda event: None if "async_phase" in event else {"async": True, "systemMessage": "first"}],
             called=["first", "first"]),
    scenario("S3-77", "a second async answer is a failure (C-23)", CALL, [{"async": True}, None],
             results=["failed bad_output", "ok"], called=["first", "first", "second"]),
    scenario("S3-19", "an error in the second call is a failure (X-26)", CALL,
             [lambda event: 1 / 0 if "async_phase" in event else {"async": True}, None],
             results=["failed hook_crash", "ok"], called=["first", "first", "second"]),
)  # fmt: skip
def test_answers(scenario, style):
    assert scenario.play(style) == scenario.effect


# fmt: off
SECOND_CALLS = [
    pytest.param({"asyncTimeout": 60}, 59.9, "ok", id="S3-75 asyncTimeout is in seconds"),
    pytest.param({"asyncTimeout": 60}, 60.1, "timeout", id="S3-19 S3-77 the second call has asyncTimeout"),
    pytest.param({}, 29.9, "ok", id="S3-76 without asyncTimeout the second call has 30 seconds"),
    pytest.param({}, 30.1, "timeout", id="S3-76 and not more"),
]
# fmt: on


@pytest.mark.parametrize(("first", "takes", "status"), SECOND_CALLS)
@pytest.mark.parametrize("style", STYLES)
def test_how_long_the_second_call_has(first, takes, status, style, clock):
    late = clock.takes(takes, deny("checked"))
    asks_for_more = hook(lambda event: late(event) if "async_phase" in event else {"async": True, **first}, timeout=1)

    played = play(CALL, [asks_for_more], style)

    assert ([result.status for result in played.outcome.results], played.outcome.denied) == ([status], status == "ok")


# ----------------------------------------------------------------------------------------------------------------
# Scoped hooks


def with_scopes(calls: list[str]) -> Hooks:
    """Return an engine with a base hook and two agents that have hooks of their own."""
    hooks = Hooks()
    for scope in ("agent-xyz", "agent-abc"):
        hooks.register_scoped(scope, {
            "PreToolUse": [{"matcher": "Bash", "hooks": [noting(calls, f"{scope} bash")]}],
            "PostToolUse": [noting(calls, f"{scope} after")],
        })  # fmt: skip
    hooks.register("PreToolUse", noting(calls, "base"))
    return hooks


# fmt: off
SCOPES = [
    pytest.param({}, ["base", "agent-xyz bash", "agent-abc bash"],
                 id="S3-3 S3-4 S3-10 S3-11 S3-81 S3-85 without a scope: base hooks, then those of all scopes (C-15)"),
    pytest.param({"agent_id": "agent-xyz"}, ["base", "agent-xyz bash"],
                 id="S3-8 S3-83 S3-84 S3-106 with a scope: base hooks and its own, nobody else's (C-15)"),
    pytest.param({"agent_id": "agent-abc"}, ["base", "agent-abc bash"], id="S3-85 S3-106 the other agent has its own"),
    pytest.param({"agent_id": "somebody"}, ["base"], id="S3-83 base hooks always fire"),
]
# fmt: on


@pytest.mark.parametrize(("fields", "expected"), SCOPES)
@pytest.mark.parametrize("style", [SYNC, NO_LOOP])
def test_which_hooks_hold(fields, expected, style):
    calls: list[str] = []

    fired(with_scopes(calls), at("PreToolUse", tool_name="Bash", **fields), style)

    assert calls == expected


def test_several_events_are_registered_at_once_each_with_matchers():
    """S3-8, S3-80"""
    calls: list[str] = []
    hooks = with_scopes(calls)

    hooks.fire_sync("PreToolUse", tool_name="Read", agent_id="agent-xyz")
    hooks.fire_sync("PreToolUse", tool_name="Bash", agent_id="agent-xyz")
    hooks.fire_sync("PostToolUse", tool_name="Read", agent_id="agent-xyz")

    assert calls == ["base", "base", "agent-xyz bash", "agent-xyz after"]


def test_after_unregistering_a_scope_its_hooks_no_longer_merge():
    """S3-9, S3-82, S3-107: and nothing else has changed."""
    calls: list[str] = []
    hooks = with_scopes(calls)
    base = [hook for hook in hooks if hook.scope is None]

    hooks.unregister_scoped("agent-xyz")
    hooks.fire_sync("PreToolUse", tool_name="Bash")
    hooks.fire_sync("PreToolUse", tool_name="Bash", agent_id="agent-xyz")

    assert calls == ["base", "agent-abc bash", "base"]
    assert [hook for hook in hooks if hook.scope is None] == base


def test_a_scope_holds_as_long_as_its_block_runs():
    """S3-9, S3-100"""
    calls: list[str] = []
    hooks = Hooks()

    with hooks.scope("scout", {"Stop": [noting(calls, "inside")]}):
        hooks.fire_sync("Stop")
    hooks.fire_sync("Stop")

    assert calls == ["inside"]


def test_scoped_hooks_for_an_event_without_base_hooks_fire():
    """S3-81, X-27"""
    calls: list[str] = []
    hooks = Hooks()
    hooks.register_scoped("scout", {"Stop": [noting(calls, "scout")]})

    hooks.fire_sync("Stop")
    hooks.fire_sync("Stop", agent_id="scout")

    assert calls == ["scout", "scout"]


def test_one_subagents_hooks_do_not_affect_anothers_calls():
    """S3-100, S3-106"""
    hooks = Hooks()
    hooks.register_scoped("careful", {"PreToolUse": [lambda event: deny("careful")]})
    hooks.register_scoped("bold", {"PreToolUse": [lambda event: allow("bold")]})

    reasons = {agent: hooks.fire_sync("PreToolUse", agent_id=agent).reason for agent in ("careful", "bold", "main")}

    assert reasons == {"careful": "careful", "bold": "bold", "main": ""}


def test_threads_may_fire_and_register_at_the_same_time():
    """S3-6, S3-103: state stays whole and nobody waits for ever."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, name="base")
    wrong: list[Any] = []

    def agent(number: int) -> None:
        scope = f"agent-{number}"
        for _ in range(50):
            hooks.register_scoped(scope, {"PreToolUse": [{"name": scope, "handler": lambda event: None}]})
            inside = [(r.hook, r.status) for r in hooks.fire_sync("PreToolUse", agent_id=scope).results]
            hooks.unregister_scoped(scope)
            after = [(r.hook, r.status) for r in hooks.fire_sync("PreToolUse", agent_id=scope).results]
            if (inside, after) != ([("base", "ok"), (scope, "ok")], [("base", "ok")]):
                wrong.append((inside, after))

    threads = [threading.Thread(target=agent, args=(number,), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert [thread.is_alive() for thread in threads] == [False] * 4
    assert wrong == []
    assert [hook.name for hook in hooks] == ["base"]


def test_tasks_may_fire_at_the_same_time():
    """S3-6: each firing sees its own input."""

    async def echo(event):
        await asyncio.sleep(0)
        return deny(event.tool_input["text"])

    async def host() -> list[str]:
        outcomes = await asyncio.gather(*(hooks.fire("PreToolUse", tool_input={"text": str(n)}) for n in range(100)))
        return [outcome.reason for outcome in outcomes]

    hooks = Hooks()
    hooks.register("PreToolUse", echo)

    assert asyncio.run(host()) == [str(n) for n in range(100)]


# ----------------------------------------------------------------------------------------------------------------
# Messages about hooks


def told_of(*answers: Any, style: str = SYNC, **options: Any) -> list[dict[str, Any]]:
    """Return the messages about hooks that say these things."""
    hooks = Hooks()
    messages: list[Any] = []
    for number, answer in enumerate(answers):
        written = _says(answer) if style != ASYNC else _says_later(answer)
        hooks.register("PreToolUse", written, name=f"hook {number}", **options)
    with hooks.observe(messages.append) as observer:
        fired(hooks, CALL, style)
        assert observer.flush()
    return messages


def _says(answer: Any):
    def handler(event):
        if isinstance(answer, Exception):
            raise answer
        return answer

    return handler


def _says_later(answer: Any):
    async def handler(event):
        return _says(answer)(event)

    return handler


@pytest.mark.parametrize("style", [ASYNC, SYNC, NO_LOOP])
def test_a_hook_that_starts_and_one_that_has_answered_are_told_of(style):
    """S3-5, S3-17, S3-20, S3-90, S3-94, S3-95, S3-96: with the hook's id, its name, the event and the outcome."""
    messages = told_of(None, deny("no"), style=style)

    told = [(one["subtype"], one["hook_name"], one["hook_event"], one.get("outcome")) for one in messages]
    assert told == [
        ("hook_started", "hook 0", "PreToolUse", None),
        ("hook_response", "hook 0", "PreToolUse", "success"),
        ("hook_started", "hook 1", "PreToolUse", None),
        ("hook_response", "hook 1", "PreToolUse", "success"),
    ]
    ids = [one["hook_id"] for one in messages]
    assert ids[0] == ids[1] != ids[2] == ids[3]


@pytest.mark.parametrize("style", [ASYNC, SYNC, NO_LOOP])
def test_a_hook_that_failed_is_told_of_as_an_error(style):
    """S3-94, X-25"""
    messages = told_of(RuntimeError("bug"), style=style)

    assert [(one["subtype"], one.get("outcome")) for one in messages] == [
        ("hook_started", None),
        ("hook_response", "error"),
    ]


def test_a_callback_reports_no_progress():
    """S3-92: only commands do."""
    assert {one["subtype"] for one in told_of(None, {"systemMessage": "note"})} == {"hook_started", "hook_response"}


def test_every_run_has_an_id_of_its_own():
    """S3-96: the same hook, fired twice."""
    hooks = Hooks()
    messages: list[Any] = []
    hooks.register("Stop", lambda event: None)

    with hooks.observe(messages.append) as observer:
        hooks.fire_sync("Stop")
        hooks.fire_sync("Stop")
        observer.flush()

    first, second = {one["hook_id"] for one in messages[:2]}, {one["hook_id"] for one in messages[2:]}
    assert (len(first), len(second), first & second) == (1, 1, set())


def test_nobody_needs_to_listen_and_whoever_breaks_harms_nobody():
    """S3-5, X-24, G-17"""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("no"))

    def broken(message):
        raise RuntimeError("bug")

    without = hooks.fire_sync("PreToolUse").reason
    with hooks.observe(broken) as observer:
        with_a_broken_one = hooks.fire_sync("PreToolUse").reason
        observer.flush()

    assert (without, with_a_broken_one) == ("no", "no")
