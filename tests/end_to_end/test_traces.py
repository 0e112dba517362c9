"""Traces and metrics as a collector gets them: the real SDK and its exporters, before a real receiver on loopback."""

import asyncio
import logging
import math
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler
from opentelemetry.trace import TraceState
from tests.end_to_end.otlp_receiver import ERROR, UNSET, Receiver
from tests.faults.hosts import eventually

from interpose import EventSpec, Hooks, Outcome, context, deny, modify
from interpose.executors.blocking import blocking_executor
from interpose.runtime.coroutines import drive
from interpose.telemetry.tracing import Tracing

pytestmark = pytest.mark.slow

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
WAYS = ("fire", "fire_sync")
SAY_TRACEPARENT = """printf '{"decision": "ask", "reason": "%s|%s"}' "$TRACEPARENT" "$TRACESTATE" """
LONG_AGO = f"00-{'a' * 32}-{'b' * 16}-01"
RESOURCE = Resource({"service.name": "a host"})


def fire(way: str, hooks: Hooks, event: str = "PreToolUse", **fields: Any) -> Outcome:
    """Fire one event, on a loop or without one."""
    given = {**CALL, **fields} if event == "PreToolUse" else fields
    return asyncio.run(hooks.fire(event, **given)) if way == "fire" else hooks.fire_sync(event, **given)


class Telemetry:
    """A host's providers, with exporters that send to a receiver when they are told to."""

    def __init__(self, receiver: Receiver, sampler: Sampler = ALWAYS_ON) -> None:
        self.receiver = receiver
        self.tracer_provider = TracerProvider(resource=RESOURCE, sampler=sampler, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(endpoint=f"{receiver.endpoint}/v1/traces")
        self.tracer_provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=600_000))
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(endpoint=f"{receiver.endpoint}/v1/metrics"), export_interval_millis=math.inf
        )
        self.meter_provider = MeterProvider([reader], resource=RESOURCE, shutdown_on_exit=False)
        self.tracer = self.tracer_provider.get_tracer("host")

    def trace(self, hooks: Hooks) -> Tracing:
        return hooks.trace(tracer_provider=self.tracer_provider, meter_provider=self.meter_provider)

    def sent(self) -> Receiver:
        """Send everything now; return who has got it."""
        self.tracer_provider.force_flush()
        self.meter_provider.force_flush()
        return self.receiver

    def close(self) -> None:
        self.tracer_provider.shutdown()
        self.meter_provider.shutdown()


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy on the way to loopback, and no trace around the tests."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("TRACEPARENT", "TRACESTATE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def telemetry(receiver: Receiver) -> Iterator[Telemetry]:
    telemetry = Telemetry(receiver)
    yield telemetry
    telemetry.close()


def silent(event: Any) -> None:
    return None


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


def told(outcome: Outcome) -> list[str]:
    """TRACEPARENT and TRACESTATE as a command has said them."""
    return outcome.reason.split("|")


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


# Metrics.


def test_decisions_failures_and_durations_are_measured(telemetry: Telemetry) -> None:
    def sometimes(event: Any) -> Any:
        command = event.tool_input["command"]
        if command == "break":
            raise ValueError
        return deny() if command == "rm" else None

    hooks = Hooks()
    hooks.register("PreToolUse", sometimes, name="guard")
    telemetry.trace(hooks)

    for command in ("ls", "rm", "rm", "break"):
        fire("fire", hooks, tool_input={"command": command})

    got = telemetry.sent().metrics
    at = {"interpose.event": "PreToolUse"}
    assert {(one.attributes["interpose.decision"], one.count) for one in got["interpose.decisions"]} == {
        ("none", 2),
        ("deny", 2),
    }
    (failure,) = got["interpose.hook.failures"]
    assert failure.attributes == {**at, "interpose.hook": "guard", "error.type": "hook_crash"}
    assert failure.count == 1
    taken = {one.attributes["interpose.status"]: (one.count, one.unit) for one in got["interpose.hook.duration"]}
    assert taken == {"ok": (3, "s"), "failed": (1, "s")}
    (waited,) = got["interpose.firing.duration"]
    assert (waited.attributes, waited.count, waited.unit) == (at, 4, "s")
    assert sum(one.sum for one in got["interpose.hook.duration"]) < waited.sum < 60


