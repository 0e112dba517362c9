"""MCP: ``MCPServer(..., middleware=[server("hooks.yaml")])``, or ``async with client("hooks.yaml")`` for all clients.

A connection is a session. Connections of the protocol 2026-07-28 last for one request: there a user who is
authenticated has a session, and all others of the process share one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial, wraps
from typing import Any
from weakref import WeakKeyDictionary

from mcp import ClientSession
from mcp.client import ClientRequestContext
from mcp_types import CallToolRequest, ReadResourceRequest
from pydantic import BaseModel

from interpose import Sessions, UsageError

from .base import Adapter, Agents, Ask, HooksOrPath
from .mcp_calls import GOVERNED, McpCalls
from .mcp_connections import conversation, elicitation
from .mcp_results import read_result

__all__ = ["client", "server"]

_REQUESTS: dict[str, Any] = {"tools/call": CallToolRequest, "resources/read": ReadResourceRequest}
_WIRE = {"input_responses": "inputResponses"}


@asynccontextmanager
async def client(
    hooks: HooksOrPath,
    *,
    server: str = "",
    agents: Agents = (),
    ask: Ask = "native",
) -> AsyncIterator[Sessions]:
    """Put hooks around the tool calls and resource reads of all MCP clients of this process, while the block runs.

    ``server`` is what hooks call the server: a tool is then ``mcp__SERVER__TOOL``. Without it a tool has its own name,
    and ``mcp_server`` of the events has the name that the server gives itself. With ``ask="native"`` the client's own
    ``elicitation_callback`` answers a question.
    """
    governed = _Client(McpCalls(Adapter(hooks, agents=agents, ask=ask, tested=("mcp", "2.3", "3")), server))
    _active.append(governed)
    _install()
    try:
        yield governed.calls.adapter.sessions
    finally:
        _active.remove(governed)
        await governed.calls.adapter.sessions.close()


def server(
    hooks: HooksOrPath,
    *,
    server: str = "",
    agents: Agents = (),
    ask: Ask = "native",
) -> _GovernedServer:
    """Return a middleware that puts hooks around the tool calls and resource reads of a server.

    ``server`` is what hooks call it: a tool is then ``mcp__SERVER__TOOL``. With ``ask="native"`` a question is an
    elicitation, which the client shows to the person.
    """
    return _GovernedServer(McpCalls(Adapter(hooks, agents=agents, ask=ask, tested=("mcp", "2.3", "3")), server))


class _Client:
    def __init__(self, calls: McpCalls) -> None:
        self.calls = calls
        self._schemas: WeakKeyDictionary[ClientSession, dict[str, Any]] = WeakKeyDictionary()

    async def send(self, connection: ClientSession, send_on: Any, request: Any) -> Any:
        schemas = self._schemas.setdefault(connection, {})
        if request.method not in GOVERNED:
            result = await send_on(request)
            schemas.update({tool.name: tool.input_schema for tool in getattr(result, "tools", ())})
            return result
        given = request.params
        given = given.model_dump(by_alias=True) if isinstance(given, BaseModel) else given
        params = GOVERNED[request.method].model_validate(given, by_name=False)
        session = await self.calls.adapter.session(self.calls.adapter.id_of(connection))

        async def run(changes: dict[str, Any]) -> Any:
            return await send_on(_REQUESTS[request.method](params=params.model_copy(update=changes)))

        async def elicit(question: Any) -> Any:
            context = ClientRequestContext(session=connection, request_id="interpose")
            return await connection.dispatch_input_request(context, question)

        info, schema = connection.server_info, schemas.get(getattr(params, "name", ""))
        return await self.calls.make(session, params, run, elicit, server=info.name if info else "", schema=schema)


_active: list[_Client] = []
_send_request: Any = ClientSession.send_request


def _install() -> None:
    """Let all clients send their requests through the hooks: MCP has no interceptor on the client's side."""
    for method in (ClientSession.call_tool, ClientSession.read_resource):
        if "send_request" not in method.__code__.co_names:
            raise UsageError(
                f"clients of this version of mcp cannot be governed: {method.__name__} does not call send_request",
                hint="install a version that interpose is tested with",
            )
    if ClientSession.send_request is not _governed_send:
        ClientSession.send_request = _governed_send  # type: ignore[method-assign]


@wraps(_send_request)
async def _governed_send(self: ClientSession, request: Any, *options: Any, **more: Any) -> Any:
    async def send(changed: Any) -> Any:
        return await _send_request(self, changed, *options, **more)

    send_on: Any = send
    for governed in reversed(_active):
        send_on = partial(governed.send, self, send_on)
    return await send_on(request)


class _GovernedServer:
    def __init__(self, calls: McpCalls) -> None:
        self._calls = calls
        self.sessions = calls.adapter.sessions

    async def __call__(self, ctx: Any, call_next: Any) -> Any:
        if ctx.method not in GOVERNED:
            return await call_next(ctx)
        params = GOVERNED[ctx.method].model_validate(ctx.params or {}, by_name=False)
        session = await self._calls.adapter.session(conversation(ctx.session, self._calls))
        wires: list[tuple[Any, Any]] = []

        async def run(changes: dict[str, Any]) -> Any:
            given = {**ctx.params, **{_WIRE.get(name, name): value for name, value in changes.items()}}
            wire = await call_next(replace(ctx, params={k: v for k, v in given.items() if v is not None}))
            wires.append((read_result(wire), wire))
            return wires[0][0]

        made = await self._calls.make(session, params, run, elicitation(ctx.session, ctx.request_id))
        return next((wire for read, wire in wires if read is made), made)
