"""A tool call in two halves: what a host with callbacks uses, and what no order of its calls can do."""

import asyncio
import gc
import inspect
import weakref
from typing import Any

import pytest
from tests.unit.session_hosts import LS, RM, Collector, Tool, both, saying

from interpose import (
    BegunTool,
    BlockingTool,
    Hooks,
    Session,
    SyncSession,
    UsageError,
    ask,
    context,
    deny,
    inject,
    later,
    modify,
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("own_state")


# The states.


@both
def test_a_call_that_may_run_is_ended_with_its_result(play: Any) -> None:
    hooks = saying("PreToolUse", modify(tool_input={"command": "ls -l"}))
    hooks.register("PostToolUse", lambda event: modify(tool_response=event.tool_response.upper()))

    async def scenario(session: Any) -> Any:
        call = await session.begin_tool("Bash", LS, id="t1")
        seen = (call.state, call.input, call.reason, call.question, call.answer, call.id)
        return seen, await call.done("a b"), call.state

    seen, answer, state = play(hooks, scenario)

    assert seen == ("run", {"command": "ls -l"}, "", None, None, "t1")
    assert (answer.ok, answer.content, answer.raw, answer.changed) == (True, "A B", "a b", True)
    assert [outcome.event for outcome in answer.outcomes] == ["PreToolUse", "PostToolUse"]
    assert state == "done"


@both
def test_a_result_that_no_hook_changed_says_so(play: Any) -> None:
    result = {"text": [1, 2]}

    async def scenario(session: Any) -> Any:
        return await (await session.begin_tool("Bash", LS)).done(result)

    for hooks in (
        Hooks(),
        saying("PostToolUse", context("noted")),
        saying("PostToolUse", modify(tool_response={"text": [1, 2]})),
    ):
        answer = play(hooks, scenario)
        assert (answer.content, answer.changed) == (result, False)


@both
@pytest.mark.parametrize("reply", [{"suppressOutput": True}, inject("and this")])
def test_a_result_that_was_withheld_or_added_to_is_changed(play: Any, reply: Any) -> None:
    async def scenario(session: Any) -> Any:
        return await (await session.begin_tool("Bash", LS)).done("result")

    answer = play(saying("PostToolUse", reply), scenario)

    assert answer.changed
    assert answer.raw == "result"


@both
def test_a_denied_call_has_its_reason_and_what_the_model_is_told(play: Any) -> None:
    async def scenario(session: Any) -> Any:
        return await session.begin_tool("Bash", RM)

    call = play(saying("PreToolUse", deny("no")), scenario)

    assert (call.state, call.reason, call.question) == ("denied", "no", None)
    assert (call.answer.ok, call.answer.denied, call.answer.content) == (False, True, "Bash was not run: no")
    assert call.answer.permission.by == "hook"


@both
def test_a_call_that_fails_is_ended_with_its_error(play: Any) -> None:
    hooks = saying("PostToolUseFailure", modify(error="it broke"))
    error = OSError("secret path")

    async def scenario(session: Any) -> Any:
        return await (await session.begin_tool("Bash", LS)).failed(error)

    answer = play(hooks, scenario)

    assert (answer.ok, answer.denied, answer.content, answer.error, answer.changed) == (
        False,
        False,
        "it broke",
        error,
        True,
    )


@both
def test_a_result_that_says_that_it_failed_is_what_the_model_sees_unless_a_hook_changes_the_error(play: Any) -> None:
    result = {"is_error": True, "text": "no such file"}

    async def halves(session: Any) -> Any:
        return await (await session.begin_tool("Read", {})).failed("no such file", result=result)

    async def whole(session: Any) -> Any:
        return await session.tool(
            "Read", {}, lambda given: result, failed=lambda made: made["is_error"] and made["text"]
        )

    for scenario in (halves, whole):
        hooks = Hooks()
        heard = Collector(hooks)
        answer = play(hooks, scenario)
        assert (answer.ok, answer.content, answer.raw, answer.changed, answer.error) == (
            False,
            result,
            result,
            False,
            None,
        )
        assert heard.of("PostToolUseFailure")[0].error == "no such file"
        assert not heard.of("PostToolUse")

        answer = play(saying("PostToolUseFailure", modify(error="hidden")), scenario)
        assert (answer.ok, answer.content, answer.changed) == (False, "hidden", True)


@both
def test_a_result_that_failed_without_words_has_its_own_text_as_the_error(play: Any) -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def scenario(session: Any) -> Any:
        good = await session.tool("Read", {}, lambda given: "fine", failed=lambda made: made == "bad")
        bad = await session.tool("Read", {}, lambda given: "bad", failed=lambda made: made == "bad")
        return good.ok, bad.ok

    assert play(hooks, scenario) == (True, False)
    assert heard.of("PostToolUseFailure")[0].error == "bad"


@both
def test_an_interrupted_call_says_so_to_hooks(play: Any) -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def scenario(session: Any) -> Any:
        return await (await session.begin_tool("Bash", LS)).failed(KeyboardInterrupt())

    assert not play(hooks, scenario).ok
    assert heard.of("PostToolUseFailure")[0].is_interrupt is True


@both
def test_extra_fields_reach_the_events_of_the_call(play: Any) -> None:
    server = {"name": "files", "version": "1"}
    hooks = saying("PreToolUse", ask("sure?"))
    heard = Collector(hooks)

    async def scenario(session: Any) -> None:
        await (await session.begin_tool("mcp__files__read", {}, mcp_server=server)).done("x")
        await session.tool("mcp__files__read", {}, Tool(OSError("x")), mcp_server=server)

    play(hooks, scenario, approver=lambda question: True)

    about_tools = [event for event in heard.events if event.get("tool_name")]
    assert [event.row.name for event in about_tools] == [
        "PreToolUse", "PermissionRequest", "PostToolUse", "PreToolUse", "PermissionRequest", "PostToolUseFailure",
    ]  # fmt: skip
    assert all(event.mcp_server == server for event in about_tools)


@both
@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("knd", "did you mean kind?"),
        ("shema", "did you mean schema?"),
        ("tool_input", "it is the second argument"),
        ("tool_use_id", "pass it as id="),
        ("agent_id", "set it for the session"),
    ],
)
def test_a_misspelt_option_of_a_call_is_an_error(play: Any, field: str, told: str) -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def scenario(session: Any) -> None:
        with pytest.raises(UsageError, match=told.replace("?", r"\?")):
            await session.begin_tool("Bash", LS, **{field: "x"})

    play(hooks, scenario)

    assert not heard.of("PreToolUse")


