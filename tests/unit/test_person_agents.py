"""Which processes register as agents: the host of a hook and what it runs hooks with, never a person's shell."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from interpose import Hooks
from interpose.person import agents
from interpose.person.agents import register_callers, register_this_process, registered_agents, stat_of

pytestmark = pytest.mark.skipif(stat_of("self") is None, reason="reads /proc")


class Made(NamedTuple):
    """A process above a hook; ``age`` is how many hundredths of a second before the hook it was started."""

    pid: int
    program: str
    group: int = 0
    session: int = 0
    terminal: int = 0
    age: int = 1000


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "interpose" / "agents"


SYSTEMD = Made(1, "systemd")
WINDOW = Made(10, "xterm")
BASH = Made(11, "bash", 11, 11, 34816)
CLAUDE = Made(20, "claude", 20, 11, 34816)
LINE = Made(21, "sh", 21, 21, age=1)
CODE = Made(30, "code")

CHAINS = {
    "a coding agent in a window": ([SYSTEMD, WINDOW, BASH, CLAUDE, LINE], {20}),
    "a coding agent whose hooks share its session": ([SYSTEMD, WINDOW, BASH, CLAUDE, Made(21, "sh", 20, 11, 34816, 1)], {20}),
    "an agent that gives each hook a process group": ([SYSTEMD, WINDOW, BASH, CLAUDE, Made(21, "sh", 21, 11, 34816, 1)], {20}),
    "a hook that is typed at a shell": ([SYSTEMD, WINDOW, BASH], set()),
    "a program between the agent and the hook": ([SYSTEMD, WINDOW, BASH, CLAUDE, LINE, Made(22, "python3.11", 21, 21, age=1)], {20, 22}),
    "an agent that is a script for the shell": ([SYSTEMD, WINDOW, BASH, Made(20, "bash", 20, 11, 34816, 1000), LINE], {20}),
    "an agent in an editor's terminal": ([SYSTEMD, CODE, Made(31, "code"), BASH, CLAUDE, LINE], {20}),
    "an agent below an extension of an editor": ([SYSTEMD, CODE, Made(31, "code"), CLAUDE, LINE], {20}),
    "an editor that is an agent": ([SYSTEMD, CODE, Made(31, "code"), LINE], {30, 31}),
    "a line over ssh": ([SYSTEMD, Made(40, "sshd"), Made(41, "sshd"), LINE], set()),
    "an agent in tmux": ([SYSTEMD, Made(40, "tmux"), BASH, CLAUDE, LINE], {20}),
    "an agent on a machine without a person": ([SYSTEMD, Made(40, "runner"), CLAUDE, LINE], {20, 40}),
    "an agent that is all there is in a container": ([Made(1, "node"), LINE], {1}),
    "a container with an agent": ([Made(1, "sleep"), CLAUDE, LINE], {20}),
}  # fmt: skip


@pytest.mark.parametrize(("chain", "expected"), CHAINS.values(), ids=CHAINS)
def test_the_callers_of_a_hook_are_registered_up_to_what_is_a_persons(
    chain: list[Made], expected: set[int], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = chain[-1]
    hook = Made(99, "python3.11", 99 if last.terminal and last is BASH else last.group, last.session, last.terminal, 0)
    parents = dict(zip([*(one.pid for one in chain[1:]), 99], [one.pid for one in chain], strict=True))
    known = {one.pid: one for one in (*chain, hook)}

    def stat(pid: int | str) -> tuple[str, list[str]] | None:
        one = known.get(99 if pid == "self" else int(pid))
        if one is None:
            return None
        fields = ["S", str(parents.get(one.pid, 0)), str(one.group), str(one.session), str(one.terminal)]
        return one.program, [*fields, *["0"] * 14, str(9000 - one.age)]

    monkeypatch.setattr(agents, "stat_of", stat)
    monkeypatch.setattr(agents, "_program", lambda pid, comm: comm)
    monkeypatch.setattr(os, "getppid", lambda: last.pid)

    register_callers()

    assert {int(path.name.partition(".")[0]) for path in folder.glob("*")} == expected


def test_a_session_registers_its_process_once_and_privately(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "_done", [])

    for _ in range(2):
        with Hooks().session_sync():
            pass

    [path] = folder.iterdir()
    assert registered_agents() == {os.getpid()}
    assert (folder.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_process_that_has_ended_is_dropped_and_another_of_its_number_is_not_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder.mkdir(parents=True)
    for name in (f"{ended.pid}.5", f"{os.getppid()}.5", "nonsense"):
        (folder / name).touch()
    assert registered_agents() == frozenset()

    monkeypatch.setattr(agents, "_done", [])
    register_this_process()

    assert [path.name.partition(".")[0] for path in folder.iterdir()] == [str(os.getpid())]


def test_a_state_directory_that_cannot_be_written_stops_no_agent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.parent.parent.mkdir(exist_ok=True)
    folder.parent.write_text("not a directory")
    monkeypatch.setattr(agents, "_done", [])

    register_this_process()
    register_callers()

    assert registered_agents() == frozenset()
