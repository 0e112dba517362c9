"""A tool call in two halves: questions that the host asks by itself."""

from typing import Any

import pytest
from tests.unit.session_hosts import LS, RM, Collector, Tool, both, saying

from interpose import (
    UsageError,
    allow,
    ask,
    deny,
    later,
    modify,
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("own_state")


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
def test_a_call_that_is_asked_about_is_not_begun_again_when_the_session_is_over(play: Any) -> None:
    async def scenario(session: Any) -> None:
        await session.begin_tool("Bash", LS, id="t1")
        await session.end()
        with pytest.raises(UsageError, match="is over"):
            await session.begin_tool("Bash", LS, id="t1")

    play(saying("PreToolUse", ask("?")), scenario, approver=later)


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
def test_a_call_that_is_judged_anew_has_the_outcomes_of_that_alone(play: Any) -> None:
    hooks = saying("PreToolUse", ask("?"))

    async def scenario(session: Any) -> list[str]:
        call = await session.begin_tool("Bash", LS, id="t1")
        hooks.register("PreToolUse", lambda event: deny("a new rule"))
        await call.said(True)
        return [outcome.event for outcome in call.answer.outcomes]

    assert play(hooks, scenario, approver=later) == ["PreToolUse"]


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
