"""Tool calls and resource reads of MCP with hooks around them, for clients, servers and proxies."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any
from uuid import uuid4

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_REQUEST,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from interpose import BegunTool, Session

from .base import Adapter, Refused, Unfinished, current_session
from .mcp_results import add_texts, change_result, error_of, error_result, make_form, read_form, show_result

__all__ = ["GOVERNED", "McpCalls"]

GOVERNED: dict[str, Any] = {"tools/call": CallToolRequestParams, "resources/read": ReadResourceRequestParams}
"""The methods that are governed, and the type of their parameters."""

_OWN = "interpose-"
_MOST_UNFINISHED = 1000


class McpCalls:
    """The calls of all connections that one adapter governs; ``server`` is what hooks call the server."""

    def __init__(self, adapter: Adapter, server: str = "") -> None:
        self.adapter = adapter
        self.server = server
        self.id = uuid4().hex
        """The id of the session that connections without one of their own share."""
        self._unfinished: OrderedDict[tuple[str, str, str], BegunTool] = OrderedDict()

    async def make(self, session: Session, params: Any, run: Any, elicit: Any, **options: Any) -> Any:
        """Make a call with hooks around it, and return what the client gets.

        ``run`` gets what has changed in the parameters, and returns the result. ``elicit`` asks the person while the
        call waits; if it is None, the call ends with the question, and the client sends it again with the answer.
        Options are the ``server`` as it calls itself, and the ``schema`` of the input.
        """
        try:
            result = await self._make(session, params, run, elicit, **options)
        except Refused as refused:
            result = error_result(str(refused))
        if current_session() is None:  # else an agent around this call has the turn, and gets the context
            texts = [f"Stop here: {halted}"] if (halted := session.clear_halt()) else []
            if isinstance(result, CallToolResult):
                result = add_texts(result, [*session.take_context(), *texts])
        if isinstance(result, CallToolResult) and not isinstance(params, CallToolRequestParams):
            raise MCPError(INVALID_REQUEST, error_of(result))  # a resource is not read: there is no result that says so
        return result

    async def _make(
        self, session: Session, params: Any, run: Any, elicit: Any, *, server: str = "", schema: Any = None
    ) -> Any:
        name, given, options = self._describe(params, server)
        signature = json.dumps([name, given], sort_keys=True, default=str)
        answers, state = params.input_responses or {}, params.request_state
        own = next((key for key in answers if key.startswith(_OWN)), "")
        mark = own or (f"state {state}" if state is not None else "")
        found = self._unfinished.pop((session.session_id, mark, signature), None)
        begun = found or await self.adapter.begin(session, name, given, id=None, schema=schema, **options)
        if begun.state == "asked":
            form = make_form(begun)
            if elicit is None and not (own and found):
                key = f"{_OWN}{uuid4().hex}"
                self._keep((session.session_id, key, signature), begun)
                return InputRequiredResult(input_requests={key: form})
            await self._answer(begun, answers[own] if elicit is None else await _ask(elicit, form, begun))
        changes = _changes(params, begun)
        if own:  # the answer was not for the tool
            changes["input_responses"] = None

        async def finish() -> Any:
            result = await run(changes)
            if not isinstance(result, (CallToolResult, ReadResourceResult)):
                raise Unfinished(result)
            return result

        try:
            result, answer = await self.adapter.run(begun, session, finish, show=show_result, failed=error_of)
        except Unfinished as unfinished:  # the tool has a question of its own, or goes on in the background
            if (state := getattr(unfinished.result, "request_state", None)) is None:
                begun.close()
            else:
                self._keep((session.session_id, f"state {state}", signature), begun)
            return unfinished.result
        changed = change_result(result, answer.content) if answer.changed else result
        return add_texts(changed, answer.user_messages)

    def _describe(self, params: Any, server: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return the name and the input of a call as hooks see them, and what else is known of it."""
        known = self.server or server
        options: dict[str, Any] = {"mcp_server": {"name": known}} if known else {}
        if isinstance(params, CallToolRequestParams):
            name = f"mcp__{self.server}__{params.name}" if self.server else params.name
            return name, params.arguments or {}, options
        return "ReadMcpResourceTool", {"server": known, "uri": params.uri}, {**options, "kind": "read"}

    def _keep(self, key: tuple[str, str, str], begun: BegunTool) -> None:
        """Keep a call until the client sends it again; the oldest of very many is judged anew then."""
        self._unfinished[key] = begun
        while len(self._unfinished) > _MOST_UNFINISHED:
            self._unfinished.popitem(last=False)[1].close()

    async def _answer(self, begun: BegunTool, reply: Any) -> None:
        try:
            await self.adapter.answer(begun, read_form(begun, reply))
        except ValueError as error:  # what was edited is no JSON
            raise Refused(f"{begun.name} was not run: the answer cannot be used: {error}") from error


def _changes(params: Any, begun: BegunTool) -> dict[str, Any]:
    """Return what has changed in the parameters of a call; raise Refused if it cannot be sent."""
    given = begun.input
    if isinstance(given, dict) and isinstance(params, CallToolRequestParams):
        return {"arguments": given}
    if isinstance(given, dict) and isinstance(given.get("uri"), str):
        return {"uri": given["uri"]}
    begun.close()
    raise Refused(f"{begun.name} was not run: a hook changed the input into one that MCP cannot carry")


async def _ask(elicit: Any, form: Any, begun: BegunTool) -> Any:
    try:
        return await elicit(form)
    except Exception as error:
        raise Refused(f"{begun.name} was not run: {begun.reason} (the question cannot be asked: {error})") from error
