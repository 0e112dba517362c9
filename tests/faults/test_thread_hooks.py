"""Sync hooks run in a thread; the host waits a moment on the spot, and then through its loop."""

import asyncio
import threading
import time
from typing import Any

import pytest
from tests.faults.hosts import CALL

from interpose import Hooks, deny
from interpose.executors import asyncio as executor
from interpose.executors.asyncio import MOMENT, ThreadEnd


def test_a_thread_that_has_ended_is_not_waited_for() -> None:
    async def main() -> tuple[bool, bool]:
        end = ThreadEnd(asyncio.get_running_loop())
        end.tell()
        return end.within(0.0), end.waiter.done()

    assert asyncio.run(main()) == (True, False)


def test_a_thread_that_ends_within_the_moment_is_waited_for_on_the_spot() -> None:
    async def main() -> tuple[bool, bool]:
        end = ThreadEnd(asyncio.get_running_loop())
        threading.Thread(target=end.tell).start()
        return end.within(10.0), end.waiter.done()

    assert asyncio.run(main()) == (True, False)


def test_a_thread_that_ends_later_is_waited_for_through_the_loop() -> None:
    async def main() -> bool:
        end = ThreadEnd(asyncio.get_running_loop())
        assert not end.within(0.0)
        threading.Thread(target=end.tell).start()
        await asyncio.wait_for(end.waiter, 10)
        return end.waiter.done()

    assert asyncio.run(main())


def test_a_thread_that_ends_just_when_the_moment_within_is_not_waited_for() -> None:
    async def main() -> bool:
        end = ThreadEnd(asyncio.get_running_loop())
        end._claim.acquire()  # it has decided to tell the host on the spot, and has not done so yet
        return end.within(0.0)

    assert asyncio.run(main())


def test_a_thread_that_ends_after_its_loop_harms_nobody() -> None:
    async def main() -> ThreadEnd:
        end = ThreadEnd(asyncio.get_running_loop())
        assert not end.within(0.0)
        return end

    end = asyncio.run(main())

    end.tell()

    assert not end.waiter.done()


def test_a_hook_that_took_its_time_is_not_waited_for_on_the_spot_until_it_is_swift_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patience: list[float] = []

    class Watched(ThreadEnd):
        __slots__ = ()

        def within(self, seconds: float) -> bool:
            patience.append(seconds)
            return super().within(10.0 if seconds and not slow else seconds)  # a busy machine is not the hook's fault

    slow = True
    monkeypatch.setattr(executor, "ThreadEnd", Watched)
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