def test_a_hook_that_is_not_waited_for_and_a_lost_record_are_failures(telemetry: Telemetry) -> None:
    def lose(outcome: Outcome) -> None:
        raise OSError("disk full")

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: 1 / 0, name="broken", inline=True)
    for _ in range(10):
        hooks.fire_sync("PreToolUse", **CALL)
    hooks.record(lose)
    telemetry.trace(hooks)

    hooks.fire_sync("PreToolUse", **CALL)

    failures = [one.attributes for one in telemetry.sent().metrics["interpose.hook.failures"]]
    assert {(one["interpose.hook"], one["error.type"]) for one in failures} == {
        ("broken", "breaker_open"),
        ("recorder", "hook_crash"),
    }


# Nothing leaves that should not.


def test_inputs_outputs_and_secrets_are_nowhere_in_what_is_sent(
    telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {
        "ghp_" + "Q7d" * 12,
        "AKIA" + "QZ7RTPLMX2NB4KWV",
        "sk-ant-api03-" + "vX9" * 31 + "AA",
        "hunter2-in-the-environment",
    }
    monkeypatch.setenv("MY_SERVICE_PASSWORD", "hunter2-in-the-environment")
    everything = " ".join(sorted(secrets))

    def breaks(event: Any) -> None:
        raise RuntimeError(everything)

    hooks = Hooks()
    hooks.register("PreToolUse", breaks, name="breaks")
    hooks.register("PreToolUse", command=f"echo '{everything}' >&2; exit 2", priority=200)
    hooks.register("Stop", lambda event: context("the answer is 42"), name="adds")
    telemetry.trace(hooks)

    fire("fire", hooks, tool_input={"command": "the input is 41"})
    fire("fire", hooks, "Stop")

    sent = b"".join(telemetry.sent().bodies)
    assert [secret for secret in secrets if secret.encode() in sent] == []
    assert b"the input is 41" not in sent
    assert b"the answer is 42" not in sent
    assert b"redacted" in sent


# Whatever breaks over there.


class Breaks(SpanProcessor):
    """A span processor that raises."""

    def __init__(self, where: str) -> None:
        self.where = where

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        if self.where == "start":
            raise RuntimeError("on_start")

    def on_end(self, span: ReadableSpan) -> None:
        if self.where == "end":
            raise RuntimeError("on_end")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("where", ["start", "end"])
def test_a_span_processor_that_raises_breaks_no_firing_and_is_complained_of_once(
    caplog: pytest.LogCaptureFixture, where: str, way: str
) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Breaks(where))
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("no"), name="guard")
    tracing = hooks.trace(tracer_provider=provider)

    with caplog.at_level(logging.WARNING, "interpose"):
        outcomes = [fire(way, hooks) for _ in range(2)]

    assert [(outcome.decision, outcome.reason) for outcome in outcomes] == [("deny", "no")] * 2
    assert tracing.failed == 4
    assert [record.getMessage() for record in caplog.records] == [
        "tracing raised RuntimeError; firings go on without what it was told"
    ]


class Stubborn(SpanExporter):
    """An exporter that does not come back until it is let."""

    def __init__(self) -> None:
        self.asked, self.let_go = threading.Event(), threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.asked.set()
        self.let_go.wait(60)
        return SpanExportResult.FAILURE


