"""Governed functions in LlamaIndex, AutoGen and smolagents, each on a fake model of its own kind."""

import asyncio
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, FunctionExecutionResultMessage, RequestUsage
from autogen_core.tools import FunctionTool as AutoGenTool
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from smolagents import CodeAgent, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessage as SmolMessage
from tests.adapters.driver import HOOKS, Driver, Played, Shell, Turn
from tests.adapters.rows import house, rows_of, said
from tests.adapters.scenes import VISIT, cancel_in_tool, make_visit

from interpose import Hooks
from interpose.adapters.functions import Refused, governed

# LlamaIndex itself looks at every attribute of a model, also at deprecated ones.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


def functions(shell: Shell, hooks: Any = HOOKS, **options: Any) -> Any:
    def run(cmd: str) -> str:
        """Run a command.

        Args:
            cmd: the command
        """
        return shell(cmd)

    return governed(hooks, {"shell": run}, **options)


# LlamaIndex.


class Script:
    """A model of LlamaIndex that says its turns one after another and writes down what it is asked."""

    def __init__(self, turns: Sequence[Turn], tool: str = "shell") -> None:
        self.turns, self.tool = list(turns), tool
        self.requests: list[str] = []
        self.results: list[str] = []
        self.model = MockFunctionCallingLLM(response_generator=self.answer, is_chat_model=True)

    def answer(self, messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        self.requests.append("\n".join(one.content or "" for one in messages))
        self.results = [one.content or "" for one in messages if one.role == MessageRole.TOOL]
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            return ChatMessage(turn, role="assistant")
        at = len(self.requests)
        blocks = [
            ToolCallBlock(tool_call_id=f"call-{at}-{n}", tool_name=self.tool, tool_kwargs={"cmd": one})
            for n, one in enumerate(turn)
        ]
        return ChatMessage(role="assistant", blocks=blocks)


async def llama_index(script: Script, tools: Any, *, prompt: str = "go", streamed: bool = False) -> str:
    agent = FunctionAgent(tools=list(tools), llm=script.model, streaming=streamed)
    return str(await agent.run(prompt))


# AutoGen.


class Client(ChatCompletionClient):
    """A model of AutoGen."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = list(turns)
        self.results: list[str] = []

    async def create(self, messages: Any, **_: Any) -> CreateResult:
        found = [one for one in messages if isinstance(one, FunctionExecutionResultMessage)]
        self.results = [result.content for one in found for result in one.content]
        turn = self.turns.pop(0)
        calls = [FunctionCall(f"{n}", f'{{"cmd": "{one}"}}', "shell") for n, one in enumerate(turn)]
        content: Any = turn if isinstance(turn, str) else calls
        why: Any = "stop" if isinstance(turn, str) else "function_calls"
        return CreateResult(finish_reason=why, content=content, usage=RequestUsage(0, 0), cached=False)

    def create_stream(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("this fake model of AutoGen does not stream")

    async def close(self) -> None:
        """There is nothing to close."""

    def actual_usage(self) -> RequestUsage:
        return RequestUsage(0, 0)

    def total_usage(self) -> RequestUsage:
        return RequestUsage(0, 0)

    def count_tokens(self, *_: Any, **__: Any) -> int:
        return 0

    def remaining_tokens(self, *_: Any, **__: Any) -> int:
        return 1000

    @property
    def capabilities(self) -> Any:
        return self.model_info

    @property
    def model_info(self) -> Any:
        return {
            "vision": False, "function_calling": True, "json_output": False, "family": "fake",
            "structured_output": False,
        }  # fmt: skip


def auto_gen(client: Client, tools: Any) -> AssistantAgent:
    return AssistantAgent("one", client, tools=list(tools), max_tool_iterations=10, reflect_on_tool_use=False)


# smolagents.


class SmolModel(Model):
    """A model of smolagents."""

    def __init__(self, turns: Sequence[Any]) -> None:
        super().__init__(model_id="fake")
        self.turns = list(turns)
        self.asked = ""

    def generate(self, messages: Any, **_: Any) -> SmolMessage:
        self.asked = "\n".join(str(one.content) for one in messages)
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            return SmolMessage(role="assistant", content=turn)  # type: ignore[arg-type]
        calls: Any = [
            {"id": f"{n}-{len(self.turns)}", "type": "function", "function": {"name": name, "arguments": given}}
            for n, (name, given) in enumerate(turn)
        ]
        return SmolMessage(role="assistant", content="", tool_calls=calls)  # type: ignore[arg-type]


class Governed(Driver):
    cannot: ClassVar[Mapping[str, str]] = {
        "halt": "a function cannot end a run: its next calls are refused",
        "prompt_denied": "functions do not see prompts",
        "prompt_context": "functions do not see prompts",
        "message": "functions do not see model calls",
        "stop": "functions do not see the end of a run",
        "pause_yes": "a function cannot pause",
        "pause_no": "a function cannot pause",
        "pause_edited": "a function cannot pause",
        "handoff": "functions do not see handoffs",
        "handoff_denied": "functions do not see handoffs",
    }

    async def play(
        self, turns: Sequence[Turn], *, prompt: str = "go", ask: Any = None, conversation: str = "one",
        streamed: bool = False, hooks: Path = HOOKS,
    ) -> Played:  # fmt: skip
        script, shell = Script(turns), Shell()
        tools = functions(shell, hooks, ask=ask, conversation=conversation)
        final = await llama_index(script, tools, prompt=prompt, streamed=streamed)
        return Played(shell.ran, script.results, script.requests, final)

    def play_sync(self, turns: Sequence[Turn]) -> Played:
        shell = Shell()
        said: list[Any] = [[("final_answer", {"answer": one})] if isinstance(one, str) else
                           [("shell", {"cmd": cmd}) for cmd in one] for one in turns]  # fmt: skip
        model = SmolModel(said)
        agent = ToolCallingAgent([tool(one) for one in functions(shell)], model, verbosity_level=0)
        final = agent.run("go")
        return Played(shell.ran, [model.asked], [], str(final))

    async def play_cancelled(self, begun: Callable[[], None]) -> Played:
        def run(slow: Any) -> Any:
            made = AutoGenTool(governed(HOOKS, {"shell": slow})[0], "Run a command.")
            return made.run_json({"cmd": "sleep"}, CancellationToken())

        return await cancel_in_tool(begun, run)

    async def play_subagent(self, agent: str, command: str) -> Played:
        inner, outer, shell = Script([[command], "inner is done"]), Script([["go"], "done"], tool=agent), Shell()

        def run(cmd: str) -> str:
            return shell(cmd)

        async def ask_helper(cmd: str) -> str:
            return await llama_index(inner, tools[:1], prompt=cmd)

        tools = governed(HOOKS, {"shell": run, agent: ask_helper}, agents=[agent])
        final = await llama_index(outer, tools[1:])
        return Played(shell.ran, [*inner.results, *outer.results], outer.requests, final)

    async def play_object(self) -> Any:
        visit, got = make_visit()
        made = AutoGenTool(governed(HOOKS, [visit])[0], "Visit a place.")
        await made.run_json(VISIT, CancellationToken())
        return got[0]


test_the_same_hooks_hold = rows_of(Governed)


def test_auto_gen_holds_to_the_hooks():
    client, shell = Client([["rm -rf /", "ls"], ["echo secret"], "done"]), Shell()

    asyncio.run(auto_gen(client, functions(shell)).run(task="go"))

    assert sorted(shell.ran) == ["echo secret", "ls -la"]
    assert said(client.results, "rm is not allowed here")
    assert not said(client.results, "secret")


@pytest.mark.parametrize("cmd", ["rm -rf /", "misfit"])
def test_smolagents_running_code_holds_to_the_hooks(cmd):
    shell = Shell()
    model = SmolModel([f"<code>\nx = shell(cmd={cmd!r})\nfinal_answer(x)\n</code>"])

    final = CodeAgent([tool(functions(shell)[0])], model, verbosity_level=0).run("go")

    assert shell.ran == []
    assert "was not run" in str(final)


def test_a_refusal_that_is_raised_is_an_error_for_llama_index():
    script, shell = Script([["rm -rf /"], "done"]), Shell()

    asyncio.run(llama_index(script, functions(shell, raises=True)))

    assert shell.ran == []
    assert said(script.results, "rm is not allowed here")


def test_a_halted_session_refuses_the_next_calls():
    script, shell = Script([["halt"], ["ls"], "done"]), Shell()

    asyncio.run(llama_index(script, functions(shell)))

    assert shell.ran == ["halt"]
    assert said(script.results, "a hook ends the turn")


# What escapes. Each test fails on the day that it no longer does.


def test_a_tool_that_is_not_governed_escapes():
    script, shell = Script([["rm -rf /"], "done"]), Shell()
    other: list[str] = []

    def delete(cmd: str) -> str:
        other.append(cmd)
        return ""

    functions(shell)
    asyncio.run(llama_index(script, [_named(delete, "shell")]))

    assert other == ["rm -rf /"]


def _named(function: Any, name: str) -> Any:
    function.__name__ = name
    return function


def test_code_of_smolagents_that_calls_no_tool_escapes():
    house.seen.clear()
    model = SmolModel(["<code>\nx = sum(range(5))\nfinal_answer(x)\n</code>"])

    CodeAgent([tool(functions(Shell())[0])], model, verbosity_level=0).run("go")

    assert house.seen == []


def test_the_original_function_escapes():
    shell = Shell()

    functions(shell)
    shell("rm -rf /")

    assert shell.ran == ["rm -rf /"]


def test_auto_gen_runs_blocking_functions_without_the_session_that_acts():
    """Its threads do not get context variables: such a call is governed in the session of the list."""
    from interpose.adapters.functions import acting_as

    sessions: list[str] = []
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: sessions.append(event.session_id))
    tools = functions(Shell(), hooks, conversation="of the list")

    async def host() -> None:
        with acting_as(await tools.sessions.get("acting")):
            await auto_gen(Client([["ls"], "done"]), tools).run(task="go")

    asyncio.run(host())

    assert sessions == ["of the list"]


def test_the_source_that_smolagents_sends_to_other_machines_is_not_the_function():
    """A remote executor gets the text of the wrapper, which does not run there: nothing escapes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = tool(functions(Shell())[0])

    assert "shell(cmd)" not in type(made).__source__
    with pytest.raises(Refused):
        functions(Shell(), raises=True)[0]("rm -rf /")
