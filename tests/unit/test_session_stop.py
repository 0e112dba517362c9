"""When an agent may stop, and when it must."""

from typing import Any

import pytest
from tests.unit.session_hosts import Collector, Model, Tool, both, saying

from interpose import Hooks, context, deny

LS = {"command": "ls"}


class TestStop:
    @both
    def test_an_agent_that_nobody_keeps_may_stop(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def scenario(session: Any) -> Any:
            return await session.stop("bye")

        answer = play(hooks, scenario)

        assert (answer.ok, answer.keep_going, answer.content) == (True, False, "")
        [event] = heard.of("Stop")
        assert (event.stop_hook_active, event.last_assistant_message) == (False, "bye")

    @both
    @pytest.mark.parametrize(
        ("says", "content"),
        [
            (deny("tests fail"), "tests fail"),
            ({"decision": "block", "reason": "tests fail"}, "tests fail"),
            (deny(), "Go on."),
            ({"continue": True}, "Go on."),
            ({"continue": True, "reason": "tests fail"}, "tests fail"),
        ],
        ids=repr,
    )
    def test_an_agent_is_sent_back_to_work_with_the_reason(self, play: Any, says: Any, content: str) -> None:
        async def scenario(session: Any) -> Any:
            return await session.stop()

        answer = play(saying("Stop", says), scenario)

        assert (answer.ok, answer.keep_going, answer.content) == (True, True, content)

    @both
    def test_a_hook_is_told_that_it_has_kept_the_agent_before(self, play: Any) -> None:
        hooks = Hooks()
        told: list[bool] = []

        def stop(event: Any) -> Any:
            told.append(event.stop_hook_active)
            return None if event.stop_hook_active else deny("once more")

        hooks.register("Stop", stop, inline=True)

        async def scenario(session: Any) -> list[bool]:
            return [(await session.stop()).keep_going for _ in range(4)]

        assert play(hooks, scenario) == [True, False, True, False]
        assert told == [False, True, False, True]

    @both
    @pytest.mark.parametrize("most", [8, 2, 0])
    def test_it_stops_after_so_many_times_and_the_person_is_told(self, play: Any, most: int) -> None:
        shown: list[str] = []

        async def scenario(session: Any) -> list[Any]:
            return [await session.stop() for _ in range(most + 1)]

        *kept, last = play(saying("Stop", deny("more")), scenario, show=shown.append, max_continues=most)

        assert [answer.keep_going for answer in kept] == [True] * most
        assert (last.ok, last.keep_going, last.content) == (True, False, "")
        reason = f"A hook has made the agent continue {most} times in a row; now it stops."
        assert (last.reason, shown) == (reason, [reason])

    def test_eight_times_is_the_limit_if_nobody_says_another(self) -> None:
        with saying("Stop", deny("more")).session_sync(show=lambda text: None) as session:
            assert [session.stop().keep_going for _ in range(9)] == [True] * 8 + [False]

    @both
    def test_a_prompt_begins_to_count_anew(self, play: Any) -> None:
        hooks = saying("Stop", deny("more"))
        heard = Collector(hooks)

        async def scenario(session: Any) -> list[bool]:
            first = [(await session.stop()).keep_going for _ in range(2)]
            await session.prompt("hi")
            return first + [(await session.stop()).keep_going for _ in range(3)]

        assert play(hooks, scenario, max_continues=2, show=lambda text: None) == [True] * 4 + [False]
        assert [event.stop_hook_active for event in heard.of("Stop")] == [False, True, False, True, True]

    @both
    def test_a_prompt_that_was_denied_does_not(self, play: Any) -> None:
        hooks = saying("Stop", deny("more"))
        hooks.register("UserPromptSubmit", lambda event: deny("no"), inline=True)

        async def scenario(session: Any) -> list[bool]:
            first = await session.stop()
            await session.prompt("hi")
            return [first.keep_going, (await session.stop()).keep_going]

        assert play(hooks, scenario, max_continues=1, show=lambda text: None) == [True, False]

    @both
    def test_context_at_a_stop_is_kept_for_the_next_model_call(self, play: Any) -> None:
        model = Model()

        async def scenario(session: Any) -> None:
            await session.stop()
            await session.message("hi", model)

        play(saying("Stop", context("by the way")), scenario)

        assert model.systems == ["by the way"]


HALT = {"continue": False, "stopReason": "enough"}


async def turn(session: Any) -> tuple[Any, list[Any]]:
    """Make a call, then try everything that a halted session refuses."""
    first = await session.tool("Bash", LS, Tool())
    rest = [
        await session.tool("Bash", LS, Tool()),
        await session.message("hi", Model()),
        await session.spawn("explorer", lambda child, config: None),
    ]
    return first, rest


def is_over(rest: list[Any]) -> bool:
    return all(
        (answer.ok, answer.denied, answer.reason, answer.content) == (False, True, "enough", "The turn is over: enough")
        for answer in rest
    )


class TestHalting:
    @both
    @pytest.mark.parametrize("dialect", ["native", "claude"])
    def test_after_a_tool_has_run_the_turn_is_over(self, play: Any, dialect: str) -> None:
        hooks = saying("PostToolUse", HALT, dialect=dialect)
        heard = Collector(hooks)

        first, rest = play(hooks, turn)

        assert (first.ok, first.content) == (True, "done")
        assert is_over(rest)
        assert heard.names == ["SessionStart", "Setup", "PreToolUse", "PostToolUse", "SessionEnd"]

    @both
    def test_before_a_tool_runs_it_denies_that_call_alone(self, play: Any) -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: HALT, inline=True, once=True)

        first, rest = play(hooks, turn)

        assert (first.denied, first.reason) == (True, "enough")
        assert [answer.ok for answer in rest] == [True, True, True]

    @both
    def test_in_claude_codes_words_it_ends_the_turn_and_denies_nothing(self, play: Any) -> None:
        first, rest = play(saying("PreToolUse", HALT, dialect="claude"), turn)

        assert first.ok
        assert is_over(rest)

    @both
    def test_in_claude_codes_words_it_may_do_both(self, play: Any) -> None:
        says = HALT | {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}

        first, rest = play(saying("PreToolUse", says, dialect="claude"), turn)

        assert first.denied
        assert is_over(rest)

    @both
    def test_a_hook_that_only_records_halts_nothing(self, play: Any) -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: HALT, inline=True, once=True)
        hooks.register("PreToolUse", lambda event: HALT, inline=True, dialect="claude", enforce=False, priority=1)

        first, rest = play(hooks, turn)

        assert first.denied
        assert [answer.ok for answer in rest] == [True, True, True]

    @both
    def test_the_next_prompt_begins_a_turn(self, play: Any) -> None:
        hooks = Hooks()
        hooks.register("PostToolUse", lambda event: HALT, inline=True, once=True)

        async def scenario(session: Any) -> Any:
            await session.tool("Bash", LS, Tool())
            halted = session.halted
            await session.prompt("go on")
            return halted, session.halted, (await session.tool("Bash", LS, Tool())).ok

        assert play(hooks, scenario) == ("enough", "", True)

    @both
    def test_a_prompt_that_is_denied_begins_none(self, play: Any) -> None:
        hooks = saying("PostToolUse", HALT)
        hooks.register("UserPromptSubmit", lambda event: deny("no"), inline=True)

        async def scenario(session: Any) -> Any:
            await session.tool("Bash", LS, Tool())
            await session.prompt("go on")
            return session.halted, (await session.tool("Bash", LS, Tool())).denied

        assert play(hooks, scenario) == ("enough", True)

    @both
    def test_a_prompt_may_end_its_own_turn(self, play: Any) -> None:
        async def scenario(session: Any) -> Any:
            answer = await session.prompt("hi")
            return answer.ok, session.halted

        assert play(saying("UserPromptSubmit", HALT, dialect="claude"), scenario) == (True, "enough")

    @both
    def test_a_turn_that_is_over_is_not_kept_going(self, play: Any) -> None:
        hooks = saying("Stop", deny("more"))
        hooks.register("PostToolUse", lambda event: HALT, inline=True)

        async def scenario(session: Any) -> Any:
            await session.tool("Bash", LS, Tool())
            return (await session.stop()).keep_going

        assert play(hooks, scenario) is False

    @both
    def test_a_hook_at_a_stop_may_insist_on_it(self, play: Any) -> None:
        hooks = saying("Stop", deny("more"))
        hooks.register("Stop", lambda event: HALT, inline=True)

        async def scenario(session: Any) -> Any:
            return (await session.stop()).keep_going, session.halted

        assert play(hooks, scenario) == (False, "enough")

    @both
    def test_a_halt_without_a_reason_has_words_all_the_same(self, play: Any) -> None:
        async def scenario(session: Any) -> Any:
            await session.tool("Bash", LS, Tool())
            return session.halted

        assert play(saying("PostToolUse", {"continue": False}), scenario) == "a hook ended the turn"
