"""What the checks before a change name is there: a test file that was renamed would no longer run on other versions."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BRACES = re.compile(r"\{([\w,]+)\}")


def named_in(text: str) -> list[str]:
    """Return the patterns of test files in a shell script, one for each word in braces."""
    found = []
    for pattern in re.findall(r"tests/[\w/{},*.]+", text):
        words = BRACES.search(pattern)
        found += [BRACES.sub(word, pattern) for word in words[1].split(",")] if words else [pattern]
    return found


def test_every_test_that_is_run_on_other_versions_is_there() -> None:
    named = named_in((ROOT / ".ci/run").read_text())

    assert len(named) > 20
    assert [pattern for pattern in named if not list(ROOT.glob(pattern))] == []
