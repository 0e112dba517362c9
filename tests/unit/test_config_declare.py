"""A hook as people write it to a Hook: every option is checked."""

import warnings
from typing import Any

import pytest

from interpose import BadHook, Hook, Hooks, UnknownEvent, deny
from interpose.config.declare import declare, seconds
from interpose.events import TABLE
from interpose.matching.written import as_written


def handler(event: Any) -> None:
    return None


def made(event: str = "PreToolUse", handler: Any = handler, **options: Any) -> Hook:
    return declare(TABLE, event, handler, **options)


def refusal(event: str = "PreToolUse", handler: Any = handler, **options: Any) -> str:
    with pytest.raises(BadHook) as refused:
        declare(TABLE, event, handler, **options)
    return str(refused.value)


def test_a_hook_without_options_has_the_defaults() -> None:
    hook = made()

    assert (hook.event, hook.type, hook.name, hook.label) == ("PreToolUse", "python", None, "handler")
    assert (hook.priority, hook.timeout, hook.on_error) == (100, None, None)
    assert (hook.enabled, hook.enforce) == (True, True)
    assert not any((hook.locked, hook.parallel, hook.background, hook.once, hook.inline))
    assert (hook.scope, hook.layer) == (None, "code")
    assert hook.matches is None
    assert hook.source.endswith(f"test_config_declare.py:{handler.__code__.co_firstlineno}")


def test_options_are_taken_over() -> None:
    hook = made(
        name="guard", matcher="Bash", if_="Bash(rm *)", priority=5, timeout=2, on_error="abort", enabled=False,
        enforce=False, locked=True, once=True, scope="agent", layer="user", description="why",
    )  # fmt: skip

    assert (hook.name, hook.label, hook.matcher, hook.condition) == ("guard", "guard", "Bash", "Bash(rm *)")
    assert (hook.priority, hook.timeout, hook.on_error) == (5, 2.0, "abort")
    assert (hook.enabled, hook.enforce, hook.locked, hook.once) == (False, False, True, True)
    assert (hook.scope, hook.layer, hook.description) == ("agent", "user", "why")


def test_an_empty_name_is_no_name() -> None:
    assert made(name="").name is None


@pytest.mark.parametrize(
    ("event", "row", "matcher"),
    [
        ("pre:tool", "PreToolUse", ""),
        ("pre:tool:shell", "PreToolUse", "shell"),
        ("PostToolUse:Edit|Write", "PostToolUse", "Edit|Write"),
        ("pre:git:write:*.py", "pre:git:write", "*.py"),
    ],
)
def test_an_alias_is_its_row_and_a_suffix_is_a_matcher(event: str, row: str, matcher: str) -> None:
    hook = made(event)

    assert (hook.event, hook.matcher) == (row, matcher)


def test_a_suffix_and_a_matcher_that_agree_are_one() -> None:
    assert made("pre:tool:shell", matcher="shell").matcher == "shell"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"event": "pre:tool:shell", "matcher": "Bash"}, "names a matcher already"),
        ({"event": "Stop", "matcher": "x"}, "nothing that a matcher could be compared with"),
        ({"matcher": 5}, "matcher: 5 where text is expected"),
        ({"matcher": "|"}, "names nothing"),
        ({"matcher": "re:("}, "not a regular expression"),
        ({"matcher": "^Bash$"}, "has ^ in it, which no tool's name has (write a regular expression as 're:Bash')"),
        ({"matcher": "Bash|^Edit"}, "write a regular expression as 're:Bash|^Edit'"),
        ({"matcher": "(Edit|Write)"}, "'re:(Edit|Write)'"),
        ({"matcher": "mcp__.+"}, "has + in it"),
        ({"matcher": r"mcp__\w"}, "has \\ in it"),
        ({"matcher": "Edit$"}, "has $ in it"),
        ({"matcher": "Bash|re:Edit.*"}, "has re: in the middle"),
        ({"event": "pre:tool:^Bash"}, "has ^ in it"),
        ({"if_": 5}, "if: 5 where a rule is expected"),
        ({"if_": []}, "a list without rules"),
        ({"if_": ["Bash", 5]}, "if: 5 where a rule is expected"),
        ({"if_": ["Bash", ""]}, "if: a rule without text"),
        ({"if_": ["Bash", "Bash(a) || Bash(b)"]}, "is not one rule"),
        ({"if_": "Bash("}, "no closing parenthesis"),
        ({"event": "Stop", "if_": "Bash"}, "has no tool to compare"),
        ({"name": 5}, "name: 5 where text is expected"),
        ({"description": None}, "description: nothing where text is expected"),
        ({"scope": 5}, "scope: 5 where text is expected"),
        ({"priority": "5"}, "priority: '5' is not a whole number"),
        ({"priority": 1.5}, "priority: 1.5 is not a whole number"),
        ({"priority": True}, "priority: True is not a whole number"),
        ({"on_error": "ignore"}, "onError: 'ignore' is not a choice"),
        ({"on_error": "abrt"}, "did you mean abort?"),
        ({"layer": "root"}, "layer: 'root' is not a choice"),
        ({"enabled": "yes"}, "enabled: 'yes' where true or false is expected"),
        ({"enforce": 0}, "enforce: 0 where true or false is expected"),
        ({"locked": None}, "locked: nothing where true or false is expected"),
        ({"inline": True, "parallel": True}, "inline"),
        ({"inline": True, "async_": True}, "inline"),
        ({"timeout": -1}, "timeout: -1 is not a time in seconds"),
        ({"type": "magic"}, "type: 'magic' is not a kind of handler"),
        ({"handler": 5}, "handler: 5 cannot be called"),
        ({"handler": None}, "handler: nothing cannot be called"),
        ({"handler": "./script.py"}, "is a path"),
        ({"handler": "not a name"}, "is not the name of a Python function"),
        ({"handler": "justaname"}, "is not the name of a Python function"),
        ({"handler": lambda: None}, "takes 0 arguments"),
        ({"handler": lambda a, b: None}, "takes 2 arguments"),
        ({"handler": lambda a, *, b: None}, "keyword arguments without a default"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)
