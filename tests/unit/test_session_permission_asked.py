"""Whether a call may run, once a person or a hook is asked: their answers, changed inputs, and what is remembered."""

import asyncio
from typing import Any

import pytest
from tests.unit.session_hosts import LS, Collector, Tool, both, saying

from interpose import Approval, Hooks, Question, Reply, allow, ask, context, deny, modify

# What whoever is asked may say, and what becomes of the call: the reason it was refused for, or the input it ran with.
ANSWERS: list[tuple[Any, Any]] = [
    (True, LS),
    (False, "the person said no"),
    (allow(), LS),
    (allow() + modify(tool_input={"command": "ls -l"}), {"command": "ls -l"}),
    (allow() + modify(args={"command": "ls -l"}), {"command": "ls -l"}),
    (allow() + modify(command="ls -l"), "the answer changes fields that a call does not have: command"),
    (deny("not today"), "not today"),
    (deny(), "the person said no"),
    (ask(), "the answer to the question is neither yes nor no: Reply("),
    (modify(tool_input={}), "the answer to the question is neither yes nor no: Reply("),
    (context("x"), "the answer to the question is neither yes nor no: Reply("),
    (Reply(), "the answer to the question is neither yes nor no: Reply("),
    (None, "the answer to the question is neither yes nor no: None"),
    (1, "the answer to the question is neither yes nor no: 1"),
    ("yes", "the answer to the question is neither yes nor no: 'yes'"),
    ({"decision": "allow"}, "the answer to the question is neither yes nor no: {'decision': 'allow'}"),
    (OSError("no terminal"), "the question could not be asked: no terminal"),
    (OSError(), "the question could not be asked: OSError"),
]


