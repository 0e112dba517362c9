"""LangChain's create_agent, on a fake chat model of its own kind."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from tests.adapters.driver import HOOKS, Driver, Played, Shell, Turn
from tests.adapters.pages import assert_page_shows
from tests.adapters.rows import rows_of
from tests.adapters.scenes import VISIT, cancel_in_tool, make_visit

from interpose.adapters.langchain import middleware


class Script(BaseChatModel):
    """A chat model that says its turns one after another and writes down what it is asked."""

    turns: list[Any]
    tool: str = "shell"
    requests: list[str]
    results: list[str]

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _said(self, messages: list[BaseMessage]) -> AIMessage:
        self.requests.append("\n".join(message.text for message in messages))
        self.results[:] = [message.text for message in messages if isinstance(message, ToolMessage)]
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            return AIMessage(turn)
        at = len(self.requests)
        calls = [{"name": self.tool, "args": {"cmd": one}, "id": f"call-{at}-{n}"} for n, one in enumerate(turn)]
        return AIMessage("", tool_calls=calls)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._said(messages))])

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        said = self._said(messages)
        chunks = [{"name": c["name"], "args": f'{{"cmd": "{c["args"]["cmd"]}"}}', "id": c["id"], "index": n,
                   "type": "tool_call_chunk"} for n, c in enumerate(said.tool_calls)]  # fmt: skip
        yield ChatGenerationChunk(message=AIMessageChunk(said.content, tool_call_chunks=chunks))


def _agent(script: Script, shell: Any, governed: Any, **more: Any) -> Any:
    tool = StructuredTool.from_function(shell.__call__, name="shell", description="Run a command.")
    return create_agent(script, [tool], middleware=[governed], **more)


def _script(turns: Sequence[Turn], tool: str = "shell") -> Script:
    return Script(turns=list(turns), tool=tool, requests=[], results=[])


class LangChain(Driver):
    cannot: ClassVar[Mapping[str, str]] = {
        "handoff": "create_agent has no handoffs: an agent calls another one as a tool",
        "handoff_denied": "create_agent has no handoffs: an agent calls another one as a tool",
    }

    async def play(
        self, turns: Sequence[Turn], *, prompt: str = "go", ask: Any = None, conversation: str = "one",
        streamed: bool = False, hooks: Path = HOOKS,
    ) -> Played:  # fmt: skip
        script, shell = _script(turns), Shell()
        agent = _agent(script, shell, middleware(hooks, ask=ask))
        given: Any = {"messages": [("user", prompt)]}
        config: Any = {"configurable": {"thread_id": conversation}}
        if streamed:
            state = [one async for one in agent.astream(given, config, stream_mode="values")][-1]
        else:
            state = await agent.ainvoke(given, config)
        return Played(shell.ran, script.results, script.requests, state["messages"][-1].text)

    def play_sync(self, turns: Sequence[Turn]) -> Played:
        script, shell = _script(turns), Shell()
        state = _agent(script, shell, middleware(HOOKS)).invoke({"messages": [("user", "go")]})
        return Played(shell.ran, script.results, script.requests, state["messages"][-1].text)

    async def play_question(self, turns: Sequence[Turn], answer: bool | Mapping[str, Any]) -> Played:
        script, shell = _script(turns), Shell()
        agent = _agent(script, shell, middleware(HOOKS, ask="native"), checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "one"}}
        paused = await agent.ainvoke({"messages": [("user", "go")]}, config)
        assert paused["__interrupt__"]
        assert shell.ran == []
        said: Any = {"tool_input": dict(answer)} if isinstance(answer, Mapping) else answer
        state = await agent.ainvoke(Command(resume=said), config)
        return Played(shell.ran, script.results, script.requests, state["messages"][-1].text)

    async def play_cancelled(self, begun: Callable[[], None]) -> Played:
        def run(slow: Any) -> Any:
            tool = StructuredTool.from_function(coroutine=slow, name="shell", description="Run a command.")
            agent: Any = create_agent(_script([["sleep"], "never said"]), [tool], middleware=[middleware(HOOKS)])
            return agent.ainvoke({"messages": [("user", "go")]})

        return await cancel_in_tool(begun, run)

    async def play_subagent(self, agent: str, command: str) -> Played:
        inner, outer, shell = _script([[command], "inner is done"]), _script([["go"], "done"], agent), Shell()
        governed = middleware(HOOKS, agents=[agent])
        helper = _agent(inner, shell, governed)

        async def ask_helper(cmd: str) -> str:
            state = await helper.ainvoke({"messages": [("user", cmd)]})
            return str(state["messages"][-1].text)

        tool = StructuredTool.from_function(coroutine=ask_helper, name=agent, description="Ask the helper.")
        boss: Any = create_agent(outer, [tool], middleware=[governed])
        state = await boss.ainvoke({"messages": [("user", "go")]})
        return Played(shell.ran, [*inner.results, *outer.results], outer.requests, state["messages"][-1].text)

    async def play_object(self) -> Any:
        visit, got = make_visit()

        class Once(Script):
            def _said(self, messages: list[BaseMessage]) -> AIMessage:
                calls: Any = [] if len(messages) > 1 else [{"name": "visit", "args": VISIT, "id": "call-1"}]
                return AIMessage("", tool_calls=calls)

        agent: Any = create_agent(Once(turns=[], requests=[], results=[]), [visit], middleware=[middleware(HOOKS)])
        await agent.ainvoke({"messages": [("user", "go")]})
        return got[0]


test_the_same_hooks_hold = rows_of(LangChain)


def test_an_inner_agent_without_the_middleware_escapes() -> None:
    inner, outer, shell = _script([["rm -rf /"], "inner is done"]), _script([["go"], "done"], "helper"), Shell()
    tool = StructuredTool.from_function(shell.__call__, name="shell", description="Run a command.")
    helper: Any = create_agent(inner, [tool])

    def ask_helper(cmd: str) -> str:
        return str(helper.invoke({"messages": [("user", cmd)]})["messages"][-1].text)

    asks = StructuredTool.from_function(ask_helper, name="helper", description="Ask the helper.")
    boss: Any = create_agent(outer, [asks], middleware=[middleware(HOOKS, agents=["helper"])])
    boss.invoke({"messages": [("user", "go")]})

    assert shell.ran == ["rm -rf /"]


def test_a_direct_call_of_a_tool_object_escapes() -> None:
    shell = Shell()
    tool = StructuredTool.from_function(shell.__call__, name="shell", description="Run a command.")
    create_agent(_script([]), [tool], middleware=[middleware(HOOKS)])

    tool.invoke({"cmd": "rm -rf /"})

    assert shell.ran == ["rm -rf /"]


def test_the_page_shows_what_its_program_prints() -> None:
    assert_page_shows("langchain")
