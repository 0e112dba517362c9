"""AGENT-HOOKS 0.1: the interceptor in a host of that standard, and the standard's own conformance kit around it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from agent_hooks import (
    AgentContextBuilder,
    ApprovalOutcome,
    ApprovalResolution,
    EnforcementMode,
    InterceptionBlocked,
    InterceptionEmitter,
    Transform,
    Verdict,
)
from agent_hooks.ctk import load_vectors, run_vector
from agent_hooks.ctk.reference import ReferenceHarness
from tests.adapters.driver import HOOKS, Driver, Played, Shell, Turn
from tests.adapters.pages import assert_page_shows
from tests.adapters.rows import house, rows_of

from interpose.adapters.agent_hooks import interceptor


class Host:
    """An agent whose loop emits every point of the standard and does what the verdicts say."""

    def __init__(self, governed: Any, *, session: str = "one", resolver: Any = None) -> None:
        self.emitter = InterceptionEmitter(resolver=resolver).register(governed)
        self.points = AgentContextBuilder(agent_id="main", framework="table", session_id=session)
        self.played = Played()

    async def run(self, turns: Sequence[Turn], tools: Mapping[str, Callable[..., Any]], prompt: str) -> Played:
        played = self.played
        try:
            await self.emitter.emit(self.points.agent_startup(tools_registered=list(tools)))
            await self.emitter.emit(self.points.input(content=prompt))
            played.final = await self._turns(list(turns), tools, [{"role": "user", "content": prompt}])
        except InterceptionBlocked as blocked:
            played.final = str(blocked.result.verdict.message)
        finally:
            await self.emitter.emit_unchecked(self.points.agent_shutdown(reason="completed"))
        return played

    async def _turns(self, turns: list[Turn], tools: Mapping[str, Any], messages: list[dict[str, Any]]) -> str:
        while True:
            before = self.points.pre_model_call(model_id="fake", messages=messages)
            await self.emitter.emit(before)
            self.played.requests.append("\n".join(str(one["content"]) for one in before["messages"]))
            turn = turns.pop(0)
            [name] = tools
            calls = [] if isinstance(turn, str) else [
                {"id": f"{len(self.played.requests)}-{n}", "name": name, "args": {"cmd": one}}
                for n, one in enumerate(turn)
            ]  # fmt: skip
            text = turn if isinstance(turn, str) else ""
            after = self.points.post_model_call(
                model_id="fake", content=text, tool_calls=calls, finish_reason="tool_calls" if calls else "stop"
            )
            await self.emitter.emit(after)
            if not calls:
                last = self.points.output(content=after["response"]["content"])
                await self.emitter.emit(last)
                return str(last["output"]["content"])
            results = await asyncio.gather(*(self.call(tools[name], one) for one in calls))
            self.played.results += results
            messages = [*messages, {"role": "assistant", "content": text},
                        *({"role": "tool", "content": one} for one in results)]  # fmt: skip

    async def call(self, tool: Any, call: dict[str, Any]) -> str:
        before = self.points.pre_tool_call(call_id=call["id"], name=call["name"], args=call["args"])
        try:
            await self.emitter.emit(before)
        except InterceptionBlocked as blocked:
            return str(blocked.result.verdict.message)
        given = before["tool_call"]["args"]
        try:
            made = tool(**given)
            value, is_error = (await made if asyncio.iscoroutine(made) else made), False
        except ValueError as error:
            value, is_error = str(error), True
        after = self.points.post_tool_call(
            call_id=call["id"], name=call["name"], args=given, value=value, is_error=is_error
        )
        await self.emitter.emit(after)
        return str(after["tool_result"]["value"])


class Person:
    """A resolver of the standard."""

    def __init__(self, answer: bool | Mapping[str, Any]) -> None:
        self.answer = answer

    def resolve(self, request: Any) -> ApprovalResolution:
        said = Verdict.allow() if self.answer else Verdict.deny(reason="person:no")
        if isinstance(self.answer, Mapping):
            said = Verdict.from_wire(
                {"decision": "transform", "transform": Transform("$target", dict(self.answer)).to_wire()}
            )
        outcome = ApprovalOutcome.APPROVE if self.answer else ApprovalOutcome.REJECT
        return ApprovalResolution(outcome, request.context_identity, said)


class AgentHooks(Driver):
    cannot: ClassVar[Mapping[str, str]] = {
        "stop": "a host of the standard cannot go on after its output was denied",
        "sync": "its emitter needs an event loop",
        "cancelled": "the standard has no point for a call that was cancelled",
        "handoff": "the standard has no handoffs",
        "handoff_denied": "the standard has no handoffs",
        "framework_object": "a context of the standard is JSON",
    }

    async def play(
        self, turns: Sequence[Turn], *, prompt: str = "go", ask: Any = None, conversation: str = "one",
        streamed: bool = False, hooks: Path = HOOKS,
    ) -> Played:  # fmt: skip
        shell = Shell()
        host = Host(interceptor(hooks, ask=ask), session=conversation)
        played = await host.run(turns, {"shell": shell}, prompt)
        played.ran = shell.ran
        return played

    async def play_question(self, turns: Sequence[Turn], answer: bool | Mapping[str, Any]) -> Played:
        shell = Shell()
        host = Host(interceptor(HOOKS), resolver=Person(answer))
        played = await host.run(turns, {"shell": shell}, "go")
        played.ran = shell.ran
        return played

    async def play_subagent(self, agent: str, command: str) -> Played:
        shell, governed = Shell(), interceptor(HOOKS, agents=[agent])
        inner = Host(governed, session="inner")

        async def helper(cmd: str) -> str:
            return (await inner.run([[command], "inner is done"], {"shell": shell}, cmd)).final

        played = await Host(governed).run([["go"], "done"], {agent: helper}, "go")
        return Played(shell.ran, [*inner.played.results, *played.results], played.requests, played.final)


test_the_same_hooks_hold = rows_of(AgentHooks)


def test_the_page_shows_what_the_program_does():
    assert_page_shows("agent_hooks")


# The kit tests hosts with interceptors that it brings. Here each of them stands behind one of ours.


class Behind:
    """An interceptor of the kit, which is asked when the hooks have nothing to object."""

    def __init__(self, governed: Any, inner: Any) -> None:
        self.governed, self.inner = governed, inner

    async def intercept(self, context: Any) -> Any:
        verdict = await self.governed.intercept(context)
        return self.inner.intercept(context) if verdict == Verdict.allow() else verdict


class GovernedHost(ReferenceHarness):
    """The reference host of the kit, with hooks that see everything in front of each of its interceptors."""

    def setup(self, scenario: Any, interceptors: Any, *more: Any, **options: Any) -> None:
        super().setup(scenario, [Behind(interceptor(HOOKS), one) for one in interceptors], *more, **options)

    def setup_declared(self, scenario: Any, document: Any, registry: Any) -> None:
        scripted = registry._kinds["ctk.scripted"]  # a kind cannot be registered twice: there is no public way in
        registry._kinds["ctk.scripted"] = lambda config, at: Behind(interceptor(HOOKS), scripted(config, at))
        super().setup_declared(scenario, document, registry)


@pytest.fixture
def agent_hooks_harness() -> type:
    """Replace the option --agent-hooks-harness of the kit's own pytest plugin."""
    return GovernedHost


