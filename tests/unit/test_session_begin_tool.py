"""A tool call in two halves: what a host with callbacks uses, and what no order of its calls can do."""

import asyncio
import gc
import inspect
import json
import os
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path
from typing import Any

import pytest
from tests.unit.session_hosts import Awaited, Collector, Tool, both, drive, saying

from interpose import (
    BegunTool,
    BlockingTool,
    CallChanged,
    Hooks,
    Session,
    SyncSession,
    UsageError,
    allow,
    ask,
    context,
    deny,
    inject,
    later,
    modify,
)  # fmt: skip

LS = {"command": "ls"}
RM = {"command": "rm -rf /"}


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


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


# Questions that the host asks by itself.


@both
def test_a_question_is_a_state_until_it_is_answered(play: Any) -> None:
    hooks = saying("PreToolUse", ask("sure?"))
    heard = Collector(hooks)

    async def scenario(session: Any) -> Any:
        call = await session.begin_tool("Bash", LS, id="t1")
        asked = (
            call.state,
            str(call.question),
            call.permission.verdict,
            call.permission.by,
            call.answer.ok,
            call.answer.denied,
        )
        state = await call.said(True)
        return asked, state, call.question, await call.done("x")

    asked, state, question, answer = play(hooks, scenario, approver=later)

    assert asked == ("asked", "Bash(command='ls'): sure?", "asked", "hook", False, True)
    assert (state, question) == ("run", None)
    assert (answer.ok, answer.permission.verdict, answer.permission.by) == (True, "allowed", "person")
    assert heard.names[2:-1] == ["PreToolUse", "PermissionRequest", "Notification", "PostToolUse"]


@both
@pytest.mark.parametrize("answer", [False, deny("not today"), "yes", None, 1, allow() + modify(nonsense=1)])
def test_any_answer_but_yes_denies(play: Any, answer: Any) -> None:
    async def scenario(session: Any) -> Any:
        call = await session.begin_tool("Bash", LS)
        return await call.said(answer), call.answer

    state, told = play(saying("PreToolUse", ask("?")), scenario, approver=later)

    assert (state, told.ok, told.denied, told.permission.verdict) == ("denied", False, True, "denied")


@both
def test_an_answer_may_change_the_input_which_is_checked_again(play: Any) -> None:
    def guard(event: Any) -> Any:
        return deny("never") if "rm" in event.tool_input["command"] else None

    async def scenario(session: Any) -> Any:
        seen = []
        for command in ("pwd", "rm x", "curl x"):
            call = await session.begin_tool("Bash", LS)
            await call.said(allow() + modify(tool_input={"command": command}))
            seen.append((call.state, call.reason, call.input["command"]))
        return seen

    hooks = saying("PreToolUse", ask("?"))
    hooks.register("PreToolUse", guard, on_error="abort")

    assert play(hooks, scenario, approver=later, rules={"Bash(curl *)": "deny"}) == [
        ("run", "", "pwd"),
        ("denied", "never", "rm x"),
        ("denied", "denied by the rule Bash(curl *)", "curl x"),
    ]


@both
def test_the_same_call_begun_again_is_the_same_call(play: Any) -> None:
    hooks = saying("PreToolUse", ask("?"))
    heard = Collector(hooks)

    async def scenario(session: Any) -> list[str]:
        states = [(await session.begin_tool("Bash", LS, id="t1")).state for _ in range(3)]
        call = await session.begin_tool("Bash", LS, id="t1")
        await call.said(True)
        again = await session.begin_tool("Bash", LS, id="t1")
        states.append(again.state)
        await again.done("x")
        return states

    assert play(hooks, scenario, approver=later) == ["asked", "asked", "asked", "run"]
    assert len(heard.of("PreToolUse")) == 1
    assert len(heard.of("PermissionRequest")) == 1
    assert len(heard.of("PostToolUse")) == 1


