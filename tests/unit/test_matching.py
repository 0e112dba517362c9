"""Matchers on names, and ``if`` rules on a tool's input."""

import os
import time
from typing import Any

import pytest
from tests.tables import rows

from interpose import BadHook
from interpose.matching import compile_condition, compile_matcher


def matches(text: str | None, name: str) -> bool:
    predicate = compile_matcher(text)
    return predicate is None or predicate(name)


@rows("text", [None, "", "*", "Bash|*"])
def test_no_matcher_and_the_star_match_everything(text: str | None) -> None:
    assert compile_matcher(text) is None


@rows(
    ("text", "yes", "no"),
    [
        ("Bash", ["Bash"], ["bash", "BashOutput", "Ba", "", "mcp__x__Bash"]),
        ("Edit|Write", ["Edit", "Write"], ["Edit|Write", "NotebookEdit"]),
        (" Edit | Write ", ["Edit", "Write"], [" Edit "]),
        ("Edit||Write", ["Edit", "Write"], [""]),
        ("mcp__*", ["mcp__a", "mcp__a/b"], ["mcp_a", "x_mcp__a"]),
        ("*Edit", ["Edit", "NotebookEdit"], ["Editor"]),
        ("Edit*", ["Edit", "Editor"], ["NotebookEdit"]),
        ("?ash", ["Bash", "Dash"], ["ash", "Splash"]),
        ("[BD]ash", ["Bash", "Dash"], ["Cash"]),
        ("[!B]ash", ["Dash"], ["Bash"]),
        ("Bash|mcp__*", ["Bash", "mcp__x"], ["Edit"]),
        ("a.b", ["a.b"], ["axb"]),
        ("[unclosed", ["[unclosed"], ["u"]),
    ],
)
def test_a_matcher_is_names_and_globs_separated_by_bars(text: str, yes: list[str], no: list[str]) -> None:
    assert [name for name in yes if not matches(text, name)] == []
    assert [name for name in no if matches(text, name)] == []


@rows(
    ("text", "yes", "no"),
    [
        ("re:mcp__.*", ["mcp__a"], ["x_mcp__a", "mcp_"]),
        ("re:Bash|Edit", ["Bash", "Edit"], ["BashEdit", "NotebookEdit"]),
        ("re:(?i)bash", ["Bash", "BASH"], ["Bashful"]),
        ("re:[^B].*", ["Edit"], ["Bash"]),
        ("re:", [""], ["a"]),
        ("re:a\\|b", ["a|b"], ["a", "b"]),
        ("re:é+", ["éé"], ["e"]),
    ],
)
def test_a_regular_expression_has_a_prefix_and_matches_the_whole_name(text: str, yes: list[str], no: list[str]) -> None:
    assert [name for name in yes if not matches(text, name)] == []
    assert [name for name in no if matches(text, name)] == []


@rows("text", ["|", " | ", "||", "re:([", "re:(?=x)", "re:(a)\\1", "re:a{2,1}", "re:\ud800", "x" * 10_001])
def test_a_matcher_that_could_never_work_is_refused(text: str) -> None:
    with pytest.raises(BadHook):
        compile_matcher(text)


def test_no_pattern_takes_long_on_any_name() -> None:
    began = time.process_time()

    for text in ("re:(a+)+$", "re:(a|aa)+$", "*a" * 40 + "b", "re:" + "a?" * 30 + "a" * 30):
        matches(text, "a" * 5000 + "!")

    assert time.process_time() - began < 1


def test_a_name_that_cannot_be_encoded_is_judged_too() -> None:
    assert matches("re:.", "\ud800") is True
    assert matches("re:a", "\ud800") is False
    assert matches("\ud800*", "\ud800a") is True


def test_a_newline_in_a_name_does_not_help_it_past_a_matcher() -> None:
    assert matches("Bash", "Bash\n") is False
    assert matches("re:Bash", "Bash\n") is False
    assert matches("Ba*", "Bash\nx") is True


# Rules.


def judge(rule: str, tool: str = "Write", given: Any = None, cwd: str | None = "/project") -> bool:
    condition = compile_condition(rule)
    assert condition is not None
    fields = {"tool_name": tool, "tool_input": {} if given is None else given, "cwd": cwd}
    return condition(fields)


@rows("text", [None, "", "  "])
def test_no_rule_is_no_condition(text: str | None) -> None:
    assert compile_condition(text) is None


