"""The resident engine over HTTP: it answers its user, refuses everyone else, and never lets an event pass by a mistake."""

import json
import os
import signal
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest
from tests.asking import until
from tests.faults.servers import PATIENCE, Home, a_home, serving, wait_until

from interpose.events import TABLE

pytestmark = pytest.mark.slow

CONFIG = """
hooks:
  PreToolUse:
    - {name: no-rm, matcher: Bash, handler: guards.no_rm, onError: abort}
    - {name: ends, matcher: Ends, handler: guards.ends}
    - {name: slow, matcher: Slow, handler: guards.slow, onError: abort}
    - {name: says-who, matcher: Who, handler: guards.says_who, onError: abort}
"""
GUARDS = """
import os, time
from interpose import deny

def no_rm(event):
    if "rm -rf" in event.tool_input.get("command", ""):
        return deny("no rm")

def ends(event):
    os._exit(0)

def slow(event):
    time.sleep(60)

def says_who(event):
    with open(event.tool_input["command"] + ".new", "w") as opened:
        opened.write(str(os.getpid()))
    os.rename(event.tool_input["command"] + ".new", event.tool_input["command"])
    time.sleep(60)
"""


class Http:
    """A client with the token."""

    def __init__(self, home: Home) -> None:
        facts = json.loads((home.serve_folder / "lock").read_text())
        self.port = int(facts["http"].rpartition(":")[2])
        self.token = (home.serve_folder / "token").read_text().strip()
        self.home = home

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        sent = {
            "Authorization": f"Bearer {self.token}",
            **{name.replace("_", "-"): text for name, text in headers.items()},
        }
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path, data, sent)
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        return answer.status, json.loads(said) if "json" in (answer.getheader("content-type") or "") else said.decode()

    def send(self, data: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(data)
            got = b""
            while part := connection.recv(65536):
                got += part
        return got


@pytest.fixture(scope="module")
def http() -> Iterator[Http]:
    with a_home() as home:
        folder = home.project / ".interpose"
        folder.mkdir()
        (folder / "hooks.yaml").write_text(CONFIG)
        (folder / "guards.py").write_text(GUARDS)
        with serving(home, "--http", "0", INTERPOSE_TRUST="all"):
            yield Http(home)


def event(http: Http, tool: str = "Bash", command: str = "rm -rf /") -> dict[str, Any]:
    return {"tool_name": tool, "tool_input": {"command": command}, "cwd": str(http.home.project)}


def test_an_event_is_answered_as_fire_json(http: Http) -> None:
    denied = http.ask("POST", "/v1/fire/PreToolUse", event(http))
    fine = http.ask("POST", "/v1/fire/PreToolUse", event(http, command="ls"))

    assert (denied[0], denied[1]["decision"], denied[1]["reason"]) == (200, "deny", "no rm")
    assert (fine[0], fine[1]["allowed"]) == (200, True)


def test_an_event_is_answered_as_the_reply_of_a_hook(http: Http) -> None:
    denied = http.ask("POST", "/v1/fire/PreToolUse", event(http), Interpose_Reply="claude")
    fine = http.ask("POST", "/v1/fire/PreToolUse", event(http, command="ls"), Interpose_Reply="claude")
    named = http.ask("POST", "/v1/fire", {"hook_event_name": "PreToolUse", **event(http)}, Interpose_Reply="native")

    assert denied[1]["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert fine == (200, {})
    assert named[1]["decision"] == "deny"


def test_a_mistake_denies_where_a_host_reads_only_the_reply(http: Http) -> None:
    replies = [
        http.ask("POST", "/v1/fire/PreToolUse", b"{", Interpose_Reply="claude"),
        http.ask("POST", "/v1/fire/PreToolUse", event(http, "Ends"), Interpose_Reply="claude"),
        http.ask("POST", "/v1/fire/PreToolUse", event(http), Interpose_Reply="claude", Interpose_Project="nowhere"),
    ]

    assert [status for status, _ in replies] == [200, 200, 200]
    assert {said["hookSpecificOutput"]["permissionDecision"] for _, said in replies} == {"deny"}
    assert http.ask("POST", "/v1/fire/NoSuchEvent", event(http), Interpose_Reply="claude")[1]["decision"] == "block"
    assert http.ask("POST", "/v1/fire/PreToolUse", event(http), Interpose_Reply="klingon")[1]["decision"] == "block"
    assert "not JSON" in http.ask("POST", "/v1/fire/SessionEnd", b"{", Interpose_Reply="claude")[1]["systemMessage"]


def test_a_mistake_is_an_error_for_a_program(http: Http) -> None:
    assert http.ask("POST", "/v1/fire/PreToolUse", b"{")[0] == 400
    assert http.ask("POST", "/v1/fire/NoSuchEvent", event(http))[0] == 400
    assert http.ask("POST", "/v1/fire/--help", event(http))[0] == 400
    assert http.ask("POST", "/v1/fire/PreToolUse", event(http, "Ends"))[0] == 503
    assert http.ask("GET", "/v1/fire/PreToolUse")[0] == 405
    assert http.ask("GET", "/nothing")[0] == 404


def test_only_the_user_and_no_page_of_another_site_can_fire(http: Http) -> None:
    path = "/v1/fire/PreToolUse"

    assert http.ask("POST", path, event(http), Authorization="Bearer wrong")[0] == 401
    assert http.ask("POST", path, event(http), Authorization="")[0] == 401
    assert http.ask("GET", "/metrics", Authorization="Bearer wrong")[0] == 401
    assert http.ask("POST", path, event(http), Host="evil.example")[0] == 403
    assert http.ask("POST", path, event(http), Origin="http://evil.example")[0] == 403
    assert http.ask("POST", path, event(http), Origin=f"http://127.0.0.1:{http.port}")[0] == 200


def test_health_and_metrics_and_the_description_are_there(http: Http) -> None:
    http.ask("POST", "/v1/fire/PreToolUse", event(http, command="ls"), Interpose_Reply="claude")
    health = http.ask("GET", "/health")
    until(lambda: 'interpose_events_total{ended="0"}' in http.ask("GET", "/metrics")[1])  # counted after the answer
    metrics = http.ask("GET", "/metrics")[1]
    status, described = http.ask("GET", "/openapi.json")

    assert health[1]["status"] == "ok"
    assert "interpose_event_seconds_bucket" in metrics
    assert status == 200
    assert {path.removeprefix("/v1/fire/") for path in described["paths"]} >= set(TABLE)


def test_an_event_whose_client_goes_with_the_answer_is_not_lost(http: Http) -> None:
    def count(ended: str) -> int:
        found = dict(line.split() for line in http.ask("GET", "/metrics")[1].splitlines() if line[0] != "#")
        return int(found.get(f'interpose_events_total{{ended="{ended}"}}', "0"))

    http.ask("POST", "/v1/fire/PreToolUse", event(http, command="ls"))
    answered, lost = count("0"), count("lost")
    for _ in range(30):
        http.ask("POST", "/v1/fire/PreToolUse", event(http, command="ls"))

    until(lambda: count("0") >= answered + 30)
    assert count("lost") == lost


RAW = {
    "no HTTP": (b"\x16\x03\x01\r\n\r\n", b"400"),
    "another version": (b"GET / HTTP/2.0\r\n\r\n", b"505"),
    "no host": (b"GET /health HTTP/1.1\r\n\r\n", b"400"),
    "two lengths": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
    "chunks": (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"411"),
    "no length": (b"POST /v1/fire HTTP/1.1\r\nHost: x\r\n\r\n", b"411"),
    "a length that is none": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n", b"400"),
    "60 MiB": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 62914560\r\n\r\n", b"413"),
    "a folded header": (b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", b"400"),
    "a bare line feed": (b"GET / HTTP/1.1\nHost: x\n\r\n\r\n", b"400"),
    "a head without an end": (b"GET / HTTP/1.1\r\nA: " + b"x" * 20_000, b"431"),
}


@pytest.mark.parametrize("sent", RAW)
def test_a_request_that_is_doubtful_is_refused_and_the_connection_closed(http: Http, sent: str) -> None:
    data, status = RAW[sent]

    assert http.send(data).startswith(b"HTTP/1.1 " + status)


def test_a_kept_connection_answers_one_request_after_the_other(http: Http) -> None:
    request = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{http.port}\r\n".encode()

    got = http.send((request + b"\r\n") * 2 + request + b"Connection: close\r\n\r\n")

    assert got.count(b"HTTP/1.1 200 OK") == 3


def test_an_event_is_refused_before_its_host_goes_on_without_it(http: Http) -> None:
    reply = http.ask(
        "POST", "/v1/fire/PreToolUse", event(http, "Slow"), Interpose_Reply="claude", Interpose_Deadline="1"
    )
    report = http.ask("POST", "/v1/fire/PreToolUse", event(http, "Slow"), Interpose_Deadline="1")
    wrong = http.ask("POST", "/v1/fire/PreToolUse", event(http), Interpose_Deadline="soon")

    assert reply[1]["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert (report[0], wrong[0]) == (503, 400)


def test_an_engine_process_that_is_killed_during_an_event_is_a_deny_on_a_connection_that_is_kept(http: Http) -> None:
    who = http.home.folder / "who"
    connection = HTTPConnection("127.0.0.1", http.port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {http.token}", "Interpose-Reply": "native"}

    connection.request("POST", "/v1/fire/PreToolUse", json.dumps(event(http, "Who", str(who))), headers)
    wait_until(who.exists, "the hook runs")
    os.kill(int(who.read_text()), signal.SIGKILL)
    lost = json.loads(connection.getresponse().read())
    connection.request("POST", "/v1/fire/PreToolUse", json.dumps(event(http)), headers)
    after = json.loads(connection.getresponse().read())
    connection.close()

    assert lost["decision"] == "deny"
    assert "the process that fired the event has ended" in lost["reason"]
    assert after == {"decision": "deny", "reason": "no rm"}


def test_a_client_that_goes_ends_its_event(http: Http) -> None:
    who = http.home.folder / "gone"
    connection = HTTPConnection("127.0.0.1", http.port, timeout=PATIENCE)

    connection.request("POST", "/v1/fire/PreToolUse", json.dumps(event(http, "Who", str(who))),
                       {"Authorization": f"Bearer {http.token}"})  # fmt: skip
    wait_until(who.exists, "the hook runs")
    connection.close()

    wait_until(lambda: not os.path.exists(f"/proc/{who.read_text()}"), "the process of the event ends")


def test_pipelined_requests_are_answered_in_their_order(http: Http) -> None:
    """An engine process answers the event itself; the answers of the server come before and after it."""
    host = f"Host: 127.0.0.1:{http.port}\r\nAuthorization: Bearer {http.token}\r\n"
    health = f"GET /health HTTP/1.1\r\n{host}\r\n".encode()
    body = json.dumps(event(http)).encode()
    fire = f"POST /v1/fire/PreToolUse HTTP/1.1\r\n{host}Content-Length: {len(body)}\r\n\r\n".encode() + body
    last = health.replace(b"Host:", b"Connection: close\r\nHost:")

    got = http.send(health + fire + health + fire + last)

    answers = [part.partition(b"\r\n\r\n")[2] for part in got.split(b"HTTP/1.1 200 OK\r\n")[1:]]
    assert [b'"version": ' in one for one in answers] == [True, False, True, False, True]
    assert [b"no rm" in one for one in answers] == [False, True, False, True, False]