@both
def test_a_no_is_heard_by_a_host_that_begins_the_call_again(play: Any) -> None:
    hooks = saying("PreToolUse", ask("?"))
    heard = Collector(hooks)

    async def scenario(session: Any) -> str:
        await (await session.begin_tool("Bash", LS, id="t1")).said(False)
        return str((await session.begin_tool("Bash", LS, id="t1")).state)

    assert play(hooks, scenario, approver=later) == "denied"
    assert len(heard.of("PreToolUse")) == 1


@both
@pytest.mark.parametrize(
    "other", [{"id": "t2"}, {"input": RM}, {"name": "Shell"}, {"input": {"command": "ls", "extra": 1}}, {"id": None}]
)
def test_another_id_input_or_tool_is_another_call(play: Any, other: dict[str, Any]) -> None:
    hooks = saying("PreToolUse", ask("?"))
    heard = Collector(hooks)
    arguments = {"name": "Bash", "input": LS, "id": "t1", **other}

    async def scenario(session: Any) -> str:
        first = await session.begin_tool("Bash", LS, id="t1")
        await first.said(True)
        return str((await session.begin_tool(arguments.pop("name"), arguments.pop("input"), **arguments)).state)

    assert play(hooks, scenario, approver=later) == "asked"
    assert len(heard.of("PreToolUse")) == 2


@both
def test_a_call_that_has_ended_is_not_the_same_as_the_next(play: Any) -> None:
    hooks = saying("PreToolUse", ask("?"))
    heard = Collector(hooks)

    async def scenario(session: Any) -> None:
        for _ in range(2):
            call = await session.begin_tool("Bash", LS, id="t1")
            if call.state == "asked":
                await call.said(True)
            await call.done("x")

    play(hooks, scenario, approver=later)

    assert len(heard.of("PreToolUse")) == 2


@both
def test_hooks_that_came_since_the_question_judge_the_call_anew(play: Any) -> None:
    hooks = saying("PreToolUse", ask("?"))

    async def begun_again(session: Any) -> str:
        await session.begin_tool("Bash", LS, id="t1")
        hooks.register("PreToolUse", lambda event: deny("a new rule"), name="new")
        try:
            return str((await session.begin_tool("Bash", LS, id="t1")).reason)
        finally:
            hooks.unregister("new")

    async def answered(session: Any) -> tuple[str, str, str]:
        call = await session.begin_tool("Bash", LS, id="t1")
        hooks.register("PreToolUse", lambda event: deny("a new rule"), name="new")
        try:
            first = (await call.said(True), call.reason)
        finally:
            hooks.unregister("new")
        call = await session.begin_tool("Bash", LS, id="t2")
        hooks.register("PreToolUse", lambda event: None, name="silent")
        return *first, await call.said(True)

    assert play(hooks, begun_again, approver=later) == "a new rule"
    assert play(hooks, answered, approver=later) == ("denied", "a new rule", "asked")


@both
def test_hooks_of_other_agents_and_events_change_nothing_about_a_question(play: Any) -> None:
    hooks = saying("PreToolUse", ask("?"))

    async def scenario(session: Any) -> str:
        call = await session.begin_tool("Bash", LS, id="t1")
        hooks.register("Stop", lambda event: None)
        hooks.register_scoped("another", {"PreToolUse": [lambda event: deny("no")]})
        return str(await call.said(True))

    assert play(hooks, scenario, approver=later) == "run"


@both
@pytest.mark.parametrize("what", ["rules", "mode", "halt"])
def test_what_denies_since_the_question_is_stronger_than_a_yes(play: Any, what: str) -> None:
    hooks = saying("PreToolUse", ask("?"))
    hooks.register("Notification", lambda event: {"continue": False} if event.message == "stop" else None)

    async def scenario(session: Any) -> str:
        call = await session.begin_tool("Bash", LS)
        if what == "rules":
            session.rules = {"Bash": "deny"}
        elif what == "mode":
            session.mode = "plan"
        else:
            await session.notify("stop")
        return str(await call.said(True))

    assert play(hooks, scenario, approver=later, show=lambda text: None) == "denied"


