"""``tools:`` in a configuration: what is read, what is wrong with it and where, and what commands say about it."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from interpose import ConfigError, Hooks
from interpose.cli import main
from interpose.config.load import Source
from interpose.config.schema import schema
from interpose.lint.files import check_files

VALIDATOR = jsonschema.Draft202012Validator(schema())

READ: dict[str, Any] = {
    "a name": {"shell": "Bash"},
    "all keys": {"shell": {"as": "Bash", "fields": {"cmd": "command"}, "kind": "run"}},
    "fields only": {"Bash": {"fields": {"cmd": "command"}}},
    "a kind only": {"mcp__*__list": {"kind": "read"}},
    "two patterns of which one is narrower": {"mcp__*": {"kind": "run"}, "mcp__a__*": {"kind": "read"}},
    "two patterns that say the same": {"a*": "Bash", "*b": "Bash"},
    "keys of others": {"x-note": 1, "shell": {"as": "Bash", "x-why": "because"}},
    "no field": {"shell": {"as": "Bash", "fields": {}}},
}
WRONG: dict[str, tuple[Any, str]] = {
    "a list": (["shell"], "tools: a list where names of tools are expected"),
    "a blank": ({"a b": "Bash"}, "tools.a b: 'a b' is not the name of a tool"),
    "a regular expression": ({"sh[el]+": "Bash"}, "tools.sh[el]+: 'sh[el]+' is not the name of a tool"),
    "two names": ({"a|b": "Bash"}, "tools.a|b: 'a|b' is not the name of a tool"),
    "a number": ({5: "Bash"}, "tools.5: 5 is not the name of a tool"),
    "no declaration": ({"shell": {}}, "tools.shell: a mapping where a tool is declared"),
    "null": ({"shell": None}, "tools.shell: nothing where a tool is declared"),
    "a pattern as a name": ({"shell": "B*"}, "tools.shell: 'B*' is not the name of a tool"),
    "an empty name": ({"shell": {"as": ""}}, "tools.shell.as: '' is not the name of a tool"),
    "an unknown key": ({"shell": {"az": "Bash"}}, "tools.shell.az: az is not a key of a tool"),
    "an unknown kind": ({"shell": {"kind": "exec"}}, "tools.shell.kind: 'exec' is not a kind of tool"),
    "fields as a list": ({"shell": {"fields": ["cmd"]}}, "tools.shell.fields: a list where names of fields"),
    "a field that is no text": ({"shell": {"fields": {"cmd": 1}}}, "tools.shell.fields: a mapping where names of fields"),
    "a nested field": ({"s": {"fields": {"a.b": "c"}}}, "'a.b' or 'c' is not a field of the input"),
    "a field without a name": ({"s": {"fields": {"a": ""}}}, "'a' or '' is not a field of the input"),
    "two fields that become one": ({"s": {"fields": {"a": "c", "b": "c"}}}, "two fields become c"),
    "fields in a chain": ({"s": {"fields": {"a": "b", "b": "c"}}}, "b is a field of the host too"),
    "a field that stays": ({"s": {"fields": {"a": "a"}}}, "a is a field of the host too"),
    "several lines": ({"s": {"fields": {"commands": "command"}}}, "commands holds several values, and command holds one"),
    "two patterns of which neither is narrower": (
        {"a*": "Bash", "*b": "Read"}, "tools.*b: *b and a* may match the same tool, and neither is the more specific",
    ),
}  # fmt: skip


@pytest.mark.parametrize("given", READ.values(), ids=READ)
def test_these_are_read_and_keep_to_the_schema(given: Any) -> None:
    assert Hooks.from_mapping({"tools": given}) is not None
    VALIDATOR.validate({"tools": given})


@pytest.mark.parametrize(("given", "says"), WRONG.values(), ids=WRONG)
def test_these_are_errors_that_say_where_and_arm_nothing(given: Any, says: str) -> None:
    with pytest.raises(ConfigError) as error:
        Hooks.from_mapping({"tools": given})

    assert says in str(error.value)
    assert all(problem.hint for problem in error.value.problems)


@pytest.mark.parametrize(
    "name",
    ["a list", "no declaration", "null", "an empty name", "an unknown key", "an unknown kind", "fields as a list"],
)
def test_an_editor_finds_these_by_the_schema(name: str) -> None:
    assert not VALIDATOR.is_valid({"tools": WRONG[name][0]})


def test_problems_have_lines_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "hooks.yaml"
    path.write_text("tools:\n  shell:\n    as: Bash\n    kind: exec\n    fields:\n      a.b: c\n  other: [1]\n")

    with pytest.raises(ConfigError) as error:
        Hooks.load(path)

    assert [problem.where.removeprefix(f"{path}:").split(":")[0] for problem in error.value.problems] == ["4", "6", "7"]


def test_a_misspelt_section_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "hooks.yaml"
    path.write_text("tool: {shell: Bash}\n")

    assert [warning.what for warning in Hooks.load(path).warnings] == ["tool is not read"]


def test_a_claude_code_file_has_no_tools_section_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"tools": {"shell": "Bash"}, "hooks": {}}')

    assert Hooks.load(path, dialect="claude").engine.tools is None


class TestCommands:
    FILE = """\
