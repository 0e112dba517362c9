"""``interpose ui`` and ``interpose serve --ui`` as processes: who may start them, and that nothing stays."""

import http.client
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest
from tests.asking import PATIENCE, until
from tests.browser.pages import Started, pages
from tests.people import __file__ as people

from interpose import AuditStore, Hooks

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".interpose").mkdir()
    hooks = Hooks()
    with AuditStore(tmp_path / ".local/state/interpose/audit.db") as store:
        hooks.record(store)
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, session_id="s1")
    return tmp_path


def environment(project: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(project), "LANG": "C.UTF-8"}


@pytest.fixture
def short(project: Path) -> Iterator[dict[str, str]]:
    """The environment with a short path to the state, for a server: that of a socket has a limit."""
    folder = mkdtemp(prefix="ip-", dir="/tmp")
    shutil.copytree(project / ".local/state", folder, dirs_exist_ok=True)
    yield {**environment(project), "XDG_STATE_HOME": folder}
    shutil.rmtree(folder, ignore_errors=True)


def answers(address: str) -> bool:
    # Browsers know where every name below localhost leads; the system may not.
    port = address.rpartition(":")[2]
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=PATIENCE) as reply:
            return bool(reply.status == 200)
    except (OSError, http.client.HTTPException):
        return False


def test_without_a_person_the_pages_are_refused_and_read_only_ones_are_not(project: Path) -> None:
    program = Path(sys.executable).parent / "interpose"
    refused = subprocess.run(
        [program, "ui"],
        cwd=project,
        env=environment(project),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert refused.returncode == 1
    assert "opening the pages takes a person" in refused.stderr
    assert "add --read-only" in refused.stderr
    with pages(project, "--read-only", person=False) as started:
        assert answers(started.address)


def test_sigint_ends_the_pages_at_once_although_one_is_open(project: Path) -> None:
    with pages(project) as started:
        address = started.address
        assert answers(address)
        started.process.send_signal(signal.SIGINT)

        assert started.process.wait(PATIENCE) in (0, 130)
    assert not answers(address)


def test_a_port_that_is_taken_is_told(project: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = subprocess.run([sys.executable, people, "ui", "--port", port], check=False, cwd=project, env=environment(project), capture_output=True,
                                 text=True, timeout=60)  # fmt: skip

    assert refused.returncode == 1
    assert f"--port {port}: Address already in use (choose another port)" in refused.stderr


def test_where_nothing_is_recorded_the_pages_say_so(tmp_path: Path) -> None:
    refused = subprocess.run(
        [sys.executable, people, "ui"],
        check=False,
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert refused.returncode == 1
    assert "nothing is recorded: there is no audit store" in refused.stderr


@contextmanager
def serving(project: Path, environment: dict[str, str]) -> Iterator[tuple[Started, str]]:
    """Start a server with its pages; give what it prints and the address of the pages, once they answer."""
    process = subprocess.Popen([sys.executable, people, "serve", "--ui"], cwd=project, env=environment, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    started = Started(process)
    try:
        address = started.address
        until(lambda: answers(address))
        yield started, address
    finally:
        process.kill()
        process.wait()
        started.close()


def test_serve_opens_the_pages_too_and_ends_them_with_itself(project: Path, short: dict[str, str]) -> None:
    with serving(project, short) as (started, address):
        until(lambda: any("ready" in line for line in started.lines))
        subprocess.run(
            [sys.executable, people, "serve", "--stop"],
            cwd=project,
            env=short,
            check=True,
            capture_output=True,
        )
        started.process.wait(60)
        assert not answers(address)


def test_the_pages_end_if_the_server_is_killed(project: Path, short: dict[str, str]) -> None:
    with serving(project, short) as (started, address):
        started.process.kill()
        started.process.wait()
        until(lambda: not answers(address))


def test_a_program_that_listens_on_the_usual_port_is_told_of(project: Path) -> None:
    import socket

    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            other.bind(("127.0.0.1", 8787))
            other.listen()
        except OSError:
            pass  # another program listens there
        with pages(project, usual_port=True) as started:
            assert started.port != 8787
            until(lambda: "another program listens on port 8787" in "".join(started.lines))
