"""How benchmarks measure and judge; with stopwatches that say what they are told to say."""

import argparse
import gc
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from benchmarks.command import MET, MISSED, UNMEASURED, parser, run
from benchmarks.measure import Check, Contestant, Idle, Limit, Row, Verdict, measure, not_measured
from benchmarks.telling import cells, duration, figure, said, table


@pytest.fixture(autouse=True)
def little_garbage() -> Iterator[None]:
    """Spare each measurement the look at everything that pytest has loaded; it collects garbage before it begins."""
    gc.freeze()
    yield
    gc.unfreeze()


def costing(name: str, *seconds: float, minimum: float = 0.0, units: int = 1) -> Contestant:
    """A contestant that costs this in its rounds, one after the other; the first also while it is calibrated."""
    told = iter([seconds[0], *seconds])
    return Contestant(name, lambda loops: loops * next(told, seconds[-1]), units, minimum)


def idle(name: str, after: int = 0) -> Contestant:
    """A contestant that stops working after so many timings."""
    timings = iter([1.0] * after)

    def timed(loops: int) -> float:
        for seconds in timings:
            return seconds
        raise Idle("it slept")

    return Contestant(name, timed, minimum=0.0)


def judged(contestants: Sequence[Contestant], limit: Limit, rounds: int = 3) -> Verdict:
    (verdict,) = measure(Row("row", "Row", contestants, [limit]), rounds=rounds).verdicts
    return verdict


# Measuring.


def test_a_ratio_is_formed_within_each_round_so_that_a_machine_that_slows_down_changes_nothing():
    ours, theirs = costing("ours", 2, 20, 200), costing("theirs", 1, 10, 100)

    verdict = judged([ours, theirs], Limit("it", "ours", "theirs", 2))

    assert verdict == Verdict(
        "it", "theirs", met=True, at_most=2, ratio=2.0, quartiles=(2.0, 2.0), cost=20.0, baseline=10.0
    )


def test_the_median_is_judged_and_not_a_round_that_something_got_in_the_way_of():
    ours, theirs = costing("ours", 1, 90, 1), costing("theirs", 1, 1, 1)

    assert judged([ours, theirs], Limit("it", "ours", "theirs", 1)).met


@pytest.mark.parametrize(("cost", "met"), [(2.0, True), (2.1, False)])
def test_a_limit_is_met_up_to_its_figure(cost: float, met: bool):
    assert judged([costing("ours", cost), costing("theirs", 1)], Limit("it", "ours", "theirs", 2)).met is met


def test_without_a_figure_nothing_is_judged():
    assert judged([costing("ours", 9), costing("theirs", 1)], Limit("it", "ours", "theirs")).met is None


def test_what_both_sides_have_to_do_anyway_can_be_taken_off_first():
    contestants = [costing("ours", 5), costing("theirs", 3), costing("start", 1)]

    assert judged(contestants, Limit("it", "ours", "theirs", 2, minus="start")).ratio == 2.0


def test_a_cost_is_that_of_one_piece_of_work():
    assert judged([costing("ours", 10, units=10), costing("theirs", 1)], Limit("it", "ours", "theirs")).ratio == 1.0


def test_another_contestant_begins_in_every_round():
    order: list[str] = []

    def noting(name: str) -> Contestant:
        def timed(loops: int) -> float:
            order.append(name)
            return 1.0

        return Contestant(name, timed, minimum=0.0)

    measure(Row("row", "Row", [noting("a"), noting("b"), noting("c")]), rounds=3)

    assert "".join(order) == "abc" + "abc" + "bca" + "cab"


def test_a_timing_that_was_too_short_is_repeated_until_it_is_long_enough():
    counts: list[int] = []

    def timed(loops: int) -> float:
        counts.append(loops)
        return loops * 0.001

    measure(Row("row", "Row", [Contestant("quick", timed, minimum=0.02)]), rounds=1)

    assert counts[-1] == pytest.approx(0.02 * 1.33 / 0.001, abs=1)


def test_what_a_process_has_said_is_noted_in_one_line_that_no_terminal_obeys():
    assert not_measured("it said:\n\x1b[2J no") == "not measured: it said: ?[2J no"


@pytest.mark.parametrize("after", [0, 1, 2])
def test_who_does_not_do_the_work_misses_its_limit_and_the_others_are_measured(after: int):
    row = Row(
        "row",
        "Row",
        [idle("ours", after), costing("theirs", 2), costing("floor", 1)],
        [Limit("it", "ours", "theirs", 2), Limit("they", "theirs", "floor", 2), Limit("shown", "ours", "floor")],
    )

    missed, measured, shown = measure(row, rounds=3).verdicts

    assert missed == Verdict("it", "theirs", met=False, at_most=2, note="not measured: it slept")
    assert (measured.met, measured.ratio) == (True, 2.0)
    assert shown.met is None


