"""Supervisors: whatever a hook starts ends with it, also when the host or the supervisor is killed."""

import os
import py_compile
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import pytest
from tests.faults.hosts import BUSY, Program, environment, eventually, program, within

if sys.platform != "linux":
    pytest.skip("supervisors need Linux", allow_module_level=True)

from interpose.handlers import supervisors
from interpose.handlers.supervisors import MOST_IDLE, SupervisorPool, pool

pytestmark = pytest.mark.slow

PYTHON = sys.executable
SLEEP = "import time; time.sleep(600)"
LEVELS = pytest.mark.parametrize("namespace", [False, True], ids=["tree", "namespace"])

DETACHED = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
"""
MISBEHAVIOURS = {
    "setsid": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\ntime.sleep(600)",
    "double fork": DETACHED + "time.sleep(600)",
    "ignores TERM": "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
    "stops itself": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "clears its environment": DETACHED + "os.execve('/bin/sleep', ['kworker) R 1 1', '600'], {})",
    "60 detached children": "import os, time\nfor _ in range(60):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\ntime.sleep(600)",
}
"""Each would go on for ten minutes, and all its processes hold the pipes of the hook open."""

FORK_LOOP = """
#include <unistd.h>
int main(void) { for (;;) { if (fork() > 0) _exit(0); setsid(); } }
"""
FORK_LOOP_IN_PYTHON = "import os\nwhile True:\n    if os.fork():\n        os._exit(0)\n    os.setsid()"


@pytest.fixture(autouse=True)
def fresh_pool() -> Iterator[None]:
    """No supervisor of one test serves another, and none is a zombie afterwards."""
    yield
    pool.close()
    assert not [*pool._idle, *pool._all, *pool._leaving]
    pool._reset()
    assert not children_of(os.getpid(), only="Z")


def children_of(parent: int, only: str = "") -> list[int]:
    """The processes with this parent, and in this state if one is named."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, its_parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except (OSError, ValueError):
                continue
            if int(its_parent) == parent and (not only or state == only):
                found.append(int(entry.name))
    return found


class Run:
    """One run by a supervisor of the pool, with a mark that shows which processes are left of it.

    The mark is a pipe, the hook's standard error: the other end reads EOF when the last of them is gone.
    """

    def __init__(self, *argv: str, namespace: bool = False, **options: Any) -> None:
        self.supervised = options.pop("by", None) or pool.take()
        self.stdin, self.stdout, self.mark = os.pipe(), os.pipe(), os.pipe()
        self.frames: list[tuple] = []
        theirs = (self.stdin[0], self.stdout[1], self.mark[1])
        given = {"path": argv[0], "env": {"PATH": os.defpath}, "cwd": "/", **options}
        try:
            self.supervised.run(argv=argv, fds=theirs, namespace=namespace, **given)
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in (self.stdin[1], self.stdout[0], self.mark[0]):
            os.close(descriptor)
        pool.give_back(self.supervised)

    def until(self, kind: str, seconds: float = 5.0) -> tuple:
        """Receive until there is a frame of this kind."""
        deadline = time.monotonic() + seconds
        while not (found := [frame for frame in self.frames if frame[0] == kind]):
            left = deadline - time.monotonic()
            assert left > 0, f"no {kind!r} among {self.frames}"
            select.select([self.supervised], [], [], left)
            self.frames += self.supervised.receive()
        return found[0]

    def said(self, seconds: float = 5.0) -> bytes:
        """What it has written to standard output, until its end."""
        said = b""
        while True:
            assert select.select([self.stdout[0]], [], [], seconds)[0], f"no more after {said!r}"
            if not (data := os.read(self.stdout[0], 65536)):
                return said
            said += data

    def nothing_lives(self, seconds: float = 3.0) -> bool:
        """Whether every process that has the mark ends in time."""
        return bool(select.select([self.mark[0]], [], [], seconds)[0]) and os.read(self.mark[0], 1) == b""

    def something_lives(self) -> bool:
        return not select.select([self.mark[0]], [], [], 0)[0]


