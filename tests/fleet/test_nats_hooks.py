"""Hooks of type nats: what workers are told, what their answers do, and every way in which they misbehave."""

import asyncio
import contextlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nats.aio.msg import Msg
from tests.faults.hosts import BUSY, CALL, eventually, run, unharmed, within
from tests.fleet.nats_servers import NatsServer, a_nats_server, free_ports
from tests.fleet.responders import Responder, answers, fails, hangs

from interpose import Hooks, Outcome
from interpose.errors import ConfigError

DENY = {"decision": "deny", "reason": "no"}
PATIENCE = 40.0
Fire = Callable[..., Outcome]


def on_a_loop(hooks: Hooks, **fields: Any) -> Outcome:
    return unharmed(lambda: run(hooks.fire("PreToolUse", **(fields or CALL))))


def without_a_loop(hooks: Hooks, **fields: Any) -> Outcome:
    return unharmed(lambda: hooks.fire_sync("PreToolUse", **(fields or CALL)))


@pytest.fixture(params=[on_a_loop, without_a_loop])
def fire(request: pytest.FixtureRequest) -> Fire:
    found: Fire = request.param
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with a_nats_server(tmp_path_factory.mktemp("nats"), "max_payload: 200000") as made:
        yield made


def asks(url: str, **options: Any) -> Hooks:
    """Return hooks with one that asks the workers of checks.x."""
    hooks = Hooks.from_mapping({"fleet": {"servers": url, "team": "t"}})
    hooks.register("PreToolUse", subject="checks.x", name="remote", **{"timeout": PATIENCE, **options})
    return hooks


def asked(fire: Fire, hooks: Hooks, **fields: Any) -> Outcome:
    try:
        return fire(hooks, **fields)
    finally:
        hooks.close()


def code(outcome: Outcome) -> str:
    [result] = outcome.results
    return result.error.code if result.error else ""


# What a worker is told, and what its answers do.


def test_a_worker_gets_the_event_as_a_command_would_and_its_deny_counts(server: NatsServer, fire: Fire) -> None:
    with Responder(server.url, answers(DENY)) as worker:
        outcome = asked(fire, asks(server.url))

    [message], [headers] = worker.asked, worker.headers
    event = json.loads(message.data)
    assert (outcome.decision, outcome.reason, outcome.results[0].type) == ("deny", "no", "nats")
    assert (event["tool_name"], event["tool_input"], event["protocol"]) == ("Bash", {"command": "ls"}, 1)
    assert (headers["Interpose-Event"], headers["Interpose-Dialect"]) == ("PreToolUse", "native")
    assert 0 < int(headers["Interpose-Deadline"]) <= PATIENCE * 1000
    assert int(headers["Interpose-Depth"]) >= 1
    assert headers["Interpose-Request"] == outcome.results[0].evidence["request"]


def test_in_the_claude_dialect_the_event_and_the_answer_are_claudes(server: NatsServer, fire: Fire) -> None:
    said = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                   "permissionDecisionReason": "no"}}  # fmt: skip
    with Responder(server.url, answers(said)) as worker:
        outcome = asked(fire, asks(server.url, dialect="claude"))

    assert (outcome.decision, outcome.reason) == ("deny", "no")
    assert worker.headers[0]["Interpose-Dialect"] == "claude"
    assert "protocol" not in json.loads(worker.asked[0].data)


@pytest.mark.parametrize("said", [b"", b"  ", b"{}", b"null"])
def test_an_empty_answer_is_no_opinion(said: bytes, server: NatsServer) -> None:
    with Responder(server.url, answers(said)):
        outcome = asked(without_a_loop, asks(server.url, on_error="abort"))

    assert (outcome.decision, code(outcome)) == ("none", "")


def test_the_input_can_be_changed(server: NatsServer, fire: Fire) -> None:
    with Responder(server.url, answers({"modify": {"tool_input": {"command": "pwd"}}})):
        outcome = asked(fire, asks(server.url))

    assert outcome.tool_input == {"command": "pwd"}


# Failures: each says what happened, and a guard denies.


def nobody_listens() -> str:
    return f"nats://127.0.0.1:{free_ports(1)[0]}"


