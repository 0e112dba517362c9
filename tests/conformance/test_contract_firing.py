"""The contract on firing, sentence by sentence: who runs, in which order, who wins, and who looks a second time."""

import asyncio
import itertools
import json
import threading
from typing import Any

import pytest
from tests.conformance.scenarios import ASYNC, INLINE, NO_LOOP, STYLES, SYNC, at, fired, hook, play, scenario, table

from interpose import Hooks, allow, ask, context, deny, inject, modify

CALL = at("PreToolUse", tool_name="Write", tool_input={"file_path": "/project/a.py"}, cwd="/project")


def noting(calls: list[str], name: str, answer: Any = None):
    """Return a hook that notes its call and then answers."""

    def handler(event):
        calls.append(name)
        return answer

    return handler


# ----------------------------------------------------------------------------------------------------------------
# 1. The hooks for everyone plus those of the scope fired for


def family(calls: list[str]) -> Hooks:
    """Return an engine with a parent that has an ordinary and a locked hook, its child, and a grandchild."""
    hooks = Hooks()
    hooks.register("PreToolUse", noting(calls, "shared"))
    hooks.register_scoped("parent", {"PreToolUse": [
        {"handler": noting(calls, "parent")}, {"handler": noting(calls, "parent locked"), "locked": True},
    ]})  # fmt: skip
    hooks.register_scoped("child", {"PreToolUse": [noting(calls, "child")]}, parent="parent")
    hooks.register_scoped("grandchild", {}, parent="child")
    return hooks


FAMILY = {
    "parent": ["shared", "parent", "parent locked"],
    "child": ["shared", "parent locked", "child"],
    "grandchild": ["shared", "parent locked"],
    "stranger": ["shared"],
}


@pytest.mark.parametrize(("agent", "expected"), FAMILY.items(), ids=FAMILY)
def test_locked_hooks_of_an_ancestor_hold_for_its_descendants(agent, expected):
    calls: list[str] = []

    family(calls).fire_sync("PreToolUse", agent_id=agent)

    assert calls == expected


def test_every_firing_is_planned_for_its_own_scope_and_subject():
    """One after another on one engine, twice: what one firing needed is not what the next one gets."""
    calls: list[str] = []
    hooks = Hooks()
    hooks.register("PreToolUse", noting(calls, "bash"), matcher="Bash")
    hooks.register_scoped("a", {"PreToolUse": [noting(calls, "a")]})
    hooks.register_scoped("b", {"PreToolUse": [{"matcher": "Read", "handler": noting(calls, "b")}]})
    firings: list[tuple[str, dict[str, str], list[str]]] = [
        ("Bash", {"agent_id": "a"}, ["bash", "a"]),
        ("Bash", {"agent_id": "b"}, ["bash"]),
        ("Bash", {}, ["bash", "a"]),
        ("Read", {"agent_id": "a"}, ["a"]),
        ("Read", {}, ["a", "b"]),
        ("Read", {"agent_id": "c"}, []),
        ("Bash", {"agent_id": ""}, ["bash", "a"]),
    ]

    for tool, scope, expected in firings * 2:
        calls.clear()
        hooks.fire_sync("PreToolUse", tool_name=tool, **scope)

        assert (tool, scope, calls) == (tool, scope, expected)


def test_an_override_holds_for_exactly_that_agent_and_not_for_its_descendants():
    calls: list[str] = []
    hooks = Hooks.from_mapping({
        "hooks": {"PreToolUse": [noting(calls, "shared"), {"handler": noting(calls, "locked"), "locked": True}]},
        "agents": [{"id": "main", "backend": {"hooks": {"PreToolUse": {"override": True, "hooks": []}}}}],
    })  # fmt: skip
    hooks.register_scoped("sub", {}, parent="main")

    hooks.fire_sync("PreToolUse", agent_id="main")
    hooks.fire_sync("PreToolUse", agent_id="sub")

    assert calls == ["locked", "shared", "locked"]


def test_an_override_drops_the_hooks_of_lower_layers_too():
    calls: list[str] = []
    hooks = Hooks.from_mapping(
        {"agents": [{"id": "main", "backend": {"hooks": {"Stop": {"override": True, "hooks": []}}}}]}
    )
    for layer in ("code", "user", "project", "local"):
        hooks.register("Stop", noting(calls, layer), layer=layer)

    hooks.fire_sync("Stop", agent_id="main")
    hooks.fire_sync("Stop", agent_id="other")

    assert calls == ["code", "user", "project", "local"]


