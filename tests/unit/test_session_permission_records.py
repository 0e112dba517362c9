"""What a session writes down about a call that was not simply allowed: the decision, and by whom or what."""

import asyncio
import json
from pathlib import Path
from time import time
from typing import Any

import pytest
from tests.unit.session_hosts import Tool, both, saying

from interpose import Hooks, Outcome, Permission, allow, ask, deny, modify

LS = {"command": "ls"}


class Recorder:
    """Keeps outcomes and permissions, in one order."""

    def __init__(self, *, required: bool = False, full: bool = False) -> None:
        self.required = required
        self.full = full
        self.events: list[str] = []
        self.permissions: list[Permission] = []

    def __call__(self, outcome: Outcome) -> None:
        self.events.append(outcome.event)

    def record_permission(self, permission: Permission) -> None:
        if self.full:
            raise OSError("the disk is full")
        self.events.append(permission.verdict)
        self.permissions.append(permission)


def call(play: Any, hooks: Hooks, tool: str = "Bash", given: Any = LS, **options: Any) -> Any:
    """Make one call; return its answer, and what the recorder got."""
    recorder = Recorder()
    hooks.record(recorder)

    async def scenario(session: Any) -> Any:
        return await session.tool(tool, given, Tool(), tool_use_id="t1")

    answer = play(hooks, scenario, session_id="s1", **options)
    assert recorder.permissions == ([answer.permission] if answer.permission else [])
    return answer


def said(answer: Any) -> dict[str, Any]:
    """What the permission says, without times, places and ids."""
    permission = answer.permission
    left_out = ("asked_at", "answered_at", "tool_name", "tool_use_id", "session_id", "agent_id", "place")
    parts = {name: getattr(permission, name) for name in type(permission)._parts if name not in left_out}
    return {name: value for name, value in parts.items() if value}


RULE = {"Bash(ls *)": "ask"}
DECIDED: list[Any] = [
    ("a rule denies", None, {"rules": {"Bash(ls *)": "deny"}},
     {"verdict": "denied", "by": "rule", "rule": "Bash(ls *)", "reason": "denied by the rule Bash(ls *)"}),
    ("a hook denies", deny("no"), {}, {"verdict": "denied", "by": "hook", "hook": "guard", "reason": "no"}),
    ("a hook denies before a rule", deny("no"), {"rules": {"Bash": "deny"}},
     {"verdict": "denied", "by": "hook", "hook": "guard", "reason": "no"}),
    ("the mode refuses", None, {"mode": "plan"},
     {"verdict": "denied", "by": "mode", "mode": "plan", "reason": "only tools that read may run in plan mode"}),
    ("the mode answers a rule", None, {"mode": "bypass", "rules": RULE},
     {"verdict": "allowed", "by": "mode", "mode": "bypass", "rule": "Bash(ls *)", "reason": "the rule Bash(ls *) asks"}),
    ("the mode answers a hook", ask("sure?"), {"mode": "bypass"},
     {"verdict": "allowed", "by": "mode", "mode": "bypass", "hook": "guard", "reason": "sure?"}),
    ("a rule answers a hook", ask("sure?"), {"rules": {"Bash": "allow"}},
     {"verdict": "allowed", "by": "rule", "rule": "Bash"}),
    ("a rule answers the default", None, {"default": "ask", "rules": {"Bash": "allow"}},
     {"verdict": "allowed", "by": "rule", "rule": "Bash"}),
    ("a hook answers the default", allow("fine"), {"default": "ask"},
     {"verdict": "allowed", "by": "hook", "hook": "guard", "reason": "fine"}),
    ("a person says yes to a rule", None, {"rules": RULE, "approver": lambda question: True},
     {"verdict": "allowed", "by": "person", "rule": "Bash(ls *)", "reason": "the rule Bash(ls *) asks"}),
    ("a person says no to a hook", ask("sure?"), {"approver": lambda question: deny("not today")},
     {"verdict": "denied", "by": "person", "hook": "guard", "reason": "not today"}),
    ("a person says yes to the default", None, {"default": "ask", "approver": lambda question: True},
     {"verdict": "allowed", "by": "person"}),
    ("there is no approver", None, {"default": "ask"},
     {"verdict": "denied", "by": "nobody", "reason": "this call needs approval (there is no approver)"}),
    ("the approver says neither yes nor no", None, {"default": "ask", "approver": lambda question: "yes"},
     {"verdict": "denied", "by": "nobody", "reason": "the answer to the question is neither yes nor no: 'yes'"}),
    ("the approver fails", None, {"default": "ask", "approver": lambda question: 1 / 0},
     {"verdict": "denied", "by": "nobody", "reason": "the question could not be asked: division by zero"}),
]  # fmt: skip


