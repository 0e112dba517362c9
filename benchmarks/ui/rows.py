"""The table: what is promised of the pages, who is measured for it, and the limit.

Runs in the environment that `benchmarks.ui` makes.
"""

import shutil
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.command import parser, run
from benchmarks.environment import HOME
from benchmarks.measure import Check, Contestant, Limit, Row
from benchmarks.ui.browser import chromium, clicks_in_browser
from benchmarks.ui.firing import Firing
from benchmarks.ui.served import VERSIONS, Served, bare
from benchmarks.ui.stores import write_store
from interpose import AuditStore, Hooks

RUNS, QUICK_RUNS = 1_000_000, 50_000
FIRST_BYTE, LARGEST = 0.3, 300_000
RATE, SECONDS, QUICK_SECONDS = 1_000, 60.0, 10.0
CLICK, GROWTH = 0.2, 16 * 1024 * 1024


def store_of(runs: int) -> Path:
    """A store with so many runs; it is kept, since writing it takes a minute."""
    path = HOME / f"ui-store-{runs}" / "audit.db"
    if not path.exists():
        scratch = path.parent.with_suffix(".new")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        print(f"writing a store of {runs:,} runs", file=sys.stderr, flush=True)
        write_store(scratch / "audit.db", runs)
        scratch.rename(path.parent)
    return path


def pages(served: Served, runs: int) -> Row:
    nothing, _ = bare()
    timed = {name: served.first_byte(place) for name, place in served.places.items()}
    return Row(
        "pages",
        f"The first byte of a page, with a store of {runs:,} runs",
        [Contestant("a bare page of Starlette", nothing), *(Contestant(name, one) for name, one in timed.items())],
        [Limit(name, name, "a bare page of Starlette") for name in timed],
        [
            Check(f"the first byte of every page comes within {FIRST_BYTE * 1000:.0f} ms", partial(_late, served)),
            Check(f"no page has more than {LARGEST // 1000} kB", partial(_large, served)),
        ],
        most_rounds=7,
    )


def _late(served: Served) -> str:
    """What is too late: the middle of five looks at each page."""
    found = {name: sorted(served.first_byte(place)(1) for _ in range(5))[2] for name, place in served.places.items()}
    for name, seconds in found.items():
        print(f"  {name}: {seconds * 1000:.0f} ms", file=sys.stderr)
    return ", ".join(f"{name}: {seconds * 1000:.0f} ms" for name, seconds in found.items() if seconds > FIRST_BYTE)


def _large(served: Served) -> str:
    sizes = {name: served.size(place) for name, place in served.places.items()}
    print(f"  the largest page has {max(sizes.values()) / 1000:.0f} kB", file=sys.stderr)
    return ", ".join(f"{name}: {size:,} bytes" for name, size in sizes.items() if size > LARGEST)


def live(folder: Path, seconds: float) -> Row:
    path = folder / "audit.db"
    with AuditStore(path) as store:
        hooks = Hooks()
        hooks.record(store)
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, session_id="s")
    served = Served(path)
    nothing, _ = bare()
    checks = [Check(f"{seconds:.0f} s of it: {_OF_100} over HTTP, memory flat", partial(_busy, served, path, seconds))]
    if chromium():
        checks.append(
            Check(f"{seconds:.0f} s of it: {_OF_100} in Chromium", partial(_busy_browser, served, path, seconds))
        )
    else:
        print("clicks in Chromium are NOT measured: there is none, or no playwright", file=sys.stderr)
    return Row(
        "live",
        f"An open page while {RATE:,} events a second are recorded",
        [
            Contestant("a bare page of Starlette", nothing),
            Contestant("an event", served.first_byte(f"/events/{served.event}")),
        ],
        [Limit("an event", "an event", "a bare page of Starlette")],
        checks,
        most_rounds=3,
    )


_OF_100 = f"95 of 100 clicks answered within {CLICK * 1000:.0f} ms"


def _busy(served: Served, path: Path, seconds: float) -> str:
    """What went wrong while events were recorded and a page was open: late clicks, lost events, memory."""
    told: list[dict[str, Any]] = []
    served.follow(told.append)
    click, clicks, memory = served.first_byte("/questions"), list[float](), list[int]()
    firing, began = Firing(path, RATE, seconds), served.cpu_seconds()
    while firing.runs:
        clicks.append(click(1))
        memory.append(served.memory())
        time.sleep(0.5)
    used = served.cpu_seconds() - began
    late, said = _late_clicks("HTTP", clicks)
    counted = sum(one.get("count", 0) for one in told)
    grown = memory[-1] - memory[len(memory) // 3]
    print(
        f"  {said}; {counted:,} events told; the pages used {used / seconds:.0%} of a processor; "
        f"memory {memory[-1] / 1e6:.0f} MB, {grown / 1e6:+.1f} MB in the last two thirds",
        file=sys.stderr,
    )
    problems = [late] if late else []
    problems += [f"memory grew by {grown:,} bytes"] if grown > GROWTH else []
    return ", ".join([*problems, *firing.problems(RATE)])


def _busy_browser(served: Served, path: Path, seconds: float) -> str:
    """What went wrong in a browser on the live page: late clicks and keys, lost events."""
    firing = Firing(path, RATE, seconds)
    problems = []
    for name, found in clicks_in_browser(served, lambda: firing.runs).items():
        late, said = _late_clicks(f"Chromium, {name}", found)
        print(f"  {said}", file=sys.stderr)
        problems += [late] if late else []
    return ", ".join([*problems, *firing.problems(RATE)])


def _late_clicks(name: str, clicks: list[float]) -> tuple[str, str]:
    """What is too late, and a line about all."""
    clicks.sort()
    middle, most = clicks[len(clicks) // 2], clicks[int(len(clicks) * 0.95)]
    said = (f"{name}: {len(clicks)} clicks, the middle {middle * 1000:.0f} ms, 95 of 100 within {most * 1000:.0f} ms, "
            f"the slowest {clicks[-1] * 1000:.0f} ms")  # fmt: skip
    return (f"{name}: of 100 clicks, 5 took more than {most * 1000:.0f} ms" if most > CLICK else ""), said


def main() -> int:
    options = parser("ui", "What a page costs, with a store of a million runs.").parse_args()
    runs = QUICK_RUNS if options.quick else RUNS
    with TemporaryDirectory() as folder:
        served = Served(store_of(runs))
        try:
            rows = {"pages": partial(pages, served, runs),
                    "live": partial(live, Path(folder), QUICK_SECONDS if options.quick else SECONDS)}  # fmt: skip
            return run(options, rows, VERSIONS)
        finally:
            served.close()


if __name__ == "__main__":
    sys.exit(main())