def test_a_host_with_the_interceptor_conforms(agent_hooks_assert):
    """Every vector of the kit is one test, run and judged by its plugin."""


def test_the_hooks_see_every_point_of_the_kit():
    house.seen.clear()

    asyncio.run(run_vector(GovernedHost(), load_vectors()[0]))

    events = [one["hook_event_name"] for one in house.seen]
    assert events == [
        "SessionStart", "UserPromptSubmit", "pre:message", "post:message", "PreToolUse", "PostToolUse", "pre:message",
        "post:message", "Stop", "SessionEnd",
    ]  # fmt: skip


def intercept(governed: Any, *contexts: dict[str, Any]) -> list[Verdict]:
    async def run() -> list[Verdict]:
        return [await governed.intercept(one) for one in contexts]

    return asyncio.run(run())


POINTS = AgentContextBuilder(agent_id="main", framework="table", session_id="one")


@pytest.mark.parametrize(
    "context",
    [
        {**POINTS.input(content="x"), "interception_point": "unknown"},
        {**POINTS.input(content="x"), "agent": {}},
        {**POINTS.pre_tool_call(call_id="1", name="shell", args={}), "tool_call": None},
        POINTS.post_tool_call(call_id="1", name="shell", args={}, value="x"),
        POINTS.post_model_call(model_id="fake", content="x", tool_calls=[], finish_reason="stop"),
    ],
)
def test_what_cannot_be_judged_is_denied(context):
    [verdict] = intercept(interceptor(HOOKS), context)

    assert verdict.decision == "deny"
    assert not verdict.is_liftable


def test_two_agents_in_one_session_are_denied():
    other = AgentContextBuilder(agent_id="other", framework="table", session_id="one")

    first, second = intercept(interceptor(HOOKS), POINTS.input(content="x"), other.input(content="x"))

    assert first.decision == "allow"
    assert second.message == "session 'one' is of agent 'main': give 'other' a session of its own"


# What escapes. Each test fails on the day that it no longer does.


def test_an_input_that_the_resolver_edits_escapes_and_its_result_does_not():
    """The host runs what its resolver has made of the call; guards see it afterwards and withhold the result."""
    played = asyncio.run(AgentHooks().play_question([["askme x"], "done"], {"cmd": "rm -rf /"}))

    assert played.ran == ["rm -rf /"]
    assert "ran: rm" not in "\n".join([*played.results, *played.requests])


def test_a_host_that_only_evaluates_escapes():
    host, shell = Host(interceptor(HOOKS)), Shell()
    host.emitter = InterceptionEmitter(mode=EnforcementMode.EVALUATE_ONLY).register(interceptor(HOOKS))

    asyncio.run(host.run([["rm -rf /"], "done"], {"shell": shell}, "go"))

    assert shell.ran == ["rm -rf /"]
