"""Ending tasks for certain, and waiting for what may be cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from time import monotonic
from typing import Any

__all__ = ["end_tasks", "unless_cancelled"]


async def end_tasks(
    tasks: Iterable[asyncio.Future[Any]], *, pause: float = 0.5, patience: float = float("inf")
) -> None:
    """Cancel tasks, after each pause again, until all have ended or the patience is over.

    To cancel a task once is not enough: on Python 3.11 ``asyncio.wait_for`` loses a cancellation that arrives together
    with the result, and nats-py waits for every answer with it.
    """
    left, until = set(tasks), monotonic() + patience
    while left and (seconds := min(pause, until - monotonic())) > 0:
        for task in left:
            task.cancel()
        left = (await asyncio.wait(left, timeout=seconds))[1]


async def unless_cancelled(awaitable: Awaitable[None]) -> None:
    """Await something; raise RuntimeError if it is cancelled and the task that waits is not."""
    try:
        await awaitable
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise RuntimeError("what was waited for was cancelled") from None
