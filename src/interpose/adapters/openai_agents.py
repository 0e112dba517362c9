"""OpenAI Agents SDK: ``Runner.run(governed("hooks.yaml", agent), ...)``, streamed or not.

The governed agent is a copy. Its model, its tools, its handoffs and the agents behind them pass the hooks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar
from uuid import uuid4

import agents as sdk

from interpose import UsageError

from .base import Adapter, Agents, Ask, HooksOrPath, current_session, text_of_blocks
from .openai_agents_model import GovernedModel, GovernedRun, running
from .openai_agents_tools import OWN_MODEL, check_tool, governed_tool

__all__ = ["governed"]

_Agent = TypeVar("_Agent", bound=sdk.Agent[Any])
_PASSES = sdk.GuardrailFunctionOutput("", tripwire_triggered=False)


def governed(
    hooks: HooksOrPath, agent: _Agent, *, conversation: str | Callable[[Any], str] | None = None,
    provider: sdk.ModelProvider | None = None, agents: Agents = (), ask: Ask = "native",
) -> _Agent:  # fmt: skip
    """Return a copy of an agent with hooks around its model, its tools and its handoffs.

    ``conversation`` is the session: a text, or a function of the run's ``RunContextWrapper``. Without it, every run is
    a session of its own. ``agents`` names the tools that run another agent; those of ``as_tool`` are known. With
    ``ask="native"`` a question is one of the run's ``interruptions``. ``provider`` finds models that are given by name.
    """
    if not isinstance(agent, sdk.Agent):
        raise UsageError(f"{type(agent).__name__} is not an Agent", hint="realtime and voice agents are not governed")
    adapter = Adapter(hooks, agents=agents, ask=ask, tested=("openai-agents", "0.24", "0.25"))
    made: _Agent = _Governor(adapter, conversation, provider).agent(agent)
    return made


class _Governor:
    """The hooks of one agent and of those that it hands over to."""

    def __init__(self, adapter: Adapter, conversation: Any, provider: sdk.ModelProvider | None) -> None:
        self.adapter, self.conversation, self.provider = adapter, conversation, provider or sdk.MultiProvider()
        self.made: dict[int, Any] = {}

    def agent(self, agent: Any) -> Any:
        if id(agent) in self.made:
            return self.made[id(agent)]
        if hasattr(agent, "interpose"):
            raise UsageError(f"{agent.name} is governed already", hint="govern the first agent: its handoffs follow")
        governor = self

        class Governed(type(agent)):  # type: ignore[misc]
            interpose = governor.adapter

            async def get_all_tools(self, run_context: Any) -> list[Any]:
                run = await governor.run(run_context)
                running.set(run)
                if run.acting is None and run.session.agent_type not in (None, self.name):
                    run.session.act_as(self.name)  # an earlier run of the conversation has ended with another agent
                return [governed_tool(governor.adapter, one, run) for one in await super().get_all_tools(run_context)]

        Governed.__name__ = type(agent).__name__
        made = Governed(**{one.name: getattr(agent, one.name) for one in fields(agent) if one.init})
        made.ungoverned = agent  # kept, so that no other object gets its id
        self.made.update({id(agent): made, id(made): made})
        named = not isinstance(agent.model, sdk.Model)
        made.model = GovernedModel(self.provider.get_model(agent.model) if named else agent.model)
        asked = sdk.InputGuardrail(self._prompt, "interpose", run_in_parallel=False)
        made.input_guardrails = [asked, *agent.input_guardrails]
        made.output_guardrails = [sdk.OutputGuardrail(self._final, "interpose"), *agent.output_guardrails]
        made.handoffs = [self._handoff(one, made) for one in agent.handoffs]
        for tool in agent.tools:
            check_tool(tool)
        return made

    async def run(self, context: Any, *, begins: bool = False) -> GovernedRun:
        """Return what belongs to a run. It is kept on its context, which is copied when a paused run goes on."""
        acting, run = current_session(), getattr(context, "interpose_run", None)
        if run is None or run.acting is not acting:
            said = self.conversation(context) if callable(self.conversation) else self.conversation
            key = str(said or uuid4().hex)
            run = context.interpose_run = GovernedRun(key, acting, await self.adapter.session(key), begins)
        run.session = await self.adapter.session(run.key)
        return run

    async def _prompt(self, context: Any, agent: Any, given: Any) -> sdk.GuardrailFunctionOutput:
        run = await self.run(context, begins=True)
        last: Any = {"role": "user", "content": given} if isinstance(given, str) else given[-1]
        if run.acting is not None or last.get("role") != "user":  # what a subagent is told is no prompt of a person
            return _PASSES
        answer = await run.session.prompt(text_of_blocks(last.get("content", "")))
        return _PASSES if answer.ok else sdk.GuardrailFunctionOutput(answer.content, tripwire_triggered=True)

    async def _final(self, context: Any, agent: Any, output: Any) -> sdk.GuardrailFunctionOutput:
        run = await self.run(context)
        if run.begins and not run.model_calls:
            raise sdk.UserError(OWN_MODEL)
        return _PASSES

    def _handoff(self, given: Any, source: Any) -> sdk.Handoff[Any, Any]:
        made = sdk.handoff(self.agent(given)) if isinstance(given, sdk.Agent) else given

        async def invoke(context: Any, arguments: str) -> Any:
            run = await self.run(context)
            answer = await run.session.handoff(made.agent_name, config={"tool": made.tool_name, "input": arguments})
            if answer.ok:
                return self.agent(await made.on_invoke_handoff(context, answer.content["input"]))
            # The framework knows no refusal: the agent that has the conversation keeps it.
            run.notes.append(f"The handoff to {made.agent_name} was refused: {answer.reason}")
            return source

        return replace(made, on_invoke_handoff=invoke)
