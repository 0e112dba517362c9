"""The clients of the resident engine: whatever becomes of the engine, the answer is right or it is a refusal."""

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.faults.servers import CLIENT, COLD, THIN, Home, a_home, serving

pytestmark = pytest.mark.slow

CONFIG = """
hooks:
  PreToolUse:
    - {name: counts, type: command, onError: abort, command: 'echo ran >> "$HOME/runs"; echo no >&2; exit 2'}
"""
EVENT = b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
NAMED = ["--reply", "native", "--config", "hooks.yaml"]
DENIED = (2, b"no\n")
LOST = (
    b"interpose fire: the resident engine accepted the event and did not answer (nothing was decided, so this denies)\n"
)


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    """A home without a server."""
    with a_home() as made:
        made.write(CONFIG)
        yield made


@pytest.fixture(scope="module")
def compiled(home: Home) -> list[str]:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    status, path, errors = home.run([sys.executable, "-P", "-m", "interpose.cli", "serve", "--build-client"])
    assert status == 0, errors
    return [path.decode().strip()]


@pytest.fixture(params=["python", "compiled"])
def client(request: pytest.FixtureRequest) -> list[str]:
    """Each of the two clients: both decide."""
    return THIN if request.param == "python" else request.getfixturevalue("compiled")


def runs(home: Home) -> int:
    """How often the hook has run since it was last asked."""
    path = home.folder / "runs"
    count = len(path.read_text().split()) if path.exists() else 0
    path.unlink(missing_ok=True)
    return count


def fire(home: Home, client: list[str], data: bytes = EVENT) -> tuple[int, bytes]:
    status, _, errors = home.run([*client, *NAMED], data)
    return status, errors


