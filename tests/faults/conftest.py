"""After every test of this folder: no thread, no descriptor, no count of kept hooks is left."""

import gc
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from tests.faults.commands import nothing_lives, warm_up
from tests.faults.hosts import eventually, kept_before, kept_now
from tests.faults.trusted_projects import Project

from interpose import Hooks
from interpose.executors.base import kept

LONGEST_TEST = 180.0  # seconds; on a busy machine every process takes its time
MOST_IDLE_THREADS = 8
OUR_THREADS = ("interpose-hook", "interpose-loop")
OF_LOOPS = "asyncio_"  # a few threads that a loop keeps to read files and look up names; asyncio.run() ends its own
DESCRIPTORS = next((path for path in (Path("/proc/self/fd"), Path("/dev/fd")) if path.is_dir()), None)


def open_descriptors() -> int:
    """How many files, sockets and pipes this process has open, but for the connections to supervisors that it keeps."""
    if DESCRIPTORS is None:
        return 0
    supervisors = "interpose.handlers.supervisors" in sys.modules
    return len(os.listdir(DESCRIPTORS)) - (_descriptors_of_supervisors() if supervisors else 0)


def _descriptors_of_supervisors() -> int:
    from interpose.handlers.supervisors import pool

    kept = [*pool._all, *pool._leaving]
    return sum(1 + (one.pidfd >= 0) if one.fileno() >= 0 else (one.pidfd >= 0) for one in kept)


def hook_threads() -> int:
    """How many threads there are for hooks to run in."""
    return sum(thread.name == "interpose-hook" for thread in threading.enumerate())


def other_threads() -> set[threading.Thread]:
    """The threads that are not there for hooks."""
    return {
        thread
        for thread in threading.enumerate()
        if thread.name not in OUR_THREADS and not thread.name.startswith(OF_LOOPS)
    }


@pytest.fixture(scope="session")
def background_loop() -> None:
    """The loop of hosts without a loop, and the pipe of the threads for hooks: they stay, so they are made first."""

    async def hook(event: object) -> None:
        return None

    hooks = Hooks()
    hooks.register("Stop", hook)
    hooks.register("Stop", lambda event: None)
    hooks.fire_sync("Stop")
    gc.collect()


@pytest.fixture(autouse=True)
def nothing_left(background_loop: None) -> Iterator[None]:
    """Compare what is there after a test with what was there before it."""
    threads, descriptors = other_threads(), open_descriptors()
    kept_before[0] = kept.count
    gc.freeze()  # what was there before the test is not its garbage: to look through all of it takes 10 ms per test

    yield

    gc.collect()  # a coroutine that nobody awaited complains now, and not in the next test
    assert eventually(lambda: kept_now() == 0), f"{kept_now()} tasks and threads are kept"
    assert eventually(lambda: hook_threads() <= MOST_IDLE_THREADS), f"{hook_threads()} threads wait for hooks"
    # A watcher ends with its engine, which is garbage only when the watcher does not look at it: so it is collected again.
    assert eventually(lambda: other_threads() <= threads or gc.collect() < 0), (
        f"threads that are left: {other_threads() - threads}"
    )
    # A thread that waits for hooks may still hold the last one when garbage is collected first.
    assert eventually(lambda: open_descriptors() <= descriptors or gc.collect() < 0), (
        f"{open_descriptors() - descriptors} more descriptors"
    )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person of their own, with an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "INTERPOSE_TRUST", "INTERPOSE_OFF"):
        monkeypatch.delenv(name, raising=False)
    tmp_path.chmod(0o755)
    mask = os.umask(0o022)
    yield home
    os.umask(mask)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a configuration of its own, which no person has trusted yet."""
    return Project(tmp_path / "project")


@pytest.fixture
def record(home: Path) -> Path:
    """The file in which a person's trust is kept."""
    return home / ".local" / "state" / "interpose" / "trust.json"


@pytest.fixture(scope="module")
def warmed_up() -> None:
    """What an engine keeps for its commands is there before anything is counted."""
    warm_up()


@pytest.fixture
def commands_leave_nothing(warmed_up: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process, zombie or temporary file of a command is left; each file of tests of commands asks for this."""
    with nothing_lives(tmp_path, monkeypatch):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Interrupt a test in which the host waits for ever, so that it fails and the others run.

    The timer ends with the test itself: an interruption while pytest writes its report would end the whole run. It
    repeats, because a hook may catch the first one.
    """

    def interrupt(*_: object) -> None:
        raise AssertionError("the host waits for ever")

    if not hasattr(signal, "setitimer"):
        return (yield)
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, getattr(getattr(item, "module", None), "LONGEST_TEST", LONGEST_TEST), 1.0)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
