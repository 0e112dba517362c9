"""What tools do with files is read from their names and their inputs; a patch names the files that it changes."""

from __future__ import annotations

from typing import Any

import pytest

from interpose.policies.call import Call
from interpose.policies.effects.tables.sizes import bytes_of
from interpose.policies.effects.tools import Edit, edits_of_input, effects_of_input, files_of_patch
from interpose.policies.file_table import FileTable

CWD = "/srv/app"


def kinds(tool: str, given: dict[str, Any]) -> list[tuple[str, str]]:
    return [(effect.kind, effect.target) for effect in effects_of_input(tool, given, CWD) if effect.grade == "certain"]


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("Read", "read-files"), ("Write", "write-files"), ("Edit", "write-files"), ("MultiEdit", "write-files"),
        ("NotebookEdit", "write-files"), ("Grep", "read-files"), ("Glob", "read-files"), ("LS", "read-files"),
        ("read_file", "read-files"), ("read_many_files", "read-files"), ("write_file", "write-files"),
        ("replace", "write-files"), ("list_directory", "read-files"), ("search_file_content", "read-files"),
        ("fs_read", "read-files"), ("fs_write", "write-files"), ("view", "read-files"), ("edit_file", "write-files"),
        ("delete_file", "delete-files"), ("search_replace", "write-files"), ("codebase_search", "read-files"),
        ("mcp__filesystem__read_text_file", "read-files"), ("mcp__filesystem__get_file_info", "read-files"),
        ("mcp__filesystem__write_file", "write-files"), ("mcp__disk__remove", "delete-files"),
        ("mcp__x__frobnicate", "write-files"), ("getFile", "read-files"), ("setFile", "write-files"),
    ],
)  # fmt: skip
def test_a_tool_reads_writes_or_deletes_by_its_name(tool: str, kind: str) -> None:
    assert kinds(tool, {"path": "a.txt"}) == [(kind, "/srv/app/a.txt")]


def test_a_move_takes_one_file_away_and_writes_another() -> None:
    given = {"source": "a", "destination": "b"}

    assert kinds("mcp__fs__move_file", given) == [("move-files", f"{CWD}/a"), ("write-files", f"{CWD}/b")]
    assert kinds("mcp__fs__copy_file", given) == [("read-files", f"{CWD}/a"), ("write-files", f"{CWD}/b")]


@pytest.mark.parametrize(
    ("command", "kind"), [("view", "read-files"), ("create", "write-files"), ("str_replace", "write-files")]
)
def test_an_editor_tool_says_in_its_command_what_it_does(command: str, kind: str) -> None:
    given = {"command": command, "path": "a.txt"}

    assert kinds("str_replace_based_edit_tool", given) == [(kind, f"{CWD}/a.txt")]


def test_the_directory_of_a_command_is_not_written() -> None:
    assert kinds("run_shell_command", {"command": "ls", "directory": "/etc"}) == []


@pytest.mark.parametrize("path", ["file:///etc/hosts", " /etc/hosts", '"/etc/hosts"', "\\etc\\hosts"])
def test_other_readings_of_a_path_are_possible(path: str) -> None:
    found = effects_of_input("Write", {"file_path": path}, CWD)

    assert ("possible", "/etc/hosts") in [(effect.grade, effect.target) for effect in found]


PATCH = """*** Begin Patch
*** Add File: new.py
+x = 1
*** Update File: old.py
*** Move to: moved.py
@@
-a
+b
*** Delete File: gone.py
*** End Patch"""


def test_a_patch_names_its_files_and_what_it_writes() -> None:
    expected = [
        ("write-files", "new.py"),
        ("write-files", "old.py"),
        ("write-files", "moved.py"),
        ("delete-files", "gone.py"),
    ]

    assert list(files_of_patch(PATCH)) == expected
    assert kinds("apply_patch", {"command": PATCH}) == [(kind, f"{CWD}/{path}") for kind, path in expected]
    assert edits_of_input("apply_patch", {"input": PATCH})[0] == Edit("new.py", "x = 1", "", True)


def test_a_patch_is_no_command_line() -> None:
    assert Call({"tool_name": "apply_patch", "tool_input": {"command": PATCH}, "cwd": CWD}).lines == ()


def test_a_diff_names_its_files() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n--- a/gone.py\n+++ /dev/null\n--- /dev/null\n+++ b/new.py\n"

    assert list(files_of_patch(diff)) == [
        ("write-files", "x.py"),
        ("delete-files", "gone.py"),
        ("write-files", "new.py"),
    ]


def test_the_edits_of_an_input_have_the_path_of_the_mapping_around_them() -> None:
    given = {"file_path": "a.py", "edits": [{"old_string": "a", "new_string": "b"}, {"oldText": "c", "newText": ""}]}

    assert edits_of_input("MultiEdit", given) == (Edit("a.py", "b", "a"), Edit("a.py", "", "c"))
    assert edits_of_input("Write", {"path": "a", "content": "x"}) == (Edit("a", "x", "", True),)


@pytest.mark.parametrize(
    ("text", "number"),
    [("10", 10), ("1k", 1024), ("1kB", 1000), ("2MiB", 2 << 20), ("1G", 1 << 30), ("+5G", 5 << 30), ("1.5M", 1_572_864),
     ("2b", 1024), ("", None), ("x", None), ("10q", None), ("1.2.3", None), ("9" * 5_000, int(float("9" * 30)))],
)  # fmt: skip
def test_a_size_is_read_as_the_programs_read_it(text: str, number: int | None) -> None:
    assert bytes_of(text) == number


TABLE = FileTable(
    {"lock": "yarn.lock *.gen.go", "agent": ".claude/hooks/ .claude/settings.json", "start": "~/.bashrc /etc/cron.d/"}
)


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/a/yarn.lock", "lock"), ("/a/YARN.LOCK", "lock"), ("/a/yarn.lock/x", ""), ("/a/x.gen.go", "lock"),
        ("/a/.claude/hooks", "agent"), ("/a/.claude/hooks/b/c", "agent"), ("/a/.claude/settings.json", "agent"),
        ("/a/.claude/settings.json.bak", ""), ("/home/ana/.bashrc", "start"), ("/root/.bashrc", "start"),
        ("/home/ana/dots/.bashrc", ""), ("/etc/cron.d/x", "start"), ("/a/etc/cron.d/x", ""), ("/", ""),
    ],
)  # fmt: skip
def test_a_table_says_what_a_path_is(path: str, label: str) -> None:
    assert TABLE.label_of(path, "/home/ana") == label


@pytest.mark.parametrize(
    ("path", "whole", "label"),
    [
        ("/a/.cl\1", True, "agent"), ("/a/.\1", True, "agent"), ("/a/.\1", False, ""), ("/a/.claude/\1", False, "agent"),
        ("\0/.claude/settings.json", False, "agent"), ("\0/settings.json", False, ""), ("/a/\1", True, ""),
        ("/a/\1.json", False, ""), ("\0/.bashrc", False, "start"), ("/a/yarn.l\0", False, "lock"), ("/a/x\1", True, ""),
    ],
)  # fmt: skip
def test_a_path_with_unknown_parts_may_be_one_of_a_table(path: str, whole: bool, label: str) -> None:
    assert TABLE.may_mean(path, "/home/ana", whole=whole) == label
