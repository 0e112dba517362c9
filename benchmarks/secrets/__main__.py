"""`python -m benchmarks.secrets`: what redaction costs and finds; with `--lines`, what it takes from ordinary lines.

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
    made = parser("secrets", "What redaction costs, and how many planted secrets it finds.")
    made.add_argument(
        "--lines", type=Path, action="append", metavar="FILE", help="ordinary lines, as JSON lines: texts, or `line`"
    )
    made.add_argument("--seed", type=int, default=1, metavar="N", help="of the values of planted secrets (default: 1)")
    made.add_argument("--show", type=int, default=0, metavar="N", help="print so many secrets that survive, and lines")
    return made


def main(arguments: Sequence[str]) -> int:
    chosen = options().parse_args(arguments)
    for path in chosen.lines or ():
        if not path.exists():
            return unmeasured(f"{path} does not exist")
    try:
        python = environment("secrets", interpreter(chosen.python), own_requirements())
    except Unavailable as problem:
        return unmeasured(str(problem))
    env = clean_environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}")
    command = [str(python), "-m", "benchmarks.secrets.rows", *arguments]
    return subprocess.run(command, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
