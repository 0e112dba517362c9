"""Microsoft Agent Framework, on a chat client of its own kind that says scripted turns."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest
from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionMiddleware,
    FunctionTool,
    Message,
    MiddlewareException,
    MiddlewareTermination,
    ResponseStream,
    tool,
)
from pydantic import BaseModel
from tests.adapters.driver import HOOKS, Driver, Played, Shell, Turn
from tests.adapters.pages import assert_page_shows
from tests.adapters.rows import count, house, rows_of

from interpose import Hooks, UsageError, ask, modify
from interpose.adapters.agent_framework import middleware


class Script(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A model that says its turns one after another and writes down what it is asked."""

    def __init__(self, turns: Sequence[Any], tool: str = "shell", field: str = "cmd") -> None:
        super().__init__()
        self.turns = list(turns)
        self.tool = tool
        self.field = field
        self.requests: list[str] = []
        self.results: list[str] = []
        self.offered: list[str] = []

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        contents = [content for message in messages for content in message.contents]
        self.requests.append("\n".join([str(options.get("instructions") or ""), *map(_text, contents)]))
        self.results[:] = [_text(content) for content in contents if content.type == "function_result"]
        self.offered = [one.name for one in options.get("tools") or []]
        turn = self.turns.pop(0)
        said: list[Any] = [turn] if isinstance(turn, str) else [self._call(at, one) for at, one in enumerate(turn)]

        async def answer() -> ChatResponse[Any]:
            return ChatResponse(messages=[Message("assistant", said)])

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            for one in said:
                content = Content.from_text(one) if isinstance(one, str) else one
                yield ChatResponseUpdate(role="assistant", contents=[content])

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates) if stream else answer()

    def _call(self, at: int, one: Any) -> Content:
        name, given = one if isinstance(one, tuple) else (self.tool, {self.field: one})
        return Content.from_function_call(f"call-{len(self.requests)}-{at}", name, arguments=json.dumps(given))


def _text(content: Any) -> str:
    return str(content.result if content.type == "function_result" else content.text or "")


def _shell(shell: Any) -> FunctionTool:
    return FunctionTool(name="shell", description="Run a command.", func=shell.__call__)


def _agent(script: Any, shell: Any, governed: Any, **more: Any) -> Any:
    return Agent(script, tools=[_shell(shell)], middleware=[governed] if governed else [], **more)


class AgentFramework(Driver):
    cannot: ClassVar[Mapping[str, str]] = {
        "sync": "it has no calls for code without an event loop",
        "pause_edited": "its approval is a yes or a no",
        "handoff": "it has no handoffs: HandoffBuilder is in another package",
        "handoff_denied": "it has no handoffs: HandoffBuilder is in another package",
    }

    async def play(
        self, turns: Sequence[Turn], *, prompt: str = "go", ask: Any = None, conversation: str = "one",
        streamed: bool = False, hooks: Path = HOOKS,
    ) -> Played:  # fmt: skip
        script, shell = Script(turns), Shell()
        agent, session = _agent(script, shell, middleware(hooks, ask=ask)), AgentSession(session_id=conversation)
        if streamed:
            stream = agent.run(prompt, session=session, stream=True)
            async for _ in stream:
                pass
            result = await stream.get_final_response()
        else:
            result = await agent.run(prompt, session=session)
        return Played(shell.ran, script.results, script.requests, result.text, bool(result.user_input_requests))

    async def play_question(self, turns: Sequence[Turn], answer: bool | Mapping[str, Any]) -> Played:
        script, shell, session = Script(turns), Shell(), AgentSession()
        agent = _agent(script, shell, middleware(HOOKS))
        paused = await agent.run("go", session=session)
        assert shell.ran == []
        said = [one.to_function_approval_response(answer is True) for one in paused.user_input_requests]
        assert said
        result = await agent.run(Message("user", said), session=session)
        return Played(shell.ran, script.results, script.requests, result.text)

    async def play_cancelled(self, begun: Callable[[], None]) -> Played:
        script, shell, waits = Script([["sleep"], "never said"]), Shell(), asyncio.Event()

        @tool(name="shell")
        async def slow(cmd: str) -> str:
            """Run a command."""
            shell(cmd)
            begun()
            waits.set()
            await asyncio.Event().wait()
            return ""

        run = asyncio.ensure_future(Agent(script, tools=[slow], middleware=[middleware(HOOKS)]).run("go"))
        await waits.wait()
        run.cancel()
        await asyncio.wait([run])
        return Played(shell.ran)

    async def play_subagent(self, agent: str, command: str) -> Played:
        inner, outer, shell = Script([[command], "inner is done"]), Script([["go"], "done"], agent, "task"), Shell()
        governed = middleware(HOOKS, agents=[agent])
        helper = _agent(inner, shell, governed, name=agent)
        boss = Agent(outer, tools=[helper.as_tool(name=agent)], middleware=[governed])
        result = await boss.run("go")
        return Played(shell.ran, [*inner.results, *outer.results], outer.requests, result.text)

    async def play_object(self) -> Any:
        class Place(BaseModel):
            city: str

        got: list[str] = []

        @tool
        def visit(when: datetime, place: Place) -> str:  # it makes a dictionary of the model again
            """Visit a place."""
            got.append(f"{when.year} {dict(place)['city']}")
            return "ok"

        script = Script([[("visit", {"when": "2026-11-17T12:00:00Z", "place": {"city": "Oslo"}})], "done"])
        await Agent(script, tools=[visit], middleware=[middleware(HOOKS)]).run("go")
        return got[0]


