"""``interpose worker``: real worker processes and a real server."""

import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, eventually, within
from tests.fleet.nats_servers import NatsServer, a_nats_server
from tests.fleet.workers import WorkerProcess, asks, interpose, write_project

from interpose import Hooks, Outcome

pytestmark = pytest.mark.slow

FUNCTIONS = ("licences", "sdk", "change", "boom", "nonsense", "hang", "large")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with a_nats_server(tmp_path_factory.mktemp("nats")) as made:
        yield made


@pytest.fixture(scope="module")
def project(server: NatsServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("project"), server.url).parent


@pytest.fixture(scope="module")
def worker(project: Path) -> Iterator[WorkerProcess]:
    with WorkerProcess(project, *FUNCTIONS) as made:
        yield made


def fired(server: NatsServer, function: str, *, fields: Any = CALL, **options: Any) -> Outcome:
    hooks = asks(server.url, function, **options)
    try:
        return hooks.fire_sync("PreToolUse", **fields)
    finally:
        hooks.close()


def code(outcome: Outcome) -> str:
    [result] = outcome.results
    return result.error.code if result.error else ""


def test_a_worker_says_what_it_serves(worker: WorkerProcess) -> None:
    assert worker.said[0].split() == ["serving", "checks.licences", "checks:licences"]


def test_functions_answer_as_ordinary_hooks(server: NatsServer, worker: WorkerProcess) -> None:
    gpl = {"tool_name": "Bash", "tool_input": {"command": "gpl"}, "tool_use_id": "t1"}

    outcomes = [fired(server, name, fields=gpl) for name in ("licences", "sdk", "change")]

    assert [outcome.reason for outcome in outcomes[:2]] == ["GPL", "gpl t1"]
    assert outcomes[2].tool_input == {"command": "pwd"}
    assert fired(server, "licences").decision == "none"


def test_a_function_can_be_asked_in_the_dialect_of_claude(server: NatsServer, worker: WorkerProcess) -> None:
    gpl = {"tool_name": "Bash", "tool_input": {"command": "gpl"}}

    outcome = fired(server, "licences", fields=gpl, dialect="claude")

    assert (outcome.decision, outcome.reason) == ("deny", "GPL")


@pytest.mark.parametrize(
    ("function", "expected", "decision"),
    [
        ("boom", "nats_worker_failed", "none"),
        ("nonsense", "nats_worker_misstated", "deny"),
        ("large", "nats_worker_misstated", "deny"),
    ],
)
def test_a_function_that_fails_comes_back_as_a_failure(
    function: str, expected: str, decision: str, server: NatsServer, worker: WorkerProcess
) -> None:
    outcome, guard = fired(server, function), fired(server, function, on_error="abort")

    assert (outcome.decision, code(outcome)) == (decision, expected)
    assert (guard.decision, code(guard)) == ("deny", expected)


def test_a_function_that_hangs_comes_back_as_late_before_the_deadline(
    server: NatsServer, worker: WorkerProcess
) -> None:
    timeout = 16  # the worker answers when a twentieth is left, which has to be enough for the way back
    with within(timeout + BUSY):
        outcome = fired(server, "hang", timeout=timeout, on_error="abort")

    assert (outcome.decision, outcome.results[0].status) == ("deny", "timeout")
    assert "the worker's function failed" in str(outcome.results[0].error)


def test_a_function_that_has_failed_often_is_asked_again_for_others(server: NatsServer, worker: WorkerProcess) -> None:
    outcomes = [fired(server, "boom") for _ in range(12)]

    assert "ValueError" in str(outcomes[-1].results[0].error)


def test_an_event_that_the_worker_does_not_know_is_a_failure(server: NatsServer, worker: WorkerProcess) -> None:
    from interpose.events import EventSpec

    hooks = Hooks.from_mapping({"fleet": {"servers": server.url, "team": "t"}})
    hooks.add_event(EventSpec("MyEvent", "something of this host", can=("deny",)))
    hooks.register("MyEvent", subject="checks.licences")
    outcome = hooks.fire_sync("MyEvent")
    hooks.close()

    assert (outcome.decision, code(outcome)) == ("deny", "nats_worker_unasked")


def test_workers_are_listed_with_requests_errors_and_time(
    server: NatsServer, project: Path, worker: WorkerProcess
) -> None:
    fired(server, "boom")

    def all_listed(*more: str) -> str:
        """A worker has two seconds to answer: on a busy machine the list is asked for again."""
        said: list[str] = []

        def answers() -> bool:
            said.append(interpose(project, "worker", "--list", "--config", "fleet.yaml", *more).stdout)
            return "checks.boom" in said[-1]

        assert eventually(answers, 120), said
        return said[-1]

    listed = all_listed()
    [found] = json.loads(all_listed("--json"))["workers"]

    [line] = [line.split() for line in listed.splitlines() if line.startswith("checks.boom")]
    [boom] = [one for one in found["endpoints"] if one["subject"] == "checks.boom"]
    assert line[1] == "checks:boom"
    assert int(line[3]) >= 1
    assert boom["num_errors"] == boom["num_requests"] >= 1
    assert boom["average_processing_time"] > 0
    assert found["metadata"]["pid"] == str(worker.pid)


