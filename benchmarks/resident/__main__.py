"""`python -m benchmarks.resident`: make the environment, install the project in it, and measure there.

Exit status 0: every limit is met; 1: some are not; 2: it could not be measured.
"""

import subprocess
import sys
from collections.abc import Sequence

from benchmarks.cli.installed import installed
from benchmarks.command import parser, unmeasured
from benchmarks.environment import ROOT, Unavailable, interpreter
from benchmarks.measure import clean_environment


def main(arguments: Sequence[str]) -> int:
    chosen = parser("resident", "What an event costs with the resident engine.").parse_args(arguments)
    try:
        python = installed(interpreter(chosen.python))
    except Unavailable as problem:
        return unmeasured(str(problem))
    command = [str(python), "-m", "benchmarks.resident.rows", *arguments]
    return subprocess.run(command, env=clean_environment(PYTHONPATH=str(ROOT)), check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
