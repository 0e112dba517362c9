"""The same agents without and with hooks. What the tool has done is looked at after it was timed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.measure import Idle
from interpose import Event, Hooks

CALLS = 20
"""How many tool calls make one run of an agent."""
MILLISECOND = 0.001


class Tool:
    """A tool that takes a millisecond, and counts."""

    def __init__(self) -> None:
        self.ran = 0

    async def shell(self, cmd: str) -> str:
        """Run a command."""
        self.ran += 1
        await asyncio.sleep(MILLISECOND)
        return "a b"


class Watched:
    """Hooks that look at every call before and after it, and let it pass."""

    def __init__(self) -> None:
        self.seen = 0
        self.hooks = Hooks()
        self.hooks.register("PreToolUse", self.look)
        self.hooks.register("PostToolUse", self.look)

    async def look(self, event: Event) -> None:
        self.seen += len(event.tool_input) == 1


Run = Callable[[], Awaitable[object]]
Make = Callable[[Tool, Hooks | None], Run]
"""Makes an agent with the tool, and returns what runs it once: CALLS calls, one after another."""


class Agent:
    """One agent, as a contestant."""

    def __init__(self, make: Make, *, governed: bool) -> None:
        self.tool = Tool()
        self.watched = Watched() if governed else None
        self.once = make(self.tool, self.watched.hooks if self.watched else None)

    async def run(self, loops: int) -> None:
        self.tool.ran = 0
        if self.watched:
            self.watched.seen = 0
        for _ in range(loops):
            await self.once()
        if self.tool.ran != loops * CALLS:
            raise Idle(f"{self.tool.ran} of {loops * CALLS} calls were made")
        if self.watched and self.watched.seen != 2 * loops * CALLS:
            raise Idle(f"hooks have seen {self.watched.seen} of {2 * loops * CALLS} events")


def functions(tool: Tool, hooks: Hooks | None) -> Run:
    from interpose.adapters.functions import governed

    shell: Any = tool.shell if hooks is None else governed(hooks, [tool.shell])[0]

    async def once() -> None:
        for _ in range(CALLS):
            await shell(cmd="ls")

    return once


def pydantic_ai(tool: Tool, hooks: Hooks | None) -> Run:
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from interpose.adapters.pydantic_ai import capability

    def answer(messages: Any, info: Any) -> ModelResponse:
        made = len(messages) // 2
        return ModelResponse([TextPart("done") if made == CALLS else ToolCallPart("shell", {"cmd": "ls"}, f"c{made}")])

    made: Any = PydanticAgent(FunctionModel(answer), capabilities=[] if hooks is None else [capability(hooks)])
    made.tool_plain(tool.shell)
    return lambda: made.run("go")


def langchain(tool: Tool, hooks: Hooks | None) -> Run:
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import StructuredTool

    from interpose.adapters.langchain import middleware

    class Script(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "script"

        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

        async def _agenerate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
            made = len(messages) // 2
            calls: Any = [] if made == CALLS else [{"name": "shell", "args": {"cmd": "ls"}, "id": f"c{made}"}]
            return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=calls))])

        def _generate(self, *_: Any, **__: Any) -> ChatResult:
            raise NotImplementedError

    shell = StructuredTool.from_function(coroutine=tool.shell, name="shell", description="Run a command.")
    agent = create_agent(Script(), [shell], middleware=[] if hooks is None else [middleware(hooks)])
    return lambda: agent.ainvoke({"messages": [("user", "go")]}, {"recursion_limit": 10 * CALLS})


def agent_framework(tool: Tool, hooks: Hooks | None) -> Run:
    import agent_framework as af

    from interpose.adapters.agent_framework import middleware

    class Script(af.FunctionInvocationLayer, af.ChatMiddlewareLayer, af.BaseChatClient):
        async def _inner_get_response(self, *, messages: Any, **_: Any) -> Any:
            made = len(messages) // 2
            call = af.Content.from_function_call(f"c{made}", "shell", arguments={"cmd": "ls"})
            return af.ChatResponse(messages=[af.Message("assistant", ["done" if made == CALLS else call])])

    script = Script(function_invocation_configuration={"max_iterations": 2 * CALLS})
    agent = af.Agent(script, tools=[tool.shell], middleware=[] if hooks is None else [middleware(hooks)])
    return lambda: agent.run("go", session=agent.create_session())