class TestAsking:
    @both
    @pytest.mark.parametrize(("says", "becomes"), ANSWERS, ids=[repr(says)[:60] for says, _ in ANSWERS])
    def test_only_a_yes_is_a_yes(self, play: Any, says: Any, becomes: Any) -> None:
        tool, approver = Tool(), Tool(says)

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", LS, tool)

        answer = play(Hooks(), scenario, default="ask", approver=approver)

        assert len(approver.calls) == 1
        if isinstance(becomes, str):
            assert (answer.denied, tool.calls) == (True, [])
            assert answer.reason.startswith(becomes)
        else:
            assert (answer.ok, answer.input, tool.calls) == (True, becomes, [becomes])

    def test_whoever_is_asked_may_take_their_time(self) -> None:
        async def approver(question: Question) -> bool:
            await asyncio.sleep(0)
            return bool(question.tool_input == LS)

        async def main() -> list[bool]:
            async with Hooks().session(default="ask", approver=approver) as session:
                return [(await session.tool("Bash", given, Tool())).ok for given in (LS, {"command": "rm"})]

        assert asyncio.run(main()) == [True, False]

    @both
    @pytest.mark.parametrize(("rule", "runs"), [("Write", True), ("Bash(rm *)", False)])
    def test_an_input_that_the_person_changed_is_judged_by_the_rules_for_this_tool(
        self, play: Any, rule: str, runs: bool
    ) -> None:
        tool = Tool()

        async def scenario(session: Any) -> None:
            await session.tool("Bash", LS, tool)

        changed = {"command": "rm x"}
        play(
            Hooks(),
            scenario,
            default="ask",
            rules={rule: "deny"},
            approver=lambda q: allow() + modify(tool_input=changed),
        )

        assert tool.calls == ([changed] if runs else [])

    @both
    def test_the_question_says_what_it_is_about(self, play: Any) -> None:
        approver = Tool(True)

        async def scenario(session: Any) -> None:
            await session.tool("Bash", LS, Tool(), tool_use_id="t1")

        play(saying("PreToolUse", ask("a push?")), scenario, session_id="s", agent_id="a", approver=approver)

        asked = approver.calls[0]
        assert approver.calls == [
            Question(tool_name="Bash", tool_input=LS, reason="a push?", tool_use_id="t1", session_id="s", agent_id="a",
                     hook=asked.hook, place=asked.place)
        ]  # fmt: skip
        assert (asked.hook, asked.rule) == ("saying.<lambda>", "")
        assert str(approver.calls[0]) == "Bash(command='ls'): a push?"

    @pytest.mark.parametrize(
        ("name", "given", "shown"),
        [
            ("Say", "hi", "Say(hi)"),
            ("Say", "hi\nBash(ls)", "Say('hi\\nBash(ls)')"),
            ("Say", ["hi"], "Say(['hi'])"),
            ("Say(hi)", {"a b": 1, "c-d": "x"}, "'Say(hi)'('a b'=1, c-d='x')"),
        ],
    )
    def test_a_question_is_shown_on_one_line_and_cannot_be_made_to_look_like_another(
        self, name: str, given: Any, shown: str
    ) -> None:
        assert str(Question(tool_name=name, tool_input=given)) == shown

    @both
    def test_what_is_shown_is_a_copy(self, play: Any) -> None:
        """Whoever asks cannot change by accident what runs: guards would not have seen it."""

        def approver(question: Question) -> bool:
            question.tool_input["command"] = "rm -rf /"
            return True

        tool = Tool()

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", {"command": "ls"}, tool)

        play(Hooks(), scenario, default="ask", approver=approver)

        assert tool.calls == [LS]

    @both
    def test_the_person_is_notified_before_they_are_asked(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", LS, Tool())

        known_when_asked: list[str] = []

        def approver(question: Question) -> bool:
            known_when_asked.extend(heard.names[-2:])
            return True

        answer = play(hooks, scenario, default="ask", approver=approver)

        assert known_when_asked == ["PermissionRequest", "Notification"]
        [notice] = heard.of("Notification")
        assert (notice.notification_type, notice.message) == ("permission_prompt", "Bash needs your permission")
        assert [outcome.event for outcome in answer.outcomes] == [
            "PreToolUse", "PermissionRequest", "Notification", "PostToolUse",
        ]  # fmt: skip

    @both
    def test_what_was_rewritten_is_what_is_asked_about_and_judged_by_rules(self, play: Any) -> None:
        hooks = saying("PreToolUse", modify(tool_input={"command": "git push --dry-run"}))
        approver = Tool(True)

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", LS, Tool())

        answer = play(hooks, scenario, rules={"Bash(git push *)": "ask"}, approver=approver)

        assert approver.calls[0].tool_input == answer.input == {"command": "git push --dry-run"}


def requested(answer: Any, **options: Any) -> Hooks:
    """Return hooks of which one answers a request for permission."""
    return saying("PermissionRequest", answer, **options)


def decision(behavior: str, **more: Any) -> dict[str, Any]:
    """Return what a hook says to a request for permission, in Claude Code's words."""
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": behavior, **more}}}


class TestPermissionRequest:
    @both
    @pytest.mark.parametrize("says", [allow(), decision("allow")], ids=["in Python", "in JSON"])
    def test_a_hook_answers_in_the_place_of_the_person(self, play: Any, says: Any) -> None:
        approver = Tool(False)

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", LS, Tool())

        answer = play(requested(says), scenario, default="ask", approver=approver)

        assert (answer.ok, approver.calls) == (True, [])
        assert [outcome.event for outcome in answer.outcomes] == ["PreToolUse", "PermissionRequest", "PostToolUse"]

    @both
    def test_a_hook_that_denies_is_the_one_who_decided(self, play: Any) -> None:
        approver, tool = Tool(True), Tool()

        async def scenario(session: Any) -> Any:
            answer = await session.tool("Bash", LS, tool)
            return answer, session.halted

        answer, halted = play(
            requested(decision("deny", message="no pushes")), scenario, default="ask", approver=approver
        )

        assert (answer.denied, answer.reason, answer.outcome.event) == (True, "no pushes", "PermissionRequest")
        assert (approver.calls, tool.calls, halted) == ([], [], "")

    @both
    def test_a_hook_that_interrupts_ends_the_turn(self, play: Any) -> None:
        says = decision("deny", message="stop it", interrupt=True)

        async def scenario(session: Any) -> Any:
            first = await session.tool("Bash", LS, Tool())
            second = await session.tool("Read", {}, Tool())
            return first, second, session.halted

        first, second, halted = play(requested(says), scenario, rules={"Bash": "ask"}, approver=lambda question: True)

        assert (first.denied, first.reason, halted) == (True, "stop it", "stop it")
        assert (second.denied, second.content) == (True, "The turn is over: stop it")

    @both
    @pytest.mark.parametrize("says", [None, {"decision": "allow"}, ask("hm")], ids=repr)
    def test_a_hook_that_does_not_grant_leaves_it_to_the_person(self, play: Any, says: Any) -> None:
        async def scenario(session: Any) -> Any:
            return (await session.tool("Bash", LS, Tool())).ok

        assert play(requested(says), scenario, default="ask", approver=lambda question: True) is True
        assert play(requested(says), scenario, default="ask", approver=lambda question: False) is False
        assert play(requested(says), scenario, default="ask") is False

    @both
    def test_nobody_is_requested_where_nothing_is_asked(self, play: Any) -> None:
        hooks = requested(deny("no"))

        async def scenario(session: Any) -> Any:
            return (await session.tool("Bash", LS, Tool())).ok

        assert play(hooks, scenario) is True


CHANGED = {"command": "rm -rf /"}
BY_A_HOOK = (decision("allow", updatedInput=CHANGED), None)
BY_THE_PERSON = (None, allow() + modify(tool_input=CHANGED))


@both
@pytest.mark.parametrize(("hook", "person"), [BY_A_HOOK, BY_THE_PERSON], ids=["by a hook", "by the person"])
class TestInputChangedWhileAsking:
    """What is changed after the guards have looked is looked at again."""

    def make(self, play: Any, hooks: Hooks, person: Any, **options: Any) -> tuple[Any, list[Any]]:
        tool = Tool()
        schema = options.pop("schema", None)

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", LS, tool, schema=schema)

        return play(hooks, scenario, default="ask", approver=lambda question: person, **options), tool.calls

    def test_it_is_what_runs(self, play: Any, hook: Any, person: Any) -> None:
        hooks = requested(hook)
        heard = Collector(hooks)

        answer, calls = self.make(play, hooks, person)

        assert (answer.ok, answer.input, calls) == (True, CHANGED, [CHANGED])
        assert heard.of("PostToolUse")[0].tool_input == CHANGED

    @pytest.mark.parametrize("says", [deny("no rm"), ask("no rm")], ids=["deny", "ask"])
    @pytest.mark.parametrize("options", [{"on_error": "abort"}, {"locked": True}], ids=["abort", "locked"])
    def test_guards_look_at_it(self, play: Any, hook: Any, person: Any, says: Any, options: Any) -> None:
        hooks = requested(hook)
        hooks.register(
            "PreToolUse", lambda e: says if "rm" in e.tool_input["command"] else None, inline=True, **options
        )

        answer, calls = self.make(play, hooks, person)

        assert (answer.denied, answer.reason, calls) == (True, "no rm", [])
        assert answer.outcome is answer.outcomes[-1]

    def test_guards_that_break_refuse_it(self, play: Any, hook: Any, person: Any) -> None:
        hooks = requested(hook)
        hooks.register(
            "PreToolUse", lambda e: 1 / 0 if "rm" in e.tool_input["command"] else None, inline=True, on_error="abort"
        )

        answer, calls = self.make(play, hooks, person)

        assert (answer.denied, calls) == (True, [])

    def test_guards_change_nothing_in_it(self, play: Any, hook: Any, person: Any) -> None:
        hooks = requested(hook)
        hooks.register(
            "PreToolUse",
            lambda e: modify(tool_input={"command": "x"}) if "rm" in e.tool_input["command"] else None,
            inline=True, on_error="abort",
        )  # fmt: skip

        _, calls = self.make(play, hooks, person)

        assert calls == [CHANGED]

    def test_a_rule_that_denies_holds_for_it(self, play: Any, hook: Any, person: Any) -> None:
        answer, calls = self.make(play, requested(hook), person, rules={"Bash(rm *)": "deny"})

        assert (answer.denied, answer.reason, calls) == (True, "denied by the rule Bash(rm *)", [])

    def test_it_must_fit_the_tool(self, play: Any, hook: Any, person: Any) -> None:
        schema = {"properties": {"command": {"maxLength": 3}}}

        answer, calls = self.make(play, requested(hook), person, schema=schema)

        assert (answer.denied, calls) == (True, [])
        assert "changed the input into one that Bash cannot take: command: 'rm -rf /' is too long" in answer.reason


@both
def test_an_input_that_was_repeated_while_asking_is_not_looked_at_again(play: Any) -> None:
    hooks = requested(decision("allow", updatedInput=dict(LS)))
    looked: list[Any] = []
    hooks.register("PreToolUse", looked.append, inline=True, on_error="abort")

    async def scenario(session: Any) -> Any:
        return (await session.tool("Bash", LS, Tool())).ok

    assert play(hooks, scenario, default="ask") is True
    assert len(looked) == 1


class TestRemembering:
    """An answer holds for that call, that input and those hooks."""

    def ask_twice(
        self,
        play: Any,
        *,
        second: dict[str, Any] | None = None,
        between: Any = None,
        says: Any = True,
        first: dict[str, Any] | None = None,
    ) -> tuple[int, list[bool]]:
        approver, hooks = Tool(says), Hooks()
        given = {"name": "Bash", "input": LS, "tool_use_id": "t1"}

        async def scenario(session: Any) -> list[bool]:
            one = await session.tool(**{**given, **(first or {})}, run=Tool())
            if between:
                between(hooks)
            two = await session.tool(**{**given, **(first or {}), **(second or {})}, run=Tool())
            return [one.ok, two.ok]

        ran = play(hooks, scenario, default="ask", approver=approver)
        return len(approver.calls), ran

    @both
    @pytest.mark.parametrize("says", [True, False, deny("no"), allow()], ids=repr)
    def test_the_same_call_is_asked_about_once(self, play: Any, says: Any) -> None:
        asked, ran = self.ask_twice(play, says=says)

        yes = says is True or says == allow()
        assert (asked, ran) == (1, [yes, yes])

    @both
    @pytest.mark.parametrize(
        "second",
        [
            {"tool_use_id": "t2"},
            {"name": "Shell"},
            {"input": {"command": "ls -l"}},
            {"input": {"command": "ls", "timeout": 1}},
            {"input": ["ls"]},
        ],
        ids=repr,
    )
    def test_another_call_is_asked_about(self, play: Any, second: dict[str, Any]) -> None:
        assert self.ask_twice(play, second=second)[0] == 2

    @both
    def test_the_order_of_the_input_makes_no_other_call(self, play: Any) -> None:
        given = {"first": {"input": {"a": 1, "b": 2}}, "second": {"input": {"b": 2, "a": 1}}}

        assert self.ask_twice(play, **given)[0] == 1

    @both
    @pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False), ("1", 1), (None, "null")])
    def test_what_only_looks_alike_is_asked_about(self, play: Any, one: Any, other: Any) -> None:
        given = {"first": {"input": {"n": one}}, "second": {"input": {"n": other}}}

        assert self.ask_twice(play, **given)[0] == 2

    @both
    @pytest.mark.parametrize(
        "given", [object(), {"a": {1, 2}}, {"a": b"x"}, {(1, 2): 3}], ids=["object", "set", "bytes", "tuple"]
    )
    def test_what_json_cannot_say_is_asked_about_each_time(self, play: Any, given: Any) -> None:
        assert self.ask_twice(play, first={"input": given})[0] == 2

    @both
    @pytest.mark.parametrize(
        "between",
        [
            lambda hooks: hooks.register("PreToolUse", lambda event: None, name="new"),
            lambda hooks: hooks.register("PermissionRequest", lambda event: None, name="new"),
            lambda hooks: hooks.register_scoped("main", {"PreToolUse": [lambda event: None]}),
        ],
        ids=["for everyone", "of the request", "for this agent"],
    )
    def test_other_hooks_make_another_question(self, play: Any, between: Any) -> None:
        assert self.ask_twice(play, between=between)[0] == 2

    @both
    @pytest.mark.parametrize(
        "between",
        [
            lambda hooks: hooks.register("Stop", lambda event: None, name="new"),
            lambda hooks: hooks.register_scoped("someone", {"PreToolUse": [lambda event: None]}),
        ],
        ids=["of another event", "for another agent"],
    )
    def test_hooks_that_do_not_judge_the_call_make_none(self, play: Any, between: Any) -> None:
        assert self.ask_twice(play, between=between)[0] == 1

    @both
    @pytest.mark.parametrize("says", [None, "yes", OSError("no terminal")], ids=repr)
    def test_what_was_no_answer_is_not_remembered(self, play: Any, says: Any) -> None:
        assert self.ask_twice(play, says=says) == (2, [False, False])

    @both
    def test_who_was_not_there_can_be_asked_later(self, play: Any) -> None:
        async def scenario(session: Any) -> list[bool]:
            one = await session.tool("Bash", LS, Tool(), tool_use_id="t1")
            session.approver = lambda question: True
            return [one.ok, (await session.tool("Bash", LS, Tool(), tool_use_id="t1")).ok]

        assert play(Hooks(), scenario, default="ask") == [False, True]

    @both
    def test_a_hook_that_comes_while_the_person_thinks_makes_another_question(self, play: Any) -> None:
        hooks, asked = Hooks(), []

        def approver(question: Question) -> bool:
            asked.append(question)
            if len(asked) == 1:
                hooks.register("PreToolUse", lambda event: None, inline=True)
            return True

        async def scenario(session: Any) -> None:
            for _ in range(3):
                await session.tool("Bash", LS, Tool(), tool_use_id="t1")

        play(hooks, scenario, default="ask", approver=approver)

        assert len(asked) == 2

    @both
    def test_an_answer_that_changed_the_input_changes_it_again(self, play: Any) -> None:
        hooks = requested(decision("allow", updatedInput={"command": "ls -l"}))
        heard = Collector(hooks)
        tool = Tool()

        async def scenario(session: Any) -> None:
            for _ in range(2):
                await session.tool("Bash", LS, tool, tool_use_id="t1")

        play(hooks, scenario, default="ask")

        assert tool.calls == [{"command": "ls -l"}] * 2
        assert len(heard.of("PermissionRequest")) == 1

    @both
    def test_a_remembered_yes_is_no_yes_to_what_was_denied_since(self, play: Any) -> None:
        tool = Tool()

        async def scenario(session: Any) -> list[bool]:
            one = await session.tool("Bash", LS, tool, tool_use_id="t1")
            session.mode = "plan"
            return [one.ok, (await session.tool("Bash", LS, tool, tool_use_id="t1")).ok]

        assert play(Hooks(), scenario, default="ask", approver=lambda question: True) == [True, False]

    @both
    def test_an_answer_for_the_session_holds_for_its_question_also_if_the_call_is_the_same(self, play: Any) -> None:
        approver, reasons = Tool(Approval(approved=True, remembered="session")), iter(("one", "two", "one"))
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: ask(next(reasons)))

        async def scenario(session: Any) -> None:
            for _ in range(3):
                await session.tool("Bash", LS, Tool(), tool_use_id="t1")

        play(hooks, scenario, approver=approver)

        assert [question.reason for question in approver.calls] == ["one", "two"]

    @both
    def test_only_so_many_answers_are_kept(self, play: Any) -> None:
        approver = Tool(True)

        async def scenario(session: Any) -> None:
            for number in [*range(1001), 1, 0]:
                await session.tool("Bash", LS, Tool(), tool_use_id=str(number))

        play(Hooks(), scenario, default="ask", approver=approver)

        assert [question.tool_use_id for question in approver.calls[-2:]] == ["1000", "0"]
