"""OpenAI Agents SDK: the tools of a governed agent, with the hooks of tool calls and the SDK's own approval."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import replace
from typing import Any

import agents as sdk

from interpose import BegunTool, UsageError

from .base import Adapter, Refused
from .openai_agents_model import GovernedRun

__all__ = ["OWN_MODEL", "check_tool", "governed_tool"]

OWN_MODEL = "RunConfig(model=...) replaces the governed model: give the model to the agent"
"""Why a run is refused whose model is not that of the agent."""
_RUN_HERE = (sdk.ApplyPatchTool, sdk.ComputerTool, sdk.CustomTool, sdk.LocalShellTool, sdk.ShellTool)


def governed_tool(adapter: Adapter, tool: Any, run: GovernedRun) -> Any:
    """Return a tool that passes the hooks, made once for a run; one that the provider runs is left as it is."""
    if id(tool) not in run.tools:
        run.tools[id(tool)] = tool, _govern(adapter, tool, run)
    return run.tools[id(tool)][1]


def _govern(adapter: Adapter, tool: Any, run: GovernedRun) -> Any:
    check_tool(tool)
    if not isinstance(tool, sdk.FunctionTool):
        return tool
    if (inner := _agent_of(tool)) is not None:
        adapter.agents.setdefault(tool.qualified_name, inner.name)
    # Private: the invoker of a decorated tool turns errors into texts for the model; inside of it they are errors.
    inside = getattr(tool.on_invoke_tool, "_invoke_tool_impl", None)
    run_tool, own = inside or tool.on_invoke_tool, tool.needs_approval
    schema = {**tool.params_json_schema, "required": []}  # a strict schema requires what has a default

    async def begin(given: Any, id: str) -> BegunTool | Refused:
        try:
            return await adapter.begin(run.session, tool.qualified_name, given, id=id, schema=schema)
        except Refused as refused:
            return refused

    async def needs_approval(context: Any, given: dict[str, Any], id: str) -> bool:
        call = run.calls[id] = await begin(given, id)
        if isinstance(call, Refused):
            return False
        return call.state == "asked" or (own if isinstance(own, bool) else await own(context, given, id))

    async def invoke(context: Any, given: str) -> Any:
        if context.run_config is not None and context.run_config.model is not None:
            raise sdk.UserError(OWN_MODEL)
        try:
            key = context.tool_call_id
            call = run.calls.pop(key, None) or await begin(json.loads(given or "{}"), key)
            if isinstance(call, Refused):
                raise call
            if call.state == "asked":
                await adapter.answer(call, context.is_tool_approved(tool.qualified_name, key) is True)
            changed = json.dumps(call.input)
            result, answer = await adapter.run(call, run.session, lambda: run_tool(context, changed))
        except Refused as refused:
            return str(refused)
        return answer.content if answer.changed else result

    approval = needs_approval if adapter.asks_natively else own
    if inside is None:
        return replace(tool, on_invoke_tool=invoke, needs_approval=approval)
    invoker = copy(tool.on_invoke_tool)
    invoker._invoke_tool_impl = invoke
    return replace(tool, on_invoke_tool=invoker, needs_approval=approval)


def _agent_of(tool: Any) -> Any:
    return getattr(tool, "_agent_instance", None)  # private: the agent of a tool that ``as_tool`` made, or None


def check_tool(tool: Any) -> None:
    """Raise UsageError for a tool that runs here and passes no hooks."""
    if isinstance(tool, _RUN_HERE) and getattr(tool, "executor", tool) is not None:
        raise UsageError(f"{tool.name} runs here and cannot be governed", hint="make it a function tool")
    if (inner := _agent_of(tool)) is not None and not hasattr(inner, "interpose"):
        raise UsageError(f"{tool.name} runs the agent {inner.name}, which is not governed",
                         hint="governed(hooks, agent).as_tool(...)")  # fmt: skip