def test_a_request_that_reaches_a_worker_twice_runs_once(server: NatsServer, project: Path) -> None:
    with WorkerProcess(project, "count"):
        outcome = fired(server, "count", timeout=8, fields={"tool_name": "Bash", "tool_input": {"command": "once"}})

    assert outcome.results[0].evidence["hedged"] is True
    assert outcome.reason == "counted"
    assert (project / "count.txt").read_text() == "once\n"


def test_a_limit_makes_requests_wait_for_their_turn_or_fail(server: NatsServer, project: Path) -> None:
    with WorkerProcess(project, "slower", options=("--concurrency", "1")):
        hooks = asks(server.url, "slower", timeout=8)
        outcomes: list[Outcome] = []
        hosts = [
            threading.Thread(target=lambda: outcomes.append(hooks.fire_sync("PreToolUse", **CALL))) for _ in range(6)
        ]
        for host in hosts:
            host.start()
        for host in hosts:
            host.join()
        hooks.close()

    statuses = [outcome.results[0].status for outcome in outcomes]
    assert 1 <= statuses.count("ok") <= 2
    assert statuses.count("timeout") == 6 - statuses.count("ok")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_stopped_answers_what_it_has_and_loses_nothing(
    number: int, server: NatsServer, project: Path
) -> None:
    with WorkerProcess(project, "slow") as stopped, WorkerProcess(project, "slow"):
        hooks = asks(server.url, "slow", once=False)
        outcomes: list[Outcome] = []

        def host() -> None:
            for _ in range(6):
                outcomes.append(hooks.fire_sync("PreToolUse", **CALL))  # noqa: PERF401 - each when it has come

        hosts = [threading.Thread(target=host) for _ in range(4)]
        for one in hosts:
            one.start()
        assert eventually(lambda: len(outcomes) >= 4)
        stopped.send(number)
        status = stopped.process.wait(30)
        for one in hosts:
            one.join()
        hooks.close()

    assert status == 0
    assert [(outcome.reason, outcome.results[0].evidence["hedged"]) for outcome in outcomes] == [("slow", False)] * 24


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["checks:gone"], "cannot import checks:gone"),
        (["nowhere:x"], "cannot import nowhere:x"),
        (["checks:not_a_function"], "which cannot be called"),
        (["checks"], "not the name of a Python function"),
        ([], "which functions?"),
        (["checks:boom", "--subject", "a", "--subject", "b"], "1 functions and 2 subjects"),
        (["checks:boom", "--subject", "checks.*"], "not a subject of workers"),
        (["checks:boom", "checks:boom"], "two functions have one subject"),
    ],
)
def test_a_worker_that_cannot_serve_says_so_and_ends(arguments: list[str], said: str, project: Path) -> None:
    ended = interpose(project, "worker", *arguments, "--config", "fleet.yaml")

    assert ended.returncode == 1
    assert said in ended.stderr


def test_a_worker_does_not_start_where_everything_is_switched_off(project: Path) -> None:
    ended = interpose(project, "worker", "checks:boom", "--config", "fleet.yaml", INTERPOSE_OFF="locked out")

    assert (ended.returncode, "INTERPOSE_OFF is set" in ended.stderr) == (1, True)


# One worker is killed and one is stopped.


@pytest.mark.parametrize(("guard", "failed"), [("abort", "deny"), (None, "none")])
def test_with_all_workers_stopped_every_firing_ends_at_its_deadline_as_its_policy_says(
    guard: str | None, failed: str, server: NatsServer, project: Path
) -> None:
    with WorkerProcess(project, "name") as first, WorkerProcess(project, "name") as second:
        hooks = asks(server.url, "name", timeout=2, on_error=guard)
        pids = {str(one.pid) for one in (first, second)}
        assert eventually(lambda: hooks.fire_sync("PreToolUse", **CALL).reason in pids)
        for one in (first, second):
            one.send(signal.SIGSTOP)
        with within(2 + BUSY):
            outcome = hooks.fire_sync("PreToolUse", **CALL)
        second.send(signal.SIGKILL)
        first.send(signal.SIGKILL)
        assert eventually(lambda: code(hooks.fire_sync("PreToolUse", **CALL)) == "nats_no_worker")
        hooks.close()

    assert (outcome.decision, outcome.results[0].status) == (failed, "timeout")


@pytest.mark.parametrize("guard", ["abort", None])
def test_with_one_worker_killed_and_one_stopped_the_third_answers_every_firing(
    guard: str | None, server: NatsServer, project: Path
) -> None:
    timeout, count = 10.0, 24
    with (
        WorkerProcess(project, "name") as alive,
        WorkerProcess(project, "name") as killed,
        WorkerProcess(project, "name") as stopped,
    ):
        hooks = asks(server.url, "name", timeout=timeout, on_error=guard)
        outcomes: list[Outcome] = []

        def host() -> None:
            for _ in range(count // 4):
                with within(timeout + BUSY):
                    outcomes.append(hooks.fire_sync("PreToolUse", **CALL))

        # The worker that has answered last is asked the second time.
        assert eventually(lambda: hooks.fire_sync("PreToolUse", **CALL).reason == str(alive.pid))
        stopped.send(signal.SIGSTOP)
        killed.send(signal.SIGKILL)
        hosts = [threading.Thread(target=host) for _ in range(4)]
        for one in hosts:
            one.start()
        for one in hosts:
            one.join()
        hooks.close()

    assert [outcome.reason for outcome in outcomes] == [str(alive.pid)] * count
    assert any(outcome.results[0].evidence["hedged"] for outcome in outcomes)
