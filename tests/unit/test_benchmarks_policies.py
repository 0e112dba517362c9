"""The comparison of policies with other guards: its explanations are whole, and say which cases they are for."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from benchmarks.policies.judging import DIFFERENCES, explained

ENTRIES: list[dict[str, Any]] = yaml.safe_load(DIFFERENCES.read_text(encoding="utf-8"))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["why"][:40])
def test_an_explanation_says_which_cases_it_is_for(entry: dict[str, Any]) -> None:
    assert entry.keys() <= {"side", "projects", "case", "rule", "said", "why"}
    assert entry["side"] in ("through", "needless")
    assert entry["why"]
    assert entry.keys() & {"case", "rule", "said"}
    assert entry["side"] == "needless" or "said" not in entry


def test_a_case_is_explained_by_its_project_its_text_and_the_side() -> None:
    row = {"project": "dcg", "input": {"command": "rm -rf ./build"}, "rule": "core.filesystem"}
    assert explained(row, "through")
    assert not explained(row, "needless")
    assert not explained({**row, "project": "other"}, "through")
    assert not explained({**row, "input": {"command": "dd of=/dev/sda"}}, "through")
