"""Google ADK, on a model of its own kind that says scripted turns."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.code_executors import UnsafeLocalCodeExecutor
from google.adk.models import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools import AgentTool, FunctionTool
from google.genai import types
from tests.adapters.driver import HOOKS, Driver, Played, Shell, Turn
from tests.adapters.pages import assert_page_shows
from tests.adapters.rows import house, rows_of
from tests.adapters.scenes import VISIT, Place, cancel_in_tool

from interpose.adapters.google_adk import plugin

# An AgentTool of ADK itself makes its runner in this way.
pytestmark = pytest.mark.filterwarnings("ignore:The `plugins` argument is deprecated:DeprecationWarning")


class Script(BaseLlm):
    """A model that says its turns one after another and writes down what it is asked."""

    turns: list[Any]
    tool: str = "shell"
    field: str = "cmd"
    requests: list[str]
    results: list[str]

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[LlmResponse]:
        parts = [part for content in llm_request.contents for part in content.parts]
        system = llm_request.config.system_instruction or ""
        self.requests.append("\n".join([str(system), *(_text(part) for part in parts)]))
        self.results[:] = [_text(part) for part in parts if part.function_response]
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            if stream:
                yield LlmResponse(content=_content("model", turn), partial=True)
            yield LlmResponse(content=_content("model", turn))
            return
        calls = [one if isinstance(one, types.FunctionCall) else self.call(one) for one in turn]
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=one) for one in calls]))

    def call(self, command: str) -> types.FunctionCall:
        return types.FunctionCall(name=self.tool, args={self.field: command})


def _text(part: Any) -> str:
    return str(part.function_response.response) if part.function_response else part.text or ""


def _content(role: str, text: str) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])


def _script(turns: Sequence[Any], tool: str = "shell", field: str = "cmd") -> Script:
    return Script(model="script", turns=list(turns), tool=tool, field=field, requests=[], results=[])


def _tool(function: Any, name: str) -> FunctionTool:
    tool = FunctionTool(function)
    tool.name = name
    return tool


def _agent(script: Script, shell: Shell, name: str = "boss", **more: Any) -> LlmAgent:
    def run_command(cmd: str) -> str:
        """Run a command."""
        return shell(cmd)

    return LlmAgent(name=name, model=script, tools=[_tool(run_command, "shell")], **more)


class Host:
    """A runner with the plugin, and one conversation."""

    def __init__(self, agent: LlmAgent, *plugins: Any, conversation: str = "one") -> None:
        self.runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=list(plugins)))
        self.conversation = conversation

    async def run(
        self, message: types.Content | str, mode: StreamingMode = StreamingMode.NONE, user: str = "me"
    ) -> list[Any]:
        known = {"app_name": "app", "user_id": user, "session_id": self.conversation}
        if await self.runner.session_service.get_session(**known) is None:
            await self.runner.session_service.create_session(**known)
        given = _content("user", message) if isinstance(message, str) else message
        running = self.runner.run_async(
            user_id=user, session_id=self.conversation, new_message=given, run_config=RunConfig(streaming_mode=mode)
        )
        return [event async for event in running]


def _final(events: list[Any]) -> str:
    texts = [event.content.parts[0].text for event in events if event.content and event.content.parts]
    return next((text for text in reversed(texts) if text), "")


class GoogleADK(Driver):
    cannot: ClassVar[Mapping[str, str]] = {}

    async def play(
        self, turns: Sequence[Turn], *, prompt: str = "go", ask: Any = None, conversation: str = "one",
        streamed: bool = False, hooks: Path = HOOKS,
    ) -> Played:  # fmt: skip
        script, shell = _script(turns), Shell()
        host = Host(_agent(script, shell), plugin(hooks, ask=ask), conversation=conversation)
        events = await host.run(prompt, StreamingMode.SSE if streamed else StreamingMode.NONE)
        return Played(shell.ran, script.results, script.requests, _final(events))

    def play_sync(self, turns: Sequence[Turn]) -> Played:
        script, shell = _script(turns), Shell()
        runner = Host(_agent(script, shell), plugin(HOOKS)).runner
        runner.session_service.create_session_sync(app_name="app", user_id="me", session_id="one")
        events = list(runner.run(user_id="me", session_id="one", new_message=_content("user", "go")))
        return Played(shell.ran, script.results, script.requests, _final(events))

    async def play_question(self, turns: Sequence[Turn], answer: bool | Mapping[str, Any]) -> Played:
        script, shell = _script(turns), Shell()
        host = Host(_agent(script, shell), plugin(HOOKS, ask="native"))
        asked = [call for event in await host.run("go") for call in event.get_function_calls()][-1]
        assert asked.name == "adk_request_confirmation"
        assert shell.ran == []
        said: dict[str, Any] = {"confirmed": bool(answer)}
        if isinstance(answer, Mapping):
            said["payload"] = {"tool_input": dict(answer)}
        response = types.FunctionResponse(id=asked.id, name=asked.name, response=said)
        events = await host.run(types.Content(role="user", parts=[types.Part(function_response=response)]))
        return Played(shell.ran, script.results, script.requests, _final(events))

    async def play_cancelled(self, begun: Callable[[], None]) -> Played:
        def run(slow: Any) -> Any:
            agent = LlmAgent(name="boss", model=_script([["sleep"], "never said"]), tools=[_tool(slow, "shell")])
            return Host(agent, plugin(HOOKS)).run("go")

        return await cancel_in_tool(begun, run)

    async def play_subagent(self, agent: str, command: str) -> Played:
        inner, outer = _script([[command], "inner is done"]), _script([["go"], "done"], agent, "request")
        shell = Shell()
        boss = LlmAgent(name="boss", model=outer, tools=[AgentTool(_agent(inner, shell, agent))])
        events = await Host(boss, plugin(HOOKS)).run("go")
        return Played(shell.ran, [*inner.results, *outer.results], outer.requests, _final(events))

    async def play_handoff(self, to_agent: str, command: str) -> Played:
        inner, outer = _script([[command], "done"]), _script([[to_agent], "stays"], "transfer_to_agent", "agent_name")
        shell = Shell()
        boss = LlmAgent(name="boss", model=outer, sub_agents=[_agent(inner, shell, to_agent)])
        events = await Host(boss, plugin(HOOKS)).run("go")
        return Played(shell.ran, [*inner.results, *outer.results], outer.requests, _final(events))

    async def play_object(self) -> Any:
        got: list[str] = []

        def visit(when: str, place: Place) -> str:  # it makes models of arguments, and nothing else
            """Visit a place."""
            got.append(f"{datetime.fromisoformat(when).year} {place.city}")
            return "ok"

        script = _script([[types.FunctionCall(name="visit", args=VISIT)], "done"])
        await Host(LlmAgent(name="boss", model=script, tools=[visit]), plugin(HOOKS)).run("go")
        return got[0]


test_the_same_hooks_hold = rows_of(GoogleADK)


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    house.seen.clear()


def _events(name: str) -> list[Any]:
    return [one for one in house.seen if one["hook_event_name"] == name]


def test_the_page_shows_what_its_program_prints() -> None:
    assert_page_shows("google_adk")


def test_users_with_the_same_session_id_have_a_session_each() -> None:
    governed = plugin(HOOKS)

    async def both() -> None:
        for user in ("me", "you"):
            agent = _agent(_script([["ls"], "done"]), Shell())
            await Host(agent, governed).run("go", user=user)

    asyncio.run(both())

    assert len({one["session_id"] for one in house.seen}) == 2


def test_a_denied_prompt_is_not_in_a_later_request() -> None:
    script = _script(["done"])
    host = Host(_agent(script, Shell()), plugin(HOOKS))

    async def both() -> None:
        await host.run("a badprompt")
        await host.run("another")

    asyncio.run(both())

    assert len(script.requests) == 1
    assert "badprompt" not in script.requests[0]


def test_a_question_that_the_tool_asks_itself_ends_no_call() -> None:
    shell = Shell()

    def run_command(cmd: str) -> str:
        """Run a command."""
        return shell(cmd)

    tool = FunctionTool(run_command, require_confirmation=True)
    agent = LlmAgent(
        name="boss", model=_script([[types.FunctionCall(name="run_command", args={"cmd": "ls"})], "done"]), tools=[tool]
    )
    asyncio.run(Host(agent, plugin(HOOKS)).run("go"))

    assert shell.ran == []
    assert _events("PostToolUse") == []


def test_an_error_of_the_adapter_denies(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(tool: Any) -> None:
        raise RuntimeError("no schema")

    monkeypatch.setattr(FunctionTool, "_get_declaration", lambda tool: None)
    monkeypatch.setattr("interpose.adapters.google_adk.schema_of", broken)
    played = asyncio.run(GoogleADK().play([["ls"], "done"]))

    assert played.ran == []
    assert "no schema" in played.results[0]


def test_sessions_end_with_the_runner_and_another_runner_can_use_the_plugin() -> None:
    governed = plugin(HOOKS)

    async def twice() -> list[str]:
        ran = []
        for _ in range(2):
            shell = Shell()
            host = Host(_agent(_script([["ls"], "done"]), shell), governed)
            await host.run("go")
            await host.runner.close()
            ran += shell.ran
        return ran

    assert asyncio.run(twice()) == ["ls -la", "ls -la"]
    assert len(_events("SessionEnd")) == 2


def test_the_schema_of_a_tool_has_a_private_name_only() -> None:
    def visit(when: str) -> str:
        """Visit."""
        return when

    declared = FunctionTool(visit)._get_declaration()

    assert declared is not None
    assert declared.parameters_json_schema
    assert not [name for name in dir(FunctionTool) if not name.startswith("_") and "declaration" in name]


# What escapes. Each of these fails on the day when the framework closes the hole.


def test_escapes_code_that_the_model_writes_for_a_code_executor() -> None:
    said: Any = _script(["```python\nprint(6 * 7)\n```", "done"])
    agent = LlmAgent(name="boss", model=said, code_executor=UnsafeLocalCodeExecutor())
    asyncio.run(Host(agent, plugin(HOOKS)).run("go"))

    assert "42" in said.requests[-1]
    assert _events("PreToolUse") == []


def test_escapes_a_tool_that_the_provider_runs() -> None:
    ran = types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="42"))
    written = types.Part(executable_code=types.ExecutableCode(code="6 * 7", language=types.Language.PYTHON))

    class Provider(Script):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[LlmResponse]:
            parts = [written, ran, types.Part(text="42")]
            yield LlmResponse(content=types.Content(role="model", parts=parts))

    agent = LlmAgent(name="boss", model=Provider(model="script", turns=[], requests=[], results=[]))
    events = asyncio.run(Host(agent, plugin(HOOKS)).run("go"))

    assert events[-1].content.parts[1].code_execution_result
    assert _events("PreToolUse") == []


def test_escapes_an_agent_tool_that_leaves_the_plugins_out() -> None:
    inner, outer, shell = (
        _script([["rm -rf /"], "inner is done"]),
        _script([["go"], "done"], "helper", "request"),
        Shell(),
    )
    tool = AgentTool(_agent(inner, shell, "helper"), include_plugins=False)
    asyncio.run(Host(LlmAgent(name="boss", model=outer, tools=[tool]), plugin(HOOKS)).run("go"))

    assert shell.ran == ["rm -rf /"]


def test_escapes_streamed_text_that_a_hook_rewrites() -> None:
    host = Host(_agent(_script(["the password is"]), Shell()), plugin(HOOKS))
    events = asyncio.run(host.run("go", StreamingMode.SSE))

    assert [event.content.parts[0].text for event in events] == ["the password is", "the [redacted] is"]


def test_escapes_an_input_that_a_callback_of_the_agent_changes() -> None:
    def change(tool: Any, args: dict[str, Any], tool_context: Any) -> None:
        args["cmd"] = "rm -rf /"

    shell = Shell()
    agent = _agent(_script([["ls"], "done"]), shell, before_tool_callback=change)
    asyncio.run(Host(agent, plugin(HOOKS)).run("go"))

    assert shell.ran == ["rm -rf /"]


def test_escapes_a_result_that_another_plugin_has_taken_before() -> None:
    class First(BasePlugin):
        async def after_tool_callback(self, *, result: Any, **_: Any) -> Any:
            return {"result": result}

    script = _script([["echo secret"], "done"])
    asyncio.run(Host(_agent(script, Shell()), First("first"), plugin(HOOKS)).run("go"))

    assert "secret" in script.results[0]
    assert _events("PostToolUse") == []


def test_escapes_a_direct_call_of_the_tool() -> None:
    shell = Shell()
    [tool] = _agent(_script([]), shell).tools
    asyncio.run(tool.run_async(args={"cmd": "rm -rf /"}, tool_context=None))

    assert shell.ran == ["rm -rf /"]
