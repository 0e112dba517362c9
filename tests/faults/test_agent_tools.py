"""The agent's tools in a world that misbehaves: commands that do not end, files that are none, nobody who waits."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.commands import MARK, living, mark, nothing_lives
from tests.faults.hosts import until, within
from tests.unit.workplace import call, calling, workplace

from interpose import tool_environment
from interpose.agent.tools import Workplace, replace_file
from interpose.agent.tools.file_search import Walk, walked
from interpose.handlers.command import supervisor_error

pytestmark = pytest.mark.slow

LONG = 40.0
"""Far more than anything here takes, and far less than what would hang."""
needs_tree = pytest.mark.skipif(bool(supervisor_error()), reason="no supervisor can be started here")


@pytest.fixture(autouse=True)
def nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with nothing_lives(tmp_path, monkeypatch):
        monkeypatch.setenv(MARK, mark())
        yield


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    (tmp_path / "work").mkdir()
    place = workplace(tmp_path / "work")
    place.environment = lambda: tool_environment([MARK])
    return place


# Bash


def test_output_and_errors_are_told_in_their_order(place: Workplace) -> None:
    assert call(place, "Bash", command="echo one; echo two >&2; echo three") == "one\ntwo\nthree"
    assert call(place, "Bash", command="true") == "(no output)"


def test_a_command_that_fails_is_a_failure_with_its_status_and_output(place: Workplace) -> None:
    assert call(place, "Bash", command="echo why; exit 3") == "failed: exit status 3\nwhy"
    assert call(place, "Bash", command="kill -SEGV $$") == "failed: ended by SIGSEGV"


def test_a_command_runs_in_the_root_of_the_work_with_nothing_to_read(place: Workplace) -> None:
    assert call(place, "Bash", command="pwd; cat; [ -t 0 ] || echo no terminal") == f"{place.cwd}\nno terminal"


def test_a_command_gets_the_environment_of_its_workplace_and_no_other(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")

    assert call(place, "Bash", command="echo $ANTHROPIC_API_KEY; env | grep -c KEY") == "failed: exit status 1\n\n0"
    place.environment = lambda: tool_environment(["ANTHROPIC_API_KEY"], {"COLOUR": "blue"})
    assert call(place, "Bash", command="echo $COLOUR $ANTHROPIC_API_KEY") == "blue sk-secret"


def test_a_command_that_does_not_end_is_ended_with_all_that_it_started(place: Workplace) -> None:
    with within(LONG):
        said = call(place, "Bash", command="echo before; sleep 60 & sleep 60", timeout=2000)

    assert said == "failed: the command did not end within 2 s and was killed, with all that it had started\nbefore"


def test_a_command_that_ignores_the_request_to_end_is_ended(place: Workplace) -> None:
    with within(LONG):
        said = call(place, "Bash", command="trap '' TERM; sh -c 'sleep 60'; echo after; sleep 60", timeout=300)

    assert said.startswith("failed: the command did not end within 0.3 s")


def test_a_command_may_tidy_up_when_it_is_asked_to_end(place: Workplace) -> None:
    with within(LONG):
        said = call(place, "Bash", command="trap 'echo tidy; exit' TERM; while :; do sleep 0.05; done", timeout=2000)

    assert said.endswith("\ntidy")


def test_what_is_left_in_the_background_neither_holds_the_call_up_nor_lives_on(place: Workplace) -> None:
    with within(LONG):
        holding = call(place, "Bash", command="sleep 60 & echo done")
        silent = call(place, "Bash", command="sleep 60 > /dev/null 2>&1 & echo done")

    assert holding == "done\n(the output of its background processes was cut off)"
    assert silent == "done"


ESCAPES = {
    "a session of its own": "setsid sh -c 'touch started; exec sleep 60' &",
    "a session of its own, without output": "setsid sh -c 'touch started; exec sleep 60' > /dev/null 2>&1 &",
    "a double fork": "(setsid sh -c '(touch started; exec sleep 60) & ' &) &",
    "nohup": "nohup sh -c 'touch started; exec sleep 60' > /dev/null 2>&1 &",
    "an empty environment": "env -i setsid sh -c 'touch started; exec sleep 60; : $0' $FAULT_MARK &",
    "noise": "setsid sh -c 'touch started; while :; do echo noise; done' &",
}


@needs_tree
@pytest.mark.parametrize(
    ("how", "at_the_deadline"),
    [*((how, False) for how in ESCAPES), ("a session of its own", True), ("a double fork", True)],
)
def test_what_has_left_the_group_ends_with_the_command(place: Workplace, how: str, at_the_deadline: bool) -> None:
    line = f"{ESCAPES[how]} until [ -e started ]; do sleep 0.01; done{'; sleep 60' if at_the_deadline else ''}"

    with within(LONG):
        said = call(place, "Bash", command=line, timeout=400 if at_the_deadline else 20_000)

    assert living() == []
    assert ("did not end within" in said) is at_the_deadline


@needs_tree
@pytest.mark.parametrize("line", ["kill -STOP $PPID; sleep 60", "setsid sleep 60 & kill -STOP $PPID; sleep 60"])
def test_a_command_that_stops_its_supervisor_is_ended_all_the_same(place: Workplace, line: str) -> None:
    with within(LONG / 2):
        said = call(place, "Bash", command=line, timeout=300)

    assert "did not end within 0.3 s" in said
    assert living() == []


@needs_tree
def test_a_command_that_kills_its_supervisor_has_failed_and_the_next_one_runs(place: Workplace) -> None:
    with within(LONG):
        said = [call(place, "Bash", command=line) for line in ("sleep 60 & kill -KILL $PPID; sleep 60", "echo next")]

    assert said == ["failed: the command could not be run: the supervisor of the command was ended", "next"]


@needs_tree
def test_what_has_left_the_group_ends_with_a_call_that_is_cancelled(place: Workplace) -> None:
    cancelled(place, "setsid sh -c 'touch started; exec sleep 60' & sleep 60")

    assert living() == []


def test_without_a_supervisor_the_group_is_ended(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpose.handlers.supervisors.SupervisorPool.why_not", lambda self: "not here")

    with within(LONG):
        said = [
            call(place, "Bash", command="echo $COLOUR; sleep 60 & echo done"),
            call(place, "Bash", command="echo why; exit 3"),
            call(place, "Bash", command="sleep 60 & sleep 60", timeout=300),
            call(place, "Bash", command="x" * 200_000),
        ]

    assert said[0].endswith("done\n(the output of its background processes was cut off)")
    assert said[1] == "failed: exit status 3\nwhy"
    assert "did not end within 0.3 s" in said[2]
    assert said[3].startswith("failed: the command could not be run: ")
    assert living() == []


def test_a_filter_may_write_its_last_line_after_the_shell_has_ended(place: Workplace) -> None:
    assert call(place, "Bash", command="echo text > >(sleep 0.05; tr a-z A-Z)") == "TEXT"


def test_output_without_end_is_bounded_and_the_loop_goes_on(place: Workplace) -> None:
    async def host() -> tuple[str, int]:
        task = asyncio.create_task(calling(place, "Bash", command="yes", timeout=500))
        turns = 0
        while not task.done():
            await asyncio.sleep(0.01)
            turns += 1
        return await task, turns

    said, turns = asyncio.run(host())

    assert 30_000 < len(said) < 30_300
    assert "characters left out" in said
    assert turns > 5


def cancelled(place: Workplace, command: str, times: int = 1) -> None:
    """Call, and be cancelled once the command says that it has started."""

    async def host() -> None:
        task = asyncio.create_task(calling(place, "Bash", command=command))
        await until((place.cwd / "started").exists)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0.05)
        with pytest.raises(asyncio.CancelledError):
            await task

    with within(LONG):
        asyncio.run(host())


def test_a_cancelled_call_leaves_nothing(place: Workplace) -> None:
    cancelled(place, "touch started; sleep 60 & sleep 60")

    assert living() == []


def test_a_command_whose_call_is_cancelled_may_tidy_up(place: Workplace) -> None:
    cancelled(place, "trap ': > tidy; exit' TERM; touch started; while :; do sleep 0.05; done")

    assert (place.cwd / "tidy").exists()


def test_a_call_that_is_cancelled_again_while_it_ends_leaves_nothing(place: Workplace) -> None:
    cancelled(place, "trap '' TERM; touch started; while :; do :; done", times=3)

    assert living() == []


def test_many_commands_run_at_once(place: Workplace) -> None:
    async def host() -> list[str]:
        return await asyncio.gather(
            *(calling(place, "Bash", command=f"sleep 0.5; echo {number}") for number in range(20))
        )

    with within(LONG):
        assert asyncio.run(host()) == [str(number) for number in range(20)]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo a\0b", "an argument or a variable of the command has a NUL character in it"),
        ("echo \ud800", "an argument of the command is not text that can be encoded"),
        ("x" * 200_000, "an argument or a variable of the command has 200000 bytes"),
    ],
)
def test_a_command_that_cannot_be_started_is_a_failure(place: Workplace, command: str, said: str) -> None:
    for _ in range(3):
        assert call(place, "Bash", command=command) == f"failed: the command could not be run: {said}"

    assert call(place, "Bash", command="echo still here") == "still here"


def test_a_directory_that_is_gone_is_a_failure(place: Workplace) -> None:
    place.cwd.rmdir()

    said = call(place, "Bash", command="true")

    assert said.startswith("failed: the command could not be run: the directory to run in does not exist")


def test_a_signal_to_the_group_of_the_host_does_not_reach_the_command(place: Workplace) -> None:
    group, session, pid = map(int, call(place, "Bash", command="ps -o pgid=,sid= -p $$; echo $$").split())

    assert group == pid
    assert session != os.getsid(0)


# Files


def test_a_pipe_without_a_writer_is_not_waited_for(place: Workplace) -> None:
    os.mkfifo(place.cwd / "pipe")

    with within(LONG):
        assert (
            call(place, "Read", file_path="pipe") == "failed: pipe is not a regular file (a device, a pipe or a socket)"
        )
        assert call(place, "Grep", pattern="x", path="pipe").startswith("(nothing found)")
        assert call(place, "Glob", pattern="*") == "(no file matches)"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_a_failure(place: Workplace) -> None:
    (place.cwd / "a").touch(0o000)

    assert call(place, "Read", file_path="a") == "failed: a: Permission denied"


def test_a_file_cannot_be_below_a_file(place: Workplace) -> None:
    (place.cwd / "a").touch()

    assert call(place, "Write", file_path="a/b", content="x") == "failed: a/b: Not a directory"


def test_a_name_that_is_too_long_is_a_failure(place: Workplace) -> None:
    assert call(place, "Write", file_path="x" * 300, content="").endswith(": File name too long")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(place: Workplace) -> None:
    file = place.cwd / "a"
    file.write_text("old")

    with pytest.raises(TypeError):
        replace_file(file, "not bytes")  # type: ignore[arg-type]

    assert [(path.name, path.read_text()) for path in place.cwd.iterdir()] == [("a", "old")]


def test_a_file_that_is_replaced_is_never_seen_half_written(place: Workplace) -> None:
    file = place.cwd / "a"
    contents = {letter * 500_000 for letter in "ab"}
    replace_file(file, b"a" * 500_000)
    stopped = threading.Event()

    def write() -> None:
        while not stopped.is_set():
            for content in contents:
                replace_file(file, content.encode())

    writer = threading.Thread(target=write)
    writer.start()
    try:
        seen = {file.read_text() for _ in range(200)}
    finally:
        stopped.set()
        writer.join()

    assert seen <= contents


# Searches


def test_a_search_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    walk = Walk(tmp_path)
    ended = threading.Event()
    began = threading.Event()

    def work() -> None:
        began.set()
        while not walk.must_end():
            time.sleep(0.001)
        ended.set()

    async def host() -> None:
        task = asyncio.create_task(walked(walk, work))
        await until(began.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with within(LONG):
        asyncio.run(host())

    assert ended.wait(LONG)


def test_files_that_vanish_during_a_search_do_no_harm(place: Workplace) -> None:
    for number in range(300):
        (place.cwd / f"{number:03}").write_text("hit")
    stopped = threading.Event()

    def vanish() -> None:
        for path in sorted(place.cwd.iterdir(), reverse=True):
            path.unlink()
        stopped.set()

    remover = threading.Thread(target=vanish)
    remover.start()
    try:
        said = [call(place, tool, pattern=pattern) for tool, pattern in (("Glob", "*"), ("Grep", "hit")) for _ in "12"]
    finally:
        remover.join()

    assert stopped.is_set()
    assert not any(answer.startswith("failed") for answer in said)


def test_ctrl_c_ends_the_command(place: Workplace) -> None:
    async def host() -> None:
        task = asyncio.create_task(calling(place, "Bash", command="touch started; sleep 60"))
        await until((place.cwd / "started").exists)
        os.kill(os.getpid(), signal.SIGINT)
        await task

    with within(LONG), pytest.raises(KeyboardInterrupt):
        asyncio.run(host())

    assert living() == []
