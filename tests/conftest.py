"""How the suite runs: what pytest keeps between two runs, and how many processes share the tests."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.people import somebody, write_program
from tests.preloaded import Preloaded

# Where the environment forbids Python to write bytecode, every process would rewrite the assertions of every test file
# at every run, which takes as long as all of tests/conformance. While tests run, the environment's word holds again.
FORBIDDEN = sys.dont_write_bytecode
sys.dont_write_bytecode = False

# A shell starts what runs in the background with SIGINT ignored, and every program of a test would inherit that: then
# those that wait for a Ctrl-C wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection() -> None:
    """Collect no garbage while test files are loaded: all that they make stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Write bytecode only if the environment lets us: all test files are loaded. Garbage is looked for beyond them."""
    sys.dont_write_bytecode = FORBIDDEN
    gc.freeze()
    gc.enable()


def pytest_xdist_auto_num_workers() -> int | None:
    """Return three processes for two cores: many tests wait for a process or a deadline and need no core meanwhile."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + (cores + 1) // 2


@pytest.fixture(scope="session")
def quick() -> Iterator[Path]:
    """A folder for PATH in which ``interpose`` starts in a tenth of the time that the installed command takes."""
    with TemporaryDirectory(prefix="interpose-") as folder, Preloaded(Path(folder)) as preloaded:
        yield preloaded.folder


@pytest.fixture(scope="session")
def persons_program() -> Iterator[Path]:
    """A folder for PATH with the installed command as a person at a terminal has it."""
    with TemporaryDirectory(prefix="interpose-") as folder:
        yield write_program(Path(folder))


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person has started this process, as far as Interpose can see."""
    monkeypatch.setattr("interpose.person.processes.read_processes", somebody)


@pytest.fixture(scope="session", autouse=True)
def unregistered() -> Iterator[None]:
    """Sessions do not write into the state directory of the person who runs the tests that this process is an agent."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("interpose.person.agents._done", [os.getpid()])
        yield