@pytest.mark.parametrize(("guard", "decision"), [("abort", "deny"), (None, "none")])
def test_no_worker_is_a_failure_at_once(guard: str | None, decision: str, server: NatsServer, fire: Fire) -> None:
    with within(PATIENCE / 2):
        outcome = asked(fire, asks(server.url, on_error=guard))

    assert (outcome.decision, outcome.results[0].status, code(outcome)) == (decision, "failed", "nats_no_worker")


@pytest.mark.parametrize(("guard", "decision"), [("abort", "deny"), (None, "none")])
def test_no_server_is_a_failure_at_once(guard: str | None, decision: str, fire: Fire) -> None:
    with within(BUSY):
        outcome = asked(fire, asks(nobody_listens(), on_error=guard))

    assert (outcome.decision, outcome.results[0].status, code(outcome)) == (decision, "failed", "nats_unreachable")


@pytest.mark.parametrize(("guard", "decision"), [("abort", "deny"), (None, "none")])
def test_a_worker_that_hangs_keeps_to_the_deadline(
    guard: str | None, decision: str, server: NatsServer, fire: Fire
) -> None:
    with Responder(server.url, hangs), within(2 + BUSY):
        outcome = asked(fire, asks(server.url, timeout=2, on_error=guard))

    assert (outcome.decision, outcome.results[0].status, code(outcome)) == (decision, "timeout", "timeout")


def test_without_a_fleet_a_hook_cannot_be_loaded_and_denies(fire: Fire) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", subject="checks.x")

    outcome = asked(fire, hooks)

    assert (outcome.decision, code(outcome)) == ("deny", "nats_no_fleet")


def test_a_file_of_credentials_that_is_gone_denies(server: NatsServer, tmp_path: Path) -> None:
    hooks = Hooks.from_mapping({
        "fleet": {"servers": server.url, "team": "t", "nkey": str(tmp_path / "gone.nk")},
        "hooks": {"PreToolUse": [{"type": "nats", "subject": "checks.x"}]},
    })  # fmt: skip

    outcome = asked(without_a_loop, hooks)

    assert (outcome.decision, code(outcome)) == ("deny", "nats_credentials")


def test_an_event_that_the_server_does_not_take_is_denied_and_not_cut(server: NatsServer, fire: Fire) -> None:
    with Responder(server.url, answers({})) as worker:
        outcome = asked(fire, asks(server.url), tool_name="Write", tool_input={"content": "x" * 250_000})

    assert (outcome.decision, code(outcome), worker.asked) == ("deny", "nats_too_large", [])
    assert "max_payload" in str(outcome.results[0].error)


@pytest.mark.parametrize(
    ("said", "expected", "decision"),
    [
        (b"fine", "bad_output", "none"),
        (b'{"decision": ', "bad_output", "deny"),
        ({"decision": "Deny"}, "bad_decision", "deny"),
    ],
)
def test_an_answer_that_is_none_says_so(said: Any, expected: str, decision: str, server: NatsServer) -> None:
    with Responder(server.url, answers(said)):
        outcome = asked(without_a_loop, asks(server.url))
        guard = asked(without_a_loop, asks(server.url, on_error="abort"))

    assert (outcome.decision, code(outcome), guard.decision) == (decision, expected, "deny")


@pytest.mark.parametrize(
    ("headers", "expected", "decision"),
    [
        ({"Nats-Service-Error-Code": "500", "Nats-Service-Error": "boom"}, "nats_worker_failed", "none"),
        ({"Interpose-Failure": "hook_crash", "Nats-Service-Error": "boom"}, "nats_worker_failed", "none"),
        ({"Interpose-Failure": "bad_reply", "Nats-Service-Error": "boom"}, "nats_worker_misstated", "deny"),
        ({"Interpose-Failure": "import_failed", "Nats-Service-Error": "boom"}, "nats_worker_unloadable", "deny"),
        ({"Interpose-Failure": "payload", "Nats-Service-Error": "boom"}, "nats_worker_unasked", "deny"),
        ({"Interpose-Failure": "timeout", "Nats-Service-Error": "boom"}, "timeout", "none"),
    ],
)
def test_a_failure_that_a_worker_reports_means_what_it_means_here(
    headers: dict[str, str], expected: str, decision: str, server: NatsServer
) -> None:
    with Responder(server.url, fails(**headers)):
        outcome = asked(without_a_loop, asks(server.url))

    assert (outcome.decision, code(outcome)) == (decision, expected)
    assert "boom" in str(outcome.results[0].error)


