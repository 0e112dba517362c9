"""A host that says `shell` and `cmd` is governed as one that says `Bash` and `command`, by the same file."""

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from interpose import Hooks, allow, deny, modify

TOOLS = """\
tools:
  shell: {as: Bash, fields: {cmd: command}, kind: run}
  read_file: {as: Read, fields: {path: file_path}}
  write_file: {as: Write, fields: {path: file_path, text: content}}
"""
NAMES = {
    "shell": ("Bash", {"cmd": "command"}),
    "read_file": ("Read", {"path": "file_path"}),
    "write_file": ("Write", {"path": "file_path", "text": "content"}),
}

DENY = "hooks: {PreToolUse: [{matcher: Bash, if: Bash(rm *), type: script, handler: /deny no}]}"
ASK = "hooks: {PreToolUse: [{matcher: Bash, type: script, handler: /ask sure}]}"
REWRITE = (
    'hooks: {PreToolUse: [{matcher: Bash, command: \'echo "{\\"updatedInput\\": {\\"command\\": \\"ls -l\\"}}"\'}]}'
)
REDACT = 'hooks: {PostToolUse: [{matcher: Bash, command: \'echo "{\\"modify\\": {\\"tool_response\\": \\"***\\"}}"\'}]}'
RULES = "permissions: {'Bash(rm *)': deny, 'Bash(git push *)': ask, 'Read(.env)': deny, 'Bash(ls *)': allow}"


class Scenario(NamedTuple):
    file: str
    tool: str
    input: dict[str, Any]
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


SCENARIOS = {
    "deny": Scenario(DENY, "shell", {"cmd": "rm x"}),
    "deny in a script of the shell": Scenario(DENY, "shell", {"cmd": "sh -c 'rm x'"}),
    "no deny": Scenario(DENY, "shell", {"cmd": "ls"}),
    "ask, without an approver": Scenario(ASK, "shell", {"cmd": "ls"}),
    "ask, no": Scenario(ASK, "shell", {"cmd": "ls"}, {"approver": lambda question: False}),
    "ask, yes": Scenario(ASK, "shell", {"cmd": "ls"}, {"approver": lambda question: True}),
    "rewrite": Scenario(REWRITE, "shell", {"cmd": "ls"}),
    "redact": Scenario(REDACT, "shell", {"cmd": "cat x"}),
    "a policy denies": Scenario("policies: recommended", "shell", {"cmd": "git push --force origin main"}),
    "a policy lets pass": Scenario("policies: recommended", "shell", {"cmd": "git status"}),
    "a policy about files": Scenario(
        "policies: recommended", "write_file", {"path": ".git/hooks/pre-commit", "text": "x"}
    ),
    "a rule denies": Scenario(RULES, "shell", {"cmd": "cd x && rm y"}),
    "a rule asks": Scenario(RULES, "shell", {"cmd": "git push"}),
    "a rule about files": Scenario(RULES, "read_file", {"path": ".env"}),
    "a rule allows": Scenario(RULES, "shell", {"cmd": "ls -l"}, {"default": "ask"}),
    "nothing allows": Scenario(RULES, "shell", {"cmd": "id"}, {"default": "ask"}),
    "plan mode and a tool that reads": Scenario("hooks: {}", "read_file", {"path": "x"}, {"mode": "plan"}),
    "plan mode and a tool that runs": Scenario("hooks: {}", "shell", {"cmd": "ls"}, {"mode": "plan"}),
    "acceptEdits and an edit": Scenario(
        "hooks: {}", "write_file", {"path": "x", "text": "y"}, {"mode": "acceptEdits", "default": "ask"}
    ),
    "acceptEdits and a run": Scenario("hooks: {}", "shell", {"cmd": "ls"}, {"mode": "acceptEdits", "default": "ask"}),
}


