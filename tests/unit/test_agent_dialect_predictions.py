"""What the dialects predict is what the real agents did."""

import pytest
from benchmarks.predictions import OBSERVED, judge, main, observed_rows


@pytest.mark.slow
def test_every_row_that_was_observed_is_predicted():
    rows = [row for path in sorted(OBSERVED.glob("*.json")) for row in observed_rows(path)]

    wrong = [f"{v.row.client} {v.row.case}: {v.wrong}" for v in judge(rows) if v.wrong]

    assert len(rows) > 190
    assert wrong == []


def test_a_share_below_the_bound_is_a_failure(tmp_path, capsys):
    row = '{"client": "codex", "case": "x", "event": "PreToolUse", "hook": "exit 0", "tool_ran": false, '
    (tmp_path / "rows.json").write_text('{"rows": [' + row + '"model_calls": 2, "model_sees": []}]}')

    status = main(["--rows", str(tmp_path / "rows.json"), "--show"])

    assert status == 1
    assert "codex x: tool_ran: True where False was seen" in capsys.readouterr().out