def settled(run: Run, namespace: bool, count: int) -> bool:
    """Wait until the hook and its children are all there, as the supervisor's descendants."""
    return eventually(lambda: len(below(run.supervised.pid)) >= count + (2 if namespace else 0))


def below(pid: int) -> list[int]:
    return [one for child in children_of(pid) for one in (child, *below(child))]


# Which program is run.


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the program, which has not been compiled."""
    copy = shutil.copy(supervisors.PROGRAM, tmp_path)
    monkeypatch.setattr(supervisors, "PROGRAM", copy)
    return Path(copy)


def is_run() -> str:
    """The name of the file that a new supervisor runs; it works."""
    with Run("/bin/echo", "hello") as run:
        assert run.said() == b"hello\n"
        words = Path(f"/proc/{run.supervised.pid}/cmdline").read_bytes().split(b"\0")
    return Path(os.fsdecode(words[4])).name


def test_the_program_is_run_as_it_was_compiled(copied: Path) -> None:
    py_compile.compile(str(copied))

    assert is_run() == f"_supervisor.{sys.implementation.cache_tag}.pyc"


@pytest.mark.parametrize("outdated", ["never compiled", "time", "size", "hash", "version", "cut off"])
def test_a_program_that_is_not_compiled_as_it_stands_is_run_from_its_source(copied: Path, outdated: str) -> None:
    if outdated != "never compiled":
        compiled = Path(py_compile.compile(str(copied)) or "")
        source, made = copied.stat(), compiled.read_bytes()
        match outdated:
            case "time":
                os.utime(copied, (source.st_atime, source.st_mtime + 2))
            case "size":
                copied.write_bytes(copied.read_bytes() + b"\n")
                os.utime(copied, (source.st_atime, source.st_mtime))
            case "hash":
                compiled.write_bytes(made[:4] + b"\1" + made[5:])
            case "version":
                compiled.write_bytes(b"\0\0" + made[2:])
            case _:
                compiled.write_bytes(made[:7])

    assert is_run() == "_supervisor.py"


# How a run goes.


@LEVELS
def test_a_hook_gets_what_was_passed_and_its_status_comes_back(namespace: bool) -> None:
    text = "import os, sys; print(sys.stdin.read(), os.environ, os.getcwd()); sys.exit(3)"
    with Run(PYTHON, "-S", "-c", text, namespace=namespace, env={"A": "b\udcff"}, cwd="/usr") as run:
        os.write(run.stdin[1], b"payload")
        os.close(run.stdin[1])
        run.stdin = (-1, os.dup(0))

        said = run.said()
        assert run.until("exited") == ("exited", 3, False)

    assert said.startswith(b"payload environ({'A': 'b\\udcff'")
    assert said.endswith(b"/usr\n")
    assert [frame[0] for frame in run.frames] == ["started", "exited"]


@LEVELS
def test_death_by_a_signal_is_a_negative_status(namespace: bool) -> None:
    with Run("/bin/sh", "-c", "kill -SEGV $$", namespace=namespace) as run:
        assert run.until("exited")[1] == -signal.SIGSEGV


@LEVELS
def test_signals_are_as_they_are_in_a_shell(namespace: bool) -> None:
    """Nothing is ignored, handled or blocked, whatever host and supervisor do; there is no core and no terminal."""
    text = "cat /proc/self/status | grep -E 'Sig(Blk|Ign)'; ulimit -c; ls -l /proc/self/fd | grep -c socket"
    of_the_c_library = 0b11 << 31  # 32 and 33 are its own; its posix_spawn ignores them in every child
    with Run("/bin/sh", "-c", text, namespace=namespace) as run:
        said = run.said()
        run.until("exited")

    _, blocked, _, ignored, core, sockets = said.split()
    assert (int(blocked, 16), int(ignored, 16) & ~of_the_c_library) == (0, 0)
    assert (core, sockets) == (b"0", b"0")


@LEVELS
@pytest.mark.parametrize(
    ("options", "error", "step"),
    [
        ({"path": "/nonexistent"}, FileNotFoundError, "spawn"),
        ({"path": "/etc/passwd"}, PermissionError, "spawn"),
        ({"path": "/bin"}, PermissionError, "spawn"),
        ({"cwd": "/nonexistent"}, FileNotFoundError, "chdir"),
        ({"cwd": "/etc/passwd"}, NotADirectoryError, "chdir"),
        ({"env": {"A": "a" * 300_000}}, OSError, "spawn"),
        ({"env": {"A": "a\0b"}}, OSError, "spawn"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_cannot_be_started_says_why_and_the_supervisor_goes_on(
    namespace: bool, options: dict[str, Any], error: type[OSError], step: str
) -> None:
    with Run("/bin/true", namespace=namespace, **options) as run:
        _, number, at = run.until("failed")
    with Run("/bin/true", namespace=namespace) as again:
        assert again.until("exited") == ("exited", 0, False)

    assert isinstance(OSError(number, ""), error)
    assert at == step
    assert again.supervised is run.supervised


@LEVELS
def test_an_environment_that_is_larger_than_the_sockets_buffer_arrives(namespace: bool) -> None:
    env = {f"N{number}": "a" * 100_000 for number in range(12)} | {"PATH": os.defpath}
    with Run("/bin/sh", "-c", "env | wc -c", namespace=namespace, env=env) as run:
        assert int(run.said()) > 1_200_000
        assert run.until("exited")[1] == 0


def test_a_run_may_be_asked_for_before_the_supervisor_has_said_hello() -> None:
    with within(BUSY), Run("/bin/true", by=pool.take()) as run:
        assert run.until("exited") == ("exited", 0, False)


def test_levels_can_change_from_run_to_run() -> None:
    for namespace in (False, True, True, False, False, True):
        with Run("/bin/sh", "-c", "echo $$", namespace=namespace) as run:
            assert (run.said() == b"2\n") is namespace
            run.until("exited")
    assert len(pool._all) == 1


# What ends a tree.


@LEVELS
@pytest.mark.parametrize("kind", MISBEHAVIOURS)
def test_kill_ends_everything(kind: str, namespace: bool) -> None:
    with Run(PYTHON, "-S", "-c", MISBEHAVIOURS[kind], namespace=namespace) as run:
        run.until("started")
        assert settled(run, namespace, {"60 detached children": 61, "setsid": 2, "double fork": 2}.get(kind, 1))
        with within(BUSY):
            run.supervised.kill()
            _, killed = run.until("gone")

        assert run.nothing_lives(0)
        assert killed >= (61 if kind.startswith("60") else 1)
        assert run.until("exited") == ("exited", -signal.SIGKILL, False)


@LEVELS
@pytest.mark.parametrize("kind", ["setsid", "double fork", "60 detached children"])
def test_the_end_of_the_connection_ends_everything(kind: str, namespace: bool) -> None:
    with Run(PYTHON, "-S", "-c", MISBEHAVIOURS[kind], namespace=namespace) as run:
        run.until("started")
        assert settled(run, namespace, 2)
        pool.discard(run.supervised)

        assert run.nothing_lives()


@LEVELS
def test_what_is_left_behind_is_reported_and_lives_until_it_is_killed(namespace: bool) -> None:
    """The host drains the pipes before it has anything killed: a child may still be writing the verdict."""
    with Run(PYTHON, "-S", "-c", DETACHED, namespace=namespace) as run:
        assert run.until("exited") == ("exited", 0, True)
        assert run.something_lives()
        run.supervised.kill()

        assert run.until("gone") == ("gone", 1)
        assert run.nothing_lives(0)
    with Run("/bin/true", namespace=namespace) as again:
        assert again.until("exited") == ("exited", 0, False)
    assert again.supervised is run.supervised


@LEVELS
def test_a_kill_that_crosses_the_end_is_answered_all_the_same(namespace: bool) -> None:
    for _ in range(3):
        with Run("/bin/true", namespace=namespace) as run:
            assert run.said() == b""
            run.supervised.kill()
            run.until("gone")
            assert run.until("exited")[2] is False


@LEVELS
def test_term_reaches_what_has_left_the_group(namespace: bool) -> None:
    with Run(PYTHON, "-S", "-c", MISBEHAVIOURS["setsid"], namespace=namespace) as run:
        run.until("started")
        assert settled(run, namespace, 2)
        run.supervised.term()

        assert run.until("exited")[1] == -signal.SIGTERM
        assert run.nothing_lives()


@LEVELS
def test_keep_lets_the_rest_live_on(namespace: bool) -> None:
    text = DETACHED.replace("time.sleep(600)", "os.read(0, 1)")
    with Run(PYTHON, "-S", "-c", text, namespace=namespace) as run:
        assert run.until("exited") == ("exited", 0, True)
        run.supervised.keep()
        pool.discard(run.supervised)
        assert eventually(lambda: all_reaped() or namespace)

        assert run.something_lives()
        os.close(run.stdin[1])  # which is what it waits for
        run.stdin = (-1, os.dup(0))
        assert run.nothing_lives()
        assert eventually(all_reaped)


@pytest.fixture(scope="module", params=["C", "Python"])
def fork_loop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A process that is a new one, in a new session, whenever somebody looks."""
    if request.param == "Python":
        return [PYTHON, "-S", "-c", FORK_LOOP_IN_PYTHON]
    if not shutil.which("gcc"):
        pytest.skip("no gcc to compile the loop with")
    folder = tmp_path_factory.mktemp("loop")
    (folder / "loop.c").write_text(FORK_LOOP)
    subprocess.run(["gcc", "-O1", "-o", "loop", "loop.c"], cwd=folder, check=True)
    return [str(folder / "loop")]