# ----------------------------------------------------------------------------------------------------------------
# 2. Order: priority, then shared before scoped, then registration


def test_order_is_priority_then_shared_before_scoped_then_registration():
    calls: list[str] = []
    hooks = Hooks()
    hooks.register_scoped("a", {"Stop": [noting(calls, "scoped 1"), noting(calls, "scoped 2"),
                                         {"handler": noting(calls, "scoped first of all"), "priority": 1}]})  # fmt: skip
    hooks.register("Stop", noting(calls, "shared 1"))
    hooks.register("Stop", noting(calls, "shared early"), priority=99)
    hooks.register("Stop", noting(calls, "shared 2"))
    hooks.register("Stop", noting(calls, "shared late"), priority=101)

    hooks.fire_sync("Stop", agent_id="a")

    assert calls == ["scoped first of all", "shared early", "shared 1", "shared 2", "scoped 1", "scoped 2",
                     "shared late"]  # fmt: skip


def test_a_disabled_hook_is_not_in_the_results():
    hooks = Hooks()
    hooks.register("Stop", lambda event: None, name="on")
    hooks.register("Stop", lambda event: None, name="off", enabled=False)

    assert [result.hook for result in hooks.fire_sync("Stop").results] == ["on"]


# ----------------------------------------------------------------------------------------------------------------
# 3. One after another; `if`; side by side


@table(
    scenario("", "each hook sees what the one before it changed", at("pre:message", prompt="a"),
             [lambda event: modify(prompt=event.prompt + "b"), lambda event: modify(prompt=event.prompt + "c")],
             changed={"prompt": "abc"}),
    scenario("", "if is judged at the hook's turn, on the current input: now it matches", CALL,
             [modify(tool_input={"file_path": "/project/src/a.py"}), hook(deny("in src"), if_="Write(src/**)")],
             changed={"tool_input": {"file_path": "/project/src/a.py"}}, decision="deny", reason="in src"),
    scenario("", "if is judged at the hook's turn, on the current input: it no longer matches", CALL,
             [modify(tool_input={"file_path": "/tmp/a.py"}), hook(deny("in work"), if_="Write(./**)")],
             changed={"tool_input": {"file_path": "/tmp/a.py"}}, results=["ok", "skipped"], called=["first"]),
    scenario("", "if names another tool: skipped", CALL, [hook(deny("no"), if_="Edit")], results=["skipped"],
             called=[]),
    scenario("", "what if cannot judge counts as true", at("PreToolUse", tool_name="Write", tool_input={"text": "x"}),
             [hook(deny("not sure"), if_="Write(src/**)")], decision="deny", reason="not sure"),
    scenario("", "what if cannot judge counts as true: no tool is named", at("PreToolUse", tool_input={}),
             [hook(deny("not sure"), if_="Write(src/**)")], decision="deny", reason="not sure"),
)  # fmt: skip
def test_one_after_another(scenario, style):
    assert scenario.play(style) == scenario.effect


class Unjudgeable(dict):
    """A tool's input that breaks when it is looked into."""

    def __contains__(self, key: object) -> bool:
        raise RuntimeError("bug")


def test_an_if_that_breaks_while_it_is_judged_counts_as_true():
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("not sure"), if_="Write(src/**)")

    outcome = fired(hooks, at("PreToolUse", tool_name="Write", tool_input=Unjudgeable()))

    assert outcome.reason == "not sure"


