"""Read, Write and Edit."""

import asyncio

import pytest
from tests.unit.workplace import call, calling, workplace

from interpose.agent.tools import ToolFailed, replace_file
from interpose.agent.tools.files import digest


def known(root, name: str, content: bytes):
    """A place with a file in it that the model has seen."""
    (root / name).write_bytes(content)
    place = workplace(root)
    call(place, "Read", file_path=name)
    return place


# Read


def test_lines_are_shown_with_their_numbers_whatever_they_end_in(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffone\r\ntwo\x0bstill two\n\nfour".encode())

    assert call(workplace(tmp_path), "Read", file_path="a.txt") == (
        "     1\tone\n     2\ttwo\x0bstill two\n     3\t\n     4\tfour"
    )


def test_a_part_of_a_file_says_where_the_rest_begins(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    place = workplace(tmp_path)

    assert call(place, "Read", file_path="a.txt", offset=3, limit=2) == (
        "     3\tline 3\n     4\tline 4\n… 6 more lines; the next is offset 5"
    )
    assert call(place, "Read", file_path="a.txt", offset=9) == "     9\tline 9\n    10\tline 10"
    assert call(place, "Read", file_path="a.txt", offset=11) == "failed: a.txt has only 10 lines"


def test_what_is_shown_of_a_long_file_is_bounded_and_can_be_continued(tmp_path):
    (tmp_path / "long").write_text(f"{'x' * 5_000}\n" + "y" * 1_999 + ("\n" + "z" * 1_000) * 300)
    place = workplace(tmp_path)

    said = call(place, "Read", file_path="long")
    first, *_, last = said.split("\n")

    assert first == f"     1\t{'x' * 2_000} … (5,000 characters)"
    assert len(said) < 110_000
    assert last == "… 205 more lines; the next is offset 98"
    assert call(place, "Read", file_path="long", offset=98, limit=1).startswith("    98\tzzz")


def test_an_empty_file_is_said_to_be_empty(tmp_path):
    (tmp_path / "a").touch()

    assert call(workplace(tmp_path), "Read", file_path="a") == "(a is empty)"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"text\0more", "failed: a is binary (it has NUL bytes): it cannot be shown as text"),
        (b"abc\xff", "failed: a is binary, or not in UTF-8 (byte 3): it cannot be shown as text"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path, content, said):
    (tmp_path / "a").write_bytes(content)

    assert call(workplace(tmp_path), "Read", file_path="a") == said


def test_a_file_of_any_size_is_refused_without_being_read(tmp_path):
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(10**12)

    said = call(workplace(tmp_path), "Read", file_path="huge")

    assert said == "failed: huge has more than 20,000,000 bytes: look at a part of it with Bash"


# Where


@pytest.mark.parametrize("tool", ["Read", "Write"])
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/etc/passwd", "/etc/passwd is outside of"),
        ("../outside", "../outside is outside of"),
        ("a/../../outside", "a/../../outside is outside of"),
        ("~/file", "~/file starts with ~"),
        ("link/passwd", "link/passwd is outside of"),
        ("loop", "loop: a symbolic link in it leads to itself"),
        ("", "a path cannot be empty"),
        ("a\0b", "a path cannot be empty or have a NUL"),
        ("\ud800", "a path cannot have a lone surrogate"),
    ],
)
def test_files_elsewhere_are_refused(tmp_path, tool, path, said):
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to("/etc")
    (root / "loop").symlink_to("loop")
    content = {"content": ""} if tool == "Write" else {}

    assert call(workplace(root), tool, file_path=path, **content).startswith(f"failed: {said}")


@pytest.mark.parametrize(
    "path",
    [".git/config", "sub/.GIT/hooks/x", ".interpose/shadow.git/HEAD", ".interpose/sessions/a.jsonl", "link/HEAD"],
)
def test_neither_git_nor_the_record_can_be_written_to(tmp_path, path):
    (tmp_path / "link").symlink_to(".git")

    said = call(workplace(tmp_path), "Write", file_path=path, content="x")

    assert said.startswith(f"failed: {path} belongs to git or to the agent")


def test_a_path_may_be_whole_or_seen_from_the_root_and_a_root_may_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("text")
    (tmp_path / "link").symlink_to("real")
    place = workplace(tmp_path / "link")

    assert call(place, "Read", file_path="a") == call(place, "Read", file_path=str(tmp_path / "link" / "a"))


