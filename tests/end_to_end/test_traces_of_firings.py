"""What a collector is sent of a firing: its span and those of its hooks, also of a host that is interrupted."""

import asyncio
import threading
from typing import Any

import pytest
from tests.end_to_end.otlp_receiver import ERROR, UNSET
from tests.end_to_end.traced_hosts import CALL, WAYS, Telemetry, fire, silent
from tests.faults.hosts import eventually

from interpose import EventSpec, Hooks, context, deny, modify
from interpose.executors.blocking import blocking_executor
from interpose.runtime.coroutines import drive

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_environment")]


# What a firing looks like.


@pytest.mark.parametrize("way", WAYS)
def test_a_firing_is_a_span_below_the_hosts_with_one_for_each_hook(telemetry: Telemetry, way: str) -> None:
    hooks = Hooks(session_id="s-1")
    hooks.register("PreToolUse", silent, name="first", priority=1)
    hooks.register("PreToolUse", lambda event: deny("not today"), name="second", priority=2)
    hooks.register("PreToolUse", silent, name="third", priority=3)
    telemetry.trace(hooks)

    with telemetry.tracer.start_as_current_span("agent turn"):
        fire(way, hooks, tool_use_id="toolu_7", agent_id="a-1", agent_type="reviewer")

    got = telemetry.sent()
    turn, firing = got.span("agent turn"), got.span("hooks PreToolUse")
    first, second = got.children(firing)
    assert got.services == {"a host"}
    assert len(got.spans) == 4  # a hook whose turn never came has no span
    assert (firing.parent_id, firing.trace_id) == (turn.id, turn.trace_id)
    assert firing.attributes == {
        "gen_ai.agent.id": "a-1",
        "gen_ai.agent.name": "reviewer",
        "gen_ai.conversation.id": "s-1",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.id": "toolu_7",
        "gen_ai.tool.name": "Bash",
        "interpose.decision": "deny",
        "interpose.event": "PreToolUse",
        "interpose.hooks": 3,
        "interpose.reason": "not today",
    }
    assert (first.name, second.name) == ("hook first", "hook second")
    assert second.attributes == {
        "gen_ai.conversation.id": "s-1",
        "interpose.decision": "deny",
        "interpose.enforced": True,
        "interpose.event": "PreToolUse",
        "interpose.hook": "second",
        "interpose.layer": "code",
        "interpose.priority": 2,
        "interpose.reason": "not today",
        "interpose.round": 1,
        "interpose.status": "ok",
        "interpose.type": "python",
    }
    assert firing.began <= first.began <= first.ended <= second.began <= second.ended <= firing.ended
    assert {one.status for one in got.spans} == {UNSET}  # a deny is an answer, not an error


@pytest.mark.parametrize("way", WAYS)
def test_a_firing_without_hooks_is_a_span_too(telemetry: Telemetry, way: str) -> None:
    hooks = Hooks()
    fire(way, hooks, "Stop")
    telemetry.trace(hooks)

    fire(way, hooks, "Stop")

    firing = telemetry.sent().span("hooks Stop", decision="none", hooks=0)
    assert firing.parent_id == ""
    assert "gen_ai.operation.name" not in firing.attributes


@pytest.mark.parametrize("way", WAYS)
def test_a_hook_that_fails_is_an_error_with_its_code(telemetry: Telemetry, way: str) -> None:
    def breaks(event: Any) -> None:
        raise LookupError("no such thing")

    async def hangs(event: Any) -> None:
        await asyncio.sleep(60)

    hooks = Hooks()
    hooks.register("PreToolUse", breaks, name="breaks")
    hooks.register("PreToolUse", hangs, name="hangs", timeout=0.1)
    hooks.register("PreToolUse", "no_such_module.hook", name="missing")
    telemetry.trace(hooks)

    fire(way, hooks)

    got = telemetry.sent()
    said = {
        one.attributes["interpose.hook"]: (one.status, one.attributes["error.type"], one.message)
        for one in got.children(got.span("hooks PreToolUse", decision="deny"))
    }
    assert said["breaks"] == (ERROR, "hook_crash", "hook_crash: raised LookupError: no such thing")
    assert said["hangs"] == (ERROR, "timeout", "timeout: no answer within 0.1 s")
    assert said["missing"][:2] == (ERROR, "import_failed")
    assert got.span("hook hangs").attributes["interpose.status"] == "timeout"
    assert got.span("hooks PreToolUse").status == UNSET


def test_a_hook_that_cannot_start_has_a_span_all_the_same(telemetry: Telemetry) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", silent, name="deep")
    hooks.register("PreToolUse", lambda event: context(hooks.fire_sync("PreToolUse", **CALL).reason), name="deeper")
    telemetry.trace(hooks)

    hooks.fire_sync("PreToolUse", **CALL)

    assert len([one for one in telemetry.sent().spans if one.attributes.get("error.type") == "too_deep"]) == 1


@pytest.mark.parametrize("way", WAYS)
def test_hooks_side_by_side_are_siblings(telemetry: Telemetry, way: str) -> None:
    both = threading.Barrier(2, timeout=20)

    def meet(event: Any) -> None:
        both.wait()

    hooks = Hooks()
    for name in ("left", "right"):
        hooks.register("PreToolUse", meet, name=name, parallel=True)
    telemetry.trace(hooks)

    fire(way, hooks)

    got = telemetry.sent()
    left, right = got.children(got.span("hooks PreToolUse"))
    assert {left.name, right.name} == {"hook left", "hook right"}
    assert right.began < left.ended


