"""Random lines against real shells, both ways: what they run is found, and what is certain is run."""

import random
import shutil

import pytest
from tests.properties.shell_fuzz import SHELLS, Laboratory, random_line, token_soup

from interpose.matching.shell import CommandPattern

pytestmark = [
    pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="needs a C compiler for the stub"),
    pytest.mark.skipif("bash" not in SHELLS, reason="needs bash"),
]

PUSH = CommandPattern("git push *")


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    return Laboratory(tmp_path_factory.mktemp("laboratory"))


def check(laboratory: Laboratory, lines: list[str]) -> int:
    """Fail on a line that runs the command and is not matched, or that is certain and does not run it."""
    ran = 0
    for line in lines:
        grade = PUSH.grade_line(line)
        if grade not in (None, "certain"):
            continue
        runs = [shell for shell in SHELLS if laboratory.runs(shell, line)]
        ran += bool(runs)
        assert not (grade is None and runs), f"{runs} run it, and it is not matched: {line!r}"
    return ran


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_line_that_runs_the_command_is_matched(laboratory: Laboratory, seed: int) -> None:
    chance = random.Random(seed)

    ran = check(laboratory, [random_line(chance) for _ in range(60)])

    assert ran > 30  # else the lines are no test


@pytest.mark.slow
def test_a_line_of_random_parts_that_runs_the_command_is_matched(laboratory: Laboratory) -> None:
    chance = random.Random(13)

    check(laboratory, [token_soup(chance) for _ in range(1_000)])


def test_a_match_that_is_certain_is_run(laboratory: Laboratory) -> None:
    """The lines are made so that everything in them is reached."""
    chance = random.Random(7)
    lines = [line for line in (random_line(chance) for _ in range(60)) if PUSH.grade_line(line) == "certain"]

    assert [line for line in lines if not any(laboratory.runs(shell, line) for shell in SHELLS)] == []
    assert len(lines) > 30


@pytest.mark.more
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_lines(laboratory: Laboratory, seed: int) -> None:
    chance = random.Random(seed)

    check(laboratory, [random_line(chance, 4) for _ in range(300)] + [token_soup(chance) for _ in range(3_000)])
