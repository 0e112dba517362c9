"""The MCP servers that hooks use: one connection each, kept, and made again after it has failed.

The connections live on an event loop of their own, so that they outlive the loop of a host, and hosts without a loop
can use them. A server that does not answer by a deadline is given up: it is killed as soon as no other call uses it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any

from ..errors import UsageError
from ..replies import HookFailed
from ..runtime.forks import after_fork
from ._loop_thread import LoopThread
from .mcp_client import McpConnection, McpFailed, load_mcp_package
from .mcp_servers import McpServer, filled_in

__all__ = ["McpPool"]

_FOR_EVER = 10 * 365 * 24 * 3600.0
"""Seconds: the deadline of a hook ends what the package would wait for."""
_LONGEST_CLOSE = 12.0


class _KeptServer:
    """A connection, its task, and how many calls use it or wait for it."""

    def __init__(self, name: str, server: McpServer) -> None:
        self.connection = McpConnection(name, server, _FOR_EVER, _FOR_EVER, lists_tools=False, uses_proxies=False)
        self.task = asyncio.create_task(self.connection.run(), name=f"mcp-{name}")
        self.calls = 0
        self.given_up = False

    @property
    def usable(self) -> bool:
        """Whether calls can use it, now or when it has started."""
        return not self.given_up and (not self.connection.settled.is_set() or self.connection.is_open)


class McpPool:
    """Calls tools of servers. A server is found by its description: hooks with the same one share it."""

    def __init__(self) -> None:
        self._thread = LoopThread("interpose-mcp")
        self._servers: dict[str, _KeptServer] = {}
        self._all: set[_KeptServer] = set()  # also those that are given up, until they have ended
        after_fork(self.forget)

    def call(self, name: str, server: McpServer, tool: str, given: dict[str, Any]) -> Future[Any]:
        """Call a tool; the future has the package's result, or raises HookFailed. Cancelling it ends the call."""
        return self._thread.submit(self._call(name, server, tool, given))

    def close(self) -> None:
        """End every server, and wait for that; a later call starts them again."""
        if not self._thread.runs:
            return
        try:
            self._thread.submit(self._close()).result(_LONGEST_CLOSE)
        finally:
            self._thread.stop()

    def forget(self) -> None:
        """Start anew after a fork: the servers are the parent's."""
        self._thread.forget()
        self._servers, self._all = {}, set()

    async def _call(self, name: str, server: McpServer, tool: str, given: dict[str, Any]) -> Any:
        kept = self._kept(name, server)
        kept.calls += 1
        try:
            await kept.connection.settled.wait()
            if not kept.connection.is_open:
                why = kept.connection.problem or "it has ended"
                raise HookFailed("mcp_connection", f"MCP server {name} cannot be used: {why}")
            return await self._result(kept.connection.call(tool, given))
        except McpFailed as error:
            if error.is_closed:  # the end of the process may not have been noticed yet
                self._give_up(kept)
            raise HookFailed("mcp_connection" if error.is_closed else "mcp_call", str(error)) from None
        except asyncio.CancelledError:  # the deadline, or the host was cancelled
            self._give_up(kept)
            raise
        finally:
            kept.calls -= 1
            if not kept.calls and not kept.usable:
                self._end(kept, at_once=kept.given_up)

    @staticmethod
    async def _result(call: Coroutine[Any, Any, Any]) -> Any:
        """Wait for a call in a task of its own: the package takes its time to end one that is cancelled."""
        task = asyncio.create_task(call)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            task.add_done_callback(lambda task: task.cancelled() or task.exception())
            raise
        return task.result()

    def _kept(self, name: str, server: McpServer) -> _KeptServer:
        """Return the connection to a server, which may still be on its way."""
        key = repr((name, server))
        kept = self._servers.get(key)
        if kept is not None and kept.usable:
            return kept
        if kept is not None and not kept.calls:
            self._end(kept, at_once=True)
        try:
            load_mcp_package()
            filled = filled_in(server, f"MCP server {name}")
        except ImportError as error:
            raise HookFailed(
                "mcp_package", f"MCP servers need the package mcp (pip install 'interpose[mcp]'): {error}"
            ) from None
        except UsageError as error:
            raise HookFailed("mcp_server", str(error)) from None
        self._servers[key] = made = _KeptServer(name, filled)
        self._all.add(made)
        made.task.add_done_callback(lambda _: self._all.discard(made))
        return made

    def _give_up(self, kept: _KeptServer) -> None:
        """Use a server for no further call."""
        kept.given_up = True
        self._servers = {key: one for key, one in self._servers.items() if one is not kept}

    def _end(self, kept: _KeptServer, *, at_once: bool) -> None:
        self._give_up(kept)
        (kept.connection.kill if at_once else kept.connection.close)()

    async def _close(self) -> None:
        """End every server; then every call that is left."""
        ending = [kept.task for kept in self._all]
        for kept in tuple(self._all):
            self._end(kept, at_once=bool(kept.calls))
        if ending:
            await asyncio.wait(ending, timeout=_LONGEST_CLOSE - 4)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=2)
