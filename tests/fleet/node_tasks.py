"""Nodes that run one part of their work as a task of the test."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from interpose.config.fleet import FleetSettings
from interpose.fleet.node import Node
from interpose.handlers.nats_client import connect
from interpose.runtime.tasks import end_tasks


@asynccontextmanager
async def a_node(
    settings: FleetSettings, part: Callable[[Node], Awaitable[None]], folder: str = ""
) -> AsyncIterator[Node]:
    """A node with its own connection that does one part of its work while this is open."""
    client = await connect(settings.nats, name=settings.node, forever=True)
    node = Node(settings, client, folder)
    task = asyncio.ensure_future(part(node))
    try:
        yield node
    finally:
        await end_tasks([task])
        await client.close()
