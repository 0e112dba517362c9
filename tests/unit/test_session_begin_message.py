"""Model calls and subagents in two halves, tools that hooks hide, and handing over to another agent."""

import gc
import logging
from typing import Any

import pytest
from tests.unit.session_hosts import Collector, Model, Tool, both, saying

from interpose import Hooks, UsageError, context, deny, modify

LS = {"command": "ls"}


# Model calls.


@both
def test_a_model_call_is_ended_with_its_answer(play: Any) -> None:
    hooks = saying("pre:message", modify(prompt="changed"))
    hooks.register("UserPromptSubmit", lambda event: context("be brief"))
    hooks.register("post:message", lambda event: modify(output=event.output.upper()))
    heard = Collector(hooks)

    async def scenario(session: Any) -> Any:
        await session.prompt("hi")
        call = await session.begin_message("hi", system="You help.", model="m1")
        seen = (call.state, call.prompt, call.system, call.tools, call.answer)
        return seen, await call.done({"raw": 1}, text="hello", usage={"total_tokens": 9}, tool_calls=[{"name": "Bash"}])

    seen, answer = play(hooks, scenario)

    assert seen == ("run", "changed", "You help.\n\nbe brief", None, None)
    assert (answer.content, answer.raw, answer.changed, answer.input) == ("HELLO", {"raw": 1}, True, "changed")
    after = heard.of("post:message")[0]
    assert (after.prompt, after.output, after.model, after.usage, after.tool_calls) == (
        "changed", "hello", "m1", {"total_tokens": 9}, [{"name": "Bash"}],
    )  # fmt: skip


@both
def test_a_denied_model_call_takes_no_context(play: Any) -> None:
    hooks = saying("pre:message", deny("no secrets"))
    hooks.register("UserPromptSubmit", lambda event: context("be brief"))

    async def scenario(session: Any) -> Any:
        await session.prompt("hi")
        call = await session.begin_message("hi")
        with pytest.raises(UsageError, match="this model call is denied"):
            await call.done("x")
        return call.state, call.reason, call.answer.content, session.pending_context

    assert play(hooks, scenario) == ("denied", "no secrets", "no secrets", ("be brief",))


@both
@pytest.mark.parametrize("how", ["failed", "dropped"])
def test_context_of_a_call_that_was_not_made_waits_for_the_next(play: Any, how: str) -> None:
    hooks = saying("UserPromptSubmit", context("be brief"))

    async def scenario(session: Any) -> Any:
        await session.prompt("hi")
        call = await session.begin_message("hi")
        taken = session.pending_context
        if how == "failed":
            assert not (await call.failed(OSError("no network"))).ok
        del call
        gc.collect()
        return taken, session.pending_context

    assert play(hooks, scenario) == ((), ("be brief",))


@both
def test_context_of_a_call_that_was_made_is_gone(play: Any) -> None:
    hooks = saying("UserPromptSubmit", context("be brief"))

    async def scenario(session: Any) -> Any:
        await session.prompt("hi")
        call = await session.begin_message("hi")
        await call.done("x")
        del call
        gc.collect()
        return session.pending_context

    assert play(hooks, scenario) == ()


@both
def test_a_model_call_is_ended_once(play: Any) -> None:
    async def scenario(session: Any) -> None:
        call = await session.begin_message("hi")
        await call.done("x")
        for again in (call.done, call.failed):
            with pytest.raises(UsageError, match="done\\(\\) or failed\\(\\) was called already"):
                await again("x")

    play(Hooks(), scenario)


@both
def test_a_halted_session_begins_nothing(play: Any) -> None:
    hooks = saying("Notification", {"continue": False, "stopReason": "enough"})

    async def scenario(session: Any) -> Any:
        await session.notify("x")
        states = [
            (await session.begin_tool("Bash", LS)).state,
            (await session.begin_message("hi")).state,
            (await session.begin_agent("explorer")).state,
            (await session.handoff("other")).ok,
        ]
        return states, session.clear_halt(), session.halted, (await session.begin_tool("Bash", LS)).state

    assert play(hooks, scenario, show=lambda text: None) == (
        ["denied", "denied", "denied", False], "enough", "", "run",
    )  # fmt: skip


@both
def test_context_can_be_taken_by_the_host(play: Any) -> None:
    async def scenario(session: Any) -> Any:
        await session.prompt("hi")
        return session.take_context(), session.pending_context

    assert play(saying("UserPromptSubmit", context("be brief")), scenario) == (["be brief"], ())