@pytest.mark.parametrize("how", ["kill", "close", "the supervisor is killed"])
def test_a_namespace_ends_even_a_loop_of_forks(fork_loop: list[str], how: str) -> None:
    with Run(*fork_loop, namespace=True) as run:
        run.until("exited")  # the first of many
        assert run.something_lives()
        if how == "kill":
            run.supervised.kill()
            run.until("gone")
        elif how == "close":
            pool.discard(run.supervised)
        else:
            os.kill(run.supervised.pid, signal.SIGKILL)

        assert run.nothing_lives()


# When somebody else is killed.

HOST = """
    import os, sys, time
    from interpose.handlers.supervisors import pool
    if {forks}:
        import ctypes  # a fork that Python does not see: its copy of the connection stays open
    supervised = pool.take()
    null = os.open("/dev/null", os.O_RDWR)
    supervised.run(sys.executable, [sys.executable, "-S", "-c", {text!r}], {{}}, "/", (null, null, null), {namespace})
    while not supervised.receive():
        time.sleep(0.001)
    if {forks} and ctypes.CDLL(None).fork() == 0:
        os.close(1)
        os.close(2)
        time.sleep(20)
        os._exit(0)
    print("started", flush=True)
    {then}
"""


@LEVELS
@pytest.mark.parametrize("forks", [False, True], ids=["", "a copy of its socket lives on"])
def test_the_tree_ends_with_a_host_that_is_killed(namespace: bool, forks: bool, tmp_path: Path) -> None:
    marker = tmp_path / "alive"
    text = f"""
import os, time
os.mkfifo({str(marker)!r})
os.fork() or os.setsid()
kept = open({str(marker)!r}, "w")
time.sleep(600)
"""
    with Program(HOST.format(text=text, namespace=namespace, then="time.sleep(600)", forks=forks)) as host:
        assert host.line() == "started"
        assert eventually(marker.exists)
        with marker.open("rb") as alive:
            os.set_blocking(alive.fileno(), False)
            assert alive.read() is None  # nothing to read, and somebody who could write
            host.send(signal.SIGKILL)

            assert eventually(lambda: alive.read() == b"", 10), "the hook outlives its host"