@both
@pytest.mark.parametrize(("reply", "options", "expected"), [pytest.param(*row[1:], id=row[0]) for row in DECIDED])
def test_a_decision_is_written_down_with_who_or_what_made_it(
    play: Any, reply: Any, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    answer = call(play, saying("PreToolUse", reply, name="guard"), **options)

    assert said(answer) == expected
    assert answer.ok is (expected["verdict"] == "allowed")
    permission = answer.permission
    assert (permission.tool_name, permission.tool_use_id) == ("Bash", "t1")
    assert (permission.session_id, permission.agent_id) == ("s1", "main")


@both
@pytest.mark.parametrize(
    ("reply", "options"),
    [(None, {}), (allow("fine"), {}), (None, {"rules": {"Bash": "allow"}}), (None, {"mode": "bypass"})],
)
def test_a_call_that_is_simply_allowed_leaves_none(play: Any, reply: Any, options: dict[str, Any]) -> None:
    answer = call(play, saying("PreToolUse", reply), **options)

    assert (answer.ok, answer.permission) == (True, None)


@both
@pytest.mark.parametrize(("reply", "verdict"), [(deny("no"), "denied"), (allow(), "allowed")])
def test_a_hook_of_the_permission_request_is_named(play: Any, reply: Any, verdict: str) -> None:
    answer = call(play, saying("PermissionRequest", reply, name="office"), default="ask", rules=RULE)

    permission = answer.permission
    assert (permission.verdict, permission.by, permission.hook, permission.rule) == (
        verdict,
        "hook",
        "office",
        "Bash(ls *)",
    )


@both
def test_a_question_has_the_times_at_which_it_was_asked_and_answered(play: Any) -> None:
    before = time()
    answer = call(play, Hooks(), default="ask", approver=lambda question: True)
    denied = call(play, saying("PreToolUse", deny("no")))

    permission = answer.permission
    assert before <= permission.asked_at <= permission.answered_at <= time()
    assert (denied.permission.asked_at, denied.permission.answered_at) == (None, None)


@both
def test_an_answer_that_is_remembered_keeps_its_times(play: Any) -> None:
    async def scenario(session: Any) -> Any:
        return [(await session.tool("Bash", LS, Tool(), tool_use_id="t1")).permission for _ in range(2)]

    first, second = play(Hooks(), scenario, default="ask", approver=lambda question: True)

    assert first == second


@both
def test_an_input_that_hooks_made_unfit_is_denied_by_the_hook_that_did(play: Any) -> None:
    hooks = saying("PreToolUse", modify(tool_input={"command": 5}), name="rewriter")

    async def scenario(session: Any) -> Any:
        schema = {"type": "object", "properties": {"command": {"type": "string"}}}
        return await session.tool("Bash", LS, Tool(), schema=schema)

    permission = play(hooks, scenario).permission

    assert (permission.verdict, permission.by, permission.hook) == ("denied", "hook", "rewriter")

    hooks.register("PreToolUse", lambda event: {"systemMessage": "note"}, name="says something else")
    hooks.register("PreToolUse", lambda event: modify(tool_input={"command": 6}), name="shadow", enforce=False)

    assert play(hooks, scenario).permission.hook == "rewriter"


@both
def test_an_input_that_a_person_changed_is_denied_by_the_rule_or_the_guard_that_does_not_allow_it(play: Any) -> None:
    def guard(event: Any) -> Any:
        return deny("never") if event.tool_input["command"] == "mkfs" else None

    def answered(command: str) -> Any:
        hooks = Hooks()
        hooks.register("PreToolUse", guard, name="guard", on_error="abort")
        changed = allow() + modify(tool_input={"command": command})
        rules = {"Bash(rm *)": "deny"}
        return said(call(play, hooks, default="ask", rules=rules, approver=lambda question: changed))

    assert answered("rm x") == {
        "verdict": "denied", "by": "rule", "rule": "Bash(rm *)", "reason": "denied by the rule Bash(rm *)",
    }  # fmt: skip
    assert answered("mkfs") == {"verdict": "denied", "by": "hook", "hook": "guard", "reason": "never"}
    assert answered("pwd") == {"verdict": "allowed", "by": "person"}


@both
def test_a_call_after_the_end_of_the_turn_is_denied_by_the_hook_that_ended_it(play: Any) -> None:
    hooks = saying("PostToolUse", {"continue": False, "stopReason": "enough"}, name="budget")

    async def scenario(session: Any) -> Any:
        await session.tool("Bash", LS, Tool())
        return await session.tool("Bash", LS, Tool())

    assert said(play(hooks, scenario)) == {"verdict": "denied", "by": "hook", "hook": "budget", "reason": "enough"}


def test_an_interrupted_question_is_denied_by_nobody() -> None:
    hooks, recorder = Hooks(), Recorder()
    hooks.record(recorder)

    async def main() -> None:
        asked = asyncio.Event()

        async def approver(question: Any) -> bool:
            asked.set()
            await asyncio.Event().wait()
            return True

        async with hooks.session(default="ask", approver=approver) as session:
            task = asyncio.create_task(session.tool("Bash", LS, Tool()))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())

    assert [(one.verdict, one.by, one.reason) for one in recorder.permissions] == [
        ("denied", "nobody", "the question was interrupted")
    ]


