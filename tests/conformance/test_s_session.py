"""What the originals ask of a host, row by row, asked of a session: which event comes when, and what is made of it.

Every row is played twice, on an event loop and without one.
"""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.session_hosts import Collector, Model, Tool, both, saying

from interpose import Hooks, allow, ask, deny, inject, modify

LS = {"command": "ls"}


class Diary:
    """Writes down events and what the host itself does, in one order."""

    def __init__(self) -> None:
        self.hooks = Hooks()
        self.entries: list[str] = []
        for event in self.hooks.events:
            self.hooks.register(event, lambda e: self.entries.append(e.row.name), inline=True)

    def does(self, what: str, result: Any = "result") -> Callable[..., Any]:
        """Return a function of the host that writes down that it was called."""

        def act(*given: Any) -> Any:
            self.entries.append(what)
            if isinstance(result, BaseException):
                raise result
            return result

        return act


# What the host does, and what stands in the diary afterwards, between the session's beginning and its end.
POINTS: list[Any] = [
    ("S0-5 S0-8", lambda s, d: s.message("hi", d.does("the model answers")),
     ["pre:message", "the model answers", "post:message"]),
    ("S0-11 S0-14", lambda s, d: s.tool("shell", LS, d.does("the tool runs")),
     ["PreToolUse", "the tool runs", "PostToolUse"]),
    ("S0-14 C-45", lambda s, d: s.tool("shell", LS, d.does("the tool fails", OSError("x"))),
     ["PreToolUse", "the tool fails", "PostToolUseFailure"]),
    ("S0-17 S0-20 S2-105 S3-51 S3-52", lambda s, d: s.spawn("explorer", d.does("its loop")),
     ["pre:agent:spawn", "SubagentStart", "its loop", "SubagentStop", "post:agent:complete"]),
    ("S0-29 S0-32", lambda s, d: s.write("a.py", "x", d.does("the write")),
     ["pre:git:write", "the write", "post:git:write"]),
    ("S0-35", lambda s, d: s.render("timeline", {}), ["pre:view:render"]),
    ("S2-99 S3-37", lambda s, d: s.prompt("hi"), ["UserPromptSubmit"]),
    ("S2-106 S3-34 S3-35", lambda s, d: s.compact(d.does("compaction")),
     ["PreCompact", "compaction", "PostCompact", "SessionStart"]),
    ("S2-107 S3-47", lambda s, d: s.stop("bye"), ["Stop"]),
    ("S2-108 S3-54", lambda s, d: s.task_completed("1", "fix"), ["TaskCompleted"]),
    ("S2-109 S3-53", lambda s, d: s.teammate_idle("ann"), ["TeammateIdle"]),
    ("S2-110 S3-49", lambda s, d: s.notify("done"), ["Notification"]),
]  # fmt: skip


@both
@pytest.mark.parametrize(("act", "entries"), [pytest.param(act, entries, id=ids) for ids, act, entries in POINTS])
def test_an_event_stands_where_it_belongs(play: Any, act: Any, entries: list[str]) -> None:
    diary = Diary()

    async def scenario(session: Any) -> None:
        await act(session, diary)

    play(diary.hooks, scenario, show=lambda text: None)

    assert diary.entries == ["SessionStart", "Setup", *entries, "SessionEnd"]


@both
def test_the_phase_changes_between_its_two_events(play: Any) -> None:
    """S0-23, S0-26"""
    hooks = Hooks()
    phases: list[Any] = []

    async def scenario(session: Any) -> None:
        for event in ("pre:session:phase", "post:session:phase"):
            hooks.register(event, lambda e: phases.append((e.row.name, session.phase_now)), inline=True)
        await session.phase("act")

    play(hooks, scenario)

    assert phases == [("pre:session:phase", ""), ("post:session:phase", "act")]


@both
def test_the_first_event_is_the_start_and_the_last_is_the_end(play: Any) -> None:
    """S2-98, S2-111, S3-33, S3-50: also where the loop is left by an exception."""
    hooks = Hooks()
    heard = Collector(hooks)

    async def scenario(session: Any) -> None:
        await session.prompt("hi")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        play(hooks, scenario)

    assert heard.names == ["SessionStart", "Setup", "UserPromptSubmit", "SessionEnd"]
    assert heard.events[0].source == "startup"


@both
def test_a_prompt_comes_before_the_model_and_once(play: Any) -> None:
    """S2-99"""
    diary = Diary()

    async def scenario(session: Any) -> None:
        for prompt in ("one", "two"):
            await session.prompt(prompt)
            for _ in range(2):
                await session.message(prompt, diary.does("the model"))

    play(diary.hooks, scenario)

    turn = ["UserPromptSubmit"] + ["pre:message", "the model", "post:message"] * 2
    assert diary.entries[2:-1] == turn * 2


