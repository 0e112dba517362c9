"""Commands that do not end, and what they leave behind: processes, sessions, daemons."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Self

import pytest
from tests.faults.commands import (
    DENY,
    HOSTS,
    LONG,
    MARK,
    SHORT,
    Host,
    living,
    mark,
    needs,
    nothing_lives,
    on_both_hosts,
    register,
    script,
    stop,
    warm_up,
    zombies,
)
from tests.faults.hosts import BUSY, CALL, PROMISE, Program, environment, eventually, halt, program, run, until, within

from interpose import Hooks
from interpose.errors import BadHook

pytestmark = pytest.mark.slow

ISOLATIONS = ("group", "tree", "namespace")
OWNED = ("tree", "namespace")
"""The isolations that hold what leaves the process group."""


@pytest.fixture(scope="module", autouse=True)
def warmed_up() -> None:
    """What an engine keeps for its commands is there before anything is counted."""
    warm_up()


@pytest.fixture(autouse=True)
def no_process_left(warmed_up: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with nothing_lives(tmp_path, monkeypatch):
        yield


@cache
def why_no_namespace() -> str:
    error = HOSTS[1].outcome("true", isolation="namespace").results[0].error
    return str(error) if error is not None and error.code == "isolation_unavailable" else ""


def may_have(isolation: str) -> None:
    """Skip, by name, where this machine has no namespaces."""
    if isolation == "namespace" and why_no_namespace():
        pytest.skip(f"needs PID namespaces: {why_no_namespace()}")


# Deadlines.


@on_both_hosts
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_command_that_sleeps_is_ended_at_its_deadline(host: Host, isolation: str) -> None:
    """Fault 85: and everything that it has started."""
    may_have(isolation)

    result = host.fails("sleep 30 & sleep 30", code="timeout", timeout=SHORT, isolation=isolation)

    assert f"within {SHORT} s" in str(result.error)
    assert result.evidence["isolation"] == isolation


@on_both_hosts
@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize(
    "line", ["sleep 30", "trap '' TERM; sleep 30 & wait; sleep 30"], ids=["sleeps", "ignores TERM"]
)
def test_the_promise_of_a_quarter_second_is_kept(host: Host, isolation: str, line: str) -> None:
    """Faults 85, 89: on a machine that is busy with other things, in one of five attempts."""
    may_have(isolation)
    took = []
    for _ in range(5):
        hooks = Hooks()
        register(hooks, line, timeout=0.1, isolation=isolation)
        began = time.monotonic()
        host.fire(hooks)
        took.append(time.monotonic() - began - 0.1)
        if took[-1] < PROMISE:
            return

    pytest.fail(f"beyond its deadline the firing took {took}")


@on_both_hosts
def test_a_command_is_asked_to_end_before_it_is_made_to(host: Host, tmp_path: Path) -> None:
    """Fault 85: it has a tenth of a second, and what it answers then comes too late."""
    line = f"trap 'touch {tmp_path}/asked; {DENY}; exit 2' TERM; sleep 30 & wait"

    host.fails(line, code="timeout", timeout=SHORT)

    assert (tmp_path / "asked").exists()


def test_a_hook_without_a_timeout_has_one_all_the_same() -> None:
    """Fault 86: 30 seconds (contract, §4)."""
    hooks = Hooks()
    hooks.register("PreToolUse", command="true")

    with Deadlines() as seen:
        hooks.fire_sync("PreToolUse", **CALL)

    assert 29 < seen.deadline - time.monotonic() <= 30


class Deadlines:
    """Sees the deadline that commands are given."""

    deadline = 0.0

    def __enter__(self) -> Self:

        self.patch = pytest.MonkeyPatch()
        from interpose.handlers import _command_run

        plain = _command_run.CommandRun.__init__

        def noting(run: Any, watch: Any, stdin: bytes, deadline: float, *rest: Any) -> None:
            self.deadline = deadline
            plain(run, watch, stdin, deadline, *rest)

        self.patch.setattr(_command_run.CommandRun, "__init__", noting)
        return self

    def __exit__(self, *_: object) -> None:
        self.patch.undo()


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "5s", True, [], 1e300], ids=str)
def test_a_timeout_that_is_none_is_refused(timeout: Any) -> None:
    """Fault 87: 0 and durations as text are not among them (contract, §4 and §6)."""
    hooks = Hooks()

    with pytest.raises(BadHook):
        hooks.register("PreToolUse", command="true", timeout=timeout)
    assert not list(hooks)


@on_both_hosts
def test_five_commands_that_hang_share_the_time_of_their_firing(host: Host) -> None:
    """Fault 88: what is left when it is used up fails as late, and a guard among it denies."""
    hooks = Hooks(total_timeout=2 * SHORT)
    for index in range(5):
        register(hooks, "sleep 30", name=str(index), timeout=SHORT, on_error="abort" if index == 4 else None)

    with within(2 * SHORT + BUSY):
        outcome = host.fire(hooks)

    assert [result.status for result in outcome.results] == ["timeout"] * 5
    assert outcome.denied


@on_both_hosts
@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize(
    "line",
    ["trap '' TERM INT HUP QUIT; while :; do sleep 30; done", "kill -STOP $$", "sleep 30 & kill -STOP $! $$"],
    ids=["ignores SIGTERM", "stops itself", "stops itself and its child"],
)
def test_a_command_that_cannot_be_asked_to_end_is_ended(host: Host, isolation: str, line: str) -> None:
    """Faults 89, 90."""
    may_have(isolation)

    host.fails(line, code="timeout", timeout=SHORT, isolation=isolation)


# What it leaves behind.

LEAVES: dict[str, str] = {
    "a child in its group": "sleep 30 &",
    "a child in its group without its pipes": "sleep 30 < /dev/null > /dev/null 2>&1 &",
    "a child that ignores SIGTERM": "(trap '' TERM HUP; sleep 30; sleep 30) > /dev/null 2>&1 &",
    "a stopped child": "sleep 30 > /dev/null 2>&1 & kill -STOP $!;",
}
ESCAPES: dict[str, str] = {
    "a session of its own": "setsid sleep 30 > /dev/null 2>&1 &",
    "a session of its own that holds the pipes": "setsid sleep 30 &",
    "a daemon": "(setsid sh -c '(sleep 30 &) ; sleep 0.01' > /dev/null 2>&1 &);",
    "a child without its environment": "setsid env -i sh -c 'exec sleep 30' 30.{mark} > /dev/null 2>&1 &",
    "a session that ignores SIGTERM": "setsid sh -c \"trap '' TERM HUP; sleep 30; sleep 30\" > /dev/null 2>&1 &",
}


@on_both_hosts
@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("what", LEAVES)
def test_what_a_command_leaves_running_ends_with_it(host: Host, isolation: str, what: str) -> None:
    """Fault 91: and its word counts."""
    may_have(isolation)

    outcome = host.outcome(f"{LEAVES[what]} {DENY}", isolation=isolation)

    assert (outcome.reason, outcome.results[0].status) == ("not here", "ok")


@on_both_hosts
@needs("setsid")
@pytest.mark.parametrize("isolation", OWNED)
@pytest.mark.parametrize("what", ESCAPES)
@pytest.mark.parametrize("hangs", [False, True], ids=["it exits", "it hangs"])
def test_what_leaves_the_group_of_a_command_ends_with_it(host: Host, isolation: str, what: str, hangs: bool) -> None:
    """Faults 92, 93, 94, 98: neither its session nor its parent nor its environment says whose it is."""
    may_have(isolation)
    line = ESCAPES[what].format(mark=mark())

    if hangs:
        outcome = host.outcome(f"{line} {DENY}; sleep 30", isolation=isolation, timeout=SHORT)
        assert outcome.results[0].status == "timeout"
    else:
        outcome = host.outcome(f"{line} {DENY}", isolation=isolation)
        assert (outcome.reason, outcome.results[0].status) == ("not here", "ok")


PHOENIX = r"""
#include <signal.h>
#include <unistd.h>
int main(void) {
    signal(SIGHUP, SIG_IGN); signal(SIGTERM, SIG_IGN);
    for (;;) {
        if (fork() > 0) _exit(0);
        setsid();
        usleep(100);
    }
}
"""


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that is another process in another session whenever somebody looks."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("phoenix")
    (folder / "phoenix.c").write_text(PHOENIX)
    subprocess.run(["gcc", "-O1", "-o", "phoenix", "phoenix.c"], cwd=folder, check=True)
    return str(folder / "phoenix")


@on_both_hosts
@pytest.mark.parametrize("hangs", [False, True], ids=["it exits", "it hangs"])
def test_a_process_that_is_never_the_same_ends_with_its_command(host: Host, hangs: bool, phoenix: str) -> None:
    """Fault 95: only a namespace is sure to end it."""
    may_have("namespace")
    line = f"{phoenix} > /dev/null 2>&1 {mark()} & {DENY}" + ("; sleep 30" * hangs)

    outcome = host.outcome(line, isolation="namespace", timeout=SHORT if hangs else LONG)

    assert outcome.results[0].status == ("timeout" if hangs else "ok")
    assert outcome.results[0].evidence["isolation"] == "namespace"


@on_both_hosts
@needs("setsid")
@pytest.mark.parametrize("isolation", OWNED)
def test_sixty_daemons_end_with_their_command(host: Host, isolation: str) -> None:
    """Fault 96."""
    may_have(isolation)
    line = f"i=0; while [ $i -lt 60 ]; do setsid sleep 30 > /dev/null 2>&1 & i=$((i+1)); done; {DENY}"

    outcome = host.outcome(line, isolation=isolation)

    assert (outcome.reason, outcome.results[0].status) == ("not here", "ok")


@on_both_hosts
@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("how", ["sleep 30 &", "setsid sleep 30 &"])
def test_a_daemon_that_holds_the_pipes_does_not_hold_up_the_verdict(host: Host, isolation: str, how: str) -> None:
    """Fault 97: the command has exited, its word is there."""
    if how.startswith("setsid") and isolation == "group":
        pytest.skip("a group does not hold what leaves it")
    may_have(isolation)
    hooks = Hooks()
    register(hooks, f"{how} {DENY}", isolation=isolation)

    with within(BUSY):
        outcome = host.fire(hooks)

    assert (outcome.reason, outcome.results[0].status) == ("not here", "ok")


@on_both_hosts
@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("sh", f"(sleep 0.02; {DENY}) & exit 0"),
        ("sh", f"({DENY} | cat | cat) & exit 0"),
        pytest.param("bash", f"exec > >(tee /dev/null); {DENY}; exit 0", marks=needs("bash")),
    ],
    ids=["a moment later", "a pipeline", "tee"],
)
def test_a_verdict_that_somebody_else_writes_is_waited_for(host: Host, isolation: str, shell: str, line: str) -> None:
    """Fault 99: what is in the pipes is read before the rest is ended."""
    may_have(isolation)

    for _ in range(5):
        outcome = host.outcome(line, isolation=isolation, shell=shell)
        assert (outcome.reason, outcome.results[0].status) == ("not here", "ok")


@on_both_hosts
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_what_is_to_be_kept_lives_on(host: Host, isolation: str) -> None:
    """Fault 101: only if the hook says so, and only if it has answered in time."""
    may_have(isolation)
    line = f"sleep 30 < /dev/null > /dev/null 2>&1 & {DENY}"

    assert host.outcome(line, isolation=isolation, background="keep").denied
    assert len(living()) >= 1
    for process in living():
        stop(process)
    assert eventually(lambda: not living())
    host.fails("sleep 30 & sleep 30", code="timeout", isolation=isolation, background="keep", timeout=SHORT)


@on_both_hosts
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_what_is_to_be_kept_and_holds_the_pipes_does_not_hold_up_the_verdict(host: Host, isolation: str) -> None:
    """Faults 97, 101."""
    may_have(isolation)
    hooks = Hooks()
    register(hooks, f"sleep 30 & {DENY}", isolation=isolation, background="keep")

    with within(BUSY):
        assert host.fire(hooks).denied

    for process in living():
        stop(process)
    assert eventually(lambda: not living())


# Hosts that end.

# It must not be found by the mark of its hook, and has it backwards.
MORTAL = """
import asyncio, os, signal, sys
from interpose import Hooks

