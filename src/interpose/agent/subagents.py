"""The Task tool: a subagent works on a task, with its own conversation, transcript and scope of hooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interpose import Session

from .agent import Agent
from .agent_types import AgentType
from .loop import work
from .tools import Tool, ToolFailed, Workplace, make_tool
from .transcript import Transcript

__all__ = ["child_of", "next_transcript", "task_tool"]


def task_tool(agent: Agent) -> Tool:
    """Return the tool that starts subagents of an agent."""
    agent_types = agent.runtime.agent_types
    listed = "\n".join(f"- {name}: {agent_type.description}" for name, agent_type in agent_types.items())

    async def run(given: dict[str, Any], _: Workplace) -> str:
        return await _spawn(agent, given)

    return make_tool(
        "Task",
        "run",
        f"Have a subagent work on a task of its own and report. Types of subagents:\n{listed}",
        {
            "description": {"type": "string", "description": "the task in a few words"},
            "prompt": {
                "type": "string",
                "minLength": 1,
                "description": "the whole task: the subagent sees nothing else",
            },
            "subagent_type": {"type": "string", "enum": list(agent_types)},
        },
        ("prompt", "subagent_type"),
        run,
    )


async def _spawn(agent: Agent, given: dict[str, Any]) -> str:
    name = given["subagent_type"]
    agent_type = agent.runtime.agent_types[name]
    wanted = list(agent_type.tools) if agent_type.tools is not None else [tool.name for tool in agent.runtime.tools]
    if agent_type.tools is None and agent.depth + 1 < agent.runtime.limits.depth:
        wanted.append("Task")
    config = {"prompt": given["prompt"], "description": given.get("description", ""), "tools": wanted}
    path = next_transcript(agent)

    async def run(session: Session, config: dict[str, Any]) -> str:
        child = child_of(agent, session, name, agent_type, config.get("tools"), path)
        await agent.show("agent", name=name, state="started", task=str(config.get("description", "")))
        try:
            return await work(child, str(config.get("prompt", "")))
        finally:
            child.transcript.close()
            await agent.show("agent", name=name, state="finished", task="")

    answer = await agent.session.spawn(name, run, config=config, transcript_path=path)
    if answer.error is not None:
        raise answer.error
    if not answer.ok:
        raise ToolFailed(f"{name} was not started: {answer.reason}")
    return str(answer.content) or f"{name} finished without a word."


def next_transcript(agent: Agent) -> Path:
    """Return the path of the next subagent's transcript."""
    agent.runtime.spawned += 1
    return agent.transcript.path.with_name(f"{agent.session.session_id}-agent-{agent.runtime.spawned}.jsonl")


def child_of(agent: Agent, session: Session, name: str, agent_type: AgentType, wanted: object, path: Path) -> Agent:
    """Return a subagent with those of the named tools that exist."""
    runtime = agent.runtime
    names = wanted if isinstance(wanted, Sequence) else ()  # a hook may have changed them
    tools = [tool for tool in runtime.tools if tool.name in names]
    transcript = Transcript(path, session_id=session.session_id, cwd=runtime.cwd, agent=session.agent_id or name)
    child = Agent(
        runtime, session, name=name, system=agent_type.system, tools=tools, transcript=transcript, depth=agent.depth + 1
    )
    if "Task" in names:
        child.tools["Task"] = task_tool(child)
    return child
