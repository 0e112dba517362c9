"""Whether a call may run: what hooks say, the rules, the mode, and the reasons that are given."""

from itertools import product
from typing import Any

import pytest
from tests.unit.session_hosts import LS, Tool, both, saying

from interpose import Hooks, allow, ask, deny
from interpose.session.permission import Rules, judge, kind_of

TOOLS = {"read": "Read", "edit": "Write", "run": "Bash"}

HOOKS = {
    "says nothing": None,
    "does not object": {"decision": "allow"},
    "grants": allow("fine"),
    "asks": ask("sure?"),
    "denies": deny("no"),
}
RULES = ("", "allow", "ask", "deny")
MODES = ("default", "acceptEdits", "plan", "bypass")


def expected(hook: str, rule: str, mode: str, default: str, kind: str) -> str:
    """Say what should happen, in other words than the code's: run, refuse or ask."""
    if hook == "denies" or rule == "deny":
        return "refuse"
    if mode == "plan" and kind in ("edit", "run"):
        return "refuse"
    needs_a_yes = hook == "asks" or rule == "ask" or (default == "ask" and hook != "grants")
    if not needs_a_yes:
        return "run"
    has_a_yes = rule == "allow" or mode == "bypass" or (mode, kind) == ("acceptEdits", "edit")
    return "run" if has_a_yes else "ask"


CASES = list(product(HOOKS, RULES, MODES, ("allow", "ask"), TOOLS))


@pytest.mark.parametrize("hook", HOOKS)
def test_every_combination_is_judged_as_the_table_says(hook: str) -> None:
    hooks = saying("PreToolUse", HOOKS[hook])
    said = {}

    for case in CASES:
        name, rule, mode, default, kind = case
        if name == hook:
            call = {"tool_name": TOOLS[kind], "tool_input": {}, "cwd": "/"}
            outcome = hooks.fire_sync("PreToolUse", **call)
            rules = Rules({TOOLS[kind]: rule} if rule else {})
            said[case] = judge(outcome, call, rules=rules, mode=mode, kind=kind, default=default).what

    assert said == {case: expected(*case) for case in CASES if case[0] == hook}


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("says", [True, False, None], ids=["yes", "no", "nobody"])
@both
def test_every_combination_runs_or_does_not(play: Any, hook: str, says: bool | None) -> None:
    """The same table on whole calls: what is refused is not run, what is asked about runs after a yes alone."""
    did: dict[Any, Any] = {}
    should: dict[Any, Any] = {}

    for case in CASES:
        name, rule, mode, default, kind = case
        if name != hook:
            continue
        tool, approver = Tool(), Tool(bool(says))

        async def scenario(session: Any, kind: str = kind, tool: Tool = tool) -> Any:
            return await session.tool(TOOLS[kind], {}, tool)

        answer = play(
            saying("PreToolUse", HOOKS[hook]), scenario, mode=mode, default=default,
            rules={TOOLS[kind]: rule} if rule else {}, approver=None if says is None else approver, source="resume",
        )  # fmt: skip

        did[case] = (len(tool.calls), len(approver.calls), answer.ok, answer.denied)
        what = expected(*case)
        runs = what == "run" or (what == "ask" and says is True)
        should[case] = (int(runs), int(what == "ask" and says is not None), runs, not runs)

    assert did == should


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        *((name, "read") for name in ("Read", "Glob", "Grep", "LS", "NotebookRead")),
        *((name, "edit") for name in ("Write", "Edit", "MultiEdit", "NotebookEdit")),
        *((name, "run") for name in ("Bash", "read", "mcp__files__read", "")),
    ],
)
def test_what_is_not_known_may_do_anything(tool: str, kind: str) -> None:
    assert kind_of(tool) == kind


@both
def test_a_host_says_what_its_tools_do(play: Any) -> None:
    async def scenario(session: Any) -> list[bool]:
        return [(await session.tool("look", {}, Tool(), kind=kind)).ok for kind in ("read", "edit", "run", None)]

    assert play(Hooks(), scenario, mode="plan") == [True, False, False, False]


