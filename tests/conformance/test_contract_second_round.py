"""The contract on the second round: guards look once more at an input that changed after their turn."""

from typing import Any

import pytest
from tests.conformance.scenarios import STYLES, at, hook, play, scenario, table

from interpose import EventSpec, Hooks, allow, ask, context, deny, modify

CALL = at("PreToolUse", tool_name="Write", tool_input={"file_path": "/project/a.py"}, cwd="/project")


def guard(what: Any = None, **options: Any):
    return hook(what, on_error="abort", **options)


def no_etc(event):
    return deny("not in etc") if "/etc" in event.tool_input["file_path"] else None


def breaks_in_etc(event):
    if "/etc" in event.tool_input["file_path"]:
        raise RuntimeError("bug")


ETC = modify(tool_input={"file_path": "/etc/passwd"})
INTO_ETC = {"tool_input": {"file_path": "/etc/passwd"}}
AGAIN: dict[str, Any] = {"called": ["first", "second", "first"], "changed": INTO_ETC}


def when_in_etc(answer: Any):
    """Return what a guard says that speaks up only about the changed input."""
    return lambda event: answer if "/etc" in event.tool_input["file_path"] else None


@table(
    scenario("", "after a deny in it the other guards are skipped in it", CALL, [guard(no_etc), guard(), ETC],
             called=["first", "second", "third", "first"], changed=INTO_ETC, decision="deny", reason="not in etc",
             results=["ok", "ok", "ok", "ok again", "skipped again"]),
    scenario("", "a guard denies what a later hook made of the input", CALL, [guard(no_etc), ETC], **AGAIN,
             results=["ok", "ok", "ok again"], decision="deny", reason="not in etc"),
    scenario("", "a locked hook is a guard", CALL, [hook(no_etc, locked=True), ETC], **AGAIN,
             results=["ok", "ok", "ok again"], decision="deny", reason="not in etc"),
    scenario("", "its ask counts", CALL, [guard(when_in_etc(ask("sure?"))), ETC], **AGAIN,
             results=["ok", "ok", "ok again"], decision="ask", reason="sure?"),
    scenario("", "one that runs once looks again all the same", CALL, [guard(no_etc, once=True), ETC], **AGAIN,
             results=["ok", "ok", "ok again"], decision="deny", reason="not in etc"),
    scenario("", "its change does not, and is reported", CALL, [guard(when_in_etc(modify(tool_input={}))), ETC],
             **AGAIN, results=["ok", "ok", "ok again"], ignored=[("first", "modify tool_input")]),
    scenario("", "a failure denies", CALL, [guard(breaks_in_etc), ETC], **AGAIN,
             results=["ok", "ok", "failed hook_crash again"], decision="deny",
             reason="first failed: raised RuntimeError: bug"),
    scenario("", "other hooks do not run again", CALL, [no_etc, ETC], changed=INTO_ETC),
    scenario("", "without a change nobody runs again", CALL, [guard(no_etc), None]),
    scenario("", "a guard after the change has seen the final input", CALL, [ETC, guard(no_etc)], changed=INTO_ETC,
             decision="deny", reason="not in etc"),
    scenario("", "a guard that made the last change itself has seen it", CALL, [guard(ETC)], changed=INTO_ETC),
    scenario("", "after a deny there is no second round", CALL, [guard(), ETC, deny("no")], changed=INTO_ETC,
             decision="deny", reason="no"),
    scenario("", "the guards run on the final input, once", CALL,
             [guard(no_etc), ETC, modify(tool_input={"file_path": "/project/b.py"})],
             changed={"tool_input": {"file_path": "/project/b.py"}}, called=["first", "second", "third", "first"],
             results=["ok", "ok", "ok", "ok again"]),
    scenario("", "if is judged anew: it no longer matches", CALL, [guard(deny("no"), if_="Write(lib/**)"), ETC],
             called=["second"], changed=INTO_ETC, results=["skipped", "ok", "skipped again"]),
    scenario("", "if is judged anew: it matches now", CALL, [guard(deny("no"), if_="Write(//etc/**)"), ETC],
             called=["second", "first"], changed=INTO_ETC, results=["skipped", "ok", "ok again"], decision="deny",
             reason="no"),
    scenario("", "on rows that can neither deny nor ask there is no second round",
             at("post:message", output="a"), [guard(), modify(output="b")], changed={"output": "b"}),
)  # fmt: skip
def test_the_second_round(scenario, style):
    assert scenario.play(style) == scenario.effect


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(allow("fine"), id="an allow grants nothing"),
        pytest.param(context("note"), id="context is not added"),
        pytest.param({"systemMessage": "note", "decision": "approve"}, id="neither, said together"),
    ],
)
@pytest.mark.parametrize("style", STYLES)
def test_in_the_second_round_only_deny_and_ask_count(answer, style):
    outcome = play(CALL, [guard(when_in_etc(answer)), ETC], style).outcome

    assert (outcome.decision, outcome.granted, outcome.context) == ("none", False, [])


