"""`interpose init`: lines are added to what is there, and either everything is written or nothing."""

import os
from pathlib import Path

import pytest

from interpose import UsageError
from interpose.cli.init.examples import add_examples, choose_examples, configuration_in, new_configuration
from interpose.cli.init.merge_yaml import CannotMerge, merge_yaml
from interpose.cli.init.policies import add_policies, choose_policies
from interpose.cli.init.write_files import FileToWrite, write_files
from interpose.config.text import parse

ADDED = """\
# Why.

hooks:
  # About the event.
  Stop:
    # About the hook.
    - name: new
      env:
        A: "1"

  SessionEnd:
    - {name: end}

# Of the scripts.
permissions:
  deploy: ask
"""
NEW = {"name": "new", "env": {"A": "1"}}
ALL_NEW = {"hooks": {"Stop": [NEW], "SessionEnd": [{"name": "end"}]}, "permissions": {"deploy": "ask"}}


def says(text: str) -> object:
    return parse(text.encode(), "x", format="yaml").value


@pytest.mark.parametrize("text", ["", "# nothing but a comment\n", "# without an end of line", "\n\n"])
def test_an_empty_text_becomes_what_is_added(text: str) -> None:
    merged = merge_yaml(text, ADDED, "title")

    assert merged.startswith(text)
    assert says(merged) == ALL_NEW


@pytest.mark.parametrize(
    "text",
    [
        "hooks:\n  Stop:\n    - name: old\n",
        "hooks:\n  Stop:\n  - name: old\n  # of the next\n  Setup:\n  - name: other\n",
        "hooks:\n    Stop:\n        -   name: old\n            timeout: 5\n    Setup: [{name: other}]\n",
        "---\nhooks:\n  Setup: []\n  Stop:\n    - name: old\n\n    # - name: off\n\n  # Setup:\n\nother: 1\n",
        "other: {a: 1}\n",
        "hooks:\n  Stop:\n    - name: old\n      description: |\n        - not an item\n\n        # no comment\n  Setup: []",
        "hooks:\n  Stop:\n    - {name: old,\n       timeout: 5}\npermissions:\n  push: deny\n",
        "hooks:\n  defaultTimeout: 5s # x\nagents:\n  - id: a\n",
        "permissions:\n  push: deny\nhooks:\n  Stop: # here\n    # first\n    - name: old # last\n    # after\n",
    ],
)
def test_lines_are_added_and_no_line_is_lost(text: str) -> None:
    before = says(text)
    assert isinstance(before, dict)

    merged = merge_yaml(text, ADDED, "title")

    after = says(merged)
    assert isinstance(after, dict)
    hooks = before.get("hooks", {})
    assert after["hooks"] == {**hooks, "Stop": [*hooks.get("Stop", []), NEW], "SessionEnd": [{"name": "end"}]}
    assert after["permissions"] == {**before.get("permissions", {}), "deploy": "ask"}
    rest = iter(merged.splitlines())
    assert all(line in rest for line in text.splitlines())


def test_what_was_added_says_where_it_is_from() -> None:
    merged = merge_yaml("hooks:\n  Stop:\n    - name: old\n", ADDED, "title")

    assert merged == (
        "hooks:\n  Stop:\n    - name: old\n\n    # title: Why.\n    # About the event.\n    # About the hook.\n"
        '    - name: new\n      env:\n        A: "1"\n\n  SessionEnd:\n    # title\n    - {name: end}\n\n'
        "permissions:\n  # title\n  # Of the scripts.\n  deploy: ask\n"
    )


def test_the_ends_of_lines_stay_as_they_are() -> None:
    merged = merge_yaml("hooks:\r\n  Stop:\r\n    - name: old\r\n", ADDED, "title")

    assert says(merged) == {**ALL_NEW, "hooks": {"Stop": [{"name": "old"}, NEW], "SessionEnd": [{"name": "end"}]}}
    assert "hooks:\r\n  Stop:\r\n    - name: old\r\n" in merged


