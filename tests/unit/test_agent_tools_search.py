"""Glob and Grep."""

import contextlib
import os
import shutil
import time

import pytest
from tests.unit.workplace import call, workplace

from interpose.agent.tools.file_search import Walk, path_pattern


@pytest.fixture
def place(tmp_path):
    """A project whose files were changed one after the other, the last one last."""
    files = {
        "README.md": "# Title\nSee src.\n",
        "src/app.py": "import os\n\ndef main():\n    return os.name\n",
        "src/deep/er/util.py": "def helper(): pass\r\ndef main(): pass\r\n",
        "src/page.tsx": "export {}\n",
        ".hidden.py": "def main(): hidden\n",
        "data.bin": "def main\0\n",
        ".git/hooks/x.py": "def main(): git\n",
        ".interpose/shadow.git/x.py": "def main(): shadow\n",
        ".interpose/sessions/x.py": "def main(): said\n",
        ".interpose/hooks.py": "nothing here\n",
    }
    for age, (name, content) in enumerate(files.items()):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    return workplace(tmp_path)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"pattern": "**/*.py"}, [".interpose/hooks.py", ".hidden.py", "src/deep/er/util.py", "src/app.py"]),
        ({"pattern": "*.py"}, [".hidden.py"]),
        ({"pattern": "./*.md"}, ["README.md"]),
        ({"pattern": "src/*"}, ["src/page.tsx", "src/app.py"]),
        ({"pattern": "src/**"}, ["src/page.tsx", "src/deep/er/util.py", "src/app.py"]),
        ({"pattern": "src/**/*.{ts,tsx}"}, ["src/page.tsx"]),
        ({"pattern": "*.py", "path": "src"}, ["src/app.py"]),
        ({"pattern": "**/[a-b]??.py"}, ["src/app.py"]),
        ({"pattern": "src/[!p]*"}, ["src/app.py"]),
        ({"pattern": "**/x.py"}, ["(no file matches)"]),
        ({"pattern": "*", "path": "nowhere"}, ["failed: nowhere is not a directory"]),
        ({"pattern": "*", "path": "README.md"}, ["failed: README.md is not a directory"]),
        ({"pattern": "*", "path": ".."}, ["failed: .. is outside of"]),
        ({"pattern": "../*"}, ["failed: a pattern cannot have .. in it: say in path where to look"]),
        ({"pattern": "/etc/*"}, ["failed: /etc/* is outside of"]),
    ],
)
def test_files_are_found_by_their_path_the_last_changed_first(place, given, found):
    said = call(place, "Glob", **given)

    assert [line.partition(f" {place.cwd}")[0] for line in said.split("\n")] == found


def test_a_pattern_may_begin_at_the_root_of_the_file_system(place):
    assert call(place, "Glob", pattern=f"{place.cwd}/src/*.py") == "src/app.py"


def test_a_list_of_files_is_bounded(tmp_path):
    for number in range(103):
        (tmp_path / f"{number:03}").touch()

    lines = call(workplace(tmp_path), "Glob", pattern="*").split("\n")

    assert len(lines) == 101
    assert lines[-1] == "… and 3 more, which were changed earlier"