@both
def test_any_event_can_be_fired_in_a_session(play: Any) -> None:
    hooks = saying("Notification", context("seen"))

    async def scenario(session: Any) -> Any:
        outcome = await session.fire("Notification", message="x", notification_type="own")
        with pytest.raises(UsageError, match="agent_id: the session sets this itself"):
            await session.fire("Notification", agent_id="another")
        return outcome.session_id == session.session_id, outcome.agent_id, session.pending_context

    assert play(hooks, scenario) == (True, "main", ("seen",))


# Messages and tools.

TOOLS: list[Any] = [
    "Bash", {"name": "Read", "description": "reads"}, {"type": "function", "function": {"name": "Write"}},
    type("Grep", (), {"name": "Grep", "description": "searches"})(),
]  # fmt: skip


@both
def test_hooks_see_the_conversation_and_the_tools_by_name(play: Any) -> None:
    hooks = Hooks()
    heard = Collector(hooks)
    messages = [{"role": "user", "content": "hi"}]

    async def scenario(session: Any) -> Any:
        call = await session.begin_message("hi", messages=messages, tools=TOOLS)
        await call.done("x")
        return call.tools

    assert play(hooks, scenario) == TOOLS
    before, after = heard.of("pre:message")[0], heard.of("post:message")[0]
    assert before.messages == after.messages == messages
    assert [tool["name"] for tool in before.tools] == ["Bash", "Read", "Write", "Grep"]
    assert [tool.get("description") for tool in before.tools] == [None, "reads", None, "searches"]


@both
def test_without_them_the_events_have_none(play: Any) -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def scenario(session: Any) -> None:
        await session.message("hi", Model())

    play(hooks, scenario)

    assert not {"messages", "tools", "tool_calls"} & {*heard.of("pre:message")[0], *heard.of("post:message")[0]}


@both
@pytest.mark.parametrize("as_names", [True, False])
def test_a_hook_hides_tools_and_the_host_keeps_its_own_objects(play: Any, as_names: bool) -> None:
    def hide(event: Any) -> Any:
        left = [tool for tool in event.tools if tool["name"] not in ("Bash", "Write")]
        return modify(tools=[tool["name"] for tool in left] if as_names else left)

    hooks = Hooks()
    hooks.register("pre:message", hide)

    async def scenario(session: Any) -> Any:
        sent: list[Any] = []
        await session.message("hi", lambda prompt, system, tools: sent.append(tools), tools=TOOLS, text=lambda raw: "")
        return sent[0]

    left = play(hooks, scenario)

    assert [id(tool) for tool in left] == [id(TOOLS[1]), id(TOOLS[3])]


@both
def test_a_hook_cannot_add_a_tool(play: Any, caplog: pytest.LogCaptureFixture) -> None:
    hooks = saying("pre:message", modify(tools=["Read", "Format"]))

    async def scenario(session: Any) -> Any:
        return (await session.begin_message("hi", tools=["Read", "Bash"])).tools

    with caplog.at_level(logging.WARNING, "interpose"):
        assert play(hooks, scenario) == ["Read"]
    assert "a hook adds tools that the host does not have: Format" in caplog.text