@LEVELS
def test_a_host_that_ends_takes_its_hooks_along(namespace: bool) -> None:
    with within(BUSY):
        ended = program(HOST.format(text=SLEEP, namespace=namespace, then="pass", forks=False))

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "started\n", "")


@LEVELS
def test_a_supervisor_that_is_killed_is_noticed_and_what_it_ran_ends(namespace: bool) -> None:
    """Without a namespace only what stayed in its session can be found then."""
    with Run("/bin/sh", "-c", "sleep 600 & sleep 600", namespace=namespace) as run:
        run.until("started")
        assert settled(run, namespace, 3)
        os.kill(run.supervised.pid, signal.SIGKILL)
        with pytest.raises(ConnectionResetError):
            run.until("exited")
        pool.give_back(run.supervised)

        assert run.nothing_lives()
        assert run.supervised not in pool._idle


def test_a_namespace_that_is_killed_from_outside_is_lost_and_the_supervisor_goes_on() -> None:
    with Run(PYTHON, "-S", "-c", SLEEP, namespace=True) as run:
        run.until("started")
        os.kill(children_of(run.supervised.pid)[0], signal.SIGKILL)
        run.until("lost")
        assert run.nothing_lives()
    with Run("/bin/true", namespace=True) as again:
        assert again.until("exited") == ("exited", 0, False)
    assert again.supervised is run.supervised


