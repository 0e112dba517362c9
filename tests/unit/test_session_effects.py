"""A session's methods: what hooks change or refuse of messages, compaction, phases, writes, notifications and tasks."""

from typing import Any

import pytest
from tests.unit.session_hosts import LS, Collector, Model, Tool, both, saying

from interpose import Hooks, context, deny, modify


class TestMessage:
    @both
    def test_hooks_change_what_is_sent_and_what_comes_back(self, play: Any) -> None:
        hooks = saying("pre:message", modify(prompt="hello [redacted]"))
        hooks.register("post:message", lambda event: modify(output=event.output.upper()), inline=True)
        heard = Collector(hooks)
        model = Model({"text": "good day"})

        async def scenario(session: Any) -> Any:
            return await session.message("hello 123", model, system="be kind", model="m", text=lambda raw: raw["text"])

        answer = play(hooks, scenario)

        assert model.sent == [("hello [redacted]", "be kind")]
        assert (answer.ok, answer.content, answer.raw) == (True, "GOOD DAY", {"text": "good day"})
        assert answer.input == "hello [redacted]"
        after = heard.of("post:message")[0]
        assert (after.prompt, after.output, after.model) == ("hello [redacted]", "good day", "m")

    @both
    def test_a_message_that_is_denied_is_not_sent(self, play: Any) -> None:
        model = Model()

        async def scenario(session: Any) -> Any:
            return await session.message("hello", model)

        answer = play(saying("pre:message", deny("a secret in it")), scenario)

        assert (answer.ok, answer.denied, answer.content, model.sent) == (False, True, "a secret in it", [])

    @both
    def test_a_prompt_that_is_denied_says_why(self, play: Any) -> None:
        async def scenario(session: Any) -> Any:
            return await session.prompt("hello")

        answer = play(saying("UserPromptSubmit", deny("not today")), scenario)

        assert (answer.ok, answer.denied, answer.reason, answer.content) == (False, True, "not today", "not today")