# What a call in a state cannot do.


@both
def test_a_call_is_ended_once(play: Any) -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def scenario(session: Any) -> None:
        for first in ("done", "failed"):
            call = await session.begin_tool("Bash", LS)
            await getattr(call, first)("x")
            for again in ("done", "failed"):
                with pytest.raises(
                    UsageError, match=r"this call of Bash is done \(done\(\) or failed\(\) was called already"
                ):
                    await getattr(call, again)("x")

    play(hooks, scenario)

    assert [name for name in heard.names if name.startswith("Post")] == ["PostToolUse", "PostToolUseFailure"]


@both
def test_a_call_that_was_denied_or_asked_about_cannot_be_ended_as_if_it_had_run(play: Any) -> None:
    async def scenario(session: Any) -> str:
        call = await session.begin_tool("Bash", LS)
        for end in (call.done, call.failed):
            with pytest.raises(UsageError, match=f"this call of Bash is {call.state}"):
                await end("x")
        return str(call.state)

    assert play(saying("PreToolUse", deny("no")), scenario) == "denied"
    assert play(saying("PreToolUse", ask("?")), scenario, approver=later) == "asked"


@both
def test_only_a_call_with_a_question_takes_an_answer(play: Any) -> None:
    async def scenario(session: Any) -> None:
        call = await session.begin_tool("Bash", LS)
        with pytest.raises(UsageError, match="there is no question to answer"):
            await call.said(True)

    play(Hooks(), scenario)
    play(saying("PreToolUse", deny("no")), scenario)


def test_a_call_that_is_dropped_is_not_kept() -> None:
    async def main() -> None:
        async with saying("PreToolUse", None).session(approver=later) as session:
            calls = [weakref.ref(await session.begin_tool("Bash", LS, id=str(number))) for number in range(10)]
            gc.collect()
            assert [call() for call in calls] == [None] * 10

    asyncio.run(main())


def test_at_most_a_thousand_questions_are_kept() -> None:
    async def main() -> int:
        async with saying("PreToolUse", ask("?"), inline=True).session(approver=later) as session:
            calls = [weakref.ref(await session.begin_tool("Bash", LS, id=str(number))) for number in range(1010)]
            gc.collect()
            return sum(call() is not None for call in calls)

    assert asyncio.run(main()) == 1000


# Both faces of one session.


def test_a_session_has_a_blocking_face_with_the_same_state() -> None:
    hooks = saying("PreToolUse", ask("?"))
    hooks.register("PostToolUse", lambda event: context("noted"))
    heard = Collector(hooks)

    async def main() -> Any:
        async with hooks.session(approver=later) as session:
            await session.begin_tool("Bash", LS, id="t1")

            def in_a_thread() -> Any:
                call = session.blocking.begin_tool("Bash", LS, id="t1")
                assert isinstance(call, BlockingTool)
                assert (call.state, call.said(True)) == ("asked", "run")
                session.blocking.mode = "acceptEdits"
                return call.done("x")

            answer = await asyncio.to_thread(in_a_thread)
            return (
                answer.content,
                session.pending_context,
                session.mode,
                session.blocking.session_id == session.session_id,
            )

    assert asyncio.run(main()) == ("x", ("noted",), "acceptEdits", True)
    assert len(heard.of("PreToolUse")) == 1


def test_every_method_of_a_session_has_a_blocking_twin() -> None:
    for plain, blocking in ((Session, SyncSession), (BegunTool, BlockingTool)):
        awaited = {name for name, value in vars(plain).items() if inspect.iscoroutinefunction(value)}
        missing = {name for name in awaited if not name.startswith("_") and name not in vars(blocking)}
        assert missing - {"begin", "halt"} == set()  # the session calls these


def test_a_blocking_face_works_on_the_loop_of_its_session_too() -> None:
    async def main() -> Any:
        async with Hooks().session() as session:
            return session.blocking.tool("Bash", LS, Tool()).content

    assert asyncio.run(main()) == "done"


def test_a_subagent_of_a_blocking_face_blocks() -> None:
    async def main() -> Any:
        async with Hooks().session() as session:
            return session.blocking.spawn(
                "explorer", lambda child, config: child.tool("Bash", LS, Tool()).content
            ).content

    assert asyncio.run(main()) == "done"


# Types.