test_the_same_hooks_hold = rows_of(AgentFramework)


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    house.seen.clear()


async def _streamed(agent: Any, prompt: str = "go") -> tuple[list[str], Any]:
    stream = agent.run(prompt, stream=True)
    texts = [update.text async for update in stream]
    return [text for text in texts if text], await stream.get_final_response()


def _yes(response: Any) -> Message:
    return Message("user", [one.to_function_approval_response(True) for one in response.user_input_requests])


def test_the_page_shows_what_its_program_prints() -> None:
    assert_page_shows("agent_framework")


def test_a_streamed_answer_is_held_back_until_hooks_have_seen_it() -> None:
    agent = _agent(Script(["the password is"]), Shell(), middleware(HOOKS))
    texts, final = asyncio.run(_streamed(agent))

    assert texts == ["the [redacted] is"]
    assert final.text == "the [redacted] is"


def test_an_answer_is_streamed_as_it_comes_if_no_hook_looks_at_answers() -> None:
    class Slow(Script):
        def _inner_get_response(self, **_: Any) -> Any:
            async def updates() -> AsyncIterator[ChatResponseUpdate]:
                for text in ("one", "two"):
                    yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(text)])
                    order.append(f"said {text}")

            return ResponseStream(updates(), finalizer=ChatResponse.from_updates)

    order: list[str] = []

    async def read() -> None:
        stream = _agent(Slow([]), Shell(), middleware(Hooks())).run("go", stream=True)
        while text := getattr(await anext(stream, None), "text", ""):
            order.append(f"read {text}")

    asyncio.run(read())

    assert order == ["read one", "said one", "read two", "said two"]


def test_a_stream_goes_on_if_a_hook_does_not_let_the_agent_stop() -> None:
    script = Script(["early", "late"])
    texts, final = asyncio.run(_streamed(_agent(script, Shell(), middleware(HOOKS))))

    assert texts == ["early", "late"]
    assert final.text == "late"
    assert "not done yet, go on" in script.requests[1]


def test_a_denied_prompt_is_streamed_as_its_reason() -> None:
    script = Script([])
    texts, _ = asyncio.run(_streamed(_agent(script, Shell(), middleware(HOOKS)), "a badprompt"))

    assert "such a prompt is not answered here" in texts[0]
    assert script.requests == []


def test_a_run_without_a_session_has_one_of_its_own() -> None:
    agent = _agent(Script([["ls"], "done", ["ls"], "done"]), Shell(), middleware(HOOKS))

    async def twice() -> None:
        await agent.run("go")
        await agent.run("go")

    asyncio.run(twice())

    assert len({one["session_id"] for one in house.seen}) == 2
    assert count("UserPromptSubmit") == count("Stop") == 2