@pytest.mark.parametrize(
    "text",
    [
        "hooks: {Stop: [{name: old}]}\n",
        "hooks:\n  Stop: [{name: old}]\n",
        "hooks:\n  Stop: []\n",
        "hooks:\n  Stop:\n",
        "hooks:\n",
        "hooks: {}\n",
        '"hooks": {"Stop": []}\n',
        "hooks:\n  Stop: text\n",
        "permissions:\n  deploy: deny\n",
        "- a list\n",
        "hooks:\n  Setup: []\n...\n",
    ],
)
def test_where_lines_cannot_be_added_nothing_is(text: str) -> None:
    with pytest.raises(CannotMerge):
        merge_yaml(text, ADDED, "title")


def test_a_configuration_of_any_layout_gets_an_example(tmp_path: Path) -> None:
    (tmp_path / "hooks.yml").write_text("hooks:\n    PreToolUse:\n    - name: mine\n      command: 'true'\n")
    (tmp_path / "cases.yaml").write_text(
        "config: hooks.yml\ncases:\n  - {given: {event: Stop}, expect: {allowed: true}}\n"
    )

    assert configuration_in(str(tmp_path)) == "hooks.yml"
    write_files(str(tmp_path), add_examples(str(tmp_path), "hooks.yml", choose_examples(["command-rules"])))

    hooks = says((tmp_path / "hooks.yml").read_text())
    cases = says((tmp_path / "cases.yaml").read_text())
    assert isinstance(hooks, dict)
    assert isinstance(cases, dict)
    assert [hook["name"] for hook in hooks["hooks"]["PreToolUse"]] == ["mine", "command-rules"]
    assert (cases["config"], len(cases["cases"])) == ("hooks.yml", 6)
    assert (tmp_path / "command_rules.py").is_file()


def test_a_configuration_without_cases_gets_those_of_the_example(tmp_path: Path) -> None:
    (tmp_path / "hooks.yaml").write_text("hooks: # mine\n  Setup: []\n")
    (tmp_path / "hooks.yaml").chmod(0o600)

    write_files(str(tmp_path), add_examples(str(tmp_path), "hooks.yaml", choose_examples(["context-at-start"])))

    assert (tmp_path / "cases.yaml").read_text().startswith("# context-at-start\n- name: ")
    assert (tmp_path / "hooks.yaml").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "context_at_start.py").stat().st_mode & 0o777 == 0o755
    assert sorted(os.listdir(tmp_path)) == ["cases.yaml", "context_at_start.py", "hooks.yaml"]


def test_a_script_that_is_there_already_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "hooks.yaml").write_text("hooks:\n  Setup: []\n")
    write_files(
        str(tmp_path),
        [file for file in new_configuration(choose_examples(["notifications"])) if file.name == "notify.sh"],
    )

    files = add_examples(str(tmp_path), "hooks.yaml", choose_examples(["notifications"]))

    assert [file.name for file in files] == ["hooks.yaml", "cases.yaml"]


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hooks.yaml"
    path.write_text("hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{name: rate-limit, command: x}]\n")

    with pytest.raises(UsageError, match="PreToolUse has a hook rate-limit already"):
        add_examples(str(tmp_path), "hooks.yaml", choose_examples(["rate-limit"]))

    path.write_text("hooks:\n  Setup: []\n")
    (tmp_path / "cases.yaml").write_text(
        "- {name: a prompt is recorded, given: {event: Stop}, expect: {allowed: true}}\n"
    )
    with pytest.raises(UsageError, match="it has a case 'a prompt is recorded' already"):
        add_examples(str(tmp_path), "hooks.yaml", choose_examples(["audit-to-file"]))


