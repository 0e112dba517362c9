"""The resident engine: it answers as `interpose fire` does, whatever its callers, its hooks and its host do."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.faults.hosts import halt
from tests.faults.servers import COLD, THIN, Home, a_home, is_asleep, processes_below, said, serving, wait_until

from interpose.errors import UsageError
from interpose.server.frames import LONGEST, MAGIC, FireAnswer
from interpose.server.places import prepare_folder, socket_path

pytestmark = pytest.mark.slow

GUARDS = """
import os, sys, threading, time
from interpose import deny, context

def no_rm(event):
    if "rm -rf" in event.tool_input.get("command", ""):
        return deny("no rm")

def told(event):
    mask = os.umask(0)
    os.umask(mask)
    return deny(f"{os.getpid()} {os.getcwd()} {os.environ.get('COLOUR')} {oct(mask)} {event.session_id}")

def once(event):
    return deny("ran")

def hangs(event):
    time.sleep(50)

def ends(event):
    os._exit(0)

def waits(event):
    started, go = event.tool_input["started"], event.tool_input["go"]
    open(started, "w").close()
    while not os.path.exists(go):
        time.sleep(0.005)
    return deny("waited")

def prints(event):
    os.write(1, b"to one ")
    os.write(2, b"to two ")
    print("printed")
    sys.stderr.close() if event.tool_input.get("close") else None

def spoils(event):
    sys.__stdout__.write("{}")
    sys.__stdout__.flush()
    sys.stdin.close()
    return deny("spoilt")

def leaves_a_thread(event):
    threading.Thread(target=time.sleep, args=[60], daemon=True).start()
    return deny(str(os.getpid()))
"""
CONFIG = """
hooks:
  PreToolUse:
    - {name: no-rm, matcher: Bash, handler: guards.no_rm, onError: abort}
    - {name: told, matcher: Told, handler: guards.told}
    - {name: once, matcher: Once, handler: guards.once, once: true}
    - {name: hangs, matcher: Hangs, handler: guards.hangs, timeout: 0.2, onError: abort}
    - {name: ends, matcher: Ends, handler: guards.ends}
    - {name: waits, matcher: Waits, handler: guards.waits}
    - {name: prints, matcher: Prints, handler: guards.prints}
    - {name: spoils, matcher: Spoils, handler: guards.spoils}
    - {name: leaves, matcher: Leaves, handler: guards.leaves_a_thread}
    - {name: variables, matcher: Variables, type: command, command: 'echo "$COLOUR $NAME $(pwd)" >&2; exit 2', passEnv: [COLOUR]}
