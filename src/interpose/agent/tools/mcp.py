"""Tools of MCP servers, through the official ``mcp`` package, which is imported when the first server is connected.

Each server has its own task: one that does not start, hangs or dies does not affect the others.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from interpose import McpConnection, McpFailed, McpServer, UsageError, load_mcp_package

from .mcp_results import text_of
from .tool import Tool, ToolFailed, Workplace

__all__ = ["connect"]

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")


@asynccontextmanager
async def connect(
    servers: Mapping[str, McpServer],
    *,
    on_problem: Callable[[str], None],
    start_seconds: float = 30.0,
    call_seconds: float = 300.0,
) -> AsyncIterator[tuple[Tool, ...]]:
    """Connect to servers and yield their tools; every server is ended afterwards, also if the caller is cancelled.

    ``on_problem`` is called for each server that cannot be used; the tools of the others are yielded.
    """
    if not servers:
        yield ()
        return
    await _import()
    links = [McpConnection(name, config, start_seconds, call_seconds) for name, config in servers.items()]
    tasks = [asyncio.create_task(link.run(), name=f"mcp-{link.name}") for link in links]
    try:
        for link in links:
            await link.settled.wait()
        yield tuple(_unique(links, on_problem))
    finally:
        for link in links:
            link.close()
        await _all_ended(tasks)


async def _import() -> None:
    try:
        await asyncio.to_thread(load_mcp_package)  # not in the event loop
    except ImportError as error:
        raise UsageError(f"MCP servers need the package mcp: {error}", hint="pip install 'interpose[mcp]'") from None


async def _all_ended(tasks: list[asyncio.Task[None]]) -> None:
    """Wait until every server has ended, even if the caller is cancelled again; each has a time limit."""
    cancelled = False
    while any(not task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


def _unique(links: list[McpConnection], on_problem: Callable[[str], None]) -> Iterator[Tool]:
    """Yield every tool under a unique name; report servers that cannot be used, and duplicate names."""
    taken: set[str] = set()
    for link in links:
        if link.problem:
            on_problem(f"MCP server {link.name}: {link.problem}")
            continue
        for listed in link.tools:
            tool = _tool(link, listed)
            if tool.name in taken:
                on_problem(f"MCP server {link.name}: its tool {listed.name} is left out: there is another {tool.name}")
                continue
            taken.add(tool.name)
            yield tool


def _tool(link: McpConnection, listed: Any) -> Tool:
    async def run(given: dict[str, Any], _: Workplace) -> str:
        try:
            result = await link.call(listed.name, given)
        except McpFailed as error:
            raise ToolFailed(str(error)) from None
        said = text_of(result)
        if result.is_error:
            raise ToolFailed(said)
        return said

    # Model APIs allow only these characters in a name.
    name = f"mcp__{_NOT_ALLOWED.sub('_', link.name)}__{_NOT_ALLOWED.sub('_', listed.name)}"
    # A server's read_only_hint is not trusted: with the kind ``read`` the tool would run in plan mode.
    return Tool(name, listed.description or listed.name, dict(listed.input_schema), "run", run)
