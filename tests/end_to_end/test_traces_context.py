"""The context of a trace, which hooks see inside the process and in processes of their own."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import TraceState
from tests.end_to_end.otlp_receiver import Receiver
from tests.end_to_end.traced_hosts import CALL, LONG_AGO, WAYS, Telemetry, fire, silent
from tests.faults.hosts import eventually

from interpose import Hooks, Outcome, context

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_environment")]

SAY_TRACEPARENT = """printf '{"decision": "ask", "reason": "%s|%s"}' "$TRACEPARENT" "$TRACESTATE" """


def told(outcome: Outcome) -> list[str]:
    """TRACEPARENT and TRACESTATE as a command has said them."""
    return outcome.reason.split("|")


# The context, inside the process.


def current_id() -> str:
    return f"{trace.get_current_span().get_span_context().span_id:016x}"


async def later() -> Any:
    await asyncio.sleep(0)
    return context(current_id())


async def asynchronous(event: Any) -> Any:
    return await later()


def twice(event: Any) -> Any:
    return context(current_id()) if event.get("async_phase") == 2 else {"async": True}


SEES: dict[str, tuple[Any, dict[str, Any]]] = {
    "in a thread": (lambda event: context(current_id()), {}),
    "in the caller's task": (lambda event: context(current_id()), {"inline": True}),
    "in a task": (asynchronous, {}),
    "a function that gives a coroutine": (lambda event: later(), {}),
    "in its second phase": (twice, {}),
    "beside another": (asynchronous, {"parallel": True}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("hook", SEES)
def test_a_hook_sees_its_own_span_as_the_current_one_and_the_host_does_not(
    telemetry: Telemetry, way: str, hook: str
) -> None:
    function, options = SEES[hook]
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: context(current_id()), name="before", priority=1, inline=True)
    hooks.register("PreToolUse", function, name="looks", **options)
    hooks.register("PreToolUse", silent, name="another", **options)
    telemetry.trace(hooks)

    with telemetry.tracer.start_as_current_span("turn"):
        outside = current_id()
        outcome = fire(way, hooks)
        assert current_id() == outside

    got = telemetry.sent()
    assert outcome.context == [got.span("hook before").id, got.span("hook looks").id]
    assert len(got.spans) == 5  # a second phase is the same run


def test_a_hook_that_fires_is_the_parent_of_what_it_fires(telemetry: Telemetry) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: context(hooks.fire_sync("Stop").decision), name="fires")
    telemetry.trace(hooks)

    fire("fire", hooks)

    got = telemetry.sent()
    assert got.span("hooks Stop").parent_id == got.span("hook fires").id


# The context, in other processes.


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("isolation", ["group", "tree", None])
def test_a_command_finds_the_span_of_its_hook(telemetry: Telemetry, way: str, isolation: str | None) -> None:
    options: dict[str, Any] = {"isolation": isolation} if isolation else {}
    if isolation == "tree" and sys.platform != "linux":
        pytest.skip("trees need Linux")
    hooks = Hooks()
    hooks.register("PreToolUse", command=SAY_TRACEPARENT, name="says", **options)
    telemetry.trace(hooks)

    with telemetry.tracer.start_as_current_span("turn"):
        said, state = told(fire(way, hooks))

    assert (said, state) == (telemetry.sent().span("hook says").traceparent + said[-2:], "")
    assert said.endswith(("-01", "-03"))  # sampled


@pytest.mark.skipif(sys.platform != "linux", reason="warm interpreters need Linux")
def test_a_warm_command_finds_the_span_of_its_hook_each_time(telemetry: Telemetry, tmp_path: Path) -> None:
    script = tmp_path / "hook.py"
    script.write_text("import json, os\nprint(json.dumps({'decision': 'ask', 'reason': os.environ['TRACEPARENT']}))\n")
    hooks = Hooks()
    hooks.register("PreToolUse", [sys.executable, str(script)], type="command", name="says", warm=True)
    telemetry.trace(hooks)
    outcomes: list[Outcome] = []

    def was_warm() -> bool:
        outcomes.append(hooks.fire_sync("PreToolUse", **CALL))
        return bool(outcomes[-1].results[0].evidence.get("warm"))

    for _ in range(2):  # an interpreter that still ends its last run is not waited for
        assert eventually(was_warm)

    spans = {one.traceparent for one in telemetry.sent().spans if one.name == "hook says"}
    assert {outcome.reason[:-2] for outcome in outcomes} == spans
    assert len(spans) == len(outcomes)


@pytest.mark.parametrize("way", WAYS)
def test_a_function_in_a_process_of_its_own_finds_the_span_of_each_event(
    telemetry: Telemetry, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hook_apart.py").write_text(
        "import os\nfrom interpose import ask\n\n\ndef say(event):\n"
        "    return ask('|'.join(os.environ.get(name, '') for name in ('TRACEPARENT', 'TRACESTATE')))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TRACEPARENT", LONG_AGO)
    monkeypatch.setenv("TRACESTATE", "old=1")
    hooks = Hooks()
    hooks.register("PreToolUse", "hook_apart.say", name="says", isolate="process")
    untraced = told(fire(way, hooks))
    tracing = telemetry.trace(hooks)

    first, second = told(fire(way, hooks)), told(fire(way, hooks))
    tracing.close()
    afterwards = told(fire(way, hooks))
    hooks.close()  # ends the process, which the tests of commands would find

    spans = [one.traceparent for one in telemetry.sent().spans if one.name == "hook says"]
    assert [first[0][:-2], second[0][:-2]] == spans
    assert (first[1], second[1]) == ("", "")
    assert untraced == afterwards == [LONG_AGO, "old=1"]  # it inherits the host's environment as it is


@pytest.mark.parametrize(
    ("options", "passed_on"),
    [({}, ["", ""]), ({"inherit_env": True}, [LONG_AGO, "old=1"]), ({"pass_env": ["TRACEPARENT"]}, [LONG_AGO, ""])],
)
def test_the_hosts_own_variables_are_passed_on_only_where_the_hook_asks_and_nobody_traces(
    telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], passed_on: list[str]
) -> None:
    monkeypatch.setenv("TRACEPARENT", LONG_AGO)
    monkeypatch.setenv("TRACESTATE", "old=1")
    hooks = Hooks()
    hooks.register("PreToolUse", command=SAY_TRACEPARENT, name="says", **options)

    untraced = told(hooks.fire_sync("PreToolUse", **CALL))
    telemetry.trace(hooks)
    traced = told(hooks.fire_sync("PreToolUse", **CALL))

    span = telemetry.sent().span("hook says")
    assert untraced == passed_on
    assert [traced[0][:-2], traced[1]] == [span.traceparent, ""]
    assert span.trace_id not in LONG_AGO  # a host in a long life decides itself what belongs together


def test_the_state_of_the_hosts_trace_is_passed_on(telemetry: Telemetry) -> None:
    host = trace.NonRecordingSpan(
        trace.SpanContext(1, 2, True, trace.TraceFlags(trace.TraceFlags.SAMPLED), TraceState([("vendor", "x")]))
    )
    hooks = Hooks()
    hooks.register("PreToolUse", command=SAY_TRACEPARENT, name="says")
    telemetry.trace(hooks)

    with trace.use_span(host):
        said, state = told(hooks.fire_sync("PreToolUse", **CALL))

    assert said.startswith(f"00-{1:032x}-")
    assert state == "vendor=x"


def test_a_firing_that_is_not_sampled_sends_nothing_and_commands_know_that(receiver: Receiver) -> None:
    telemetry = Telemetry(receiver, ALWAYS_OFF)
    hooks = Hooks()
    hooks.register("PreToolUse", command=SAY_TRACEPARENT, name="says")
    telemetry.trace(hooks)

    said, _ = told(hooks.fire_sync("PreToolUse", **CALL))
    telemetry.sent()
    telemetry.close()

    assert said[-2:] in {"00", "02"}
    assert receiver.spans == []
    assert [one.count for one in receiver.metrics["interpose.decisions"]] == [1]  # they are counted all the same


def test_closed_tracing_traces_nothing_more(telemetry: Telemetry) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", silent, name="hook")

    with telemetry.trace(hooks):
        fire("fire", hooks)
    fire("fire", hooks)

    assert len(telemetry.sent().spans) == 2
