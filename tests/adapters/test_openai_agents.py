"""The OpenAI Agents SDK, on its own ScriptedModel."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from agents import (
    Agent,
    InputGuardrailTripwireTriggered,
    ModelProvider,
    RunConfig,
    Runner,
    RunState,
    ShellTool,
    UserError,
    WebSearchTool,
    function_tool,
)
from agents.realtime import RealtimeAgent
from agents.testing import ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseFunctionWebSearch
from openai.types.responses.response_function_web_search import ActionSearch
from tests.adapters.driver import HOOKS, Driver, Played, Shell, Turn
from tests.adapters.pages import assert_page_shows
from tests.adapters.rows import count, house, rows_of
from tests.adapters.scenes import VISIT, cancel_in_tool, make_visit

from interpose import UsageError
from interpose.adapters.openai_agents import governed

QUIET = RunConfig(tracing_disabled=True)


def script(turns: Sequence[Turn], tool: str = "shell", field: str = "cmd") -> ScriptedModel:
    steps = []
    for at, turn in enumerate(turns):
        calls = [] if isinstance(turn, str) else turn
        said = [function_call(tool, {field: one}, call_id=f"call-{at}-{n}") for n, one in enumerate(calls)]
        steps.append([assistant_message(turn)] if isinstance(turn, str) else said)
    return ScriptedModel(steps)


def _agent(model: Any, shell: Shell, **more: Any) -> Agent[Any]:
    return Agent("boss", model=model, tools=[_tool(shell)], **more)


def _tool(shell: Shell) -> Any:
    def run(cmd: str) -> str:
        return shell(cmd)

    return function_tool(run, name_override="shell")


def _texts(given: Any) -> str:
    items = [{"content": given}] if isinstance(given, str) else given
    return "\n".join(str(one.get("content") or one.get("output") or "") for one in items)


def _results(*models: ScriptedModel) -> list[str]:
    return [str(one["output"]) for model in models if model.last_call for one in model.last_call.input
            if isinstance(one, dict) and "output" in one]  # fmt: skip


def _played(shell: Shell, model: ScriptedModel, final: Any) -> Played:
    requests = [f"{one.system_instructions}\n{_texts(one.input)}" for one in model.calls]
    return Played(shell.ran, _results(model), requests, str(final))


class OpenAIAgents(Driver):
    cannot: ClassVar[Mapping[str, str]] = {
        "pause_edited": "RunState.approve takes no other input",
    }

    async def play(
        self, turns: Sequence[Turn], *, prompt: str = "go", ask: Any = None, conversation: str = "one",
        streamed: bool = False, hooks: Path = HOOKS,
    ) -> Played:  # fmt: skip
        model, shell = script(turns), Shell()
        agent = governed(hooks, _agent(model, shell), conversation=conversation, ask=ask)
        try:
            if streamed:
                streaming = Runner.run_streamed(agent, prompt, run_config=QUIET)
                async for _ in streaming.stream_events():
                    pass
                final = streaming.final_output
            else:
                final = (await Runner.run(agent, prompt, run_config=QUIET)).final_output
        except InputGuardrailTripwireTriggered as denied:
            final = denied.guardrail_result.output.output_info
        return _played(shell, model, final)

    def play_sync(self, turns: Sequence[Turn]) -> Played:
        model, shell = script(turns), Shell()
        final = Runner.run_sync(governed(HOOKS, _agent(model, shell)), "go", run_config=QUIET).final_output
        return _played(shell, model, final)

    async def play_question(self, turns: Sequence[Turn], answer: bool | Mapping[str, Any]) -> Played:
        if not isinstance(answer, bool):
            raise NotImplementedError(self.cannot["pause_edited"])
        model, shell = script(turns), Shell()
        agent = governed(HOOKS, _agent(model, shell))
        paused = await Runner.run(agent, "go", run_config=QUIET)
        [question] = paused.interruptions
        assert shell.ran == []
        state = paused.to_state()
        if answer:
            state.approve(question)
        else:
            state.reject(question)
        result = await Runner.run(agent, state, run_config=QUIET)
        return _played(shell, model, result.final_output)

    async def play_cancelled(self, begun: Callable[[], None]) -> Played:
        def run(slow: Any) -> Any:
            tool = function_tool(slow, name_override="shell")
            agent = Agent("boss", model=script([["sleep"], "never said"]), tools=[tool])
            return Runner.run(governed(HOOKS, agent), "go", run_config=QUIET)

        return await cancel_in_tool(begun, run)

    async def play_subagent(self, agent: str, command: str) -> Played:
        inner, outer, shell = script([[command], "inner is done"]), script([["go"], "done"], agent, "input"), Shell()
        helper = Agent(agent, model=inner, tools=[_tool(shell)])
        tool = governed(HOOKS, helper).as_tool(agent, "Ask the helper.", run_config=QUIET)
        boss = governed(HOOKS, Agent("boss", model=outer, tools=[tool]))
        result = await Runner.run(boss, "go", run_config=QUIET)
        return Played(shell.ran, _results(inner, outer), [], str(result.final_output))

    async def play_handoff(self, to_agent: str, command: str) -> Played:
        shell, inner = Shell(), script([[command], "done by the other one"])
        outer = ScriptedModel(
            [[function_call(f"transfer_to_{to_agent}", {}, call_id="call-1")], [assistant_message("no")]]
        )
        helper = Agent(to_agent, model=inner, tools=[_tool(shell)])
        boss = governed(HOOKS, Agent("boss", model=outer, handoffs=[helper]))
        result = await Runner.run(boss, "go", run_config=QUIET)
        return Played(shell.ran, _results(inner, outer), [], str(result.final_output))

    async def play_object(self) -> Any:
        visit, got = make_visit()
        model = ScriptedModel([[function_call("visit", VISIT, call_id="call-1")], [assistant_message("done")]])
        await Runner.run(
            governed(HOOKS, Agent("boss", model=model, tools=[function_tool(visit)])), "go", run_config=QUIET
        )
        return got[0]


test_the_same_hooks_hold = rows_of(OpenAIAgents)


# What holds beside the table.


async def run(agent: Agent[Any], given: Any = "go", **more: Any) -> Any:
    return await Runner.run(agent, given, run_config=QUIET, **more)


@pytest.fixture(autouse=True)
def _forget() -> None:
    house.seen.clear()


def test_an_error_reaches_the_model_in_the_words_of_the_framework() -> None:
    said = []
    for change in (lambda agent: agent, lambda agent: governed(HOOKS, agent)):
        model = script([["boom"], "done"])
        asyncio.run(run(change(_agent(model, Shell()))))
        said += _results(model)

    assert said[0] == said[1]
    assert said[0].startswith("An error occurred")


def test_a_tool_of_an_ungoverned_agent_is_refused_when_it_is_governed() -> None:
    helper = Agent("helper", model=script(["done"]))

    with pytest.raises(UsageError, match="runs the agent helper, which is not governed"):
        governed(HOOKS, Agent("boss", tools=[helper.as_tool("helper", "Ask.")], model=script([])))


def test_a_shell_tool_that_runs_here_is_refused_when_it_is_governed() -> None:
    with pytest.raises(UsageError, match="shell runs here and cannot be governed"):
        governed(HOOKS, Agent("boss", tools=[ShellTool(executor=lambda request: "")], model=script([])))


def test_an_agent_of_another_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="RealtimeAgent is not an Agent"):
        governed(HOOKS, RealtimeAgent("voice"))  # type: ignore[type-var]


def test_a_model_of_the_run_raises_because_it_passes_no_hooks() -> None:
    shell = Shell()
    agent = governed(HOOKS, _agent(script(["never"]), shell))
    for turns in (["text"], [["ls"], "done"]):
        with pytest.raises(UserError, match="replaces the governed model"):
            asyncio.run(Runner.run(agent, "go", run_config=RunConfig(model=script(turns), tracing_disabled=True)))
    assert shell.ran == []


def test_a_model_by_name_is_found_by_the_provider() -> None:
    class Provider(ModelProvider):
        def get_model(self, model_name: str | None) -> Any:
            assert model_name == "mine"
            return script(["the password is"])

    agent = governed(HOOKS, Agent("boss", model="mine"), provider=Provider())
    assert asyncio.run(run(agent)).final_output == "the [redacted] is"


def test_runs_of_one_conversation_are_one_session() -> None:
    agent = governed(HOOKS, _agent(script(["one", "two", "three"]), Shell()), conversation=lambda ctx: ctx.context)

    async def runs() -> None:
        for chat in ("a", "a", "b"):
            await run(agent, context=chat)

    asyncio.run(runs())
    assert count("SessionStart") == 2
    assert [one["session_id"] for one in house.seen if one["hook_event_name"] == "Stop"] == ["a", "a", "b"]


def test_a_question_is_answered_in_another_process() -> None:
    model, shell = script([["askme x"], "done"]), Shell()
    agent = _agent(model, shell)

    async def ask() -> str:
        return (await run(governed(HOOKS, agent))).to_state().to_string()

    async def answer(text: str) -> Any:
        other = governed(HOOKS, agent)
        state = await RunState.from_string(other, text)
        [question] = state.get_interruptions()
        state.approve(question)
        return await run(other, state)

    assert asyncio.run(answer(asyncio.run(ask()))).final_output == "done"
    assert shell.ran == ["askme x"]


def test_a_question_of_a_subagent_pauses_the_run() -> None:
    inner, outer, shell = script([["askme x"], "inner"]), script([["go"], "done"], "helper", "input"), Shell()
    tool = governed(HOOKS, Agent("helper", model=inner, tools=[_tool(shell)])).as_tool(
        "helper", "Ask.", run_config=QUIET
    )
    boss = governed(HOOKS, Agent("boss", model=outer, tools=[tool]))

    async def play() -> Any:
        paused = await run(boss)
        [question] = paused.interruptions
        assert shell.ran == []
        state = paused.to_state()
        state.approve(question)
        return await run(boss, state)

    assert asyncio.run(play()).final_output == "done"
    assert shell.ran == ["askme x"]
    assert count("SubagentStart") == 2  # the framework runs the tool again to go on with its agent


def test_a_stream_that_may_not_stop_goes_on() -> None:
    played = asyncio.run(OpenAIAgents().play(["early", "late"], streamed=True))

    assert played.final == "late"
    assert "not done yet, go on" in played.requests[1]


def test_a_halt_ends_a_stream() -> None:
    played = asyncio.run(OpenAIAgents().play([["halt"], "never said"], streamed=True))

    assert len(played.requests) == 1
    assert "a hook ends the turn" in played.final


def test_a_refused_handoff_is_told_to_the_model() -> None:
    outer = ScriptedModel([[function_call("transfer_to_forbidden", {}, call_id="call-1")], [assistant_message("no")]])
    boss = governed(HOOKS, Agent("boss", model=outer, handoffs=[Agent("forbidden", model=script([]))]))

    assert asyncio.run(run(boss)).final_output == "no"
    assert "nothing is handed to that agent" in str(outer.calls[1].system_instructions)


# What escapes: each test fails on the day on which the framework closes the hole.


def test_escapes_a_tool_that_the_provider_runs() -> None:
    found = ResponseFunctionWebSearch(
        id="ws-1", type="web_search_call", status="completed", action=ActionSearch(type="search", query="secret plans")
    )
    model = ScriptedModel([[found, assistant_message("done")]])
    asyncio.run(run(governed(HOOKS, Agent("boss", model=model, tools=[WebSearchTool()]))))

    assert count("PreToolUse") == 0


def test_escapes_an_agent_that_a_tool_runs_without_the_adapter() -> None:
    shell = Shell()
    helper = Agent("helper", model=script([["rm -rf /"], "done"]), tools=[_tool(shell)])

    async def ask_helper(cmd: str) -> str:
        return str((await run(helper, cmd)).final_output)

    tool = function_tool(ask_helper, name_override="helper")
    asyncio.run(run(governed(HOOKS, Agent("boss", model=script([["go"], "done"], "helper"), tools=[tool]))))

    assert shell.ran == ["rm -rf /"]


def test_escapes_the_agent_that_was_copied_and_its_tools() -> None:
    model, shell = script([["rm -rf /"], "done"]), Shell()
    agent = _agent(model, shell)
    governed(HOOKS, agent)
    asyncio.run(run(agent))

    assert shell.ran == ["rm -rf /"]


def test_escapes_text_that_is_streamed_before_hooks_see_the_answer() -> None:
    async def stream() -> tuple[str, str]:
        streaming = Runner.run_streamed(
            governed(HOOKS, _agent(script(["the password is"]), Shell())), "go", run_config=QUIET
        )
        texts = [one.data.delta async for one in streaming.stream_events()
                 if one.type == "raw_response_event" and one.data.type == "response.output_text.delta"]  # fmt: skip
        return "".join(texts), str(streaming.final_output)

    assert asyncio.run(stream()) == ("the password is", "the [redacted] is")


def test_escapes_the_end_of_a_run_that_a_tool_ends() -> None:
    agent = _agent(script([["ls"]]), Shell(), tool_use_behavior="stop_on_first_tool")
    asyncio.run(run(governed(HOOKS, agent)))

    assert count("Stop") == 0


def test_a_call_with_no_text_as_arguments_is_paused_by_the_framework() -> None:
    shell = Shell()

    def look() -> str:
        return shell("look")

    model = ScriptedModel([[function_call("look", "", call_id="call-1")], [assistant_message("done")]])
    agent = Agent("boss", model=model, tools=[function_tool(look)])
    assert len(asyncio.run(run(governed(HOOKS, agent))).interruptions) == 1


def test_the_page_shows_what_its_program_prints() -> None:
    assert_page_shows("openai_agents")
