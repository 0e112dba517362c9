"""Claude Agent SDK: the tool calls that Claude Code makes, and the subagents that they run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from interpose import Answer, BegunAgent, BegunTool, Session

from .base import Adapter, Refused

__all__ = ["SdkCall", "SdkCalls"]


@dataclass
class SdkCall:
    """A call that Claude Code makes, and the subagent that it runs, if it does."""

    begun: BegunTool
    session: Session
    is_of_main_agent: bool
    agent: BegunAgent | None = None
    agent_id: str = ""
    """The id that Claude Code gives the subagent when it starts."""

    async def done(self, result: Any) -> Answer:
        """End the subagent and the call."""
        if self.agent is not None:
            await self.agent.done(result, may_continue=False)
        return await self.begun.done(result)

    async def failed(self, error: Any) -> None:
        """End the subagent and the call, unless it was only asked about."""
        if self.agent is not None:
            await self.agent.failed(error)
        if self.begun.state == "run":
            await self.begun.failed(error)


class SdkCalls:
    """The calls of all sessions that have the same options. ``servers`` are the MCP servers of the options."""

    def __init__(self, adapter: Adapter, servers: Any) -> None:
        self._adapter = adapter
        known = servers if isinstance(servers, Mapping) else {}
        self._own = [f"mcp__{name}__" for name, one in known.items() if one.get("type") == "sdk"]
        self._running: dict[str, SdkCall] = {}

    def __iter__(self) -> Iterator[SdkCall]:
        return iter(list(self._running.values()))

    def find(self, id: str) -> SdkCall | None:
        """Return a call that has begun and not ended."""
        return self._running.get(id)

    def pop(self, id: str) -> SdkCall | None:
        """Return a call that ends now."""
        return self._running.pop(id, None)

    def take(self, id: str) -> SdkCall:
        """Return a call that ends now; raise Refused if it has not begun."""
        if id not in self._running:
            raise Refused("hooks have not seen this call before it ran")
        return self._running.pop(id)

    def subagent(self, agent_id: str | None) -> BegunAgent | None:
        """Return the subagent that has this id of Claude Code."""
        return next((one.agent for one in self if one.agent_id and one.agent_id == agent_id), None)

    async def begin(self, session: Session, given: Any) -> BegunTool:
        """Begin a call, and its subagent if it may run; raise Refused if one of them is denied."""
        name, key = given["tool_name"], given["tool_use_id"]
        self._declare(name)
        begun = await self._adapter.begin(session, name, given["tool_input"], id=key)
        call = self._running[key] = SdkCall(begun, session, "agent_id" not in given)
        if begun.state == "run":
            await self.begin_agent(call)
        return begun

    async def begin_agent(self, call: SdkCall) -> None:
        """Begin the subagent of a call that may run, if it runs one; raise Refused if that is denied."""
        begun, known = call.begun, self._adapter.agents
        name = known.get(begun.name) or known.get(self._bare(begun.name))
        if begun.name in ("Agent", "Task"):
            name = str(begun.input.get("subagent_type") or "general-purpose")
        if name is None:
            return
        agent = await call.session.begin_agent(name, config=dict(begun.input))
        if agent.state != "run":
            self._running.pop(begun.id).begun.close()
            raise Refused(f"{begun.name} was not run: {agent.reason}")
        call.agent = agent

    def name_agent(self, name: str, agent_id: str) -> None:
        """Note the id of a subagent that starts: the first of its name that has none."""
        waiting = (one for one in self if one.agent is not None and not one.agent_id)
        if call := next((one for one in waiting if one.agent and one.agent.agent == name), None):
            call.agent_id = agent_id

    def _declare(self, tool: str) -> None:
        """Declare a tool of a server in this process as it is declared under its own name."""
        declared, bare = self._adapter.hooks.engine.tools, self._bare(tool)
        if declared is not None and declared.find(tool) is None and (found := declared.find(bare)) is not None:
            kind = {"kind": found.kind} if found.kind else {}
            self._adapter.hooks.declare_tools({tool: {"as": found.name, "fields": dict(found.fields), **kind}})

    def _bare(self, tool: str) -> str:
        return next((tool.removeprefix(one) for one in self._own if tool.startswith(one)), tool)