@both
def test_a_whole_call_with_a_question_is_not_run_and_says_so(play: Any) -> None:
    tool = Tool()

    async def scenario(session: Any) -> Any:
        asked = await session.tool("Bash", LS, tool, tool_use_id="t1")
        await (await session.begin_tool("Bash", LS, id="t1")).said(True)
        return asked, list(tool.calls), await session.tool("Bash", LS, tool, tool_use_id="t1")

    asked, before, answer = play(saying("PreToolUse", ask("sure?")), scenario, approver=later)

    assert (asked.ok, asked.denied, asked.question.tool_use_id, asked.permission.verdict) == (
        False,
        True,
        "t1",
        "asked",
    )
    assert asked.content == "Bash was not run: sure?"
    assert (before, tool.calls, answer.content) == ([], [LS], "done")


def test_later_is_no_function_to_call() -> None:
    with pytest.raises(UsageError, match=r"answer with call\.said"):
        later(None)  # type: ignore[arg-type]


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


# Written down and read back.

ASKS = saying("PreToolUse", ask("sure?"), name="guard")


def written(**changes: Any) -> dict[str, Any]:
    """Ask about a call in one session and return what was written down, as it comes out of a file."""
    with ASKS.session_sync(session_id="s1", approver=later) as session:
        call = session.begin_tool("Bash", LS, id="t1", mcp_server={"name": "x"})
        return {**json.loads(json.dumps(call.to_dict())), **changes}


@both
def test_a_written_call_is_asked_about_again_without_its_events(play: Any) -> None:
    pending = written()
    heard: list[str] = []
    hooks = saying("PreToolUse", ask("sure?"), name="guard")

    async def scenario(session: Any) -> Any:
        session.on_outcome = lambda outcome: heard.append(outcome.event)
        call = await session.resume(pending)
        before = (call.state, str(call.question), call.id, call.input)
        await call.said(True)
        return before, await call.done("x")

    before, answer = play(hooks, scenario, session_id="s1", approver=later)

    assert before == ("asked", "Bash(command='ls'): sure?", "t1", LS)
    assert (answer.ok, answer.content) == (True, "x")
    assert (answer.permission.by, answer.permission.hook, answer.permission.verdict) == ("person", "guard", "allowed")
    assert heard == ["PostToolUse", "SessionEnd"]


@both
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"given": RM, "shown": RM}, "the written call was changed"),
        ({"shown": RM}, "the written call was changed"),
        ({"tool_name": "Shell"}, "the written call was changed"),
        ({"decision": "allow"}, "the written call was changed"),
        ({"verdict": ["run", "", None, "", ""]}, "the written call was changed"),
        ({"state": "run"}, "the written call was changed"),
        ({"code": ""}, "the written call was changed"),
        ({"code": None}, "the written call was changed"),
        ({"code": "é"}, "the written call was changed"),
        ({"given": float("nan")}, "the written call was changed"),
        ({"format": "interpose.tool_call.0"}, "not a call that was written down here"),
    ],
)
def test_a_written_call_that_was_changed_is_refused(play: Any, change: dict[str, Any], told: str) -> None:
    pending = written(**change)

    async def scenario(session: Any) -> None:
        with pytest.raises(CallChanged, match=told):
            await session.resume(pending)

    play(saying("PreToolUse", ask("sure?"), name="guard"), scenario, session_id="s1", approver=later)


@pytest.mark.parametrize("pending", [None, [], "x", {}, {"format": "interpose.tool_call.1"}])
def test_anything_else_is_refused(pending: Any) -> None:
    with ASKS.session_sync(session_id="s1", approver=later) as session, pytest.raises(CallChanged):
        session.resume(pending)


def test_a_code_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pending = written()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))

    told = "comes from another machine or user"
    with ASKS.session_sync(session_id="s1", approver=later) as session, pytest.raises(CallChanged, match=told):
        session.resume(pending)