tools:
  shell: {as: Bash, fields: {cmd: command}, kind: run}
hooks:
  PreToolUse:
    - {name: ours, matcher: Bash, if: Bash(rm *), type: script, handler: /deny no, onError: abort}
    - {name: theirs, matcher: shell, type: script, handler: '/log info x'}
    - {name: other, matcher: Write, type: script, handler: '/log info x'}
"""

    @pytest.fixture
    def file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "hooks.yaml").write_text(self.FILE)
        return "hooks.yaml"

    def test_fire_says_what_a_tool_is_declared_as(self, file: str, capsys: pytest.CaptureFixture[str]) -> None:
        status = main(["fire", "PreToolUse", "-c", file, "--tool", "shell", "--tool-input", '{"cmd": "rm x"}'])

        assert status == 2
        assert capsys.readouterr().out.splitlines()[0] == "DENIED  PreToolUse shell, declared as Bash"

    def test_fire_takes_a_recorded_event_with_the_declared_names(
        self, file: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        recorded = {"tool_name": "Bash", "host_tool_name": "shell", "tool_input": {"command": "rm x"}}

        status = main(["fire", "PreToolUse", "-c", file, "--input", json.dumps(recorded), "--json"])

        shown = json.loads(capsys.readouterr().out)
        assert (status, shown["input"]["tool_name"], shown["input"]["tool_input"]) == (2, "shell", {"cmd": "rm x"})

    def test_explain_compares_a_matcher_with_both_names(self, file: str, capsys: pytest.CaptureFixture[str]) -> None:
        main(["explain", "PreToolUse", "-c", file, "--tool", "shell", "--tool-input", '{"cmd": "rm x"}'])

        out = capsys.readouterr().out
        assert out.startswith("PreToolUse shell, declared as Bash: 2 of 3 hooks would run")
        assert "Bash matches Bash\n" in out
        assert "Bash(rm *) holds for this input" in out
        assert "shell matches shell\n" in out
        assert "Write does not match shell or Bash\n" in out

    def test_doctor_shows_declared_tools(self, file: str, capsys: pytest.CaptureFixture[str]) -> None:
        main(["doctor", "-c", file, "--no-run", "--json"])

        [tool] = json.loads(capsys.readouterr().out)["tools"]
        assert (tool["tool"], tool["as"], tool["fields"], tool["kind"]) == ("shell", "Bash", {"cmd": "command"}, "run")
        assert tool["source"].endswith("hooks.yaml:2")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tools: {shell: Bash}\npolicies: recommended", []),
        ("tools: {shell: bash}\npolicies: recommended", ["is declared as bash, which is not a known tool"]),
        ("tools: {shell: my_tool}\npolicies: recommended", []),
        ("tools: {Bash: Note}\npolicies: recommended", ["gives Bash, a name that rules know, the name Note"]),
        ("tools: {'*': Note}\npolicies: recommended", ["gives Agent, a name that rules know, the name Note"]),
        ("tools: {Bash: {fields: {cmd: command}}}\npolicies: recommended", []),
        ("tools: {shell: Bash}\npermissions: {'Write(x)': deny}", ["is declared, and no hook and no rule is about it"]),
        ("tools: {shell: Bash}\npermissions: {'Bash(x)': deny}", []),
        ("tools: {shell: Bash}\npermissions: {'shell(x)': deny}", []),
        ("tools: {shell: {kind: run}}\npermissions: {'Write(x)': deny}", []),
        ("tools: {bash: Bash}\nhooks: {PreToolUse: [{matcher: bash, if: bash(rm *), handler: json.dumps}]}", []),
        ("tools: {sh: Bash}\nhooks: {PreToolUse: [{matcher: sh, if: Bash(rm *), handler: json.dumps}]}", []),
    ],
)  # fmt: skip
def test_check_warns_of_declarations_that_are_likely_to_be_mistakes(
    tmp_path: Path, text: str, found: list[str]
) -> None:
    path = tmp_path / "hooks.yaml"
    path.write_text(f"{text}\n")

    report = check_files([Source(str(path))])

    warnings = [one.problem.what for one in report.findings if one.severity == "warning"]
    assert [next((part for part in found if part in warning), warning) for warning in warnings] == found


def test_trust_shows_the_tools_that_a_file_declares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".interpose").mkdir()
    (tmp_path / ".interpose" / "hooks.yaml").write_text("tools: {shell: {as: Bash, fields: {cmd: command}}}\n")
    monkeypatch.chdir(tmp_path)

    main(["trust"])

    assert "    shell: declared as Bash, cmd is command\n" in capsys.readouterr().out
