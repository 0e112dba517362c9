"""Policies about files look at the disk: links, folders, what a file says of itself, and names that differ in case."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from interpose.errors import BadHook
from interpose.policies import read_policy
from interpose.policies.call import Call


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("interpose.policies.call.temporary_directories", tuple)
    folder = tmp_path / "home" / "project"
    folder.mkdir(parents=True)
    return folder


def decision(policy: str, project: Path, call: str | tuple[str, Mapping[str, object]], **options: object) -> str:
    """Return what a policy does about a command line or a tool's call in the project."""
    tool, given = ("Bash", {"command": call}) if isinstance(call, str) else call
    hook = read_policy(policy, options)[0].hook
    fields = {"tool_name": tool, "tool_input": given, "cwd": str(project)}
    reply = hook.answer(Call(fields, str(project)))
    return str(reply.decision) if reply else "pass"


def write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# self-protection


@pytest.mark.parametrize("line", ["echo x > other", "sed -i s/a/b/ other", "tee other < x", "cp x other"])
def test_a_link_to_the_settings_of_an_agent_is_the_settings(project: Path, line: str) -> None:
    settings = write(project / ".claude" / "settings.json")
    (project / "other").symlink_to(settings)

    assert decision("self-protection", project, line) == "deny"
    assert decision("self-protection", project, "cat other") == "pass"


def test_a_link_to_a_folder_of_the_guards_is_the_folder(project: Path) -> None:
    write(project / ".interpose" / "hooks.yaml")
    (project / "plain").symlink_to(project / ".interpose")

    assert decision("self-protection", project, ("Write", {"file_path": "plain/hooks.yaml", "content": ""})) == "deny"


def test_another_name_of_the_same_file_is_the_file(project: Path) -> None:
    settings = write(project / ".claude" / "settings.json")
    os.link(settings, project / "other")

    assert decision("self-protection", project, "echo x > other") == "deny"


@pytest.mark.parametrize(
    "line", ["rm -rf .", "rm -rf ../project", "mv ../project /tmp/x", "rm -rf ~", "cd .. && rm -rf project"]
)
def test_a_folder_that_holds_the_guards_is_not_deleted(project: Path, line: str) -> None:
    write(project / ".interpose" / "hooks.yaml")

    assert decision("self-protection", project, line) == "deny"


def test_a_folder_without_guards_is_free(project: Path) -> None:
    write(project / ".interpose" / "hooks.yaml")
    write(project / "build" / "x")

    assert decision("self-protection", project, "rm -rf build") == "pass"


def test_find_by_the_name_of_a_guards_file_is_denied_if_it_exists(project: Path) -> None:
    line = "find . -name '*.yaml' -delete"
    before = decision("self-protection", project, line)
    write(project / ".interpose" / "hooks.yaml")

    assert (before, decision("self-protection", project, line)) == ("pass", "deny")
    assert decision("self-protection", project, "find . -name '*.yaml' -exec cat {} +") == "pass"


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"])
def test_the_folders_of_interpose_are_where_variables_put_them(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "moved"))

    assert decision("self-protection", project, f"echo x > {tmp_path}/moved/interpose/x") == "deny"
    assert decision("self-protection", project, f"echo x > {tmp_path}/moved/other/x") == "pass"


def test_the_settings_of_an_agent_are_where_its_variable_puts_them(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))

    assert decision("self-protection", project, f"echo x > {tmp_path}/elsewhere/settings.json") == "deny"
    assert decision("self-protection", project, f"echo x > {tmp_path}/elsewhere/notes.md") == "pass"


@pytest.mark.parametrize("line", ["git apply x.patch", "patch -p1 < x.patch", "git am x.patch"])
def test_a_patch_in_a_file_is_read(project: Path, line: str) -> None:
    write(project / "x.patch", "--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -1 +1 @@\n-a\n+b\n")

    assert decision("self-protection", project, line) == "deny"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_process_of_interpose_is_not_ended_by_its_number(project: Path) -> None:
    words, pipe = ["interpose", "-c", "echo; read x"], subprocess.PIPE
    with subprocess.Popen(words, executable="/bin/sh", stdin=pipe, stdout=pipe) as ours:
        assert ours.stdout is not None
        ours.stdout.readline()
        found = [decision("self-protection", project, f"kill -9 {number}") for number in (ours.pid, os.getpid())]
        ours.kill()

    assert found == ["deny", "pass"]


