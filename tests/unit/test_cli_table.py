"""The one table: fitted to a terminal, and a row per line anywhere else."""

import pytest

from interpose.cli.render.table import Column, PrintedTable, display_width, fit_text, pad_text, print_table, wrap_text

ROWS = [("PreToolUse", "guard", "rm -rf is denied everywhere"), ("Stop", "tests", "")]


@pytest.fixture
def terminal(monkeypatch):
    """Make the terminal of the next table so many columns wide; None is no terminal."""
    monkeypatch.setenv("NO_COLOR", "1")

    def of(width):
        monkeypatch.setattr("interpose.cli.render.table.terminal_width", lambda: width)

    of(None)
    return of


def printed(capsys, *columns, rows=ROWS, **options):
    print_table(columns, rows, **options)
    return capsys.readouterr().out.splitlines()


COLUMNS = (Column("EVENT"), Column("HOOK"), Column("WHY"))


def test_without_a_terminal_a_row_is_one_line_however_long(terminal, capsys):
    assert printed(capsys, *COLUMNS) == [
        "EVENT       HOOK   WHY",
        "PreToolUse  guard  rm -rf is denied everywhere",
        "Stop        tests",
    ]


def test_a_column_that_is_empty_in_every_row_is_left_out(terminal, capsys):
    assert printed(capsys, *COLUMNS, rows=[("Stop", "", "x")]) == ["EVENT  WHY", "Stop   x"]


def test_numbers_stand_on_the_right_and_wide_letters_take_two_columns(terminal, capsys):
    assert printed(capsys, Column("NAME"), Column("RUNS", right=True), rows=[("漢字", "7"), ("abc", "12")]) == [
        "NAME  RUNS",
        "漢字     7",
        "abc     12",
    ]


def test_a_narrow_terminal_wraps_cells_between_words(terminal, capsys):
    terminal(32)

    assert printed(capsys, *COLUMNS) == [
        "EVENT       HOOK   WHY",
        "PreToolUse  guard  rm -rf is",
        "                   denied",
        "                   everywhere",
        "Stop        tests",
    ]


def test_a_terminal_too_narrow_for_words_gets_blocks(terminal, capsys):
    terminal(24)

    assert printed(capsys, *COLUMNS) == [
        "PreToolUse  guard",
        "    why rm -rf is denied",
        "    everywhere",
        "Stop  tests",
    ]


def test_columns_are_left_out_in_their_order_before_anything_is_wrapped(terminal, capsys):
    columns = (Column("A"), Column("B", drop=1), Column("C", drop=2))
    rows = [("aaaa", "bbbb", "cccc")]
    shown = {}

    for width in (16, 15, 9, 4):
        terminal(width)
        shown[width] = printed(capsys, *columns, rows=rows)[1]

    assert shown == {16: "aaaa  bbbb  cccc", 15: "aaaa  bbbb", 9: "aaaa", 4: "aaaa"}


def test_a_column_that_fills_the_line_is_cut_at_its_end(terminal, capsys):
    terminal(20)

    assert printed(
        capsys, Column("ID", most=4), Column("WHY", fills=True), rows=[("123456", "because of that reason")]
    ) == [
        "ID    WHY",
        "123…  because of th…",
    ]


def test_a_table_that_is_printed_page_by_page_has_one_heading_and_grows(terminal, capsys):
    table = PrintedTable([Column("ID"), Column("WHY", fills=True)], keep_empty=True)
    for page in ([("1", "")], [("1000", "x")]):
        table.fit(page)
        table.print_rows(page)

    assert capsys.readouterr().out.splitlines() == ["1", "1000  x"]


def test_a_cell_cannot_write_to_the_terminal_nor_begin_a_line(terminal, capsys):
    assert printed(capsys, Column("NAME"), rows=[("a\x1b[2Jb\nc",)]) == ["NAME", "ab c"]


def test_a_colour_may_depend_on_the_cell(terminal, capsys, monkeypatch):
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    column = Column("DECIDED", lambda cell: "red" if cell == "deny" else "")

    assert printed(capsys, column, rows=[("deny",), ("none",)], heading=False) == ["\x1b[31mdeny\x1b[0m", "none"]


def test_text_is_measured_in_columns():
    assert [display_width(text) for text in ("ab", "漢", "e\u0301")] == [2, 2, 1]
    assert [fit_text("漢字漢字", width) for width in (8, 7, 4, 1, 0)] == ["漢字漢字", "漢字漢…", "漢…", "…", ""]
    assert pad_text("漢字", 6) == "漢字  "
    assert wrap_text("漢字 漢字 a-long-word", 9) == ["漢字 漢字", "a-long-word"]