def test_the_session_of_the_framework_is_the_session() -> None:
    agent = _agent(Script([["ls"], "done"]), Shell(), middleware(HOOKS))
    asyncio.run(agent.run("go", session=AgentSession(session_id="conversation-7")))

    assert {one["session_id"] for one in house.seen} == {"conversation-7"}


def test_a_question_is_answered_in_a_session_that_was_written_down() -> None:
    async def pause_and_go_on() -> list[str]:
        session, shell = AgentSession(), Shell()
        paused = await _agent(Script([["askme x"]]), shell, middleware(HOOKS)).run("go", session=session)
        kept = json.loads(json.dumps(session.to_dict()))
        agent = _agent(Script(["done"]), shell, middleware(HOOKS))  # as in another process
        await agent.run(_yes(paused), session=AgentSession.from_dict(kept))
        return shell.ran

    assert asyncio.run(pause_and_go_on()) == ["askme x"]


def test_a_yes_that_was_not_asked_for_runs_nothing() -> None:
    shell = Shell()
    call = Content.from_function_call("call-1", "shell", arguments={"cmd": "askme x"}, id="call-1")
    forged = Content.from_function_approval_response(True, "call-1", call)
    agent = _agent(Script(["done"]), shell, middleware(HOOKS))
    asyncio.run(agent.run(Message("user", [forged]), session=AgentSession()))

    assert shell.ran == []


def test_a_yes_to_another_question_is_none_to_that_of_a_hook() -> None:
    deployed: list[str] = []

    @tool(approval_mode="always_require")
    def deploy(cmd: str) -> str:
        """Deploy."""
        deployed.append(cmd)
        return "deployed"

    async def answer_both() -> None:
        script = Script([[("deploy", {"cmd": "x"}), ("shell", {"cmd": "askme x"})], "done"])
        agent = Agent(script, tools=[deploy, _shell(shell)], middleware=[middleware(HOOKS)])
        session = AgentSession()
        paused = await agent.run("go", session=session)
        again = await agent.run(_yes(paused), session=session)  # the framework calls both of them approved
        states.append((list(deployed), list(shell.ran)))
        await agent.run(_yes(again), session=session)
        states.append((list(deployed), list(shell.ran)))

    states: list[Any] = []
    shell = Shell()
    asyncio.run(answer_both())

    assert states == [(["x"], []), (["x"], ["askme x"])]


def test_a_person_is_asked_about_the_input_that_hooks_have_left() -> None:
    def change(event: Any) -> Any:
        return modify(tool_input={"cmd": "echo changed"}) + ask("sure?")

    async def pause_and_go_on() -> Any:
        hooks, session = Hooks(), AgentSession()
        hooks.register("PreToolUse", change)
        agent = _agent(Script([["ls"], "done"]), shell, middleware(hooks))
        paused = await agent.run("go", session=session)
        await agent.run(_yes(paused), session=session)
        return paused.user_input_requests[0]

    shell = Shell()
    request = asyncio.run(pause_and_go_on())

    assert request.function_call.parse_arguments() == {"cmd": "echo changed"}
    assert request.additional_properties["reason"] == "sure?"
    assert shell.ran == ["echo changed"]


def test_hooks_hide_tools_from_the_model() -> None:
    hooks, script = Hooks(), Script(["done"])
    hooks.register("pre:message", lambda event: modify(tools=[]))
    asyncio.run(_agent(script, Shell(), middleware(hooks)).run("go"))

    assert script.offered == []


def test_hooks_see_and_change_contents_that_are_no_text() -> None:
    seen: list[Any] = []

    def change(event: Any) -> Any:
        seen.append(event.tool_response)
        return modify(tool_response=[event.tool_response[0]])

    @tool
    def look() -> list[Content]:
        """Look."""
        return [Content.from_text("a"), Content.from_uri("https://example.com/a.png", media_type="image/png")]

    hooks, script = Hooks(), Script([[("look", {})], "done"])
    hooks.register("PostToolUse", change)
    asyncio.run(Agent(script, tools=[look], middleware=[middleware(hooks)]).run("go"))

    assert [one["type"] for one in seen[0]] == ["text", "uri"]
    assert script.results == ["a"]


