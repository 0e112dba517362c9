"""Subagents: who may be spawned, which hooks hold for whom, and what becomes of one that breaks."""

import asyncio
from typing import Any

import pytest
from tests.unit.session_hosts import Collector, Model, Tool, both, saying

from interpose import BadHook, ConfigError, Hooks, UsageError, context, deny, modify

LS = {"command": "ls"}


async def works(child: Any, config: dict[str, Any]) -> Any:
    """A subagent that makes one call and says whether it was made."""
    return (await child.tool("Bash", LS, Tool())).reason or "made"


def names(hooks: Hooks) -> list[Any]:
    """Every hook that is registered, with whom it holds for."""
    return [(hook.event, hook.scope) for hook in hooks]


def scopes(hooks: Hooks) -> set[str]:
    """Every agent that has a scope."""
    return set(hooks.engine.registry.snapshot.scopes)


class TestBeforeItRuns:
    @both
    def test_it_runs_with_the_config_that_hooks_left(self, play: Any) -> None:
        hooks = saying("pre:agent:spawn", modify(config={"model": "small"}), matcher="explorer")
        heard = Collector(hooks)
        given: list[Any] = []

        async def run(child: Any, config: dict[str, Any]) -> str:
            given.append(config)
            return "found"

        async def scenario(session: Any) -> Any:
            return await session.spawn("explorer", run, config={"model": "large"})

        answer = play(hooks, scenario)

        assert given == [{"model": "small"}]
        assert (answer.ok, answer.content, answer.raw, answer.input) == (True, "found", "found", {"model": "small"})
        assert [outcome.event for outcome in answer.outcomes] == [
            "pre:agent:spawn", "SubagentStart", "SubagentStop", "post:agent:complete",
        ]  # fmt: skip
        [before], [after] = heard.of("pre:agent:spawn"), heard.of("post:agent:complete")
        assert (before.agent, before.config) == ("explorer", {"model": "large"})
        assert (after.agent, after.result) == ("explorer", "found")

    @both
    def test_one_that_is_denied_does_not_exist(self, play: Any) -> None:
        hooks = saying("pre:agent:spawn", deny("too many"))
        heard = Collector(hooks)
        ran: list[Any] = []

        async def scenario(session: Any) -> Any:
            return await session.spawn("explorer", lambda *given: ran.append(given))

        answer = play(hooks, scenario)

        assert (answer.ok, answer.denied, answer.content, ran) == (False, True, "too many", [])
        assert heard.names == ["SessionStart", "Setup", "pre:agent:spawn", "SessionEnd"]

    @both
    def test_hooks_of_it_that_cannot_work_are_the_hosts_mistake(self, play: Any) -> None:
        hooks = Hooks()

        async def scenario(session: Any) -> None:
            await session.spawn("explorer", works, hooks={"PreToolUze": [print]})

        with pytest.raises((BadHook, ConfigError), match="PreToolUze"):
            play(hooks, scenario)
        assert scopes(hooks) == set()

    @both
    def test_what_it_is_asked_through_is_the_parents(self, play: Any) -> None:
        approver = Tool(True)

        async def scenario(session: Any) -> Any:
            return await session.spawn("explorer", works, agent_id="e1")

        answer = play(Hooks(), scenario, default="ask", approver=approver)

        assert answer.content == "made"
        assert [question.agent_id for question in approver.calls] == ["e1"]

    @both
    def test_the_parents_rules_and_mode_hold_for_it(self, play: Any) -> None:
        async def scenario(session: Any) -> Any:
            return (await session.spawn("explorer", works)).content

        assert play(Hooks(), scenario, rules={"Bash(ls)": "deny"}) == "denied by the rule Bash(ls)"
        assert "in plan mode" in play(Hooks(), scenario, mode="plan")