def test_signals_from_outside_do_not_end_a_supervisor() -> None:
    with Run("/bin/true") as run:
        run.until("exited")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGTSTP):
        os.kill(run.supervised.pid, number)
    with Run("/bin/true") as again:
        assert again.until("exited") == ("exited", 0, False)
    assert again.supervised is run.supervised


# The pool.


def all_reaped() -> bool:
    pool.reap()
    return not pool._leaving


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_many_runs_leave_neither_descriptors_nor_zombies() -> None:
    pool.why_not()
    before = descriptors()
    for number in range(60):
        with Run("/bin/true", namespace=number % 3 == 0) as run:
            run.until("exited")

    assert descriptors() == before
    (supervised,) = pool._all
    assert len(os.listdir(f"/proc/{supervised.pid}/fd")) == 5  # the standard three, its host, its socket
    assert eventually(lambda: not children_of(supervised.pid, only="Z"))


def test_at_most_eight_wait() -> None:
    taken = [pool.take() for _ in range(MOST_IDLE + 2)]
    for supervised in taken:
        pool.give_back(supervised)

    assert pool._idle == taken[:MOST_IDLE]
    assert eventually(all_reaped), "those too many are not reaped"


def test_one_that_has_died_while_it_waited_is_not_handed_out() -> None:
    first = pool.take()
    first.ready()
    pool.give_back(first)
    os.kill(first.pid, signal.SIGKILL)
    assert select.select([first], [], [], 2)[0]

    assert pool.take() is not first


def test_one_that_is_at_work_is_closed_when_it_is_given_back() -> None:
    with Run("/bin/sleep", "600") as run:
        run.until("started")
        pool.give_back(run.supervised)

        assert run.supervised not in pool._idle
        assert run.nothing_lives()


def test_threads_share_a_pool() -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for number in range(8):
                with Run("/bin/sh", "-c", f"exit {number}") as run:
                    assert run.until("exited") == ("exited", number, False)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not failures
    assert len(pool._all) <= 6


