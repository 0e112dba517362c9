"""Commands that cannot be started: there is nothing to run, or the machine has nothing left to run it with."""

import asyncio
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.faults.commands import (
    HOSTS,
    SHORT,
    Host,
    needs,
    on_both_hosts,
    register,
    script,
)
from tests.faults.hosts import BUSY, CALL, environment, within

from interpose import Hooks

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]


# Nothing there to run.


@on_both_hosts
@pytest.mark.parametrize("how", ["executed", "in a shell", "in another directory"])
def test_a_command_that_does_not_exist_cannot_be_loaded(host: Host, how: str, tmp_path: Path) -> None:
    """Faults 1, 2: the same code either way, and a deny also for an observer (contract, §4)."""
    what: dict[str, Any] = {"handler": ["/nonexistent/x"]}
    if how == "in a shell":
        what = {"command": "/nonexistent/x"}
    elif how == "in another directory":
        what["cwd"] = str(tmp_path)

    result = host.fails(code="spawn_not_found", loads=False, **what)

    assert "/nonexistent/x" in str(result.error)


def test_an_observer_that_does_not_exist_is_let_pass_if_its_hook_says_so() -> None:
    """Fault 1: ``log`` written on the hook itself opens this too (contract, §4)."""
    outcome = HOSTS[1].outcome(handler=["/nonexistent/x"], on_error="log")

    assert (outcome.decision, outcome.results[0].status) == ("none", "failed")


@on_both_hosts
@pytest.mark.parametrize("how", ["executed", "in a shell", "in another directory"])
@pytest.mark.parametrize("what", ["a file without the right to execute", "a directory"])
def test_what_cannot_be_executed_cannot_be_loaded(host: Host, how: str, what: str, tmp_path: Path) -> None:
    """Faults 3, 4."""
    path = str(tmp_path) if what == "a directory" else script(tmp_path, "#!/bin/sh\n", mode=0o644)
    options: dict[str, Any] = {"command": path} if how == "in a shell" else {"handler": [path]}
    if how == "in another directory":
        options["cwd"] = "/"

    host.fails(code="spawn_permission", loads=False, **options)


@on_both_hosts
@pytest.mark.parametrize("cwd", [None, "/"], ids=["here", "in another directory"])
def test_a_text_without_an_interpreter_is_not_run_by_a_shell(host: Host, cwd: str | None, tmp_path: Path) -> None:
    """Fault 5: a shell would take any text for its own."""
    trace = tmp_path / "it ran"
    path = script(tmp_path, f"touch '{trace}'\n")

    host.fails(handler=[path], cwd=cwd, code="spawn_format", loads=False)

    assert not trace.exists()


@on_both_hosts
@pytest.mark.parametrize("cwd", [None, "/"], ids=["here", "in another directory"])
def test_a_missing_interpreter_is_named(host: Host, cwd: str | None, tmp_path: Path) -> None:
    """Fault 6: the script is there; whoever reads the error must not look for it."""
    path = script(tmp_path, "#!/nonexistent/interpreter\n")

    result = host.fails(handler=[path], cwd=cwd, code="spawn_not_found", loads=False)

    assert "/nonexistent/interpreter" in str(result.error)


@on_both_hosts
@pytest.mark.parametrize("cwd", [None, "/"], ids=["here", "in another directory"])
def test_a_script_with_carriage_returns_fails_with_a_hint(host: Host, cwd: str | None, tmp_path: Path) -> None:
    """Fault 7: its interpreter is ``/bin/sh`` and a carriage return."""
    path = script(tmp_path, "#!/bin/sh\r\nexit 0\r\n")

    result = host.fails(handler=[path], cwd=cwd, code="spawn_not_found", loads=False)

    assert "carriage return" in str(result.error)


@on_both_hosts
@pytest.mark.parametrize(
    "line",
    [f"{sys.executable} /nonexistent.py", "sh /nonexistent.sh", pytest.param("perl /nonexistent.pl", marks=needs("perl"))],
    ids=["python", "sh", "perl"],
)  # fmt: skip
def test_an_interpreter_that_does_not_find_its_script_denies_nothing_deliberately(host: Host, line: str) -> None:
    """Fault 8: interpreters exit with 2 then, which would be the word of a guard."""
    host.fails(line, code="launch_error", loads=False)


@on_both_hosts
@pytest.mark.parametrize(("line", "reason"), [("sh -c 'if then'", "Syntax error"), ("exit 2", "hook exited with")])
def test_a_mistake_in_use_that_exits_with_2_denies(host: Host, line: str, reason: str) -> None:
    """Fault 9: nobody can tell it from a deny; one without a word is marked as suspicious."""
    outcome = host.outcome(line)

    assert outcome.denied
    assert reason.lower() in outcome.reason.lower()
    assert outcome.results[0].evidence.get("suspicious_exit2", False) is (line == "exit 2")


@on_both_hosts
def test_a_hook_whose_imports_fail_has_crashed(host: Host, tmp_path: Path) -> None:
    """Fault 10: before the hook's own handling of errors could begin."""
    path = script(tmp_path, "import a_module_that_is_not_there\n", name="hook.py", mode=0o644)

    result = host.fails(handler=[path], code="hook_crash")

    assert "a_module_that_is_not_there" in str(result.error)


# Lack of resources.

