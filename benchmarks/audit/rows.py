"""The table: what is promised of recording, who is measured for it, and the limit.

Runs in the environment that `benchmarks.audit` makes.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.audit import counting
from benchmarks.audit.recording import Host, Least
from benchmarks.command import parser, run
from benchmarks.environment import HOME
from benchmarks.measure import Check, Contestant, Limit, Row

ON_TOP = 15e-6
"""Seconds that a record may cost, on the class of machine that this was promised for."""
A_SECOND = 20_000
NOTHING = "python -c pass"


@dataclass(frozen=True)
class Bench:
    """What all rows use."""

    runner: asyncio.Runner
    scratch: Path


def record(bench: Bench) -> Row:
    without, least = Host(bench.runner), Least(bench.runner)
    recording = Host(bench.runner, bench.scratch / "record.db")
    return Row(
        "record",
        "One hook, the store on: what that adds to the firing",
        [
            Contestant("recorded", recording.burst),
            Contestant("not recorded", without.burst),
            Contestant("one json.dumps and one hand-over", least.burst),
            Contestant(f"{ON_TOP * 1e6:g} µs", lambda loops: without.burst(loops) + loops * ON_TOP),
        ],
        [
            Limit("a record", "recorded", "one json.dumps and one hand-over", 1, minus="not recorded"),
            Limit("a record", "recorded", f"{ON_TOP * 1e6:g} µs", 1, minus="not recorded"),
            Limit("the whole firing", "recorded", "not recorded"),
        ],
        [Check("nothing is lost", recording.problem)],
    )


def sustained(bench: Bench) -> Row:
    recording = Host(bench.runner, bench.scratch / "sustained.db")
    checked = Host(bench.runner, bench.scratch / "checked.db")
    return Row(
        "sustained",
        f"{A_SECOND:,} firings, one hook, until all of them are committed",
        [
            Contestant("recorded", recording.sustained(A_SECOND)),
            Contestant("a second", float, minimum=0.0),
        ],
        [Limit("all of them", "recorded", "a second", 1)],
        [
            Check("memory stays flat", lambda: checked.growth(A_SECOND)),
            Check("nothing is lost", checked.problem),
        ],
        most_rounds=7,
    )


def stats(bench: Bench) -> Row:
    path = counting.filled(bench.scratch / "stats.db")
    return Row(
        "stats",
        f"interpose stats over {counting.RUNS:,} runs of hooks, the whole process",
        [
            Contestant("stats", counting.stats(path, bench.scratch)),
            Contestant(NOTHING, counting.nothing(bench.scratch), minimum=0.15),
        ],
        [Limit("interpose stats", "stats", NOTHING, 100)],
        most_rounds=7,
    )


ROWS: dict[str, Callable[[Bench], Row]] = {"record": record, "sustained": sustained, "stats": stats}


def main() -> int:
    options = parser("audit", "What recording costs.").parse_args()
    HOME.mkdir(exist_ok=True)
    with asyncio.Runner() as runner, TemporaryDirectory(dir=HOME) as scratch:
        bench = Bench(runner, Path(scratch))
        return run(options, {key: partial(row, bench) for key, row in ROWS.items()}, {})


if __name__ == "__main__":
    sys.exit(main())