def test_an_exporter_that_blocks_holds_nobody_up() -> None:
    exporter = Stubborn()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=8, max_export_batch_size=4))
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("no"), name="guard", inline=True)
    tracing = hooks.trace(tracer_provider=provider)
    began = time.monotonic()

    outcomes = [hooks.fire_sync("PreToolUse", **CALL) for _ in range(100)]
    took = time.monotonic() - began
    blocked = exporter.asked.wait(20)
    exporter.let_go.set()
    provider.shutdown()

    assert blocked
    assert {outcome.reason for outcome in outcomes} == {"no"}
    assert took < 30
    assert tracing.failed == 0


@pytest.mark.parametrize("trouble", ["it is not there", "it answers 503", "it does not answer"])
def test_a_receiver_in_trouble_changes_no_outcome_and_keeps_no_program_from_ending(
    receiver: Receiver, trouble: str
) -> None:
    if trouble == "it answers 503":
        receiver.answer_with = 503
    elif trouble == "it does not answer":
        receiver.held.clear()
    else:
        receiver.close()

    # An exporter would wait for ten minutes, which run_program() does not.
    run_program(
        PROGRAM.replace("(hooks)", "(hooks, closing=3)"), OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
        OTEL_EXPORTER_OTLP_TIMEOUT="600",
    )  # fmt: skip

    assert receiver.asked.wait(20 if trouble != "it is not there" else 0) == (trouble != "it is not there")
    assert receiver.spans == []


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


# From the environment.

PROGRAM = """
    import os
    from interpose import Hooks, deny
    from interpose.telemetry.configure import configure_from_environment

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("no"), name="guard")
    close = configure_from_environment(hooks)
    assert hooks.fire_sync("PreToolUse", tool_name="Bash").denied
    close()
    assert not hooks.engine.listeners
"""


def run_program(text: str, **variables: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(text)],
        env={**kept, "NO_PROXY": "127.0.0.1", **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


def test_a_program_traces_to_where_its_environment_says_and_belongs_to_whoever_started_it(receiver: Receiver) -> None:
    run_program(PROGRAM, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint, TRACEPARENT=LONG_AGO)

    firing = receiver.span("hooks PreToolUse", decision="deny")
    assert receiver.services == {"interpose"}
    assert (firing.trace_id, firing.parent_id) == ("a" * 32, "b" * 16)
    assert [one.name for one in receiver.children(firing)] == ["hook guard"]
    assert [one.count for one in receiver.metrics["interpose.decisions"]] == [1]


def test_a_program_may_send_metrics_only_and_call_itself_something(receiver: Receiver) -> None:
    run_program(
        PROGRAM,
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
        OTEL_TRACES_EXPORTER="none",
        OTEL_SERVICE_NAME="my-agent",
    )

    assert receiver.spans == []
    assert b"my-agent" in b"".join(receiver.bodies)
    assert [one.count for one in receiver.metrics["interpose.decisions"]] == [1]


def test_a_program_may_send_traces_to_an_endpoint_of_their_own(receiver: Receiver) -> None:
    run_program(
        PROGRAM, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{receiver.endpoint}/v1/traces", OTEL_SERVICE_NAME="my-agent"
    )

    assert receiver.services == {"my-agent"}
    assert len(receiver.spans) == 2
    assert receiver.metrics == {}


def test_without_arguments_spans_and_metrics_go_to_the_providers_of_the_process(receiver: Receiver) -> None:
    run_program(
        """
        import os
        from opentelemetry import metrics, trace
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from interpose import Hooks

        hooks = Hooks()
        hooks.register("Stop", lambda event: None, name="hook")
        hooks.trace()  # before the host has set any
        traces = TracerProvider()
        traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(traces)
        measures = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())])
        metrics.set_meter_provider(measures)
        hooks.fire_sync("Stop")
        traces.shutdown()
        measures.shutdown()
        """,
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
    )

    assert {one.name for one in receiver.spans} == {"hooks Stop", "hook hook"}
    assert receiver.metrics.keys() >= {"interpose.decisions", "interpose.hook.duration", "interpose.firing.duration"}