def session_of(folder: Path, file: str, tool: str, given: dict[str, Any], options: dict[str, Any]) -> Any:
    path = folder / "hooks.yaml"
    path.write_text(file)
    ran: list[Any] = []

    def run(taken: Any) -> str:
        ran.append(taken)
        return "output"

    async def play() -> Any:
        async with Hooks.load(path).session(cwd=folder, **options) as session:
            return await session.tool(tool, given, run)

    answer = asyncio.run(play())
    return answer, ran


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_the_same_file_decides_alike_under_both_names(tmp_path: Path, scenario: Scenario) -> None:
    name, fields = NAMES[scenario.tool]

    def renamed(input: Any) -> Any:
        return {fields.get(key, key): value for key, value in input.items()}

    own, ran_own = session_of(tmp_path, f"{TOOLS}{scenario.file}\n", scenario.tool, scenario.input, scenario.options)
    plain, ran = session_of(tmp_path, f"{scenario.file}\n", name, renamed(scenario.input), scenario.options)

    def seen(answer: Any) -> Any:
        content = str(answer.content).replace(f"{scenario.tool} was not run", f"{name} was not run")
        return answer.ok, answer.reason, content, answer.outcome.decision, renamed(answer.input)

    assert seen(own) == (plain.ok, plain.reason, plain.content, plain.outcome.decision, plain.input)
    assert [renamed(taken) for taken in ran_own] == ran
    assert set(own.input) <= {*fields, *scenario.input}, "the host's own names"


def test_scenarios_differ(tmp_path: Path) -> None:
    """Some run, some are refused: the table is not about one case alone."""
    answers = {
        name: session_of(tmp_path, f"{TOOLS}{one.file}\n", one.tool, one.input, one.options)[0]
        for name, one in SCENARIOS.items()
    }

    assert {name for name, answer in answers.items() if answer.ok} == {
        "no deny", "ask, yes", "rewrite", "redact", "a policy lets pass", "a rule allows",
        "plan mode and a tool that reads", "acceptEdits and an edit",
    }  # fmt: skip
    assert (answers["rewrite"].input, answers["redact"].content) == ({"cmd": "ls -l"}, "***")


def test_an_approver_is_shown_the_host_s_names_and_answers_with_them() -> None:
    hooks = Hooks.from_mapping({
        "tools": {"shell": {"as": "Bash", "fields": {"cmd": "command"}}},
        "permissions": {"Bash(rm *)": "deny", "Bash": "ask"},
    })  # fmt: skip
    shown: list[Any] = []

    def run_with(line: str) -> Any:
        def approve(question: Any) -> Any:
            shown.append((question.tool_name, question.tool_input))
            return allow() + modify(tool_input={"cmd": line})

        with hooks.session_sync(approver=approve) as session:
            return session.tool("shell", {"cmd": "ls"}, lambda given: given["cmd"])

    assert [run_with("ls -l").content, run_with("rm x").reason] == ["ls -l", "denied by the rule Bash(rm *)"]
    assert shown == [("shell", {"cmd": "ls"})] * 2


def test_guards_look_again_at_what_an_approver_changed() -> None:
    hooks = Hooks.from_mapping({
        "tools": {"shell": {"as": "Bash", "fields": {"cmd": "command"}}},
        "hooks": {"PreToolUse": [{"matcher": "Bash", "if": "Bash(rm *)", "type": "script", "handler": "/deny no",
                                  "onError": "abort"}]},
    })  # fmt: skip

    with hooks.session_sync(
        default="ask", approver=lambda question: allow() + modify(tool_input={"cmd": "rm x"})
    ) as session:
        answer = session.tool("shell", {"cmd": "ls"}, lambda given: "ran")

    assert (answer.ok, answer.reason) == (False, "no")


def test_a_session_refuses_an_input_with_both_names_also_without_hooks() -> None:
    hooks = Hooks.from_mapping({"tools": {"shell": {"as": "Bash", "fields": {"cmd": "command"}}}})

    with hooks.session_sync(mode="bypass") as session:
        answer = session.tool("shell", {"cmd": "rm x", "command": "ls"}, lambda given: "ran")

    assert (answer.ok, answer.reason) == (False, "the input has cmd and command, which are two names of one field")


