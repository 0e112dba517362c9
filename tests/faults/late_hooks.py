"""Hooks that do not end, and how they are fired."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.faults.hosts import CALL, run

from interpose import Hooks, Outcome, allow

DEADLINE = 0.05

with_and_without_a_loop = pytest.mark.parametrize("loop", [True, False], ids=["with a loop", "without"])


@contextmanager
def stuck() -> Iterator[threading.Event]:
    """Something that blocking hooks wait for; released at the end, so that nothing is left."""
    release = threading.Event()
    try:
        yield release
    finally:
        release.set()


async def swallows_cancellation(event: Any) -> Any:
    """Waits for ever, whatever is thrown at it."""
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue


async def swallows_until(release: asyncio.Event) -> Any:
    """Waits for an event and answers then, whatever is thrown at it."""
    while not release.is_set():
        try:
            await release.wait()
        except asyncio.CancelledError:
            continue
    return allow("far too late")


def statuses(outcome: Outcome) -> list[str]:
    return [result.status for result in outcome.results]


def fire(hooks: Hooks, loop: bool) -> Outcome:
    return run(hooks.fire("PreToolUse", **CALL)) if loop else hooks.fire_sync("PreToolUse", **CALL)
