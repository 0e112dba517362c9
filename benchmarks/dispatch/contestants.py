"""Adapters become contestants: each is proven to call its hooks with the input before it may be timed."""

import asyncio
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, Protocol

from benchmarks.dispatch import peers
from benchmarks.measure import Contestant, Idle, in_event_loop


class Adapter(Protocol):
    """What the adapters of `peers` and `ours` have in common."""

    @staticmethod
    def reads(*args: Any, **kwargs: Any) -> Any: ...

    @staticmethod
    def reports(report: peers.Report, /) -> peers.Hook: ...

    def __init__(self, hook: peers.Hook, count: int) -> None: ...

    async def run(self, loops: int, /) -> None: ...


Kinds = Mapping[str, type[Adapter]]

STRANDS: Kinds = {"Strands": peers.Strands}
ASYNC: Kinds = {
    **STRANDS,
    "Strands, its own event": peers.StrandsToolEvent,
    "pydantic-ai": peers.PydanticAI,
    "MassGen": peers.MassGen,
}
SYNC: Kinds = {"pydantic-ai": peers.PydanticAISync, "MassGen": peers.MassGenSync}


def contestant(runner: asyncio.Runner, name: str, kind: type[Adapter], count: int, units: int = 1) -> Contestant:
    """An engine with so many hooks; what is timed is one firing."""
    seen: list[Any] = []
    runner.run(kind(kind.reports(seen.append), count).run(1))
    if seen != [peers.TOOL_INPUT] * count:
        raise Idle(f"{name}: {count} hooks should have seen {peers.TOOL_INPUT}, but was seen: {seen}")
    return Contestant(numbered(name, count), in_event_loop(runner, kind(kind.reads, count).run), units)


def contestants(runner: asyncio.Runner, kinds: Kinds, counts: Sequence[int]) -> list[Contestant]:
    """Every kind with every number of hooks; those with the same number stand next to each other."""
    return [contestant(runner, name, kind, count) for count in counts for name, kind in kinds.items()]


def numbered(name: str, count: int) -> str:
    return f"{name} × {count}"


def versions() -> dict[str, str]:
    """Which releases of the peers these are."""
    packages = ("strands-agents", "pydantic-ai-slim", "massgen")
    return {package: metadata.version(package) for package in packages}