@both
def test_hiding_tools_of_a_host_that_named_none_is_reported(play: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(session: Any) -> Any:
        return (await session.begin_message("hi")).tools

    with caplog.at_level(logging.WARNING, "interpose"):
        assert play(saying("pre:message", modify(tools=[])), scenario) is None
    assert "the host has not said which tools there are" in caplog.text


@both
def test_a_tool_without_a_name_is_an_error_of_the_host(play: Any) -> None:
    async def scenario(session: Any) -> None:
        with pytest.raises(UsageError, match="tools: a dict has no name"):
            await session.begin_message("hi", tools=[{"title": "x"}])

    play(Hooks(), scenario)


# Subagents.


@both
def test_a_subagent_is_ended_with_its_result(play: Any) -> None:
    hooks = saying("pre:agent:spawn", modify(config={"prompt": "look"}))
    heard = Collector(hooks)

    async def scenario(session: Any) -> Any:
        call = await session.begin_agent("explorer", config={"prompt": "x"})
        child = call.session
        inner = await child.tool("Bash", LS, Tool())
        answer = await call.done("found")
        return call.config, inner.ok, answer.content, answer.ok, call.state, child.state

    assert play(hooks, scenario) == ({"prompt": "look"}, True, "found", True, "done", "over")
    assert heard.names[2:-1] == [
        "pre:agent:spawn", "SubagentStart", "PreToolUse", "PostToolUse", "SubagentStop", "post:agent:complete",
    ]  # fmt: skip


@both
def test_a_subagent_that_is_kept_going_is_run_again(play: Any) -> None:
    says = [deny("look in docs too"), None]
    hooks = Hooks()
    hooks.register("SubagentStop", lambda event: says.pop(0), inline=True)

    async def scenario(session: Any) -> Any:
        call = await session.begin_agent("explorer", config={"prompt": "x"})
        first = await call.done("found")
        between = (first.keep_going, first.content, call.state, call.config)
        last = await call.done("all")
        return between, (last.keep_going, last.content, call.state)

    assert play(hooks, scenario) == (
        (True, "look in docs too", "run", {"prompt": "look in docs too"}), (False, "all", "done"),
    )  # fmt: skip


@both
def test_a_denied_subagent_has_no_session(play: Any) -> None:
    async def scenario(session: Any) -> Any:
        call = await session.begin_agent("explorer", agent_id="e1")
        with pytest.raises(UsageError, match="the subagent e1 is denied"):
            await call.done("x")
        again = await session.begin_agent("explorer", agent_id="e1")
        return call.state, call.reason, call.session, again.state

    assert play(saying("pre:agent:spawn", deny("no")), scenario) == ("denied", "no", None, "denied")


@both
@pytest.mark.parametrize("how", ["done", "failed", "closed", "dropped"])
def test_the_hooks_of_a_subagent_go_with_it(play: Any, how: str) -> None:
    hooks = Hooks()
    own = {"PreToolUse": [lambda event: deny("not here")]}

    async def scenario(session: Any) -> Any:
        call = await session.begin_agent("explorer", agent_id="e1", hooks=own)
        during = (len(list(hooks)), "e1" in hooks.engine.registry.snapshot.scopes)
        if how == "done":
            await call.done("x")
        elif how == "failed":
            await call.failed("broken")
        elif how == "closed":
            call.close()
        child = call.session
        del call
        gc.collect()
        with pytest.raises(UsageError, match="this session is over"):
            await child.tool("Bash", LS, Tool())
        await session.begin_agent("explorer", agent_id="e1")  # the id is free again
        return during

    assert play(hooks, scenario) == ((1, True))
    assert list(hooks) == []
    assert hooks.engine.registry.snapshot.scopes == {}


# Handing over.

BILLING = {"agents": [{"id": "billing", "backend": {"hooks": {"PreToolUse": [lambda event: deny("only talks")]}}}]}


@both
def test_a_handoff_is_matched_by_its_target_and_can_be_denied_or_changed(play: Any) -> None:
    hooks = Hooks()
    hooks.register("pre:agent:handoff", lambda event: deny("not to root"), matcher="root")
    hooks.register("pre:agent:handoff:billing", lambda event: modify(config={"by": event.agent, **event.config}))

    async def scenario(session: Any) -> Any:
        denied = await session.handoff("root")
        before = session.agent_id
        answer = await session.handoff("billing", config={"topic": 7})
        return (
            denied.ok,
            denied.reason,
            before,
            answer.content,
            session.agent_type,
            session.agent_id.startswith("billing-"),
        )

    assert play(hooks, scenario) == (False, "not to root", "main", {"by": "main", "topic": 7}, "billing", True)


@both
def test_the_hooks_of_the_agent_that_acts_apply(play: Any) -> None:
    async def scenario(session: Any) -> Any:
        seen = []
        for agent in (None, "billing", "main", "billing", "other"):
            if agent:
                session.act_as(agent)
            seen.append((await session.tool("Bash", LS, Tool())).ok)
        return seen

    hooks = Hooks.from_mapping(BILLING)
    assert play(hooks, scenario) == [True, False, True, False, True]
    assert set(hooks.engine.registry.snapshot.scopes) == {"billing"}  # what the configuration has


@both
def test_locked_hooks_of_the_agent_before_still_apply(play: Any) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("locked"), scope="main", locked=True, layer="user")
    hooks.register("PreToolUse", lambda event: deny("open"), scope="main", matcher="Read")

    async def scenario(session: Any) -> Any:
        await session.handoff("billing")
        await session.handoff("support")
        return (await session.tool("Bash", LS, Tool())).reason, (await session.tool("Read", {}, Tool())).reason

    assert play(hooks, scenario) == ("locked", "locked")


@both
def test_going_back_and_forth_keeps_one_scope_for_each_agent(play: Any) -> None:
    hooks = Hooks()

    async def scenario(session: Any) -> int:
        for agent in ("a", "b", "a", "main", "b", "a") * 5:
            await session.handoff(agent)
        return len(hooks.engine.registry.snapshot.scopes)

    assert play(hooks, scenario) == 2
    assert hooks.engine.registry.snapshot.scopes == {}


@both
@pytest.mark.parametrize("agent", ["", None, 5])
def test_an_agent_is_named_by_text(play: Any, agent: Any) -> None:
    async def scenario(session: Any) -> None:
        with pytest.raises(UsageError, match="an agent is named by text"):
            session.act_as(agent)

    play(Hooks(), scenario)