def test_links_that_lead_out_or_in_circles_are_passed_over(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("secret")
    (root / "mine").write_text("secret")
    (root / "near").symlink_to("mine")
    (root / "out").symlink_to("../secret")
    (root / "circle").symlink_to(".")
    (root / "loop").symlink_to("loop")

    assert sorted(call(workplace(root), "Glob", pattern="**").split("\n")) == ["mine", "near"]
    assert sorted(call(workplace(root), "Grep", pattern="secret").split("\n")) == ["mine", "near"]


def test_a_walk_that_takes_too_long_ends_and_says_so(place):
    few, late, abandoned = Walk(place.cwd, most=3), Walk(place.cwd, seconds=-1), Walk(place.cwd)
    abandoned.abandon()

    assert len(list(few.files(place.cwd))) <= 3
    assert [list(walk.files(place.cwd)) for walk in (late, abandoned)] == [[], []]
    assert few.remarks() == late.remarks() == ["(there are too many files, and not all were searched: name a path)"]


def test_a_pattern_takes_linear_time():
    fits = path_pattern("**/*a" * 10 + "b")
    began = time.process_time()

    assert not fits("a/" * 2_000)
    assert time.process_time() - began < 2


@pytest.mark.parametrize("pattern", ["[", "a[", "{", "a{b", "[]", "{}", "a]", "\\", "(", "+"])
def test_what_is_only_half_a_pattern_stands_for_itself(tmp_path, pattern):
    (tmp_path / pattern).touch()

    assert call(workplace(tmp_path), "Glob", pattern=pattern) == pattern


def test_a_pattern_that_is_longer_than_any_path_is_refused(tmp_path):
    said = "failed: a path pattern of 100,000 characters: at most 4,096"

    assert call(workplace(tmp_path), "Glob", pattern="[" * 100_000) == said
    assert call(workplace(tmp_path), "Grep", pattern="x", glob="a/" + "[" * 99_998) == said


def test_a_pattern_that_cannot_be_used_is_refused(tmp_path):
    said = call(workplace(tmp_path), "Glob", pattern="[z-a]")

    assert said == "failed: [z-a] is not a path pattern: **, *, ?, [abc] and {a,b}"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"pattern": "def main"}, [".hidden.py", "src/deep/er/util.py", "src/app.py"]),
        ({"pattern": "DEF MAIN", "_dash_i": True, "path": "src"}, ["src/deep/er/util.py", "src/app.py"]),
        ({"pattern": "DEF MAIN"}, ["(nothing found)"]),
        ({"pattern": "def", "glob": "*.py", "path": "src/deep"}, ["src/deep/er/util.py"]),
        ({"pattern": "e", "glob": "src/*.{tsx,md}"}, ["src/page.tsx"]),
        ({"pattern": "e", "glob": "*.md"}, ["README.md"]),
        (
            {"pattern": "^def", "output_mode": "content", "path": "src"},
            [
                "src/app.py:3:def main():",
                "src/deep/er/util.py:1:def helper(): pass",
                "src/deep/er/util.py:2:def main(): pass",
            ],
        ),
        ({"pattern": "name$", "output_mode": "content", "_dash_n": False}, ["src/app.py:    return os.name"]),
        ({"pattern": "def", "output_mode": "count", "path": "src"}, ["src/app.py:1", "src/deep/er/util.py:2"]),
        ({"pattern": "import[^x]+def", "output_mode": "content"}, ["(nothing found)"]),
        ({"pattern": "title", "path": "README.md", "_dash_i": True}, ["README.md"]),
        ({"pattern": "^$", "output_mode": "content", "path": "src/app.py"}, ["src/app.py:2:"]),
        ({"pattern": "x", "path": "nowhere"}, ["failed: nowhere does not exist"]),
    ],
)
def test_lines_are_found_by_a_regular_expression(place, given, found):
    assert call(place, "Grep", **given).split("\n") == found


def test_a_search_is_bounded(tmp_path):
    (tmp_path / "a").write_text("hit\n" * 1_000)
    (tmp_path / "b").write_text("x" * 10_000 + "\n")
    place = workplace(tmp_path)

    few = call(place, "Grep", pattern="hit", output_mode="content", head_limit=2)
    many = call(place, "Grep", pattern="hit", output_mode="content")
    long = call(place, "Grep", pattern="x", output_mode="content", path="b")

    assert few == "a:1:hit\na:2:hit\n… and more: narrow the search, or raise head_limit"
    assert len(many.split("\n")) == 251
    assert long == f"b:1:{'x' * 500} …"


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", r"(a)\1", "[z-a]", "\ud800"])
def test_an_expression_that_cannot_be_used_is_refused(place, pattern):
    assert call(place, "Grep", pattern=pattern).startswith("failed: the pattern ")


def test_an_expression_takes_linear_time(tmp_path):
    (tmp_path / "a").write_text("a" * 50_000)
    began = time.process_time()

    assert call(workplace(tmp_path), "Grep", pattern="(a|aa)*(a|aa)*b") == "(nothing found)"
    assert time.process_time() - began < 5


def test_what_could_not_be_looked_at_is_counted(tmp_path):
    (tmp_path / "a").write_text("hit")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(10**12)

    assert call(workplace(tmp_path), "Grep", pattern="hit") == "a\n(could not be read or is too large: 1)"


def test_a_tree_that_is_very_deep_is_searched_as_far_as_the_system_can(tmp_path):
    (tmp_path / "z").write_text("hit")
    with contextlib.chdir(tmp_path):
        for _ in range(1_200):
            os.mkdir("d")
            os.chdir("d")

    try:
        assert call(workplace(tmp_path), "Grep", pattern="hit") == "z"
    finally:
        shutil.move(tmp_path / "d" / "d", tmp_path / "rest")  # what removes the directory afterwards recurses too
        _remove_deep(tmp_path / "rest")


def _remove_deep(path):
    """Remove nested directories from the innermost on."""
    depth = 0
    with contextlib.chdir(path):
        while os.listdir():
            os.chdir("d")
            depth += 1
        for _ in range(depth):
            os.chdir("..")
            os.rmdir("d")
    path.rmdir()


def test_a_link_that_is_changed_after_it_was_checked_is_not_followed(tmp_path):
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/key").write_text("hit")
    (tmp_path / "harmless").write_text("nothing")
    (tmp_path / "link").symlink_to("harmless")

    def left_out(path):
        denied = "secrets" in os.path.realpath(path)
        if path.endswith("link"):
            os.remove(path)
            os.symlink("secrets/key", path)
        return denied

    assert "link" not in call(workplace(tmp_path, left_out=left_out), "Grep", pattern="hit")