def test_what_could_never_work_is_refused_with_a_reason(options: dict[str, Any], said: str) -> None:
    assert said in refusal(**options)


def test_an_event_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownEvent, match="did you mean PreToolUse"):
        made("PreToolUze")


def test_a_star_is_a_matcher_on_every_row() -> None:
    assert made("Stop", matcher="*").matches is None


def test_a_handler_named_by_text_is_not_imported_yet() -> None:
    hook = made(handler="no_such_module.function")

    assert hook.label == "no_such_module.function"
    assert hook.type == "python"


@pytest.mark.parametrize("path", ["package.module.function", "module:function", "module:Class.method"])
def test_a_handler_may_be_named_in_two_ways(path: str) -> None:
    assert made(handler=path).label == path


class Callable:
    def __call__(self, event: Any) -> None:
        return None

    def method(self, event: Any) -> None:
        return None


@pytest.mark.parametrize(
    ("callable_", "label"),
    [
        (handler, "handler"),
        (Callable(), "Callable"),
        (Callable().method, "Callable.method"),
        (len, "len"),
        (deny, "deny"),
    ],
)
def test_a_callable_is_shown_by_its_name(callable_: Any, label: str) -> None:
    assert made(handler=callable_).label == label


@pytest.mark.parametrize(("value", "result"), [(None, None), (0, None), (0.0, None), (5, 5.0), (0.25, 0.25)])
def test_a_time_is_in_seconds_and_zero_means_not_set(value: Any, result: float | None) -> None:
    assert seconds("timeout", value) == result


@pytest.mark.parametrize(
    "value",
    [-1, -0.5, float("nan"), float("inf"), float("-inf"), True, False, "5", "5s", [5], 10**400],
    ids=lambda value: repr(value)[:9],
)
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(BadHook):
        seconds("timeout", value)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "nothing"),
        (True, "true"),
        (5, "5"),
        ("yes", "'yes'"),
        ("x" * 50, f"'{'x' * 40}…'"),
        ([1], "a list"),
        ({"a": 1}, "a mapping"),
        (object(), "object"),
    ],
)
def test_a_value_is_shown_as_it_was_written(value: object, written: str) -> None:
    assert as_written(value) == written


def test_a_matcher_with_a_dot_and_a_star_is_warned_of_in_code() -> None:
    hooks = Hooks()

    with pytest.warns(UserWarning, match=r"matcher 'mcp__\.\*' .* in which a dot is a dot \(write 'mcp__\*', or"):
        hooks.register("PreToolUse", print, matcher="mcp__.*")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hooks.register("PreToolUse", print, matcher="re:mcp__.*")
        hooks.register("pre:git:write", print, matcher="src/(a)+.*")  # a path, which may have such marks in it


def test_a_list_of_rules_matches_if_one_of_them_does() -> None:
    hook = made("PreToolUse", if_=["Bash(rm *)", "Write(src/**)"])

    assert hook.condition == "Bash(rm *) or Write(src/**)"
    assert hook.judge is not None
    assert hook.judge({"tool_name": "Bash", "tool_input": {"command": "rm x"}}) == "certain"
    assert hook.judge({"tool_name": "Write", "tool_input": {"file_path": "src/a"}, "cwd": "/"}) == "certain"
    assert hook.judge({"tool_name": "Write", "tool_input": {"file_path": "b"}, "cwd": "/"}) is None
    assert made("PreToolUse", if_=["Bash(rm *)"]).condition == "Bash(rm *)"


def test_the_surest_grade_of_a_list_counts() -> None:
    judge = made("PreToolUse", if_=["Read(a)", "Read(~/x)", "Read(c\0)"]).judge
    assert judge is not None

    def grade(path: str) -> str | None:
        return judge({"tool_name": "Read", "tool_input": {"file_path": path}, "cwd": "/"})

    assert [grade("/dev/fd/3"), grade("~/x"), grade("a"), grade("b")] == ["opaque", "possible", "certain", None]


@pytest.mark.parametrize(("dialect", "status"), [("native", "ok"), ("claude", "skipped")])
def test_a_rule_is_about_the_tools_beside_the_one_that_it_names_unless_it_is_read_as_by_claude(
    dialect: str, status: str
) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", handler, if_="Edit(src/**)", dialect=dialect)

    outcome = hooks.fire_sync("PreToolUse", tool_name="Write", tool_input={"file_path": "src/a"}, cwd="/project")

    assert [result.status for result in outcome.results] == [status]
