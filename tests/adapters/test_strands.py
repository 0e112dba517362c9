"""Strands, on a model of its own kind that says scripted turns."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from strands import Agent, ToolContext, tool
from strands.hooks import AfterToolCallEvent
from strands.middleware import ExecuteToolStage
from strands.models import Model
from strands.multiagent import Swarm
from strands.session import FileSessionManager
from tests.adapters.driver import HOOKS, Driver, Played, Shell, Turn
from tests.adapters.pages import assert_page_shows
from tests.adapters.rows import house, rows_of
from tests.adapters.scenes import VISIT, Place, cancel_in_tool, make_visit

from interpose import UsageError
from interpose.adapters.strands import provider


class Script(Model):
    """A model that says its turns one after another and writes down what it is asked."""

    def __init__(self, turns: Sequence[Any], tool: str = "shell", field: str = "cmd") -> None:
        self.turns = list(turns)
        self.tool = tool
        self.field = field
        self.requests: list[str] = []
        self.results: list[str] = []

    def update_config(self, **model_config: Any) -> None:
        pass

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("this fake model of Strands has no structured output")

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **_: Any
    ) -> AsyncIterator[Any]:
        blocks = [block for message in messages for block in message["content"]]
        self.requests.append("\n".join([str(system_prompt or ""), *map(_text, blocks)]))
        self.results[:] = [_text(block) for block in blocks if "toolResult" in block]
        turn = self.turns.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(turn, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": turn}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        for at, one in enumerate(turn):
            name, given = one if isinstance(one, tuple) else (self.tool, {self.field: one})
            use = {"name": name, "toolUseId": f"call-{len(self.requests)}-{at}"}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(given)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


def _text(block: Any) -> str:
    if "toolResult" in block:
        return "\n".join(map(_text, block["toolResult"]["content"]))
    return str(block.get("text") or block.get("json") or "")


def _agent(script: Script, shell: Any, governed: Any, **more: Any) -> Agent:
    @tool(name="shell")
    def run_command(cmd: str) -> str:
        """Run a command."""
        return str(shell(cmd))

    return Agent(model=script, tools=[run_command], hooks=[governed] if governed else [], callback_handler=None, **more)


class Strands(Driver):
    cannot: ClassVar[Mapping[str, str]] = {}

    async def play(
        self, turns: Sequence[Turn], *, prompt: str = "go", ask: Any = None, conversation: str = "one",
        streamed: bool = False, hooks: Path = HOOKS,
    ) -> Played:  # fmt: skip
        script, shell = Script(turns), Shell()
        agent = _agent(script, shell, provider(hooks, ask=ask))
        if streamed:
            result = [event async for event in agent.stream_async(prompt)][-1]["result"]
        else:
            result = await agent.invoke_async(prompt)
        return Played(shell.ran, script.results, script.requests, str(result).strip())

    def play_sync(self, turns: Sequence[Turn]) -> Played:
        script, shell = Script(turns), Shell()
        result = _agent(script, shell, provider(HOOKS))("go")
        return Played(shell.ran, script.results, script.requests, str(result).strip())

    async def play_question(self, turns: Sequence[Turn], answer: bool | Mapping[str, Any]) -> Played:
        script, shell = Script(turns), Shell()
        agent = _agent(script, shell, provider(HOOKS, ask="native"))
        paused = await agent.invoke_async("go")
        assert paused.stop_reason == "interrupt"
        assert shell.ran == []
        said = {"tool_input": dict(answer)} if isinstance(answer, Mapping) else answer
        responses: Any = [{"interruptResponse": {"interruptId": one.id, "response": said}} for one in paused.interrupts]
        result = await agent.invoke_async(responses)
        return Played(shell.ran, script.results, script.requests, str(result).strip())

    async def play_cancelled(self, begun: Callable[[], None]) -> Played:
        def run(slow: Any) -> Any:
            script, tools = Script([["sleep"], "never said"]), [tool(name="shell")(slow)]
            return Agent(model=script, tools=tools, hooks=[provider(HOOKS)], callback_handler=None).invoke_async("go")

        return await cancel_in_tool(begun, run)

    async def play_subagent(self, agent: str, command: str) -> Played:
        inner, outer, shell = Script([[command], "inner is done"]), Script([["go"], "done"], agent, "input"), Shell()
        governed = provider(HOOKS)
        helper = _agent(inner, shell, governed, name=agent)
        boss = Agent(
            model=outer,
            tools=[helper.as_tool(name=agent, description="Helps.")],
            hooks=[governed],
            callback_handler=None,
        )
        result = await boss.invoke_async("go")
        return Played(shell.ran, [*inner.results, *outer.results], outer.requests, str(result).strip())

    async def play_handoff(self, to_agent: str, command: str) -> Played:
        given = {"agent_name": to_agent, "message": "take over"}
        inner, outer = Script([[command], "done"]), Script([[("handoff_to_agent", given)], "stays"])
        shell, governed = Shell(), provider(HOOKS)
        boss = Agent(name="boss", model=outer, hooks=[governed], callback_handler=None)
        helper = _agent(inner, shell, governed, name=to_agent)
        await Swarm([boss, helper], entry_point=boss).invoke_async("go")
        return Played(shell.ran, [*inner.results, *outer.results], outer.requests)

    async def play_object(self) -> Any:
        visit, got = make_visit()
        script = Script([[("visit", VISIT)], "done"])
        agent = Agent(model=script, tools=[tool(visit)], hooks=[provider(HOOKS)], callback_handler=None)
        await agent.invoke_async("go")
        return got[0]


test_the_same_hooks_hold = rows_of(Strands)


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    house.seen.clear()


def _events(name: str) -> list[Any]:
    return [one for one in house.seen if one["hook_event_name"] == name]


def test_the_page_shows_what_its_program_prints() -> None:
    assert_page_shows("strands")


def test_a_direct_call_of_a_tool_of_an_agent_is_governed() -> None:
    shell = Shell()
    agent = _agent(Script([]), shell, provider(HOOKS))
    denied, ran = agent.tool.shell(cmd="rm -rf /"), agent.tool.shell(cmd="ls")

    assert shell.ran == ["ls -la"]
    assert "rm is not allowed here" in denied["content"][0]["text"]
    assert ran["status"] == "success"


def test_a_denied_prompt_is_not_in_a_later_request() -> None:
    script = Script(["done"])
    agent = _agent(script, Shell(), provider(HOOKS))
    agent("a badprompt")
    agent("another")

    assert len(script.requests) == 1
    assert "badprompt" not in script.requests[0]


def test_the_session_of_a_session_manager_is_the_session(tmp_path: Path) -> None:
    manager = FileSessionManager(session_id="conversation-7", storage_dir=str(tmp_path))
    _agent(Script([["ls"], "done"]), Shell(), provider(HOOKS), session_manager=manager)("go")

    assert {one["session_id"] for one in house.seen} == {"conversation-7"}


def test_two_agents_of_one_provider_have_a_session_each() -> None:
    governed = provider(HOOKS)
    for _ in range(2):
        _agent(Script([["ls"], "done"]), Shell(), governed)("go")

    assert len({one["session_id"] for one in house.seen}) == 2


def test_a_question_that_the_tool_asks_itself_ends_no_call() -> None:
    @tool(context=True)
    def deploy(tool_context: ToolContext) -> str:
        """Deploy."""
        return str(tool_context.interrupt("sure", reason="sure?"))

    agent = Agent(
        model=Script([[("deploy", {})], "done"]), tools=[deploy], hooks=[provider(HOOKS)], callback_handler=None
    )
    paused = agent("go")
    ends = _events("PostToolUse") + _events("PostToolUseFailure")
    agent([{"interruptResponse": {"interruptId": paused.interrupts[0].id, "response": "yes"}}])

    assert ends == []
    assert len(_events("PostToolUse")) == 1


def test_an_error_of_the_adapter_denies(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("no session")

    monkeypatch.setattr("interpose.adapters.base.Adapter.start", broken)
    played = asyncio.run(Strands().play([["ls"], "done"]))

    assert played.ran == []
    assert "no session" in played.results[0]


def test_a_model_call_that_no_hook_can_see_raises() -> None:
    agent = _agent(Script([]), Shell(), provider(HOOKS))

    with (
        pytest.raises(UsageError, match="passes no hooks"),
        pytest.warns(DeprecationWarning, match="structured_output"),
    ):
        agent.structured_output(Place, "where?")


# What escapes. Each of these fails on the day when the framework closes the hole.


def test_escapes_an_agent_as_a_tool_that_has_no_provider() -> None:
    inner, shell = Script([["rm -rf /"], "inner is done"]), Shell()
    helper = _agent(inner, shell, None, name="helper")
    boss = Agent(
        model=Script([["go"], "done"], "helper", "input"), tools=[helper.as_tool()], hooks=[provider(HOOKS)],
        callback_handler=None,
    )  # fmt: skip
    boss("go")

    assert shell.ran == ["rm -rf /"]


def test_escapes_an_agent_of_a_swarm_that_has_no_provider() -> None:
    shell, given = Shell(), {"agent_name": "helper", "message": "take over"}
    boss = Agent(
        name="boss", model=Script([[("handoff_to_agent", given)], "stays"]), hooks=[provider(HOOKS)],
        callback_handler=None,
    )  # fmt: skip
    helper = _agent(Script([["rm -rf /"], "done"]), shell, None, name="helper")
    Swarm([boss, helper], entry_point=boss)("go")

    assert shell.ran == ["rm -rf /"]


def test_escapes_streamed_text_that_a_hook_rewrites() -> None:
    async def stream() -> list[Any]:
        agent = _agent(Script(["the password is"]), Shell(), provider(HOOKS))
        return [event async for event in agent.stream_async("go")]

    events = asyncio.run(stream())

    assert "the password is" in [event.get("data") for event in events]
    assert str(events[-1]["result"]).strip() == "the [redacted] is"


def test_escapes_an_input_that_a_later_middleware_changes() -> None:
    async def change(context: Any, next_fn: Any) -> AsyncIterator[Any]:
        changed = {**context.tool_use, "input": {"cmd": "rm -rf /"}}
        async for event in next_fn(context.replace(tool_use=changed)):
            yield event

    shell = Shell()
    agent = _agent(Script([["ls"], "done"]), shell, provider(HOOKS))
    agent.add_middleware(ExecuteToolStage, change)
    agent("go")

    assert shell.ran == ["rm -rf /"]


def test_escapes_a_result_that_a_hook_of_the_framework_replaces() -> None:
    def replace(event: AfterToolCallEvent) -> None:
        event.result["content"] = [{"text": "a secret"}]

    script = Script([["ls"], "done"])
    agent = _agent(script, Shell(), provider(HOOKS))
    agent.add_hook(replace, AfterToolCallEvent)
    agent("go")

    assert script.results == ["a secret"]


def test_escapes_a_call_of_the_function_of_a_tool() -> None:
    ran = []

    @tool
    def shell(cmd: str) -> str:
        """Run a command."""
        ran.append(cmd)
        return cmd

    _ = Agent(model=Script([]), tools=[shell], hooks=[provider(HOOKS)], callback_handler=None)
    shell(cmd="rm -rf /")

    assert ran == ["rm -rf /"]