@pytest.mark.parametrize("style", STYLES)
def test_a_guard_that_runs_twice_does_not_say_its_context_twice(style):
    played = play(CALL, [guard(context("note")), ETC], style)

    assert (played.called, played.outcome.context) == (["first", "second", "first"], ["note"])


@pytest.mark.parametrize("style", STYLES)
def test_there_is_one_extra_round_at_most(style):
    """A guard that wants to change the input every time has two turns."""
    played = play(CALL, [guard(ETC), guard(modify(tool_input={"file_path": "/tmp/x"}))], style)

    assert (played.called, played.outcome.tool_input) == (["first", "second", "first"], {"file_path": "/tmp/x"})
    assert [result.round for result in played.outcome.results] == [1, 1, 2]


def test_in_the_second_round_the_matcher_is_judged_anew():
    calls: list[str] = []
    row = EventSpec("pre:publish", "before a post", subject="channel", can="deny", modifies="channel", fields="channel")
    hooks = Hooks()
    hooks.add_event(row)
    hooks.register("pre:publish", lambda event: calls.append("guard of a"), matcher="a", on_error="abort")
    hooks.register("pre:publish", lambda event: calls.append("guard of all"), on_error="abort")
    hooks.register("pre:publish", lambda event: modify(channel="b"))

    hooks.fire_sync("pre:publish", channel="a")

    assert calls == ["guard of a", "guard of all", "guard of all"]


def test_a_guard_that_runs_once_and_has_run_before_does_not_look_again():
    calls: list[Any] = []
    hooks = Hooks()
    hooks.register("PreToolUse", calls.append, on_error="abort", once=True)
    hooks.register("PreToolUse", lambda event: ETC)

    outcomes = [hooks.fire_sync(CALL.event, **CALL.fields) for _ in range(2)]

    assert [[result.status for result in outcome.results] for outcome in outcomes] == [
        ["ok", "ok", "ok"],
        ["skipped", "ok", "skipped"],
    ]
    assert len(calls) == 2


def test_a_deny_in_the_second_round_may_interrupt():
    def no_rm(event):
        denies = {"behavior": "deny", "message": "no", "interrupt": True}
        return {"decision": denies} if event.tool_input["command"] == "rm x" else None

    hooks = Hooks()
    hooks.register("PermissionRequest", no_rm, on_error="abort")
    hooks.register("PermissionRequest", lambda event: allow() + modify(tool_input={"command": "rm x"}))

    outcome = hooks.fire_sync("PermissionRequest", tool_name="Bash", tool_input={"command": "ls"})

    assert (outcome.decision, outcome.reason, outcome.interrupt) == ("deny", "no", True)


def test_a_grant_does_not_hold_for_an_input_that_changed_after_it():
    """Otherwise a session would skip its question for something that nobody has granted."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: allow("ls is fine"), name="grants", priority=1)
    hooks.register("PreToolUse", lambda event: modify(tool_input={"command": "rm -rf /"}), matcher="Bash")

    changed = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
    unchanged = hooks.fire_sync("PreToolUse", tool_name="Read", tool_input={"command": "ls"})

    assert (changed.decision, changed.granted, unchanged.granted) == ("allow", False, True)
    assert [(one.hook, one.wish) for one in changed.ignored] == [("grants", "allow: the input changed afterwards")]


def test_a_grant_holds_for_the_change_that_came_with_it():
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: allow() + modify(tool_input={"command": "ls -l"}))

    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})

    assert (outcome.granted, outcome.tool_input) == (True, {"command": "ls -l"})


@pytest.mark.parametrize("rewrites_first", [True, False])
def test_a_guard_beside_a_hook_that_rewrites_looks_again_wherever_it_stands(rewrites_first: bool) -> None:
    """In a group of a settings file, all hooks are given the input as it was before the group."""
    hooks = Hooks()
    members: list[dict[str, Any]] = [
        {"handler": no_etc, "locked": True},
        {"handler": lambda event: {"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "updatedInput": {"file_path": "/etc/passwd"}}}},
    ]  # fmt: skip
    for options in reversed(members) if rewrites_first else members:
        hooks.register("PreToolUse", dialect="claude", **options)

    outcome = hooks.fire_sync("PreToolUse", tool_name="Write", tool_input={"file_path": "/project/a.py"})

    assert (outcome.decision, outcome.reason) == ("deny", "not in etc")
    assert [result.round for result in outcome.results] == [1, 1, 2]
