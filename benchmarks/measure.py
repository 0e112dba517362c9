"""The harness that all benchmarks share: contestants, interleaved rounds, ratios, verdicts.

A machine's speed changes while it is being measured, so absolute times mean little, and times taken minutes
apart nothing. The contestants of a row therefore take turns, round by round; a ratio is formed within each
round, where both sides had the same machine, and the median of those ratios is what is judged.
"""

import asyncio
import gc
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Stopwatch = Callable[[int], float]
"""Does its work that many times and returns the seconds that took."""

Body = Callable[[int], Coroutine[Any, Any, None]]
"""Does its work that many times, in an event loop. It holds the loop, so that only the work is timed."""

MINIMUM = 0.02
"""Seconds: a shorter timing says more about the clock and the scheduler than about the contestant."""


@dataclass(frozen=True)
class Contestant:
    """One thing to time. A call does `units` pieces of work; costs are always those of one piece."""

    name: str
    time: Stopwatch
    units: int = 1
    minimum: float = MINIMUM


class Idle(Exception):
    """A contestant does not do the work that it is to be timed for.

    Raised while it is timed, it takes that contestant out of its row: what was promised of it is then not met.
    """


@dataclass(frozen=True)
class Limit:
    """The subject may cost at most so many times the baseline; without a figure it is shown and not judged.

    With `minus`, that contestant's cost is taken off both sides first.
    """

    what: str
    subject: str
    baseline: str
    at_most: float | None = None
    minus: str | None = None


@dataclass(frozen=True)
class Check:
    """Something that holds or does not. `problem` returns what is wrong, or nothing."""

    what: str
    problem: Callable[[], str]


@dataclass(frozen=True)
class Row:
    """One line of the table of promises: who takes part, and what is promised of whom."""

    key: str
    title: str
    contestants: Sequence[Contestant]
    limits: Sequence[Limit] = ()
    checks: Sequence[Check] = ()
    most_rounds: int | None = None
    """For contestants of which one round takes long and says much."""


@dataclass(frozen=True)
class Verdict:
    """What became of one limit or check; `met` is None where nothing was promised."""

    what: str
    against: str
    met: bool | None
    at_most: float | None = None
    ratio: float | None = None
    quartiles: tuple[float, float] | None = None
    cost: float | None = None
    baseline: float | None = None
    note: str = ""

    @property
    def close(self) -> bool:
        """Whether the limit lies among the middle half of the rounds: another run may say otherwise."""
        if self.at_most is None or self.quartiles is None:
            return False
        return self.quartiles[0] < self.at_most < self.quartiles[1]


@dataclass(frozen=True)
class Finding:
    """A measured row: seconds per piece of work, for each contestant and round, and the verdicts."""

    row: Row
    costs: Mapping[str, Sequence[float]]
    verdicts: Sequence[Verdict]

    @property
    def met(self) -> bool:
        return all(verdict.met is not False for verdict in self.verdicts)


# --- Stopwatches --------------------------------------------------------------------------------------------


def in_event_loop(runner: asyncio.Runner, body: Body) -> Stopwatch:
    """Time a coroutine in the runner's event loop; entering and leaving the loop is not counted."""

    async def timed(loops: int) -> float:
        began = time.perf_counter()
        await body(loops)
        return time.perf_counter() - began

    return lambda loops: runner.run(timed(loops))


def in_process(command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Stopwatch:
    """Time whole runs of a command, from starting it to its end."""

    def timed(loops: int) -> float:
        began = time.perf_counter()
        for _ in range(loops):
            subprocess.run(command, cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began

    return timed


# --- Measuring ----------------------------------------------------------------------------------------------


def measure(row: Row, *, rounds: int) -> Finding:
    """Let the row's contestants take turns and judge the limits by what happened within each round."""
    problems = [(check, check.problem()) for check in row.checks]
    loops: dict[str, int] = {}
    out: dict[str, str] = {}
    for contestant in row.contestants:
        try:
            loops[contestant.name] = _calibrated(contestant)
        except Idle as problem:
            out[contestant.name] = str(problem)
    # What is there by now stays; otherwise every full collection would look through all imported modules, at
    # the expense of the contestant that is running.
    gc.collect()
    gc.freeze()
    try:
        costs = _take_turns(row.contestants, min(rounds, row.most_rounds or rounds), loops, out)
    finally:
        gc.unfreeze()
    verdicts = [_judge(limit, costs, out) for limit in row.limits]
    verdicts += [Verdict(check.what, "", met=not problem, note=problem) for check, problem in problems]
    return Finding(row, costs, verdicts)


def _take_turns(
    contestants: Sequence[Contestant], rounds: int, loops: dict[str, int], out: dict[str, str]
) -> dict[str, list[float]]:
    """What each contestant cost in each round. Who turns out to be idle is put out, with the reason."""
    costs: dict[str, list[float]] = {name: [] for name in loops}
    for turn in range(rounds if contestants else 0):  # a row may have nothing but checks
        first = turn % len(contestants)
        for contestant in (*contestants[first:], *contestants[:first]):
            if contestant.name in out:
                continue
            count = loops[contestant.name]
            try:
                seconds = contestant.time(count)
            except Idle as problem:
                out[contestant.name] = str(problem)
                del costs[contestant.name]
                continue
            costs[contestant.name].append(seconds / (count * contestant.units))
            if seconds < contestant.minimum:  # the machine has become faster since the calibration
                loops[contestant.name] = _enough(count, seconds, contestant.minimum)
    return costs


def _calibrated(contestant: Contestant) -> int:
    """How often the contestant has to run for a timing that is long enough. Warms it up on the way."""
    count = 1
    while (seconds := contestant.time(count)) < contestant.minimum:
        count = max(count + 1, min(_enough(count, seconds, contestant.minimum), count * 10))
    return _enough(count, seconds, contestant.minimum)


def _enough(count: int, seconds: float, minimum: float) -> int:
    """The count that would have taken a third longer than the minimum."""
    return max(1, round(count * minimum * 1.33 / max(seconds, 1e-9)))


def not_measured(why: str) -> str:
    """A note for a verdict, in one line and without what a terminal would obey: it may be what a process has said."""
    words = " ".join(why.split())
    return f"not measured: {''.join(letter if letter.isprintable() else '?' for letter in words)}"


def _judge(limit: Limit, costs: Mapping[str, Sequence[float]], out: Mapping[str, str]) -> Verdict:
    if missing := [out[name] for name in (limit.subject, limit.baseline, limit.minus or "") if name in out]:
        met = None if limit.at_most is None else False
        return Verdict(limit.what, limit.baseline, met, limit.at_most, note=not_measured(missing[0]))
    off = costs[limit.minus] if limit.minus else [0.0] * len(costs[limit.subject])
    subject = [cost - less for cost, less in zip(costs[limit.subject], off, strict=True)]
    baseline = [cost - less for cost, less in zip(costs[limit.baseline], off, strict=True)]
    ratios = [ours / theirs for ours, theirs in zip(subject, baseline, strict=True)]
    ratio = statistics.median(ratios)
    low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else (ratio, ratio, ratio)
    return Verdict(
        limit.what,
        limit.baseline,
        met=None if limit.at_most is None else ratio <= limit.at_most,
        at_most=limit.at_most,
        ratio=ratio,
        quartiles=(low, high),
        cost=statistics.median(subject),
        baseline=statistics.median(baseline),
    )


# --- Processes ------------------------------------------------------------------------------------------------


def clean_environment(**extra: str) -> dict[str, str]:
    """This process's environment without anything that changes how Python starts."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | extra
