"""Hosts that fire one small event, with the store and without, and what a record costs at the least."""

import asyncio
import gc
import json
import resource
import threading
import time
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from benchmarks.measure import Stopwatch
from interpose import Hooks
from interpose.audit.reader import open_store
from interpose.audit.store import AuditStore

TOOL, TOOL_INPUT = "Bash", {"command": "ls -la src"}


class Host:
    """One async hook for the one tool; a store, if a path is given."""

    def __init__(self, runner: asyncio.Runner, path: Path | None = None) -> None:
        async def reads(event: Any) -> None:
            _ = event.tool_input

        self.runner = runner
        self.hooks = Hooks()
        self.hooks.register("PreToolUse", reads, name="reads", matcher=TOOL, timeout=5)
        self.store = AuditStore(path) if path is not None else None
        self.hooks.record(self.store)
        self.fired = 0

    async def fire(self, loops: int) -> float:
        hooks = self.hooks
        began = time.perf_counter()
        for _ in range(loops):
            await hooks.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT)
        return time.perf_counter() - began

    def burst(self, loops: int) -> float:
        """Time firings as an agent has them: what they leave to the writer is done before the next burst."""
        seconds = self.runner.run(self.fire(loops))
        self.fired += loops
        if self.store is not None:
            self.store.flush(60)
        return seconds

    def sustained(self, firings: int) -> Stopwatch:
        """Time so many firings together with everything that is done to record them."""

        def timed(loops: int) -> float:
            began = time.perf_counter()
            for _ in range(loops):
                self.burst(firings)
            return time.perf_counter() - began

        return timed

    def problem(self) -> str:
        """Say what is missing in the store."""
        assert self.store is not None
        self.burst(2000)
        health = self.store.health
        if (health.written, health.lost) != (self.fired, 0):
            return f"fired {self.fired}, but {health}"
        with open_store(self.store.path) as reader:
            found = sum(1 for _ in reader.firings())
        return "" if found == self.fired else f"fired {self.fired}, and {found} are in the store"

    def growth(self, firings: int) -> str:
        """Say whether this process becomes larger while it records."""
        for _ in range(2):  # what is needed once is there then
            self.burst(firings)
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(3):
            self.burst(firings)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        return "" if grown < 8 else f"{3 * firings} firings more made it {grown:.0f} MiB larger"


class Least(Host):
    """The same host; beside each firing the least that recording it can cost: one text, and one hand-over of it."""

    def __init__(self, runner: asyncio.Runner) -> None:
        super().__init__(runner)
        self._queue: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        while True:
            self._queue.get()

    async def fire(self, loops: int) -> float:
        hooks, put = self.hooks, self._queue.put
        outcome = await hooks.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT)
        record = outcome.to_dict()
        began = time.perf_counter()
        for _ in range(loops):
            await hooks.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT)
            put(json.dumps(record))
        return time.perf_counter() - began