@both
def test_a_mode_holds_from_the_next_call_on(play: Any) -> None:
    async def scenario(session: Any) -> list[bool]:
        before = await session.tool("Bash", LS, Tool())
        session.mode = "plan"
        return [before.ok, (await session.tool("Bash", LS, Tool())).ok]

    assert play(Hooks(), scenario) == [True, False]


class TestCallsThatCannotBeRead:
    RULES: dict[str, str] = {"Read(secrets/**)": "deny"}  # noqa: RUF012

    @both
    @pytest.mark.parametrize(
        ("mode", "says", "ran", "asked"),
        [("default", True, 1, 1), ("default", False, 0, 1), ("default", None, 0, 0), ("bypass", None, 1, 0)],
    )
    def test_a_rule_that_denies_asks_about_them(
        self, play: Any, mode: str, says: bool | None, ran: int, asked: int
    ) -> None:
        tool, approver = Tool(), Tool(bool(says))

        async def scenario(session: Any) -> Any:
            return await session.tool("Read", {"file_path": "/dev/fd/3"}, tool)

        answer = play(Hooks(), scenario, rules=self.RULES, mode=mode, approver=None if says is None else approver)

        assert (len(tool.calls), len(approver.calls), answer.ok) == (ran, asked, bool(ran))
        if asked:
            assert "the rule Read(secrets/**) may match it" in approver.calls[0].reason

    @both
    def test_a_search_that_leaves_files_out_is_not_asked_about(self, play: Any) -> None:
        tool = Tool()

        async def scenario(session: Any) -> Any:
            wide = {"pattern": "x"}
            asked = await session.tool("Grep", wide, tool)
            left = await session.tool("Grep", wide, tool, leaves_out=True)
            aimed = await session.tool("Grep", {"pattern": "x", "path": "secrets"}, tool, leaves_out=True)
            return [asked.ok, left.ok, aimed.ok]

        assert play(Hooks(), scenario, rules=self.RULES) == [False, True, False]

    @pytest.mark.parametrize("make", [Hooks.session, Hooks.session_sync])
    def test_a_session_says_which_files_to_leave_out(self, make: Any) -> None:
        is_hidden = make(Hooks(), cwd="/project", rules=self.RULES).left_out("Grep", {"pattern": "x"})

        assert [is_hidden("/project/secrets/a"), is_hidden("/project/a")] == [True, False]


class TestReasons:
    @both
    @pytest.mark.parametrize(
        ("hook", "options", "content"),
        [
            (deny("not that"), {}, "Bash was not run: not that"),
            (deny(), {}, "Bash was not run: denied by a hook"),
            (None, {"rules": {"Bash(l*)": "deny"}}, "Bash was not run: denied by the rule Bash(l*)"),
            (None, {"mode": "plan"}, "Bash was not run: only tools that read may run in plan mode"),
            (ask("sure?"), {}, "Bash was not run: sure? (there is no approver)"),
            (ask(), {}, "Bash was not run: this call needs approval (there is no approver)"),
            (None, {"rules": {"Bash": "ask"}}, "Bash was not run: the rule Bash asks (there is no approver)"),
            (None, {"default": "ask"}, "Bash was not run: this call needs approval (there is no approver)"),
        ],
    )
    def test_the_model_is_told_why(self, play: Any, hook: Any, options: dict[str, Any], content: str) -> None:
        tool = Tool()

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", LS, tool)

        answer = play(saying("PreToolUse", hook), scenario, **options)

        assert (answer.content, tool.calls) == (content, [])
        assert answer.content.endswith(answer.reason)
        assert (answer.ok, answer.denied, answer.input, answer.error) == (False, True, LS, None)

    @both
    def test_the_configuration_says_the_rules_unless_the_host_does(self, play: Any) -> None:
        hooks = Hooks.from_mapping({"permissions": {"Bash(rm *)": "deny", "Read": "allow"}})

        async def scenario(session: Any) -> list[bool]:
            return [(await session.tool("Bash", {"command": line}, Tool())).ok for line in ("ls", "ls; rm x")]

        assert play(hooks, scenario) == [True, False]
        assert play(hooks, scenario, rules={}) == [True, True]