class TestTheGradeOfAMatch:
    """A hook's ``if`` holds in all three grades, and the hook is told which."""

    CALLS = (("secret", "certain"), ("file:///project/secret", "possible"), ("/dev/fd/3", "opaque"))

    @pytest.mark.parametrize(("path", "grade"), CALLS)
    @pytest.mark.parametrize("options", [{}, {"inline": True}, {"parallel": True}], ids=["plain", "inline", "parallel"])
    def test_a_function_is_told(self, path: str, grade: str, options: dict[str, Any]) -> None:
        hooks = Hooks()
        told = []
        for rule in ("Read(./secret)", None, ["Read(./other)", "Read"]):
            hooks.register(
                "PreToolUse", lambda event: told.append((event.match, event.get("match"))), if_=rule, **options
            )

        hooks.fire_sync("PreToolUse", tool_name="Read", tool_input={"file_path": path}, cwd="/project")

        assert sorted(told, key=str) == sorted([(grade, grade), ("", None), ("certain", "certain")], key=str)

    @pytest.mark.parametrize("awaits", [False, True])
    def test_a_hook_in_the_background_is_told(self, awaits: bool) -> None:
        hooks = Hooks()
        told: list[str] = []
        done = threading.Event()

        def look(event: Any) -> None:
            told.append(event.match)
            done.set()

        async def look_async(event: Any) -> None:
            look(event)

        hooks.register("PreToolUse", look_async if awaits else look, if_="Read(./secret)", async_=True)
        hooks.fire_sync("PreToolUse", tool_name="Read", tool_input={"file_path": "/dev/fd/3"}, cwd="/project")

        assert done.wait(10)
        assert told == ["opaque"]

    @pytest.mark.parametrize(("path", "grade"), CALLS)
    def test_a_command_reads_it(self, path: str, grade: str, tmp_path: Any) -> None:
        hooks = Hooks()
        for number, rule in enumerate(("Read(./secret)", None, "Read")):
            hooks.register("PreToolUse", command=f"cat > {tmp_path}/{number}", if_=rule)

        given = {"file_path": path.replace("/project", str(tmp_path))}
        hooks.fire_sync("PreToolUse", tool_name="Read", tool_input=given, cwd=str(tmp_path))

        said = [json.loads((tmp_path / str(number)).read_text()).get("match") for number in range(3)]
        assert said == [grade, None, "certain"]

    def test_the_result_of_a_hook_that_said_something_has_it(self) -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: deny("no"), if_="Read(./secret)")

        outcome = hooks.fire_sync("PreToolUse", tool_name="Read", tool_input={"file_path": "/dev/fd/3"}, cwd="/project")

        assert outcome.results[0].evidence["match"] == "opaque"


def side_by_side(*answers: Any, **options: Any) -> tuple[Hooks, list[Any]]:
    """Return an engine whose parallel hooks answer only when all of them run, and what each of them was told."""
    hooks = Hooks()
    told: list[Any] = []
    everybody = threading.Barrier(len(answers))

    def written(answer):
        def handler(event):
            told.append(event.tool_input)
            everybody.wait(5)
            return answer

        return handler

    for number, answer in enumerate(answers):
        hooks.register("PreToolUse", written(answer), name=f"parallel {number}", parallel=True, **options)
    return hooks, told


@pytest.mark.parametrize("style", [SYNC, NO_LOOP])
def test_parallel_hooks_next_to_each_other_run_side_by_side_and_are_merged_in_order(style):
    hooks, _ = side_by_side(context("0"), context("1"), context("2"))

    outcome = fired(hooks, CALL, style)

    assert ([result.status for result in outcome.results], outcome.context) == (["ok"] * 3, ["0", "1", "2"])


@pytest.mark.parametrize("style", [SYNC, NO_LOOP])
def test_parallel_hooks_run_to_completion_and_a_deny_ends_the_firing_after_them(style):
    hooks, _ = side_by_side(deny("0"), context("1"), deny("2"))
    hooks.register("PreToolUse", lambda event: context("later"), name="later")

    outcome = fired(hooks, CALL, style)

    assert (outcome.decision, outcome.reason, outcome.context) == ("deny", "0\n2", ["1"])
    assert [result.status for result in outcome.results] == ["ok", "ok", "ok", "skipped"]


@pytest.mark.parametrize("style", [SYNC, NO_LOOP])
def test_a_change_asked_for_by_a_parallel_hook_has_no_effect_and_is_reported(style):
    hooks, told = side_by_side(modify(tool_input={}), modify(tool_input={"b": 1}))

    outcome = fired(hooks, CALL, style)

    assert outcome.tool_input == CALL.fields["tool_input"]
    assert told == [CALL.fields["tool_input"]] * 2
    assert [(item.hook, item.wish) for item in outcome.ignored] == [
        ("parallel 0", "modify tool_input"),
        ("parallel 1", "modify tool_input"),
    ]


@pytest.mark.parametrize("style", [SYNC, NO_LOOP])
def test_parallel_hooks_all_see_what_was_changed_before_them(style):
    hooks, told = side_by_side(None, None)
    hooks.register("PreToolUse", lambda event: modify(tool_input={"early": True}), priority=1)

    fired(hooks, CALL, style)

    assert told == [{"early": True}] * 2