class TestWhichHooksHold:
    @both
    def test_its_own_hooks_hold_for_it_alone(self, play: Any) -> None:
        hooks = Hooks()

        async def scenario(session: Any) -> Any:
            async def run(child: Any, config: Any) -> Any:
                parents = await session.tool("Bash", LS, Tool())
                return parents.ok, await works(child, config)

            inside = await session.spawn("explorer", run, hooks={"PreToolUse": [lambda event: deny("not you")]})
            return inside.content, (await session.tool("Bash", LS, Tool())).ok

        assert play(hooks, scenario) == ((True, "not you"), True)
        assert (names(hooks), scopes(hooks)) == ([], set())

    def test_two_of_a_kind_at_the_same_time_do_not_share_hooks(self) -> None:
        hooks = Hooks()

        async def main() -> list[Any]:
            ready = asyncio.Barrier(2)

            async def run(child: Any, config: Any) -> Any:
                await ready.wait()
                reason = (await child.tool("Bash", LS, Tool())).reason
                await ready.wait()
                return reason

            async with hooks.session() as session:
                return list(await asyncio.gather(
                    session.spawn("explorer", run, hooks={"PreToolUse": [lambda event: deny("one")]}),
                    session.spawn("explorer", run, hooks={"PreToolUse": [lambda event: deny("two")]}),
                ))  # fmt: skip

        first, second = asyncio.run(main())

        assert (first.content, second.content) == ("one", "two")
        assert (names(hooks), scopes(hooks)) == ([], set())

    @both
    def test_hooks_that_are_configured_for_a_kind_hold_for_each_of_it(self, play: Any) -> None:
        hooks = Hooks.from_mapping({"agents": [{"id": "explorer", "backend": {"hooks": {"PreToolUse": []}}}]})
        hooks.register_scoped("explorer", {"PreToolUse": [lambda event: deny("explorers only look")]})

        async def scenario(session: Any) -> list[Any]:
            spawned = [await session.spawn(kind, works) for kind in ("explorer", "explorer", "writer")]
            return [answer.content for answer in spawned] + [(await session.tool("Bash", LS, Tool())).ok]

        assert play(hooks, scenario) == ["explorers only look", "explorers only look", "made", True]
        assert scopes(hooks) == {"explorer"}

    @both
    def test_locked_hooks_of_the_parent_hold_and_others_do_not(self, play: Any) -> None:
        hooks = Hooks()
        hooks.register_scoped("boss", {"PreToolUse": [{"handler": lambda event: context("open")}]})
        hooks.register("PreToolUse", lambda event: deny("locked"), scope="boss", locked=True)

        async def scenario(session: Any) -> Any:
            async def deeper(child: Any, config: Any) -> Any:
                return (await child.spawn("writer", works)).content, child.pending_context

            return (await session.spawn("explorer", deeper)).content

        assert play(hooks, scenario, agent_id="boss") == ("locked", ())
        assert play(hooks, scenario, agent_id="somebody else") == ("made", ())

    @both
    def test_locked_hooks_of_a_subagent_hold_for_those_that_it_spawns(self, play: Any) -> None:
        own = {"PreToolUse": [{"handler": lambda event: deny("locked"), "locked": True}]}

        async def deeper(child: Any, config: Any) -> Any:
            return (await child.spawn("writer", works)).content

        async def scenario(session: Any) -> Any:
            inside = await session.spawn("explorer", deeper, hooks=own)
            return inside.content, (await session.spawn("writer", works)).content

        hooks = Hooks()
        assert play(hooks, scenario) == ("locked", "made")
        assert (names(hooks), scopes(hooks)) == ([], set())

    @both
    def test_the_events_of_a_grandchild_say_whose_they_are(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def deeper(child: Any, config: Any) -> Any:
            await child.spawn("writer", works, agent_id="w1")

        async def scenario(session: Any) -> Any:
            await session.spawn("explorer", deeper, agent_id="e1")

        play(hooks, scenario)

        spawned = [(event.agent, event.agent_id) for event in heard.of("pre:agent:spawn")]
        stopped = [(event.agent_type, event.agent_id) for event in heard.of("SubagentStop")]
        completed = [(event.agent, event.agent_id) for event in heard.of("post:agent:complete")]
        assert spawned == [("explorer", "main"), ("writer", "e1")]
        assert stopped == [("writer", "w1"), ("explorer", "e1")]
        assert completed == [("writer", "e1"), ("explorer", "main")]

    @both
    def test_an_agent_is_not_run_twice_at_once_under_one_name(self, play: Any) -> None:
        """The hooks of the one would hold for the other, and go when the first is done."""

        async def scenario(session: Any) -> Any:
            async def run(child: Any, config: Any) -> Any:
                with pytest.raises(UsageError, match="e1 is running already"):
                    await session.spawn("explorer", works, agent_id="e1")
                with pytest.raises(UsageError, match="e1 is running already"):
                    await child.spawn("explorer", works, agent_id="e1")
                for who in (session, child):
                    with pytest.raises(UsageError, match="main is running already"):
                        await who.spawn("explorer", works, agent_id="main")
                return "fine"

            first = await session.spawn("explorer", run, agent_id="e1")
            return first.content, (await session.spawn("explorer", works, agent_id="e1")).content

        assert play(Hooks(), scenario) == ("fine", "made")

    def test_of_two_that_begin_at_once_under_one_name_one_is_refused(self) -> None:
        hooks = Hooks()

        async def slow(event: Any) -> None:
            await asyncio.sleep(0)

        hooks.register("pre:agent:spawn", slow)

        async def main() -> list[Any]:
            async with hooks.session() as session:
                both = [session.spawn("explorer", works, agent_id="e1") for _ in range(2)]
                return list(await asyncio.gather(*both, return_exceptions=True))

        first, second = asyncio.run(main())

        assert first.content == "made"
        assert isinstance(second, UsageError)

    @both
    def test_a_session_of_a_subagent_ends_with_it(self, play: Any) -> None:
        """Its hooks are gone by then: nothing may run without them."""
        kept: list[Any] = []

        async def scenario(session: Any) -> None:
            async def run(child: Any, config: Any) -> None:
                kept.append(child)

            await session.spawn("explorer", run, hooks={"PreToolUse": [lambda event: deny("no")]})
            with pytest.raises(UsageError, match=r"this session is over \(a subagent's ends with its loop\)"):
                await kept[0].tool("Bash", LS, Tool())

        play(Hooks(), scenario)

    @both
    def test_context_belongs_to_the_one_whose_event_it_was(self, play: Any) -> None:
        hooks = saying("SubagentStart", context("you explore"))
        hooks.register("UserPromptSubmit", lambda event: context("for the boss"), inline=True)
        model = Model()

        async def run(child: Any, config: Any) -> None:
            await child.message("look", model, system="child")

        async def scenario(session: Any) -> None:
            await session.prompt("hi")
            await session.spawn("explorer", run)
            await session.message("hi", model, system="boss")

        play(hooks, scenario)

        assert model.systems == ["child\n\nyou explore", "boss\n\nfor the boss"]

    @both
    def test_a_subagent_that_is_halted_does_not_halt_its_parent(self, play: Any) -> None:
        async def run(child: Any, config: Any) -> Any:
            await child.tool("Bash", LS, Tool())
            return child.halted, (await child.tool("Bash", LS, Tool())).denied

        async def scenario(session: Any) -> Any:
            own = {"PostToolUse": [lambda event: {"continue": False, "stopReason": "enough"}]}
            spawned = await session.spawn("explorer", run, hooks=own)
            return spawned.content, session.halted

        assert play(Hooks(), scenario) == (("enough", True), "")


class TestStopping:
    @both
    def test_one_that_is_sent_back_to_work_gets_the_reason_as_its_prompt(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)
        hooks.register("SubagentStop", lambda e: None if e.stop_hook_active else deny("look in docs too"), inline=True)
        prompts: list[Any] = []

        async def run(child: Any, config: Any) -> str:
            prompts.append(config["prompt"])
            return f"round {len(prompts)}"

        async def scenario(session: Any) -> Any:
            return await session.spawn("explorer", run, config={"prompt": "look"}, transcript_path="/t/e1")

        answer = play(hooks, scenario)

        assert prompts == ["look", "look in docs too"]
        assert (answer.ok, answer.content, answer.input) == (True, "round 2", {"prompt": "look"})
        stops = heard.of("SubagentStop")
        assert [(event.stop_hook_active, event.last_assistant_message) for event in stops] == [
            (False, "round 1"), (True, "round 2"),
        ]  # fmt: skip
        assert {event.agent_transcript_path for event in stops} == {"/t/e1"}
        assert len(answer.outcomes) == 5

    @both
    def test_one_that_is_never_let_go_stops_after_eight_times(self, play: Any) -> None:
        shown: list[str] = []
        rounds: list[Any] = []

        async def scenario(session: Any) -> Any:
            return await session.spawn("explorer", lambda child, config: rounds.append(config))

        answer = play(saying("SubagentStop", deny("more")), scenario, show=shown.append)

        assert (answer.ok, len(rounds), len(shown)) == (True, 9, 1)

    @both
    def test_one_that_is_never_let_go_stops_after_as_many_times_as_its_parent_would(self, play: Any) -> None:
        rounds: list[Any] = []

        async def scenario(session: Any) -> None:
            await session.spawn("explorer", lambda child, config: rounds.append(config))

        play(saying("SubagentStop", deny("more")), scenario, max_continues=2)

        assert len(rounds) == 3

    @both
    def test_a_loop_that_asks_by_itself_is_not_asked_again(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def run(child: Any, config: Any) -> str:
            await child.stop("done")
            return "done"

        async def scenario(session: Any) -> None:
            await session.spawn("explorer", run)

        play(hooks, scenario)

        assert len(heard.of("SubagentStop")) == 1
        assert heard.of("Stop") == []

    @both
    def test_a_loop_that_was_told_to_go_on_and_leaves_is_asked_again(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)
        hooks.register("SubagentStop", lambda e: None if e.stop_hook_active else deny("more"), inline=True)

        async def run(child: Any, config: Any) -> str:
            await child.stop("done")
            return "done"

        async def scenario(session: Any) -> None:
            await session.spawn("explorer", run)

        play(hooks, scenario)

        assert [event.stop_hook_active for event in heard.of("SubagentStop")] == [False, True]


class TestBreaking:
    @both
    def test_one_that_breaks_is_an_answer(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)
        error = OSError("no disk")

        def run(child: Any, config: Any) -> None:
            raise error

        async def scenario(session: Any) -> Any:
            return await session.spawn("explorer", run, hooks={"Stop": [print]})

        answer = play(hooks, scenario)

        assert (answer.ok, answer.denied, answer.error) == (False, False, error)
        assert (answer.content, answer.reason) == ("explorer failed: no disk", "explorer failed: no disk")
        assert [outcome.event for outcome in answer.outcomes] == [
            "pre:agent:spawn", "SubagentStart", "SubagentStop", "post:agent:complete",
        ]  # fmt: skip
        assert heard.of("post:agent:complete")[0].result == {"error": "no disk"}
        assert scopes(hooks) == set()
        assert all(scope is None for _, scope in names(hooks))

    @both
    def test_one_that_breaks_after_it_was_sent_back_has_stopped_too(self, play: Any) -> None:
        """S2-37"""
        hooks = Hooks()
        heard = Collector(hooks)
        hooks.register("SubagentStop", lambda e: None if e.stop_hook_active else deny("more"), inline=True)

        async def run(child: Any, config: Any) -> str:
            await child.stop()
            raise OSError("no disk")

        async def scenario(session: Any) -> Any:
            return (await session.spawn("explorer", run)).ok

        assert play(hooks, scenario) is False
        assert [event.stop_hook_active for event in heard.of("SubagentStop")] == [False, True]

    @both
    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
    def test_one_that_is_interrupted_has_stopped_and_the_interrupt_goes_on(self, play: Any, error: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def run(child: Any, config: Any) -> None:
            raise error

        async def scenario(session: Any) -> None:
            try:
                await session.spawn("explorer", run, hooks={"Stop": [print]})
            except error:
                raise AssertionError("as it should") from None

        with pytest.raises(AssertionError, match="as it should"):
            play(hooks, scenario)

        assert heard.names[-3:] == ["SubagentStop", "post:agent:complete", "SessionEnd"]
        assert heard.of("post:agent:complete")[0].result == {"error": "interrupted"}
        assert scopes(hooks) == set()

    def test_one_that_is_cancelled_has_stopped(self) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def main() -> None:
            async with hooks.session() as session:
                runs = asyncio.Event()

                async def run(child: Any, config: Any) -> None:
                    runs.set()
                    await asyncio.Future()

                spawned = asyncio.ensure_future(session.spawn("explorer", run, hooks={"Stop": [print]}))
                await runs.wait()
                spawned.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await spawned
                assert (await session.tool("Bash", LS, Tool())).ok

        asyncio.run(main())

        assert heard.names[4:] == [
            "SubagentStop", "post:agent:complete", "PreToolUse", "PostToolUse", "SessionEnd",
        ]  # fmt: skip
        assert scopes(hooks) == set()
