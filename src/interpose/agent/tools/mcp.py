"""Tools of MCP servers, through the official ``mcp`` package, which is imported when the first server is connected.

Each server lives in a task of its own: one that does not start, hangs or dies takes nothing else with it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from interpose import UsageError

from .mcp_answers import explained, text_of
from .mcp_processes import Programs
from .mcp_servers import HttpServer, ServerConfig
from .nouns import Tool, ToolFailed, Workplace

__all__ = ["connect"]

_MOST_PAGES = 100
_HTTP_SECONDS = 30.0
_UNUSUAL = re.compile(r"[^A-Za-z0-9_-]")


@asynccontextmanager
async def connect(
    servers: Mapping[str, ServerConfig],
    *,
    on_problem: Callable[[str], None],
    start_seconds: float = 30.0,
    call_seconds: float = 300.0,
) -> AsyncIterator[tuple[Tool, ...]]:
    """Connect to servers and give their tools; afterwards every server is ended, also if the caller is cancelled.

    ``on_problem`` is told of each server that cannot be used, and why; the tools of the others are there.
    """
    if not servers:
        yield ()
        return
    await _import()
    links = [_Link(name, config, start_seconds, call_seconds) for name, config in servers.items()]
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
    def load() -> None:
        import mcp  # noqa: F401 - a second's work, which the loop need not wait for

    try:
        await asyncio.to_thread(load)
    except ImportError as error:
        raise UsageError(f"MCP servers need the package mcp: {error}", hint="pip install 'interpose[mcp]'") from None
    # What it logs of a server's mistakes would land in the middle of the screen; what matters of it we say ourselves.
    if not (logger := logging.getLogger("mcp")).handlers:
        logger.addHandler(logging.NullHandler())


async def _all_ended(tasks: list[asyncio.Task[None]]) -> None:
    """Wait until every server has ended, however often the caller is cancelled: each has only so much time."""
    cancelled = False
    while any(not task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


class _Link:
    """One server: connected, listed, called, ended."""

    def __init__(self, name: str, config: ServerConfig, start_seconds: float, call_seconds: float) -> None:
        import anyio

        self.name = name
        self.settled = asyncio.Event()
        """Whether it is known if the server can be used."""
        self.problem = ""
        self.tools: list[Any] = []
        self._config = config
        self._start_seconds = start_seconds
        self._call_seconds = call_seconds
        self._client: Any = None
        self._status = ""
        self._scope = anyio.CancelScope()
        self._programs = Programs()

    async def run(self) -> None:
        """Be the server's life, from start to end."""
        import anyio

        patience = asyncio.get_running_loop().call_later(self._start_seconds, self._give_up)
        try:
            # Only a scope can end it: the package sees to the server's end where a scope is cancelled, not a task.
            with self._scope:
                async with AsyncExitStack() as stack:
                    self._client = await self._connected(stack)
                    self.tools = await self._listed()
                    patience.cancel()
                    self.settled.set()
                    await anyio.sleep_forever()
        except Exception as error:
            self.problem = self.problem or self._explained(error)
        finally:
            patience.cancel()
            self._client = None
            self._programs.close()
            self.settled.set()

    def _give_up(self) -> None:
        """Let nobody wait any longer, also not for the server to end itself."""
        self.problem = f"no answer within {self._start_seconds:g} s{self._programs.last_words()}"
        self.settled.set()
        self._programs.end()
        self.close()

    def close(self) -> None:
        """Have it end."""
        self._scope.cancel()

    async def _connected(self, stack: AsyncExitStack) -> Any:
        from mcp import Client

        transport: Any
        if isinstance(self._config, HttpServer):
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            timeout = httpx2.Timeout(_HTTP_SECONDS, read=self._call_seconds)
            hooks = {"response": [self._look_at]}
            http = httpx2.AsyncClient(headers=dict(self._config.headers), timeout=timeout, event_hooks=hooks)
            transport = streamable_http_client(self._config.url, http_client=await stack.enter_async_context(http))
        else:
            transport = self._programs.transport(self._config)
        return await stack.enter_async_context(Client(transport, cache=None))

    async def _look_at(self, response: Any) -> None:
        """Keep the status that the package does not tell: 401 says more than that there was an error."""
        self._status = f" (HTTP status {response.status_code})" if response.is_error else ""

    async def _listed(self) -> list[Any]:
        tools: list[Any] = []
        cursor = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        return tools

    async def call(self, name: str, given: dict[str, Any]) -> str:
        """Call a tool; return what it says as text."""
        if self._client is None:
            raise ToolFailed(f"MCP server {self.name} has ended: {self.problem or 'it is closed'}")
        try:
            async with asyncio.timeout(self._call_seconds):
                result = await self._client.call_tool(name, given)
        except TimeoutError:
            raise ToolFailed(f"MCP server {self.name}: no answer within {self._call_seconds:g} s") from None
        except Exception as error:  # whatever the package or the server makes of it, it is this call's failure
            raise ToolFailed(f"MCP server {self.name}: {self._explained(error)}") from None
        said = text_of(result)
        if result.is_error:
            raise ToolFailed(said)
        return said

    def _explained(self, error: Exception) -> str:
        return explained(error) + self._status + self._programs.last_words()


def _unique(links: list[_Link], on_problem: Callable[[str], None]) -> Iterator[Tool]:
    """Yield every tool under a name of its own; complain of servers that cannot be used, and of names used twice."""
    taken: set[str] = set()
    for link in links:
        if link.problem:
            on_problem(f"MCP server {link.name}: {link.problem}")
            continue
        for listed in link.tools:
            tool = _tool(link, listed)
            if tool.name in taken:
                on_problem(f"MCP server {link.name}: its tool {listed.name} is left out: {tool.name} is there already")
                continue
            taken.add(tool.name)
            yield tool


def _tool(link: _Link, listed: Any) -> Tool:
    async def run(given: dict[str, Any], _: Workplace) -> str:
        return await link.call(listed.name, given)

    # Models take only these characters in a name.
    name = f"mcp__{_UNUSUAL.sub('_', link.name)}__{_UNUSUAL.sub('_', listed.name)}"
    # A server that calls its tool harmless (read_only_hint) has only said so: in plan mode it would run all the same.
    return Tool(name, listed.description or listed.name, dict(listed.input_schema), "run", run)