signal.signal(signal.SIGINT, signal.default_int_handler)
hooks = Hooks()
hooks.register("PreToolUse", command={line!r}, timeout=30, isolation={isolation!r}, env={{"FAULT_MARK": {mark!r}[::-1]}})
fields = {{"tool_name": "Bash"}}
try:
    if {loop}:
        asyncio.run(hooks.fire("PreToolUse", **fields))
    else:
        hooks.fire_sync("PreToolUse", **fields)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@on_both_hosts
@pytest.mark.parametrize(
    ("number", "isolation"),
    [
        (signal.SIGKILL, "tree"),
        (signal.SIGKILL, "namespace"),
        (signal.SIGTERM, "tree"),
        (signal.SIGINT, "group"),
        (signal.SIGINT, "tree"),
        (signal.SIGINT, "namespace"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_hook_does_not_outlive_its_host(host: Host, number: int, isolation: str, tmp_path: Path) -> None:
    """Faults 102, 103: after Ctrl-C the host goes on, and the hook is gone by then."""
    may_have(isolation)
    escape = "" if isolation == "group" else "setsid sleep 30 & "
    line = f"trap '' INT; {escape}touch '{tmp_path}/runs'; sleep 30; sleep 30"

    with Program(MORTAL.format(line=line, isolation=isolation, mark=mark()[::-1], loop=host.loop)) as mortal:
        assert eventually((tmp_path / "runs").exists)
        assert living()
        mortal.send(number)
        if number == signal.SIGINT:
            assert mortal.line() == "interrupted"
            assert eventually(lambda: not living(), 0.1), f"lives when the host has already gone on: {living()}"
        mortal.end(2)

    assert eventually(lambda: not living()), "the hook has outlived its host"


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_firing_that_is_cancelled_ends_its_command_first(isolation: str) -> None:
    """Faults 103, 149: when the cancelled task is done, nothing of it lives."""
    may_have(isolation)
    hooks = Hooks()
    register(hooks, "trap '' TERM; sleep 30 & sleep 30; sleep 30", isolation=isolation, timeout=30)

    async def host() -> None:
        firing = asyncio.create_task(hooks.fire("PreToolUse", **CALL))
        await until(lambda: len(living()) >= 2)
        firing.cancel()
        with within(BUSY), pytest.raises(asyncio.CancelledError):
            await firing
        assert not living()

    run(host())


def test_a_loop_that_stops_in_the_middle_leaves_no_process() -> None:
    """Fault 146: nobody comes back to it; the garbage collector finds it."""
    hooks = Hooks()
    register(hooks, "sleep 30", timeout=30)
    loop = asyncio.new_event_loop()
    firing = loop.create_task(hooks.fire("PreToolUse", **CALL))
    while not living():
        loop.run_until_complete(asyncio.sleep(0.005))
    loop.run_until_complete(_cancelled(firing))
    loop.close()


async def _cancelled(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_command_outlives_the_thread_that_has_started_its_supervisor(isolation: str) -> None:
    """Fault 104: what the kernel ends with a parent, it ends with the thread that was the parent."""
    may_have(isolation)
    hooks = Hooks()
    register(hooks, "exit 2", isolation=isolation)
    register(hooks, f"sleep 0.3; {DENY}", isolation=isolation, matcher="Slow", name="slow")
    found: list[Any] = []

    def from_a_thread() -> None:
        found.append(hooks.fire_sync("PreToolUse", **CALL))

    async def host() -> Any:
        threads = [threading.Thread(target=from_a_thread) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return await asyncio.gather(*(hooks.fire("PreToolUse", tool_name="Slow") for _ in range(4)))

    found += asyncio.run(host())
    assert [outcome.decision for outcome in found] == ["deny"] * 16


# Numbers of processes.


@on_both_hosts
def test_a_group_is_signalled_only_while_its_leader_is_there(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 105: once it is reaped, its number may be another's."""
    plain = os.killpg
    reaped = []

    def careful(group: int, number: int) -> None:
        if not os.path.exists(f"/proc/{group}"):
            reaped.append(group)
        plain(group, number)

    monkeypatch.setattr(os, "killpg", careful)
    host.outcome(f"sleep 30 & {DENY}", isolation="group")
    host.outcome("true", isolation="group")
    host.outcome("yes", isolation="group")
    host.fails("sleep 30", code="timeout", timeout=SHORT, isolation="group")

    assert not reaped


@on_both_hosts
def test_a_number_that_a_hook_names_is_never_acted_on(host: Host) -> None:
    """Fault 106."""
    bystander = subprocess.Popen(["sleep", "30"])
    try:
        host.outcome(f"""echo {bystander.pid} >&2; printf '{{"pid":{bystander.pid}}}'; sleep 30 &""")
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize("isolation", ["group", "tree"])
def test_many_runs_leave_neither_zombies_nor_descriptors(isolation: str) -> None:
    """Fault 107."""
    hooks = Hooks()
    register(hooks, "sleep 0 & exit 2", isolation=isolation)
    hooks.fire_sync("PreToolUse", **CALL)
    before = len(os.listdir("/proc/self/fd"))

    async def many() -> None:
        for _ in range(50):
            assert (await hooks.fire("PreToolUse", **CALL)).denied

    for _ in range(50):
        assert hooks.fire_sync("PreToolUse", **CALL).denied
    asyncio.run(many())

    assert not zombies()
    assert len(os.listdir("/proc/self/fd")) <= before


STATUS = """
import asyncio, os, signal, threading
from interpose import Hooks

hooks = Hooks()
hooks.register("PreToolUse", command="exit 2", timeout=5, isolation={isolation!r}, on_error="abort", name="guard")
{before}

def show(outcome):
    result = outcome.results[0]
    print(outcome.decision, result.status, result.error and result.error.code, flush=True)

for _ in range(3):
    show(hooks.fire_sync("PreToolUse", tool_name="Bash"))
    show(asyncio.run(hooks.fire("PreToolUse", tool_name="Bash")))
os._exit(0)
"""


@pytest.mark.parametrize("isolation", ["group", "tree", None])
@pytest.mark.parametrize("who", ["the kernel", "another thread"])
def test_a_status_that_somebody_else_has_taken_is_no_allow(isolation: str | None, who: str) -> None:
    """Fault 108: exit 2 must not become exit 0; a guard denies, with the status or without."""
    before = {
        "the kernel": "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "another thread": """
def reap():
    while True:
        try:
            os.wait()
        except ChildProcessError:
            pass

threading.Thread(target=reap, daemon=True).start()
""",
    }
    ended = program(STATUS.format(isolation=isolation, before=before[who]))

    said = set(ended.stdout.splitlines())
    assert len(ended.stdout.splitlines()) == 6, ended.stderr
    assert said <= {"deny ok None", "deny failed status_lost"}, ended.stderr


def test_a_host_is_never_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 109: a fork of a host with threads can hang, and costs what the host is large."""

    def forked(*_: object) -> None:
        raise AssertionError("the host was forked")

    for name in ("fork", "forkpty"):
        monkeypatch.setattr(os, name, forked)
    monkeypatch.setattr("_posixsubprocess.fork_exec", forked)
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()

    for isolation in ("group", None):
        for host in HOSTS:
            assert host.outcome("exit 2", isolation=isolation, cwd="/").denied

    release.set()
    thread.join()


# Clocks.


@on_both_hosts
def test_a_host_that_was_asleep_gets_an_answer_when_it_wakes(host: Host, tmp_path: Path) -> None:
    """Fault 110: its deadline has gone by meanwhile; the command may have ended or not."""
    text = f"""
import asyncio
from interpose import Hooks

hooks = Hooks()
hooks.register("PreToolUse", command="touch '{tmp_path}/runs'; sleep 0.2; exit 2", timeout=0.4, on_error="abort")
fields = {{"tool_name": "Bash"}}
outcome = asyncio.run(hooks.fire("PreToolUse", **fields)) if {host.loop} else hooks.fire_sync("PreToolUse", **fields)
print(outcome.decision, outcome.results[0].status)
"""
    with Program(text) as sleeper:
        assert eventually((tmp_path / "runs").exists)
        sleeper.send(signal.SIGSTOP)
        time.sleep(0.6)
        sleeper.send(signal.SIGCONT)
        with within(BUSY):
            assert sleeper.line() in ("deny ok", "deny timeout")


@on_both_hosts
def test_a_clock_on_the_wall_that_jumps_changes_nothing(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 111."""
    plain, jumps = time.time, iter(range(10**6))
    monkeypatch.setattr(time, "time", lambda: plain() + 86400 * (-1) ** next(jumps))

    host.fails("sleep 30", code="timeout", timeout=SHORT)
    assert host.outcome(DENY).denied


@on_both_hosts
def test_a_time_too_short_to_start_anything_is_a_deadline_too(host: Host) -> None:
    """Fault 112: a guard that a busy machine cannot start in time denies; and nothing is left of the attempt."""
    for _ in range(3):
        outcome = host.outcome("sleep 30", timeout=0.001, on_error="abort")
        assert outcome.denied
        assert outcome.results[0].status == "timeout"


def test_a_command_that_fires_hooks_again_and_again_is_denied_at_last(tmp_path: Path) -> None:
    """Fault 113: to a depth of 8 (contract, §3), counted across processes."""
    inner = script(
        tmp_path,
        f"""\
        import sys
        sys.path.insert(0, {environment()["PYTHONPATH"]!r})
        from interpose import Hooks

        with open({str(tmp_path / "depth")!r}, "a") as file:
            file.write(".")
        hooks = Hooks()
        hooks.register("PreToolUse", [{sys.executable!r}, "-S", __file__], type="command", timeout=8, isolation="group")
        outcome = hooks.fire_sync("PreToolUse", tool_name="Bash")
        print('{{"decision": "deny", "reason": "%s"}}' % outcome.reason if outcome.denied else "")
        """,
        name="inner.py",
    )
    hooks = Hooks()
    register(hooks, handler=[sys.executable, "-S", inner], timeout=8)

    outcome = HOSTS[1].fire(hooks)

    assert outcome.denied
    assert (tmp_path / "depth").read_text() == "." * 8


# Levels of isolation.

UNKILLABLE = """
import asyncio, sys, time
from interpose import Hooks

hooks = Hooks()
hooks.register("PreToolUse", {command!r}, type="command", timeout=0.2, isolation="group", on_error="abort")
began = time.monotonic()
fields = {{"tool_name": "Bash"}}
outcome = asyncio.run(hooks.fire("PreToolUse", **fields)) if {loop} else hooks.fire_sync("PreToolUse", **fields)
print(outcome.decision, time.monotonic() - began < 2, outcome.results[0].evidence.get("unkillable"))
"""


@on_both_hosts
@needs("setpriv", root=True)
def test_a_command_that_cannot_be_killed_is_not_waited_for(host: Host, tmp_path: Path) -> None:
    """Fault 115: here one that has become another user's, as `sudo` makes them; a host without rights waits no longer."""
    sudo = tmp_path / "sudo"
    shutil.copy(shutil.which("setpriv") or "", sudo)
    sudo.chmod(0o4755)
    for folder in (tmp_path, *tmp_path.parents):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    command = [str(sudo), "--reuid", "0", "--regid", "0", "--clear-groups", "sleep", f"3.{os.getpid()}"]
    unprivileged = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]

    ended = subprocess.run(
        [*unprivileged, sys.executable, "-c", UNKILLABLE.format(command=command, loop=host.loop)],
        env=environment(**{MARK: mark()}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd="/",
    )

    for process in living(f"3.{os.getpid()}"):
        stop(process)
    assert ended.stdout.split() == ["deny", "True", "True"], ended.stderr


@on_both_hosts
@pytest.mark.parametrize("isolation", [*ISOLATIONS, None])
def test_every_result_says_which_isolation_held(host: Host, isolation: str | None) -> None:
    """Fault 116."""
    if isolation is not None:
        may_have(isolation)
    for line in ("true", "exit 1", "exit 2"):
        evidence = host.outcome(line, isolation=isolation).results[0].evidence
        assert evidence["isolation"] == (isolation or "tree")


@on_both_hosts
def test_without_namespaces_a_hook_that_asks_for_one_is_not_run_without(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 116: a guard denies, and so does an observer: what it asks for cannot be had (contract, §4)."""
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("needs unshare and root, to forbid namespaces")
    text = f"""
import asyncio
from interpose import Hooks

def show(outcome):
    print(outcome.decision, outcome.results[0].error and outcome.results[0].error.code)

for isolation in ("namespace", None):
    hooks = Hooks()
    hooks.register("PreToolUse", command="echo ran >> '{tmp_path}/ran'", timeout=5, isolation=isolation)
    fields = {{"tool_name": "Bash"}}
    show(asyncio.run(hooks.fire("PreToolUse", **fields)) if {host.loop} else hooks.fire_sync("PreToolUse", **fields))
"""
    # In a PID namespace of a limited number nobody can make one more.
    limit = 'echo 0 > /proc/sys/user/max_pid_namespaces && exec "$@"'
    ended = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", limit, "sh", sys.executable, "-c", text],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if "max_pid_namespaces" in ended.stderr:
        pytest.skip("needs a user namespace in which namespaces can be forbidden")

    assert ended.stdout.splitlines() == ["deny isolation_unavailable", "none None"], ended.stderr
    assert (tmp_path / "ran").read_text() == "ran\n"


def test_a_command_in_a_namespace_is_not_what_it_thinks_it_is() -> None:
    """Fault 117: it sees other numbers there; whoever relies on them says so."""
    may_have("namespace")

    assert HOSTS[1].outcome("echo $$ $PPID >&2; exit 2", isolation="namespace").reason == "2 1"
    assert HOSTS[1].outcome("[ $$ -gt 2 ] && exit 2", isolation="tree").denied


@needs(root=True)
def test_a_command_of_root_in_a_namespace_is_still_root(tmp_path: Path) -> None:
    """Fault 118: no user namespace is around it, in which it could not read what belongs to others."""
    may_have("namespace")
    theirs = tmp_path / "theirs"
    theirs.write_text("secret")
    theirs.chmod(0o600)
    os.chown(theirs, 54321, 54321)

    assert HOSTS[1].outcome(f"cat '{theirs}' >&2; exit 2", isolation="namespace").reason == "secret"


@on_both_hosts
@needs("timeout")
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_timeout_within_a_command_ends_what_it_is_for_and_no_more(host: Host, isolation: str) -> None:
    """Fault 119: it signals its own process group."""
    may_have(isolation)

    outcome = host.outcome("timeout 0.05 sleep 30; [ $? = 124 ] && exit 2", isolation=isolation)

    assert outcome.denied


# Supervisors.


@on_both_hosts
@pytest.mark.parametrize("isolation", OWNED)
@pytest.mark.parametrize("first", ["yes", "trap '' TERM; sleep 30; sleep 30"], ids=["says too much", "is late"])
def test_what_is_heard_of_one_run_is_never_taken_for_the_next(host: Host, isolation: str, first: str) -> None:
    """Faults 85, 108: its supervisor has still something to say of a command that was killed; the next one is a guard."""
    may_have(isolation)

    for _ in range(3):
        host.outcome(first, isolation=isolation, timeout=0.1)
        outcome = host.outcome("sleep 0.12; exit 2", isolation=isolation, on_error="abort")
        assert (outcome.decision, outcome.results[0].status) == ("deny", "ok")


@on_both_hosts
def test_a_command_that_kills_its_supervisor_is_no_allow(host: Host) -> None:
    """Fault 116: it may; then nobody knows how it ended, and what is left of it is ended all the same."""
    outcome = host.outcome("kill -KILL $PPID; sleep 30", isolation="tree", on_error="abort")

    assert outcome.denied
    assert outcome.results[0].error is not None
    assert outcome.results[0].error.code == "supervisor_lost"
    assert host.outcome("exit 2", isolation="tree").denied


@on_both_hosts
def test_a_command_whose_supervisor_is_killed_is_not_run_again(host: Host, tmp_path: Path) -> None:
    """Fault 116: what may have begun is not begun anew in a lesser isolation."""
    line = f"echo >> '{tmp_path}/runs'; read -r parent < /proc/$PPID/cmdline"
    line += "; case $parent in */handlers/_supervisor.py*) kill -KILL $PPID;; esac"

    outcome = host.outcome(line, on_error="abort")

    assert len((tmp_path / "runs").read_text()) == 1
    assert outcome.denied


@on_both_hosts
def test_a_supervisor_that_does_not_listen_starts_nothing_when_the_firing_is_over(host: Host, tmp_path: Path) -> None:
    """Fault 112: on a machine that is too busy it comes to the request when nobody waits for the answer any more."""
    from interpose.handlers.supervisors import pool

    host.outcome("true", isolation="tree")
    stopped = list(pool._idle)
    assert stopped
    for supervised in stopped:
        halt(supervised.pid)
    outcome = host.outcome(f"touch '{tmp_path}/it ran'", timeout=SHORT, on_error="abort")
    for supervised in stopped:
        with contextlib.suppress(ProcessLookupError):  # the host lets it go on, and it ends
            os.kill(supervised.pid, signal.SIGCONT)

    assert outcome.denied
    assert not eventually((tmp_path / "it ran").exists, 0.3)


@pytest.mark.parametrize("where", ["/nonexistent/python", "/dev/null", ""])
def test_a_host_whose_interpreter_is_gone_falls_back_to_a_group(where: str) -> None:
    """Fault 116: an environment that was replaced while the host runs; no supervisor can be started from it."""
    ended = program(f"""
        import asyncio, sys
        from interpose import Hooks

        sys.executable = {where!r}
        hooks = Hooks()
        hooks.register("PreToolUse", command="exit 2", timeout=5)
        for _ in range(2):
            for outcome in (hooks.fire_sync("PreToolUse"), asyncio.run(hooks.fire("PreToolUse"))):
                print(outcome.decision, outcome.results[0].evidence.get("isolation"))
    """)

    assert ended.stdout.splitlines() == ["deny group"] * 4, ended.stderr