"""


@pytest.fixture(scope="module")
def served() -> Iterator[Home]:
    """A home with a server, which all tests of this file share that do not end it."""
    with a_home() as home, serving(home):
        home.write(CONFIG, guards=GUARDS)
        yield home


def event(tool: str, **tool_input: str) -> bytes:
    fields = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": tool_input}
    return json.dumps(fields).encode()


NAMED = ["--reply", "native", "--config", "hooks.yaml"]


def reason(answer: FireAnswer | tuple[str, str]) -> str:
    assert isinstance(answer, FireAnswer), answer
    return answer.errors.decode().strip()


def timeless(answer: tuple[int, bytes, bytes]) -> tuple[int, bytes, bytes]:
    """An answer without the time that a hook took."""
    status, output, errors = answer
    return status, re.sub(rb" +[0-9.]+ ms", b" N ms", output), errors


CALLS = {
    "a deny": ([*NAMED], event("Bash", command="rm -rf /")),
    "nothing to say": ([*NAMED], event("Bash", command="ls")),
    "no JSON": ([*NAMED], b"{"),
    "a configuration that is not there": (["--reply", "claude", "--config", "none.yaml"], event("Bash", command="ls")),
    "a report for a person": (
        ["PreToolUse", "--tool", "Bash", "--tool-input", '{"command": "rm -rf /"}', "-c", "hooks.yaml"],
        b"",
    ),
    "an option that does not exist": (["--reply", "claude", "--colour"], b""),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_answer_is_that_of_a_process_of_its_own(served: Home, call: str) -> None:
    arguments, data = CALLS[call]

    by_client, by_itself = (timeless(served.run([*words, *arguments], data)) for words in (THIN, COLD))
    directly = served.ask(arguments, data)

    assert by_client == by_itself
    assert isinstance(directly, FireAnswer)
    assert timeless(directly) == by_itself


def test_a_hook_has_the_environment_the_directory_and_the_mask_of_the_caller(served: Home) -> None:
    (served.project / "below").mkdir()
    named = ["--reply", "native", "--config", str(served.project / "hooks.yaml")]
    below = str(served.project / "below")

    one = reason(served.ask(named, event("Told"), directory=below, umask=0o027, variables={"COLOUR": "red"}))
    two = reason(served.ask(named, event("Told"), variables={}))

    assert one.split()[1:4] == [below, "red", "0o27"]
    assert two.split()[1:4] == [str(served.project), "None", "0o22"]
    assert one.split()[4] != two.split()[4], "two events without a session belong to two"


def test_a_command_gets_the_allowed_variables_of_the_caller(served: Home) -> None:
    answer = served.ask(NAMED, event("Variables"), variables={"COLOUR": "red", "NAME": "secret"})

    assert reason(answer) == f"red  {served.project}"


def test_the_programs_above_the_client_are_registered_as_agents(served: Home) -> None:
    folder = served.folder / ".local/state/interpose/agents"
    started = Path(f"/proc/{os.getpid()}/stat").read_text().rpartition(")")[2].split()[19]
    own = folder / f"{os.getpid()}.{started}"
    named = [*THIN, *NAMED]

    found = []
    for _ in range(3):
        served.run(named, event("Bash", command="ls"))
        found.append(own.exists())
        own.unlink(missing_ok=True)

    assert found == [True, True, True]


def test_what_the_caller_switches_off_is_off_for_this_caller_alone(served: Home) -> None:
    danger = event("Bash", command="rm -rf /")

    by_hand = ["--json", "--config", "hooks.yaml", "--input", "-"]  # an agent has to be started with it
    off = served.ask(by_hand, danger, variables={"INTERPOSE_OFF": "locked out"})
    on = served.ask(NAMED, danger)
    deep = served.ask(by_hand, danger, variables={"INTERPOSE_DEPTH": "8"})

    assert isinstance(off, FireAnswer)
    assert off.status == 0
    assert isinstance(on, FireAnswer)
    assert on.status == 2
    assert isinstance(deep, FireAnswer)
    assert "deep" in json.loads(deep.output)["reason"]


def test_a_hook_that_runs_once_per_process_runs_at_every_event(served: Home) -> None:
    answers = [reason(served.ask(NAMED, event("Once"))) for _ in range(2)]

    assert answers == ["ran", "ran"]


def test_an_engine_process_is_kept_for_the_next_event_and_is_not_the_server(served: Home) -> None:
    pids = {reason(served.ask(NAMED, event("Told"))).split()[0] for _ in range(3)}

    assert len(pids) == 1


def test_two_projects_have_two_processes(served: Home) -> None:
    other = served.folder / "other"
    other.mkdir()
    for name in ("hooks.yaml", "guards.py"):
        (other / name).write_bytes((served.project / name).read_bytes())

    here, there = (reason(served.ask(NAMED, event("Told"), directory=str(place))) for place in (served.project, other))

    assert here.split()[0] != there.split()[0]


def test_a_changed_configuration_holds_from_the_next_event_on(served: Home) -> None:
    path = served.write(CONFIG, "changing.yaml")
    arguments = ["--reply", "native", "--config", "changing.yaml"]
    before = served.ask(arguments, event("Bash", command="rm -rf /"))

    for text in ("hooks: {}\n", "hooks: [\n"):
        served.write(text, "changing.yaml")
        assert served.ask(arguments, event("Bash", command="rm -rf /")) == FireAnswer(
            *served.run([*COLD, *arguments], event("Bash", command="rm -rf /"))
        )
    os.unlink(path)
    gone = served.ask(arguments, event("Bash", command="ls"))

    assert reason(before) == "no rm"
    assert isinstance(gone, FireAnswer)
    assert gone.status == 2


def test_an_event_under_way_ends_with_the_hooks_that_it_began_with(served: Home) -> None:
    started, go = served.folder / "started", served.folder / "go"
    served.write(CONFIG, "under_way.yaml")
    arguments = ["--reply", "native", "--config", "under_way.yaml"]

    with served.send(served.request(arguments, event("Waits", started=str(started), go=str(go)))) as connection:
        wait_until(started.exists, "the hook runs")
        served.write("hooks: {}\n", "under_way.yaml")
        meanwhile = served.ask(arguments, event("Waits"))
        go.touch()
        answer = said(connection)

    assert meanwhile == FireAnswer(0, b"", b"")
    assert reason(answer) == "waited"


def test_every_event_of_many_clients_has_the_configuration_that_was_there_when_it_began(served: Home) -> None:
    """Eight clients ask without a pause; an event that begins after a change never has the rules from before it."""
    written, wrong, answers, stop = [0], list[object](), Counter[str](), threading.Event()
    text = "hooks: {{PreToolUse: [{{name: v, command: 'echo {} >&2; exit 2'}}]}}\n"

    def write(version: int) -> None:
        served.write(text.format(version), "next.yaml")
        os.replace(served.project / "next.yaml", served.project / "changing.yaml")
        written[0] = version

    def ask() -> None:
        while not stop.is_set():
            oldest = written[0]
            answer = served.ask(["--reply", "native", "--config", "changing.yaml"], event("Bash"))
            if not isinstance(answer, FireAnswer) or answer.status != 2 or int(answer.errors) < oldest:
                wrong.append((oldest, answer))
            answers[threading.current_thread().name] += 1

    write(1)
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for version in range(2, 22):
        enough = sum(answers.values()) + 8
        wait_until(lambda enough=enough: sum(answers.values()) >= enough or wrong, "events are answered")
        write(version)
    stop.set()
    for thread in threads:
        thread.join(60)

    assert wrong == []
    assert len(answers) == 8


def test_what_is_trusted_is_looked_at_before_every_event(served: Home) -> None:
    project = served.folder / "trusted"
    own = project / ".interpose"
    own.mkdir(parents=True)
    (own / "hooks.yaml").write_text(CONFIG)
    (own / "guards.py").write_text(GUARDS)
    (own / "guard.sh").write_text("exit 2\n")
    arguments, danger = ["--reply", "native", "--require"], event("Bash", command="rm -rf /")
    code = f"from interpose.config.trust import trust; print(trust({str(own / 'hooks.yaml')!r}).directory)"

    def trust() -> Path:
        return Path(served.run([sys.executable, "-c", code])[1].decode().strip())

    def both() -> tuple[FireAnswer | tuple[str, str], tuple[int, bytes, bytes]]:
        resident = served.ask(arguments, danger, directory=str(project))
        return resident, served.run([*COLD, *arguments], danger, project)

    changes: list[Callable[[], object]] = [
        lambda: None,
        trust,
        lambda: (own / "guards.py").write_text("def no_rm(event): pass\n"),
        lambda: (own / "guards.py").write_text(GUARDS),
        lambda: (own / "hooks.local.yaml").write_text("hooks: {}\n"),
    ]
    answers = []
    for change in changes:
        change()
        answers.append(both())
    copy = next(trust().glob("**/guards.py"))
    served.ask(arguments, danger, directory=str(project))
    copy.chmod(0o600)
    copy.write_text("def no_rm(event): pass\n")
    answers.append(both())

    for resident, cold in answers:
        assert resident == FireAnswer(*cold)
    said = [reason(resident).rpartition("\n")[2] for resident, _ in answers]
    assert "no trusted configuration was found" in said[0]
    assert said[1:5] == ["no rm"] * 4
    assert "has changed" in said[5]


def test_a_hook_that_hangs_is_denied_in_time_and_its_process_replaced(served: Home) -> None:
    before = reason(served.ask(NAMED, event("Told"))).split()[0]

    hung = served.ask(NAMED, event("Hangs"))
    after = reason(served.ask(NAMED, event("Told"))).split()[0]

    assert isinstance(hung, FireAnswer)
    assert hung.status == 2
    assert before != after


def test_a_hook_that_leaves_a_thread_gets_a_process_that_no_other_event_uses(served: Home) -> None:
    pids = [reason(served.ask(NAMED, event("Leaves"))) for _ in range(2)]

    assert pids[0] != pids[1]


def test_what_a_hook_prints_is_in_the_answer_of_its_own_event(served: Home) -> None:
    answers = [served.ask(NAMED, event("Prints")) for _ in range(2)]
    closed = served.ask(NAMED, event("Prints", close="yes"))

    assert answers == [FireAnswer(0, b"", b"to one to two printed\n")] * 2
    assert isinstance(closed, FireAnswer)
    assert reason(served.ask(NAMED, event("Bash", command="rm -rf /"))) == "no rm"


def test_a_hook_that_writes_to_the_original_standard_output_does_not_spoil_the_reply(served: Home) -> None:
    cold = served.run([*COLD, *NAMED], event("Spoils"))

    assert [served.ask(NAMED, event("Spoils")) for _ in range(3)] == [FireAnswer(*cold)] * 3
    assert json.loads(cold[1]) == {"decision": "deny", "reason": "spoilt"}


def test_a_hook_that_ends_its_process_is_a_refusal_and_the_next_event_is_answered(served: Home) -> None:
    lost = served.ask(NAMED, event("Ends"))
    by_client = served.run([*THIN, *NAMED], event("Ends"))

    assert lost == (
        "R",
        "the resident engine lost the event: the process that fired the event has ended (so this denies)",
    )
    assert by_client[0] == 2
    assert reason(served.ask(NAMED, event("Bash", command="rm -rf /"))) == "no rm"


def test_a_client_that_goes_ends_its_event(served: Home) -> None:
    started = served.folder / "gone"
    with served.send(served.request(NAMED, event("Waits", started=str(started), go="/never"))):
        wait_until(started.exists, "the hook runs")

    wait_until(lambda: reason(served.ask(NAMED, event("Bash", command="rm -rf /"))) == "no rm", "the server goes on")


NO_REQUESTS = {
    "garbage": b"\x00\xff" * 50,
    "another protocol": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "another version": b"IPF9" + (0).to_bytes(4, "big"),
    "60 MiB": MAGIC + (60 * 1024 * 1024).to_bytes(4, "big"),
    "parts that are cut off": MAGIC + (6).to_bytes(4, "big") + b"\0\0\0\x09ab",
    "more than it says": MAGIC + (1).to_bytes(4, "big") + b"12345",
}


@pytest.mark.parametrize("sent", NO_REQUESTS)
def test_what_is_no_request_is_declined(served: Home, sent: str) -> None:
    with served.connect() as connection:
        connection.sendall(NO_REQUESTS[sent])

        answer = said(connection)

    assert answer[0] == "D"
    assert LONGEST < 60 * 1024 * 1024


def test_half_a_request_holds_up_no_other(served: Home) -> None:
    with served.connect() as connection:
        connection.sendall(MAGIC + (1000).to_bytes(4, "big") + b"half")

        assert reason(served.ask(NAMED, event("Bash", command="rm -rf /"))) == "no rm"


def test_a_client_of_another_installation_or_with_other_python_variables_is_declined(served: Home) -> None:
    other = served.ask(NAMED, event("Told"), installation=("/usr/bin", "/elsewhere"))
    path = served.ask(NAMED, event("Told"), variables={"PYTHONPATH": "/elsewhere"})

    assert other == ("D", "the client belongs to another installation")
    assert path == ("D", "PYTHON… variables differ from those of the server")


def test_many_clients_at_once_are_all_answered(served: Home) -> None:
    danger = event("Bash", command="rm -rf /")

    connections = [served.send(served.request(NAMED, danger)) for _ in range(50)]
    answers = [said(connection) for connection in connections]
    for connection in connections:
        connection.close()

    assert {reason(answer) for answer in answers} == {"no rm"}


def test_a_second_server_says_that_one_runs(served: Home) -> None:
    second = [sys.executable, "-P", "-m", "interpose.cli", "serve"]

    status, _, errors = served.run(second)

    assert (status, b"runs already" in errors) == (1, True)
    assert served.run([*second, "--quiet"]) == (0, b"", b"")


def test_the_folder_and_the_socket_are_private(served: Home) -> None:
    modes = [oct(os.stat(path).st_mode & 0o777) for path in (served.serve_folder, served.socket)]

    assert modes == ["0o700", "0o600"]


def test_a_server_that_is_stopped_answers_what_is_under_way_and_leaves_nothing() -> None:
    with a_home() as home, serving(home, "--waiting", "2") as server:
        home.write(CONFIG, guards=GUARDS)
        started, go = home.folder / "started", home.folder / "go"
        slow = event("Waits", started=str(started), go=str(go))
        with home.send(home.request(NAMED, slow)) as connection, home.send(home.request(NAMED, slow)) as second:
            wait_until(started.exists, "the hook runs")
            assert second.recv(1) == b"A"
            busy = home.ask(NAMED, slow)
            left = processes_below(server.pid)

            server.terminate()
            wait_until(lambda: not home.socket.exists(), "no further client finds it")
            meanwhile = home.run([*THIN, *NAMED], event("Bash", command="rm -rf /"))
            go.touch()
            answers = [said(connection), said(second)]

        assert server.wait(60) == 0
        assert busy == ("R", "the resident engine has too many events under way (so this denies)")
        assert meanwhile[0] == 2
        assert reason(answers[0]) == "waited"
        assert isinstance(answers[1], tuple | FireAnswer)
        assert left
        assert not any(os.path.exists(f"/proc/{pid}") for pid in left)
        assert sorted(os.listdir(home.serve_folder)) == ["lock"]


def test_a_killed_server_leaves_a_socket_that_its_clients_and_the_next_server_pass_over() -> None:
    with a_home() as home:
        home.write(CONFIG, guards=GUARDS)
        with serving(home) as server:
            home.ask(NAMED, event("Bash", command="ls"))
            left = processes_below(server.pid)
            os.kill(server.pid, signal.SIGKILL)
            server.wait(60)
            assert home.socket.exists()
            wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in left), "its processes end")

            meanwhile = home.run([*THIN, *NAMED], event("Bash", command="rm -rf /"))

        with serving(home, "--idle", "0.3") as server:
            assert reason(home.ask(NAMED, event("Bash", command="rm -rf /"))) == "no rm"
            assert server.wait(60) == 0, "it ends by itself when it is idle"
        assert meanwhile[0] == 2
        assert meanwhile[2] == b"no rm\n"


def test_a_place_that_cannot_be_one_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_home() as home:
        monkeypatch.setenv("XDG_STATE_HOME", str(home.folder / ("x" * 90)))
        with pytest.raises(UsageError, match="too long for a socket"):
            socket_path()
        monkeypatch.setenv("XDG_STATE_HOME", str(home.folder))
        (home.folder / "interpose").mkdir()
        (home.folder / "interpose/serve").symlink_to(home.project)
        with pytest.raises(UsageError, match="not a directory"):
            prepare_folder()


def test_a_configuration_that_asks_for_it_has_the_server_started_for_the_next_event() -> None:
    with a_home() as home:
        home.write(CONFIG + "resident: true\n", guards=GUARDS)
        danger = event("Bash", command="rm -rf /")
        first = home.run([*COLD, *NAMED], danger)
        try:
            wait_until(home.socket.exists, "the server runs")
            second = home.ask(NAMED, danger)
        finally:
            stopped = home.run([sys.executable, "-P", "-m", "interpose.cli", "serve", "--stop"])

        assert second == FireAnswer(*first)
        assert stopped == (0, b"", b"")
        assert not home.socket.exists()


def test_a_server_whose_installed_files_have_changed_declines_and_ends(tmp_path: Path) -> None:
    code = """