@contextmanager
def an_engine_that(home: Home, behaves: Callable[[socket.socket], None]) -> Iterator[None]:
    """A server of this user that reads one request and then behaves so."""
    home.serve_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    home.socket.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(home.socket))
        home.socket.chmod(0o600)
        listening.listen()

        def serve() -> None:
            try:
                connection, _ = listening.accept()
            except OSError:
                return  # the client has not asked
            with connection:
                head = connection.recv(8, socket.MSG_WAITALL)
                if not head:
                    return  # the client has decided by itself
                connection.recv(int.from_bytes(head[4:8], "big"), socket.MSG_WAITALL)
                behaves(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            if home.socket.exists():  # nobody has to come any more
                listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            home.socket.unlink(missing_ok=True)


def test_without_a_server_the_client_decides_by_itself(home: Home, client: list[str]) -> None:
    assert fire(home, client) == DENIED
    assert runs(home) == 1


def test_an_engine_that_goes_before_it_accepts_leaves_the_event_to_the_client(home: Home, client: list[str]) -> None:
    with an_engine_that(home, lambda connection: None):
        answer = fire(home, client)

    assert answer == DENIED
    assert runs(home) == 1


def test_an_engine_that_declines_leaves_the_event_to_the_client(home: Home, client: list[str]) -> None:
    with an_engine_that(home, lambda connection: connection.sendall(b"D\0\0\0\x02no")):
        answer = fire(home, client)

    assert answer == DENIED
    assert runs(home) == 1


HALVES = {
    "nothing": b"A",
    "signs of life": b"A...",
    "half an answer": b"A=\0\0\0\x09\0\0\0",
}


@pytest.mark.parametrize("half", HALVES)
def test_what_was_accepted_and_lost_is_refused_and_not_fired_again(home: Home, client: list[str], half: str) -> None:
    with an_engine_that(home, lambda connection: connection.sendall(HALVES[half])):
        answer = fire(home, client)

    assert answer == (2, LOST)
    assert runs(home) == 0


def test_a_refusal_is_a_deny_with_its_reason(home: Home, client: list[str]) -> None:
    with an_engine_that(home, lambda connection: connection.sendall(b"R\0\0\0\x04busy")):
        answer = fire(home, client)

    assert answer == (2, b"interpose fire: busy\n")


def test_the_answer_comes_with_its_status_and_both_streams(home: Home, client: list[str]) -> None:
    with an_engine_that(home, lambda connection: connection.sendall(b"A..=\0\0\0\x0c\x03\0\0\0\x03out" + b"erro")):
        answer = home.run([*client, *NAMED], EVENT)

    assert answer == (3, b"out", b"erro")


def test_an_answer_that_cannot_be_printed_is_a_deny(home: Home, client: list[str]) -> None:
    answers = an_engine_that(home, lambda connection: connection.sendall(b"A=\0\0\0\x08\0\0\0\0\x03out"))
    with answers, open("/dev/full", "wb") as full:
        done = subprocess.run([*client, *NAMED], input=EVENT, stdout=full, stderr=subprocess.PIPE, check=False,
                              env=home.environment, cwd=home.project)  # fmt: skip

    assert done.returncode == 2
    assert b"standard output cannot be written" in done.stderr


def test_an_answer_whose_reader_has_gone_is_a_deny(home: Home, client: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with an_engine_that(home, lambda connection: connection.sendall(b"A=\0\0\0\x08\0\0\0\0\x03out")):
        done = subprocess.run([*client, *NAMED], input=EVENT, stdout=writing, stderr=subprocess.PIPE, check=False,
                              env=home.environment, cwd=home.project)  # fmt: skip
    os.close(writing)

    assert done.returncode == 2


def test_a_place_that_may_be_another_users_is_not_asked(home: Home, client: list[str]) -> None:
    def open_to_all() -> None:
        home.serve_folder.chmod(0o755)

    def link() -> None:
        home.serve_folder.chmod(0o700)
        home.socket.rename(home.folder / "elsewhere")
        home.socket.symlink_to(home.folder / "elsewhere")

    with an_engine_that(home, lambda connection: connection.sendall(b"A=\0\0\0\x05\0\0\0\0\0")):
        answers = []
        for change in (open_to_all, link):
            change()
            answers.append(fire(home, client))
        home.socket.unlink()
        (home.folder / "elsewhere").rename(home.socket)
        allowed = fire(home, client)  # and so the engine of this test ends

    assert answers == [DENIED, DENIED]
    assert allowed == (0, b"")
    assert runs(home) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_socket_of_another_user_is_not_asked(home: Home, client: list[str]) -> None:
    with an_engine_that(home, lambda connection: connection.sendall(b"A=\0\0\0\x05\0\0\0\0\0")):
        os.chown(home.socket, 12345, 12345)
        answer = fire(home, client)
        os.chown(home.socket, 0, 0)
        fire(home, client)

    assert answer == DENIED
    assert runs(home) == 1


@pytest.mark.more
def test_a_long_event_is_fired_by_the_client_with_all_its_bytes(home: Home, client: list[str]) -> None:
    text = "x" * (25 * 1024 * 1024)
    long = EVENT.replace(b"ls", text.encode())

    with an_engine_that(home, lambda connection: None):
        answer = fire(home, client, data=long)

    assert answer == fire(home, COLD, data=long)
    runs(home)


def test_standard_input_is_not_waited_for_if_the_event_is_not_there(home: Home, client: list[str]) -> None:
    reading, writing = os.pipe()
    try:
        done = subprocess.run([*client, *NAMED, "--input", EVENT.decode()], stdin=reading, capture_output=True, check=False,
                              env=home.environment, cwd=home.project, timeout=50)  # fmt: skip
    finally:
        os.close(reading)
        os.close(writing)

    assert (done.returncode, done.stderr) == DENIED
    assert runs(home) == 1


def test_both_clients_get_the_answer_of_a_server(home: Home, client: list[str], served: Home) -> None:
    answers = served.run([*client, *NAMED], EVENT), served.run([*COLD, *NAMED], EVENT)

    assert answers[0] == answers[1]
    assert runs(served) == 2


@pytest.fixture(scope="module")
def served() -> Iterator[Home]:
    with a_home() as made, serving(made):
        made.write(CONFIG)
        yield made


def test_the_python_client_loads_nothing_but_the_socket_module(home: Home, tmp_path: Path) -> None:
    """Its own code is compiled once: it is a copy here, to see what that leaves."""
    for name in ("client.py", "thin_client.py"):
        shutil.copy(CLIENT.parent / name, tmp_path)
    code = (
        "import sys, posix; before = set(sys.modules); sys.argv = ['client.py']; "
        "posix._exit = lambda status: print(sorted(set(sys.modules) - before)); "
        "posix.isatty = lambda number: False; posix.execv = lambda *_: None; "
        f"names = {{'__name__': '__main__', '__file__': {str(tmp_path / 'client.py')!r}}}; "
        "exec(compile(open(names['__file__']).read(), 'client', 'exec'), names)"
    )

    loaded = [home.run([sys.executable, "-I", "-S", "-c", code])[1] for _ in range(2)]

    assert loaded == [b"['_socket']\n"] * 2
    assert [path.name.partition(".")[0] for path in (tmp_path / "__pycache__").iterdir()] == ["thin_client"]


def test_a_client_that_is_half_installed_denies(home: Home, tmp_path: Path) -> None:
    shutil.copy(CLIENT, tmp_path)

    answer = home.run([sys.executable, "-I", "-S", str(tmp_path / "client.py"), *NAMED], EVENT)

    assert (answer[0], b"so this denies" in answer[2]) == (2, True)


@pytest.mark.more
def test_a_server_that_is_stopped_is_passed_over_if_it_has_not_accepted(home: Home, client: list[str]) -> None:
    ended = threading.Event()

    def hangs(connection: socket.socket) -> None:
        ended.wait(30)

    with an_engine_that(home, hangs):
        answer = fire(home, client)
        ended.set()

    assert answer == DENIED
    assert runs(home) == 1


@pytest.mark.more
def test_a_server_that_is_stopped_after_it_has_accepted_is_a_refusal(home: Home, client: list[str]) -> None:
    ended = threading.Event()

    def accepts_and_hangs(connection: socket.socket) -> None:
        connection.sendall(b"A.")
        ended.wait(30)

    with an_engine_that(home, accepts_and_hangs):
        answer = fire(home, client)
        ended.set()

    assert answer == (2, LOST)
    assert runs(home) == 0


def test_the_compiled_client_is_private_and_kept_and_refuses_too(home: Home, compiled: list[str]) -> None:
    path = Path(compiled[0])
    before = path.stat()
    with an_engine_that(home, lambda connection: connection.sendall(b"A...")):
        lost = fire(home, compiled)
    with an_engine_that(home, lambda connection: connection.sendall(b"A..=\0\0\0\x0c\x03\0\0\0\x03out" + b"erro")):
        answer = home.run([*compiled, *NAMED], EVENT)

    again = home.run([sys.executable, "-P", "-m", "interpose.cli", "serve", "--build-client"])[1].decode().strip()

    assert lost == (2, LOST)
    assert answer == (3, b"out", b"erro")
    assert oct(before.st_mode & 0o777) == "0o700"
    assert again == compiled[0]
    assert path.stat().st_mtime_ns == before.st_mtime_ns