def test_guards_that_look_again_have_a_second_span(telemetry: Telemetry) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", silent, name="guard", on_error="abort", priority=1)
    hooks.register("PreToolUse", lambda event: modify(tool_input={"command": "pwd"}), name="rewrites")
    telemetry.trace(hooks)

    fire("fire", hooks)

    got = telemetry.sent()
    runs = [(one.name, one.attributes["interpose.round"]) for one in got.children(got.span("hooks PreToolUse"))]
    assert runs == [("hook guard", 1), ("hook rewrites", 1), ("hook guard", 2)]


@pytest.mark.parametrize("way", WAYS)
def test_guards_that_are_asked_alone_are_traced_as_a_second_round(telemetry: Telemetry, way: str) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", silent, name="guard", on_error="abort")
    hooks.register("PreToolUse", silent, name="other")
    telemetry.trace(hooks)

    if way == "fire":
        asyncio.run(hooks.engine.fire_guards("PreToolUse", **CALL))
    else:
        drive(hooks.engine.fire_guards("PreToolUse", blocking_executor, **CALL))

    got = telemetry.sent()
    (guard,) = got.children(got.span("hooks PreToolUse"))
    assert (guard.name, guard.attributes["interpose.round"]) == ("hook guard", 2)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("parallel", [False, True])
def test_a_hook_in_the_background_has_a_span_that_ends_when_it_does(
    telemetry: Telemetry, way: str, parallel: bool
) -> None:
    go_on, ended = threading.Event(), threading.Event()

    def slow(event: Any) -> None:
        go_on.wait(20)
        ended.set()

    def slow_has_ended() -> bool:
        return eventually(lambda: any(one.name == "hook slow" for one in telemetry.sent().spans))

    async def host() -> None:
        await hooks.fire("PreToolUse", **CALL)
        go_on.set()
        assert await asyncio.to_thread(slow_has_ended)

    hooks = Hooks()
    hooks.register("PreToolUse", slow, name="slow", async_=True, parallel=parallel)
    hooks.register("PreToolUse", silent, name="beside", parallel=parallel)
    telemetry.trace(hooks)

    if way == "fire":
        asyncio.run(host())
    else:
        hooks.fire_sync("PreToolUse", **CALL)
        go_on.set()
        assert slow_has_ended()

    got = telemetry.sent()
    firing, slowly = got.span("hooks PreToolUse"), got.span("hook slow", background=True, status="ok")
    assert slowly.parent_id == firing.id
    assert slowly.ended > firing.ended
    assert "interpose.background" not in got.span("hook beside").attributes
    assert len(got.spans) == 3
    assert ended.is_set()


def test_what_is_not_enforced_says_so_and_what_it_would_have_decided(telemetry: Telemetry) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("one day"), name="new-rule", enforce=False)
    telemetry.trace(hooks)

    outcome = fire("fire", hooks)

    got = telemetry.sent()
    assert outcome.allowed
    assert got.span("hooks PreToolUse", decision="none").attributes["interpose.shadow.decision"] == "deny"
    assert got.span("hook new-rule", decision="deny", enforced=False).status == UNSET


def test_a_firing_of_an_event_of_the_hosts_own_is_traced(telemetry: Telemetry) -> None:
    hooks = Hooks()
    hooks.add_event(
        EventSpec("pre:deploy", "before a release", subject="stage", can="deny", fields="stage agent?:object")
    )
    hooks.register("pre:deploy", silent)
    telemetry.trace(hooks)

    asyncio.run(hooks.fire("pre:deploy", stage="production", agent={"not": "text"}))

    firing = telemetry.sent().span("hooks pre:deploy")
    assert firing.attributes.keys() & {"gen_ai.operation.name", "gen_ai.agent.name", "gen_ai.tool.name"} == set()


def test_switched_off_enforcement_is_in_the_span(telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERPOSE_OFF", "locked out")
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny(), name="guard")
    telemetry.trace(hooks)

    fire("fire", hooks)

    assert telemetry.sent().span("hooks PreToolUse").attributes["interpose.off"] == "locked out"


# A host that is interrupted.

INTERRUPTED: dict[str, dict[str, Any]] = {
    "in a thread": {},
    "in a task": {},
    "in the caller's task": {"inline": True},
    "beside another": {"parallel": True},
}


@pytest.mark.parametrize("hook", INTERRUPTED)
def test_a_host_that_is_cancelled_leaves_no_span_open(telemetry: Telemetry, hook: str) -> None:
    started, go_on = threading.Event(), threading.Event()

    async def waits(event: Any) -> None:
        started.set()
        await asyncio.sleep(60)

    def blocks(event: Any) -> None:
        started.set()
        go_on.wait(30)

    async def host() -> None:
        firing = asyncio.create_task(hooks.fire("PreToolUse", **CALL))
        assert await asyncio.to_thread(started.wait, 20)
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing

    options = INTERRUPTED[hook]
    hooks = Hooks()
    hooks.register("PreToolUse", blocks if hook == "in a thread" else waits, name="waits", **options)
    hooks.register("PreToolUse", silent, name="other", **options)
    telemetry.trace(hooks)

    asyncio.run(host())
    go_on.set()

    got = telemetry.sent()
    firing, waiting = got.span("hooks PreToolUse", status="cancelled"), got.span("hook waits", status="cancelled")
    assert waiting.parent_id == firing.id
    assert (waiting.status, firing.status) == (UNSET, UNSET)
    assert "interpose.decisions" not in got.metrics  # nothing was decided