def test_parallel_hooks_of_different_priority_run_one_after_another():
    calls: list[str] = []
    hooks = Hooks()
    hooks.register("Stop", noting(calls, "second", {"continue": False}), parallel=True, priority=2)
    hooks.register("Stop", noting(calls, "first", {"continue": False}), parallel=True, priority=1)

    hooks.fire_sync("Stop")

    assert calls == ["first"]


def test_parallel_hooks_with_another_between_them_run_one_after_another():
    calls: list[str] = []
    hooks = Hooks()
    hooks.register("PreToolUse", noting(calls, "first", deny("no")), parallel=True)
    hooks.register("PreToolUse", noting(calls, "between"))
    hooks.register("PreToolUse", noting(calls, "last"), parallel=True)

    hooks.fire_sync("PreToolUse")

    assert calls == ["first"]


def test_a_failing_parallel_guard_denies():
    def broken(event):
        raise RuntimeError("bug")

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, parallel=True)
    hooks.register("PreToolUse", broken, parallel=True, on_error="abort")

    assert hooks.fire_sync("PreToolUse").denied


# ----------------------------------------------------------------------------------------------------------------
# 4. and 5. What ends a firing, and who wins

SAYS: dict[str, Any] = {"deny": deny("deny"), "ask": ask("ask"), "allow": allow("allow"), "none": None}
STRICTNESS = ["deny", "ask", "allow", "none"]


@pytest.mark.parametrize("said", [pytest.param(said, id=" ".join(said)) for said in itertools.permutations(SAYS, 3)])
@pytest.mark.parametrize("style", [ASYNC, INLINE])
def test_the_strictest_wins_whatever_the_order(said, style):
    outcome = play(CALL, [SAYS[word] for word in said], style).outcome

    strictest = min(said, key=STRICTNESS.index)
    assert (outcome.decision, outcome.reason) == (strictest, "" if strictest == "none" else strictest)
    assert (outcome.allowed, outcome.denied) == (strictest in ("allow", "none"), strictest == "deny")
    assert outcome.granted == (strictest == "allow")


@table(
    scenario("", "a deny ends the firing: the rest is skipped", CALL, [context("1"), deny("no"), context("3"), None],
             decision="deny", reason="no", context=["1"], results=["ok", "ok", "skipped", "skipped"],
             called=["first", "second"]),
    scenario("", "an ask does not end it", CALL, [ask("sure?"), context("2")], decision="ask", reason="sure?",
             context=["2"]),
    scenario("", "continue: false ends it; on a row that can deny it is a deny whose reason is the stopReason", CALL,
             [{"continue": False, "stopReason": "enough"}, None], decision="deny", reason="enough",
             stop_reason="enough", continue_=False, results=["ok", "skipped"], called=["first"]),
    scenario("", "continue: false takes an allow back", CALL,
             [{"continue": False, "stopReason": "enough", "decision": "approve"}], decision="deny", reason="enough",
             stop_reason="enough", continue_=False),
    scenario("", "continue: false on a row that cannot deny ends the firing and tells the host", at("PostToolUse"),
             [{"continue": False, "stopReason": "enough"}, None], stop_reason="enough", continue_=False,
             results=["ok", "skipped"], called=["first"]),
    scenario("", "continue: false on TeammateIdle with a reason keeps the teammate going (X-28)", at("TeammateIdle"),
             [{"continue": False, "reason": "one task left"}], keep_going=True, reason="one task left"),
    scenario("", "continue: false on TeammateIdle without a reason means nothing (X-28)", at("TeammateIdle"),
             [{"continue": False}]),
    scenario("", "continue: false on TaskCompleted is a deny", at("TaskCompleted"),
             [{"continue": False, "stopReason": "untested"}], decision="deny", reason="untested",
             stop_reason="untested", continue_=False),
    scenario("", "a deny on a keep-going row keeps going with the reason", at("Stop"),
             [deny("the tests fail"), deny("and lint")], keep_going=True, reason="the tests fail\nand lint"),
    scenario("", "a deny on a context row: its reason joins the context and the wish is reported", at("Notification"),
             [deny("mind this"), context("2")], context=["mind this", "2"], ignored=[("first", "deny")]),
    scenario("", "a deny elsewhere is reported", at("SessionEnd"), [deny("no"), None], ignored=[("first", "deny")]),
    scenario("", "two denies in one reply are one", CALL, [{"decision": "deny", "abort": True, "reason": "no"}],
             decision="deny", reason="no"),
)  # fmt: skip
def test_what_ends_a_firing_and_who_wins(scenario, style):
    assert scenario.play(style) == scenario.effect


