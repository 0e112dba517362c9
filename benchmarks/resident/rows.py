"""The table: what is promised of the resident engine, who is measured for it, and the limit.

Runs in the environment that `benchmarks.resident` makes.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cli.scene import BIN
from benchmarks.command import parser, run, unmeasured
from benchmarks.measure import Check, Contestant, Idle, Limit, Row
from benchmarks.resident.served import EVENT, PROOF, THIN, Served
from interpose.server.build import NoCompiler, build_client

MINIMUM = 0.15
"""Seconds: more than one start, since one of them says little where the limit is close."""
PROJECTS, CLIENTS = 50, 8
MANY, FEW = 200_000, 5_000
GROWTH = 4 * 1024 * 1024
"""Bytes by which memory may grow over all events: less than 21 bytes for each."""


def clients(served: Served) -> Row:
    compiled = build_client()
    starts = {
        "python client": served.started([*THIN, *served.arguments], PROOF),
        "compiled client": served.started([compiled, *served.arguments], PROOF),
        "python -I -S -c pass": served.started([sys.executable, "-I", "-S", "-c", "pass"]),
        "sh -c 'exit 0'": served.started(["/bin/sh", "-c", "exit 0"]),
        "interpose fire": served.started([str(BIN / "interpose"), "fire", *served.arguments], PROOF),
    }
    return Row(
        "clients",
        "One event, 20 hooks, one matches, a Python function: by a client of the resident engine",
        [Contestant(name, timed, minimum=MINIMUM) for name, timed in starts.items()],
        [
            Limit("the client in Python", "python client", "python -I -S -c pass", 1.5),
            Limit("the compiled client", "compiled client", "sh -c 'exit 0'", 2.5),
            Limit("interpose fire, without it", "interpose fire", "sh -c 'exit 0'"),
            Limit("interpose fire, without it", "interpose fire", "compiled client"),
        ],
    )


def http(served: Served) -> Row:
    passed = json.dumps({**EVENT, "cwd": str(served.found), "tool_name": "Read"}).encode()
    return Row(
        "http",
        "One event over HTTP on a kept connection, the same, but found; and an empty answer of the same server",
        [
            Contestant("event", served.fired_over_http()),
            Contestant("no match", served.over_http("POST", "/v1/fire/PreToolUse", passed, b"{}")),
            Contestant("empty", served.over_http("GET", "/health", None, b"ok")),
        ],
        [
            Limit("an event over HTTP", "event", "empty", 3),
            Limit("an event that no hook matches", "no match", "empty"),
        ],
    )


def crowd(served: Served) -> Row:
    return Row(
        "crowd",
        f"{CLIENTS} clients at once over the socket; {_latencies(served)}",
        [
            Contestant("many", served.over_the_socket(CLIENTS), units=CLIENTS, minimum=MINIMUM),
            Contestant("one", served.over_the_socket(1), minimum=MINIMUM),
        ],
        [Limit(f"an event of {CLIENTS} clients", "many", "one", 1.25)],
    )


def lasting(served: Served, events: int) -> Row:
    sizes = _sizes(served, events)
    shown = ", ".join(f"{size / 1e6:.1f}" for size in sizes)
    checks = [
        Check(f"memory is the same after {events:,} events", partial(_grown, sizes)),
        Check(f"{PROJECTS} projects stay loaded", partial(_projects, served)),
    ]
    title = f"What stays in memory: {shown} MB of all processes at the start, in the middle and at the end"
    return Row("lasting", title, [], checks=checks)


def _latencies(served: Served) -> str:
    said = []
    for clients in (1, CLIENTS):
        cuts = statistics.quantiles(served.latencies(clients, 1000), n=100)
        said.append(f"of {clients} p50 {cuts[49] * 1e3:.2f} ms, p99 {cuts[98] * 1e3:.2f} ms")
    return "; ".join(said)


def _projects(served: Served) -> str:
    frames = []
    for number in range(PROJECTS):
        folder = served.scene.project / f"project-{number}"
        folder.mkdir()
        for name in (served.scene.python.name, "timed_hooks.py"):
            (folder / name).write_bytes((served.scene.project / name).read_bytes())
        frames.append(served.frame(["--reply", "native", "--config", served.scene.python.name], folder))
    time.sleep(0.2)  # a file that was just written is read again at every event
    for _ in range(2):
        for frame in frames:
            if PROOF not in served.ask(frame).output:
                return "an event was not answered"
    before = set(served.processes())
    for frame in frames:
        served.ask(frame)
    return "" if set(served.processes()) == before else "a project was loaded again"


def _sizes(served: Served, events: int) -> list[int]:
    """Bytes of all processes at the start, after half of the events, over the socket, and after all, over HTTP."""
    served.over_the_socket(1)(FEW)
    served.fired_over_http()(FEW)
    sizes = [sum(served.processes().values())]
    served.over_the_socket(1)(events // 2)
    sizes.append(sum(served.processes().values()))
    served.fired_over_http()(events // 2)
    sizes.append(sum(served.processes().values()))
    return sizes


def _grown(sizes: list[int]) -> str:
    grown = sizes[-1] - sizes[0]
    return "" if grown <= GROWTH else f"{grown / 1e6:.1f} MB more"


def main() -> int:
    options = parser("resident", "What an event costs with the resident engine.").parse_args()
    with TemporaryDirectory(prefix="ip-", dir="/tmp") as scratch:
        try:
            with Served(Path(scratch)) as served:
                events = FEW if options.quick else MANY
                made: dict[str, Callable[[Served], Row]] = {"clients": clients, "http": http, "crowd": crowd}
                rows = {key: partial(row, served) for key, row in made.items()}
                return run(options, {**rows, "lasting": partial(lasting, served, events)}, {})
        except (Idle, NoCompiler) as problem:
            return unmeasured(str(problem))


if __name__ == "__main__":
    sys.exit(main())