REFUSING = """
authorization { users: [
  { user: node, password: p, permissions: { publish: ["allowed.>"], subscribe: ["_INBOX.>"] } }
  { user: deaf, password: p, permissions: { publish: [">"], subscribe: ["nothing"] } }
] }
"""


@pytest.mark.parametrize("user", ["node:p", "deaf:p", "node:wrong"])
def test_what_the_server_refuses_is_a_failure_before_the_deadline(user: str, tmp_path: Path, fire: Fire) -> None:
    with a_nats_server(tmp_path, REFUSING) as refusing, within(PATIENCE / 2):
        outcome = asked(fire, asks(refusing.url.replace("//", f"//{user}@"), on_error="abort"))

    assert (outcome.decision, code(outcome)) == ("deny", "nats_refused")
    assert "p@" not in json.dumps(outcome.to_dict())


# Hedges.

HEDGED = 8.0
"""Seconds of which one half is enough for everything here, also on a busy machine: the second request comes after it."""


class Second:
    """Answers the second request of every id."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    async def __call__(self, message: Msg) -> None:
        self.ids.append((message.headers or {})["Interpose-Request"])
        if len(self.ids) > 1:
            await message.respond(json.dumps(DENY).encode())


def test_a_request_that_is_not_answered_is_sent_once_more_with_the_same_id(server: NatsServer, fire: Fire) -> None:
    behave = Second()
    with Responder(server.url, behave):
        outcome = asked(fire, asks(server.url, timeout=HEDGED))

    assert (outcome.decision, len(behave.ids), len(set(behave.ids))) == ("deny", 2, 1)
    assert outcome.results[0].evidence["hedged"] is True


def test_a_hook_that_says_once_is_never_sent_twice(server: NatsServer, fire: Fire) -> None:
    with Responder(server.url, hangs) as worker:
        outcome = asked(fire, asks(server.url, timeout=3, once=True, on_error="abort"))

    assert (outcome.decision, len(worker.asked)) == ("deny", 1)


class Hangs:
    """Answers as the worker ``w1``, but does not answer the second request that it gets."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self, message: Msg) -> None:
        self.count += 1
        if self.count != 2:
            body = json.dumps({"decision": "deny", "reason": f"{self.count}"}).encode()
            await message._client.publish(message.reply, body, headers={"Interpose-Worker": "w1"})


def test_the_second_request_goes_to_the_worker_that_has_answered_last(server: NatsServer, fire: Fire) -> None:
    hooks = asks(server.url, timeout=HEDGED)
    with Responder(server.url, Hangs()) as group, Responder(server.url, answers(DENY), subject="checks.x.w1") as one:
        fire(hooks)
        outcome = asked(fire, hooks)

    assert (outcome.reason, len(group.asked), len(one.asked)) == ("no", 2, 1)
    assert group.headers[1]["Interpose-Request"] == one.headers[0]["Interpose-Request"]


ONLY_THE_GROUP = """
authorization { users: [
  { user: node, password: p, permissions: { publish: ["checks.x"], subscribe: ["_INBOX.>"] } }
  { user: worker, password: p }
] }
"""


@pytest.mark.parametrize("why", ["it is gone", "the server refuses it"])
def test_the_second_request_goes_to_any_worker_if_that_one_cannot_be_asked(
    why: str, server: NatsServer, tmp_path: Path, fire: Fire
) -> None:
    with contextlib.ExitStack() as stack:
        url = asked_url = server.url
        if why == "the server refuses it":
            own = stack.enter_context(a_nats_server(tmp_path, ONLY_THE_GROUP)).url
            url, asked_url = (own.replace("//", f"//{user}:p@") for user in ("worker", "node"))
        group = stack.enter_context(Responder(url, Hangs()))
        hooks = asks(asked_url, timeout=HEDGED)
        fire(hooks)
        outcome = asked(fire, hooks)

    assert (outcome.reason, len(group.asked), outcome.results[0].evidence["hedged"]) == ("3", 3, True)