LACK_OF_PROCESSES = """
import asyncio, resource
from interpose import Hooks

hooks = Hooks()
hooks.register("PreToolUse", command="true", name="guard", on_error="abort", timeout=5, isolation="group")

async def fire():
    return await hooks.fire("PreToolUse", tool_name="Bash")

def show(outcome):
    result = outcome.results[0]
    print(result.status, result.error and result.error.code, outcome.decision)

most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
with asyncio.Runner() as runner:
    show(runner.run(fire()))
    resource.setrlimit(resource.RLIMIT_NPROC, (1, most))
    show(runner.run(fire()))
    show(hooks.fire_sync("PreToolUse", tool_name="Bash"))
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    show(runner.run(fire()))
    show(hooks.fire_sync("PreToolUse", tool_name="Bash"))
"""


@needs("setpriv", root=True)
def test_no_process_to_be_had_fails_and_is_over_when_there_is_one_again() -> None:
    """Faults 24, 233: the limit does not hold for root, so the host is somebody else here, who has no other process.

    He may have no right to run this interpreter once more, which a supervisor would be.
    """
    import subprocess

    unprivileged = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]
    ended = subprocess.run(
        [*unprivileged, sys.executable, "-c", LACK_OF_PROCESSES],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        cwd="/",
    )

    failed, ok = "failed spawn_resource deny", "ok None none"
    assert ended.stdout.splitlines() == [ok, failed, failed, ok, ok], ended.stderr


@contextmanager
def descriptors_left(number: int) -> Iterator[None]:
    """Let this process open so many more files and no more."""
    used = {int(name) for name in os.listdir("/proc/self/fd")}
    free = [number_ for number_ in range(max(used) + number + 2) if number_ not in used]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[number], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@on_both_hosts
@pytest.mark.parametrize("number", range(8))
def test_no_descriptor_to_be_had_fails_and_leaves_none_open(host: Host, number: int) -> None:
    """Faults 25, 232: wherever on the way to a running command the last one is used up; later all is well again."""
    hooks = Hooks()
    register(hooks, "cat > /dev/null; exit 2", on_error="abort")
    before = os.listdir("/proc/self/fd")
    codes = []

    async def fire() -> None:
        with descriptors_left(number):
            outcome = await hooks.fire("PreToolUse", **CALL)
        codes.append(outcome.results[0].error and outcome.results[0].error.code)
        assert outcome.denied

    with within(BUSY):
        if host.loop:
            asyncio.run(fire())
        else:
            with descriptors_left(number):
                outcome = hooks.fire_sync("PreToolUse", **CALL)
            codes.append(outcome.results[0].error and outcome.results[0].error.code)

    assert codes == ["spawn_resource"] or (number >= 5 and codes == [None])
    assert len(os.listdir("/proc/self/fd")) <= len(before)  # fewer, if a descriptor of an earlier test was collected
    assert host.fire(hooks).denied
    assert host.fire(hooks).results[0].status == "ok"


@on_both_hosts
def test_a_program_that_is_being_written_fails_after_a_second_attempt(host: Host, tmp_path: Path) -> None:
    """Fault 26."""
    path = script(tmp_path, "#!/bin/sh\nexit 2\n")
    with open(path, "a"):
        began = time.monotonic()
        host.fails(handler=[path], code="spawn_busy", loads=False)
        assert time.monotonic() - began > 0.1, "two firings with a second attempt each"

    assert host.outcome(handler=[path]).denied


@on_both_hosts
def test_a_program_that_was_just_being_written_is_run_after_all(host: Host, tmp_path: Path) -> None:
    """Fault 26: the second attempt is worth it."""
    path = script(tmp_path, "#!/bin/sh\nexit 2\n")
    hooks = Hooks()
    register(hooks, handler=[path])
    writer = open(path, "a")  # noqa: SIM115 - closed in the middle

    async def fire() -> None:
        firing = asyncio.create_task(hooks.fire("PreToolUse", **CALL))
        await asyncio.sleep(0.01)
        writer.close()
        assert (await firing).denied

    if host.loop:
        asyncio.run(fire())
        return
    import threading

    closer = threading.Timer(0.01, writer.close)
    closer.start()
    assert hooks.fire_sync("PreToolUse", **CALL).denied
    closer.join()


@pytest.mark.parametrize("isolation", ["group", "tree"])
def test_a_host_that_is_cancelled_before_the_second_attempt_starts_nothing(isolation: str, tmp_path: Path) -> None:
    """Faults 26, 149: what was not started yet is not started any more."""
    trace = tmp_path / "it ran"
    path = script(tmp_path, f"#!/bin/sh\ntouch '{trace}'\nsleep 3\n")
    hooks = Hooks()
    register(hooks, handler=[path], isolation=isolation)

    async def host() -> None:
        with open(path, "a"):  # noqa: ASYNC230 - a writer that holds it open
            firing = asyncio.create_task(hooks.fire("PreToolUse", **CALL))
            await asyncio.sleep(0.01)
            firing.cancel()
        with within(BUSY), pytest.raises(asyncio.CancelledError):
            await firing

    asyncio.run(host())
    assert not trace.exists()


@on_both_hosts
def test_a_program_that_hangs_before_its_first_line_is_ended(host: Host, tmp_path: Path) -> None:
    """Fault 28: it waits for a file that nobody opens."""
    os.mkfifo(tmp_path / "interpreter's library")

    host.fails(f"exec < '{tmp_path}/interpreter'\"'\"'s library'; exit 0", code="timeout", timeout=SHORT)


@on_both_hosts
def test_two_hooks_with_the_same_command_both_run(host: Host, tmp_path: Path) -> None:
    """Fault 30: they are two hooks; one of the same name takes the place of the first."""
    hooks = Hooks()
    for name in ("one", "two", "two"):
        register(hooks, f"echo >> '{tmp_path}/runs'", name=name)

    outcome = host.fire(hooks)

    assert [result.hook for result in outcome.results] == ["one", "two"]
    assert len((tmp_path / "runs").read_text()) == 2
