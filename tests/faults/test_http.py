"""HTTP endpoints that misbehave: what comes out, how long it takes, and that no connection or thread is left."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, eventually, run, unharmed, within
from tests.faults.http_servers import CERTIFICATE, Server, Visit, answer

from interpose import Hooks, Outcome

DENY = {"decision": "deny", "reason": "no"}
PATIENCE = 10.0
"""Seconds for an exchange that is expected to end by itself."""


def on_a_loop(hooks: Hooks, event: str = "PreToolUse", **fields: Any) -> Outcome:
    return unharmed(lambda: run(hooks.fire(event, **(fields or CALL))))


def without_a_loop(hooks: Hooks, event: str = "PreToolUse", **fields: Any) -> Outcome:
    return unharmed(lambda: hooks.fire_sync(event, **(fields or CALL)))


Fire = Callable[..., Outcome]


@pytest.fixture(params=[on_a_loop, without_a_loop])
def fire(request: pytest.FixtureRequest) -> Fire:
    """Fire on an event loop, and without one."""
    found: Fire = request.param
    return found


def asks(url: str, **options: Any) -> Hooks:
    """Return hooks with one that asks this endpoint."""
    hooks = Hooks()
    hooks.register("PreToolUse", url=url, name="remote", **{"timeout": PATIENCE, **options})
    return hooks


def code(outcome: Outcome) -> str:
    [result] = outcome.results
    return result.error.code if result.error else ""


# What an endpoint is told, and what its answers do.


def test_the_event_is_posted_as_a_command_would_get_it_and_a_deny_counts(fire: Fire) -> None:
    with Server(answer(DENY)) as server:
        hooks = asks(server.url("/a/b?c=d"))

        outcome = fire(hooks)
        hooks.close()

    [visit] = server.visits
    assert (outcome.decision, outcome.reason) == ("deny", "no")
    assert visit.target == "/a/b?c=d"
    assert visit.headers["content-type"] == "application/json"
    assert (visit.event["tool_name"], visit.event["tool_input"], visit.event["protocol"]) == (
        "Bash",
        {"command": "ls"},
        1,
    )
    assert outcome.results[0].type == "http"


@pytest.mark.parametrize("body", [b"", b"  ", b"{}", b"null"])
@pytest.mark.parametrize("status", [200, 204])
def test_an_empty_answer_is_no_opinion(body: bytes, status: int) -> None:
    with Server(answer(body if status == 200 else b"", status=status)) as server:
        hooks = asks(server.url(), on_error="abort")
        outcome = without_a_loop(hooks)
        hooks.close()

    assert (outcome.decision, code(outcome)) == ("none", "")


def test_the_input_can_be_changed(fire: Fire) -> None:
    with Server(answer({"modify": {"tool_input": {"command": "pwd"}}})) as server:
        hooks = asks(server.url())
        outcome = fire(hooks)
        hooks.close()

    assert outcome.tool_input == {"command": "pwd"}


def test_only_variables_that_are_listed_reach_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "t0ken")
    monkeypatch.setenv("OTHER", "0ther")
    headers = {"Authorization": "Bearer ${TOKEN}", "X-Other": "[$OTHER]", "X-Both": "$TOKEN-$OTHER."}
    with Server(answer()) as server:
        hooks = asks(server.url(), headers=headers, allowed_env_vars=["TOKEN"])
        without_a_loop(hooks)
        hooks.close()

    sent = server.visits[0].headers
    assert (sent["authorization"], sent["x-other"], sent["x-both"]) == ("Bearer t0ken", "[]", "t0ken-.")


def test_a_variable_with_a_line_end_is_never_sent_and_the_event_is_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "a\r\nX-Admin: yes")
    with Server(answer()) as server:
        hooks = asks(server.url(), headers={"X-Token": "$TOKEN"}, allowed_env_vars=["TOKEN"])
        outcome = without_a_loop(hooks)
        hooks.close()

    assert (outcome.decision, code(outcome), server.visits) == ("deny", "http_header", [])


def test_user_and_password_of_a_url_are_sent_and_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    with Server(answer(status=500)) as server:
        url = server.url("/hook?key=verysecret").replace("//", "//ann:verysecret@")
        hooks = Hooks()
        hooks.register("PreToolUse", url=url, on_error="abort")
        outcome = without_a_loop(hooks)
        hooks.close()

    assert server.visits[0].headers["authorization"] == "Basic YW5uOnZlcnlzZWNyZXQ="
    assert "verysecret" in server.visits[0].target
    shown = [
        json.dumps(outcome.to_dict()),
        caplog.text,
        repr(list(hooks)),
        repr(hooks),
        *(hook.label for hook in hooks),
    ]
    assert not [text for text in shown if "verysecret" in text]


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with Server(answer(DENY)) as server:
        hooks = asks(server.url())
        outcome = without_a_loop(hooks)
        hooks.close()

    assert outcome.denied


# Connections.


def test_a_connection_is_kept_for_the_next_event(fire: Fire) -> None:
    with Server(answer()) as server:
        hooks = asks(server.url())
        outcomes = [fire(hooks) for _ in range(3)]
        hooks.close()

    assert server.connections == 1
    assert [outcome.results[0].error for outcome in outcomes] == [None, None, None]


def test_the_loop_and_the_thread_of_hosts_share_a_connection() -> None:
    with Server(answer()) as server:
        hooks = asks(server.url())
        on_a_loop(hooks)
        without_a_loop(hooks)
        on_a_loop(hooks)
        hooks.close()

    assert server.connections == 1


@pytest.mark.parametrize("how", ["the server closes it at once", "the server is restarted", "connection: close", "1.0"])
def test_a_connection_that_the_server_has_closed_is_not_used_again(how: str, fire: Fire) -> None:
    said = answer(connection="close") if how == "connection: close" else answer()
    said = said.replace(b"HTTP/1.1", b"HTTP/1.0") if how == "1.0" else said
    with Server(said, once=how != "the server is restarted") as server:
        hooks = asks(server.url(), on_error="abort")
        outcomes = []
        for number in range(1, 4):
            outcomes.append(fire(hooks))
            if how == "the server is restarted":
                server.hang_up()
            assert eventually(lambda: server.closed == number)  # noqa: B023 - asked at once
        hooks.close()

    assert [outcome.decision for outcome in outcomes] == ["none"] * 3
    assert server.connections == 3


def test_close_ends_kept_connections_and_a_later_event_opens_another() -> None:
    with Server(answer()) as server:
        hooks = asks(server.url())
        without_a_loop(hooks)
        hooks.close()
        outcome = without_a_loop(hooks)
        hooks.close()

    assert (code(outcome), server.connections) == ("", 2)


def test_many_events_at_once_each_get_their_own_answer() -> None:
    def echo(visit: Visit) -> None:
        visit.send(answer({"decision": "deny", "reason": visit.event["tool_input"]["command"]}))

    async def host(hooks: Hooks) -> list[str]:
        calls = [hooks.fire("PreToolUse", tool_name="Bash", tool_input={"command": f"n{i}"}) for i in range(20)]
        return [outcome.reason for outcome in await asyncio.gather(*calls)]

    with Server(echo) as server:
        hooks = asks(server.url())
        reasons = run(host(hooks))
        hooks.close()

    assert reasons == [f"n{i}" for i in range(20)]


# Servers that cannot be reached.


def refused() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"http://127.0.0.1:{listening.getsockname()[1]}/"


@pytest.mark.parametrize(("guard", "decision"), [("abort", "deny"), (None, "none")])
def test_a_refused_connection_is_a_failure_and_a_guard_denies(guard: str | None, decision: str, fire: Fire) -> None:
    with within(PATIENCE):
        outcome = fire(asks(refused(), on_error=guard))

    assert (outcome.decision, outcome.results[0].status, code(outcome)) == (decision, "failed", "http_refused")


def test_a_name_that_is_not_found_is_a_failure(fire: Fire, monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", look_up)

    assert code(fire(asks("http://no-such-host.invalid/"))) == "http_name"


def test_a_look_up_that_hangs_keeps_to_the_deadline(fire: Fire, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, found = threading.Event(), socket.getaddrinfo

    def look_up(host: bytes, *rest: Any, **options: Any) -> Any:
        if options.get("flags"):
            return found(host, *rest, **options)
        go_on.wait(30)
        raise socket.gaierror(socket.EAI_AGAIN, "later")

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    with within(0.2 + BUSY):
        outcome = fire(asks("http://slow.invalid/", timeout=0.2))
    go_on.set()

    assert (outcome.results[0].status, code(outcome)) == ("timeout", "timeout")


def test_a_connection_that_is_never_accepted_keeps_to_the_deadline(fire: Fire) -> None:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(0)
    waiting = []
    for _ in range(3):  # fill the queue of connections that nobody accepts
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(listening.getsockname())
        waiting.append(one)
    with within(0.3 + BUSY):
        outcome = fire(asks(f"http://127.0.0.1:{listening.getsockname()[1]}/", timeout=0.3))
    for one in (*waiting, listening):
        one.close()

    assert outcome.results[0].status == "timeout"


def test_a_certificate_that_no_authority_has_signed_is_refused(fire: Fire) -> None:
    with Server(answer(), tls=True) as server:
        outcome = fire(asks(server.url(host="localhost"), on_error="abort"))

    assert (outcome.decision, code(outcome), server.visits) == ("deny", "http_tls", [])


def test_an_authority_of_ones_own_is_trusted_by_a_variable(fire: Fire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with Server(answer(DENY), tls=True) as server:
        hooks = asks(server.url(host="localhost"))
        outcomes = [fire(hooks), fire(hooks)]
        hooks.close()

    assert [(outcome.decision, code(outcome)) for outcome in outcomes] == [("deny", ""), ("deny", "")]
    assert server.connections == 1


def test_a_certificate_for_another_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with Server(answer(), tls=True) as server:
        assert code(without_a_loop(asks(server.url(host="127.0.0.1")))) == "http_tls"


def test_a_server_without_tls_is_no_tls_server(fire: Fire) -> None:
    with Server(lambda visit: None) as server:
        assert code(fire(asks(server.url().replace("http:", "https:"), timeout=0.3))) in ("http_tls", "timeout")


# Answers that are none.


def slow_body(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
    while not visit.server.over:
        visit.send(b" ")  # raises when the client is gone
        time.sleep(0.01)


def drip_head(visit: Visit) -> None:
    for byte in answer(DENY):
        visit.send(bytes([byte]))
        time.sleep(0.05)


@pytest.mark.parametrize("behave", [Visit.hang, slow_body, drip_head])
def test_a_server_that_is_too_slow_keeps_to_the_deadline(behave: Callable[[Visit], None], fire: Fire) -> None:
    with Server(behave) as server, within(0.3 + BUSY):
        outcome = fire(asks(server.url(), timeout=0.3, on_error="abort"))

    assert (outcome.decision, outcome.results[0].status) == ("deny", "timeout")


def cut_off(visit: Visit) -> None:
    visit.send(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{"decision": "den')
    visit.over = True


def cut_chunk(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n14\r\n")
    visit.over = True


def hang_up(visit: Visit) -> None:
    visit.over = True


def endless(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        visit.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")


HTML = answer(b"<p>hello</p>", content_type="text/html")
BROKEN: dict[str, tuple[Any, str, str]] = {
    # what the server does: (behaviour, code, what becomes of an event whose hook is not a guard)
    "status 500": (answer(status=500), "http_status", "none"),
    "status 404 with a page": (answer(b"<p>", status=404, content_type="text/html"), "http_status", "none"),
    "status 500 with a deny": (answer(DENY, status=500), "http_status", "deny"),
    "status 500 with an allow": (answer({"decision": "allow"}, status=500), "http_status", "none"),
    "status 301": (answer(status=301, location="/other"), "http_redirect", "none"),
    "a page": (HTML, "http_type", "none"),
    "a deny of another type": (answer(DENY, content_type="text/html"), "http_type", "deny"),
    "gzip": (answer(b"\x1f\x8b", content_encoding="gzip"), "http_type", "none"),
    "text of the right type": (answer(b"fine"), "bad_output", "none"),
    "half a JSON object": (answer(b'{"decision": '), "bad_output", "deny"),
    "cut off in the middle": (cut_off, "http_cut_off", "deny"),
    "cut off in a chunk": (cut_chunk, "http_cut_off", "none"),
    "closed without an answer": (hang_up, "http_cut_off", "none"),
    "60 MiB": (answer(b"{" + b" " * (60 << 20)), "http_too_large", "deny"),
    "without an end": (endless, "http_too_large", "deny"),
    "headers without an end": (b"HTTP/1.1 200 OK\r\n" + b"x-y: z\r\n" * 10_000, "http_too_large", "deny"),
    "another protocol": (b"220 mail.example ESMTP\r\n", "http_bad_answer", "none"),
    "two lengths": (answer(b"{}").replace(b"\r\n\r\n", b"\r\ncontent-length: 1\r\n\r\n"), "http_bad_answer", "none"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_an_answer_that_is_none_says_so_and_a_guard_denies(what: str, fire: Fire) -> None:
    behave, expected, decision = BROKEN[what]
    with Server(behave) as server, within(PATIENCE):
        hooks, guarded = asks(server.url()), asks(server.url(), on_error="abort")
        outcome, guard = fire(hooks), fire(guarded)
        hooks.close()
        guarded.close()

    assert (outcome.decision, code(outcome)) == (decision, expected)
    assert (guard.decision, code(guard)) == ("deny", expected)


def test_an_answer_in_chunks_with_something_before_it_is_read(fire: Fire) -> None:
    text = json.dumps(DENY).encode()
    chunks = b"".join(b"%x;a=b\r\n%c\r\n" % (1, byte) for byte in text)
    said = b"HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
    with Server(said + b"0\r\nx-trailer: z\r\n\r\n") as server:
        hooks = asks(server.url())
        outcomes = [fire(hooks), fire(hooks)]
        hooks.close()

    assert [outcome.denied for outcome in outcomes] == [True, True]
    assert server.connections == 1


def test_a_body_that_ends_with_the_connection_is_read() -> None:
    def old(visit: Visit) -> None:
        visit.send(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + json.dumps(DENY).encode())
        visit.over = True

    with Server(old) as server:
        assert without_a_loop(asks(server.url())).denied


def test_an_event_that_the_server_does_not_read_to_its_end_still_gets_its_answer(fire: Fire) -> None:
    listening, done = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def refuse() -> None:
        connection, _ = listening.accept()
        connection.recv(1000)
        connection.sendall(answer(status=413, connection="close"))
        done.wait(PATIENCE)  # a connection that is closed with unread bytes in it takes the answer with it
        connection.close()

    thread = threading.Thread(target=refuse)
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    outcome = fire(asks(url), tool_name="Write", tool_input={"content": "x" * (4 << 20)})
    done.set()
    thread.join()
    listening.close()

    assert code(outcome) == "http_status"


# Redirects.


def test_a_redirect_within_the_origin_is_followed(fire: Fire) -> None:
    def behave(visit: Visit) -> None:
        moved = visit.target == "/hook"
        visit.send(answer(status=307, location="/new?x=1") if moved else answer(DENY))

    with Server(behave) as server:
        hooks = asks(server.url())
        outcome = fire(hooks)
        hooks.close()

    assert outcome.denied
    assert [visit.target for visit in server.visits] == ["/hook", "/new?x=1"]
    assert server.visits[0].body == server.visits[1].body


@pytest.mark.parametrize(
    "where",
    [
        "http://127.0.0.2:PORT/",
        "https://127.0.0.1:PORT/",
        "http://169.254.169.254/",
        "file:///etc/passwd",
        "",
        "http://a b/",
        "//other.invalid/",
    ],
)
def test_a_redirect_to_another_origin_is_refused(where: str) -> None:
    with Server(
        lambda visit: visit.send(answer(status=308, location=where.replace("PORT", str(visit.server.port))))
    ) as server:
        outcome = without_a_loop(asks(server.url(), on_error="abort"))

    assert (outcome.decision, code(outcome), len(server.visits)) == ("deny", "http_redirect", 1)


def test_redirects_in_a_circle_end() -> None:
    with Server(answer(status=307, location="/hook")) as server:
        hooks = asks(server.url())
        outcome = without_a_loop(hooks)
        hooks.close()

    assert (code(outcome), len(server.visits)) == ("http_redirect", 6)


# The host.


def test_a_cancelled_host_closes_the_connection() -> None:
    gone = threading.Event()

    def behave(visit: Visit) -> None:
        visit.hang()
        gone.set()

    async def host(hooks: Hooks, server: Server) -> None:
        firing = asyncio.ensure_future(hooks.fire("PreToolUse", **CALL))
        while not server.visits:  # noqa: ASYNC110 - it happens in another thread
            await asyncio.sleep(0.001)
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing

    with Server(behave) as server:
        run(host(asks(server.url()), server))
        assert gone.wait(PATIENCE)


def test_an_event_that_cannot_be_encoded_is_denied_and_never_sent(fire: Fire) -> None:
    with Server(answer()) as server:
        outcome = fire(asks(server.url()), tool_name="Bash", tool_input={"command": "\ud800"})

    assert (outcome.decision, code(outcome), server.visits) == ("deny", "payload", [])


def test_what_a_server_says_about_secrets_is_redacted_in_the_record(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with Server(answer({"decision": "deny", "reason": f"token {token}"})) as server:
        hooks = Hooks.from_mapping({
            "audit": {"path": str(tmp_path / "audit.db")},
            "hooks": {"PreToolUse": [{"url": server.url()}]},
        })  # fmt: skip
        outcome = without_a_loop(hooks)
        hooks.close()

    assert token in outcome.reason
    assert eventually(lambda: any(path.stat().st_size for path in tmp_path.iterdir()))
    assert all(token.encode() not in path.read_bytes() for path in tmp_path.iterdir())
