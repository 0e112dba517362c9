"""Connections of MCP servers: the session of each, and how the person at its client is asked."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST, ClientCapabilities, ElicitationCapability
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from .mcp_calls import McpCalls

__all__ = ["conversation", "elicitation"]


def conversation(connection: Any, calls: McpCalls) -> str:
    """Return the id of the session that a connection of a server has, which ends with it."""
    if connection.protocol_version in MODERN_PROTOCOL_VERSIONS:
        user = get_access_token()
        return calls.id if user is None else f"{calls.id} {user.client_id} {user.subject}"
    # Private, and also what FastMCP uses: nothing public is the same for all requests of one connection.
    held = connection._connection
    if calls.id not in held.state:
        held.state[calls.id] = uuid4().hex
        held.exit_stack.push_async_callback(calls.adapter.sessions.end, held.state[calls.id])
    return str(held.state[calls.id])


def elicitation(connection: Any, request_id: Any) -> Any:
    """Return the function that asks the person at the client of a server.

    It is None on connections on which a server cannot ask: there the client sends the call again with the answer.
    """
    if not connection.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability())):
        return _cannot_ask
    if connection.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None
    return lambda form: connection.elicit_form(form.params.message, form.params.requested_schema, request_id)


async def _cannot_ask(form: Any) -> Any:
    raise MCPError(INVALID_REQUEST, "the client has no elicitation")