@pytest.mark.slow
def test_the_answer_to_the_first_request_counts_if_the_second_finds_no_worker(server: NatsServer) -> None:
    tasks: list[asyncio.Task[None]] = []

    async def answer(message: Msg) -> None:
        await asyncio.sleep(0.6 * HEDGED)  # the second request is sent after half of the time, and finds none
        await message.respond(json.dumps(DENY).encode())

    async def late(message: Msg) -> None:
        tasks.append(asyncio.create_task(answer(message)))
        await worker.subscriptions[0].unsubscribe()  # the group has no worker any more

    with Responder(server.url, late) as worker:
        outcome = asked(without_a_loop, asks(server.url, timeout=HEDGED))

    assert (outcome.decision, outcome.results[0].evidence["hedged"], len(worker.asked)) == ("deny", True, 1)


# Connections.


def connections(server: NatsServer) -> int:
    """How many connections were made, as the log of the server says."""
    return (server.folder / "log.txt").read_text().count("Client connection created")


@pytest.fixture
def told(tmp_path: Path) -> Iterator[NatsServer]:
    """A server that writes every connection to its log."""
    with a_nats_server(tmp_path / "told", "debug: true") as made:
        yield made


def test_the_loop_and_the_thread_of_hosts_share_a_connection(told: NatsServer) -> None:
    with Responder(told.url, answers({})):
        hooks = asks(told.url)
        before = connections(told)
        outcomes = [on_a_loop(hooks), without_a_loop(hooks), on_a_loop(hooks)]
        after = connections(told)
        hooks.close()

    assert after - before == 1
    assert [outcome.results[0].evidence["reused"] for outcome in outcomes] == [False, True, True]


def test_close_ends_the_connection_and_its_thread_and_a_later_event_makes_another(server: NatsServer) -> None:
    before = set(threading.enumerate())
    with Responder(server.url, answers(DENY)):
        hooks = asks(server.url)
        without_a_loop(hooks)
        during = {thread for thread in threading.enumerate() if thread.name == "interpose-nats"} - before
        hooks.close()
        left = during & set(threading.enumerate())
        outcome = asked(without_a_loop, hooks)

    assert (len(during), left) == (1, set())
    assert outcome.denied


def test_a_connection_that_was_lost_is_made_again(tmp_path: Path, fire: Fire) -> None:
    with a_nats_server(tmp_path) as lost:
        hooks = asks(lost.url)
        with Responder(lost.url, answers(DENY)):
            first = fire(hooks)
        lost.kill()
        without = fire(hooks)
        lost.start()
        with Responder(lost.url, answers(DENY)):
            again = eventually(lambda: fire(hooks).decision == "deny")
        hooks.close()

    assert first.decision == "deny"
    assert code(without) in ("nats_unreachable", "timeout")  # it may be sent before the end of the server is known
    assert again


