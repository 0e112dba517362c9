"""What is true of every call that is made in halves: it ends as the whole call does, and only an answer lets it run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpose import CallChanged, Hooks, UsageError, allow, ask, context, deny, inject, later, modify

ANSWERS = [
    None, None, allow(), ask("sure?"), deny("no"), {"decision": "allow"}, {"decision": "Deny"}, 5,
    modify(tool_input={"command": "other"}), modify(tool_response="other"), inject("r"), inject("u", "user_message"),
    {"suppressOutput": True}, {"continue": False, "stopReason": "enough"}, context("c"), modify(error="hidden"),
]  # fmt: skip
EVENTS = ["PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "Notification"]
SAID = [True, False, deny("later"), "yes", allow() + modify(tool_input={"command": "pwd"})]

said = st.dictionaries(st.sampled_from(EVENTS), st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=3))
modes = st.sampled_from(["default", "acceptEdits", "plan", "bypass"])
rules = st.dictionaries(
    st.sampled_from(["Bash", "Bash(other *)", "Bash(ls *)"]), st.sampled_from(["allow", "ask", "deny"])
)
results = st.sampled_from(["result", OSError("broken"), {"a": [1]}])


@pytest.fixture(autouse=True, scope="module")
def _state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Written calls have a key of their own."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("state")
        patch.setenv("XDG_STATE_HOME", str(folder))
        yield folder


def hooks_saying(said: dict[str, list[Any]]) -> tuple[Hooks, list[str]]:
    """Return hooks that give these answers one after another, and the list of what was fired."""
    hooks, fired = Hooks(), list[str]()
    for event in hooks.events:
        hooks.register(event, lambda event: fired.append(event.row.name), inline=True, priority=1)
    for event, answers in said.items():
        left = list(answers)
        hooks.register(event, lambda event, left=left: left.pop() if left else None, inline=True, name="says")
    return hooks, fired


def facts(answer: Any, fired: list[str]) -> Any:
    """What a host can tell of an answer, without times."""
    permission = answer.permission
    return (
        answer.ok, answer.content, answer.denied, answer.reason, answer.input, answer.raw, answer.changed,
        repr(answer.error), answer.user_messages, [outcome.event for outcome in answer.outcomes],
        permission and (permission.verdict, permission.by, permission.rule, permission.hook, permission.reason), fired,
    )  # fmt: skip


def finish(call: Any, result: Any) -> Any:
    if call.state != "run":
        return call.answer
    return call.failed(result) if isinstance(result, Exception) else call.done(result)


def raised(result: Any) -> Any:
    if isinstance(result, Exception):
        raise result
    return result


@given(said, modes, rules, st.sampled_from(["allow", "ask"]), results, st.sampled_from(SAID))
def test_halves_end_as_the_whole_call_does(
    said: dict[str, list[Any]], mode: str, rules: dict[str, str], default: str, result: Any, yes: Any
) -> None:
    options: dict[str, Any] = {"mode": mode, "rules": rules, "default": default, "show": lambda text: None}
    made = []
    for form in ("whole", "halves", "asked later"):
        hooks, fired = hooks_saying(said)
        approver = later if form == "asked later" else lambda question: yes
        with hooks.session_sync(approver=approver, **options) as session:
            if form == "whole":
                answer = session.tool("Bash", {"command": "ls"}, lambda given: raised(result), tool_use_id="t1")
            else:
                call = session.begin_tool("Bash", {"command": "ls"}, id="t1")
                if call.state == "asked":
                    call.said(yes)
                answer = finish(call, result)
            halted = session.halted
        made.append((*facts(answer, fired), halted))

    assert made[0] == made[1]
    assert made[0] == made[2]


STEPS = ["begin", "begin again", "another", "yes", "no", "nonsense", "done", "failed", "close", "write", "forge", "resume",
         "new hook", "mode", "rules", "halt", "clear halt"]  # fmt: skip


@given(st.sampled_from([ask("?"), deny("no"), None]), st.lists(st.sampled_from(STEPS), max_size=14))
def test_no_order_of_calls_runs_what_was_denied_or_not_answered(reply: Any, steps: list[str]) -> None:
    """A call may run only if hooks, rules and mode let it, or if the question about this input was answered with yes."""
    world = World(reply)

    with world.hooks.session_sync(approver=later, session_id="s1", show=lambda text: None) as session:
        for step in steps:
            try:
                world.take(session, step)
            except (UsageError, CallChanged):
                pass
            for call in world.calls:
                assert call.state != "run" or reply is None or call.input["command"] in world.answered, (step, call)
                if reply is not None and reply.decision == "deny":
                    assert call.state in ("denied", "done")
                assert (call.state == "asked") == (call.question is not None)


class World:
    """A host that makes calls in any order."""

    def __init__(self, reply: Any) -> None:
        self.hooks = Hooks()
        self.hooks.register("PreToolUse", lambda event: reply, inline=True, name="says")
        self.hooks.register(
            "Notification", lambda event: {"continue": False} if event.message == "stop" else None, inline=True
        )
        self.calls: list[Any] = []
        self.answered: set[str] = set()
        self.written: list[Any] = []

    def take(self, session: Any, step: str) -> None:
        if step in ("begin", "begin again", "another"):
            command = "rm" if step == "another" else "ls"
            self.calls.append(session.begin_tool("Bash", {"command": command}, id="t1"))
        elif step in ("new hook", "mode", "rules", "halt", "clear halt"):
            self.change(session, step)
        elif step == "forge" and self.written:
            forged = {"shown": {"command": "rm"}, "decision": "allow", "state": "run"}
            self.written.append({**self.written[-1], **forged})
        elif step == "resume" and self.written:
            self.calls.append(session.resume(self.written[-1]))
        elif self.calls:
            self.go_on(self.calls[-1], step)

    def go_on(self, call: Any, step: str) -> None:
        match step:
            case "yes":
                was_asked = call.state == "asked"
                call.said(True)
                if was_asked and call.state == "run":
                    self.answered.add(call.input["command"])
            case "no":
                call.said(False)
            case "nonsense":
                call.said("yes")
            case "done":
                call.done("x")
            case "failed":
                call.failed("x")
            case "close":
                call.close()
            case "write":
                self.written.append(call.to_dict())
            case _:
                pass

    def change(self, session: Any, step: str) -> None:
        match step:
            case "new hook":
                name = f"new {len(list(self.hooks))}"
                self.hooks.register("PreToolUse", lambda event: None, inline=True, name=name)
            case "mode":
                session.mode = "plan" if session.mode == "default" else "default"
            case "rules":
                session.rules = {"Read": "deny"}
            case "halt":
                session.notify("stop")
            case _:
                session.clear_halt()
