"""`python -m benchmarks.policies`: the cost of the policies; with `--cases` and `--lines`, their judgement too.

Exit status 0: every limit is met; 1: some are not; 2: it could not be measured.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.command import parser, unmeasured
from benchmarks.environment import ROOT, Unavailable, environment, interpreter, own_requirements
from benchmarks.measure import clean_environment


def options() -> argparse.ArgumentParser:
    made = parser("policies", "What policies cost, and how they judge.")
    made.add_argument("--cases", type=Path, metavar="DIR", help="cases of other guards: a file PROJECT.jsonl each")
    made.add_argument(
        "--lines", type=Path, action="append", metavar="FILE", help="ordinary command lines, as JSON lines"
    )
    made.add_argument("--ring", type=int, default=1, metavar="N", help="judge cases up to this ring (default: 1)")
    made.add_argument("--show", type=int, default=0, metavar="N", help="print so many differences of each kind")
    return made


def main(arguments: Sequence[str]) -> int:
    chosen = options().parse_args(arguments)
    for path in (chosen.cases, *(chosen.lines or ())):
        if path is not None and not path.exists():
            return unmeasured(f"{path} does not exist")
    try:
        python = environment("policies", interpreter(chosen.python), own_requirements())
    except Unavailable as problem:
        return unmeasured(str(problem))
    env = clean_environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}")
    command = [str(python), "-m", "benchmarks.policies.rows", *arguments]
    return subprocess.run(command, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