def test_a_link_within_the_work_is_followed_and_stays_a_link(tmp_path):
    place = known(tmp_path, "real", b"old\n")
    (tmp_path / "link").symlink_to("real")

    assert call(place, "Edit", file_path="link", old_string="old", new_string="new").startswith("Changed real")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new\n"


@pytest.mark.parametrize(
    ("tool", "given"),
    [("Read", {}), ("Write", {"content": ""}), ("Edit", {"old_string": "a", "new_string": "b"})],
)
def test_a_directory_is_no_file(tmp_path, tool, given):
    (tmp_path / "folder").mkdir()

    assert call(workplace(tmp_path), tool, file_path="folder", **given).startswith("failed: folder is a directory")


# Write


def test_a_new_file_is_written_with_the_directories_that_it_needs(tmp_path):
    said = call(workplace(tmp_path), "Write", file_path="a/b/c.txt", content="one\ntwo")

    assert said == "Wrote a/b/c.txt (2 lines)"
    assert (tmp_path / "a/b/c.txt").read_bytes() == b"one\ntwo"


def test_a_file_that_was_not_read_is_not_replaced(tmp_path):
    (tmp_path / "a").write_text("precious")

    said = call(workplace(tmp_path), "Write", file_path="a", content="x")

    assert said == "failed: a exists, and you have not read it: read it first"
    assert (tmp_path / "a").read_text() == "precious"


def test_a_file_that_somebody_has_changed_since_is_not_replaced(tmp_path):
    place = known(tmp_path, "a", b"old")
    (tmp_path / "a").write_text("changed by hand")

    assert call(place, "Write", file_path="a", content="x") == "failed: a has changed since you read it: read it again"
    call(place, "Read", file_path="a")
    assert call(place, "Write", file_path="a", content="x") == "Replaced a (1 lines)"


def test_what_the_model_wrote_itself_it_has_seen(tmp_path):
    place = workplace(tmp_path)

    call(place, "Write", file_path="a", content="one")

    assert call(place, "Write", file_path="a", content="two") == "Replaced a (1 lines)"
    assert call(place, "Edit", file_path="a", old_string="two", new_string="three").startswith("Changed a")


def test_what_came_out_otherwise_has_to_be_read_again(tmp_path):
    async def redacted(path, content):
        replace_file(path, b"***")
        return "***"

    place = workplace(tmp_path, write=redacted)
    (tmp_path / "old").write_text("old")
    call(place, "Read", file_path="old")

    for name in ("new", "old"):
        said = call(place, "Write", file_path=name, content="secret")

        assert "A hook changed the content" in said
        assert call(place, "Write", file_path=name, content="x").startswith(f"failed: {name} ")
        call(place, "Read", file_path=name)
        assert call(place, "Write", file_path=name, content="x").startswith(f"Replaced {name}")


def test_a_refusal_reaches_the_model_and_nothing_counts_as_seen(tmp_path):
    async def refused(path, content):
        raise ToolFailed("a hook says no")

    place = workplace(tmp_path, write=refused)

    assert call(place, "Write", file_path="a", content="x") == "failed: a hook says no"
    assert place.seen == {}


def test_half_a_character_is_not_written(tmp_path):
    said = call(workplace(tmp_path), "Write", file_path="a", content="\ud800")

    assert said.startswith("failed: the text has a lone surrogate")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\nb\n", "x\ny\n", b"x\ny\n"),
        (b"a\r\nb\r\n", "x\r\ny\n", b"x\r\ny\n"),
        (b"\xff\r\n", "x\n", b"x\r\n"),
    ],
)
def test_lines_end_as_they_did_unless_the_model_says_how(tmp_path, before, content, after):
    place = workplace(tmp_path)
    (tmp_path / "a").write_bytes(before)
    place.seen[place.cwd / "a"] = digest(before)

    call(place, "Write", file_path="a", content=content)

    assert (tmp_path / "a").read_bytes() == after


def test_permissions_stay(tmp_path):
    place = known(tmp_path, "script", b"#!/bin/sh\n")
    (tmp_path / "script").chmod(0o750)

    call(place, "Edit", file_path="script", old_string="sh", new_string="bash")

    assert (tmp_path / "script").stat().st_mode & 0o7777 == 0o750


