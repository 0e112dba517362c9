"""A connection to an MCP server, through the official ``mcp`` package, which is imported for the first one.

A connection has its own task: a server that does not start, hangs or dies affects nothing else.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from typing import Any

from ._mcp_process import ServerProcess
from .mcp_servers import HttpServer, McpServer

__all__ = ["McpConnection", "McpFailed", "load_mcp_package"]

_MAX_PAGES = 100
_HTTP_SECONDS = 30.0


class McpFailed(Exception):
    """A call that an MCP server did not answer; the text says why."""

    def __init__(self, text: str, *, is_closed: bool = False) -> None:
        super().__init__(text)
        self.is_closed = is_closed
        """Whether the connection has ended."""


def load_mcp_package() -> None:
    """Import the ``mcp`` package, which takes about a second; raise ImportError if it is not installed."""
    import mcp  # noqa: F401 - the connections use it

    # Its log messages would appear in the middle of the screen; errors are reported by those who connect.
    for name in ("mcp", "client"):  # its modules use both
        if not (logger := logging.getLogger(name)).handlers:
            logger.addHandler(logging.NullHandler())


class McpConnection:
    """The connection to one server: connect, list its tools, call them, end it. ``run()`` is its task."""

    def __init__(
        self,
        name: str,
        config: McpServer,
        start_seconds: float = 30.0,
        call_seconds: float = 300.0,
        *,
        lists_tools: bool = True,
        uses_proxies: bool = True,
    ) -> None:
        import anyio

        self.name = name
        self.settled = asyncio.Event()
        """Set when it is known whether the server can be used."""
        self.problem = ""
        self.tools: list[Any] = []
        self._config = config
        self._lists_tools = lists_tools
        self._uses_proxies = uses_proxies
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
                    self.tools = await self._listed() if self._lists_tools else []
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
        self.kill()

    @property
    def is_open(self) -> bool:
        """Whether calls can be made: the server has started, and has not ended by itself."""
        return self._client is not None and self.settled.is_set() and not self._process.has_ended

    def close(self) -> None:
        """End the connection."""
        self._scope.cancel()

    def kill(self) -> None:
        """End the connection, and kill the server at once with everything that it has started."""
        self._process.end()
        self.close()

    async def _connected(self, stack: AsyncExitStack) -> Any:
        from mcp import Client

        transport: Any
        if isinstance(self._config, HttpServer):
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            timeout = httpx2.Timeout(_HTTP_SECONDS, read=self._call_seconds)
            hooks = {"response": [self._keep_status]}
            options: dict[str, Any] = {"headers": dict(self._config.headers), "timeout": timeout, "event_hooks": hooks}
            if not self._uses_proxies:  # nor .netrc; the context still reads SSL_CERT_FILE
                from ssl import create_default_context

                options |= {"trust_env": False, "verify": create_default_context()}
            http = httpx2.AsyncClient(**options)
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

    async def call(self, name: str, given: dict[str, Any]) -> Any:
        """Call a tool; return the package's result. Raise McpFailed if there is none."""
        if self._client is None:
            raise McpFailed(f"MCP server {self.name} has ended: {self.problem or 'it is closed'}", is_closed=True)
        try:
            async with asyncio.timeout(self._call_seconds):
                return await self._client.call_tool(name, given)
        except TimeoutError:
            raise McpFailed(f"MCP server {self.name}: no answer within {self._call_seconds:g} s") from None
        except Exception as error:  # every error of the package or the server is a failure of this call
            closed = self._process.has_ended or _is_closed(error)
            raise McpFailed(f"MCP server {self.name}: {self._error_text(error)}", is_closed=closed) from None

    def _error_text(self, error: Exception) -> str:
        return (self._process.failure or _error_text(error)) + self._status + self._process.stderr_note()


def _is_closed(error: Exception) -> bool:
    """Say whether an error means that the connection has ended."""
    from mcp_types import CONNECTION_CLOSED

    return getattr(error, "code", None) == CONNECTION_CLOSED or type(error).__name__ in _CLOSED


_CLOSED = ("ClosedResourceError", "BrokenResourceError")


def _error_text(error: BaseException) -> str:
    """Return the text of an error on one line; of an exception group, the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if type(error).__name__ in _CLOSED:
        return "the connection is closed"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) <= 500 else f"{said[:500]} …"
