"""Ten thousand firings through hooks of the worst kind."""

import asyncio
import gc
import threading
from collections import Counter
from typing import Any

import pytest
from tests.faults.conftest import MOST_IDLE_THREADS, hook_threads, open_descriptors
from tests.faults.hosts import eventually, within

from interpose import Hooks, Outcome, allow, deny, modify
from interpose.lanes import MOST_KEPT, kept

FIRINGS = 10_000
LONGEST_TEST = 60.0


class Rubbish:
    """No answer at all."""

    __eq__ = __bool__ = __hash__ = lambda *_: 1 / 0  # type: ignore[assignment]


def population(hooks: Hooks, release: threading.Event, counts: Counter[str]) -> None:
    """Register everything that misbehaves, as functions and as coroutines, each at a subject of its own."""

    def hangs(event: Any) -> None:
        counts["hung"] += 1
        release.wait(60)

    async def swallows(event: Any) -> None:
        counts["deaf"] += 1
        while not release.is_set():
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    def raises(event: Any) -> None:
        raise RuntimeError("again")

    async def exits(event: Any) -> None:
        raise SystemExit(1)

    def gives_rubbish(event: Any) -> Any:
        return Rubbish()

    async def gives_a_coroutine(event: Any) -> Any:
        return deny("fine")

    def registers(event: Any) -> None:
        hooks.register("PreToolUse", lambda event: None, name=f"child {counts['child'] % 20}", matcher="Child")
        counts["child"] += 1

    async def fires(event: Any) -> None:
        await hooks.fire("PreToolUse", tool_name="Child", tool_input={})

    def vandalises(event: Any) -> Any:
        event.clear()
        return modify(tool_input={"changed": [1, 2, 3]})

    async def sets_itself_up_to_be_cancelled(event: Any) -> None:
        raise asyncio.CancelledError

    everyone = {
        "Hangs": hangs,
        "Swallows": swallows,
        "Raises": raises,
        "Exits": exits,
        "Rubbish": gives_rubbish,
        "Coroutine": lambda event: gives_a_coroutine(dict(event)),
        "Registers": registers,
        "Fires": fires,
        "Vandalises": vandalises,
        "Cancelled": sets_itself_up_to_be_cancelled,
    }
    for name, handler in everyone.items():
        timeout = 0.02 if name in ("Hangs", "Swallows") else 5
        hooks.register("PreToolUse", handler, name=name, matcher=name, timeout=timeout)
        hooks.register("PreToolUse", handler, name=f"{name} beside", matcher=name, timeout=timeout, parallel=True)
        hooks.register("PreToolUse", lambda event: allow(), name=f"{name} after", matcher=name, parallel=True)


SUBJECTS = [
    "Raises",
    "Exits",
    "Rubbish",
    "Coroutine",
    "Registers",
    "Fires",
    "Vandalises",
    "Cancelled",
    "Child",
    "Nobody",
]


@pytest.mark.parametrize("host", ["one loop", "threads without a loop"])
def test_ten_thousand_firings_leave_nothing_behind(host: str) -> None:
    """Faults 120 to 144 together: outcomes for all, and no thread, task or descriptor beyond the documented bound."""
    release, counts = threading.Event(), Counter[str]()
    hooks = Hooks(max_hooks_per_point=0)
    population(hooks, release, counts)
    descriptors = open_descriptors()
    subjects = [SUBJECTS[number % len(SUBJECTS)] for number in range(FIRINGS // 2)]
    # Few that hang, spread among the others: ten of each until the breaker has had enough of them.
    for number in range(20):
        subjects[number * 200] = "Hangs"
        subjects[number * 200 + 100] = "Swallows"
    decisions = Counter[str]()

    async def on_a_loop() -> None:
        waiting = iter(subjects)

        async def worker() -> None:
            for subject in waiting:
                count(await hooks.fire("PreToolUse", tool_name=subject, tool_input={"a": [1]}))

        await asyncio.gather(*(worker() for _ in range(20)))
        release.set()
        while kept.count:
            await asyncio.sleep(0.005)

    def count(outcome: Outcome) -> None:
        decisions[outcome.decision] += 1

    def in_threads() -> None:
        lock, waiting = threading.Lock(), iter(subjects)

        def worker() -> None:
            while True:
                with lock:
                    subject = next(waiting, None)
                if subject is None:
                    return
                outcome = hooks.fire_sync("PreToolUse", tool_name=subject, tool_input={"a": [1]})
                with lock:
                    count(outcome)

        threads = [threading.Thread(target=worker) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

    try:
        with within(30):
            if host == "one loop":
                asyncio.run(on_a_loop())
            else:
                in_threads()
        most = kept.count
    finally:
        release.set()

    assert sum(decisions.values()) == FIRINGS // 2
    assert set(decisions) <= {"deny", "allow", "none"}
    assert decisions["deny"] >= FIRINGS // 2 * 2 // len(SUBJECTS) - 60  # rubbish, and the coroutine's own deny
    assert 0 < counts["hung"] <= 40
    assert 0 < counts["deaf"] <= 40
    assert most <= MOST_KEPT
    assert eventually(lambda: kept.count == 0)
    gc.collect()
    assert eventually(lambda: hook_threads() <= MOST_IDLE_THREADS)
    assert eventually(lambda: open_descriptors() <= descriptors)