# Where a rule is written.


def test_a_rule_of_a_file_has_its_place(tmp_path: Path) -> None:
    native = tmp_path / "hooks.yaml"
    native.write_text('permissions:\n  Read: allow\n  "Bash(git push *)": deny\n  mcp__x.y: ask\n')
    claude = tmp_path / ".claude" / "settings.json"
    claude.parent.mkdir()
    claude.write_text(json.dumps({"permissions": {"deny": ["WebFetch"], "allow": ["Bash(pwd)"]}}, indent=1))
    hooks = Hooks.load(native, claude)

    def place(tool: str, given: Any, **options: Any) -> Any:
        with hooks.session_sync(**options) as session:
            answer: Any = session.tool(tool, given, Tool())
            return answer.permission.place

    assert place("Bash", {"command": "git push"}) == f"{native}:3"
    assert place("mcp__x.y", {}) == f"{native}:4"
    assert place("WebFetch", {"url": "https://example.org"}) == f"{claude}:4"
    assert place("Read", {"file_path": "x"}, default="ask") == f"{native}:2"
    assert place("Bash", {"command": "pwd"}, default="ask") == f"{claude}:7"


def test_a_rule_in_two_files_has_the_place_of_the_stricter_answer(tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text("permissions:\n  Bash: ask\n")
    two.write_text("\n\npermissions:\n  Bash: deny\n")

    with Hooks.load(one, two).session_sync() as session:
        permission: Any = session.tool("Bash", LS, Tool()).permission

    assert (permission.rule, permission.place) == ("Bash", f"{two}:4")


def test_a_rule_of_the_host_has_no_place(tmp_path: Path) -> None:
    file = tmp_path / "hooks.yaml"
    file.write_text("permissions:\n  Bash: ask\n")
    hooks = Hooks.load(file)

    with hooks.session_sync(rules=hooks.rules({"Bash": "deny"})) as session:
        permission: Any = session.tool("Bash", LS, Tool()).permission

    assert (permission.verdict, permission.rule, permission.place) == ("denied", "Bash", "")


def test_a_hook_of_a_file_has_its_place(tmp_path: Path) -> None:
    file = tmp_path / "hooks.yaml"
    file.write_text("hooks:\n  PreToolUse:\n    - {name: no, command: 'echo no >&2; exit 2'}\n")

    with Hooks.load(file).session_sync() as session:
        permission: Any = session.tool("Bash", LS, Tool()).permission

    assert (permission.by, permission.hook, permission.place) == ("hook", "no", f"{file}:3")


# The recorder.


@both
def test_a_decision_is_recorded_before_the_tool_runs(play: Any) -> None:
    hooks, recorder = Hooks(), Recorder()
    hooks.record(recorder)

    async def scenario(session: Any) -> None:
        await session.tool("Bash", LS, lambda given: recorder.events.append("the tool"))

    play(hooks, scenario, rules={"Bash": "ask"}, approver=lambda question: True)

    assert recorder.events[2:-1] == [
        "PreToolUse", "PermissionRequest", "Notification", "allowed", "the tool", "PostToolUse",
    ]  # fmt: skip


@both
@pytest.mark.parametrize(("required", "ran"), [(True, 0), (False, 1)])
def test_a_required_record_that_is_lost_denies(play: Any, required: bool, ran: int) -> None:
    hooks, tool = Hooks(), Tool()
    hooks.record(Recorder(required=required, full=True))

    async def scenario(session: Any) -> Any:
        return await session.tool("Bash", LS, tool)

    answer = play(hooks, scenario, default="ask", approver=lambda question: True)

    assert (len(tool.calls), answer.ok) == (ran, bool(ran))
    if required:
        assert answer.reason == "the permission could not be recorded: OSError"


@both
def test_a_recorder_may_make_the_decision_wait(play: Any) -> None:
    waited = []

    class Waits:
        def __await__(self) -> Any:
            waited.append("awaited")
            return iter(())

        def block(self) -> None:
            waited.append("blocked")

    class Slow(Recorder):
        def record_permission(self, permission: Permission) -> Any:
            return Waits()

    hooks = saying("PreToolUse", deny("no"))
    hooks.record(Slow())

    async def scenario(session: Any) -> Any:
        return await session.tool("Bash", LS, Tool())

    assert not play(hooks, scenario).ok
    assert len(waited) == 1


def test_a_recorder_without_the_method_is_asked_for_nothing() -> None:
    hooks = saying("PreToolUse", deny("no"))
    seen: list[str] = []
    hooks.record(lambda outcome: seen.append(outcome.event))

    with hooks.session_sync() as session:
        assert not session.tool("Bash", LS, Tool()).ok

    assert "PreToolUse" in seen
