"""What is kept of a run, the picture of it, and its part of the documentation."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from benchmarks import page
from benchmarks.machine import machine, model_name
from benchmarks.measure import Verdict
from benchmarks.plot import drawn
from benchmarks.results import KEPT, MeasuredRow, Run, count_met, read_all, rows_of, write
from tools.docs import __main__ as site_of_docs

ROOT = Path(__file__).parents[2]

MET = Verdict("fire()", "the floor", met=True, at_most=2, ratio=1.0, quartiles=(0.9, 1.2), cost=2e-6, baseline=2e-6)
MISSED = Verdict("wants()", "a <peer>", met=False, at_most=1, ratio=1.5, quartiles=(1.4, 1.6), cost=3e-6, baseline=2e-6)
SHOWN = Verdict("other", "the floor", met=None, ratio=7.0, quartiles=(6.0, 8.0), cost=7.0, baseline=1.0)
CHECK = Verdict("nothing is lost", "", met=True)
RUN = Run(
    table="dispatch",
    what="What firing costs.",
    date="2026-01-02",
    machine="A processor, 2 cores",
    load=0.3,
    took=61,
    about={"Python": "3.11.7", "Strands": "1.62.0", "rounds": "31"},
    rows=[MeasuredRow("async", "Async | hooks", [MET, MISSED, SHOWN]), MeasuredRow("import", "Import", [CHECK])],
)


def of(table: str, python: str = "3.11.7", *verdicts: Verdict) -> Run:
    rows = [MeasuredRow("row", "Row", verdicts or [MET])]
    return replace(RUN, table=table, about={**RUN.about, "Python": python}, rows=rows)


# What is kept.


def test_a_run_is_read_as_it_was_written(tmp_path: Path):
    write(RUN, tmp_path / "new")

    assert read_all(tmp_path / "new") == [RUN]


def test_a_run_replaces_the_one_of_the_same_table_and_python_and_no_other(tmp_path: Path):
    for run in (RUN, of("dispatch", "3.13.0"), of("cli"), replace(RUN, date="2026-02-03")):
        write(run, tmp_path)

    kept = [(run.table, run.python, run.date) for run in read_all(tmp_path)]

    assert kept == [
        ("dispatch", "3.11", "2026-02-03"),
        ("dispatch", "3.13", "2026-01-02"),
        ("cli", "3.11", "2026-01-02"),
    ]


def test_tables_stand_in_the_order_of_the_house_and_new_ones_behind(tmp_path: Path):
    for table in ("zebra", "cli", "audit", "apple", "commands", "dispatch", "session"):
        write(of(table), tmp_path)

    order = [run.table for run in read_all(tmp_path)]

    assert order == ["dispatch", "commands", "session", "audit", "cli", "apple", "zebra"]


def test_of_what_a_table_writes_the_verdicts_are_kept_with_four_digits():
    verdict = {**vars(MET), "ratio": 1.23456789, "quartiles": [1.11111, 1.33333]}
    rows = [{"row": "a", "title": "A", "met": True, "verdicts": [verdict], "seconds": {"fire": [0.1] * 31}}]

    about, measured = rows_of({"Python": "3.11.7", "rounds": "31", "rows": rows})

    assert about == {"Python": "3.11.7", "rounds": "31"}
    assert measured == [MeasuredRow("a", "A", [replace(MET, ratio=1.235, quartiles=(1.111, 1.333))])]


def test_what_was_only_shown_does_not_count():
    assert count_met([RUN, of("cli")]) == (3, 4)
    assert RUN.missed == [(RUN.rows[0], MISSED)]


def test_the_machine_is_described_by_its_processor_cores_memory_and_kernel():
    assert re.fullmatch(r".+, (1 core|\d+ cores), \d+ GiB of memory, \w+ \S+", machine())


@pytest.mark.parametrize(
    ("cpuinfo", "name"),
    [
        ("processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD  EPYC\nmodel name\t: x\n", "AMD EPYC"),
        ("Features : fp\n", ""),
    ],
)
def test_the_processor_has_the_name_that_the_kernel_gives_it(cpuinfo: str, name: str):
    assert model_name(cpuinfo) == name


# The picture.


def shapes(run: Run, tag: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(drawn(run)).findall(f"{{http://www.w3.org/2000/svg}}{tag}")


def bars(run: Run) -> list[tuple[str, float]]:
    return [(one.get("class") or "", float(one.get("width") or 0)) for one in shapes(run, "rect")[1:]]


def words(run: Run) -> list[str]:
    return [one.text or "" for one in shapes(run, "text")]


def test_a_bar_is_as_long_as_the_part_of_the_limit_that_is_used():
    (met, half), (missed, more) = bars(RUN)

    assert (met, missed) == ("met", "missed")
    assert more / half == pytest.approx(1.5 / 0.5, rel=0.01)


def test_the_limit_is_where_a_bar_that_uses_all_of_it_ends():
    exactly = replace(MET, ratio=2.0)
    run = of("cli", "3.11.7", exactly)
    (line,) = [one.get("d") or "" for one in shapes(run, "path") if one.get("class") == "limit"]
    (bar,) = shapes(run, "rect")[1:]

    assert float(line[1:].split()[0]) == float(bar.get("x") or 0) + float(bar.get("width") or 0)


def test_one_that_is_far_over_does_not_make_the_others_too_short_to_read():
    far = replace(MISSED, ratio=500.0, quartiles=(400.0, 600.0))

    (_, short), (_, cut) = bars(of("cli", "3.11.7", MET, far))

    assert short / cut == pytest.approx(0.5 / 3, rel=0.01)
    assert "» 500.00 × of 1 ×, missed" in words(of("cli", "3.11.7", MET, far))


def test_a_picture_says_who_is_compared_with_whom_and_what_came_of_it():
    said = words(RUN)

    assert "dispatch, Python 3.11.7: 2 of 3 limits are met" in said
    assert {"Async | hooks", "wants()", "against a <peer>", "1.50 × of 1 ×, missed", "1.00 × of 2 ×"} <= set(said)
    assert said[said.index("nothing is lost") + 1] == "met"
    assert "other" not in said


def test_what_could_not_be_measured_has_no_bar():
    run = of("cli", "3.11.7", Verdict("it", "them", met=False, at_most=2, note="not measured: it slept"))

    assert bars(run) == []
    assert "not measured" in words(run)


def test_a_picture_brings_its_own_background_for_light_and_dark():
    assert shapes(RUN, "rect")[0].get("class") == "paper"
    assert "prefers-color-scheme: dark" in drawn(RUN)


# The page.

EMPTY = "# Performance\n\n<!-- figures: written by a tool -->\n<!-- end of figures -->\n\nThe end.\n"


def test_only_what_stands_between_the_marks_is_written():
    written = page.renewed(EMPTY, [RUN])

    assert written.startswith("# Performance\n\n<!-- figures: written by a tool -->\n\n")
    assert written.endswith("\n\n<!-- end of figures -->\n\nThe end.\n")
    assert page.renewed(written, [RUN]) == written
    assert page.renewed(written, []) == EMPTY


def test_the_page_names_the_machine_the_date_the_versions_and_how_to_repeat_it():
    text = page.figures([RUN])

    assert text.startswith("Measured on A processor, 2 cores.\n")
    assert (
        "What firing costs. 2026-01-02; Python 3.11.7, Strands 1.62.0; 31 rounds in 61 s, at a load of 0.3 before."
        " Again: `python -m benchmarks --only dispatch --python 3.11 --rounds 31`." in text
    )
    assert "(performance-dispatch-3.11.svg)" in text


def test_where_machines_differ_each_run_names_its_own():
    text = page.figures([RUN, replace(of("cli"), machine="Another, 8 cores")])

    assert "Measured on" not in text
    assert "2026-01-02, A processor, 2 cores;" in text
    assert "2026-01-02, Another, 8 cores;" in text


def test_what_is_missed_is_said_first():
    close = replace(MISSED, quartiles=(0.9, 1.6))
    broken = Verdict("the whole row", "", met=False, note="not measured: it slept")

    text = page.figures([RUN, of("cli", "3.11.7", close, broken)])

    assert "**2 of 5 limits are met.** Missed are:" in text
    assert "- dispatch 3.11, async: wants() against a &lt;peer&gt;: 1.50 × instead of 1 ×\n" in text
    assert "- cli 3.11, row: wants() against a &lt;peer&gt;: 1.50 × instead of 1 ×, which is close\n" in text
    assert "- cli 3.11, row: the whole row: not measured: it slept\n" in text


def test_every_line_of_a_table_has_as_many_cells_as_it_has_headings():
    lines = [line for line in page.figures([RUN]).splitlines() if line.startswith("|")]

    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {9}
    assert "| **Async \\| hooks** |  |  |  |  |  |  |  |" in lines
    assert "| fire() | 2 µs | the floor | 2 µs | 1.00 × | 0.90 to 1.20 | 2 × | met |" in lines
    assert lines[4].endswith("| **MISSED** |")


def test_a_run_that_is_no_longer_kept_takes_its_picture_with_it(tmp_path: Path):
    docs, kept = tmp_path / "performance.md", tmp_path / "results"
    docs.write_text(EMPTY)
    for run in (RUN, of("cli")):
        write(run, kept)
    page.write(docs, kept)
    (kept / "cli-3.11.json").unlink()
    (tmp_path / "other.svg").touch()

    page.write(docs, kept)

    assert sorted(path.name for path in tmp_path.glob("*.svg")) == ["other.svg", "performance-dispatch-3.11.svg"]
    assert docs.read_text() == page.renewed(EMPTY, [RUN])


def test_pictures_go_to_the_site_with_their_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    docs, site, kept = tmp_path / "docs", tmp_path / "site", tmp_path / "results"
    docs.mkdir()
    (docs / "performance.md").write_text(EMPTY)
    write(RUN, kept)
    page.write(docs / "performance.md", kept)
    monkeypatch.setattr(site_of_docs, "DOCS", docs)
    site.mkdir()
    (site / "performance-gone-3.11.svg").touch()

    site_of_docs._write_pages(site)

    assert sorted(path.name for path in site.iterdir()) == ["performance-dispatch-3.11.svg", "performance.md"]
    assert (site / "performance-dispatch-3.11.svg").read_text() == drawn(RUN)


def test_the_documentation_shows_the_runs_that_are_kept():
    runs = read_all(KEPT)
    shown = page.PAGE.read_text(encoding="utf-8")
    drawings = {path.name: path.read_text(encoding="utf-8") for path in page.PAGE.parent.glob("performance-*.svg")}

    assert "<!-- end of figures -->" in shown
    assert page.renewed(shown, runs) == shown, "run `python -m benchmarks.page`"
    assert drawings == page.pictures(runs), "run `python -m benchmarks.page`"