# Edit


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\nb\nc\n", "b", "B", b"a\nB\nc\n"),
        (b"a\nb\nc\n", "a\nb", "x", b"x\nc\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\nc\n", "b\nc", "x\ny", b"a\r\nx\ny\n"),
        (b"a\r\nb\nc\n", "a\nb", "x\ny", b"x\r\ny\nc\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a.b(c)\n", "a.b(c)", "\\1", b"\\1\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        (b"a\nb\n", "b\n", "", b"a\n"),
    ],
)
def test_a_piece_is_replaced_and_everything_else_stays_to_the_byte(tmp_path, before, old, new, after):
    place = known(tmp_path, "a", before)

    said = call(place, "Edit", file_path="a", old_string=old, new_string=new)

    assert said.startswith("Changed a:\n")
    assert (tmp_path / "a").read_bytes() == after


def test_the_model_is_shown_what_is_around_a_change(tmp_path):
    place = known(tmp_path, "a", b"".join(b"%d\n" % number for number in range(1, 21)))

    said = call(place, "Edit", file_path="a", old_string="10", new_string="ten\nand a half")

    shown = ["7", "8", "9", "ten", "and a half", "11", "12", "13"]
    assert said == "\n".join(["Changed a:", *(f"{number:>6}\t{line}" for number, line in enumerate(shown, 7))])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"old_string": "x", "new_string": "y"}, "old_string is not in a: it must be there exactly"),
        ({"old_string": "b", "new_string": "y"}, "old_string is in a 2 times: give more lines around it"),
        ({"old_string": "a", "new_string": "a"}, "old_string and new_string are the same"),
        ({"old_string": "", "new_string": "y"}, "a is not empty: old_string must say what to replace"),
    ],
)
def test_an_edit_that_is_not_clear_changes_nothing(tmp_path, given, said):
    place = known(tmp_path, "a", b"a\nb\nb\n")

    assert call(place, "Edit", file_path="a", **given).startswith(f"failed: {said}")
    assert (tmp_path / "a").read_bytes() == b"a\nb\nb\n"


def test_every_occurrence_is_replaced_when_asked_for(tmp_path):
    place = known(tmp_path, "a", b"b\nb\na b\n")

    said = call(place, "Edit", file_path="a", old_string="b", new_string="c", replace_all=True)

    assert said.startswith("Changed a in 3 places, the first:\n     1\tc\n")
    assert (tmp_path / "a").read_bytes() == b"c\nc\na c\n"


def test_an_empty_old_string_makes_a_new_file(tmp_path):
    place = workplace(tmp_path)

    assert call(place, "Edit", file_path="a", old_string="", new_string="text\n") == "Wrote a"
    assert (tmp_path / "a").read_text() == "text\n"
    assert call(place, "Edit", file_path="b", old_string="x", new_string="y").startswith("failed: b does not exist")


def test_edits_of_one_file_at_the_same_time_are_all_there_in_the_end(tmp_path):
    place = known(tmp_path, "a", "".join(f"<{number}>\n" for number in range(20)).encode())

    async def all_at_once():
        return await asyncio.gather(
            *(calling(place, "Edit", file_path="a", old_string=f"<{number}>", new_string="x") for number in range(20))
        )

    said = asyncio.run(all_at_once())

    assert all(answer.startswith("Changed a") for answer in said)
    assert (tmp_path / "a").read_text() == "x\n" * 20


def test_a_file_that_rules_keep_back_is_not_reached_through_a_link_of_which_they_did_not_know(tmp_path):
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/key").write_text("hidden")
    (tmp_path / "link").symlink_to("secrets/key")
    place = workplace(tmp_path, left_out=lambda path: "/secrets/" in path)

    answers = [
        call(place, "Read", file_path="link"),
        call(place, "Write", file_path="link", content="x"),
        call(place, "Edit", file_path="link", old_string="hidden", new_string="x"),
        call(place, "Grep", pattern="hidden", path="link"),
    ]

    assert answers == ["failed: link leads to a file that a permission rule keeps back"] * 4
    assert (tmp_path / "secrets/key").read_text() == "hidden"
