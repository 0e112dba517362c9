"""Every requirement has a test, or is listed as waiting for one. Never both, never neither."""

from tests.conformance.coverage import ID, Coverage, measure, read_pending, write_pending

UPDATE = "run: python tests/conformance/coverage.py --update-pending"


def test_every_requirement_without_a_test_is_listed_as_pending() -> None:
    assert measure().forgotten == [], UPDATE


def test_no_requirement_with_a_test_is_listed_as_pending() -> None:
    assert measure().done == [], UPDATE


def test_an_id_is_read_whole() -> None:
    assert ID.findall("S0-1, S1-20: S9-1 XS2-3 (S3-4)") == ["S0-1", "S1-20", "S3-4"]


def test_a_covered_id_that_is_still_pending_and_an_uncovered_one_that_is_not_are_both_found() -> None:
    coverage = Coverage(required=["S0-1", "S0-2", "S0-3"], named={"S0-1"}, pending={"S0-1", "S0-2"})

    assert (coverage.missing, coverage.done, coverage.forgotten) == (["S0-2", "S0-3"], ["S0-1"], ["S0-3"])


def test_what_is_written_as_pending_is_read_as_pending() -> None:
    required = ["S0-1", "S0-2", "S0-4", "S0-5", "S1-1", "S1-2"]
    missing = ["S0-2", "S0-4", "S1-1", "S1-2"]

    text = write_pending(missing, required)

    assert text.splitlines()[2:] == ["S0-2..S0-4", "S1-1..S1-2"]
    assert read_pending(text, required) == set(missing)
