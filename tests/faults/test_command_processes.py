"""Numbers and statuses of processes that may be another's: no wrong process is signalled, no lost status is an allow."""

import asyncio
import os
import subprocess
import threading

import pytest
from tests.faults.commands import (
    DENY,
    HOSTS,
    SHORT,
    Host,
    on_both_hosts,
    register,
    zombies,
)
from tests.faults.hosts import CALL, program

from interpose import Hooks

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]


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
