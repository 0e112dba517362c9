"""The command line as it is used: text files that a user could follow, run against the installed command.

A file is a conversation with a shell. Lines that begin with ``$`` are typed, with ``>`` typed on; below stands what is
printed, standard error first; ``...`` in a line is any text, and on a line of its own any lines. ``? 2`` is the exit
status where it is not 0. A line that begins with ``#`` says why. Every file begins in an empty directory with an empty
home. ``begin.txt`` is followed with the installed command, and so are all files in ``make test-more``; otherwise the
command line is loaded once for all steps (``tests/preloaded.py``).
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent


@dataclass
class Step:
    line: int
    command: str
    expected: list[str] = field(default_factory=list)
    status: int = 0


def steps_of(text: str) -> list[Step]:
    steps: list[Step] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("$ "):
            steps.append(Step(number, line[2:]))
        elif line.startswith("> ") and not steps[-1].expected:
            steps[-1].command += "\n" + line[2:]
        elif re.fullmatch(r"\? \d+", line):
            steps[-1].status = int(line[2:])
        elif not line.startswith("#") and (steps or line):
            steps[-1].expected.append(line)
    return steps


def pattern_of(expected: list[str]) -> str:
    """A regular expression for lines in which ``...`` stands for anything."""
    while expected and not expected[-1]:
        expected = expected[:-1]
    parts = []
    for line in expected:
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(re.escape(part) for part in line.split("...")) + r"\n")
    return "".join(parts)


TEXTS = sorted(HERE.glob("*.txt"))
FIRST = ("begin",)
"""The texts that `make test` follows; the others are slow."""


@pytest.mark.parametrize(
    "path",
    [path if path.stem in FIRST else pytest.param(path, marks=pytest.mark.slow) for path in TEXTS],
    ids=[path.stem for path in TEXTS],
)
def test_what_a_user_types_prints_what_the_text_says(
    path: Path, tmp_path: Path, quick: Path, persons_program: Path
) -> None:
    follow(path, tmp_path, f"{persons_program if path.stem == 'begin' else quick}:{BIN}")


@pytest.mark.more
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_the_installed_command_prints_what_the_text_says(path: Path, tmp_path: Path, persons_program: Path) -> None:
    follow(path, tmp_path, f"{persons_program}:{BIN}")


def follow(path: Path, directory: Path, programs: str) -> None:
    project, home = directory / "project", directory / "home"
    project.mkdir()
    home.mkdir()
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8"}

    for step in steps_of(path.read_text("utf-8")):
        done = subprocess.run(
            ["sh", "-c", step.command], cwd=project, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
        )  # fmt: skip
        said = "".join(f"{line.rstrip()}\n" for line in done.stdout.rstrip().splitlines())

        place = f"{path.name}:{step.line}: $ {step.command}"
        assert re.fullmatch(pattern_of(step.expected), said), f"{place}\nexpected:\n{step.expected}\nprinted:\n{said}"
        assert done.returncode == step.status, f"{place}\n{said}"


def test_three_dots_stand_for_text_in_a_line_and_alone_for_lines() -> None:
    steps = steps_of("# why\n$ one \\\n> two\nfirst ... line\n...\nlast\n? 2\n")

    assert [(step.command, step.status) for step in steps] == [("one \\\ntwo", 2)]
    assert re.fullmatch(pattern_of(steps[0].expected), "first or other line\nand\nmore\nlast\n")
    assert not re.fullmatch(pattern_of(steps[0].expected), "first or other line\nlast but\n")