def test_a_connection_whose_end_is_not_told_is_made_again(
    tmp_path: Path, fire: Fire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client may refuse to send before it tells that it is closed; nothing may wait for that by asking again."""
    from interpose.handlers._nats_pool import _Connection

    closed = threading.Event()

    async def keep_quiet(self: _Connection, what: str) -> None:
        if what == "closed":
            closed.set()

    monkeypatch.setattr(_Connection, "_changed", keep_quiet)
    with a_nats_server(tmp_path) as lost:
        hooks = asks(lost.url)
        with Responder(lost.url, answers(DENY)):
            first = fire(hooks)
        lost.kill()
        assert closed.wait(PATIENCE)
        lost.start()
        with Responder(lost.url, answers(DENY)), within(PATIENCE / 2):
            again = asked(fire, hooks)

    assert (first.decision, again.decision) == ("deny", "deny")


def test_a_server_that_dies_while_a_worker_is_asked_is_no_silence(tmp_path: Path, fire: Fire) -> None:
    with a_nats_server(tmp_path) as dying:

        async def kill(message: Msg) -> None:
            os.kill(dying.process.pid, signal.SIGKILL)  # type: ignore[union-attr]

        with Responder(dying.url, kill), within(PATIENCE / 2):
            outcome = asked(fire, asks(dying.url, on_error="abort"))

    assert (outcome.decision, code(outcome)) == ("deny", "nats_unreachable")


@pytest.mark.slow
def test_a_server_that_hangs_is_given_up(tmp_path: Path, fire: Fire) -> None:
    with a_nats_server(tmp_path) as hung:
        hooks = asks(hung.url, timeout=2, on_error="abort")
        with Responder(hung.url, answers({})):
            assert eventually(lambda: fire(hooks).decision == "none")
            hung.kill(signal.SIGSTOP)
            with within(2 + BUSY):
                outcome = fire(hooks)
            hung.kill(signal.SIGCONT)
            assert eventually(lambda: fire(hooks).decision == "none")
        hooks.close()

    assert (outcome.decision, code(outcome)) == ("deny", "timeout")


def test_many_events_from_loops_and_threads_each_get_their_own_answer(server: NatsServer) -> None:
    async def echo(message: Msg) -> None:
        command = json.loads(message.data)["tool_input"]["command"]
        await message.respond(json.dumps({"decision": "deny", "reason": command}).encode())

    async def host(hooks: Hooks, names: list[str]) -> list[str]:
        calls = [hooks.fire("PreToolUse", tool_name="Bash", tool_input={"command": name}) for name in names]
        return [outcome.reason for outcome in await asyncio.gather(*calls)]

    said: dict[int, list[str]] = {}
    with Responder(server.url, echo):
        hooks = asks(server.url)
        wanted = {number: [f"{number}-{i}" for i in range(20)] for number in range(4)}
        threads = [
            threading.Thread(target=lambda n=number, names=names: said.update({n: asyncio.run(host(hooks, names))}))
            for number, names in wanted.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        hooks.close()

    assert said == wanted


def test_a_child_after_a_fork_makes_a_connection_of_its_own(told: NatsServer) -> None:
    with Responder(told.url, answers(DENY)):
        hooks = asks(told.url)
        without_a_loop(hooks)
        before = connections(told)
        child = os.fork()
        if child == 0:
            os._exit(0 if hooks.fire_sync("PreToolUse", **CALL).denied else 1)
        status = os.waitpid(child, 0)[1]
        made = connections(told) - before
        here = asked(without_a_loop, hooks)

    assert (status, made, here.decision, here.results[0].evidence["reused"]) == (0, 1, "deny", True)


def test_a_cancelled_host_gives_the_request_up(server: NatsServer) -> None:
    async def host(hooks: Hooks, worker: Responder) -> None:
        firing = asyncio.ensure_future(hooks.fire("PreToolUse", **CALL))
        while not worker.asked:  # noqa: ASYNC110 - it happens in another thread
            await asyncio.sleep(0.001)
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing

    with Responder(server.url, hangs) as worker, within(PATIENCE / 2):
        hooks = asks(server.url)
        run(host(hooks, worker))
        hooks.close()


# Configuration.


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("", "where a subject is expected"),
        (5, "where a subject is expected"),
        ("checks.*", "not a subject of workers"),
        ("checks.>", "not a subject of workers"),
        ("checks..x", "not a subject of workers"),
        ("checks x", "not a subject of workers"),
        ("checks.x\r\nPUB y", "not a subject of workers"),
        ("$JS.API.STREAM.DELETE.x", "belongs to the server or the fleet"),
        ("_INBOX.x", "belongs to the server or the fleet"),
        ("interpose.t.record.n", "belongs to the server or the fleet"),
    ],
)
def test_a_subject_that_is_none_for_workers_is_refused(subject: Any, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Hooks.from_mapping({"hooks": {"PreToolUse": [{"type": "nats", "subject": subject}]}})

    assert said in str(refused.value)


def test_a_named_file_asks_the_workers_of_its_own_fleet(server: NatsServer, tmp_path: Path) -> None:
    path = tmp_path / "hooks.yaml"
    path.write_text(
        f"fleet: {{servers: '{server.url}', team: t}}\n"
        "hooks: {PreToolUse: [{type: nats, subject: checks.x, timeout: 20, name: remote}]}\n"
    )
    with Responder(server.url, answers(DENY)):
        outcome = asked(without_a_loop, Hooks.load(path))

    assert outcome.denied


def test_check_says_that_a_hook_has_no_fleet_to_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from interpose.lint.executables import find_flaws, isolation_of

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "hooks.yaml"
    path.write_text("hooks: {PreToolUse: [{subject: checks.x}]}\n")
    [hook] = Hooks.load(path)

    assert [(flaw.code, "no fleet is configured" in flaw.what) for flaw in find_flaws(hook)] == [("missing", True)]
    assert isolation_of(hook) == "a worker of checks.x, asked over NATS"
