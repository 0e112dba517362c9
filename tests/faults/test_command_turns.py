"""More commands than may run at once: each waits for its turn, and fails if its turn does not come in time."""

import asyncio
import contextlib
import inspect
from typing import Any

import pytest
from tests.faults.commands import (
    LONG,
    SHORT,
    Host,
    on_both_hosts,
    register,
)
from tests.faults.hosts import BUSY, CALL, eventually, until, within

from interpose import Hooks, Outcome

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]


@on_both_hosts
def test_more_commands_than_may_run_at_once_wait_for_their_turn(host: Host) -> None:
    """Fault 243: one after another, none is left out."""
    firings = 40
    hooks = Hooks()
    register(hooks, "exit 2")

    if host.loop:

        async def all_at_once() -> list[Outcome]:
            return await asyncio.gather(*(hooks.fire("PreToolUse", **CALL) for _ in range(firings)))

        outcomes = asyncio.run(all_at_once())
    else:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(firings) as pool:
            outcomes = list(pool.map(lambda _: hooks.fire_sync("PreToolUse", **CALL), range(firings)))

    assert [outcome.decision for outcome in outcomes] == ["deny"] * firings


def test_a_command_whose_turn_does_not_come_in_time_fails() -> None:
    """Fault 243: a guard denies then, it is not skipped; and the next ones have their turn again."""
    hooks = Hooks()
    register(hooks, "sleep 60", name="hangs", timeout=60, matcher="Hang")
    register(hooks, "true", name="guard", timeout=SHORT, on_error="abort", matcher="Bash")
    register(hooks, "exit 2", name="next", timeout=30, matcher="Next")

    async def host() -> None:
        hanging = [asyncio.create_task(hooks.fire("PreToolUse", tool_name="Hang")) for _ in range(16)]
        await until(lambda: _running() == 16)
        outcome = await hooks.fire("PreToolUse", tool_name="Bash")
        assert outcome.denied
        assert outcome.results[0].status == "timeout"
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)
        assert (await hooks.fire("PreToolUse", tool_name="Next")).denied

    with within(SHORT + 4 * BUSY):
        asyncio.run(host())


def test_a_loop_that_is_closed_while_a_command_waits_for_its_turn_does_not_hold_up_others() -> None:
    """Faults 146, 243: the place in the queue is given up with it."""
    hooks = Hooks()
    register(hooks, "sleep 0.3", name="slow", matcher="Slow")
    register(hooks, "exit 2", name="guard", matcher="Bash")
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(16) as pool:
        slow = [pool.submit(hooks.fire_sync, "PreToolUse", tool_name="Slow") for _ in range(16)]
        assert eventually(lambda: _running() == 16)
        loop = asyncio.new_event_loop()
        firing = loop.create_task(hooks.fire("PreToolUse", tool_name="Bash"))
        loop.run_until_complete(asyncio.sleep(0.02))
        left = asyncio.all_tasks(loop)
        loop.close()
        assert all(one.result(LONG).allowed for one in slow)
    assert firing in left
    for task in left:
        _close(task)

    assert _running() == 0
    assert hooks.fire_sync("PreToolUse", tool_name="Bash").denied


def _close(task: asyncio.Task[Any]) -> None:
    """Close the coroutine of a task whose loop is closed; else it is closed, and fails, in a later test."""
    coroutine = task.get_coro()
    assert inspect.iscoroutine(coroutine)
    with contextlib.suppress(RuntimeError):  # the loop is closed
        coroutine.close()


def _running() -> int:
    from interpose.handlers._slots import slots

    return slots._running
