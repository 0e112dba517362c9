"""What spans and metrics say, what they never say, and what the environment may ask for."""

import subprocess
import sys
import textwrap
from collections.abc import Mapping
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as gen_ai
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE

from interpose import Hooks, UsageError
from interpose.decide import HookRun
from interpose.dialects import native
from interpose.events import TABLE
from interpose.model import HookEffect, HookError
from interpose.routes import RouteInputs, Step
from interpose.telemetry import start_tracing
from interpose.telemetry.attributes import LONGEST, LONGEST_READ, MOST_NAMES, Words, of_firing, of_hook, of_run
from interpose.telemetry.configure import asked_for, configure_from_environment
from interpose.telemetry.metrics import MOST_NAMES as MOST_SERIES
from interpose.telemetry.metrics import OTHERS, Metrics
from interpose.telemetry.propagation import context_from, current_variables

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}


def unchanged(text: str) -> str:
    return text


# Words.


def test_a_text_is_redacted_before_it_is_cut() -> None:
    secret = "s" * 40
    words = Words(lambda text: text.replace(secret, "[secret]"))

    said = words.text("x" * (LONGEST - 20) + secret + "y" * 100)

    assert said == "x" * (LONGEST - 20) + "[secret]" + "y" * 12 + "…"


def test_a_text_that_nobody_should_read_through_is_only_measured() -> None:
    looked_at: list[str] = []
    words = Words(lambda text: looked_at.append(text) or text)  # type: ignore[func-returns-value]

    assert words.text("x" * (LONGEST_READ + 1)) == "[65537 characters]"
    assert looked_at == []


def test_a_text_that_cannot_be_redacted_is_not_said() -> None:
    def breaks(text: str) -> str:
        raise ValueError(text)

    assert Words(breaks).text("a secret") == "[8 characters that cannot be redacted]"


def test_a_text_can_always_be_sent() -> None:
    assert Words(unchanged).text("tool\ud800 \x1b[31mred") == "tool? red"


def test_names_are_redacted_once_and_not_kept_for_ever() -> None:
    asked: list[str] = []
    words = Words(lambda text: asked.append(text) or f"<{text}>")  # type: ignore[func-returns-value]

    said = [words.name("guard"), words.name("guard")]
    for number in range(MOST_NAMES):
        words.name(f"guard-{number}")
    words.name("guard")

    assert said == ["<guard>", "<guard>"]
    assert asked.count("guard") == 2
    assert len(words._names) <= MOST_NAMES


# Attributes.


@pytest.mark.parametrize(
    ("event", "fields", "said"),
    [
        (
            "PreToolUse",
            {"tool_name": "Bash", "tool_use_id": "t", "session_id": "s"},
            {
                gen_ai.GEN_AI_OPERATION_NAME: "execute_tool",
                gen_ai.GEN_AI_TOOL_NAME: "Bash",
                gen_ai.GEN_AI_TOOL_CALL_ID: "t",
                gen_ai.GEN_AI_CONVERSATION_ID: "s",
            },
        ),
        (
            "SubagentStart",
            {"agent_id": "a", "agent_type": "reviewer"},
            {
                gen_ai.GEN_AI_OPERATION_NAME: "invoke_agent",
                gen_ai.GEN_AI_AGENT_ID: "a",
                gen_ai.GEN_AI_AGENT_NAME: "reviewer",
            },
        ),
        (
            "pre:agent:spawn",
            {"agent": "coder", "config": {"key": "value"}},
            {gen_ai.GEN_AI_OPERATION_NAME: "invoke_agent", gen_ai.GEN_AI_AGENT_NAME: "coder"},
        ),
        (
            "pre:message",
            {"prompt": "do it", "model": "m-1"},
            {gen_ai.GEN_AI_OPERATION_NAME: "chat", gen_ai.GEN_AI_REQUEST_MODEL: "m-1"},
        ),
        ("SessionStart", {"source": "startup", "model": "m-1"}, {gen_ai.GEN_AI_REQUEST_MODEL: "m-1"}),
        ("pre:git:write", {"path": "a.txt", "content": "text", "tool_name": "not of this event"}, {}),
        ("PreToolUse", {"tool_name": "", "session_id": 7}, {gen_ai.GEN_AI_OPERATION_NAME: "execute_tool"}),
    ],
)
def test_a_firing_says_what_the_conventions_have_a_name_for_and_nothing_of_its_input(
    event: str, fields: Mapping[str, Any], said: dict[str, Any]
) -> None:
    assert of_firing(TABLE[event], fields, Words(unchanged)) == {"interpose.event": event, **said}


