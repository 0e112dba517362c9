"""The Team tool: teammates take tasks from one list, each in a conversation of its own, until the list is empty.

Hooks of TaskCompleted may deny that a task is done; hooks of TeammateIdle may give work to a teammate without a task.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interpose import Session

from .agent import Agent
from .agent_types import AgentType
from .loop import work
from .subagents import child_of, next_transcript
from .tools import Tool, Workplace, make_tool

__all__ = ["team_tool"]

_TEAMMATE = AgentType(
    "", "You are a member of a team. Do the task that you are given; say in a sentence what came of it."
)
_MAX_TEAMMATES = 8

_PROPERTIES = {
    "team_name": {"type": "string"},
    "teammates": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": _MAX_TEAMMATES},
    "tasks": {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": {"subject": {"type": "string"}, "description": {"type": "string"}},
            "required": ["subject"],
            "additionalProperties": False,
        },
    },
}


@dataclass
class Task:
    """One task and its result."""

    id: str
    subject: str
    description: str = ""
    by: str = ""
    result: str = ""
    done: bool = False


def team_tool(agent: Agent) -> Tool:
    """Return the tool that has a team work on a list of tasks."""

    async def run(given: dict[str, Any], _: Workplace) -> str:
        return await _Team(agent, given).work()

    return make_tool(
        "Team",
        "run",
        "Have teammates work side by side on a list of tasks, and report.",
        _PROPERTIES,
        ("team_name", "teammates", "tasks"),
        run,
    )


class _Team:
    """A list of tasks, and the teammates that work on it."""

    def __init__(self, agent: Agent, given: dict[str, Any]) -> None:
        self._agent = agent
        self._name = given["team_name"]
        self._teammates = list(dict.fromkeys(given["teammates"]))
        self._tasks = [
            Task(f"task-{number}", task["subject"], task.get("description", ""))
            for number, task in enumerate(given["tasks"], 1)
        ]
        self._open = deque(self._tasks)

    async def work(self) -> str:
        """Run all teammates until the list is empty; return the result of each task."""
        async with asyncio.TaskGroup() as group:
            members = [group.create_task(self._member(name)) for name in self._teammates]
        refused = [said for said in (member.result() for member in members) if said]
        lines = [
            f"{'done' if task.done else 'NOT DONE'}: {task.subject} ({task.by or 'no teammate'}): {task.result}"
            for task in self._tasks
        ]
        return "\n".join([*lines, *refused])

    async def _member(self, name: str) -> str:
        """Run one teammate; return why it could not be started, or an empty text."""
        agent = self._agent
        path = next_transcript(agent)
        config = {"team": self._name, "tools": [tool.name for tool in agent.runtime.tools]}

        async def run(session: Session, config: dict[str, Any]) -> str:
            return await self._take_tasks(session, name, config, path)

        answer = await agent.session.spawn(name, run, config=config, transcript_path=path)
        return "" if answer.ok else f"{name}: {answer.reason}"

    async def _take_tasks(self, session: Session, name: str, config: dict[str, Any], path: Path) -> str:
        agent, most = self._agent, self._agent.runtime.limits.continues
        member = child_of(agent, session, name, _TEAMMATE, config.get("tools"), path)
        try:
            said = await work(member, config["prompt"], asks_to_stop=False) if "prompt" in config else ""
            for _ in range(most):
                while self._open and not session.halted:
                    said = await self._do(member, self._open.popleft())
                idle = await session.teammate_idle(name, self._name)
                if not idle.keep_going:
                    return said
                said = await work(member, str(idle.content), asks_to_stop=False)
            await agent.notify(f"{name} was given work {most} times in a row while idle, and stops.", "limit")
            return said
        finally:
            member.transcript.close()

    async def _do(self, member: Agent, task: Task) -> str:
        """Work on a task until it counts as done, or hooks denied that too often."""
        task.by = member.name
        prompt = f"{task.subject}\n\n{task.description}".strip()
        for _ in range(self._agent.runtime.limits.continues):
            task.result = await work(member, prompt, asks_to_stop=False)
            described = {"task_description": task.description} if task.description else {}
            answer = await member.session.task_completed(
                task.id, task.subject, teammate_name=member.name, team_name=self._name, **described
            )
            if answer.ok:
                task.done = True
                await self._agent.show("notice", text=f"{member.name} has done: {task.subject}")
                break
            prompt = f"The task does not count as done yet: {answer.reason}"
        return task.result
