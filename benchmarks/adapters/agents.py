"""The same agents without and with hooks. What the tool has done is looked at after it was timed."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
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


def openai_agents(tool: Tool, hooks: Hooks | None) -> Run:
    from agents import Agent as OpenAIAgent
    from agents import Model, ModelResponse, RunConfig, Runner, Usage, function_tool
    from agents.testing import assistant_message, function_call

    from interpose.adapters.openai_agents import governed

    class Script(Model):
        async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
            made = 0 if isinstance(input, str) else len(input) // 2
            said: Any = assistant_message("done")
            if made < CALLS:
                said = function_call("shell", {"cmd": "ls"}, call_id=f"c{made}")
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    made: Any = OpenAIAgent("boss", model=Script(), tools=[function_tool(tool.shell)])
    agent = made if hooks is None else governed(hooks, made)
    return lambda: Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True), max_turns=2 * CALLS)


def google_adk(tool: Tool, hooks: Hooks | None) -> Run:
    from google.adk.agents import LlmAgent
    from google.adk.apps import App
    from google.adk.models import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai.types import FunctionCall, ModelContent, Part, UserContent

    from interpose.adapters.google_adk import plugin

    logging.getLogger("google_adk").setLevel(logging.ERROR)  # it complains of a model that counts no tokens

    class Script(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
            if len(llm_request.contents) // 2 == CALLS:
                yield LlmResponse(content=ModelContent("done"))
            else:
                call = FunctionCall(name="shell", args={"cmd": "ls"})
                yield LlmResponse(content=ModelContent([Part(function_call=call)]))

    agent = LlmAgent(name="boss", model=Script(model="script"), tools=[tool.shell])
    runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[] if hooks is None else [plugin(hooks)]))

    async def once() -> None:
        session = await runner.session_service.create_session(app_name="app", user_id="me")
        running = runner.run_async(user_id="me", session_id=session.id, new_message=UserContent("go"))
        async for _ in running:
            pass
        await runner.session_service.delete_session(app_name="app", user_id="me", session_id=session.id)

    return once


def strands(tool: Tool, hooks: Hooks | None) -> Run:
    from strands import Agent as StrandsAgent
    from strands import tool as make_tool
    from strands.models import Model

    from interpose.adapters.strands import provider

    class Script(Model):
        def update_config(self, **_: Any) -> None:
            pass

        def get_config(self) -> Any:
            return {}

        def structured_output(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

        async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
            yield {"messageStart": {"role": "assistant"}}
            if ends := len(messages) // 2 == CALLS:
                yield {"contentBlockStart": {"start": {}}}
                yield {"contentBlockDelta": {"delta": {"text": "done"}}}
            else:
                use = {"name": "shell", "toolUseId": f"c{len(messages)}"}
                yield {"contentBlockStart": {"start": {"toolUse": use}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"cmd": "ls"}'}}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn" if ends else "tool_use"}}

    @make_tool
    async def shell(cmd: str) -> str:
        """Run a command."""
        return await tool.shell(cmd)

    async def once() -> None:
        hooked = [] if hooks is None else [provider(hooks)]
        agent: Any = StrandsAgent(model=Script(), tools=[shell], hooks=hooked, callback_handler=None)
        await agent.invoke_async("go")

    return once


def mcp(tool: Tool, hooks: Hooks | None) -> Run:
    from mcp import Client
    from mcp.server import MCPServer

    from interpose.adapters.mcp import server

    made: Any = MCPServer("errands", middleware=[] if hooks is None else [server(hooks)])
    made.add_tool(tool.shell, name="shell")
    return lambda: _call_tools(Client(made))


def fastmcp(tool: Tool, hooks: Hooks | None) -> Run:
    from fastmcp import Client, FastMCP

    from interpose.adapters.fastmcp import middleware

    made: Any = FastMCP("errands", middleware=[] if hooks is None else [middleware(hooks)])
    made.tool(tool.shell, name="shell")
    return lambda: _call_tools(Client(made))


async def _call_tools(client: Any) -> None:
    async with client:
        for _ in range(CALLS):
            await client.call_tool("shell", {"cmd": "ls"})
