"""The contract with the host: what it may ask, what it is told, its mistakes, and the ways to switch us off."""

import asyncio
import json
import threading
from contextvars import ContextVar

import pytest
from tests.conformance.scenarios import ASYNC, INLINE, NO_LOOP, STYLES, SYNC, at, fired, hook, play

from interpose import BadEvent, Hooks, UnknownEvent, UsageError, allow, ask, context, deny, inject, modify

CALL = at("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})

# ----------------------------------------------------------------------------------------------------------------
# Its mistakes raise at once and clearly

# fmt: off
MISTAKES = [
    pytest.param("PreToolUze", {}, UnknownEvent, "did you mean PreToolUse", id="an unknown event, with the nearest name"),
    pytest.param("pre:tool:shell", {}, UnknownEvent, "fire PreToolUse with tool_name='shell'", id="a matcher is not fired"),
    pytest.param("", {}, UnknownEvent, "is not an event", id="an empty name"),
    pytest.param("PreToolUse", {"tool_name": 5}, BadEvent, "tool_name is int, not text", id="a subject that is not text"),
    pytest.param("pre:git:write", {"path": b"a"}, BadEvent, "path is bytes, not text", id="a path that is not text"),
    pytest.param("Stop", {"agent_id": 5}, BadEvent, "agent_id is int, not text", id="a scope that is not text"),
]
# fmt: on


@pytest.mark.parametrize(("event", "fields", "error", "said"), MISTAKES)
@pytest.mark.parametrize("style", [SYNC, NO_LOOP])
@pytest.mark.parametrize("hooked", [False, True])
def test_a_hosts_mistake_raises_whether_there_are_hooks_or_not(event, fields, error, said, style, hooked):
    hooks = Hooks()
    if hooked:
        for name in ("PreToolUse", "pre:git:write", "Stop"):
            hooks.register(name, lambda event: None)

    with pytest.raises(error, match=said):
        fired(hooks, at(event, **fields), style)


def test_fire_without_a_loop_says_what_to_do_instead():
    hooks = Hooks()
    hooks.register("Stop", lambda event: None)
    coroutine = hooks.fire("Stop")

    with pytest.raises(UsageError, match="use fire_sync"):
        coroutine.send(None)


# ----------------------------------------------------------------------------------------------------------------
# What it is told


def test_an_outcome_has_an_attribute_for_everything():
    outcome = play(
        at("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1", cwd="/project"),
        [modify(tool_input={"command": "pwd"}) + context("note"), ask("sure?"), hook({"x-mine": 1})],
        SYNC,
    ).outcome

    assert (outcome.event, outcome.decision, outcome.reason) == ("PreToolUse", "ask", "sure?")
    assert (outcome.allowed, outcome.denied, outcome.granted) == (False, False, False)
    assert (outcome.context, outcome.messages, outcome.inject, outcome.ignored) == (["note"], [], [], [])
    assert (outcome.keep_going, outcome.continue_, outcome.stop_reason) == (False, True, "")
    assert (outcome.suppress_output, outcome.interrupt, outcome.shadow) == (False, False, None)
    assert outcome.extra == {"x-mine": 1}
    assert outcome.input == {
        "session_id": "a session",
        "transcript_path": "",
        "cwd": "/project",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "pwd"},
        "tool_use_id": "t1",
    }
    assert (outcome.tool_name, outcome.tool_input) == ("Bash", {"command": "pwd"})


