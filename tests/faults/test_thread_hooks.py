"""Sync hooks run in a thread; the host waits a moment on the spot, and then through its loop."""

import asyncio
import threading
import time
from typing import Any

import pytest
from tests.faults.hosts import CALL

from interpose import Hooks, deny
from interpose.executors import asyncio as executor
from interpose.executors.asyncio import MOMENT
from interpose.executors.threads import ThreadChain
from interpose.run import Run


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


def test_a_thread_that_ends_within_the_moment_is_waited_for_on_the_spot() -> None:
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

        def ends_within(self, seconds: float) -> bool:
            first = self.waiter is None
            if first:
                assert super().ends_within(10.0)
                self._running.release()
            return not first and super().ends_within(seconds)

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


def test_a_hook_that_took_its_time_is_not_waited_for_on_the_spot_until_it_is_swift_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patience: list[float] = []

    class Watched(ThreadChain):
        def ends_within(self, seconds: float) -> bool:
            if self.waiter is None:
                patience.append(seconds)
            return super().ends_within(10.0 if seconds and not slow else seconds)  # a busy machine is no hook's fault

    slow = True
    monkeypatch.setattr(executor, "ThreadChain", Watched)
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: time.sleep(0.05) if slow else None)

    async def main() -> None:
        nonlocal slow
        await hooks.fire("PreToolUse", **CALL)
        await hooks.fire("PreToolUse", **CALL)
        slow = False
        monkeypatch.setattr(executor, "MOMENT", 10.0)
        await hooks.fire("PreToolUse", **CALL)
        await hooks.fire("PreToolUse", **CALL)

    asyncio.run(main())

    assert patience == [MOMENT, 0.0, 0.0, 10.0]


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
