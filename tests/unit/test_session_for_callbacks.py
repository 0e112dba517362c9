"""What a host with callbacks needs of a session: blocks that end a call, flows for both kinds of hosts, lazy fields."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

import pytest
from tests.unit.session_hosts import Collector

from interpose import Hooks, Session, context, deny, json_view, modify

LS = {"command": "ls"}


def run_at_once(flow: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that must not wait for the event loop."""
    with pytest.raises(StopIteration) as ended:
        flow.send(None)
    return ended.value.value


def test_a_session_that_has_begun_is_found_without_a_turn_of_the_event_loop() -> None:
    async def main() -> bool:
        async with Hooks().sessions() as sessions:
            first = await sessions.get("a")
            return run_at_once(sessions.get("a")) is first

    assert asyncio.run(main())


def test_an_error_in_the_block_of_a_model_call_puts_its_context_back() -> None:
    hooks = Hooks()
    hooks.register("UserPromptSubmit", lambda event: context("be brief"))

    async def main() -> tuple[str, tuple[str, ...]]:
        async with hooks.session() as session:
            await session.prompt("hi")
            call = await session.begin_message("hi")
            with pytest.raises(OSError, match="no network"):
                async with call:
                    raise OSError("no network")
            return call.state, session.pending_context

    assert asyncio.run(main()) == ("done", ("be brief",))


def test_the_block_of_a_model_call_without_an_event_loop_ends_it_too() -> None:
    with Hooks().session_sync() as session:
        call = session.begin_message("hi")
        with pytest.raises(OSError, match="no network"), call:
            raise OSError("no network")

        assert call.state == "done"


def test_a_model_call_that_is_done_in_its_block_stays_done() -> None:
    async def main() -> Any:
        async with Hooks().session() as session:
            call = await session.begin_message("hi")
            with contextlib.suppress(ValueError):
                async with call:
                    await call.done("hello")
                    raise ValueError("late")
            return call.answer

    assert asyncio.run(main()).content == "hello"


def test_a_flow_that_is_written_once_runs_without_an_event_loop() -> None:
    async def flow(session: Session, name: str, *, text: str) -> Any:
        call = await session.begin_tool(name, LS)
        return await call.done(text)

    with Hooks().session_sync() as session:
        assert session.run(flow, "Bash", text="a b").content == "a b"


def test_a_subagent_that_cannot_be_run_again_ends_although_a_hook_keeps_it_going() -> None:
    hooks = Hooks()
    hooks.register("SubagentStop", lambda event: deny("go on"))
    heard = Collector(hooks)

    async def main() -> Any:
        async with hooks.session() as session:
            agent = await session.begin_agent("helper")
            answer = await agent.done("ok", may_continue=False)
            return agent.state, answer.keep_going, answer.content

    assert asyncio.run(main()) == ("done", False, "ok")
    assert [len(heard.of(event)) for event in ("SubagentStop", "post:agent:complete")] == [1, 1]


def test_a_handoff_to_an_agent_with_a_session_of_its_own_changes_nothing_here() -> None:
    async def main() -> Any:
        async with Hooks().session() as session:
            answer = await session.handoff("billing", acts=False)
            return answer.ok, session.agent_type

    assert asyncio.run(main()) == (True, None)


@pytest.mark.parametrize(("command", "calls"), [("ls", 0), ("rm", 1)])
def test_a_schema_is_made_when_a_hook_changes_the_input(command: str, calls: int) -> None:
    made: list[str] = []

    def schema() -> dict[str, Any]:
        made.append("made")
        return {"properties": {"command": {"type": "string"}}}

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: modify(tool_input={"command": 5}), matcher="rm")

    async def main() -> str:
        async with hooks.session() as session:
            return (await session.begin_tool(command, LS, schema=schema)).state

    assert asyncio.run(main()) == ("denied" if calls else "run")
    assert len(made) == calls


@pytest.mark.parametrize("is_seen", [False, True])
def test_tool_calls_are_viewed_when_something_looks_at_the_event(is_seen: bool) -> None:
    looked: list[Any] = []
    hooks = Hooks()
    if is_seen:
        hooks.register("post:message", lambda event: None)

    def view(value: Any) -> Any:
        looked.append(value)
        return json_view(value)

    async def main() -> None:
        async with hooks.session(view=view) as session:
            call = await session.begin_message("hi", tools=[{"name": "shell"}])
            await call.done("hello", tool_calls=[{"name": "shell"}])

    asyncio.run(main())

    assert looked == ([[{"name": "shell"}]] if is_seen else [])


def test_a_hook_that_says_nothing_leaves_the_hosts_own_objects() -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None)
    hooks.register("PostToolUse", lambda event: None)
    given, result = {"command": "ls"}, ["a", "b"]

    async def main() -> Any:
        async with hooks.session() as session:
            call = await session.begin_tool("Bash", given)
            answer = await call.done(result)
            return call.input, answer.content, answer.changed

    assert asyncio.run(main()) == (given, result, False)