def test_an_outcome_is_one_json_document():
    outcome = play(
        at("PostToolUse", tool_name="Bash", tool_response="r", tool_use_id="t1", cwd="/project"),
        [inject("note", "user_message") + deny("late"), ValueError("bug")],
        SYNC,
    ).outcome

    said = json.loads(json.dumps(outcome.to_dict()))
    durations = [result.pop("duration_ms") for result in said["results"]]
    said.pop("input")

    assert all(isinstance(duration, float) for duration in durations)
    assert said == {
        "event": "PostToolUse",
        "decision": "none",
        "allowed": True,
        "denied": False,
        "granted": False,
        "reason": "",
        "context": ["late"],
        "inject": [{"content": "note", "strategy": "user_message"}],
        "messages": [],
        "suppress_output": False,
        "keep_going": False,
        "continue": True,
        "stop_reason": "",
        "interrupt": False,
        "extra": {},
        "ignored": [{"hook": "first", "wish": "deny"}],
        "results": [
            {"hook": "first", "type": "python", "status": "ok", "decision": "none", "reason": "", "error": None,
             "round": 1, "enforced": True},
            {"hook": "second", "type": "python", "status": "failed", "decision": "none", "reason": "",
             "error": {"code": "hook_crash", "text": "raised ValueError: bug"}, "round": 1, "enforced": True},
        ],
    }  # fmt: skip


def test_every_hooks_fate_is_in_the_results():
    def late(event):
        release.wait(5)

    release = threading.Event()
    played = play(CALL, [None, RuntimeError("bug"), hook(None, if_="Edit"), deny("no"), None], SYNC)
    hooks = Hooks()
    hooks.register("PreToolUse", late, timeout=0.05)
    (timed_out,) = fired(hooks, CALL).results
    release.set()

    results = [*played.outcome.results, timed_out]
    assert [result.status for result in results] == ["ok", "failed", "skipped", "ok", "skipped", "timeout"]
    assert [result.decision for result in results] == ["none", "none", "none", "deny", "none", "none"]
    assert all(0 <= result.duration < 5 for result in results)


@pytest.mark.parametrize("parallel", [False, True])
def test_a_result_says_that_its_hook_is_not_enforced_although_its_turn_never_came(parallel):
    played = play(
        CALL,
        [deny("no"), hook(None, enforce=False, parallel=parallel), hook(None, parallel=parallel)],
        SYNC,
    )

    assert [(result.status, result.enforced) for result in played.outcome.results] == [
        ("ok", True),
        ("skipped", False),
        ("skipped", True),
    ]


@pytest.mark.parametrize("style", STYLES)
def test_a_match_is_noted_beside_what_the_handler_has_noted(style, tmp_path):
    hooks = Hooks()
    hooks.register("PreToolUse", command="exit 3", if_="Bash(ls)")

    (result,) = fired(
        hooks, at("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, cwd=str(tmp_path)), style
    ).results

    assert (result.evidence["match"], result.evidence["exit"]) == ("certain", 3)


@pytest.mark.parametrize("style", STYLES)
def test_what_a_hook_said_that_is_not_known_is_its_own_no_longer(style):
    said = {"note": ["first"]}
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: said, inline=style == INLINE)

    outcome = fired(hooks, CALL, style)
    said["note"].append("later")

    assert outcome.extra == {"note": ["first"]}


def test_a_reply_of_two_hooks_that_change_the_same_says_so():
    changed = {"command": "ls -l"}

    outcome = play(CALL, [modify(tool_input=changed), modify(tool_input=changed)], SYNC).outcome

    assert outcome.reply() == play(CALL, [modify(tool_input=changed)], SYNC).outcome.reply() != {}


def test_an_allow_that_is_not_enforced_loses_nothing_by_a_later_change():
    outcome = play(CALL, [hook(allow(), enforce=False), modify(tool_input={})], SYNC).outcome

    assert outcome.ignored == []


def test_replies_can_be_added_and_the_stricter_decision_holds():
    reply = allow("fine") + context("a") + ask("sure?") + context("b") + modify(tool_input={})

    outcome = play(CALL, [reply], SYNC).outcome

    assert (outcome.decision, outcome.reason, outcome.context, outcome.tool_input) == ("ask", "sure?", ["a", "b"], {})


