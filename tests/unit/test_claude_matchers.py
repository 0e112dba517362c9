"""Matchers as Claude Code reads them: exact names, or a regular expression anywhere in the name."""

import time

import pytest

from interpose import BadHook
from interpose.matching import compile_claude_matcher


def matches(text: str | None, name: str, *, exact: bool = False) -> bool:
    predicate = compile_claude_matcher(text, exact=exact)
    return predicate is None or predicate(name)


@pytest.mark.parametrize("text", [None, "", "*"])
@pytest.mark.parametrize("exact", [False, True])
def test_no_matcher_and_the_star_match_everything(text: str | None, exact: bool) -> None:
    assert compile_claude_matcher(text, exact=exact) is None


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("Bash", ["Bash"], ["bash", "BashOutput", ""]),
        ("Edit|Write", ["Edit", "Write"], ["NotebookEdit", "Edit|Write"]),
        ("Edit, Write", ["Edit", "Write"], ["Edit, Write"]),
        (" Edit | Write,Read ", ["Edit", "Write", "Read"], [" Edit "]),
        ("Edit||Write", ["Edit", "Write"], [""]),
        ("mcp__my-server__tool", ["mcp__my-server__tool"], ["mcp__my-server__tool2"]),
        ("two words", ["two words"], ["two", "words"]),
    ],
)
def test_letters_digits_and_separators_are_exact_names(text: str, yes: list[str], no: list[str]) -> None:
    assert [name for name in yes if not matches(text, name)] == []
    assert [name for name in no if matches(text, name)] == []


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("mcp__.*", ["mcp__a", "x_mcp__a"], ["mcp_"]),
        ("^Edit", ["Edit", "Editor"], ["NotebookEdit"]),
        ("Edit$", ["Edit", "NotebookEdit"], ["Editor"]),
        ("Edit.*", ["NotebookEdit", "Editor"], ["edit"]),
        ("^(Bash|Edit)$", ["Bash", "Edit"], ["BashEdit"]),
        ("Notebook.?", ["NotebookEdit"], ["Note"]),
        ("é", ["café"], ["cafe"]),
        (".", ["a", "\ud800"], [""]),
    ],
)
def test_any_other_text_is_a_regular_expression_anywhere_in_the_name(text: str, yes: list[str], no: list[str]) -> None:
    assert [name for name in yes if not matches(text, name)] == []
    assert [name for name in no if matches(text, name)] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Task", "Agent"),
        ("KillShell", "TaskStop"),
        ("KillBash", "TaskStop"),
        ("ListPeers", "ListAgents"),
        ("Brief", "SendUserMessage"),
        ("ListMcpResources", "ListMcpResourcesTool"),
        ("ReadMcpResource", "ReadMcpResourceTool"),
        ("ReadMcpResourceDir", "ReadMcpResourceDirTool"),
    ],
)
def test_the_old_name_of_a_tool_matches_its_new_name(old: str, new: str) -> None:
    assert matches(old, new)
    assert matches(old, old)
    assert matches(f"Bash|{old}", new)
    assert matches(f"^{old}$", new)
    assert not matches(new, old)
    assert not matches(f"^{new}$", old)
    assert not matches(old, "Bash")


def test_some_events_take_fewer_characters_for_exact_names() -> None:
    assert matches("rate_limit|overloaded", "overloaded", exact=True)
    assert not matches("rate_limit", "rate_limits", exact=True)
    assert matches("my-file", "a my-file b", exact=True)
    assert not matches("my-file", "a my-file b")
    assert matches(".env", "x.env", exact=True)


@pytest.mark.parametrize("text", ["|", " , ", "([", "(?=x)", "(a)\\1", "a{2,1}", "\ud800", "x" * 10_001])
def test_a_matcher_that_could_never_work_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(BadHook) as caught:
        compile_claude_matcher(text)

    assert "(" in str(caught.value)


def test_no_pattern_takes_long_on_any_name() -> None:
    began = time.process_time()

    for text in ("(a+)+$", "(a|aa)+$", "a?" * 30 + "a" * 30 + "."):
        matches(text, "a" * 5000 + "!")

    assert time.process_time() - began < 1