def test_a_forked_child_has_a_pool_of_its_own_and_leaves_ours_alone() -> None:
    with Run("/bin/cat") as run:
        run.until("started")
        child = os.fork()
        if not child:
            good = False
            try:
                good = not pool._all and run.supervised.fileno() == -1
                with Run("/bin/true") as own:
                    good = good and own.until("exited")[1] == 0
                pool.close()
            finally:
                os._exit(0 if good else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert run.something_lives()
        os.close(run.stdin[1])
        run.stdin = (-1, os.dup(0))

        assert run.until("exited") == ("exited", 0, False)


def test_a_supervisor_knows_nothing_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.set_inheritable(True)
        with closing(pool.take()) as supervised:
            supervised.ready()
            told = Path(f"/proc/{supervised.pid}/environ").read_bytes()
            opened = [os.readlink(path) for path in Path(f"/proc/{supervised.pid}/fd").iterdir()]

    assert b"SECRET" not in told
    assert sum(target.startswith("socket:") for target in opened) == 1
    assert os.getsid(supervised.pid) == supervised.pid


@pytest.mark.parametrize(("executable", "why"), [("", "no Python"), ("/nonexistent", "started"), ("/bin/true", "used")])
def test_a_pool_says_why_there_can_be_no_supervisors(
    monkeypatch: pytest.MonkeyPatch, executable: str, why: str
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    mine = pool_without_hooks(monkeypatch)

    assert why in mine.why_not()
    assert mine.why_not() == mine.why_not()
    mine.close()


def pool_without_hooks(monkeypatch: pytest.MonkeyPatch) -> SupervisorPool:
    """A pool that does not stay registered for the end of this process."""
    nothing: Callable[..., None] = lambda *_, **__: None  # noqa: E731
    monkeypatch.setattr(os, "register_at_fork", nothing)
    monkeypatch.setattr("atexit.register", nothing)
    return SupervisorPool()


# Without privileges.

AS_NOBODY = "import os, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534); os.execv(sys.argv[1], sys.argv[1:])"
PLAIN = """
import os, select, sys, time
from interpose.handlers.supervisors import pool
DETACHED = {detached!r}
assert pool.why_not() == "", pool.why_not()
for namespace in (False, True, True):
    supervised = pool.take()
    null = os.open("/dev/null", os.O_RDWR)
    reader, mark = os.pipe()
    supervised.run(sys.executable, [sys.executable, "-S", "-c", DETACHED], {{}}, "/", (null, null, mark), namespace)
    os.close(mark)
    frames = []
    while not (frames and frames[-1][0] in ("exited", "failed")):
        select.select([supervised], [], [], 5)
        frames += supervised.receive()
    if frames[-1][0] == "failed":
        print(frames[-1][2])
        continue
    assert frames[-1] == ("exited", 0, True), frames
    supervised.kill()
    select.select([supervised], [], [], 5)
    assert supervised.receive() == [("gone", 1)]
    assert select.select([reader], [], [], 0)[0] and os.read(reader, 1) == b""
    pool.give_back(supervised)
    print("gone")
"""


def python_for_anybody() -> str:
    """An interpreter that is new enough and that every user may run."""
    for candidate in (PYTHON, "/usr/bin/python3", "/usr/local/bin/python3"):
        check = [sys.executable, "-c", AS_NOBODY, candidate, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        if subprocess.run(check, capture_output=True, check=False).returncode == 0:
            return candidate
    pytest.skip("no Python 3.11 that a plain user may run")


@pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can become somebody else; every other test ran as a plain user"
)
def test_a_plain_user_gets_the_same() -> None:
    python = python_for_anybody()
    command = [sys.executable, "-c", AS_NOBODY, python, "-B", "-c", PLAIN.format(detached=DETACHED)]

    ended = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)

    assert ended.stderr == ""
    assert ended.stdout.split() in (["gone", "gone", "gone"], ["gone", "unshare", "unshare"])