class TestTheRest:
    @both
    def test_compaction_can_be_steered(self, play: Any) -> None:
        hooks = saying("PreCompact", modify(custom_instructions="keep the plan"))
        heard = Collector(hooks)
        compactor = Tool("in short")

        async def scenario(session: Any) -> Any:
            return await session.compact(compactor, trigger="manual")

        answer = play(hooks, scenario)

        assert compactor.calls == ["keep the plan"]
        assert (answer.ok, answer.content, answer.input) == (True, "in short", "keep the plan")
        [before], [after] = heard.of("PreCompact"), heard.of("PostCompact")
        assert (before.trigger, after.trigger, after.compact_summary) == ("manual", "manual", "in short")
        assert [event.source for event in heard.of("SessionStart")] == ["startup", "compact"]

    @both
    def test_compaction_can_be_refused(self, play: Any) -> None:
        hooks = saying("PreCompact", deny("not in the middle of it"))
        heard = Collector(hooks)
        compactor = Tool()

        async def scenario(session: Any) -> Any:
            return await session.compact(compactor)

        answer = play(hooks, scenario)

        assert (answer.denied, answer.reason, compactor.calls) == (True, "not in the middle of it", [])
        assert "PostCompact" not in heard.names

    @both
    def test_a_phase_that_is_denied_is_not_entered(self, play: Any) -> None:
        hooks = Hooks()
        hooks.register("pre:session:phase:done", lambda event: deny("tests fail"), inline=True)
        heard = Collector(hooks)

        async def scenario(session: Any) -> Any:
            answers = [await session.phase(phase) for phase in ("act", "done", "review")]
            return answers, session.phase_now

        answers, phase = play(hooks, scenario)

        assert [answer.ok for answer in answers] == [True, False, True]
        assert (answers[0].content, answers[1].reason, phase) == ("act", "tests fail", "review")
        changes = [(event.from_phase, event.to_phase) for event in heard.of("post:session:phase")]
        assert changes == [("", "act"), ("act", "review")]

    @both
    def test_a_write_that_is_denied_is_not_made(self, play: Any) -> None:
        hooks = saying("pre:git:write", deny("generated"))
        heard = Collector(hooks)
        written = []

        async def scenario(session: Any) -> Any:
            return await session.write("a.py", "x", lambda *given: written.append(given))

        answer = play(hooks, scenario)

        assert (answer.denied, answer.content, written) == (True, "generated", [])
        assert "post:git:write" not in heard.names

    @both
    def test_a_write_is_made_with_what_hooks_left_of_it(self, play: Any) -> None:
        hooks = saying("pre:git:write", modify(content="x = 1\n"))
        heard = Collector(hooks)
        written: list[Any] = []

        def commit(path: str, content: str) -> str:
            written.append((path, content))
            return "c1"

        async def scenario(session: Any) -> Any:
            return await session.write("a.py", "x=1", commit)

        answer = play(hooks, scenario)

        assert written == [("a.py", "x = 1\n")]
        assert (answer.ok, answer.content, answer.input) == (True, "c1", "x = 1\n")
        [after] = heard.of("post:git:write")
        assert (after.path, after.content, after.commit) == ("a.py", "x = 1\n", "c1")

    @both
    def test_a_write_that_breaks_was_not_made(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        def commit(path: str, content: str) -> str:
            raise OSError("no disk")

        async def scenario(session: Any) -> None:
            await session.write("a.py", "x", commit)

        with pytest.raises(OSError, match="no disk"):
            play(hooks, scenario)

        assert heard.names[-2:] == ["pre:git:write", "SessionEnd"]

    @both
    def test_what_is_drawn_is_what_hooks_left_of_it(self, play: Any) -> None:
        hooks = saying("pre:view:render", modify(data={"rows": []}), matcher="timeline")

        async def scenario(session: Any) -> list[Any]:
            return [(await session.render(view, {"rows": [1]})).content for view in ("timeline", "help")]

        assert play(hooks, scenario) == [{"rows": []}, {"rows": [1]}]

    @both
    def test_a_notification_is_shown(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)
        shown: list[str] = []

        async def scenario(session: Any) -> None:
            await session.notify("all done")
            await session.notify("over there", title="Look", notification_type="idle_prompt")

        play(hooks, scenario, show=shown.append)

        assert shown == ["all done", "Look: over there"]
        told = [(event.message, event.title, event.notification_type) for event in heard.of("Notification")]
        assert told == [("all done", None, "info"), ("over there", "Look", "idle_prompt")]

    @both
    def test_a_message_to_the_person_that_cannot_be_shown_stops_nothing(self, play: Any) -> None:
        def show(text: str) -> None:
            raise BrokenPipeError

        async def scenario(session: Any) -> Any:
            return (await session.notify("hi")).ok, (await session.tool("Bash", LS, Tool())).ok

        hooks = saying("PostToolUse", {"systemMessage": "look"}, dialect="claude")

        assert play(hooks, scenario, show=show) == (True, True)

    @both
    def test_a_teammate_is_kept_going_with_the_reason(self, play: Any) -> None:
        hooks = Hooks()
        hooks.register(
            "TeammateIdle", lambda e: deny("there is a task left") if e.teammate_name == "ann" else None, inline=True
        )

        async def scenario(session: Any) -> list[Any]:
            return [await session.teammate_idle(name, "blue") for name in ("ann", "bob")]

        ann, bob = play(hooks, scenario)

        assert (ann.ok, ann.keep_going, ann.content) == (True, True, "there is a task left")
        assert (bob.ok, bob.keep_going, bob.content) == (True, False, "")

    @both
    def test_a_task_that_is_denied_does_not_count_as_done(self, play: Any) -> None:
        hooks = saying("TaskCompleted", deny("no test for it"))
        heard = Collector(hooks)

        async def scenario(session: Any) -> Any:
            return await session.task_completed("7", "fix it", task_description="all of it", team_name="blue")

        answer = play(hooks, scenario)

        assert (answer.ok, answer.denied, answer.reason) == (False, True, "no test for it")
        [event] = heard.of("TaskCompleted")
        assert (event.task_id, event.task_subject, event.task_description) == ("7", "fix it", "all of it")

    @both
    def test_an_ask_where_nobody_can_be_asked_is_a_no(self, play: Any) -> None:
        async def scenario(session: Any) -> list[Any]:
            return [await session.prompt("hi"), await session.phase("act"), await session.message("hi", Model())]

        hooks = Hooks()
        for event in ("UserPromptSubmit", "pre:session:phase", "pre:message"):
            hooks.register(event, lambda _: {"decision": "ask", "reason": "sure?"}, inline=True)

        answers = play(hooks, scenario)

        assert [(answer.ok, answer.denied, answer.reason) for answer in answers] == [(False, True, "sure?")] * 3


@both
def test_whoever_wants_to_know_is_told_of_every_outcome(play: Any) -> None:
    told: list[str] = []

    async def work(child: Any, config: Any) -> None:
        await child.tool("Read", {}, Tool())

    async def scenario(session: Any) -> None:
        await session.prompt("hi")
        await session.spawn("explorer", work)

    play(saying("Stop", context("x")), scenario, on_outcome=lambda outcome: told.append(outcome.event))

    assert told == [
        "SessionStart", "Setup", "UserPromptSubmit", "pre:agent:spawn", "SubagentStart", "PreToolUse", "PostToolUse",
        "SubagentStop", "post:agent:complete", "SessionEnd",
    ]  # fmt: skip