import sys
from interpose.server import installation
installation._PACKAGE, installation._LOOK = sys.argv.pop(), 0
from interpose.cli import main
sys.exit(main(["serve"]))
"""
    (tmp_path / "module.py").write_text("old = True")
    with a_home() as home:
        home.write(CONFIG, guards=GUARDS)
        with serving(home, command=[sys.executable, "-c", code, str(tmp_path)]) as server:
            installation = (os.path.dirname(sys.executable), str(tmp_path / "server"))
            (tmp_path / "server").mkdir()
            before = home.ask(NAMED, event("Bash", command="rm -rf /"), installation=installation)
            (tmp_path / "module.py").write_text("new")
            after = home.run([*THIN, *NAMED], event("Bash", command="rm -rf /"))

            assert server.wait(60) == 0
        assert reason(before) == "no rm"
        assert after[2] == b"no rm\n"


@pytest.mark.more
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_changes_no_answer() -> None:
    with a_home() as home:
        home.write(CONFIG, guards=GUARDS)
        state = home.folder / ".local/state"
        state.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", str(state)], check=True)
        try:
            (state / "full").write_bytes(b"x" * 60_000)
            with serving(home):
                (state / "rest").write_bytes(b"")
                with open(state / "rest", "ab", buffering=0) as rest:
                    try:
                        while True:
                            rest.write(b"x" * 100)
                    except OSError:
                        pass
                danger = event("Bash", command="rm -rf /")

                assert home.ask(NAMED, danger) == FireAnswer(*home.run([*COLD, *NAMED], danger))
            assert not home.socket.exists()
        finally:
            subprocess.run(["umount", "-l", str(state)], check=True)


@pytest.mark.more
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a mount namespace")
def test_a_client_for_which_paths_lead_to_other_files_is_declined(served: Home) -> None:
    body = served.request(NAMED, event("Told")).write()
    code = f"""
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect({str(served.socket)!r})
connection.sendall({MAGIC + len(body).to_bytes(4, "big") + body!r})
print(connection.recv(1).decode())
"""

    letters = [served.run([*words, sys.executable, "-c", code])[1] for words in (["unshare", "-m"], [])]

    assert letters == [b"D\n", b"A\n"]


@pytest.mark.more
def test_a_thousand_clients_at_once_are_answered_or_refused() -> None:
    with a_home() as home, serving(home, "--waiting", "900"):
        home.write(CONFIG, guards=GUARDS)
        request = home.request(NAMED, event("Bash", command="rm -rf /"))
        connections = [home.send(request) for _ in range(1000)]
        answers = [said(connection) for connection in connections]
        for connection in connections:
            connection.close()

    right = [answer for answer in answers if isinstance(answer, FireAnswer) and answer.status == 2]
    refused = answers.count(("R", "the resident engine has too many events under way (so this denies)"))
    declined = answers.count(("D", "no engine process was free for it"))  # after 10 s, on a machine that is this slow
    assert len(right) + declined >= 900
    assert len(right) + declined + refused == 1000


@pytest.mark.more
def test_an_engine_process_that_is_stopped_is_a_refusal() -> None:
    with a_home() as home, serving(home):
        home.write(CONFIG, guards=GUARDS)
        pid = int(reason(home.ask(NAMED, event("Told"))).split()[0])
        wait_until(lambda: is_asleep(pid), "the process still works on the first event")
        halt(pid)

        answer = home.ask(NAMED, event("Told"))

        assert answer == (
            "R",
            "the resident engine lost the event: the process that fired the event has ended (so this denies)",
        )
        assert reason(home.ask(NAMED, event("Bash", command="rm -rf /"))) == "no rm"
