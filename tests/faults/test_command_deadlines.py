"""Commands that do not end by themselves, and clocks that jump: each command has a deadline that is kept."""

import signal
import sys
import time
from pathlib import Path
from typing import Any, Self

import pytest
from tests.faults.commands import (
    DENY,
    HOSTS,
    ISOLATIONS,
    SHORT,
    Host,
    may_have,
    on_both_hosts,
    register,
    script,
)
from tests.faults.hosts import BUSY, CALL, PROMISE, Program, environment, eventually, within

from interpose import Hooks
from interpose.errors import BadHook

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]


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