def test_of_a_list_of_rules_one_has_to_match_and_the_surest_grade_counts() -> None:
    condition = compile_condition(["Bash(git push *)", "Write(src/**)"])
    assert condition is not None

    def grade(tool: str, **given: str) -> str | None:
        fields = {"tool_name": tool, "tool_input": given, "cwd": "/project"}
        assert condition(fields) is (condition.grade(fields) is not None)
        return condition.grade(fields)

    assert grade("Write", file_path="src/a.py") == "certain"
    assert grade("Bash", command="git push origin") == "certain"
    assert grade("Bash", command='eval "$x"') == "opaque"
    assert grade("Write", file_path="docs/a.md") is None
    assert grade("Bash", command="ls") is None
    assert condition.text == "Bash(git push *) or Write(src/**)"


def test_a_list_of_one_rule_is_that_rule_and_one_without_rules_is_refused() -> None:
    condition = compile_condition(["Write(src/**)"])

    assert condition is not None
    assert condition.text == "Write(src/**)"
    with pytest.raises(BadHook, match="a list without rules"):
        compile_condition([])


def test_a_tool_alone_holds_for_every_input_of_it() -> None:
    assert judge("Bash", "Bash", {"command": "ls"})
    assert judge("Bash(*)", "Bash", {"command": "ls"})
    assert not judge("Bash", "Edit")
    assert judge("mcp__*", "mcp__a")
    assert not judge("mcp__*", "Bash")


@rows(
    ("rule", "path", "expected"),
    [
        ("Write(src/**)", "/project/src/a/b.py", True),
        ("Write(src/**)", "src/a.py", True),
        ("Write(src/**)", "/project/srcs/a.py", False),
        ("Write(src/**)", "/other/src/a.py", False),
        ("Write(src/**)", "/project/src/../secret", False),
        ("Write(src/**)", "lib/../src/a.py", True),
        ("Write(./src/**)", "/project/src/a.py", True),
        ("Write(*.py)", "/anywhere/deep/a.py", True),
        ("Write(*.py)", "a.pyc", False),
        ("Write(.env)", "/project/x/.env", True),
        ("Write(**/.env)", "/a/b/.env", True),
        ("Write(//etc/**)", "/etc/passwd", True),
        ("Write(//etc/**)", "/project/etc/passwd", False),
        ("Write(//etc/**)", "../etc/passwd", True),
        ("Write({a,b}/*.txt)", "/project/b/x.txt", True),
        ("Write({a,b}/*.txt)", "/project/c/x.txt", False),
        ("Write(src/*)", "/project/src/a/b.py", False),
    ],
)
def test_a_path_is_compared_whole_below_the_events_directory(rule: str, path: str, expected: bool) -> None:
    assert judge(rule, given={"file_path": path}) is expected


def test_a_home_is_a_home() -> None:
    assert judge("Write(~/.ssh/**)", given={"file_path": os.path.expanduser("~/.ssh/id")})


def test_what_means_something_to_a_glob_means_nothing_in_the_events_directory() -> None:
    assert judge("Write(src/*)", given={"file_path": "/a[b]*/src/x"}, cwd="/a[b]*")
    assert not judge("Write(src/*)", given={"file_path": "/ab/src/x"}, cwd="/a[b]*")


@rows("key", ["url", "query", "pattern", "prompt", "skill", "agent_type", "subagent_type"])
def test_what_names_a_page_a_search_or_an_agent_is_compared_as_text(key: str) -> None:
    assert judge("Use(deploy *)", "Use", {key: "deploy to production"})
    assert not judge("Use(deploy *)", "Use", {key: "review"})


@rows(
    ("rule", "given", "expected"),
    [
        ("WebFetch(domain:example.com)", {"url": "https://example.com/x"}, True),
        ("WebFetch(domain:example.com)", {"url": "https://EXAMPLE.com:443/x"}, True),
        ("WebFetch(domain:example.com)", {"url": "https://example.com.evil.org/"}, False),
        ("WebFetch(domain:example.com)", {"url": "https://evil.org/example.com"}, False),
        ("WebFetch(domain:example.com)", {"url": "https://user@example.com/"}, True),
        ("WebFetch(https://a/*)", {"url": "https://a/b"}, True),
        ("WebFetch(a|b)", {"url": "a|b"}, True),
        ("WebFetch(a|b)", {"url": "a"}, False),
    ],
)
def test_a_url_is_compared_by_its_host_or_as_text(rule: str, given: dict[str, Any], expected: bool) -> None:
    assert judge(rule, "WebFetch", given) is expected


@rows("given", ["text", 5, [], None, {}, {"unknown": "x"}, {"file_path": 5}, {"file_path": ["a"]}])
def test_what_cannot_be_judged_counts_as_true(given: Any) -> None:
    condition = compile_condition("Write(src/**)")

    assert condition is not None
    assert condition({"tool_name": "Write", "tool_input": given, "cwd": "/project"}) is True