def test_an_input_that_is_too_large_to_read_is_asked_about(project: Path) -> None:
    many = {"paths": [f"a{number}" for number in range(1_100)]}

    assert decision("self-protection", project, ("mcp__files__write_many", many)) == "ask"


def test_its_hook_is_locked_unless_the_configuration_says_otherwise() -> None:
    assert read_policy("self-protection", {})[0].options["locked"] is True
    assert read_policy("self-protection", {"locked": False})[0].options["locked"] is False
    assert "locked" not in read_policy("persistence", {})[0].options


def test_an_agent_that_is_not_known_is_an_error() -> None:
    with pytest.raises(BadHook, match="there is no claud") as caught:
        read_policy("self-protection", {"agents": ["claud"]})

    assert "claude" in str(caught.value.problem.hint)


# protected-files


@pytest.mark.parametrize(
    "head", ["# @generated by x", "// Code generated by protoc-gen-go. DO NOT EDIT.", "/* do not edit */"]
)
def test_a_file_that_says_it_is_generated_is_not_edited(project: Path, head: str) -> None:
    write(project / "api.go", f"{head}\npackage api\n")
    edit = ("Edit", {"file_path": "api.go", "old_string": "a", "new_string": "b"})

    assert decision("protected-files", project, edit) == "ask"
    assert decision("protected-files", project, edit, generated="allow") == "pass"
    assert decision("protected-files", project, "rm api.go") == "pass"


def test_a_line_about_generated_files_far_below_says_nothing(project: Path) -> None:
    write(project / "a.py", "x = 1\n" * 1_000 + "# DO NOT EDIT\n")

    assert decision("protected-files", project, "sed -i s/1/2/ a.py") == "pass"


def test_a_test_file_that_is_written_whole_is_compared_with_what_it_was(project: Path) -> None:
    write(project / "tests" / "test_a.py", "def test_a(): ...\ndef test_b(): ...\n")

    def written(content: str) -> str:
        return decision("protected-files", project, ("Write", {"file_path": "tests/test_a.py", "content": content}))

    assert written("def test_a(): ...\ndef test_b(): ...\ndef test_c(): ...\n") == "pass"
    assert written("def test_a(): ...\n") == "ask"
    assert written("@pytest.mark.skip\ndef test_a(): ...\ndef test_b(): ...\n") == "ask"


def test_a_here_document_over_a_test_file_is_compared_with_what_it_was(project: Path) -> None:
    write(project / "tests" / "test_a.py", "def test_a(): ...\n")

    assert decision("protected-files", project, "cat > tests/test_a.py <<'EOF'\nx = 1\nEOF\n") == "ask"
    assert decision("protected-files", project, "cat > tests/test_a.py <<'EOF'\ndef test_a(): 1\nEOF\n") == "pass"


def test_a_folder_with_ci_files_is_not_deleted(project: Path) -> None:
    write(project / ".github" / "workflows" / "ci.yml")

    assert decision("protected-files", project, "rm -rf .github") == "ask"


def test_a_copy_of_a_lock_file_under_another_name_is_free(project: Path) -> None:
    assert decision("protected-files", project, "cp yarn.lock before") == "pass"


def test_a_link_to_a_lock_file_is_the_lock_file(project: Path) -> None:
    write(project / "yarn.lock")
    (project / "deps.txt").symlink_to("yarn.lock")

    assert decision("protected-files", project, "echo x > deps.txt") == "ask"


def test_a_folder_above_the_project_named_test_makes_no_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "test" / "app"
    folder.mkdir(parents=True)

    assert decision("protected-files", folder, "rm old.txt", paths={}) == "pass"


@pytest.mark.parametrize("paths", [{"x": "maybe"}, ["x"], {"[z-a]": "ask"}])
def test_a_wrong_pattern_or_action_is_an_error(paths: object) -> None:
    with pytest.raises(Exception, match="paths"):
        read_policy("protected-files", {"paths": paths})


# outside-project


def test_a_link_that_leads_outside_is_outside(project: Path, tmp_path: Path) -> None:
    (project / "out").symlink_to(tmp_path / "home" / "other")

    assert decision("outside-project", project, ("Write", {"file_path": "out/x", "content": ""})) == "ask"


