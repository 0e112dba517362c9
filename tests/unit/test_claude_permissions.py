"""The permission rules of a Claude Code settings file: what each becomes, and which cannot be taken over."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import rows

from interpose import ConfigError, Hooks
from interpose.config.claude_permissions import ANSWERS, read_permissions
from interpose.session.permission import Rules

READING = "Read|Grep|Glob|LS|NotebookRead"
EDITING = "Edit|Write|MultiEdit|NotebookEdit"


def read(
    permissions: Any, anchor: str = "/p", project: str = "/p"
) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    said: list[tuple[str, str, str]] = []
    rules, _ = read_permissions(permissions, anchor=anchor, project=project, warn=lambda *problem: said.append(problem))
    return rules, said


TAKEN = [
    ("deny", "Bash", ["Bash"]),
    ("deny", "Bash(*)", ["Bash"]),
    ("deny", "Bash(:*)", ["Bash"]),
    ("deny", "KillShell", ["TaskStop|KillBash|KillShell"]),
    ("ask", "TaskStop", ["TaskStop|KillBash|KillShell"]),
    ("deny", "ListMcpResources", ["ListMcpResourcesTool|ListMcpResources"]),
    ("ask", r"Read(a\ b\*/\#c)", [f"{READING}({p})" for p in ("a b[*]/#c", "a b[*]/#c/**")]),
    ("deny", "Bash(git push *)", ["Bash(git push *)"]),
    ("ask", "Bash(npm run test:*)", ["Bash(npm run test:*)"]),
    ("deny", "Bash(npm:*)", ["Bash(npm:*)"]),
    ("deny", r"Bash(node -e \(1\))", ["Bash(node -e (1))"]),
    ("allow", "Bash(npm run lint)", ["Bash(npm run lint)"]),
    ("deny", "Read", [READING]),
    ("allow", "Edit", [EDITING]),
    ("deny", "Write", ["Write"]),
    ("deny", "Read(./.env)", [f"{READING}|Edit|Write|MultiEdit({p})" for p in ("./.env", "./.env/**")]),
    ("ask", "Read(./.env)", [f"{READING}({p})" for p in ("./.env", "./.env/**")]),
    ("deny", "Edit(//etc/**)", [f"{EDITING}(//etc/**)"]),
    ("deny", "Edit(~/.ssh/)", [f"{EDITING}(~/.ssh)", f"{EDITING}(~/.ssh/**)"]),
    ("ask", "Edit(/src/**)", [f"{EDITING}(//p/src/**)"]),
    ("ask", "Edit(../other/**)", [f"{EDITING}(//other/**)"]),
    ("ask", "Edit(secrets/**)", [f"{EDITING}(**/secrets/**)"]),
    ("ask", "Edit(src/deep/**)", [f"{EDITING}(src/deep/**)"]),
    ("allow", "Edit(src/**)", [f"{EDITING}(src/**)"]),
    ("allow", "Read(./docs)", [f"{READING}(./docs)"]),
    ("deny", "mcp__github", ["mcp__github", "mcp__github__*"]),
    ("allow", "mcp__github__get_*", ["mcp__github__get_*"]),
    ("deny", "mcp__*", ["mcp__*"]),
    ("deny", "*", ["*"]),
    ("deny", "WebFetch(domain:evil.org)", ["WebFetch(domain:evil.org)"]),
    ("deny", "WebFetch(domain:*.evil.org)", ["WebFetch(domain:evil.org)"]),
    ("ask", "WebFetch(domain:*)", ["WebFetch"]),
    ("deny", "Agent(Explore)", ["Agent|Task(Explore)"]),
    ("deny", "Task", ["Agent|Task"]),
    ("deny", "Skill(deploy *)", ["Skill(deploy)", "Skill(deploy *)", "Skill(deploy:*)"]),
]


@rows(("answer", "rule", "meant"), TAKEN)
def test_a_rule_becomes_rules_that_say_all_of_it(answer: str, rule: str, meant: list[str]) -> None:
    found, said = read({answer: [rule]})

    assert (found, said) == (dict.fromkeys(meant, answer), [])
    Rules(found)  # which compiles them


UNJUDGED = {
    "Agent(model:opus)": "Agent|Task",
    "Bash(run_in_background:true)": "Bash",
    "Bash(command:rm *)": "Bash",
    "PowerShell(Remove-Item *)": "PowerShell",
    "WebFetch(domain:evil.*)": "WebFetch",
    "Read(!x)": READING,
    "Read(~/../x)": READING,
    "Read([z-a])": READING,
    "Bash(git push": "Bash",
    "Bash)": "Bash",
    "Bash|Read": "Bash|Read",
    "mcp__github(x:1)": "mcp__github",
}


@rows(("rule", "tool"), UNJUDGED.items())
@rows("answer", ["deny", "ask"])
def test_a_rule_that_cannot_be_judged_asks_about_its_tool(answer: str, rule: str, tool: str) -> None:
    found, said = read({answer: ["Bash(ls)", rule]})

    assert found[tool] == "ask"
    assert [(where, rule in what) for where, what, _ in said] == [(f"permissions.{answer}[1]", True)]
    Rules(found)


@rows("rule", [*UNJUDGED, "*", "B*", "mcp__*", "Write(src/**)", "Glob(src/**)", "WebFetch(domain:*.good.org)"])
def test_an_allow_that_is_not_certain_is_left_out(rule: str) -> None:
    found, said = read({"allow": [rule]})

    assert found == {}
    assert [where for where, _, _ in said] == ["permissions.allow[0]"]


@rows("rule", ["a&&b(x", "(x)", ")(", "a||b)"])
def test_a_rule_without_a_tool_asks_about_everything(rule: str) -> None:
    assert read({"deny": [rule]})[0] == {"*": "ask"}


@given(st.lists(st.text("Bash()Read*[]{}!./~:|&,\\\n x", max_size=12) | st.text(max_size=12)), st.sampled_from(ANSWERS))
@settings(max_examples=60, deadline=None)
def test_no_text_makes_rules_that_a_session_cannot_take(rules: list[str], answer: str) -> None:
    found, said = read({answer: rules})

    Rules(found)
    assert len(said) + len(found) >= len({rule.strip() for rule in rules})


@rows("rule", [5, None, "", " ", [], {"tool": "Bash"}])
def test_what_is_no_rule_is_reported(rule: Any) -> None:
    assert read({"deny": [rule]}) == ({}, [("permissions.deny[0]", said(rule), "Tool or Tool(what)")])


def said(rule: Any) -> str:
    shown = {None: "nothing"}.get(rule, repr(rule)) if not isinstance(rule, (list, dict)) else ""
    shown = "a list" if isinstance(rule, list) else "a mapping" if isinstance(rule, dict) else shown
    return f"{shown} is not a rule, and nothing follows from it"


def test_a_misspelt_tool_is_answered_with_the_nearest() -> None:
    _, warnings = read({"deny": ["Bsh(rm *)", "my_tool", "Tool*"]})

    assert [(where, hint) for where, _, hint in warnings] == [("permissions.deny[0]", "did you mean Bash?")]


def test_a_path_for_a_tool_that_the_client_does_not_use_it_for_holds_here_and_is_reported() -> None:
    found, warnings = read({"deny": ["Write(src/deep/**)"]})

    assert found == {f"{EDITING}(src/deep/**)": "deny"}
    assert [where for where, _, _ in warnings] == ["permissions.deny[0]"]


def test_what_is_not_a_rule_is_left_to_the_host_and_reported() -> None:
    found, warnings = read({"defaultMode": "bypassPermissions", "additionalDirectories": ["/x"], "denny": ["Bash"]})

    assert found == {}
    assert [where for where, _, _ in warnings] == [
        "permissions.defaultMode", "permissions.additionalDirectories", "permissions.denny"
    ]  # fmt: skip
    assert warnings[2][2] == "did you mean deny?"


@rows("permissions", [[], "Bash", 5, {"deny": "Bash"}, {"allow": {}}, {"ask": None}])
def test_rules_that_are_no_lists_are_refused(permissions: Any) -> None:
    with pytest.raises(ConfigError):
        read(permissions)


def test_the_stricter_answer_to_a_rule_holds() -> None:
    assert read({"allow": ["Bash", "WebFetch"], "ask": ["Bash"], "deny": ["WebFetch"]})[0] == {
        "WebFetch": "deny",
        "Bash": "ask",
    }


def test_a_path_of_a_persons_file_begins_at_its_folder() -> None:
    assert list(read({"ask": ["Edit(/x/**)"]}, anchor="/home/me/.claude", project="")[0]) == [
        f"{EDITING}(//home/me/.claude/x/**)"
    ]
    assert read({"ask": ["Edit(../x/**)"]}, anchor="/home/me/.claude", project="")[0] == {EDITING: "ask"}


def test_wildcards_in_the_name_of_a_project_are_plain_text() -> None:
    (rule,) = read({"deny": ["Edit(/src/**)"]}, anchor="/p[1]/*{x}")[0]

    assert is_denied({rule: "deny"}, "Write", {"file_path": "/p[1]/*{x}/src/a"})
    assert not is_denied({rule: "deny"}, "Write", {"file_path": "/p1/yx/src/a"})


# What the rules do to calls.


def is_denied(rules: dict[str, str], tool: str, given: dict[str, Any]) -> bool:
    with Hooks().session_sync(rules=rules, cwd="/p") as session:
        return session.tool(tool, given, lambda given: "ran").reason.startswith("denied by the rule")


@rows(
    ("rule", "tool", "input", "held"),
    [
        ("Read(./secrets/**)", "Read", {"file_path": "/p/secrets/a"}, True),
        ("Read(./secrets/**)", "Read", {"file_path": "/p/deep/secrets/a"}, True),
        ("Read(./secrets/**)", "Grep", {"pattern": "x", "path": "/p/secrets/a"}, True),
        ("Read(./secrets/**)", "Write", {"file_path": "secrets/a"}, True),
        ("Read(./secrets)", "Read", {"file_path": "/p/secrets/deep/a"}, True),
        ("Read(.env)", "Read", {"file_path": "/p/a/.env"}, True),
        ("Read(.env)", "Read", {"file_path": "/p/a/.envrc"}, False),
        ("Read(secrets)", "Read", {"file_path": "/p/a/secrets/deep/x"}, True),
        ("Read(**/*.pem)", "Read", {"file_path": "/p/a/x.pem"}, True),
        ("Read(//**/.env)", "Read", {"file_path": "/q/.env"}, True),
        ("Edit(.claude/**)", "Write", {"file_path": "/p/.claude/settings.json"}, True),
        ("Edit(/docs/**)", "NotebookEdit", {"notebook_path": "/p/docs/x.ipynb"}, True),
        ("Edit(/docs/**)", "Read", {"file_path": "/p/docs/x"}, False),
        ("Edit(//etc/**)", "Write", {"file_path": "/etc/passwd"}, True),
        ("Edit(//etc/**)", "Write", {"file_path": "/p/etc/passwd"}, False),
        ("mcp__db", "mcp__db__drop", {}, True),
        ("mcp__db", "mcp__dbx__drop", {}, False),
        ("Agent(Explore)", "Task", {"subagent_type": "Explore"}, True),
        ("Bash(npm run test:*)", "Bash", {"command": "npm run test"}, True),
        ("Bash(npm run test:*)", "Bash", {"command": "cd x && npm run test --all"}, True),
        ("Bash(npm run test:*)", "Bash", {"command": "npm run tests"}, False),
    ],
)
def test_a_deny_holds_for_what_the_client_would_deny(rule: str, tool: str, input: dict[str, Any], held: bool) -> None:
    assert is_denied(read({"deny": [rule]})[0], tool, input) is held