def test_a_hook_says_where_it_comes_from() -> None:
    hooks = Hooks()
    hook = hooks.register("Stop", unchanged, name="tidy", scope="agent-7", priority=3, enforce=False, layer="user")

    inputs = RouteInputs(
        settings=hooks.settings, handlers={}, read=native.read, enforced=True, finish_background=lambda run: None
    )

    said = of_hook(Step(hook, inputs), "s-1", 2, True, Words(unchanged))

    assert said == {
        "gen_ai.conversation.id": "s-1",
        "interpose.event": "Stop",
        "interpose.hook": "tidy",
        "interpose.type": "python",
        "interpose.priority": 3,
        "interpose.layer": "user",
        "interpose.round": 2,
        "interpose.enforced": False,
        "interpose.scope": "agent-7",
        "interpose.background": True,
    }


def test_a_run_that_failed_says_its_code_and_not_its_text() -> None:
    hook = Hooks().register("Stop", unchanged)
    effect = HookEffect()
    effect.decision, effect.reason = "deny", "because"

    said = of_run(HookRun(hook, "failed", 0.1, effect, HookError("long story", "bad_output")), Words(str.upper))

    assert said == {
        "interpose.status": "failed",
        "interpose.decision": "deny",
        "interpose.reason": "BECAUSE",
        ERROR_TYPE: "bad_output",
    }


# Metrics.


def test_names_that_a_host_makes_up_as_it_goes_do_not_become_series_without_end() -> None:
    reader = InMemoryMetricReader()
    metrics = Metrics(MeterProvider([reader], shutdown_on_exit=False).get_meter("test"))
    hook = Hooks().register("Stop", unchanged)

    for number in range(MOST_SERIES + 50):
        metrics.ran("Stop", f"hook-{number}", HookRun(hook, "failed", 0.1, None, HookError("", f"code-{number}")))
    metrics.ran("Stop", "hook-0", HookRun(hook, "ok", 0.1))

    data = reader.get_metrics_data()
    assert data is not None
    counted: dict[str, dict[Any, int]] = {}
    for metric in data.resource_metrics[0].scope_metrics[0].metrics:
        points: list[Any] = list(metric.data.data_points)
        counted[metric.name] = {
            (point.attributes["interpose.hook"], point.attributes.get("error.type")): getattr(point, "count", 0)
            or getattr(point, "value", 0)
            for point in points
        }
    assert len(counted["interpose.hook.failures"]) == MOST_SERIES + 1
    assert counted["interpose.hook.failures"][OTHERS, OTHERS] == 50
    assert len(counted["interpose.hook.duration"]) == MOST_SERIES + 1
    assert counted["interpose.hook.duration"]["hook-0", None] == 1


# The context in variables.


def test_no_span_is_no_variable() -> None:
    assert current_variables() == {}


def test_a_context_goes_out_as_it_came_in() -> None:
    variables = {"TRACEPARENT": f"00-{'a' * 32}-{'b' * 16}-01", "TRACESTATE": "vendor=x"}

    span = trace.get_current_span(context_from({**variables, "OTHER": "1"}))
    with trace.use_span(span):
        assert current_variables() == variables


@pytest.mark.parametrize("variables", [{}, {"TRACEPARENT": "rubbish"}, {"TRACEPARENT": ""}])
def test_variables_that_name_no_span_give_an_empty_context(variables: dict[str, str]) -> None:
    assert not trace.get_current_span(context_from(variables)).get_span_context().is_valid


# What is asked for.


@pytest.mark.parametrize(
    ("environ", "traces_and_metrics"),
    [
        ({}, (False, False)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, (False, False)),
        (ENDPOINT, (True, True)),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:1"}, (False, True)),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1"}, (True, False)),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "TRUE"}, (False, False)),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, (False, True)),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"}, (False, False)),
        ({**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, (True, True)),
    ],
)
def test_an_endpoint_asks_for_traces_and_metrics(
    environ: dict[str, str], traces_and_metrics: tuple[bool, bool]
) -> None:
    assert asked_for(environ) == traces_and_metrics


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc', which is not offered here (use http/protobuf)",
        ),
        (
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/json"},
            "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL is 'http/json', which is not offered here (use http/protobuf)",
        ),
        (
            {"OTEL_TRACES_EXPORTER": "console"},
            "OTEL_TRACES_EXPORTER is 'console', which is not offered here (use otlp or none)",
        ),
    ],
)
def test_what_is_asked_for_and_not_offered_is_an_error(more: dict[str, str], says: str) -> None:
    hooks = Hooks()

    with pytest.raises(UsageError) as error:
        configure_from_environment(hooks, {**ENDPOINT, **more})

    assert str(error.value) == says
    assert hooks.engine.listeners == ()


