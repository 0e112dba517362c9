"""Levels of isolation, and the supervisors that keep them: what is asked for holds, or the hook is not run."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from tests.faults.commands import (
    HOSTS,
    ISOLATIONS,
    MARK,
    OWNED,
    SHORT,
    Host,
    living,
    mark,
    may_have,
    needs,
    on_both_hosts,
    stop,
)
from tests.faults.hosts import environment, eventually, halt, program

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]


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
    seconds = f"3.{uuid4().int}"  # by which it is found: it clears its environment
    command = [str(sudo), "--reuid", "0", "--regid", "0", "--clear-groups", "sleep", seconds]
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

    for process in living(seconds):
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
    line += "; case $parent in */_supervisor.*) kill -KILL $PPID;; esac"

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
