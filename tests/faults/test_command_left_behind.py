"""What commands leave behind: children, sessions and daemons end with them, or live on if the hook says so."""

import os
import shutil
import subprocess

import pytest
from tests.faults.commands import (
    DENY,
    ISOLATIONS,
    LONG,
    OWNED,
    SHORT,
    Host,
    living,
    mark,
    may_have,
    needs,
    on_both_hosts,
    register,
    stop,
)
from tests.faults.hosts import BUSY, eventually, within

from interpose import Hooks

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]


def test_every_process_of_a_hook_is_found_by_its_mark() -> None:
    """The tests of this folder rely on it: what is looked for after each of them can be seen while it is there."""
    sleeper = os.posix_spawnp("sleep", ["sleep", "30"], {**os.environ, "FAULT_MARK": mark()})
    assert eventually(lambda: len(living()) == 1)
    stop(living()[0])
    os.waitpid(sleeper, 0)


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
