"""What a thousand firings at once do to their host, besides the time they take."""

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commands import ours
from interpose import Hooks

MOST_PROCESSES = 40
"""Commands, and whatever watches over them. Without a bound there would be a thousand."""
LONGEST_STALL = 0.05
_ATTEMPTS = 3
_TICK = 0.001


@dataclass(frozen=True)
class Seen:
    stall: float
    """Seconds: the longest time in which nothing else on the loop had its turn."""
    processes: int
    """The most that were there at a time."""
    left_open: int
    """Descriptors that were there afterwards and not before."""


def look(runner: asyncio.Runner, hooks: Hooks, proof: ours.Proof, firings: int) -> Seen:
    """Let the crowd run, more than once: another process on this machine can stall the loop too.

    So the best of a few attempts counts; what we do ourselves happens in each of them.
    """
    runner.run(_crowd(hooks, proof, firings))  # what is kept for the next one may stay open
    before = _descriptors()
    stall = float("inf")
    for _ in range(_ATTEMPTS):
        stall = min(stall, runner.run(_stalled(hooks, proof, firings)))
        if stall <= LONGEST_STALL:
            break
    processes = runner.run(_counted(hooks, proof, firings))
    return Seen(stall, processes, max(0, _descriptors() - before))


async def _crowd(hooks: Hooks, proof: ours.Proof, firings: int) -> None:
    for outcome in await ours.at_once(hooks, firings):
        ours.prove(outcome, proof)


async def _stalled(hooks: Hooks, proof: ours.Proof, firings: int) -> float:
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        last = time.perf_counter()
        while True:
            await asyncio.sleep(_TICK)
            now = time.perf_counter()
            longest = max(longest, now - last - _TICK)
            last = now

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    outcomes = await ours.at_once(hooks, firings)
    ticking.cancel()
    for outcome in outcomes:
        ours.prove(outcome, proof)
    return longest


async def _counted(hooks: Hooks, proof: ours.Proof, firings: int) -> int:
    most = 0

    async def count() -> None:
        nonlocal most
        while True:
            most = max(most, sum(1 for _ in _descendants(os.getpid())))
            await asyncio.sleep(_TICK)

    counting = asyncio.create_task(count())
    await _crowd(hooks, proof, firings)
    counting.cancel()
    return most


def _descendants(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text(encoding="ascii").split()
        except OSError:  # it has ended meanwhile
            continue
        for child in map(int, children):
            yield child
            yield from _descendants(child)


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))
