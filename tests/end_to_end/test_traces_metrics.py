"""Metrics as a collector gets them, and what must be neither in them nor in traces."""

from typing import Any

import pytest
from tests.end_to_end.traced_hosts import CALL, Telemetry, fire

from interpose import Hooks, Outcome, context, deny

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_environment")]


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
