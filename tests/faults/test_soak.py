"""Ten thousand firings through hooks of the worst kind."""

import asyncio
import gc
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.faults.conftest import MOST_IDLE_THREADS, hook_threads, open_descriptors
from tests.faults.hosts import eventually, kept_now, until, within

from interpose import Hooks, allow, deny, modify
from interpose.executors.base import MOST_KEPT
from interpose.run import Run

HANG = ["Hangs", "Swallows"]
MISBEHAVE = [
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
BREAKER = 10
"""A hook that has failed so often in a row is not waited for again."""


class Rubbish:
    """No answer at all."""

    __eq__ = __bool__ = __hash__ = lambda *_: 1 / 0  # type: ignore[assignment]


class Population:
    """Everything that misbehaves, as functions and as coroutines, each at a subject of its own, alone and in a group."""

    def __init__(self) -> None:
        self.hooks = Hooks(max_hooks_per_point=0)
        self.release = threading.Event()
        self.counts = Counter[str]()
        everyone: dict[str, Callable[[Any], Any]] = {
            "Hangs": self.hangs,
            "Swallows": self.swallows,
            "Raises": lambda event: 1 / 0,
            "Exits": self.exits,
            "Rubbish": lambda event: Rubbish(),
            "Coroutine": lambda event: self.answers(dict(event)),
            "Registers": self.registers,
            "Fires": self.fires,
            "Vandalises": self.vandalises,
            "Cancelled": self.cancels,
        }
        for name, handler in everyone.items():
            timeout = 0.02 if name in HANG else 5
            for options in ({"name": name}, {"name": f"{name} beside", "parallel": True}):
                self.hooks.register("PreToolUse", handler, matcher=name, timeout=timeout, **options)
            self.hooks.register("PreToolUse", lambda event: allow(), matcher=name, parallel=True)

    def hangs(self, event: Any) -> None:
        self.counts["hung"] += 1
        self.release.wait(600)

    async def swallows(self, event: Any) -> None:
        self.counts["deaf"] += 1
        while not self.release.is_set():
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    async def exits(self, event: Any) -> None:
        raise SystemExit(1)

    async def answers(self, event: Any) -> Any:
        return deny("fine")

    def registers(self, event: Any) -> None:
        self.counts["child"] += 1
        self.hooks.register(
            "PreToolUse", lambda event: None, name=f"child {self.counts['child'] % 20}", matcher="Child"
        )

    async def fires(self, event: Any) -> None:
        await self.hooks.fire("PreToolUse", tool_name="Child", tool_input={})

    def vandalises(self, event: Any) -> Any:
        event.clear()
        return modify(tool_input={"changed": [1, 2, 3]})

    async def cancels(self, event: Any) -> None:
        raise asyncio.CancelledError


def subjects(firings: int) -> Iterator[str]:
    """Few that hang, spread among the others: until the breaker has had enough of them, and some more."""
    for number in range(firings):
        hangs = number % 100 == 0 and number < 4000
        yield HANG[number // 100 % 2] if hangs else MISBEHAVE[number % len(MISBEHAVE)]


def on_one_loop(population: Population, firings: int) -> Counter[str]:
    decisions, waiting = Counter[str](), subjects(firings)

    async def worker() -> None:
        for subject in waiting:
            outcome = await population.hooks.fire("PreToolUse", tool_name=subject, tool_input={"a": [1]})
            decisions[outcome.decision] += 1

    async def host() -> None:
        await asyncio.gather(*(worker() for _ in range(20)))
        assert kept_now() <= MOST_KEPT
        population.release.set()
        await until(lambda: kept_now() == 0)

    asyncio.run(host())
    return decisions


def in_threads(population: Population, firings: int) -> Counter[str]:
    decisions, waiting, lock = Counter[str](), subjects(firings), threading.Lock()

    def worker() -> None:
        while True:
            with lock:
                subject = next(waiting, None)
            if subject is None:
                return
            outcome = population.hooks.fire_sync("PreToolUse", tool_name=subject, tool_input={"a": [1]})
            with lock:
                decisions[outcome.decision] += 1

    threads = [threading.Thread(target=worker) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept_now() <= MOST_KEPT
    return decisions


def firings_in_memory() -> int:
    """How many firings somebody still holds."""
    gc.collect()
    return sum(type(thing) is Run for thing in gc.get_objects())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "firings"),
    [
        pytest.param(on_one_loop, 2_000, id="one loop"),
        pytest.param(in_threads, 1_000, id="threads"),
        pytest.param(on_one_loop, 10_000, marks=pytest.mark.more, id="one loop, ten thousand"),
        pytest.param(in_threads, 10_000, marks=pytest.mark.more, id="threads, ten thousand"),
    ],
)
def test_thousands_of_firings_leave_nothing_behind(
    host: Callable[[Population, int], Counter[str]], firings: int
) -> None:
    """Faults 120 to 144 together: outcomes for all, and no thread, task or descriptor beyond the documented bound."""
    population, descriptors, before = Population(), open_descriptors(), firings_in_memory()

    try:
        with within(150):
            decisions = host(population, firings)
    finally:
        population.release.set()

    assert sum(decisions.values()) == firings
    assert set(decisions) == {"deny", "allow", "none"}
    # Rubbish and the coroutine's own answer deny, the hooks that hang do not, and nobody's deny is lost.
    assert decisions["deny"] >= sum(subject in ("Rubbish", "Coroutine") for subject in subjects(firings))
    # Alone and in a group, at most as often as the breaker lets it, or as many as were under way when it did not yet.
    assert 0 < population.counts["hung"] <= 2 * BREAKER + 20
    assert 0 < population.counts["deaf"] <= 2 * BREAKER + 20
    assert eventually(lambda: kept_now() == 0)
    assert eventually(lambda: hook_threads() <= MOST_IDLE_THREADS)
    assert eventually(lambda: open_descriptors() <= descriptors)
    assert firings_in_memory() <= before