@pytest.mark.parametrize("style", STYLES)
def test_texts_for_people_and_models_contain_no_control_characters(style):
    played = play(CALL, [context("a\x1b[31mb\x00c\u202ed") + deny("x\x1b]0;title\x07y\r\nz")], style)

    assert (played.outcome.context, played.outcome.reason) == (["abcd"], "xy\nz")


# ----------------------------------------------------------------------------------------------------------------
# wants


def test_wants_says_whether_any_hook_would_be_looked_at():
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, matcher="Bash", name="bash")
    hooks.register_scoped("scout", {"Stop": [lambda event: None]})

    def wanted():
        return [
            hooks.wants("PreToolUse", "Bash"),
            hooks.wants("pre:tool", "Bash"),
            hooks.wants("PreToolUse", "Read"),
            hooks.wants("PreToolUse"),
            hooks.wants("Stop", agent_id="scout"),
            hooks.wants("Stop", agent_id="other"),
            hooks.wants("Stop"),
            hooks.wants("Setup"),
        ]

    before = wanted()
    hooks.disable("bash")
    after = wanted()

    assert before == [True, True, False, True, True, False, True, False]
    assert after == [False, False, False, False, True, False, True, False]
    with pytest.raises(UnknownEvent):
        hooks.wants("PreToolUze")


# ----------------------------------------------------------------------------------------------------------------
# Loops, tasks, threads, context variables


def test_fire_sync_works_inside_a_running_loop():
    async def coroutine(event):
        await asyncio.sleep(0)
        return context("coroutine")

    async def host():
        return hooks.fire_sync("PreToolUse", tool_name="Bash")

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: context("function"))
    hooks.register("PreToolUse", coroutine)

    assert asyncio.run(host()).context == ["function", "coroutine"]


@pytest.mark.parametrize("inline", [False, True])
def test_fire_sync_runs_what_must_be_awaited(inline):
    async def coroutine(event):
        await asyncio.sleep(0)
        return deny("awaited")

    hooks = Hooks()
    hooks.register("PreToolUse", coroutine, inline=inline)

    assert hooks.fire_sync("PreToolUse").reason == "awaited"


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("style", [SYNC, NO_LOOP])
def test_a_function_that_returns_a_coroutine_is_awaited_too(style, inline):
    """A missed coroutine would be a guard that never woke up."""

    async def later():
        await asyncio.sleep(0)
        return deny("awaited")

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: later(), inline=inline)

    assert fired(hooks, CALL, style).reason == "awaited"


variable: ContextVar[str] = ContextVar("variable", default="unset")


def variables_of(style: str) -> tuple[list[str], str]:
    """Return what a hook reads from the caller's context, and what the caller reads after the hook has written."""
    read: list[str] = []

    def function(event):
        read.append(variable.get())
        variable.set("written by the hook")

    async def coroutine(event):
        function(event)

    async def host() -> str:
        variable.set("written by the host")
        await hooks.fire("PreToolUse")
        return variable.get()

    hooks = Hooks()
    hooks.register("PreToolUse", coroutine if style == ASYNC else function, inline=style == INLINE)
    if style != NO_LOOP:
        return read, asyncio.run(host())
    token = variable.set("written by the host")
    try:
        hooks.fire_sync("PreToolUse")
        return read, variable.get()
    finally:
        variable.reset(token)


@pytest.mark.parametrize("style", STYLES)
def test_context_variables_of_the_caller_reach_a_hook(style):
    read, _ = variables_of(style)

    assert read == ["written by the host"]


@pytest.mark.parametrize("style", STYLES)
def test_a_hooks_context_variables_do_not_leak_to_the_host(style):
    _, after = variables_of(style)

    assert after == "written by the host"


# ----------------------------------------------------------------------------------------------------------------
# Hooks in the background


