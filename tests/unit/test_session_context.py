"""Context that hooks add: kept for the next model call, given once, and never lost."""

import asyncio
import threading
from typing import Any

import pytest
from tests.unit.session_hosts import Model, Tool, both, saying

from interpose import Hooks, context, inject

LS = {"command": "ls"}


@both
def test_context_goes_into_the_next_model_call_and_no_other(play: Any) -> None:
    hooks = saying("UserPromptSubmit", context("be brief"))
    model = Model()

    async def scenario(session: Any) -> tuple[str, ...]:
        await session.prompt("hi")
        pending: tuple[str, ...] = session.pending_context
        for _ in range(2):
            await session.message("hi", model, system="You are kind.")
        assert session.pending_context == ()
        return pending

    assert play(hooks, scenario) == ("be brief",)
    assert model.systems == ["You are kind.\n\nbe brief", "You are kind."]


@both
def test_context_of_all_events_comes_in_their_order(play: Any) -> None:
    hooks = Hooks()
    for event in ("SessionStart", "Setup", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure", "Stop"):
        hooks.register(event, lambda e: context(f"1 {e.row.name}"), inline=True)
        hooks.register(event, lambda e: {"systemMessage": f"2 {e.row.name}"}, inline=True)
    hooks.register("PostToolUse", lambda e: context("3") + inject("4", "system_context"), inline=True)
    model = Model()

    async def scenario(session: Any) -> None:
        await session.prompt("hi")
        await session.tool("Bash", LS, Tool())
        await session.tool("Bash", LS, Tool(OSError("x")))
        await session.stop()
        await session.message("hi", model)

    play(hooks, scenario)

    def of(event: str) -> list[str]:
        return [f"1 {event}", f"2 {event}"]

    assert model.systems[0].split("\n") == [
        *of("SessionStart"), *of("Setup"), *of("UserPromptSubmit"), *of("PreToolUse"), "3", "4", *of("PreToolUse"),
        *of("PostToolUseFailure"), *of("Stop"),
    ]  # fmt: skip


@both
def test_a_model_call_without_context_leaves_it_for_another(play: Any) -> None:
    model = Model()

    async def scenario(session: Any) -> None:
        await session.prompt("hi")
        await session.message("sum it up", model, system="s", with_context=False)
        await session.message("hi", model, system="s")

    play(saying("UserPromptSubmit", context("be brief")), scenario)

    assert model.systems == ["s", "s\n\nbe brief"]


@both
def test_context_without_a_system_prompt_stands_alone(play: Any) -> None:
    model = Model()

    async def scenario(session: Any) -> None:
        await session.prompt("hi")
        await session.message("hi", model)

    play(saying("UserPromptSubmit", context("a", "b")), scenario)

    assert model.systems == ["a\nb"]


@both
def test_what_no_model_has_seen_is_pending_again_and_stays_first(play: Any) -> None:
    hooks = saying("UserPromptSubmit", context("first"))
    hooks.register("PreToolUse", lambda event: context("second"), inline=True)
    model = Model()

    def broken(prompt: str, system: str) -> None:
        assert system == "first"
        raise OSError("no network")

    async def scenario(session: Any) -> None:
        await session.prompt("hi")
        with pytest.raises(OSError, match="no network"):
            await session.message("hi", broken)
        await session.tool("Bash", LS, Tool())
        await session.message("hi", model)

    play(hooks, scenario)

    assert model.systems == ["first\nsecond"]


@both
def test_a_message_that_is_denied_keeps_the_context(play: Any) -> None:
    hooks = saying("UserPromptSubmit", context("first"))
    hooks.register("pre:message", lambda event: {"abort": event.prompt == "bad"}, inline=True)
    model = Model()

    async def scenario(session: Any) -> None:
        await session.prompt("hi")
        await session.message("bad", model)
        await session.message("good", model)

    play(hooks, scenario)

    assert model.systems == ["first"]


def test_a_model_call_that_is_cancelled_gives_the_context_back() -> None:
    async def main() -> tuple[str, ...]:
        async with saying("UserPromptSubmit", context("first")).session() as session:
            await session.prompt("hi")
            sending = asyncio.Event()

            async def send(prompt: str, system: str) -> None:
                sending.set()
                await asyncio.Future()

            call = asyncio.ensure_future(session.message("hi", send))
            await sending.wait()
            assert session.pending_context == ()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            return session.pending_context

    assert asyncio.run(main()) == ("first",)


def test_concurrent_calls_lose_nothing_and_repeat_nothing() -> None:
    hooks = Hooks()

    async def add(event: Any) -> Any:
        await asyncio.sleep(0)
        return context(event.tool_use_id)

    hooks.register("PreToolUse", add)
    model = Model()

    async def send(prompt: str, system: str) -> Any:
        await asyncio.sleep(0)
        if prompt == "breaks":
            raise OSError
        return model(prompt, system)

    async def main() -> tuple[str, ...]:
        async with hooks.session() as session:
            calls = [session.tool("Bash", LS, Tool(), tool_use_id=f"t{number}") for number in range(100)]
            messages = [session.message("breaks" if number % 3 == 0 else "hi", send) for number in range(30)]
            mixed = [call for pair in zip(calls[:30], messages, strict=True) for call in pair] + calls[30:]
            await asyncio.gather(*mixed, return_exceptions=True)
            await session.message("hi", send)
            return session.pending_context

    assert asyncio.run(main()) == ()
    got = [text for system in model.systems for text in system.split("\n") if text]
    assert sorted(got) == sorted(f"t{number}" for number in range(100))


@pytest.mark.parametrize("kind", ["async", "plain"])
def test_what_a_hook_in_the_background_adds_reaches_the_next_model_call(kind: str) -> None:
    hooks = Hooks()
    model = Model()
    prompted = threading.Event()

    async def later(event: Any) -> Any:
        while not prompted.is_set():  # noqa: ASYNC110 - a function in a thread waits for the same
            await asyncio.sleep(0)
        return context("from the background")

    def later_in_a_thread(event: Any) -> Any:
        prompted.wait(10)
        return context("from the background")

    hooks.register("UserPromptSubmit", later if kind == "async" else later_in_a_thread, async_=True)

    async def main() -> None:
        async with hooks.session() as session:
            await session.prompt("hi")
            prompted.set()  # what is said earlier is in the outcome of the prompt itself
            async with asyncio.timeout(10):
                while not hooks.engine.late:  # noqa: ASYNC110 - nobody announces it
                    await asyncio.sleep(0)
            await session.message("hi", model, system="s")
            await session.message("hi", model, system="s")

    asyncio.run(main())

    assert model.systems == ["s\n\nfrom the background", "s"]


def test_what_was_said_in_the_background_before_a_subagent_began_is_not_for_it() -> None:
    hooks = Hooks()
    model = Model()
    prompted = threading.Event()

    def later(event: Any) -> Any:
        prompted.wait(10)
        return context("for the boss")

    hooks.register("UserPromptSubmit", later, async_=True)

    async def run(child: Any, config: Any) -> None:
        await child.message("look", model, system="child")

    async def main() -> None:
        async with hooks.session() as session:
            await session.prompt("hi")
            prompted.set()  # what is said earlier is in the outcome of the prompt itself
            async with asyncio.timeout(10):
                while not hooks.engine.late:  # noqa: ASYNC110 - nobody announces it
                    await asyncio.sleep(0)
            await session.spawn("explorer", run)
            await session.message("hi", model, system="boss")

    asyncio.run(main())

    assert model.systems == ["child", "boss\n\nfor the boss"]


@both
def test_a_message_for_the_person_is_shown_and_is_no_context(play: Any) -> None:
    hooks = saying("PostToolUse", {"systemMessage": "careful"}, dialect="claude")
    shown: list[str] = []

    async def scenario(session: Any) -> Any:
        await session.tool("Bash", LS, Tool())
        return session.pending_context

    assert play(hooks, scenario, show=shown.append) == ()
    assert shown == ["careful"]