# ----------------------------------------------------------------------------------------------------------------
# 6. Changes


@table(
    scenario("", "each named field is replaced whole, others stay", at("PreToolUse", tool_input={"a": 1, "b": 2}),
             [modify(tool_input={"a": 3})], changed={"tool_input": {"a": 3}}),
    scenario("", "modify, updated_input and updatedInput chain", at("PreToolUse", tool_input={"n": [0]}),
             [lambda event: modify(tool_input={"n": [*event.tool_input["n"], 1]}),
              lambda event: {"updated_input": {"n": [*event.tool_input["n"], 2]}},
              lambda event: {"updatedInput": {"n": [*event.tool_input["n"], 3]}},
              lambda event: {"hookSpecificOutput": {"hookEventName": "PreToolUse",
                                                    "updatedInput": {"n": [*event.tool_input["n"], 4]}}}],
             changed={"tool_input": {"n": [0, 1, 2, 3, 4]}}),
    scenario("", "any other name has no effect and is reported, the rest of the answer counts", CALL,
             [modify(tool_name="Read", tool_input={})], changed={"tool_input": {}},
             ignored=[("first", "modify tool_name")]),
    scenario("", "a deny changes nothing", CALL, [deny("no") + modify(tool_input={})], decision="deny", reason="no",
             ignored=[("first", "modify tool_input")]),
    scenario("", "an ask may change what is asked about", CALL, [ask("sure?") + modify(tool_input={})],
             decision="ask", reason="sure?", changed={"tool_input": {}}),
)  # fmt: skip
def test_changes(scenario, style):
    assert scenario.play(style) == scenario.effect


# ----------------------------------------------------------------------------------------------------------------
# A hook gets its own copy; a firing keeps its hooks


def spoil(event):
    event.tool_input["file_path"] = "/etc/passwd"
    event["tool_name"] = "Read"
    event.clear()


@table(
    scenario("", "changing the event in place changes nothing", CALL,
             [spoil, lambda event: deny(event.tool_input["file_path"])], decision="deny", reason="/project/a.py"),
    scenario("", "nor deeper down", at("PreToolUse", tool_input={"list": [{"a": 1}]}),
             [lambda event: event.tool_input["list"][0].update(a=2), lambda event: deny(str(event.tool_input))],
             decision="deny", reason="{'list': [{'a': 1}]}"),
)  # fmt: skip
def test_a_hook_gets_its_own_copy(scenario, style):
    assert scenario.play(style) == scenario.effect


@pytest.mark.parametrize("style", STYLES)
def test_what_the_host_gave_is_not_changed(style):
    given = {"file_path": "/project/a.py", "lines": [1]}

    play(at("PreToolUse", tool_name="Write", tool_input=given),
         [lambda event: event.tool_input["lines"].append(2), modify(tool_input={})], style)  # fmt: skip

    assert given == {"file_path": "/project/a.py", "lines": [1]}


@pytest.mark.parametrize("style", STYLES)
def test_what_a_hook_answered_is_its_own_no_longer(style):
    kept = {"lines": [1]}

    played = play(CALL, [modify(tool_input=kept), lambda event: kept["lines"].append(2)], style)

    assert played.outcome.tool_input == {"lines": [1]}


def test_a_firing_keeps_the_set_of_hooks_that_it_began_with():
    calls: list[str] = []
    hooks = Hooks()

    def meddles(event):
        calls.append("meddles")
        hooks.register("Stop", noting(calls, "new"), name="new")
        hooks.unregister("old")
        hooks.disable("meddles")

    hooks.register("Stop", meddles, name="meddles")
    hooks.register("Stop", noting(calls, "old"), name="old")
    hooks.fire_sync("Stop")
    first = calls.copy()
    calls.clear()
    hooks.fire_sync("Stop")

    assert (first, calls) == (["meddles", "old"], ["new"])


# ----------------------------------------------------------------------------------------------------------------
# Hooks that fire


def nested(style: str, event: str = "PreToolUse") -> tuple[list[Any], list[Any]]:
    """Return how often a hook that fires its own event was called, and what each firing decided, inner first."""
    hooks, calls, decisions = Hooks(), [], []

    def function(event):
        calls.append(1)
        decisions.append(hooks.fire_sync(event.hook_event_name).decision)

    async def coroutine(event):
        calls.append(1)
        decisions.append((await hooks.fire(event.hook_event_name)).decision)

    hooks.register(event, coroutine if style == ASYNC else function, inline=style == INLINE)
    fired(hooks, at(event), style)
    return calls, decisions


