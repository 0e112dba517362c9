"""Hosts that end, are interrupted or cancelled while a command runs: the command does not outlive them."""

import asyncio
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.faults.commands import (
    DENY,
    ISOLATIONS,
    Host,
    living,
    mark,
    may_have,
    on_both_hosts,
    register,
)
from tests.faults.hosts import BUSY, CALL, Program, eventually, run, until, within
from tests.faults.interrupted_host import ANSWERING

from interpose import Hooks

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]

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


@pytest.mark.parametrize("kind", [*ISOLATIONS, "worker", *ANSWERING])
def test_an_interrupt_at_any_moment_leaves_nothing(kind: str) -> None:
    """Fault 103: also between the instruction that starts the process and the one that keeps its number.

    In a process of its own: the logging of Python itself keeps a lock that is interrupted at the wrong moment.
    """
    may_have(kind)
    program = "from tests.faults.interrupted_host import interrupt_at_every_moment\n"

    with Program(f"{program}interrupt_at_every_moment({kind!r}, {mark()!r})") as host:
        status, said, complained = host.end(600)

    assert status == 0, complained
    *left, moments = said.splitlines()
    assert not left
    assert int(moments.removeprefix("moments ")) > 50


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
