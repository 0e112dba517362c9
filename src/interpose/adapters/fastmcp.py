"""FastMCP: ``FastMCP(..., middleware=[middleware("hooks.yaml")])``, or ``proxy("hooks.yaml", target)`` before a server.

A connection is a session. Connections of the protocol 2026-07-28 last for one request: there a user who is
authenticated has a session, and all others of the process share one.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from fastmcp import Client
from fastmcp.resources.base import InputRequiredResourceResult, ResourceContent, ResourceResult
from fastmcp.server import create_proxy
from fastmcp.server.dependencies import fastmcp_request_ctx
from fastmcp.server.middleware import Middleware
from fastmcp.server.providers.proxy import FastMCPProxy, ProxyClient
from fastmcp.tools.base import InputRequiredToolResult, ToolResult
from mcp_types import CallToolResult, InputRequiredResult, TextResourceContents
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from .base import Adapter, Agents, Ask, HooksOrPath
from .mcp_calls import McpCalls
from .mcp_connections import conversation, elicitation

__all__ = ["middleware", "proxy"]


def middleware(
    hooks: HooksOrPath,
    *,
    server: str = "",
    agents: Agents = (),
    ask: Ask = "native",
) -> Middleware:
    """Return a middleware that puts hooks around the tool calls and resource reads of a server.

    ``server`` is what hooks call it: a tool is then ``mcp__SERVER__TOOL``. With ``ask="native"`` a question is an
    elicitation, which the client shows to the person.
    """
    return _Governed(McpCalls(Adapter(hooks, agents=agents, ask=ask, tested=("fastmcp", "4.1.2", "5")), server))


def proxy(
    hooks: HooksOrPath,
    target: Any,
    *,
    server: str = "",
    agents: Agents = (),
    ask: Ask = "native",
    **settings: Any,
) -> Any:
    """Return a server that passes everything on to another server, with hooks in between.

    ``target`` is a URL, a transport, a client, a server or an ``mcpServers`` mapping; ``settings`` are those of
    ``create_proxy``, such as ``name``. Without ``mode`` the other server may be older than the client.
    """
    settings = {"name": "interpose", **settings}
    if "mode" in settings or isinstance(target, (Client, Mapping)):
        made: Any = create_proxy(target, **{"mode": "auto", **settings})
    else:
        made = FastMCPProxy(client_factory=partial(_connect, ProxyClient(target)), **settings)
        made.provider_error_strategy = "raise"  # a server that does not answer is not a server without tools
    made.add_middleware(middleware(hooks, server=server, agents=agents, ask=ask))
    return made


def _connect(base: Any) -> Any:
    """Return a client that speaks the protocol before 2026-07-28 if the client of the proxy does.

    Only there a server can ask the person by itself. Otherwise the server decides: FastMCP would insist on 2026-07-28.
    """
    client, front = base.new(), fastmcp_request_ctx.get()
    client.mode = "legacy" if front and front.protocol_version not in MODERN_PROTOCOL_VERSIONS else "auto"
    return client


class _Governed(Middleware):
    def __init__(self, calls: McpCalls) -> None:
        self._calls = calls
        self._schemas: dict[str, Any] = {}
        self.sessions = calls.adapter.sessions

    async def on_list_tools(self, context: Any, call_next: Any) -> Sequence[Any]:
        listed: Sequence[Any] = await call_next(context)
        self._schemas.update({tool.name: tool.parameters for tool in listed})
        return listed

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        return await self._make(context, call_next, _from_tool, _to_tool)

    async def on_read_resource(self, context: Any, call_next: Any) -> Any:
        return await self._make(context, call_next, _from_resource, _to_resource)

    async def _make(self, context: Any, call_next: Any, read: Any, write: Any) -> Any:
        ctx, message = context.fastmcp_context, context.message
        found: list[tuple[Any, Any]] = []

        async def run(changes: dict[str, Any]) -> Any:
            result = await call_next(context.copy(message=message.model_copy(update=changes)))
            found.append((read(result, message), result))
            return found[0][0]

        key, elicit, answers = self._calls.id, _no_client, {}
        if ctx.request_context is not None:  # else Python code calls the tool, without a client
            key, elicit = conversation(ctx.session, self._calls), elicitation(ctx.session, ctx.request_id)
            answers = {"input_responses": ctx.input_responses, "request_state": ctx.request_state}
        params = message.model_copy(update=answers)
        session, schema = await self._calls.adapter.session(key), self._schemas.get(getattr(message, "name", ""))
        made = await self._calls.make(session, params, run, elicit, schema=schema)
        return next((result for seen, result in found if seen is made), None) or write(made)


async def _no_client(form: Any) -> Any:
    raise RuntimeError("there is no client")


def _from_tool(result: Any, message: Any) -> Any:
    if isinstance(result, InputRequiredToolResult):
        return result.input_required
    fields = {"content": result.content, "structured_content": result.structured_content, "is_error": result.is_error}
    return CallToolResult(**fields, _meta=result.meta)


def _to_tool(made: Any) -> ToolResult:
    if isinstance(made, InputRequiredResult):
        return InputRequiredToolResult(made)
    return ToolResult(made.content, made.structured_content, meta=made.meta, is_error=made.is_error)


def _from_resource(result: Any, message: Any) -> Any:
    is_question = isinstance(result, InputRequiredResourceResult)
    return result.input_required if is_question else result.to_mcp_result(message.uri)


def _to_resource(made: Any) -> ResourceResult:
    if isinstance(made, InputRequiredResult):
        return InputRequiredResourceResult(made)
    return ResourceResult([_content(one) for one in made.contents], meta=made.meta)


def _content(one: Any) -> ResourceContent:
    data = one.text if isinstance(one, TextResourceContents) else base64.b64decode(one.blob)
    return ResourceContent(data, mime_type=one.mime_type, meta=one.meta)