def test_a_background_hook_is_not_waited_for_and_its_context_reaches_the_session_later():
    async def slow(event):
        await release.wait()
        return context("from the background") + deny("too late to decide")

    async def host():
        first = await hooks.fire("PreToolUse", session_id="s")
        release.set()
        later = await hooks.fire("Setup", session_id="s")
        for _ in range(200):
            if later.context:
                break
            await asyncio.sleep(0.005)
            later = await hooks.fire("Setup", session_id="s")
        return first, later, await hooks.fire("Setup", session_id="s")

    release = asyncio.Event()
    hooks = Hooks()
    hooks.register("PreToolUse", slow, async_=True, name="slow")
    first, later, after = asyncio.run(host())

    assert (first.decision, first.context, [result.status for result in first.results]) == ("none", [], ["ok"])
    assert (later.decision, later.context, [item.hook for item in later.ignored]) == (
        "none",
        ["from the background"],
        ["slow"],
    )
    assert after.context == []


def test_what_a_background_hook_says_reaches_an_event_that_no_hook_is_on():
    async def slow(event):
        await release.wait()
        return context("from the background")

    async def host():
        before = await hooks.fire("SessionStart", source="startup", session_id="s")
        await hooks.fire("PreToolUse", session_id="s")
        release.set()
        for _ in range(20):  # for the background
            await asyncio.sleep(0)
        return before.context, (await hooks.fire("SessionStart", source="startup", session_id="s")).context

    release = asyncio.Event()
    hooks = Hooks()
    hooks.register("PreToolUse", slow, async_=True)

    assert asyncio.run(host()) == ([], ["from the background"])


# ----------------------------------------------------------------------------------------------------------------
# INTERPOSE_OFF


@pytest.mark.parametrize("style", STYLES)
def test_interpose_off_switches_enforcement_off_and_every_outcome_says_so(style, monkeypatch):
    monkeypatch.setenv("INTERPOSE_OFF", "locked out")

    played = play(CALL, [modify(tool_input={}), deny("no"), None], style)

    assert played.called == ["first", "second", "third"]
    assert (played.outcome.allowed, played.effect["changed"]) == (True, {})
    assert played.outcome.extra == {"off": "locked out"}
    assert played.outcome.shadow is not None
    assert played.outcome.shadow.decision == "deny"


@pytest.mark.parametrize("style", STYLES)
def test_interpose_off_shows_where_there_is_no_hook(style, monkeypatch):
    monkeypatch.setenv("INTERPOSE_OFF", "locked out")

    assert play(CALL, [], style).outcome.extra == {"off": "locked out"}


def test_interpose_off_shows_where_no_hook_has_anything_to_say(monkeypatch):
    monkeypatch.setenv("INTERPOSE_OFF", "locked out")

    assert play(CALL, [None], SYNC).outcome.extra == {"off": "locked out"}


def test_interpose_off_is_read_when_the_engine_is_made(monkeypatch):
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("no"))

    monkeypatch.setenv("INTERPOSE_OFF", "too late")

    assert hooks.fire_sync("PreToolUse").denied


def test_an_empty_interpose_off_switches_nothing_off(monkeypatch):
    monkeypatch.setenv("INTERPOSE_OFF", "")

    assert play(CALL, [deny("no")], SYNC).outcome.denied


def test_an_if_rule_is_judged_below_the_current_directory_where_the_host_gave_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("not in src"), if_="Write(src/**)")

    def decision(path: str) -> str:
        return hooks.fire_sync("PreToolUse", tool_name="Write", tool_input={"file_path": path}).decision

    assert [decision("src/a.py"), decision(f"{tmp_path}/src/a.py"), decision("docs/a.md"), decision("/src/a.py")] == [
        "deny", "deny", "none", "none"
    ]  # fmt: skip


def test_hooks_side_by_side_are_told_the_same_call_id():
    seen: list[str] = []
    hooks = Hooks()
    for _ in range(3):
        hooks.register("PreToolUse", lambda event: seen.append(event.tool_use_id), parallel=True)

    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash")

    assert seen == [outcome.tool_use_id] * 3
