"""The README is true: its program prints what it says, and its snippets run."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_first_program_prints_what_the_readme_shows():
    (_, program), (_, shown) = BLOCKS[:2]

    assert run(program) == shown


def test_the_first_program_is_the_one_in_examples():
    example = (ROOT / "examples" / "first.py").read_text()

    assert example.endswith(BLOCKS[0][1])


def test_an_event_of_ones_own_works_as_shown():
    snippet = next(text for _, text in BLOCKS if "pre:deploy" in text)
    program = (
        "from interpose import Hooks\nhooks = Hooks()\n"
        + snippet
        + "outcome = hooks.fire_sync('pre:deploy', stage='production', version='2.0')\n"
        + "print(outcome.decision, outcome.reason, hooks.wants('pre:deploy', 'staging'))"
    )

    assert run(program) == "ask Release 2.0 on a Friday? False\n"