def test_a_row_may_have_nothing_but_checks():
    finding = measure(Row("row", "Row", [], checks=[Check("a", lambda: ""), Check("b", lambda: "broken")]), rounds=3)

    assert [(verdict.met, verdict.note) for verdict in finding.verdicts] == [(True, ""), (False, "broken")]
    assert not finding.met


@pytest.mark.parametrize(
    ("at_most", "quartiles", "close"),
    [
        (2, (1.5, 2.5), True),
        (2, (1.0, 1.9), False),
        (2, (2.1, 3.0), False),
        (None, (1.0, 3.0), False),
        (2, None, False),
    ],
)
def test_a_limit_among_the_middle_half_of_the_rounds_is_close(
    at_most: float | None, quartiles: tuple[float, float] | None, close: bool
):
    assert Verdict("it", "theirs", met=True, at_most=at_most, quartiles=quartiles).close is close


# Telling.


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "0 ns"), (95e-9, "95 ns"), (1.5e-6, "1.5 µs"), (0.0123, "12.3 ms"), (2.0, "2 s"), (1234.5, "1234 s")],
)
def test_a_duration_has_the_unit_that_fits(seconds: float, words: str):
    assert duration(seconds) == words


@pytest.mark.parametrize(("ratio", "words"), [(12.345, "12.35"), (0.1, "0.10"), (0.0912, "0.091"), (0.00621, "0.0062")])
def test_a_ratio_has_the_digits_that_mean_something(ratio: float, words: str):
    assert figure(ratio) == words


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict("it", "", met=True), "met"),
        (Verdict("it", "", met=False), "MISSED"),
        (Verdict("it", "", met=None), "shown only"),
        (Verdict("it", "", met=False, note="not measured: it slept"), "MISSED: not measured: it slept"),
        (Verdict("it", "", met=True, at_most=2, quartiles=(1, 3)), "met, but close"),
    ],
)
def test_a_verdict_in_words(verdict: Verdict, words: str):
    assert said(verdict) == words


def test_a_verdict_has_a_cell_under_every_heading():
    verdict = judged([costing("ours", 0.003), costing("theirs", 0.001)], Limit("it", "ours", "theirs", 2))

    assert cells(verdict) == ("it", "3 ms", "theirs", "1 ms", "3.00 ×", "3.00 to 3.00", "2 ×", "MISSED")


def test_a_row_without_limits_shows_what_each_costs():
    shown = table([measure(Row("row", "Peers", [costing("one", 1), costing("other", 2)]), rounds=1)])

    assert shown.splitlines() == ["what     costs", "", "Peers", "  one    1 s", "  other  2 s"]


# One table from its command line.


def rows_of(*rows: Row | Exception) -> dict[str, Callable[[], Row]]:
    def made(row: Row | Exception) -> Row:
        if isinstance(row, Exception):
            raise row
        return row

    return {f"row{at}": partial(made, row) for at, row in enumerate(rows)}


def row_that_costs(ratio: float) -> Row:
    return Row("r", "R", [costing("ours", ratio), costing("theirs", 1)], [Limit("it", "ours", "theirs", 2)])


def options(*words: str) -> argparse.Namespace:
    return parser("x", "X.").parse_args(["--rounds", "2", *words])


@pytest.mark.parametrize(
    ("ratios", "status"), [([1], MET), ([1, 3], MISSED), ([3], MISSED), ([Idle("asleep"), 1], UNMEASURED)]
)
def test_the_exit_status_of_a_table(ratios: Iterable[float | Idle], status: int):
    rows = rows_of(*(one if isinstance(one, Idle) else row_that_costs(one) for one in ratios))

    assert run(options(), rows, {}) == status


def test_a_row_that_breaks_is_told_of_and_the_others_are_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    numbers = tmp_path / "numbers.json"
    rows = rows_of(ValueError("no such thing"), row_that_costs(1))

    status = run(options("--json", str(numbers)), rows, {"peer": "1.0"})

    out, err = capsys.readouterr()
    broken, measured = json.loads(numbers.read_text())["rows"]
    assert status == UNMEASURED
    assert broken["verdicts"][0]["note"] == "not measured: ValueError: no such thing"
    assert measured["seconds"] == {"ours": [1.0, 1.0], "theirs": [1.0, 1.0]}
    assert "1 of 2 met" in out
    assert "Traceback" in err
    assert "could not be measured: row0" in err


def test_a_row_that_is_not_there_is_named_with_those_that_are(capsys: pytest.CaptureFixture[str]):
    assert run(options("--only", "rwo0"), rows_of(row_that_costs(1)), {}) == UNMEASURED
    assert "no such row: rwo0 (there are: row0)" in capsys.readouterr().err


@pytest.mark.parametrize("rounds", ["0", "-1", "many", "1.5"])
def test_a_number_of_rounds_that_is_none_is_refused(rounds: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        parser("x", "X.").parse_args([f"--rounds={rounds}"])

    assert f"{rounds!r} is not a whole number from 1" in capsys.readouterr().err
