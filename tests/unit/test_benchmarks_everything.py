"""All tables in one command: which there are, how one ends, and what is said in the end."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks import everything
from benchmarks.everything import Ended, main, summary, tables
from tests.unit.test_benchmarks_results import MISSED, RUN, of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def test_every_package_that_can_be_run_is_a_table():
    packages = {path.parent.name for path in (ROOT / "benchmarks").glob("*/__main__.py")}

    assert {"dispatch", "commands", "cli"} <= packages
    assert sorted(tables()) == sorted(packages)
    assert tables()[0] == "dispatch"


def test_a_table_that_is_not_there_is_refused_with_those_that_are(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main(["--only", "dispach"])

    assert ended.value.code == 2
    assert "dispach" in capsys.readouterr().err


@pytest.mark.parametrize(("status", "problem"), [(0, ""), (1, ""), (2, "see above (exit status 2)")])
def test_a_missed_limit_is_nothing_that_went_wrong(status: int, problem: str):
    assert everything._problem([sys.executable, "-c", f"exit({status})"], patience=60) == problem


def test_a_table_that_hangs_is_ended_with_everything_that_it_has_started(tmp_path: Path):
    number = tmp_path / "pid"
    command = ["sh", "-c", f"sleep 600 & echo $! >{number}; wait"]

    problem = everything._problem(command, patience=3)

    assert problem == "it did not end within 3 s"
    assert has_ended(int(number.read_text()))


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or will be as soon as somebody reaps it."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


def test_in_the_end_it_is_said_what_was_missed_and_how_each_table_did():
    cli = replace(of("cli", "3.11.7", replace(MISSED, quartiles=(0.9, 1.6))), took=7)
    ended = [Ended("dispatch", RUN), Ended("cli", cli, "see above"), Ended("audit", problem="it did not end")]

    assert summary(ended).splitlines() == [
        "Missed:",
        "  dispatch  async  wants() against a <peer>  1.50 ×  at most 1 ×",
        "  cli       row    wants() against a <peer>  1.50 ×  at most 1 ×  close",
        "",
        "dispatch  2 of 3 met    61 s",
        "cli       0 of 1 met    7 s   see above",
        "audit     not measured        it did not end",
        "in all: 2 of 4 met",
    ]


# A whole run, of a table that takes no time.

TABLE = """
import json, sys
numbers = sys.argv[sys.argv.index("--json") + 1]
verdict = {"what": "it", "against": "them", "met": %(met)s, "at_most": 1, "ratio": 0.5, "quartiles": [0.4, 0.6],
           "cost": 1.0, "baseline": 2.0, "note": ""}
rows = [{"row": "a", "title": "A", "met": True, "verdicts": [verdict], "seconds": {}}]
if %(status)d != 2:
    with open(numbers, "w") as file:
        json.dump({"Python": "3.11.7", "rounds": sys.argv[sys.argv.index("--rounds") + 1], "rows": rows}, file)
sys.exit(%(status)d)
"""


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """A repository with three tables: one that meets its limit, one that does not, one that cannot be measured."""
    for name, met, status in (("good", True, 0), ("bad", False, 1), ("broken", False, 2)):
        (tmp_path / "benchmarks" / name).mkdir(parents=True)
        (tmp_path / "benchmarks" / name / "__init__.py").write_text(f'"""The {name} one."""')
        (tmp_path / "benchmarks" / name / "__main__.py").write_text(TABLE % {"met": met, "status": status})
    for module in (ROOT / "benchmarks").glob("*.py"):
        (tmp_path / "benchmarks" / module.name).write_bytes(module.read_bytes())
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "performance.md").write_text("<!-- figures: by a tool -->\n<!-- end of figures -->\n")
    return tmp_path


def bench(workshop: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--rounds", "3", *words], cwd=workshop, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("--only good", 0),
        ("--only good --only bad", 0),
        ("--only good --strict", 0),
        ("--only good --only bad --strict", 1),
        ("", 2),
        ("--strict", 2),
    ],
)
def test_the_exit_status_of_all_tables(workshop: Path, words: str, status: int):
    assert bench(workshop, *words.split())[0] == status


def test_a_run_leaves_its_results_and_pictures_and_does_not_touch_the_documentation(workshop: Path):
    page = (workshop / "docs" / "performance.md").read_text()

    _, out = bench(workshop)

    left = sorted(path.name for path in (workshop / ".bench" / "results").iterdir())
    assert left == ["bad-3.11.json", "bad-3.11.svg", "good-3.11.json", "good-3.11.svg"]
    assert "in all: 1 of 2 met" in out
    assert not (workshop / "benchmarks" / "results").exists()
    assert (workshop / "docs" / "performance.md").read_text() == page


def test_a_run_that_is_kept_is_shown_in_the_documentation(workshop: Path):
    bench(workshop, "--only", "good", "--keep")
    _, out = bench(workshop, "--only", "bad", "--keep")

    page = (workshop / "docs" / "performance.md").read_text()
    assert "**1 of 2 limits are met.**" in page
    assert "The good one." in page
    assert "The bad one." in page
    assert out.splitlines()[-3:] == [
        "benchmarks/results/bad-3.11.json",
        "docs/performance-bad-3.11.svg",
        "docs/performance.md",
    ]
    assert (workshop / "docs" / "performance-good-3.11.svg").is_file()
