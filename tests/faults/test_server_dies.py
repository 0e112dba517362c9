"""The real server with real clients: killed, stopped, replaced or of another version, before, during and after an event."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.faults.hosts import halt
from tests.faults.servers import COLD, PATIENCE, THIN, Home, a_home, processes_below, said, serving, wait_until

import interpose
from interpose.server.frames import MAGIC, FireAnswer

pytestmark = pytest.mark.slow

GUARDS = """
import os, time
from interpose import deny, __version__

def waits(event):
    with open(os.environ["HOME"] + "/runs", "a") as runs:
        print(os.getpid(), file=runs, flush=True)
    while not os.path.exists(os.environ["HOME"] + "/go"):
        time.sleep(0.005)
    return deny("no, says " + __version__)

def long(event):
    return deny("x" * 300_000)
"""
CONFIG = """
hooks:
  PreToolUse:
    - {name: waits, matcher: Bash, handler: guards.waits, onError: abort}
    - {name: long, matcher: Long, handler: guards.long, onError: abort}
"""
NAMED = ["--reply", "native", "--config", "hooks.yaml"]
DENIED = (2, f"no, says {interpose.__version__}\n".encode())
LOST = (
    2,
    b"interpose fire: the resident engine accepted the event and did not answer (nothing was decided, so this denies)\n",
)


def event(tool: str = "Bash") -> bytes:
    return json.dumps({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {}}).encode()


@pytest.fixture
def home() -> Iterator[Home]:
    with a_home() as made:
        made.write(CONFIG, guards=GUARDS)
        yield made


@pytest.fixture(params=["python", pytest.param("compiled", marks=pytest.mark.more)])
def client(request: pytest.FixtureRequest, home: Home) -> list[str]:
    if request.param == "python":
        return THIN
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    _, path, _ = home.run([sys.executable, "-P", "-m", "interpose.cli", "serve", "--build-client"])
    return [path.decode().strip()]


def runs(home: Home) -> list[int]:
    """The processes in which the hook has run."""
    path = home.folder / "runs"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def go(home: Home) -> None:
    (home.folder / "go").touch()


@contextmanager
def asking(home: Home, client: list[str], data: bytes | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A client that is under way."""
    process = subprocess.Popen(
        [*client, *NAMED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=home.environment, cwd=home.project,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(event() if data is None else data)
    process.stdin.close()
    process.stdin = None
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def end_of(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    _, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, errors


def gone(pids: set[int]) -> bool:
    return not any(os.path.exists(f"/proc/{pid}") for pid in pids)


def test_killed_before_an_event_leaves_it_to_the_client(home: Home, client: list[str]) -> None:
    go(home)
    with serving(home) as server:
        left = processes_below(server.pid)
        server.kill()
        server.wait(PATIENCE)

        with asking(home, client) as asked:
            answer = end_of(asked)

    assert answer == DENIED
    assert len(runs(home)) == 1
    wait_until(lambda: gone(left), "its processes end")


def test_killed_with_its_engine_during_an_event_is_a_refusal(home: Home, client: list[str]) -> None:
    with serving(home) as server, asking(home, client) as asked:
        wait_until(lambda: runs(home), "the hook runs")
        left = processes_below(server.pid)
        server.kill()
        for pid in left:
            os.kill(pid, signal.SIGKILL)

        answer = end_of(asked)

    assert answer == LOST
    assert len(runs(home)) == 1, "it is not fired again"
    wait_until(lambda: gone(left), "its processes end")


def test_an_event_under_way_outlives_a_server_that_is_killed(home: Home, client: list[str]) -> None:
    with serving(home) as server, asking(home, client) as asked:
        wait_until(lambda: runs(home), "the hook runs")
        left = processes_below(server.pid)
        server.kill()
        server.wait(PATIENCE)
        go(home)

        answer = end_of(asked)

    assert answer == DENIED
    assert len(runs(home)) == 1
    wait_until(lambda: gone(left), "its processes end")


def test_killed_after_an_answer_leaves_the_next_event_to_the_client(home: Home, client: list[str]) -> None:
    go(home)
    with serving(home) as server:
        with asking(home, client) as asked:
            first = end_of(asked)
        left = processes_below(server.pid)
        server.kill()
        server.wait(PATIENCE)
        with asking(home, client) as asked:
            second = end_of(asked)

    assert (first, second) == (DENIED, DENIED)
    assert len(set(runs(home))) == 2, "each in a process of its own"
    wait_until(lambda: gone(left), "its processes end")
    assert sorted(os.listdir(home.serve_folder)) == ["lock", "socket"], "which the next server replaces"


def test_an_engine_that_is_killed_during_an_event_is_a_refusal_with_the_reason(home: Home, client: list[str]) -> None:
    with serving(home), asking(home, client) as asked:
        wait_until(lambda: runs(home), "the hook runs")
        os.kill(runs(home)[0], signal.SIGKILL)

        status, errors = end_of(asked)

    assert status == 2
    assert b"lost the event" in errors


def test_an_engine_that_is_killed_while_it_waits_costs_no_event(home: Home) -> None:
    go(home)
    with serving(home):
        for _ in range(3):
            with asking(home, THIN) as asked:
                assert end_of(asked) == DENIED
            last = runs(home)[-1]
            os.kill(last, signal.SIGKILL)
            wait_until(lambda last=last: gone({last}), "it ends")

    assert len(set(runs(home))) == 3


@pytest.mark.more
def test_stopped_before_it_accepts_leaves_the_event_to_the_client_and_never_fires_it(
    home: Home, client: list[str]
) -> None:
    go(home)
    with serving(home) as server:
        halt(server.pid)
        with asking(home, client) as asked:
            answer = end_of(asked)
        os.kill(server.pid, signal.SIGCONT)

        with asking(home, client) as asked:
            after = end_of(asked)

    assert (answer, after) == (DENIED, DENIED)
    assert len(runs(home)) == 2, "one by the client, one by the server"


@pytest.mark.more
def test_a_server_that_is_stopped_during_an_event_does_not_hold_up_its_answer(home: Home, client: list[str]) -> None:
    with serving(home) as server, asking(home, client) as asked:
        wait_until(lambda: runs(home), "the hook runs")
        halt(server.pid)
        go(home)
        answer = end_of(asked)
        os.kill(server.pid, signal.SIGCONT)

    assert answer == DENIED


@pytest.mark.more
def test_stopped_with_its_engine_after_it_has_accepted_is_a_refusal(home: Home, client: list[str]) -> None:
    with serving(home) as server, asking(home, client) as asked:
        wait_until(lambda: runs(home), "the hook runs")
        halt(server.pid)
        answer = end_of(asked)
        os.kill(server.pid, signal.SIGCONT)

    assert answer == LOST
    assert len(runs(home)) == 1


def test_a_place_that_is_another_users_or_a_link_is_not_asked(home: Home, client: list[str]) -> None:
    go(home)
    with serving(home):
        wait_until(lambda: home.ask(NAMED, event()) and len(set(runs(home)[-2:])) < len(runs(home)[-2:]), "it is kept")
        kept = len(runs(home)) - 1
        elsewhere = home.folder / "elsewhere"
        home.socket.rename(elsewhere)
        home.socket.symlink_to(elsewhere)
        with asking(home, client) as asked:
            by_link = end_of(asked)
        home.socket.unlink()
        elsewhere.rename(home.socket)
        answers = [by_link]
        if os.geteuid() == 0:
            os.chown(home.socket, 12345, 12345)
            with asking(home, client) as asked:
                answers.append(end_of(asked))
            os.chown(home.socket, 0, 0)
        with asking(home, client) as asked:
            end_of(asked)

    ran = runs(home)[kept:]
    assert set(answers) == {DENIED}
    assert ran[0] == ran[-1], "first and last by the server"
    assert len(set(ran)) == len(ran) - 1, "the others by their clients"


def test_a_path_that_is_too_long_for_a_socket_leaves_the_event_to_the_client(home: Home, client: list[str]) -> None:
    go(home)
    place = home.folder / ("x" * 90)
    command = [sys.executable, "-P", "-m", "interpose.cli", "serve"]

    status, _, errors = home.run(command, XDG_STATE_HOME=str(place))
    answer = home.run([*client, *NAMED], event(), XDG_STATE_HOME=str(place))

    assert (status, b"too long for a socket" in errors) == (1, True)
    assert (answer[0], answer[2]) == DENIED


def test_a_client_that_does_not_read_a_long_answer_holds_up_no_other(home: Home) -> None:
    go(home)
    with serving(home), home.send(home.request(NAMED, event("Long"))) as deaf:
        others = [home.ask(NAMED, event()) for _ in range(3)]
        answer = said(deaf)

    assert {one.status for one in others if isinstance(one, FireAnswer)} == {2}
    assert isinstance(answer, FireAnswer)
    assert len(answer.errors) > 300_000


@pytest.mark.more
def test_half_an_event_is_closed_after_some_time_and_leaves_nothing(home: Home) -> None:
    with serving(home) as server:
        before = len(os.listdir(f"/proc/{server.pid}/fd"))
        with home.connect() as connection:
            connection.sendall(MAGIC + (1000).to_bytes(4, "big") + b"half")

            assert connection.recv(1) == b"", "the server closes it"
            assert len(os.listdir(f"/proc/{server.pid}/fd")) == before


JUMPS = """
import sys, time
real, calls = time.time, [0]

def jumping():
    calls[0] += 1
    return real() + (0, 86400.0, -86400.0, 40 * 365 * 86400.0)[calls[0] % 4]

time.time = jumping
from interpose.cli import main
sys.exit(main(["serve"]))
"""


def test_a_clock_that_jumps_changes_no_answer(home: Home) -> None:
    """Every look at the clock is days away from the last one, in the server and in its engine processes."""
    with serving(home, command=[sys.executable, "-P", "-c", JUMPS]) as server:
        with asking(home, THIN) as asked:
            wait_until(lambda: runs(home), "the hook runs")
            go(home)
            answers = [end_of(asked)]
        for _ in range(5):
            with asking(home, THIN) as asked:
                answers.append(end_of(asked))
        home.write("hooks: {}\n")
        with asking(home, THIN) as asked:
            changed = end_of(asked)

        assert server.poll() is None
    assert set(answers) == {DENIED}
    assert changed == (0, b"")


def test_a_client_of_another_version_gets_the_answer_of_its_own(home: Home, tmp_path: Path) -> None:
    go(home)
    package = Path(interpose.__file__).parent
    other = tmp_path / "interpose"
    shutil.copytree(package, other, ignore=shutil.ignore_patterns("__pycache__"))
    init = other / "__init__.py"
    text = init.read_text()
    assert f'"{interpose.__version__}"' in text
    init.write_text(text.replace(f'"{interpose.__version__}"', '"99.0"'))
    venv.create(tmp_path / "venv", symlinks=True)
    python = str(tmp_path / "venv/bin/python")
    site = next((tmp_path / "venv/lib").glob("python*/site-packages"))
    (site / "other.pth").write_text(f"{tmp_path}\n{sysconfig.get_path('purelib')}\n")

    with serving(home):
        own = home.run([*THIN, *NAMED], event())
        by_other = home.run([python, "-I", "-S", str(other / "server/client.py"), *NAMED], event())
        second = home.run([python, "-m", "interpose.cli", "serve"])

    assert (own[0], own[2]) == DENIED
    assert (by_other[0], by_other[2]) == (2, b"no, says 99.0\n")
    assert (second[0], b"runs already" in second[2]) == (1, True)


def test_a_module_of_a_hook_that_has_changed_holds_from_the_next_event_on(home: Home) -> None:
    home.write("hooks:\n  PreToolUse:\n    - {name: says, handler: says.hook}\n", says="from words import hook\n")
    answers = []
    with serving(home):
        for word in ("one", "two", "three"):
            home.write(
                "hooks:\n  PreToolUse:\n    - {name: says, handler: says.hook}\n",
                words=f"from interpose import deny\ndef hook(event): return deny({word!r})\n",
            )
            answers += [home.run([*THIN, *NAMED], event())[2] for _ in range(2)]
        cold = home.run([*COLD, *NAMED], event())[2]

    assert answers == [b"one\n", b"one\n", b"two\n", b"two\n", b"three\n", b"three\n"]
    assert cold == answers[-1]


def test_a_connection_that_says_nothing_keeps_a_server_from_nothing(home: Home) -> None:
    go(home)
    with serving(home, "--idle", "0.3") as server:
        idle = [home.connect() for _ in range(20)]
        answer = home.ask(NAMED, event())
        for connection in idle:
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()

        assert server.wait(PATIENCE) == 0, "it ends by itself"
    assert isinstance(answer, FireAnswer)
    assert answer.status == 2


def doctor(home: Home, state: Path | None = None) -> tuple[str, str]:
    """What `interpose doctor` says about the resident engine: its state and the text."""
    command = [sys.executable, "-P", "-m", "interpose.cli", "doctor", "--no-run", "--json", "--config", "hooks.yaml"]
    said = home.run(command, XDG_STATE_HOME=str(state or home.folder / ".local/state"))[1]
    [found] = [one for one in json.loads(said)["machine"] if one["name"] == "resident engine"]
    return found["state"], found["text"]


def test_the_doctor_says_whether_a_server_runs_and_answers(home: Home) -> None:
    before = doctor(home)
    home.write(CONFIG + "resident: true\n")
    wanted = doctor(home)
    too_long = doctor(home, home.folder / ("x" * 90))
    with serving(home, "--http", "0") as server:
        runs_now = doctor(home)
        halt(server.pid)
        stopped = doctor(home)
        os.kill(server.pid, signal.SIGCONT)

    assert before == ("off", "none runs; `interpose serve` starts one")
    assert wanted == ("off", "none runs; the next event starts one")
    assert (too_long[0], "too long for a socket" in too_long[1]) == ("warning", True)
    assert runs_now[0] == "ok"
    assert f"process {server.pid}, version {interpose.__version__}" in runs_now[1]
    assert "http://127.0.0.1:" in runs_now[1]
    assert (stopped[0], "does not answer" in stopped[1]) == ("wrong", True)


def test_the_doctor_waits_for_a_server_that_is_busy_as_long_as_a_client_does(home: Home) -> None:
    with serving(home) as server:
        halt(server.pid)
        busy = threading.Timer(4.5, os.kill, (server.pid, signal.SIGCONT))
        busy.start()
        try:
            found = doctor(home)
        finally:
            busy.join()

    assert found[0] == "ok", found


def test_the_access_log_has_a_line_for_every_request(home: Home) -> None:
    go(home)
    with serving(home, "--access-log", "--http", "0") as server:
        home.ask(NAMED, event())
        home.ask(NAMED, event(), installation=("/usr/bin", "/elsewhere"))
        port = json.loads((home.serve_folder / "lock").read_text())["http"].rpartition(":")[2]
        with socket.create_connection(("127.0.0.1", int(port))) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            connection.recv(65536)
        assert server.stdout is not None
        assert b"/v1/fire/EVENT, with the token in " in server.stdout.readline()
        lines = [json.loads(server.stdout.readline()) for _ in range(3)]

    assert [(line["over"], line["status"]) for line in lines] == [("socket", 2), ("socket", "declined"), ("http", 200)]
    assert (lines[0]["pid"], lines[0]["directory"], lines[0]["arguments"]) == (os.getpid(), str(home.project), NAMED)
    assert lines[1]["why"] == "the client belongs to another installation"
    assert all(line["ms"] >= 0 for line in lines)


def test_a_client_is_refused_before_its_host_goes_on_without_it(home: Home, client: list[str]) -> None:
    with serving(home):
        status, _, errors = home.run([*client, *NAMED, "--deadline", "2"], event())
        go(home)
        after = home.run([*client, *NAMED, "--deadline", "30"], event())

    assert (status, b"it took more than 1.5 s" in errors) == (2, True)
    assert (after[0], after[2]) == DENIED
