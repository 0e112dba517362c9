"""Pydantic AI, on its own FunctionModel."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext, ToolApproved, ToolDenied
from pydantic_ai.messages import ModelMessage, ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from tests.adapters.driver import HOOKS, Driver, Played, Shell, Turn
from tests.adapters.pages import assert_page_shows
from tests.adapters.rows import rows_of
from tests.adapters.scenes import VISIT, cancel_in_tool, make_visit

from interpose.adapters.pydantic_ai import capability


class Script:
    """A model that says its turns one after another and writes down what it is asked."""

    def __init__(self, turns: Sequence[Turn], tool: str = "shell") -> None:
        self.turns = list(turns)
        self.tool = tool
        self.requests: list[str] = []
        self.results: list[str] = []

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.requests.append("\n".join(_text(part) for message in messages for part in message.parts))
        self.requests[-1] += f"\n{info.instructions or ''}"
        self.results = [_text(part) for message in messages for part in message.parts if _is_result(part)]
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            return ModelResponse([TextPart(turn)])
        at = len(self.requests)
        return ModelResponse([ToolCallPart(self.tool, {"cmd": one}, f"call-{at}-{n}") for n, one in enumerate(turn)])

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for n, part in enumerate(self.answer(messages, info).parts):
            if isinstance(part, ToolCallPart):
                yield {n: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)}
            elif isinstance(part, TextPart):
                yield part.content

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self.answer, stream_function=self.stream)


def _is_result(part: Any) -> bool:
    return isinstance(part, ToolReturnPart) or (isinstance(part, RetryPromptPart) and part.tool_name is not None)


def _text(part: Any) -> str:
    if isinstance(part, ToolReturnPart | RetryPromptPart):
        return str(part.content)
    return part.content if isinstance(getattr(part, "content", None), str) else ""


class PydanticAI(Driver):
    cannot: ClassVar[Mapping[str, str]] = {
        "handoff": "it has no handoffs: an agent calls another one as a tool",
        "handoff_denied": "it has no handoffs: an agent calls another one as a tool",
    }

    async def play(
        self, turns: Sequence[Turn], *, prompt: str = "go", ask: Any = None, conversation: str = "one",
        streamed: bool = False, hooks: Path = HOOKS,
    ) -> Played:  # fmt: skip
        script, shell = Script(turns), Shell()
        agent = _agent(script, shell, capability(hooks, ask=ask))
        if streamed:
            async with agent.run_stream(prompt, conversation_id=conversation) as streaming:
                final = await streaming.get_output()
        else:
            final = (await agent.run(prompt, conversation_id=conversation)).output
        return Played(shell.ran, script.results, script.requests, str(final))

    def play_sync(self, turns: Sequence[Turn]) -> Played:
        script, shell = Script(turns), Shell()
        final = _agent(script, shell, capability(HOOKS)).run_sync("go").output
        return Played(shell.ran, script.results, script.requests, str(final))

    async def play_question(self, turns: Sequence[Turn], answer: bool | Mapping[str, Any]) -> Played:
        script, shell = Script(turns), Shell()
        agent = _agent(script, shell, capability(HOOKS, ask="native"))
        paused = await agent.run("go", conversation_id="one")
        assert isinstance(paused.output, DeferredToolRequests)
        assert shell.ran == []
        yes = ToolApproved(override_args=dict(answer)) if isinstance(answer, Mapping) else ToolApproved()
        approvals: Any = {one.tool_call_id: yes if answer else ToolDenied("no") for one in paused.output.approvals}
        result = await agent.run(
            message_history=paused.all_messages(), deferred_tool_results=DeferredToolResults(approvals=approvals),
            conversation_id="one",
        )  # fmt: skip
        return Played(shell.ran, script.results, script.requests, str(result.output))

    async def play_cancelled(self, begun: Callable[[], None]) -> Played:
        def run(slow: Any) -> Any:
            agent = Agent(Script([["sleep"], "never said"]).model, capabilities=[capability(HOOKS)])
            agent.tool_plain(slow, name="shell")
            return agent.run("go")

        return await cancel_in_tool(begun, run)

    async def play_subagent(self, agent: str, command: str) -> Played:
        inner, outer, shell = Script([[command], "inner is done"]), Script([["go"], "done"], tool=agent), Shell()
        governed = capability(HOOKS, agents=[agent])
        helper = _agent(inner, shell, governed)
        boss = Agent(outer.model, capabilities=[governed])

        async def ask_helper(ctx: RunContext[None], cmd: str) -> str:
            return str((await helper.run(cmd)).output)

        boss.tool(ask_helper, name=agent)
        result = await boss.run("go")
        return Played(shell.ran, [*inner.results, *outer.results], outer.requests, str(result.output))

    async def play_object(self) -> Any:
        visit, got = make_visit()

        def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            return ModelResponse([TextPart("done") if len(messages) > 1 else ToolCallPart("visit", VISIT, "call-1")])

        agent = Agent(FunctionModel(answer), tools=[visit], capabilities=[capability(HOOKS)])
        await agent.run("go")
        return got[0]


def _agent(script: Script, shell: Shell, governed: Any) -> Agent[None, Any]:
    agent: Agent[None, Any] = Agent(script.model, output_type=[str, DeferredToolRequests], capabilities=[governed])
    agent.tool_plain(shell.__call__, name="shell")
    return agent


test_the_same_hooks_hold = rows_of(PydanticAI)


def test_an_inner_agent_without_the_capability_escapes() -> None:
    inner, outer, shell = Script([["rm -rf /"], "inner is done"]), Script([["go"], "done"], tool="helper"), Shell()
    helper: Agent[None, str] = Agent(inner.model)
    helper.tool_plain(shell.__call__, name="shell")
    boss: Agent[None, str] = Agent(outer.model, capabilities=[capability(HOOKS, agents=["helper"])])

    @boss.tool_plain(name="helper")
    async def ask_helper(cmd: str) -> str:
        return (await helper.run(cmd)).output

    boss.run_sync("go")

    assert shell.ran == ["rm -rf /"]


def test_a_direct_call_of_the_function_behind_a_tool_escapes() -> None:
    shell = Shell()
    _agent(Script([]), shell, capability(HOOKS))

    shell("rm -rf /")

    assert shell.ran == ["rm -rf /"]


def test_the_page_shows_what_its_program_prints() -> None:
    assert_page_shows("pydantic_ai")
