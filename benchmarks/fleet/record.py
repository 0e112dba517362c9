"""Firing while a node process forwards the record, against firing with the local record alone; and how much is carried.

python -m benchmarks.fleet.record [--rounds 30] [--records 20000]

It starts a NATS server, a node process, a collector and, where it is installed, PostgreSQL, all on loopback. The two
stores take turns in one process; a ratio is formed within each round, and the median of the ratios is judged. The
exit status is 1 if firing costs more than 1.1 times as much, with the server there or stopped.
"""

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.fleet.nats_servers import a_nats_server
from tests.fleet.postgres_servers import a_postgres_server, program
from tests.fleet.records import TEAM, count_records, create_stream, in_process, settings_of

from benchmarks.audit.recording import Host

AT_MOST = 1.1
_BURST = 400
_PATIENCE = 600.0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fleet.record", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--records", type=int, default=20_000, help="how many records are carried")
    chosen = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="interpose-bench-")))
        runner = stack.enter_context(asyncio.Runner())
        server = stack.enter_context(a_nats_server(folder / "nats"))
        runner.run(create_stream(settings_of(server.url)))
        alone, forwarded = _host(runner, folder / "alone"), _host(runner, folder / "node")
        config = folder / "fleet.yaml"
        config.write_text(f"fleet: {{servers: '{server.url}', team: {TEAM}, node: one}}\n")
        node = in_process(folder / "node", "fleet", "node", "--config", str(config))
        stack.callback(node.wait)
        stack.callback(node.kill)
        progress = _progress(folder / "node")
        _until(lambda: progress() >= forwarded.fired)
        met = _compare("a node forwards", alone, forwarded, chosen.rounds)
        server.kill(signal.SIGSTOP)
        met &= _compare("the server is stopped", alone, forwarded, chosen.rounds)
        server.kill(signal.SIGCONT)
        _until(lambda: progress() >= forwarded.fired)
        _carry(stack, folder, config, forwarded, progress, chosen.records)
        for host in (alone, forwarded):
            assert host.store is not None
            host.store.close()
    return 0 if met else 1


def _host(runner: asyncio.Runner, folder: Path) -> Host:
    """Return a host whose store is noted in a state directory of its own: a node forwards what is noted in its own."""
    folder.mkdir()
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    host = Host(runner, folder / "audit.db")
    host.burst(_BURST)
    return host


def _progress(folder: Path) -> Callable[[], int]:
    import json

    path = folder / "state" / "interpose" / "fleet" / "forwarded.json"

    def upto() -> int:
        try:
            return sum(one["upto"] for one in json.loads(path.read_bytes())["stores"].values())
        except (OSError, ValueError):
            return 0

    return upto


def _until(condition: Callable[[], bool]) -> float:
    """Wait for something that another process does; return the seconds that it took."""
    began = time.perf_counter()
    while not condition():
        if time.perf_counter() - began > _PATIENCE:
            raise SystemExit("it takes too long: is a process missing?")
        time.sleep(0.01)
    return time.perf_counter() - began


def _compare(what: str, alone: Host, forwarded: Host, rounds: int) -> bool:
    costs: dict[str, list[float]] = {"alone": [], "forwarded": []}
    for number in range(rounds + 2):
        pair = [("alone", alone), ("forwarded", forwarded)]
        for name, host in pair if number % 2 else reversed(pair):
            seconds = host.burst(_BURST) / _BURST
            if number >= 2:
                costs[name].append(seconds)
    ratios = sorted(b / a for a, b in zip(costs["alone"], costs["forwarded"], strict=True))
    found = median(ratios)
    low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
    print(f"{what}: {median(costs['forwarded']) * 1e6:.1f} us a firing, {median(costs['alone']) * 1e6:.1f} us with the "
          f"local record alone: {found:.3f} x ({low:.3f} to {high:.3f} in the middle half; at most {AT_MOST})",
          flush=True)  # fmt: skip
    return found <= AT_MOST


def _carry(stack: ExitStack, folder: Path, config: Path, host: Host, progress: Callable[[], int], records: int) -> None:
    began = time.perf_counter()
    host.burst(records)
    written = time.perf_counter() - began
    _until(lambda: progress() >= host.fired)
    seconds = time.perf_counter() - began
    print(f"forwarded: {records / seconds:,.0f} records a second ({records:,} in {seconds:.1f} s, of which they were "
          f"being written for {written:.1f} s)", flush=True)  # fmt: skip
    if program("initdb") is None:
        print("collected: PostgreSQL is not installed")
        return
    database = stack.enter_context(a_postgres_server()).new_database()
    collector = in_process(folder, "fleet", "collect", "--to", database, "--config", str(config))
    stack.callback(collector.wait)
    stack.callback(collector.kill)
    _until(lambda: count_records(database) > 0)
    before = count_records(database)
    seconds = _until(lambda: count_records(database) >= host.fired)
    rest = host.fired - before
    print(f"collected: {rest / seconds:,.0f} records a second ({rest:,} in {seconds:.1f} s)")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