@both
def test_every_tool_call_of_an_answer_has_its_own_event(play: Any) -> None:
    """S2-100"""
    hooks = Hooks()
    heard = Collector(hooks)
    blocks = [("t1", "Bash", LS), ("t2", "Read", {"file_path": "a"}), ("t3", "Bash", LS)]

    async def scenario(session: Any) -> None:
        for number, name, given in blocks:
            await session.tool(name, given, Tool(), tool_use_id=number)

    play(hooks, scenario)

    assert [(e.tool_use_id, e.tool_name, e.tool_input) for e in heard.of("PreToolUse")] == blocks


@both
def test_hooks_come_before_the_permission_check(play: Any) -> None:
    """S2-101, S3-38, C-22: PermissionRequest fires in the check, and only if something is asked; what is checked is
    what hooks have left."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: modify(tool_input={"command": "ls -l"}), inline=True)
    heard = Collector(hooks)
    approver = Tool(True)

    async def scenario(session: Any) -> None:
        await session.tool("Bash", LS, Tool())
        await session.tool("Read", LS, Tool())

    play(hooks, scenario, rules={"Bash": "ask"}, approver=approver)

    assert heard.names[2:-1] == [
        "PreToolUse", "PermissionRequest", "Notification", "PostToolUse", "PreToolUse", "PostToolUse",
    ]  # fmt: skip
    assert [event.tool_input for event in heard.of("PermissionRequest")] == [{"command": "ls -l"}]
    assert [question.tool_input for question in approver.calls] == [{"command": "ls -l"}]


@both
@pytest.mark.parametrize("source", ["startup", "resume"])
def test_setup_fires_once_before_the_first_turn_or_on_demand(play: Any, source: str) -> None:
    """S3-36, C-22"""
    hooks = Hooks()
    heard = Collector(hooks)

    async def scenario(session: Any) -> None:
        await session.prompt("hi")
        await session.setup("maintenance")

    play(hooks, scenario, source=source)

    first = ["init"] if source == "startup" else []
    assert [event.trigger for event in heard.of("Setup")] == [*first, "maintenance"]
    assert heard.names[: 2 + len(first)] == ["SessionStart", *["Setup" for _ in first], "UserPromptSubmit"]


# What a hook says before a tool, whether the tool runs, and the event after it.
OUTCOMES: list[Any] = [
    ("S2-102", allow(), "result", True, ["PostToolUse"]),
    ("S2-103", deny("no"), "result", False, []),
    ("S2-104", None, OSError("x"), True, ["PostToolUseFailure"]),
    ("S2-103 C-29", ask("sure?"), "result", False, ["PermissionRequest"]),
]


@both
@pytest.mark.parametrize(
    ("says", "result", "runs", "after"),
    [pytest.param(*case, id=ids) for ids, *case in OUTCOMES],
)
def test_what_becomes_of_a_call(play: Any, says: Any, result: Any, runs: bool, after: list[str]) -> None:
    hooks = saying("PreToolUse", says)
    heard = Collector(hooks)
    tool = Tool(result)

    async def scenario(session: Any) -> Any:
        return await session.tool("Bash", LS, tool)

    answer = play(hooks, scenario)

    assert bool(tool.calls) is runs
    assert heard.names[3:-1] == after
    assert answer.ok is (runs and after == ["PostToolUse"])


@both
@pytest.mark.parametrize(
    ("answers", "asked", "runs"),
    [
        ([ask("sure?"), allow()], 1, True),
        ([allow(), ask("sure?")], 1, True),
        ([ask("sure?"), deny("no")], 0, False),
        ([deny("no"), ask("sure?")], 0, False),
    ],
)
def test_an_ask_outranks_an_allow_and_loses_to_a_deny(play: Any, answers: Any, asked: int, runs: bool) -> None:
    """C-29: with somebody to ask, ask means ask; with nobody, deny."""
    hooks = Hooks()
    for says in answers:
        hooks.register("PreToolUse", lambda event, says=says: says, inline=True)
    approver = Tool(True)

    async def scenario(session: Any) -> Any:
        return (await session.tool("Bash", LS, Tool())).ok

    assert play(hooks, scenario, approver=approver) is runs
    assert len(approver.calls) == asked
    assert play(hooks, scenario) is False


@both
@pytest.mark.parametrize("says", [{"continue": True}, {"decision": "block", "reason": "tests fail"}], ids=repr)
def test_a_hook_can_have_the_agent_go_on(play: Any, says: Any) -> None:
    """S2-107"""

    async def scenario(session: Any) -> Any:
        return (await session.stop()).keep_going

    assert play(saying("Stop", says), scenario) is True
    assert play(saying("Stop", None), scenario) is False


@both
def test_a_subagent_has_its_events_around_its_loop(play: Any) -> None:
    """S2-105, S3-51, S3-52"""
    hooks = Hooks()
    heard = Collector(hooks)

    async def loop(child: Any, config: Any) -> None:
        await child.message("hi", Model())
        await child.tool("Read", {}, Tool())

    async def scenario(session: Any) -> None:
        await session.spawn("explorer", loop)

    play(hooks, scenario)

    assert heard.names[3:-2] == [
        "SubagentStart", "pre:message", "post:message", "PreToolUse", "PostToolUse", "SubagentStop",
    ]  # fmt: skip


@both
def test_the_session_starts_again_after_a_compaction(play: Any) -> None:
    """S2-106, S3-34, S3-35"""
    hooks = Hooks()
    heard = Collector(hooks)

    async def scenario(session: Any) -> None:
        await session.compact(lambda instructions: "in short")

    play(hooks, scenario)

    assert [event.source for event in heard.of("SessionStart")] == ["startup", "compact"]


# Context.


def system_prompts(play: Any, hooks: Hooks, *, calls: int = 2, system: str = "You are kind.") -> list[str]:
    """Return what system prompts the model gets after one prompt."""
    model = Model()

    async def scenario(session: Any) -> None:
        await session.prompt("hi")
        for _ in range(calls):
            await session.message("hi", model, system=system)

    play(hooks, scenario)
    return model.systems


@both
def test_context_is_appended_to_the_next_system_message_and_then_gone(play: Any) -> None:
    """S2-120, S2-134, S3-87, S3-88, C-21"""
    hooks = Hooks()
    hooks.register("UserPromptSubmit", lambda event: {"systemMessage": "one"}, inline=True)
    hooks.register(
        "UserPromptSubmit",
        lambda event: {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "two"}},
        inline=True,
    )

    assert system_prompts(play, hooks) == ["You are kind.\n\none\ntwo", "You are kind."]


@both
def test_a_system_message_comes_before_what_the_same_hook_adds(play: Any) -> None:
    """C-21"""
    says = {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "added"},
        "systemMessage": "message",
    }

    assert system_prompts(play, saying("UserPromptSubmit", says), calls=1) == ["You are kind.\n\nmessage\nadded"]


@both
def test_every_message_that_is_not_empty_is_kept(play: Any) -> None:
    """S3-86"""
    hooks = Hooks()
    for text in ("one", "", "two"):
        hooks.register("UserPromptSubmit", lambda event, text=text: {"systemMessage": text}, inline=True)

    assert system_prompts(play, hooks, calls=1) == ["You are kind.\n\none\ntwo"]


@both
def test_without_context_the_system_prompt_is_what_it_was(play: Any) -> None:
    """S3-89"""
    assert system_prompts(play, saying("UserPromptSubmit", None)) == ["You are kind.", "You are kind."]
    assert system_prompts(play, Hooks(), system="") == ["", ""]


@both
def test_a_prompt_is_blocked_although_no_tool_is(play: Any) -> None:
    """C-21: UserPromptSubmit keeps its block."""

    async def scenario(session: Any) -> Any:
        return (await session.prompt("hi")).denied

    assert play(saying("UserPromptSubmit", {"decision": "block", "reason": "no"}), scenario) is True


# Results.


@both
def test_a_result_that_is_suppressed_is_replaced_and_kept(play: Any) -> None:
    """C-33"""

    async def scenario(session: Any) -> Any:
        return await session.tool("Bash", LS, Tool("secret"))

    answer = play(saying("PostToolUse", {"suppressOutput": True}), scenario)

    assert (answer.content, answer.raw) == ("[a hook withheld the output of this tool]", "secret")


@both
def test_three_channels_are_kept_apart_and_in_order(play: Any) -> None:
    """C-34"""
    hooks = Hooks()
    for text, channel in [("a", "user_message"), ("b", "tool_result"), ("c", "system_context"), ("d", "user_message")]:
        hooks.register("PostToolUse", lambda e, text=text, channel=channel: inject(text, channel), inline=True)
    model = Model()

    async def scenario(session: Any) -> Any:
        answer = await session.tool("Bash", LS, Tool("out"))
        await session.message("hi", model)
        return answer

    answer = play(hooks, scenario)

    assert (answer.content, answer.user_messages, model.systems) == ("out\nb", ("a", "d"), ["c"])


@both
def test_a_failure_has_no_event_of_success(play: Any) -> None:
    """C-45: what fails fires PostToolUseFailure and neither PostToolUse nor post:tool."""
    hooks = Hooks()
    heard: list[str] = []
    for event in ("PostToolUse", "post:tool", "PostToolUseFailure"):
        hooks.register(event, lambda e, event=event: heard.append(event), inline=True)

    async def scenario(session: Any) -> Any:
        await session.tool("Bash", LS, Tool())
        await session.tool("Bash", LS, Tool(OSError("x")))

    play(hooks, scenario)

    assert heard == ["PostToolUse", "post:tool", "PostToolUseFailure"]
