"""What drivers of several frameworks give to their agents: a tool that never ends, and one that takes objects."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from tests.adapters.driver import Played, Shell

__all__ = ["VISIT", "Place", "cancel_in_tool", "make_visit"]

VISIT: dict[str, Any] = {"when": "2026-11-17T12:00:00Z", "place": {"city": "Oslo"}}
"""The input of ``visit`` as a model writes it."""


class Place(BaseModel):
    city: str


def make_visit() -> tuple[Any, list[str]]:
    """Return a tool ``visit`` that takes objects, and the list of what it got."""
    got: list[str] = []

    def visit(when: datetime, place: Place) -> str:
        """Visit a place."""
        got.append(f"{when.year} {dict(place)['city']}")  # some frameworks make a dictionary of the model again
        return "ok"

    return visit, got


async def cancel_in_tool(begun: Callable[[], None], run: Callable[[Any], Awaitable[object]]) -> Played:
    """Give a tool ``shell`` that calls ``begun`` and never ends to an agent, run it, and cancel it in the tool."""
    shell, waits = Shell(), asyncio.Event()

    async def slow(cmd: str) -> str:
        """Run a command."""
        shell(cmd)
        begun()
        waits.set()
        await asyncio.Event().wait()
        return ""

    running = asyncio.ensure_future(run(slow))
    waiting = asyncio.ensure_future(waits.wait())
    await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)  # an agent may end without the tool
    waiting.cancel()
    running.cancel()
    await asyncio.wait([running])
    return Played(shell.ran)
