"""A node process for tests: it records until its store has so many records, forwards them, and ends when all are taken.

    python recording_node.py NODE COUNT SECONDS SERVER…

Recording takes at least so many seconds, and goes on until a file ``enough`` is beside its home, so that kills find it at work. It is started
again after it was killed, and goes on where its store is.
"""

import asyncio
import os
import sys
import threading
import time
from pathlib import Path

from interpose import AuditStore, Hooks
from interpose.audit import open_store
from interpose.audit.forwarding import read_progress
from interpose.audit.protocol import NotAStore
from interpose.config.audit import default_path
from interpose.config.fleet import FleetSettings
from interpose.fleet.forward import forward_record
from interpose.fleet.node import run_node
from interpose.handlers.nats_client import NatsOptions


def last_record() -> int:
    try:
        with open_store(default_path()) as reader:
            return reader.last_id()
    except NotAStore:
        return 0


def record(count: int, seconds: float) -> None:
    """Record one outcome again and again; a pause now and then, as between calls of a tool."""
    hooks = Hooks()
    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "make test"}, session_id="s")
    store = AuditStore(default_path())
    number, enough = last_record(), Path.cwd().parent / "enough"
    while number < count or not enough.exists():
        waiting = store(outcome)
        if waiting is not None:
            waiting.block()
        number += 1
        if number % 100 == 0:
            time.sleep(seconds * 100 / count)
    store.close()


def is_done(count: int) -> bool:
    """Say whether all records are there and acknowledged."""
    last = last_record()
    return last >= count and sum(one.upto for one in (read_progress() or {}).values()) == last


async def main(node: str, count: int, seconds: float, servers: list[str]) -> None:
    settings = FleetSettings(nats=NatsOptions(servers=tuple(servers)), team="t", node=node)
    writing = threading.Thread(target=record, args=(count, seconds))
    running = asyncio.ensure_future(run_node(settings, parts={"record": forward_record}))
    writing.start()
    while writing.is_alive() or not await asyncio.to_thread(is_done, count):
        await asyncio.sleep(0.2)
        if running.done():
            running.result()
    running.cancel()
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]))