def test_the_repository_around_the_project_is_inside(project: Path) -> None:
    (project / ".git").mkdir()
    (project / "web").mkdir()

    assert (
        decision("outside-project", project / "web", ("Write", {"file_path": "../api/x.py", "content": ""})) == "pass"
    )
    assert decision("outside-project", project / "web", ("Write", {"file_path": "../../x.py", "content": ""})) == "ask"


def test_a_commit_in_another_repository_is_outside(project: Path) -> None:
    assert decision("outside-project", project, "cd ../other && git commit -m x") == "ask"
    assert decision("outside-project", project, "git commit -m x") == "pass"


# large-writes


def test_a_write_beyond_the_limit_is_asked_about(project: Path) -> None:
    def written(length: int) -> str:
        return decision("large-writes", project, ("Write", {"file_path": "a.json", "content": "x" * length}))

    assert (written(1 << 20), written((1 << 20) + 1)) == ("pass", "ask")


def test_many_edits_in_one_call_are_asked_about(project: Path) -> None:
    edits = [{"old_string": str(number), "new_string": "x"} for number in range(101)]

    assert decision("large-writes", project, ("MultiEdit", {"file_path": "a.py", "edits": edits})) == "ask"
    assert decision("large-writes", project, ("MultiEdit", {"file_path": "a.py", "edits": edits[1:]})) == "pass"


def test_a_very_large_file_is_not_added_to_git(project: Path) -> None:
    with (project / "big.bin").open("wb") as opened:
        opened.truncate(60 << 20)

    assert decision("large-writes", project, "git add big.bin") == "ask"
    assert decision("large-writes", project, "git add big.bin", add="100MiB") == "pass"
    assert decision("large-writes", project, "git add big.bin", add=None) == "pass"
    assert decision("large-writes", project, "git add -n big.bin") == "pass"


# case-renames


def test_a_new_name_that_differs_in_case_from_an_existing_one_is_asked_about(project: Path) -> None:
    write(project / "readme.md")
    write(project / "content" / "x")

    assert decision("case-renames", project, ("Write", {"file_path": "README.MD", "content": ""})) == "ask"
    assert decision("case-renames", project, ("Write", {"file_path": "Content/new.md", "content": ""})) == "ask"
    assert decision("case-renames", project, "mkdir Content") == "ask"
    assert decision("case-renames", project, "mv other.md Readme.md") == "ask"
    assert decision("case-renames", project, ("Write", {"file_path": "readme.md", "content": ""})) == "pass"
    assert decision("case-renames", project, "mkdir contents") == "pass"


def test_a_file_beside_its_twin_is_asked_about_if_wanted(project: Path) -> None:
    write(project / "readme.md")
    write(project / "README.md")
    if len(os.listdir(project)) < 2:
        pytest.skip("the file system ignores case")
    edit = ("Edit", {"file_path": "readme.md", "old_string": "x", "new_string": "y"})

    assert decision("case-renames", project, edit) == "pass"
    assert decision("case-renames", project, edit, existing=True) == "ask"


def test_a_file_that_is_added_to_a_start_file_is_read(project: Path) -> None:
    write(project / "more", "export INTERPOSE_OFF=1\n")
    write(project / "harmless", "export EDITOR=vi\n")

    assert decision("self-protection", project, "cat more >> ~/.bashrc") == "deny"
    assert decision("self-protection", project, "cat harmless >> ~/.bashrc") == "pass"
    assert decision("self-protection", project, "cat more >> notes") == "pass"


@pytest.mark.parametrize(
    "line",
    [
        "rm .venv/bin/python", "echo x > .venv/bin/python3", "chmod -x .venv/bin/*", "rm -rf .venv", "mv .venv away",
        "echo x > .venv/pyvenv.cfg", "echo x > .venv/lib/python3.11/site-packages/re2/__init__.py",
    ],
)  # fmt: skip
def test_what_runs_interpose_is_protected_with_it(project: Path, line: str) -> None:
    write(project / ".venv" / "bin" / "python")
    assert decision("self-protection", project, line) == "pass"

    write(project / ".venv" / "bin" / "interpose")
    assert decision("self-protection", project, line) == "deny"
    assert decision("self-protection", project, line.replace(".venv", "other")) == "pass"
