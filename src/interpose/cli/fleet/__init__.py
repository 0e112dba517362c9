"""``interpose fleet``: many machines with the same rules, one record, and questions that are answered anywhere."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ...config.fleet import FleetSettings
from ...errors import UsageError
from ...runtime.tasks import end_tasks
from ...state.directories import user_directory

if TYPE_CHECKING:
    from nats.aio.client import Client

__all__ = ["Config", "app", "connected", "fleet_of", "until_stopped"]

_T = TypeVar("_T")

_CLEANING_UP = 5.0
"""Seconds that a command has to clean up after a signal before it is interrupted in that too."""

app = typer.Typer(no_args_is_help=True, add_help_option=True)


@app.callback()
def about() -> None:
    """A team keeps signed rules, one record and its questions in NATS. Each machine runs `interpose fleet node`, and
    decides by itself: with its last good rules when there is no connection. docs/fleet.md describes it.

    Example: interpose fleet dev
    """  # fmt: skip


Config = Annotated[
    list[str] | None,
    typer.Option("--config", "-c", metavar="FILE", help="The configuration with fleet:; your own by default."),
]


def fleet_of(config: list[str] | None) -> FleetSettings:
    """Return the fleet of the named files, or of the person's own configuration; raise UsageError if there is none."""
    from ...config.find import find_sources
    from ...config.load import Source, load_sources
    from ...events import TABLE

    if config:
        sources = [Source(path) for path in config]
    else:
        sources = [source for source in find_sources(".", fleet=False) if source.layer == "user"]
    loaded = load_sources(TABLE, sources)
    if loaded.fleet is None:
        hint = "write fleet: {servers: nats://host:4222, team: NAME} there; see docs/fleet.md"
        if waiting := [origin.source.path for origin in loaded.origins if not origin.trusted]:
            hint = f"what is there is not trusted: interpose trust {waiting[0]}"
        own = os.path.join(user_directory("XDG_CONFIG_HOME", ".config"), "interpose", "hooks.yaml")
        where = ", ".join(source.path for source in sources) or own
        raise UsageError("no fleet is configured", where=where, hint=hint)
    return loaded.fleet


def connected(settings: FleetSettings, name: str, work: Callable[[Client], Awaitable[_T]]) -> _T:
    """Return what some work over a connection returns; the connection is closed after it."""
    from ...handlers.nats_client import connect

    async def main() -> _T:
        client = await connect(settings.nats, name=f"interpose fleet {name}")
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(main())


def until_stopped(work: Coroutine[Any, Any, None]) -> int:
    """Run a coroutine until it ends, or until Ctrl-C or SIGTERM; return the exit status."""

    async def main() -> None:
        task = asyncio.ensure_future(work)
        loop, stopping = asyncio.get_running_loop(), []

        def stop() -> None:
            stopping.append(loop.create_task(end_tasks([task], pause=_CLEANING_UP)))

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        try:
            await task
        except asyncio.CancelledError:
            print("stopped", file=sys.stderr)

    asyncio.run(main())
    return 0


@app.command("node")
def run_this_node(config: Config = None) -> int:
    """Be a node of the fleet: take over rules, forward the record, carry questions. Runs until Ctrl-C. It is refused
    below an agent: a configuration that is named says whose rules this machine runs.

    Example: interpose fleet node
    """  # fmt: skip
    from ...fleet.node import run_node
    from ...person import require_no_agent

    require_no_agent("being a node of a fleet")
    return until_stopped(run_node(fleet_of(config)))


from . import rules, servers, status  # noqa: E402, F401 - they add their commands to the app
from .collect import collect_records  # noqa: E402 - it needs what is above

app.command("collect", short_help="Collect the record of all nodes into PostgreSQL.")(collect_records)
