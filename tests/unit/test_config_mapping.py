"""A configuration as a mapping to hooks, scopes and settings; every problem at once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from interpose import BadHook, ConfigError, Hooks
from interpose.config.declare import duration
from interpose.config.mapping import Configuration, read_mapping, read_scope, settings_from
from interpose.events import TABLE


def handler(event: Any) -> None:
    return None


def read(given: Any) -> Configuration:
    return read_mapping(TABLE, given)


def problems(given: Any) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        read(given)
    return [str(problem) for problem in refused.value.problems]


def test_an_empty_configuration_has_nothing_in_it() -> None:
    empty: list[Any] = [
        {},
        {"hooks": None},
        {"hooks": {}},
        {"hooks": {"PreToolUse": []}},
        {"hooks": {"PreToolUse": None}},
    ]
    for given in empty:
        found = read(given)
        assert (found.hooks, found.scopes, found.settings) == ([], {}, {})


def test_keys_beside_hooks_belong_to_others() -> None:
    assert read({"model": "x", "hooks": {}, "servers": [1]}).hooks == []


def test_an_event_holds_a_list_of_hooks() -> None:
    found = read({"hooks": {"PreToolUse": [
        {"handler": "pkg.one", "name": "one", "matcher": "Bash", "priority": 5, "timeout": 2, "onError": "abort"},
        {"handler": "pkg.two", "if": "Bash(rm *)", "async": True, "x-note": "free"},
    ]}})  # fmt: skip

    first, second = found.hooks
    assert (first.label, first.matcher, first.priority, first.timeout, first.on_error) == ("one", "Bash", 5, 2, "abort")
    assert (second.label, second.condition, second.background) == ("pkg.two", "Bash(rm *)", True)


def test_camel_case_and_snake_case_are_both_read() -> None:
    found = read({"hooks": {
        "error_behavior": "abort", "max_hooks_per_point": 7, "PreToolUse": [{"handler": "pkg.one", "on_error": "skip"}],
    }})  # fmt: skip

    assert found.settings == {"error_behavior": "abort", "max_hooks_per_point": 7}
    assert found.hooks[0].on_error == "skip"


def test_a_group_gives_its_hooks_a_matcher_and_a_timeout() -> None:
    found = read({"hooks": {"PreToolUse": [
        {"matcher": "Bash", "timeout": 3, "hooks": [handler, {"handler": "pkg.two", "timeout": 5}]},
    ]}})  # fmt: skip

    assert [(hook.matcher, hook.timeout) for hook in found.hooks] == [("Bash", 3), ("Bash", 5)]


def test_an_agent_has_hooks_of_its_own_and_may_override() -> None:
    found = read({
        "hooks": {"PreToolUse": [handler]},
        "agents": [
            {"id": "a", "backend": {"hooks": {"PreToolUse": {"override": True, "hooks": [handler]}}}},
            {"id": "b", "backend": {"hooks": {"PreToolUse": [handler]}}},
            {"id": "c", "backend": {"model": "x"}},
            {"id": "d"},
        ],
    })  # fmt: skip

    assert [hook.scope for hook in found.hooks] == [None, "a", "b"]
    assert {name: dict(scope.overrides) for name, scope in found.scopes.items()} == {
        "a": {"PreToolUse": "code"},
        "b": {},
    }


def test_settings_are_read_in_their_units() -> None:
    found = read({"hooks": {
        "errorBehavior": "abort", "timeout": 5000, "defaultTimeout": "250ms", "totalTimeout": "2m",
        "maxHooksPerPoint": 0, "enforce": False,
    }})  # fmt: skip

    assert found.settings == {
        "error_behavior": "abort", "timeout_ceiling": 5.0, "default_timeout": 0.25, "total_timeout": 120.0,
        "max_hooks_per_point": 0, "enforce": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "a list where a mapping with hooks: is expected"),
        (None, "nothing where a mapping with hooks: is expected"),
        ({"hooks": []}, "hooks: a list where settings and events are expected"),
        ({"hooks": {5: []}}, "hooks: 5 is not text"),
        (
            {"hooks": {"PreToolUze": []}},
            "hooks.PreToolUze: PreToolUze is neither an event nor a setting (did you mean PreToolUse?)",
        ),
        ({"hooks": {"timeot": 5}}, "did you mean timeout?"),
        ({"hooks": {"timeout": 50}}, "hooks.timeout: timeout: 50 is not a ceiling in milliseconds"),
        ({"hooks": {"timeout": "5s"}}, "is not a ceiling in milliseconds"),
        ({"hooks": {"timeout": True}}, "is not a ceiling in milliseconds"),
        ({"hooks": {"defaultTimeout": "5 parsecs"}}, "is not a duration (write 5s, 250ms or 2m)"),
        ({"hooks": {"errorBehavior": "explode"}}, "errorBehavior: 'explode' is not a choice"),
        ({"hooks": {"maxHooksPerPoint": -1}}, "is not a number of hooks"),
        ({"hooks": {"enforce": "no"}}, "where true or false is expected"),
        ({"hooks": {"PreToolUse": {}}}, ""),
        ({"hooks": {"PreToolUse": "x"}}, "hooks.PreToolUse: 'x' where a list of hooks is expected"),
        ({"hooks": {"PreToolUse": {"override": True, "hooks": []}}}, "only an agent can override"),
        ({"hooks": {"PreToolUse": {"hoks": []}}}, "hoks is not known here"),
        ({"hooks": {"PreToolUse": [5]}}, "hooks.PreToolUse[0]: 5 where a hook is expected"),
        ({"hooks": {"PreToolUse": ["pkg.one"]}}, "hooks.PreToolUse[0]: 'pkg.one' where a hook is expected"),
        ({"hooks": {"PreToolUse": [{}]}}, "hooks.PreToolUse[0]: a hook without handler:"),
        (
            {"hooks": {"PreToolUse": [{"handler": "a.b", "mather": "x"}]}},
            "hooks.PreToolUse[0].mather: mather is not a key of a hook (did you mean matcher?)",
        ),
        (
            {"hooks": {"PreToolUse": [{"handler": "a.b", "timeout": -5}]}},
            "hooks.PreToolUse[0]: timeout: -5 is not a time",
        ),
        ({"hooks": {"PreToolUse": [{"handler": "a.b", "matcher": {}}]}}, "matcher: a mapping where text is expected"),
        ({"hooks": {"PreToolUse": [{"hooks": 5}]}}, "hooks.PreToolUse[0].hooks: 5 where a list of hooks is expected"),
        ({"hooks": {"PreToolUse": [{"hooks": [{"hooks": []}]}]}}, "a group inside a group"),
        (
            {"hooks": {"PreToolUse": [{"matcher": "A", "hooks": [{"handler": "a.b", "matcher": "B"}]}]}},
            "its group has a matcher already",
        ),
        ({"hooks": {"PreToolUse": [{"commands": 5}]}}, "commands: 5 where a list of shell lines is expected"),
        ({"hooks": {"PreToolUse": [{"commands": [5]}]}}, "commands[0]: 5 where a line for the shell is expected"),
        (
            {"hooks": {"PreToolUse": [{"commands": [{"handler": "a.b"}]}]}},
            "commands[0]: a mapping where a line for the shell is expected",
        ),
        (
            {"hooks": {"PreToolUse": [{"command": "true", "warm": True}]}},
            "warm: a line for the shell is not a Python script (handler: with type: command, or command: with args:, needs",
        ),
        (
            {"hooks": {"PreToolUse": [{"type": "command", "handler": "true", "shell": "bash"}]}},
            "shell: only a command: has one (a handler: is run without a shell)",
        ),
        ({"hooks": {"PreToolUse": [{"hooks": [], "priority": 5}]}}, "priority is not a key of a group"),
        ({"agents": {}}, "agents: a mapping where a list of agents is expected"),
        ({"agents": [{"backend": {"hooks": {"PreToolUse": []}}}]}, "agents[0].id: an agent with hooks needs an id"),
        (
            {"agents": [{"id": "a", "backend": {"hooks": {}}}, {"id": "a", "backend": {"hooks": {}}}]},
            "there are two agents a",
        ),
        (
            {"agents": [{"id": "a", "backend": {"hooks": {"PreToolUse": {"override": "yes", "hooks": []}}}}]},
            "override: 'yes' where true or false",
        ),
        (
            {"agents": [{"id": "a", "backend": {"hooks": {"timeout": 5000}}}]},
            "timeout is neither an event nor a setting",
        ),
    ],
)
def test_a_problem_names_its_place_and_what_to_do(given: Any, said: str) -> None:
    if not said:
        assert read(given).hooks == []
        return

    assert any(said in problem for problem in problems(given)), problems(given)


def test_all_problems_are_found_at_once_and_nothing_is_armed() -> None:
    given = {
        "hooks": {
            "PreToolUse": [{"handler": "a.b", "nme": "x"}, {"handler": "a.b", "priority": "high"}, {"handler": "a.b"}],
            "Sotp": [],
            "errorBehavior": "explode",
        }
    }

    assert len(problems(given)) == 4
    with pytest.raises(ConfigError):
        Hooks.from_mapping(given)


def test_all_problems_of_one_hook_and_of_the_settings_are_found_at_once() -> None:
    hook = {"command": "true", "nme": "x", "priority": "high", "onError": "panic", "enabled": "yes", "timeout": "5"}

    said = problems({"hooks": {"enforce": "yes", "maxHooksPerPoint": "many", "Stop": [hook]}})

    beginnings = ("hooks.Stop[0].nme: nme", "onError: 'panic'", "enabled: 'yes'", "priority: 'high'", "timeout: '5'",
                  "enforce: 'yes'", "maxHooksPerPoint: 'many'")  # fmt: skip
    assert len(said) == len(beginnings)
    assert all(any(beginning in problem for problem in said) for beginning in beginnings), said


def test_a_key_that_stands_beside_hooks_is_not_taken_for_an_event() -> None:
    (said,) = problems({"hooks": {"audit": True}})

    assert said.endswith("audit is neither an event nor a setting (audit: belongs beside hooks:, not below it)")


def test_a_misspelt_type_is_named_also_beside_a_command() -> None:
    (said,) = problems({"hooks": {"Stop": [{"command": "true", "type": "comand"}]}})

    assert "type: 'comand' is not a kind of handler (did you mean command?)" in said


def test_a_mapping_of_another_kind_is_read_like_a_dict() -> None:
    from types import MappingProxyType

    inner: Mapping[str, Any] = MappingProxyType({"handler": "a.b", "name": "one"})

    assert [
        hook.name for hook in read(MappingProxyType({"hooks": MappingProxyType({"PreToolUse": (inner,)})})).hooks
    ] == ["one"]


def test_reading_leaves_the_mapping_as_it_was() -> None:
    given = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"handler": "a.b"}]}], "timeout": 5000}}
    before = repr(given)

    read(given)

    assert repr(given) == before


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5s", 5), ("250ms", 0.25), ("2m", 120), ("1h", 3600), ("1.5s", 1.5), (" 5s ", 5), (5, 5), (0, 0), ("0s", 0)],
)
def test_a_duration_has_a_number_and_a_unit(text: Any, seconds: float) -> None:
    assert duration("x", text) == seconds


@pytest.mark.parametrize("text", ["", "s", "5", "5x", "-5s", "nans", "infs", "5sm", "1e400s", True, None, []], ids=repr)
def test_what_is_no_duration_is_refused(text: Any) -> None:
    if text is None:
        assert duration("x", text) == 0
        return

    with pytest.raises(BadHook):
        duration("x", text)


@pytest.mark.parametrize(
    "given",
    [
        {"error_behavior": "explode"}, {"max_hooks_per_point": -1}, {"max_hooks_per_point": True},
        {"max_hooks_per_point": "50"}, {"enforce": 1}, {"redirect_output": "yes"}, {"timeout_ceiling": 0.05},
        {"default_timeout": -1}, {"total_timeout": float("nan")}, {"default_timeout": "5s"},
    ],
    ids=str,
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(BadHook):
        settings_from(**given)
    with pytest.raises(BadHook):
        Hooks(**given)


def test_a_scope_takes_callables_hooks_and_groups() -> None:
    found = read_scope(
        TABLE, "agent", {"PreToolUse": [handler, {"handler": handler}, {"matcher": "Bash", "hooks": [handler]}]}, "main"
    )

    assert [(hook.scope, hook.matcher) for hook in found.hooks] == [("agent", ""), ("agent", ""), ("agent", "Bash")]
    assert found.scopes["agent"].parent == "main"


def test_a_scope_never_overrides() -> None:
    with pytest.raises(ConfigError, match="never overrides"):
        read_scope(TABLE, "agent", {"PreToolUse": {"override": True, "hooks": []}}, None)


def test_a_matcher_of_tools_that_looks_like_a_regular_expression_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "rules.arma").write_text("hook pre:tool:mcp__.* /deny no\n")
    (tmp_path / "hooks.yaml").write_text(
        "scripts: [rules.arma]\n"
        "hooks:\n"
        "  PreToolUse:\n"
        "    - matcher: mcp__.*\n"
        "      command: 'true'\n"
        "    - matcher: Edit.*\n"
        "      hooks: [{command: 'true'}]\n"
        "  pre:git:write: [{matcher: 'a(b).*', command: 'true'}]\n"
    )

    found = [str(problem) for problem in Hooks.load(tmp_path / "hooks.yaml").warnings]

    assert [line.partition(": ")[0].removeprefix(f"{tmp_path}/") for line in found] == [
        "hooks.yaml:4:7", "hooks.yaml:7:15", "rules.arma:1:1",
    ]  # fmt: skip
    assert found[0].endswith("a dot is a dot (write 'mcp__*', or 're:mcp__.*' for a regular expression)")


def test_one_that_can_only_be_one_is_an_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "rules.arma").write_text("hook pre:tool:^Bash /deny no\n")
    (tmp_path / "hooks.yaml").write_text(
        "scripts: [rules.arma]\nhooks:\n  PreToolUse:\n    - {matcher: ^Bash$, command: 'true', if: 'Bash(a) || Bash(b)'}\n"
        "permissions:\n  Bash(a), Bash(b): deny\n  Bash(git push *): ask\n"
    )

    with pytest.raises(ConfigError) as refused:
        Hooks.load(tmp_path / "hooks.yaml")

    found = [str(problem).removeprefix(f"{tmp_path}/") for problem in refused.value.problems]
    assert [line.partition(": ")[0] for line in found] == [
        "hooks.yaml:4:8", "hooks.yaml:4:42", "hooks.yaml:6:3", "rules.arma:1:15",
    ]  # fmt: skip
    assert "write a regular expression as 're:Bash'" in found[0]
    assert "is not one rule (write it like Bash(git push *) or Write(src/**); several as a list" in found[1]
    assert "'Bash(a), Bash(b)' is not one rule" in found[2]


def test_if_is_a_rule_or_a_list_of_rules(tmp_path: Path) -> None:
    (tmp_path / "hooks.yaml").write_text(
        "hooks:\n  PreToolUse:\n    - command: 'true'\n      if:\n        - Bash(rm *)\n        - Write(src/**)\n"
    )

    [hook] = Hooks.load(tmp_path / "hooks.yaml")

    assert hook.condition == "Bash(rm *) or Write(src/**)"


@pytest.mark.parametrize(
    ("given", "warning"),
    [
        ({"hoks": {"PreToolUse": [handler]}}, "hoks: hoks is not read (did you mean hooks?)"),
        (
            {"PreToolUse": [handler]},
            "PreToolUse: PreToolUse is not read: an event belongs below hooks: (move it below hooks:)",
        ),
    ],
)
def test_hooks_of_a_mapping_say_what_was_not_read(given: dict[str, Any], warning: str) -> None:
    hooks = Hooks.from_mapping(given)

    assert list(hooks) == []
    assert [str(problem) for problem in hooks.warnings] == [warning]