def test_the_host_s_word_about_the_kind_of_a_tool_wins() -> None:
    hooks = Hooks.from_mapping({"tools": {"peek": {"kind": "read"}, "shell": "Read"}})

    with hooks.session_sync(mode="plan") as session:
        said = [session.tool(name, {}, lambda given: 1, kind=kind).ok for name, kind in
                [("peek", None), ("peek", "run"), ("shell", None), ("shell", "edit"), ("other", None)]]  # fmt: skip

    assert said == [True, False, True, False, False]


def test_a_search_under_another_name_leaves_out_what_rules_deny() -> None:
    hooks = Hooks.from_mapping(
        {"tools": {"find_text": "Grep"}, "permissions": {"Read(/x/.env)": "deny", "find_text(/x/key)": "deny"}}
    )

    with hooks.session_sync(cwd="/x") as session:
        is_left_out = session.left_out("find_text", {"pattern": "a"})

    assert [is_left_out(path) for path in ("/x/.env", "/x/key", "/x/a")] == [True, True, False]


def test_a_file_in_claude_code_s_own_format_governs_a_declared_tool(tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(
        '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "if": "Bash(rm *)", '
        '"command": "echo no >&2; exit 2"}]}]}}'
    )
    hooks = Hooks.load(settings)
    hooks.declare_tools({"shell": {"as": "Bash", "fields": {"cmd": "command"}}})

    said = [
        hooks.fire_sync("PreToolUse", tool_name="shell", tool_input={"cmd": line}).reason for line in ("rm x", "ls")
    ]

    assert said == ["no", ""]


@pytest.mark.parametrize("dialect", ["native", "claude"])
def test_the_reply_of_a_hook_has_the_host_s_names(dialect: str) -> None:
    from interpose.dialects.reply import write_reply

    hooks = Hooks.from_mapping({"tools": {"shell": {"as": "Bash", "fields": {"cmd": "command"}}}})
    hooks.register("PreToolUse", lambda event: modify(tool_input={"command": "ls -l"}), matcher="Bash")
    before = {"tool_name": "shell", "tool_input": {"cmd": "ls"}}

    body = write_reply(dialect, hooks.fire_sync("PreToolUse", **before), before).body

    assert "'cmd': 'ls -l'" in str(body)
    assert "command" not in str(body)


MCP: dict[str, Any] = {"tools": {"mcp__*__run": {"as": "Bash", "fields": {"cmd": "command"}}}}


def test_a_tool_of_a_server_that_is_declared_is_still_one_of_that_server(tmp_path: Path) -> None:
    hooks = Hooks.from_mapping({**MCP, "policies": [{"mcp-tools": {"servers": ["known"], "unknown": "deny"}}]})

    said = [
        hooks.fire_sync(
            "PreToolUse", tool_name=f"mcp__{server}__run", tool_input={"cmd": "ls"}, cwd=str(tmp_path)
        ).denied
        for server in ("known", "other")
    ]

    assert said == [False, True]


@pytest.mark.parametrize("matcher", ["shell", "Bash"])
def test_an_input_that_is_nested_deeply_keeps_no_hook_from_deciding(matcher: str) -> None:
    hooks = Hooks.from_mapping({"tools": {"shell": {"as": "Bash", "fields": {"cmd": "command"}}}})
    hooks.register("PreToolUse", lambda event: deny("no"), matcher=matcher)

    for depth in (20, *range(200, 520, 3), 1_500):  # around the depth that Python can copy
        nested: Any = {}
        for _ in range(depth):
            nested = {"a": nested}
        assert hooks.fire_sync("PreToolUse", tool_name="shell", tool_input={"cmd": "ls", "x": nested}).denied, depth
