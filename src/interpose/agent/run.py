"""One run of the agent: a session from its start to its end, with one prompt or many."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from interpose import Outcome, Session

from .agent import Agent
from .compaction import compact
from .loop import work
from .phases import PLAN, enter
from .runtime import Runtime
from .subagents import task_tool
from .team import team_tool
from .tools import Tool
from .transcript import Transcript

__all__ = ["AgentRun", "open_run"]


class AgentRun:
    """A session with its main agent; ``ask`` gives it a prompt, ``interrupt`` cancels its work."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.session: Session = agent.session
        self._working: asyncio.Task[str] | None = None

    async def ask(self, prompt: str) -> str:
        """Work on a prompt and return the last text of the agent; ``/compact`` compacts the conversation."""
        agent = self.agent
        if prompt == "/compact" or prompt.startswith("/compact "):
            await compact(agent, trigger="manual", instructions=prompt.removeprefix("/compact").strip() or None)
            return ""
        await agent.show("prompt", text=prompt)
        taken = await self.session.prompt(prompt)
        if not taken.ok:
            await agent.show("notice", text=f"the prompt was denied: {taken.reason}")
            return ""
        if refused := await enter(self.session, PLAN):
            await agent.show("notice", text=refused)
            return ""
        self._working = asyncio.ensure_future(work(agent, str(taken.content)))
        try:
            return await self._working
        except asyncio.CancelledError:
            if not self._interrupted():
                raise
            await agent.show("notice", text="interrupted")
            return ""
        finally:
            self._working = None

    async def ask_all(self, prompts: AsyncIterable[str]) -> str:
        """Work on one prompt after another; return the last text of the agent."""
        said = ""
        async for prompt in prompts:
            said = await self.ask(prompt)
        return said

    def interrupt(self) -> bool:
        """Cancel the agent's work; return whether it was working."""
        return self._working is not None and self._working.cancel("interrupted")

    def _interrupted(self) -> bool:
        """Whether only the work was cancelled, and not the task that waits for it."""
        this = asyncio.current_task()
        return this is not None and not this.cancelling()


@asynccontextmanager
async def open_run(
    runtime: Runtime, *, session_id: str, on_outcome: Callable[[Outcome], object] | None = None, **options: Any
) -> AsyncIterator[AgentRun]:
    """Start a session, yield its run, and end it; ``options`` are those of ``hooks.session``."""
    path = runtime.directory / f"{session_id}.jsonl"
    transcript = Transcript(path, session_id=session_id, cwd=runtime.cwd)
    env_file = runtime.make_env_file()
    session = runtime.hooks.session(
        session_id=session_id, cwd=runtime.cwd, transcript_path=path, model=runtime.model.name,
        env_file=env_file.path, on_outcome=on_outcome,
        **{"agent_id": "main", "tools": _definitions(runtime.tools), **options},
    )  # fmt: skip
    try:
        async with session:
            agent = Agent(runtime, session, tools=runtime.tools, transcript=transcript)
            await agent.take_variables(env_file)
            agent.tools["Task"] = task_tool(agent)
            agent.tools["Team"] = team_tool(agent)
            yield AgentRun(agent)
    finally:
        transcript.close()
        env_file.remove()


def _definitions(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return the tools of MCP servers as their servers describe them."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
        for tool in tools
        if tool.name.startswith("mcp__")
    ]