def test_a_signals_own_protocol_counts_more_than_that_of_all() -> None:
    own = {f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL": "http/protobuf" for signal in ("TRACES", "METRICS")}

    assert asked_for({**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", **own}) == (True, True)


def test_where_nothing_is_asked_for_nothing_is_traced_and_closing_is_no_error() -> None:
    hooks = Hooks()

    configure_from_environment(hooks, {})()

    assert hooks.engine.listeners == ()


# Starting and ending.


@pytest.mark.parametrize("name", ["tracer_provider", "meter_provider"])
def test_what_is_no_provider_is_refused(name: str) -> None:
    hooks = Hooks()

    with pytest.raises(UsageError, match=f"^{name} is str, which has no get_"):
        start_tracing(hooks.engine, redact=str, **{name: "http://127.0.0.1:4318"})  # type: ignore[arg-type]

    assert hooks.engine.listeners == ()


def test_a_second_tracing_takes_the_place_of_the_first_which_then_closes_nothing() -> None:
    hooks = Hooks()
    first, second = hooks.trace(), hooks.trace()

    first.close()
    assert list(hooks.engine.listeners) == [second]

    second.close()
    assert not list(hooks.engine.listeners)


def run(program: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_without_the_package_the_error_says_what_to_install() -> None:
    said = run(
        """
        import sys
        sys.modules["opentelemetry"] = None
        from interpose import Hooks, UsageError
        from interpose.telemetry.configure import configure_from_environment

        hooks = Hooks()
        for start in (hooks.trace, lambda: configure_from_environment(hooks, {"OTEL_EXPORTER_OTLP_ENDPOINT": "x"})):
            try:
                start()
            except UsageError as error:
                print(error)
        """
    )

    assert said == (
        "traces need OpenTelemetry, and opentelemetry is not installed (pip install 'interpose[otel]')\n"
        "traces need OpenTelemetry, and opentelemetry.context is not installed (pip install 'interpose[otel]')\n"
    )


def test_a_firing_that_nobody_traces_does_not_load_it() -> None:
    said = run(
        """
        import asyncio, sys
        from interpose import Hooks

        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: None)
        hooks.register("PreToolUse", command="true")
        hooks.fire_sync("PreToolUse", tool_name="Bash")
        asyncio.run(hooks.fire("PreToolUse", tool_name="Bash"))
        print([name for name in sys.modules if "opentelemetry" in name or "interpose.telemetry" in name])
        """
    )

    assert said == "[]\n"


# Permissions.


def test_a_decision_about_a_call_has_a_span_from_the_question_to_the_answer() -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    hooks = Hooks()
    options: dict[str, Any] = {"rules": {"Bash(rm *)": "deny", "Bash": "ask"}, "session_id": "s1"}

    def yes(question: Any) -> bool:
        return True

    with hooks.trace(tracer_provider=provider), hooks.session_sync(approver=yes, **options) as session:
        made = [
            session.tool("Bash", {"command": command}, str, tool_use_id=command).permission
            for command in ("rm x", "ls")
        ]
        session.tool("Read", {"file_path": "x"}, str)

    denied, allowed = [span for span in exporter.get_finished_spans() if span.name == "permission Bash"]
    call = {
        "gen_ai.tool.name": "Bash", "gen_ai.conversation.id": "s1", "gen_ai.agent.id": "main",
    }  # fmt: skip
    assert denied.attributes == {
        **call, "interpose.permission.verdict": "denied", "interpose.permission.by": "rule",
        "interpose.permission.rule": "Bash(rm *)", "gen_ai.tool.call.id": "rm x",
        "interpose.reason": "denied by the rule Bash(rm *)",
    }  # fmt: skip
    assert allowed.attributes == {
        **call, "interpose.permission.verdict": "allowed", "interpose.permission.by": "person",
        "interpose.permission.rule": "Bash", "gen_ai.tool.call.id": "ls", "interpose.reason": "the rule Bash asks",
    }  # fmt: skip
    assert made[1] is not None
    asked, answered = made[1].asked_at, made[1].answered_at
    assert asked is not None
    assert answered is not None
    assert (allowed.start_time, allowed.end_time) == (int(asked * 1e9), int(answered * 1e9))


def test_a_tracer_that_raises_does_not_change_the_decision() -> None:
    class Broken:
        def get_tracer(self, *_: Any, **__: Any) -> Any:
            return self

        def start_span(self, *_: Any, **__: Any) -> Any:
            raise OSError("no spans today")

    hooks, broken = Hooks(), Broken()
    options: dict[str, Any] = {"rules": {"Bash": "ask"}, "approver": lambda question: True}

    with hooks.trace(tracer_provider=broken) as tracing, hooks.session_sync(**options) as session:  # type: ignore[arg-type]
        answer = session.tool("Bash", {"command": "ls"}, lambda given: "done")

    assert answer.content == "done"
    assert tracing.failed > 0