def test_a_link_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.yaml").write_text("hooks:\n  Setup: []\n")
    (tmp_path / "hooks.yaml").symlink_to("real.yaml")

    with pytest.raises(CannotMerge, match="a symbolic link"):
        add_examples(str(tmp_path), "hooks.yaml", choose_examples(["rate-limit"]))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["aprovals"], "there is no example 'aprovals' .did you mean approvals"),
        (["rate-limit,nothing-like-it"], "there is no example 'nothing-like-it' .`interpose init --list` shows them"),
        ([""], "there is no example ''"),
        (["rate-limit:"], "rate-limit has no variant ''"),
        (["redact-results:ruby"], "there is redact-results, redact-results:node"),
        (["redact-results", "redact-results:node"], "named twice, in two languages"),
    ],
)
def test_a_name_that_means_nothing_is_told(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        choose_examples(words)


def test_a_variant_brings_only_what_it_runs() -> None:
    files = {file.name: file.text for file in new_configuration(choose_examples(["redact-results:node"]))}

    assert "./redact-results.mjs" in files["hooks.yaml"]
    assert "redact-results.mjs" in files
    assert "redact_results.py" not in files


# All or nothing.


def test_if_one_file_cannot_be_written_none_is(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text("before")
    files = [
        FileToWrite("new.txt", "x", ""),
        FileToWrite("old.yaml", "after", "", "before"),
        FileToWrite("gone/deep.yaml", "after", "", "before"),
    ]

    with pytest.raises(UsageError, match="cannot be written: No such file or directory; nothing was written"):
        write_files(str(tmp_path), files)

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old.yaml": "before"}


def test_a_folder_that_was_made_for_nothing_is_taken_back(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        write_files(str(tmp_path / "new"), [FileToWrite("a", "x", ""), FileToWrite("b/c", "x", "")])

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_somebody_else_has_changed_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text("theirs")

    with pytest.raises(UsageError, match="was changed just now"):
        write_files(str(tmp_path), [FileToWrite("new.txt", "x", ""), FileToWrite("old.yaml", "after", "", "before")])

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old.yaml": "theirs"}


def test_neither_a_file_nor_a_link_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")

    with pytest.raises(UsageError, match="exists already; nothing was written"):
        write_files(str(tmp_path), [FileToWrite("new.txt", "x", ""), FileToWrite("link", "x", "")])

    assert os.listdir(tmp_path) == ["link"]


# Policies.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["disks-and-devices"]),
        ("hooks:\n  Stop: []\n", ["disks-and-devices"]),
        ("policies: unreal # why\nother: 1\n", ["unreal", "disks-and-devices"]),
        ("policies:\n  - unreal: {a: 1}\n", [{"unreal": {"a": 1}}, "disks-and-devices"]),
        ("policies:\n- unreal:\n    a: 1\nhooks: {}\n", [{"unreal": {"a": 1}}, "disks-and-devices"]),
    ],
)
def test_a_policy_is_added_to_those_that_are_there(text: str, expected: list[object]) -> None:
    merged = add_policies(text, ["disks-and-devices"], "hooks.yaml")

    after = says(merged)
    assert isinstance(after, dict)
    assert after.pop("policies") == expected
    before = says(text) or {}
    assert isinstance(before, dict)
    assert after == {key: value for key, value in before.items() if key != "policies"}


@pytest.mark.parametrize(
    ("text", "error", "what"),
    [
        ("policies: [unreal]\n", CannotMerge, "policies is written on one line"),
        ("policies: {a: 1}\n", CannotMerge, "policies has another value already"),
        ("policies: disks-and-devices\n", UsageError, "it has the policy disks-and-devices already"),
        ("policies:\n  - disks-and-devices: observe\n", UsageError, "it has the policy disks-and-devices already"),
        ("policies: recommended\n", UsageError, "disks-and-devices is among the recommended policies"),
    ],
)
def test_a_policy_that_is_there_or_cannot_be_added_is_refused(text: str, error: type[Exception], what: str) -> None:
    with pytest.raises(error, match=what):
        add_policies(text, ["disks-and-devices"], "hooks.yaml")


def test_a_new_configuration_has_the_recommended_policies_or_those_that_are_named() -> None:
    for chosen, expected in (([], "recommended"), (["disks-and-devices"], ["disks-and-devices"])):
        files = {file.name: file.text for file in new_configuration([], chosen)}

        whole = says(files["hooks.yaml"])
        assert isinstance(whole, dict)
        assert whole["policies"] == expected
        assert whole["hooks"]


def test_a_policy_that_is_misspelt_gets_a_hint() -> None:
    assert choose_policies(["recommended, disks-and-devices", "recommended"]) == ["recommended", "disks-and-devices"]
    with pytest.raises(UsageError, match="did you mean disks-and-devices"):
        choose_policies(["disk-and-device"])
