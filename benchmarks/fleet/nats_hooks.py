"""A hook of type nats against a bare request of nats-py, on loopback, alternating in one run.

    python -m benchmarks.fleet.nats_hooks [--rounds 15] [--requests 200]

The bare request is answered by a plain subscriber that decodes the event and answers an empty object. The hook fires
an event through the engine, and is answered by `interpose worker`, which runs a function through an engine too. Of each
round the median counts; shown are the median of the rounds, their range, and the ratio to the bare request of the same
round. The limit is 3 x for the hook on an event loop. Exit status 1: it is not met.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.environment import ROOT

sys.path.insert(0, str(ROOT))

LIMIT = 3.0
EVENT = {"tool_name": "Bash", "tool_input": {"command": "git status " + "x" * 700}}
WORKER = "async def check(event):\n    return None\n"
RESPONDER = """
import asyncio, json, sys
import nats

async def main():
    client = await nats.connect(sys.argv[1])
    async def answer(message):
        json.loads(message.data)
        await message.respond(b"{}")
    await client.subscribe("bench.bare", queue="q", cb=answer)
    await client.flush()
    print("ready", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def bare(client, requests: int) -> list[float]:
    """Seconds of each request of nats-py alone."""
    data, took = json.dumps({**EVENT, "hook_event_name": "PreToolUse"}).encode(), []
    for _ in range(requests):
        began = time.perf_counter()
        json.loads((await client.request("bench.bare", data, timeout=5)).data)
        took.append(time.perf_counter() - began)
    return took


async def hook(hooks, requests: int) -> list[float]:
    """Seconds of each firing with one hook of type nats."""
    took = []
    for _ in range(requests):
        began = time.perf_counter()
        outcome = await hooks.fire("PreToolUse", **EVENT)
        took.append(time.perf_counter() - began)
        assert outcome.results[0].error is None, outcome.results[0].error
    return took


def hook_sync(hooks, requests: int) -> list[float]:
    took = []
    for _ in range(requests):
        began = time.perf_counter()
        outcome = hooks.fire_sync("PreToolUse", **EVENT)
        took.append(time.perf_counter() - began)
        assert outcome.results[0].error is None, outcome.results[0].error
    return took


async def measured(url: str, rounds: int, requests: int) -> dict[str, list[float]]:
    """The median of each row in each round."""
    import nats

    from interpose import Hooks

    def asks(subject: str):
        hooks = Hooks.from_mapping({"fleet": {"servers": url, "team": "bench"}})
        hooks.register("PreToolUse", subject=subject, timeout=5, on_error="abort")
        return hooks

    client = await nats.connect(url)
    worker, plain = asks("bench_worker.check"), asks("bench.bare")
    found: dict[str, list[float]] = {"bare": [], "worker": [], "plain": [], "sync": []}
    for number in range(rounds + 1):
        row = {
            "bare": await bare(client, requests),
            "worker": await hook(worker, requests),
            "plain": await hook(plain, requests),
            "sync": await asyncio.to_thread(hook_sync, worker, requests),
        }
        if number:  # the first round connects and loads
            for name, took in row.items():
                found[name].append(statistics.median(took))
    await client.close()
    worker.close()
    plain.close()
    return found


def report(found: dict[str, list[float]]) -> float:
    names = {"bare": "bare request of nats-py", "worker": "hook of type nats, answered by interpose worker",
             "plain": "hook of type nats, answered by the plain subscriber",
             "sync": "the same as the second, without an event loop"}  # fmt: skip
    for name, text in names.items():
        times = sorted(found[name])
        ratios = sorted(one / floor for one, floor in zip(found[name], found["bare"], strict=True))
        print(f"{statistics.median(times) * 1000:7.3f} ms  ({times[0] * 1000:.3f} to {times[-1] * 1000:.3f})  "
              f"{statistics.median(ratios):5.2f} x  ({ratios[0]:.2f} to {ratios[-1]:.2f})  {text}")  # fmt: skip
    ratios = [one / floor for one, floor in zip(found["worker"], found["bare"], strict=True)]
    return statistics.median(ratios)


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--requests", type=int, default=200)
    chosen = options.parse_args(arguments)
    from tests.fleet.nats_servers import a_nats_server

    with tempfile.TemporaryDirectory() as name, a_nats_server(Path(name) / "nats") as server:
        folder = Path(name)
        (folder / "bench_worker.py").write_text(WORKER)
        (folder / "fleet.yaml").write_text(f"fleet: {{servers: '{server.url}', team: bench}}\n")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        commands = [
            [sys.executable, "-c", RESPONDER, server.url],
            [sys.executable, "-m", "interpose.cli", "worker", "bench_worker:check", "--config", "fleet.yaml"],
        ]
        started = [subprocess.Popen(one, cwd=folder, env=environment, stdout=subprocess.PIPE) for one in commands]
        try:
            for one in started:
                assert one.stdout is not None
                one.stdout.readline()
            ratio = report(asyncio.run(measured(server.url, chosen.rounds, chosen.requests)))
        finally:
            for one in started:
                one.kill()
                one.communicate()
    print(f"limit {LIMIT:g} x: {'met' if ratio <= LIMIT else 'missed'} ({ratio:.2f} x)")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