@pytest.mark.parametrize("style", STYLES)
def test_a_hook_may_fire_events_itself_to_a_depth_of_8(style):
    calls, _ = nested(style)

    assert len(calls) == 8


@pytest.mark.parametrize("style", STYLES)
def test_at_depth_9_the_inner_fire_returns_a_deny_where_the_row_can(style):
    _, decisions = nested(style)

    assert decisions == ["deny", *["none"] * 7]


@pytest.mark.parametrize("style", STYLES)
def test_at_depth_9_a_row_that_cannot_deny_goes_on(style):
    calls, decisions = nested(style, "SessionEnd")

    assert (len(calls), decisions) == (8, ["none"] * 8)


def test_firings_beside_each_other_are_not_inside_each_other():
    async def host() -> list[str]:
        outcomes = await asyncio.gather(*(hooks.fire("PreToolUse") for _ in range(20)))
        return [outcome.decision for outcome in outcomes]

    async def slow(event):
        await asyncio.sleep(0)

    hooks = Hooks()
    hooks.register("PreToolUse", slow)

    assert asyncio.run(host()) == ["none"] * 20


# ----------------------------------------------------------------------------------------------------------------
# Granting


@table(
    scenario("", "allow() grants", CALL, [allow()], decision="allow", granted=True),
    scenario("", "permissionDecision allow grants", CALL,
             [{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}],
             decision="allow", granted=True),
    scenario("", "behavior allow grants", at("PermissionRequest"),
             [{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}],
             decision="allow", granted=True),
    scenario("", "approve grants", CALL, [{"decision": "approve"}], decision="allow", granted=True),
    scenario("", "decision allow grants nothing", CALL, [{"decision": "allow"}], decision="allow"),
    scenario("", "allowed: true grants nothing", CALL, [{"allowed": True}], decision="allow"),
    scenario("", "a grant beside an ask grants nothing", CALL, [allow(), ask("sure?")], decision="ask",
             reason="sure?"),
    scenario("", "no objection beside a grant leaves it", CALL, [{"decision": "allow"}, allow()], decision="allow",
             granted=True),
    scenario("", "silence grants nothing", CALL, [None]),
)  # fmt: skip
def test_granting(scenario, style):
    assert scenario.play(style) == scenario.effect


# ----------------------------------------------------------------------------------------------------------------
# What is written with enforce false


@table(
    scenario("", "a hook that is not enforced is recorded and applies nothing, and skips nothing",
             CALL, [hook(deny("no") + context("note"), enforce=False), context("2")], context=["2"]),
    scenario("", "its change is not applied", CALL, [hook(modify(tool_input={}), enforce=False)]),
    scenario("", "its failure denies nothing", CALL, [hook(RuntimeError("bug"), enforce=False, on_error="abort"), None],
             results=["failed hook_crash", "ok"]),
    scenario("", "the whole configuration can be so", CALL, [deny("no"), modify(tool_input={}), inject("x")],
             settings={"enforce": False}, ignored=[("third", "inject")]),
)  # fmt: skip
def test_what_is_not_enforced_has_no_effect(scenario, style):
    assert scenario.play(style) == scenario.effect


@pytest.mark.parametrize(("settings", "options"), [({"enforce": False}, {}), ({}, {"enforce": False})])
def test_shadow_is_what_would_have_been_decided(settings, options):
    outcome = play(CALL, [hook(ask("sure?"), **options), hook(deny("no"), **options), None], SYNC, **settings).outcome

    assert (outcome.allowed, outcome.reason) == (True, "")
    assert outcome.shadow is not None
    assert (outcome.shadow.decision, outcome.shadow.reason, outcome.shadow.allowed) == ("deny", "no", False)
    assert [(result.decision, result.enforced) for result in outcome.results[:2]] == [("ask", False), ("deny", False)]


def test_what_is_enforced_counts_beside_what_is_not():
    outcome = play(CALL, [hook(deny("shadow"), enforce=False), ask("sure?")], SYNC).outcome

    assert (outcome.decision, outcome.reason) == ("ask", "sure?")
    assert outcome.shadow is not None
    assert outcome.shadow.decision == "deny"


def test_without_shadow_rules_there_is_no_shadow():
    assert play(CALL, [deny("no")], SYNC).outcome.shadow is None