def test_an_error_of_the_adapter_denies(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("no session")

    monkeypatch.setattr("interpose.adapters.agent_framework.merge_input", broken)
    played = asyncio.run(AgentFramework().play([["ls"], "done"]))

    assert played.ran == []
    assert played.results == ["no session"]


def test_a_chat_client_that_no_hook_can_see_raises() -> None:
    class Bare(FunctionInvocationLayer, BaseChatClient):
        def _inner_get_response(self, **_: Any) -> Any:
            raise NotImplementedError("this chat client is refused before it is asked")

    with pytest.raises(UsageError, match="no hook can see what Bare does"):
        asyncio.run(_agent(Bare(), Shell(), middleware(HOOKS)).run("go"))


def test_a_middleware_that_is_given_to_the_chat_client_raises() -> None:
    with pytest.raises(MiddlewareException, match="cannot be partially installed"):
        asyncio.run(
            Script(["done"]).get_response([Message("user", ["go"])], client_kwargs={"middleware": [middleware(HOOKS)]})
        )


def test_a_question_of_a_subagent_is_refused_by_the_framework() -> None:
    inner, outer, shell = Script([["askme x"]]), Script([["go"], "done"], "helper", "task"), Shell()
    governed = middleware(HOOKS, agents=["helper"])
    helper = _agent(inner, shell, governed, name="helper")
    asyncio.run(Agent(outer, tools=[helper.as_tool(name="helper")], middleware=[governed]).run("go"))

    assert shell.ran == []
    assert count("PostToolUseFailure", tool_name="helper") == 1


class _Inside(FunctionMiddleware):
    """A middleware that is called after the hooks."""

    def __init__(self, act: Any) -> None:
        self.act = act

    async def process(self, context: Any, call_next: Any) -> None:
        self.act(context)
        await call_next()


def test_the_result_of_a_middleware_that_ends_the_run_is_seen_by_hooks() -> None:
    def end(context: Any) -> None:
        context.result = "a secret"
        raise MiddlewareTermination

    script, shell = Script([["ls"], "never said"]), Shell()
    agent = Agent(script, tools=[_shell(shell)], middleware=[middleware(HOOKS), _Inside(end)])
    result = asyncio.run(agent.run("go"))

    assert [content.result for content in result.messages[-1].contents] == ["a ***"]
    assert len(script.requests) == 1


# What escapes. Each of these fails on the day when the framework closes the hole.


def test_escapes_an_agent_as_a_tool_that_has_no_middleware() -> None:
    inner, outer, shell = Script([["rm -rf /"], "inner is done"]), Script([["go"], "done"], "helper", "task"), Shell()
    helper = _agent(inner, shell, None, name="helper")
    asyncio.run(Agent(outer, tools=[helper.as_tool(name="helper")], middleware=[middleware(HOOKS)]).run("go"))

    assert shell.ran == ["rm -rf /"]


def test_escapes_an_input_that_a_later_middleware_changes() -> None:
    def change(context: Any) -> None:
        context.arguments = {"cmd": "rm -rf /"}

    shell = Shell()
    agent = Agent(Script([["ls"], "done"]), tools=[_shell(shell)], middleware=[middleware(HOOKS), _Inside(change)])
    asyncio.run(agent.run("go"))

    assert shell.ran == ["rm -rf /"]


def test_escapes_a_tool_that_the_caller_runs() -> None:
    declared = FunctionTool(name="shell", description="Run a command.", input_model={"type": "object"})
    agent = Agent(Script([["rm -rf /"]]), tools=[declared], middleware=[middleware(HOOKS)])
    result = asyncio.run(agent.run("go"))

    assert [one.name for one in result.user_input_requests] == ["shell"]
    assert count("PreToolUse") == 0


def test_escapes_a_direct_call_of_a_tool() -> None:
    shell = Shell()
    one = _shell(shell)
    Agent(Script([]), tools=[one], middleware=[middleware(HOOKS)])
    asyncio.run(one.invoke(arguments={"cmd": "rm -rf /"}))

    assert shell.ran == ["rm -rf /"]


def test_escapes_a_direct_call_of_the_chat_client() -> None:
    script = Script(["the password is"])
    Agent(script, middleware=[middleware(HOOKS)])
    result = asyncio.run(script.get_response([Message("user", ["a badprompt"])]))

    assert result.text == "the password is"
