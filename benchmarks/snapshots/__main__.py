"""`python -m benchmarks.snapshots`: the cost of a trusted configuration; with `--cases`, how public hooks run from it.

Exit status 0: every limit is met; 1: some are not; 2: it could not be measured.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cli.installed import installed
from benchmarks.command import parser, unmeasured
from benchmarks.environment import ROOT, Unavailable, interpreter
from benchmarks.measure import clean_environment


def options() -> argparse.ArgumentParser:
    made = parser("snapshots", "What a trusted configuration costs, and whether hooks run from it as in place.")
    made.add_argument("--cases", type=Path, metavar="DIR", help="public projects with hooks: a folder REPOSITORY each")
    made.add_argument(
        "--scripts", type=Path, metavar="FILE", help="write what became of each script there, as JSON lines"
    )
    return made


def main(arguments: Sequence[str]) -> int:
    chosen = options().parse_args(arguments)
    if chosen.cases is not None and not chosen.cases.is_dir():
        return unmeasured(f"{chosen.cases} is not a directory")
    try:
        python = installed(interpreter(chosen.python))
    except Unavailable as problem:
        return unmeasured(str(problem))
    command = [str(python), "-m", "benchmarks.snapshots.rows", *arguments]
    return subprocess.run(command, env=clean_environment(PYTHONPATH=str(ROOT)), check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