@rows(
    ("rule", "given"),
    [
        ("Read(secret)", {"file_path": "x" * 100_001}),
        ("WebFetch(https://evil.org/*)", {"url": "https://good.org/" + "x" * 100_000}),
        ("Skill(deploy)", {"skill": "x" * 100_001}),
    ],
    ids=lambda _: "",
)
def test_what_is_too_long_to_be_judged_counts_as_true(rule: str, given: dict[str, Any]) -> None:
    assert judge(rule, rule.partition("(")[0], given) is True


def test_a_call_whose_name_can_be_read_in_several_ways_is_meant_by_each_of_them() -> None:
    call = {"tool_name": "mcp__a__b-c", "tool_readings": ["mcp__a__b-c", "mcp__a-b__c"], "tool_input": {}, "cwd": "/"}

    for rule, expected in (("mcp__a__*", True), ("mcp__a-b__c", True), ("mcp__b__*", False)):
        condition = compile_condition(rule)

        assert condition is not None
        assert condition(call) is expected


def test_a_tool_that_is_not_known_counts_as_the_one_that_is_meant() -> None:
    condition = compile_condition("Write(src/**)")

    assert condition is not None
    for name in ({}, {"tool_name": 5}, {"tool_name": ""}):
        assert condition.grade({**name, "tool_input": {"file_path": "src/a"}, "cwd": "/"}) == "opaque"


@rows(
    "text",
    [
        "Bash(git", "(x)", "Bash && Write", "a || b", ")", "Bash(x) && Write(y", "Bash(a) || Bash(b)", "Bash(a) and Bash(b)", "Bash(a), Bash(b)", "Bash(a),Bash(b)",
        "Bash(a) Bash(b)", "!Bash(a)", "not Bash(a)", "Bash(a))", "Bash(a)b", "Bash((a)", "Bash(a(b)", "Bash|", "|Bash", "Bash, Write", "Bash; Write", "rm *", "'Bash'", "Bash {a}",
        "Bash(a)\nBash(b)", "Bash(a) # x", "[Bash(a)]",
    ],
)  # fmt: skip
def test_what_is_not_one_rule_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(BadHook, match="several as a list"):
        compile_condition(text)


@rows(
    ("text", "command"),
    [
        ("Bash(echo (a) *)", "echo '(a)' b"),
        (r"Bash(echo \) *)", "echo ')' b"),
        (r"Bash(echo \(\( *)", "echo '((' b"),
        (" Bash( git push * ) ", "git push x"),
        ("Read | Bash(git push *)", "git push x"),
        ("[AB]ash(git push *)", "git push x"),
        ("B*(git push *)", "git push x"),
    ],
)
def test_a_pattern_may_have_parentheses_and_a_tool_wildcards(text: str, command: str) -> None:
    assert judge(text, "Bash", {"command": command})
    assert not judge(text, "Bash", {"command": "ls"})


def test_no_path_that_a_model_makes_up_takes_long() -> None:
    """A rule is judged outside every deadline, on input that the model has chosen."""
    began = time.process_time()

    judge("Write(**/src/**/test/**/*.py)", given={"file_path": "/" + "src/test/" * 200 + "x"}, cwd="/")

    assert time.process_time() - began < 1


def test_a_rule_that_stands_for_too_many_patterns_still_judges_or_is_refused() -> None:
    try:
        condition = compile_condition("Write({1..99}{1..99}{1..99})")
    except BadHook:
        return

    assert condition is not None
    assert isinstance(condition({"tool_name": "Write", "tool_input": {"file_path": "/x"}, "cwd": "/"}), bool)


@rows(
    ("given", "grade"),
    [
        ({"command": "git push"}, "certain"),
        ({"command": "git", "args": ["push", "x"]}, "certain"),
        ({"command": ["git", "push"]}, "certain"),
        ({"command": ["ls"]}, "opaque"),
        ({"commands": ["ls", "git push"]}, "certain"),
        ({"cmd": "git push"}, "certain"),
        ({"command": "ls", "args": ["-l"]}, None),
        ({"command": "ls", "description": "git push"}, None),
        ({"command": 5}, "opaque"),
        ({}, "opaque"),
    ],
    ids=repr,
)
def test_a_command_is_found_where_tools_have_it(given: Any, grade: str | None) -> None:
    condition = compile_condition("Bash(git push *)")

    assert condition is not None
    assert condition.grade({"tool_name": "Bash", "tool_input": given, "cwd": "/"}) == grade


def test_an_input_that_breaks_or_has_no_end_is_opaque() -> None:
    class Odd(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError

    endless: dict[str, Any] = {}
    endless["files"] = [endless]
    condition = compile_condition("Write(src/**)")
    assert condition is not None

    for given in (Odd(), endless, {"files": ["x"] * 20_000}):
        assert condition.grade({"tool_name": "Write", "tool_input": given, "cwd": "/"}) == "opaque"
