"""Sync hooks run in a thread; the host stays awake for a moment, and then waits asleep or through its loop."""

import asyncio
import sys
import threading
from typing import Any

import pytest
from tests.faults.hosts import CALL

from interpose import Hooks, deny
from interpose.executors import asyncio as executor
from interpose.executors import threads
from interpose.executors.threads import ThreadChain
from interpose.run import Run
from interpose.runtime.workers import acquire_soon


def chain_on_loop() -> ThreadChain:
    """Return a chain whose host waits on the running loop."""
    chain = ThreadChain(Run.__new__(Run))
    chain.loop = asyncio.get_running_loop()
    chain.waiter = chain.loop.create_future()
    return chain


def test_a_thread_that_has_ended_is_not_waited_for() -> None:
    chain = ThreadChain(Run.__new__(Run))
    chain.tell()

    assert chain.ends_within(0.0)


def test_a_thread_that_ends_in_time_is_waited_for_on_the_spot() -> None:
    chain = ThreadChain(Run.__new__(Run))
    threading.Thread(target=chain.tell).start()

    assert chain.ends_within(10.0)


def test_a_thread_that_ends_later_is_waited_for_through_the_loop() -> None:
    async def main() -> bool:
        chain = chain_on_loop()
        assert not chain.ends_within(0.0)
        threading.Thread(target=chain.tell).start()
        await asyncio.wait_for(chain.waiter, 10)
        return chain.ends_within(0.0)

    assert asyncio.run(main())


def test_a_thread_that_ends_before_its_host_waits_on_the_loop_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class EndsBetween(ThreadChain):
        """Its thread ends after the host has given up waiting on the spot, before it waits on the loop."""

        def start(self) -> bool:
            super().start()
            assert self.ends_within(10.0)
            self._running.release()
            return True

    monkeypatch.setattr(threads, "MOMENT", -1.0)
    monkeypatch.setattr(executor, "ThreadChain", EndsBetween)
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("no"))

    async def main() -> str:
        async with asyncio.timeout(10):
            return (await hooks.fire("PreToolUse", **CALL)).reason

    assert asyncio.run(main()) == "no"


def test_a_thread_that_ends_after_its_loop_harms_nobody() -> None:
    async def main() -> ThreadChain:
        return chain_on_loop()

    chain = asyncio.run(main())

    chain.tell()

    assert not chain.waiter.done()


@pytest.mark.parametrize("loop", [False, True], ids=["without a loop", "with a loop"])
def test_the_host_stays_awake_for_a_hook_unless_the_hook_took_its_time_before(
    monkeypatch: pytest.MonkeyPatch, loop: bool
) -> None:
    awake: list[bool] = []

    def record(lock: Any, seconds: float) -> bool:
        awake[-1] = True
        return acquire_soon(lock, seconds)

    monkeypatch.setattr(threads, "acquire_soon", record)
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None)

    def fire(moment: float) -> None:
        """Fire with a moment that the hook certainly stays below, or above: a busy machine is no hook's fault."""
        monkeypatch.setattr(threads, "MOMENT", moment)
        awake.append(False)
        asyncio.run(hooks.fire("PreToolUse", **CALL)) if loop else hooks.fire_sync("PreToolUse", **CALL)

    for moment in (10.0, 10.0, -1.0, 10.0, 10.0):
        fire(moment)

    # It was always quick, then took longer than a moment, then was quick again.
    assert awake == [True, True, True, False, True]


def test_a_lock_that_is_released_soon_is_acquired_awake() -> None:
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=lock.release).start()

    assert acquire_soon(lock, 10.0)
    assert lock.locked()


def test_a_lock_that_is_not_released_soon_is_given_up() -> None:
    lock = threading.Lock()
    lock.acquire()

    assert not acquire_soon(lock, 0.001)


def test_other_threads_run_while_one_waits_awake() -> None:
    """Else the thread that releases the lock would only run after the switch interval."""
    turn, ended, before = threading.Event(), threading.Event(), sys.getswitchinterval()

    def other_thread() -> None:
        turn.wait(10)
        ended.set()

    class Watched:
        def acquire(self, blocking: bool) -> bool:
            """Let the other thread go on, and say whether it has ended."""
            turn.set()
            return ended.is_set()

    lock: Any = Watched()
    thread = threading.Thread(target=other_thread)
    thread.start()
    sys.setswitchinterval(30.0)
    try:
        acquired = acquire_soon(lock, 10.0)
    finally:
        sys.setswitchinterval(before)
    thread.join()

    assert acquired


def test_the_loop_goes_on_while_hooks_take_their_time() -> None:
    hooks, turns = Hooks(), 0
    gate = threading.Event()
    hooks.register("PreToolUse", lambda event: deny("late") if gate.wait(10) else None)

    async def main() -> list[Any]:
        nonlocal turns
        firings = [asyncio.ensure_future(hooks.fire("PreToolUse", **CALL)) for _ in range(5)]
        for _ in range(100):
            await asyncio.sleep(0)
            turns += 1
        assert not any(firing.done() for firing in firings)
        gate.set()
        return await asyncio.gather(*firings)

    outcomes = asyncio.run(main())

    assert turns == 100
    assert [outcome.reason for outcome in outcomes] == ["late"] * 5