def test_the_key_is_the_persons_alone(tmp_path: Path) -> None:
    written()
    key = tmp_path / "state" / "interpose" / "pending-calls.key"

    assert key.stat().st_mode & 0o777 == 0o600
    key.chmod(0o644)
    with pytest.raises(UsageError, match="others may read or write it"):
        written()


def test_hooks_rules_or_a_session_that_changed_are_named() -> None:
    pending = written()

    def told(hooks: Hooks, **options: Any) -> str:
        with hooks.session_sync(**{"session_id": "s1", "approver": later, **options}) as session:
            try:
                return str(session.resume(pending).state)
            except CallChanged as error:
                return error.problem.what

    changed = "the hooks or the rules have changed since the call was asked about"
    more = saying("PreToolUse", ask("sure?"), name="guard")
    more.register("PreToolUse", lambda event: None)
    assert told(ASKS) == "asked"
    assert told(more) == changed
    assert told(saying("PreToolUse", ask("sure?"), name="guard", matcher="Read")) == changed
    assert told(ASKS, rules={"Read": "allow"}) == changed
    assert told(ASKS, session_id="s2") == "the call belongs to the session s1, not to s2"
    assert told(ASKS, agent_id="explorer") == "the call belongs to the agent main, not to explorer"
    assert told(ASKS, mode="plan") == "denied"


def test_an_input_that_changed_is_named() -> None:
    pending = written()

    with ASKS.session_sync(session_id="s1", approver=later) as session:
        assert session.resume(pending, input=dict(LS)).state == "asked"
        with pytest.raises(CallChanged, match="the input of the call has changed"):
            session.resume(pending, input=RM)


def test_an_input_that_hooks_changed_is_resumed_as_they_left_it() -> None:
    def hooks() -> Hooks:
        return saying("PreToolUse", ask("?") + modify(tool_input={"command": "ls -l"}), name="guard")

    with hooks().session_sync(session_id="s1", approver=later) as session:
        pending = session.begin_tool("Bash", LS).to_dict()
    with hooks().session_sync(session_id="s1", approver=later) as session:
        call = session.resume(pending, input=LS)

        assert (call.input, call.question.tool_input) == ({"command": "ls -l"}, {"command": "ls -l"})


def test_only_a_call_with_an_open_question_and_a_json_input_is_written_down() -> None:
    with ASKS.session_sync(approver=later) as session:
        call = session.begin_tool("Bash", LS)
        call.said(True)
        with pytest.raises(UsageError, match="only a call with an open question is written down"):
            call.to_dict()
        for given in ({"x": {1, 2}}, {"x": (1,)}, {1: "x"}, {"x": float("inf")}):
            with pytest.raises(UsageError, match="is not JSON"):
                session.begin_tool("Bash", given).to_dict()


def test_another_process_resumes_a_call(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import json, sys
        from interpose import Hooks, ask, later

        hooks, fired = Hooks(), []
        def guard(event):
            fired.append(event.tool_input)
            return ask("sure?")
        hooks.register("PreToolUse", guard, name="guard", inline=True)
        with hooks.session_sync(session_id="s1", approver=later) as session:
            if len(sys.argv) == 1:
                print(json.dumps(session.begin_tool("Bash", {"command": "ls"}, id="t1").to_dict()))
            else:
                call = session.resume(json.loads(sys.argv[1]))
                call.said(True)
                print(call.state, call.done("x").content, fired)
    """)
    file = tmp_path / "host.py"
    file.write_text(program)

    def run(*arguments: str) -> str:
        environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
        return subprocess.run(
            [sys.executable, str(file), *arguments], env=environment, text=True, capture_output=True, check=True
        ).stdout.strip()

    assert run(run()) == "run x []"


# Types.


def test_a_call_shows_its_state() -> None:
    with ASKS.session_sync(approver=later) as session:
        call = session.begin_tool("Bash", LS, id="t1")

        assert repr(call) == "<BlockingTool of <BegunTool Bash t1, asked: sure?>>"
        assert isinstance(drive(Awaited(session).begin_tool("Bash", LS, id="t1")), Awaited)
    assert BegunTool.__doc__
