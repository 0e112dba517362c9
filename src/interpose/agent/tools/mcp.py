"""Tools of MCP servers, through the official ``mcp`` package, which is imported when the first server is connected.

Each server has its own task: one that does not start, hangs or dies does not affect the others.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from interpose import UsageError

from .mcp_processes import ServerProcess
from .mcp_results import error_text, text_of
from .mcp_servers import HttpServer, ServerConfig
from .tool import Tool, ToolFailed, Workplace

__all__ = ["connect"]

_MAX_PAGES = 100
_HTTP_SECONDS = 30.0
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")


@asynccontextmanager
async def connect(
    servers: Mapping[str, ServerConfig],
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
    links = [_ServerConnection(name, config, start_seconds, call_seconds) for name, config in servers.items()]
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
        import mcp  # noqa: F401 - takes about a second, so not in the event loop

    try:
        await asyncio.to_thread(load)
    except ImportError as error:
        raise UsageError(f"MCP servers need the package mcp: {error}", hint="pip install 'interpose[mcp]'") from None
    # Its log messages would appear in the middle of the screen; ``on_problem`` reports what matters.
    if not (logger := logging.getLogger("mcp")).handlers:
        logger.addHandler(logging.NullHandler())


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


class _ServerConnection:
    """The connection to one server: connect, list its tools, call them, end it."""

    def __init__(self, name: str, config: ServerConfig, start_seconds: float, call_seconds: float) -> None:
        import anyio

        self.name = name
        self.settled = asyncio.Event()
        """Set when it is known whether the server can be used."""
        self.problem = ""
        self.tools: list[Any] = []
        self._config = config
        self._start_seconds = start_seconds
        self._call_seconds = call_seconds
        self._client: Any = None
        self._status = ""
        self._scope = anyio.CancelScope()
        self._process = ServerProcess()

    async def run(self) -> None:
        """Run the connection until it is closed."""
        import anyio

        patience = asyncio.get_running_loop().call_later(self._start_seconds, self._give_up)
        try:
            # The package ends the server properly if a scope is cancelled, but not if a task is.
            with self._scope:
                async with AsyncExitStack() as stack:
                    self._client = await self._connected(stack)
                    self.tools = await self._listed()
                    patience.cancel()
                    self.settled.set()
                    await anyio.sleep_forever()
        except Exception as error:
            self.problem = self.problem or self._error_text(error)
        finally:
            patience.cancel()
            self._client = None
            self._process.close()
            self.settled.set()

    def _give_up(self) -> None:
        """Report that the server did not start in time, and kill it."""
        self.problem = f"no answer within {self._start_seconds:g} s{self._process.stderr_note()}"
        self.settled.set()
        self._process.end()
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._scope.cancel()

    async def _connected(self, stack: AsyncExitStack) -> Any:
        from mcp import Client

        transport: Any
        if isinstance(self._config, HttpServer):
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            timeout = httpx2.Timeout(_HTTP_SECONDS, read=self._call_seconds)
            hooks = {"response": [self._keep_status]}
            http = httpx2.AsyncClient(headers=dict(self._config.headers), timeout=timeout, event_hooks=hooks)
            transport = streamable_http_client(self._config.url, http_client=await stack.enter_async_context(http))
        else:
            transport = self._process.transport(self._config)
        return await stack.enter_async_context(Client(transport, cache=None))

    async def _keep_status(self, response: Any) -> None:
        """Keep the HTTP status for error messages; the package does not report it."""
        self._status = f" (HTTP status {response.status_code})" if response.is_error else ""

    async def _listed(self) -> list[Any]:
        tools: list[Any] = []
        cursor = None
        for _ in range(_MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        return tools

    async def call(self, name: str, given: dict[str, Any]) -> str:
        """Call a tool; return its result as text."""
        if self._client is None:
            raise ToolFailed(f"MCP server {self.name} has ended: {self.problem or 'it is closed'}")
        try:
            async with asyncio.timeout(self._call_seconds):
                result = await self._client.call_tool(name, given)
        except TimeoutError:
            raise ToolFailed(f"MCP server {self.name}: no answer within {self._call_seconds:g} s") from None
        except Exception as error:  # every error of the package or the server is a failure of this call
            raise ToolFailed(f"MCP server {self.name}: {self._error_text(error)}") from None
        said = text_of(result)
        if result.is_error:
            raise ToolFailed(said)
        return said

    def _error_text(self, error: Exception) -> str:
        return (self._process.failure or error_text(error)) + self._status + self._process.stderr_note()


def _unique(links: list[_ServerConnection], on_problem: Callable[[str], None]) -> Iterator[Tool]:
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


def _tool(link: _ServerConnection, listed: Any) -> Tool:
    async def run(given: dict[str, Any], _: Workplace) -> str:
        return await link.call(listed.name, given)

    # Model APIs allow only these characters in a name.
    name = f"mcp__{_NOT_ALLOWED.sub('_', link.name)}__{_NOT_ALLOWED.sub('_', listed.name)}"
    # A server's read_only_hint is not trusted: with the kind ``read`` the tool would run in plan mode.
    return Tool(name, listed.description or listed.name, dict(listed.input_schema), "run", run)
